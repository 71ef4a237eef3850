"""A stand-in for the program `blender`: the same command line, answered by the bpy module. `install` makes the executable."""

from __future__ import annotations

import sys
from pathlib import Path

SCRIPT = """\
#!{python}
import runpy, sys
import bpy
import tendril

tendril.register()
bpy.context.preferences.addons.new().module = "tendril"
words = sys.argv[1 : sys.argv.index("--")]
for flag in ("--background", "-b", "-y"):
    if flag in words:
        words.remove(flag)
code = 0
while words:
    word = words.pop(0)
    if word == "--python-exit-code":
        words.pop(0)
    elif word == "--python":
        runpy.run_path(words.pop(0), run_name="__main__")
    elif word == "--python-expr":
        exec(words.pop(0), {{"__name__": "__main__"}})
    else:
        bpy.ops.wm.open_mainfile(filepath=word)
"""


def install(folder: Path) -> Path:
    program = folder / "blender"
    program.write_text(SCRIPT.format(python=sys.executable))
    program.chmod(0o755)
    return program
