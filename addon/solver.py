"""Compiles the solver for this machine when a rod is first played, if the package does not come with compiled code that fits. This
takes a minute or two. With a window it happens in another process and playback waits for it; without one, and in scripts that
bake, it happens at once.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
import threading
import time
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy

from .bridge.colliders import colliders_of
from .bridge.rods import model_of, pushed_bodies
from .bridge.scenes import SceneDescription, first_frame_of
from .showing import NotSimulated

_STACK = 64 * 2**20  # bytes: the compiler needs more than the default of threads on macOS and Windows
_TICK = 0.1  # s

_thread: threading.Thread | None = None
_began = 0.0
_progress = 0.0
_waiting: dict[str, bool] = {}  # names of scenes that wait for the solver, and whether they were being played
_at_once = False
_shown_text = ""  # in the status bar


def require(description: SceneDescription, scene: bpy.types.Scene) -> None:
    """Raises NotSimulated while the kernels that the scene needs are being compiled. The scene continues when they are ready."""
    described = description.scene
    models = {entry.model for entry in described.entries}
    if prepare(models, described.rod_contact or bool(described.colliders), bool(described.bodies)):
        _waiting.setdefault(scene.name, False)
        raise NotSimulated(
            "The solver is being compiled for this machine (once only): playback starts when it is ready"
        )


def prepare(models: Collection[str], contact: bool, bodies: bool = False) -> bool:
    """Starts to compile the kernels of these models. False if they exist, or will be compiled at their first use."""
    choose_cache()
    if is_compiling():
        return not _at_once
    if _at_once or not _has_window() or threading.current_thread() is not threading.main_thread():
        return False
    from ..core.run import warm_up  # late: it imports numba

    if warm_up.is_warm(models, contact, bodies):
        return False
    _start(sorted(models), contact, bodies)
    return True


def prepare_for(scene: bpy.types.Scene, objects: Collection[bpy.types.Object]) -> bool:
    """Like `prepare`, for the rods of a scene."""
    contact = scene.tendril.rod_contact or any(True for _ in colliders_of(scene))
    models = {model_of(obj) for obj in objects}
    return prepare(models, contact, bool(pushed_bodies(scene)))


@contextmanager
def at_once() -> Iterator[None]:
    """Within this context, missing kernels are compiled at once and nothing waits."""
    global _at_once
    before, _at_once = _at_once, True
    try:
        yield
    finally:
        _at_once = before


def is_precompiled() -> bool:
    """Whether the package comes with compiled code that fits this machine."""
    from ..core.compile.bundle import bundled

    return bundled() is not None


def is_compiling() -> bool:
    return _thread is not None and _thread.is_alive()


def progress() -> float:
    """The part of the compilation that is done, about."""
    return _progress


def progress_text() -> str:
    """The text of the status bar."""
    return (
        f"Tendril is compiling its solver for this machine (once, a minute or two): {100 * _progress:.0f} %, "
        f"{time.monotonic() - _began:.0f} s so far"
    )


def problem() -> str:
    """Why numba can't be used, in one sentence; empty if it can, or if it was not tried yet."""
    jit = sys.modules.get(__package__.rpartition(".")[0] + ".core.compile.jit")
    # The other thread may be importing the module, which is then incomplete.
    reason = getattr(jit, "why_not_compiled", _not_installed)()
    if not reason:
        return ""
    slow = "Rods are simulated correctly, but about a hundred times slower: numba can't be loaded"
    return f"{slow} ({_wrong_package() or reason})"


@functools.cache
def _not_installed() -> str:
    missing = [name for name in ("numba", "llvmlite") if importlib.util.find_spec(name) is None]
    return f"{' and '.join(missing)} not installed" if missing else ""


@functools.cache
def _wrong_package() -> str:
    """Why the wheels of the package can't be loaded, if it is for another Python than Blender's; else empty."""
    wheels = Path(__file__).resolve().parents[1] / "wheels"
    here = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    tags = {name.split("-")[2] for name in (path.name for path in wheels.glob("*.whl")) if name.count("-") >= 4}
    if not tags or here in tags:
        return ""
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    series = sorted(tags)[0]
    return (
        f"this package is for Python {series[2:3]}.{series[3:]}, and this Blender has Python {python}: install the Tendril zip "
        f"for Python {python}, see its README"
    )


@functools.cache
def choose_cache() -> None:
    """Compiled kernels of an installed extension are stored in its user folder, which survives upgrades."""
    root = __package__.rpartition(".")[0]
    if root.startswith("bl_ext."):
        from ..core.compile import cache_folder

        cache_folder.set_cache_folder(bpy.utils.extension_path_user(root, path="numba"))


def _has_window() -> bool:
    return not bpy.app.background


def _start(models: list[str], contact: bool, bodies: bool) -> None:
    global _thread, _began, _progress
    from ..core.compile.cache_folder import cache_folder
    from ..core.run import warm_up
    from ..core.run.warm_up_process import compile_apart

    def show(part: float) -> None:
        global _progress
        _progress = part

    def compile_all() -> None:
        try:
            if not compile_apart(models, contact, bodies, cache_folder(), show):
                warm_up.warm_up(models, contact, bodies, show)  # on this thread
            from ..core.run import simulation  # noqa: F401  # imports numba, for which the window would wait
        except Exception as error:  # raised again, and reported, where the solver is used
            traceback.print_exception(error)

    before = threading.stack_size(_STACK)
    try:
        # A daemon thread, so that Blender can be closed meanwhile.
        _thread = threading.Thread(target=compile_all, name="tendril compiler", daemon=True)
        _began, _progress = time.monotonic(), 0.0
        _thread.start()
    finally:
        threading.stack_size(before)
    if not bpy.app.timers.is_registered(_poll):
        bpy.app.timers.register(_poll, first_interval=0.0, persistent=True)


def _poll() -> float | None:
    """Timer callback while something is being compiled."""
    global _shown_text
    windows = list(bpy.context.window_manager.windows) if bpy.context.window_manager else []
    if is_compiling():
        new, _shown_text = progress_text() != _shown_text, progress_text()
        for window in windows:
            if new:  # setting the text redraws the window
                window.workspace.status_text_set(_shown_text)
                for area in window.screen.areas:
                    if area.type == "PROPERTIES":  # the panel's progress bar
                        area.tag_redraw()
            if window.scene.name in _waiting and window.screen.is_animation_playing:
                _waiting[window.scene.name] = True
                with bpy.context.temp_override(window=window, screen=window.screen):
                    bpy.ops.screen.animation_cancel(restore_frame=False)
                window.scene.frame_set(first_frame_of(window.scene))
        return _TICK
    for window in windows:
        window.workspace.status_text_set(None)
    for name, played in list(_waiting.items()):
        if name in bpy.data.scenes:
            scene = bpy.data.scenes[name]
            _continue(scene, played, [window for window in windows if window.scene == scene])
    _waiting.clear()
    return None


def _continue(scene: bpy.types.Scene, played: bool, windows: list[bpy.types.Window]) -> None:
    """Continues playback where it was interrupted, unless the user has changed the frame."""
    first, frame = first_frame_of(scene), scene.frame_current
    if played and frame == first and windows:
        with bpy.context.temp_override(window=windows[0], screen=windows[0].screen):
            bpy.ops.screen.animation_play()
    elif not played and frame == first + 1:
        scene.frame_set(first)
        scene.frame_set(frame)


def unregister() -> None:
    if bpy.app.timers.is_registered(_poll):
        bpy.app.timers.unregister(_poll)
    _waiting.clear()
