"""Many strands in Blender: every frame is shown, memory stays flat."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.test_hair import make_hair
from tendril.tests.core.test_load import resident_bytes


@pytest.mark.parametrize(("strands", "frames"), [(500, 12), pytest.param(10_000, 250, marks=pytest.mark.long)])
def test_hair_of_many_strands(strands, frames):
    hair = make_hair(strands=strands, points=20, spread=5.0)
    scene = bpy.context.scene
    scene.frame_end = frames
    before, shown = 0, None
    for number in range(1, frames + 1):
        scene.frame_set(number)
        assert memory.status(hair.tendril.uid) == ""
        shown = read_rows(hair.data)
        assert np.isfinite(shown).all()
        if number == frames // 3:
            before = resident_bytes()
    frame_bytes = shown.nbytes * (frames - frames // 3)  # frames in memory are meant to be there
    states = memory.running_of(scene).states
    kept = sum(state.nbytes for state in states.values())
    assert resident_bytes() - before < 50e6 + 1.2 * frame_bytes + kept
    assert np.abs(shown.reshape(strands, 20, 3)[:, -1, 2] - 0.2).min() > 1e-4  # every strand has moved
