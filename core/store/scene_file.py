"""Scenes as Python files: a file that defines `scene`, or a function `build()` that returns one."""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..describe.fingerprint import functions_of
from ..describe.scene import Scene
from ..errors import TendrilError

_MODULE = "tendril_scene"

# Called with each name that the file defines, or that `build` has as a parameter, and its value; returns the value to use.
Adjust = Callable[[str, Any], Any]


def load_scene(file: str, adjust: Adjust | None = None) -> tuple[Scene, str]:
    """The scene of a file, and a digest that changes whenever the scene does. `adjust` may change values that the file defines."""
    try:
        source = Path(file).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TendrilError("scene", file, f"it cannot be read ({reason.lower()}): name a Python file") from None
    scene = _run(file, source, adjust)
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


def _run(file: str, source: bytes, adjust: Adjust | None) -> Scene:
    # Compiled rather than imported, so that no __pycache__ is left beside the user's file.
    module = types.ModuleType(_MODULE)
    module.__file__ = file
    folder = str(Path(file).resolve().parent)
    sys.modules[_MODULE] = module
    sys.path.insert(0, folder)  # as for a script, so that it can import its neighbours
    try:
        with scene_errors(file, always=True):
            _execute(file, source, module.__dict__, adjust)
            scene = getattr(module, "scene", None)
            if scene is None and callable(getattr(module, "build", None)):
                scene = module.build(**_arguments(module.build, adjust))
    finally:
        sys.path.remove(folder)
    if not isinstance(scene, Scene):
        cure = "let it define `scene`, a Scene, or a function `build()` that returns one"
        raise TendrilError("scene", file if scene is None else scene, cure)
    return scene


def _execute(file: str, source: bytes, names: dict[str, Any], adjust: Adjust | None) -> None:
    """Runs a file. With `adjust` one statement at a time, so that a name has its adjusted value in those that follow."""
    if adjust is None:
        exec(compile(source, file, "exec"), names)
        return
    tree = ast.parse(source, file)
    flags = 0
    for statement in tree.body:
        code = compile(ast.Module([statement], []), file, "exec", flags)
        flags |= code.co_flags & _future_flags()
        exec(code, names)
        for name in _assigned(statement):
            names[name] = adjust(name, names[name])


def _future_flags() -> int:
    """Compiler flags of all `from __future__` imports, which hold for the statements that follow."""
    import __future__

    flags = 0
    for name in __future__.all_feature_names:
        flags |= getattr(__future__, name).compiler_flag
    return flags


def _assigned(statement: ast.stmt) -> list[str]:
    """Names that a statement defines by an assignment."""
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    else:
        return []
    names = [node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return [node.id for node in names if isinstance(node.ctx, ast.Store)]


def _arguments(build: Callable[..., Any], adjust: Adjust | None) -> dict[str, Any]:
    """Arguments of `build` other than their defaults."""
    if adjust is None:
        return {}
    parameters = {
        name: parameter.default
        for name, parameter in inspect.signature(build).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and parameter.default is not parameter.empty
    }
    adjusted = {name: adjust(name, default) for name, default in parameters.items()}
    return {name: value for name, value in adjusted.items() if value is not parameters[name]}


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
