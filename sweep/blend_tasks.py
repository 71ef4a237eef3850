"""A variant of a .blend file: a process of Blender opens it, sets the values, bakes it into the variant's folder and measures it.

The process is Blender itself (`blender -b`) or this Python with the bpy module; both run `addon/variants/in_blender.py`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..core.compile.version import VERSION
from ..core.errors import TendrilError
from ..core.store.files import create_anew, read_json
from .variants import DONE, FAILED, Job, Outcome, begin, saved_outcome, write_text

SCRIPT = Path(__file__).resolve().parents[1] / "addon" / "variants" / "in_blender.py"
LOG = "blender.log"


def find_blender(given: str | None) -> str | None:
    """The Blender to run; None for the bpy module of this Python. Raises TendrilError if there is neither."""
    if given is not None:
        found = shutil.which(given)
        if found is None:
            raise TendrilError("--blender", given, "there is no such program: give the path of Blender")
        return found
    if importlib.util.find_spec("bpy") is not None:
        return None
    found = shutil.which("blender")
    if found is None:
        raise TendrilError("scene", "a .blend file", "Blender was not found: pip install bpy, or give --blender PATH")
    return found


def command_for(blender: str | None, request: Path) -> list[str]:
    """The command that makes a process of Blender work on a request."""
    if blender is None:
        return [sys.executable, str(SCRIPT), "--", str(request)]
    return [blender, "--background", "--python-exit-code", "1", "--python", str(SCRIPT), "--", str(request)]


def request_text(job: Job, only_check: bool = False) -> str:
    return json.dumps(asdict(job) | {"only_check": only_check, "parent": os.getpid()})


def check_blend(job: Job) -> None:
    """Raises TendrilError if a parameter does not exist in the file."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="tendril") as folder:
        answer = _ask(replace(job, folder=folder), only_check=True)
    if answer["status"] != DONE:
        raise TendrilError(answer.get("field", "scene"), answer.get("value", job.scene), str(answer["message"]))


def identity_of(job: Job) -> str:
    """A digest of the file and of everything else that determines the numbers of a variant."""
    digest = hashlib.sha256(Path(job.scene).read_bytes())
    digest.update(repr((job.values, job.frames, job.tip, VERSION)).encode())
    return digest.hexdigest()


def run_blend_variant(job: Job) -> Outcome:
    """Bakes a variant into its folder, unless it is there. Whatever goes wrong is the message of the outcome."""
    folder = Path(job.folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        identity = identity_of(job)
        before = saved_outcome(folder)
        if before is not None and before.status == DONE and before.identity == identity:
            return replace(before, computed=0)
        begin(job)
        outcome = outcome_of(job, identity, _ask(job))
    except (TendrilError, OSError) as error:
        outcome = Outcome(job.folder, job.values, FAILED, str(error))
    with suppress(TendrilError, OSError):
        outcome.save()
    return outcome


def outcome_of(job: Job, identity: str, answer: Mapping[str, Any]) -> Outcome:
    return Outcome(
        job.folder,
        job.values,
        str(answer["status"]),
        str(answer.get("message", "")),
        identity,
        float(answer.get("seconds", 0.0)),
        int(answer.get("computed", 0)),
        int(answer.get("not_converged", 0)),
        {"blend": answer.get("blend", ""), "cache": answer.get("cache", "")},
        job.run,
    )


def _ask(job: Job, only_check: bool = False) -> dict[str, Any]:
    """The answer of a process of Blender, which it writes next to the request."""
    request = Path(job.folder) / "request.json"
    write_text(request, request_text(job, only_check))
    environment = {**os.environ}
    if job.threads is not None:
        environment["TENDRIL_THREADS"] = str(job.threads)
    with create_anew(Path(job.folder) / LOG) as file:
        # In a session of its own, so that Ctrl-C in a terminal reaches the sweep alone, which tells it to stop.
        done = subprocess.run(
            command_for(job.blender, request), stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            env=environment, check=False, start_new_session=True,
        )  # fmt: skip
    return read_answer(request, done.returncode)


def read_answer(request: Path, code: int) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = read_json(request.with_name("answer.json"))
    except (OSError, ValueError):
        last = _last_line(request.with_name(LOG))
        return {"status": FAILED, "message": f"Blender ended with code {code}{last and ': '}{last} (see {LOG})"}
    request.with_name("answer.json").unlink()
    request.unlink(missing_ok=True)
    return answer


def _last_line(log: Path) -> str:
    try:
        lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    except OSError:
        return ""
    return next((line for line in reversed(lines) if line), "")
