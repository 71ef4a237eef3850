"""The add-on in a real Blender: the bpy module, with its own settings folder and a fresh file for every test."""

import os
import shutil
import tempfile

SETTINGS = os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp(prefix="tendril-blender-")  # before bpy is imported

import bpy
import pytest
import tendril


@pytest.fixture(autouse=True)
def fresh_file(capfd):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    tendril.register()
    yield
    tendril.unregister()
    clear_handlers()
    said = capfd.readouterr()
    assert "Error in bpy.app.handlers" not in said.out + said.err, said.out + said.err  # nothing raises in a handler
    assert "Unexpected" not in said.out + said.err


def pytest_sessionfinish():
    clear_handlers()
    shutil.rmtree(SETTINGS, ignore_errors=True)


def clear_handlers():
    """A handler that is left when the interpreter exits crashes some Blenders and hangs others."""
    for event in dir(bpy.app.handlers):
        handlers = getattr(bpy.app.handlers, event)
        if isinstance(handlers, list):
            handlers[:] = [handler for handler in handlers if not handler.__module__.startswith("tendril")]
