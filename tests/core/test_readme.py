"""README and docs: examples run, links lead somewhere, and the README stays short."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import tendril.core

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
# Pages of the hosting site that GitHub resolves; see docs/hooks.py.
HOSTED = ("../../releases/latest",)
WORDS_BEFORE_THE_FIRST_ACTION = 200


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def examples(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text_of(page), re.S)


def test_the_example_of_the_readme_prints_its_frames() -> None:
    (code,) = examples("README.md")
    assert len(code.splitlines()) <= 14
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 120
    assert lines[-1].startswith("120 ")


@pytest.mark.parametrize("page", [page for page in PAGES if page != "README.md" and examples(page)])
def test_examples_run(page: str) -> None:
    """The blocks of a page are one program; what they show is asserted in them."""
    names: dict[str, object] = {}
    for code in examples(page):
        before = text_of(page).split(code)[0].count("\n")
        exec(compile("\n" * before + code, page, "exec"), names)


@pytest.mark.parametrize("page", PAGES)
def test_what_it_links_to_is_there(page: str) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text_of(page)):
        if target not in HOSTED:
            assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


def test_the_readme_comes_to_the_point() -> None:
    before, _ = README.split("\n1. ", 1)
    assert len(before.split()) <= WORDS_BEFORE_THE_FIRST_ACTION


def known_models() -> list[str]:
    """What `scene.add` offers when it is given a model that does not exist."""
    rod = tendril.core.Rod.from_points([(0, 0, 0), (1, 0, 0)], 0.01, tendril.core.Material.preset("rubber"))
    with pytest.raises(tendril.core.TendrilError) as refused:
        tendril.core.Scene().add(rod, "none of them")
    return re.findall(r"\w+", refused.value.cure.removeprefix("choose one of"))


def test_the_readme_lists_each_model_once() -> None:
    (table,) = re.findall(r"\| model \|.*?\n\n", README, re.S)
    models = re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]*)\|", table, re.M)))
    assert sorted(models) == sorted(known_models())
    outside = README.replace(table, "")
    assert not [model for model in models if re.search(rf"[`\"']{model}[`\"']", outside)]


def test_the_api_page_has_all_public_names() -> None:
    described = re.findall(r"^::: tendril\.core\.(\w+)$", text_of("docs/api.md"), re.M)
    assert sorted(described) == sorted(tendril.core.__all__)
