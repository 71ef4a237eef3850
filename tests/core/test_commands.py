"""Every command that README, CONTRIBUTING and docs name works: it is run in a cheap form, or checked against what reads it.

Commands are found in fenced blocks and in backticks. `TREATMENTS` says what is done with each; a command that no pattern matches
fails the test, so that nobody documents a command that does not exist.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from tendril.core.store.cli import _parser
from tendril.sweep.command import parser as sweep_parser
from tendril.sweep.sampling import parse_axis, samples
from tendril.sweep.scene_tasks import load_variant

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = re.compile(r"(make|python|pip|git|blender|openjd|dask|packaging/window|\.venv/bin/[\w-]+) ")
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
_INLINE = re.compile(r"`([^`\n]+)`")


def commands_in(text: str) -> list[str]:
    lines: list[str] = []
    for language, block in _FENCED.findall(text):
        if language in ("", "sh", "bash", "shell", "console"):
            lines += [line.removeprefix("$ ").split("  #")[0].strip() for line in block.splitlines()]
    lines += _INLINE.findall(_FENCED.sub("", text))
    return [line for line in lines if PROGRAMS.match(line)]


def run(*words: str) -> str:
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{shlex.join(words)}: {done.stderr}"
    return done.stdout


def dry_run(*words: str) -> str:
    if os.name == "nt" or shutil.which("make") is None:
        pytest.skip("the Makefile is for Unix-like systems with make")
    return run("make", "--dry-run", "PYTHON=python", *words)


def in_makefile(command: str) -> None:
    """The target exists; nothing is made."""
    dry_run(*shlex.split(command)[1:])


def parsed(command: str) -> None:
    """`python -m tendril` accepts the arguments, and the experiment and the files exist."""
    words = shlex.split(command)[3:]
    chosen = _parser().parse_args(words)
    if words[0] == "experiment" and chosen.name:
        from tendril.sample_scenes.experiments import TABLE

        assert chosen.name in TABLE
    for word in words:
        if word.endswith(".py"):
            assert (ROOT / word).exists()


def run_as_is(command: str) -> None:
    run(sys.executable, *shlex.split(command)[1:])


def run_help(command: str) -> None:
    run_as_is(f"{command} --help")


def run_few_frames(command: str) -> None:
    parsed(command)
    run(sys.executable, *shlex.split(command)[1:], "--frames", "1", "3")


def sweep_parsed(command: str) -> None:
    """`tendril sweep` accepts the arguments, and the parameters exist in the scene."""
    chosen = sweep_parser().parse_args(shlex.split(command)[4:])
    variants = samples([parse_axis(text) for text in chosen.axes], chosen.sampling, chosen.samples)
    if chosen.scene.endswith(".py"):
        load_variant(str(ROOT / chosen.scene), variants[0])


def job_template(command: str) -> None:
    """openjd accepts the template with these parameters."""
    words = shlex.split(command)
    openjd = Path(sys.executable).with_name("openjd")
    parameters = [word for flag, word in pairwise(words) if flag == "-p"]
    shown = [str(openjd), "summary", words[2], *(part for one in parameters for part in ("-p", one))]
    run(*(shown if words[1] == "run" else [str(openjd), *words[1:]]))


def helped(command: str) -> None:
    """`--help` of a module lists the options that are named."""
    words = shlex.split(command)
    text = run(sys.executable, "-m", words[2], "--help")
    assert all(word in text for word in words[3:] if word.startswith("--"))


def helped_bench(command: str) -> None:
    helped(command.replace("tendril bench", "tendril.bench"))


def importable(command: str) -> None:
    """A module without arguments that takes minutes: it can be found."""
    assert importlib.util.find_spec(shlex.split(command)[2]) is not None


def run_interpreter_search(command: str) -> None:
    """Its exit code says whether there is such a Python; either is right."""
    words = [sys.executable, *shlex.split(command)[1:]]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() or done.stderr.strip()
    assert "Traceback" not in done.stderr


def in_usage(command: str) -> None:
    """The first lines of the script explain the subcommand."""
    script, subcommand, *_ = shlex.split(command)
    assert f"{script} {subcommand} " in (ROOT / script).read_text(encoding="utf-8")


def installable(command: str) -> None:
    """The metadata that pip reads."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["name"] == "tendril"
    if "[sweep]" in command:
        assert any(name.startswith("distributed") for name in project["project"]["optional-dependencies"]["sweep"])
    for name in project["tool"]["setuptools"]["package-data"]["tendril"]:
        assert (ROOT / name).exists()


def valid_hooks(command: str) -> None:
    if importlib.util.find_spec("pre_commit") is None:
        pytest.skip("pre-commit is not installed")
    run(sys.executable, "-m", "pre_commit", "validate-config", ".pre-commit-config.yaml")


def collected(command: str) -> None:
    """pytest finds the tests, without running them."""
    words = shlex.split(command)
    run(sys.executable, "-m", "pytest", "--collect-only", "-q", *words[words.index("pytest") + 1 :])


def not_ours(command: str) -> None:
    """A command of another program."""


TREATMENTS: tuple[tuple[str, Callable[[str], None]], ...] = (
    (r"make [\w-]+( \w+=(\"[^\"]*\"|\S+))*", in_makefile),
    (r"python -m tendril( info| --help| experiment --list)", run_as_is),
    (r"python -m tendril", run_help),
    (r"python -m tendril run \S+", run_few_frames),
    (r"python -m tendril (run|bake|export|experiment)\b.*", parsed),
    (r"python -m tendril sweep", run_help),
    (r"python -m tendril sweep .*", sweep_parsed),
    (r"openjd (check|run) .*", job_template),
    (r"dask (scheduler|worker .*)", not_ours),
    (r"python -m tendril bench\b.*", helped_bench),
    (r"python -m tendril\.(packaging\.package|sample_scenes\.samples|bench)\b.*", helped),
    (r"python -m tendril\.packaging\.pythons [\d.]+", run_interpreter_search),
    (r"python -m tendril\.[\w.]+", importable),
    (r"packaging/window \w+ .*", in_usage),
    (r"pip install (\.|\"(\.|tendril)\[sweep\]\")", installable),
    (r"pip install openjd-cli", not_ours),
    (r"\.venv/bin/pre-commit install", valid_hooks),
    (r"\.venv/bin/python -m pytest .*", collected),
    (r"(git|blender) .*", not_ours),
)

COMMANDS = sorted({command for page in PAGES for command in commands_in(page.read_text(encoding="utf-8"))})


@pytest.mark.parametrize("command", COMMANDS)
def test_command(command: str) -> None:
    treatments = [treatment for pattern, treatment in TREATMENTS if re.fullmatch(pattern, command)]
    assert treatments, f"{command}: add a treatment for it to TREATMENTS"
    treatments[0](command)


def test_commands_are_found() -> None:
    """The search is not vacuous: what the README and the guide name is among the commands."""
    assert {"make test", "make demo", "make package-here", "pip install .", "python -m tendril info"} <= set(COMMANDS)
    assert any(command.startswith("python -m tendril bake") for command in COMMANDS)


def test_quick_tests_exist() -> None:
    files = re.findall(r"tests/\S+\.py", dry_run("test-quick"))
    assert len(files) > 10
    assert [file for file in files if not (ROOT / file).exists()] == []
