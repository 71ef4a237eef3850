"""Getting the solver ready. It is compiled for the machine when a rod is first played, which takes its time: in a window that
happens on a thread of its own, and playback waits for it; without a window, and where a script bakes, at once.
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

import bpy

from .bridge.colliders import colliders_of
from .bridge.rods import is_net
from .bridge.scenes import SceneDescription, first_frame_of
from .showing import NotSimulated

_STACK = 64 * 2**20  # bytes: a compiler wants more than macOS and Windows give to a thread
_TICK = 0.1  # s

_thread: threading.Thread | None = None
_began = 0.0
_waiting: dict[str, bool] = {}  # scenes by name that wait for the solver, and whether they were being played
_at_once = False
_said = ""  # what the status bar shows


def require(description: SceneDescription, scene: bpy.types.Scene) -> None:
    """Raises NotSimulated while what the scene needs is being compiled; it goes on as soon as that is there."""
    described = description.scene
    models = {entry.model for entry in described.entries}
    if prepare(models, described.rod_contact or bool(described.colliders)):
        _waiting.setdefault(scene.name, False)
        raise NotSimulated("The solver is being compiled for this machine, once: rods move when that is done")


def prepare(models: Collection[str], contact: bool) -> bool:
    """Begins to compile what these models need. False if it is there, or will be compiled where it is needed first."""
    choose_cache()
    if is_compiling():
        return not _at_once
    if _at_once or not _has_window() or threading.current_thread() is not threading.main_thread():
        return False
    from ..core.run import warm_up  # late: it imports numba

    if warm_up.is_warm(models, contact):
        return False
    _start(sorted(models), contact)
    return True


def prepare_for(scene: bpy.types.Scene, objects: Collection[bpy.types.Object]) -> bool:
    """As `prepare`, for the rods of a scene."""
    contact = scene.tendril.rod_contact or any(True for _ in colliders_of(scene))
    models = {obj.tendril.net_model if is_net(obj) else obj.tendril.model for obj in objects}
    return prepare(models, contact)


@contextmanager
def at_once() -> Iterator[None]:
    """Within it nothing waits: what is not compiled is compiled here and now."""
    global _at_once
    before, _at_once = _at_once, True
    try:
        yield
    finally:
        _at_once = before


def is_compiling() -> bool:
    return _thread is not None and _thread.is_alive()


def told() -> str:
    """The line for the status bar."""
    return (
        f"Tendril compiles its solver for this machine, once; about a minute. {time.monotonic() - _began:.0f} s so far"
    )


def trouble() -> str:
    """What is to be said if numba can't be used; empty if it can, or nobody has tried yet."""
    jit = sys.modules.get(__package__.rpartition(".")[0] + ".core.compile.jit")
    # It may be on its way in, on the other thread, and not be known in full.
    reason = getattr(jit, "why_not_compiled", _not_installed)()
    return f"Rods are right, but some hundred times slower: numba can't be loaded ({reason})" if reason else ""


@functools.cache
def _not_installed() -> str:
    missing = [name for name in ("numba", "llvmlite") if importlib.util.find_spec(name) is None]
    return f"{' and '.join(missing)} not installed" if missing else ""


@functools.cache
def choose_cache() -> None:
    """Compiled kernels of an installed extension lie in its own folder, which survives upgrades."""
    root = __package__.rpartition(".")[0]
    if root.startswith("bl_ext."):
        from ..core.compile import kernel_cache

        kernel_cache.set_cache_folder(bpy.utils.extension_path_user(root, path="numba"))


def _has_window() -> bool:
    return not bpy.app.background


def _start(models: list[str], contact: bool) -> None:
    global _thread, _began
    from ..core.run import warm_up

    def compile_all() -> None:
        try:
            warm_up.warm_up(models, contact)
        except Exception as error:  # it will be met again, and told, where the solver is used
            traceback.print_exception(error)

    before = threading.stack_size(_STACK)
    try:
        # A daemon: Blender can be closed meanwhile.
        _thread = threading.Thread(target=compile_all, name="tendril compiles", daemon=True)
        _began = time.monotonic()
        _thread.start()
    finally:
        threading.stack_size(before)
    if not bpy.app.timers.is_registered(_look):
        bpy.app.timers.register(_look, first_interval=0.0, persistent=True)


def _look() -> float | None:
    """Called by Blender all the time while something is compiled."""
    global _said
    windows = list(bpy.context.window_manager.windows) if bpy.context.window_manager else []
    if is_compiling():
        new, _said = told() != _said, told()
        for window in windows:
            if new:  # each time the window is drawn
                window.workspace.status_text_set(_said)
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
            _go_on(scene, played, [window for window in windows if window.scene == scene])
    _waiting.clear()
    return None


def _go_on(scene: bpy.types.Scene, played: bool, windows: list[bpy.types.Window]) -> None:
    """Where it was interrupted, unless the user has gone elsewhere."""
    first, frame = first_frame_of(scene), scene.frame_current
    if played and frame == first and windows:
        with bpy.context.temp_override(window=windows[0], screen=windows[0].screen):
            bpy.ops.screen.animation_play()
    elif not played and frame == first + 1:
        scene.frame_set(first)
        scene.frame_set(frame)


def unregister() -> None:
    if bpy.app.timers.is_registered(_look):
        bpy.app.timers.unregister(_look)
    _waiting.clear()
