"""Scenes as Python files: a file that defines `scene`, or a function `build()` that returns one."""

from __future__ import annotations

import hashlib
import sys
import traceback
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..describe.fingerprint import functions_of
from ..describe.scene import Scene
from ..errors import TendrilError

_MODULE = "tendril_scene"


def load_scene(file: str) -> tuple[Scene, str]:
    """The scene of a file, and a digest that changes whenever the scene does."""
    try:
        source = Path(file).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TendrilError("scene", file, f"it cannot be read ({reason.lower()}): name a Python file") from None
    scene = _run(file, source)
    digest = scene.fingerprint()
    if functions_of(scene):
        # The fingerprint samples functions of time; the source text also covers the times in between.
        digest = hashlib.sha256(digest.encode() + source).hexdigest()
    return scene, digest


@contextmanager
def scene_errors(file: str, always: bool = False) -> Iterator[None]:
    """Reports errors raised by the code of a scene file, now or later in its functions of time, in one sentence. Errors from
    elsewhere pass, unless `always`."""
    try:
        yield
    except (Exception, SystemExit) as error:
        line = _line(error, file)
        if line is None and not always:
            raise
        place = "it" if line is None else f"line {line}"
        if isinstance(error.__cause__, Exception):  # a function of the scene raised in the simulation
            error = error.__cause__
        text = str(error) if isinstance(error, TendrilError) else f"{type(error).__name__}: {error}"
        raise TendrilError("scene", file, f"{place} fails with {' '.join(text.split())}") from error


def _run(file: str, source: bytes) -> Scene:
    # Compiled rather than imported, so that no __pycache__ is left beside the user's file.
    module = types.ModuleType(_MODULE)
    module.__file__ = file
    folder = str(Path(file).resolve().parent)
    sys.modules[_MODULE] = module
    sys.path.insert(0, folder)  # as for a script, so that it can import its neighbours
    try:
        with scene_errors(file, always=True):
            exec(compile(source, file, "exec"), module.__dict__)
            scene = getattr(module, "scene", None)
            if scene is None and callable(getattr(module, "build", None)):
                scene = module.build()
    finally:
        sys.path.remove(folder)
    if not isinstance(scene, Scene):
        cure = "let it define `scene`, a Scene, or a function `build()` that returns one"
        raise TendrilError("scene", file if scene is None else scene, cure)
    return scene


def _line(error: BaseException, file: str) -> int | None:
    """The line of the file that led to the error, or to its cause, if it was in that file."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno
    for one in (error.__cause__, error):
        frames = [] if one is None else traceback.extract_tb(one.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == file]
        if lines:
            return lines[-1]
    return None
