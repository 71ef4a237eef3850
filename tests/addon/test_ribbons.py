"""Sheets as meshes: a ribbon follows the material frame of its rod, and plays from shape keys."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from tendril.sample_scenes import ribbons
from tendril.sample_scenes.experiments.curled_sheets import SHEETS


def test_a_ribbon_follows_the_material_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ribbons, "FRAMES", 8)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    sheet = SHEETS[0]
    shapes = ribbons.edges_over_time(sheet)
    across = shapes[:, :, 1] - shapes[:, :, 0]
    assert np.linalg.norm(across, axis=2) == pytest.approx(np.full(across.shape[:2], sheet.width), rel=1e-9)
    middle = shapes.mean(axis=2)
    along = middle[:, 2:] - middle[:, :-2]
    cosine = np.einsum("fik,fik->fi", along, across[:, 1:-1]) / np.linalg.norm(along, axis=2) / sheet.width
    assert np.abs(cosine).max() < 0.05  # chords of a curl are not quite its tangents
    assert np.abs(across[-1, -1] / sheet.width - across[0, -1] / sheet.width).max() > 0.3  # it has turned
    obj = ribbons.sheet_object(sheet, shapes)
    for frame in (1, 5, 8):
        bpy.context.scene.frame_set(frame)
        mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        places = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", places)
        assert places == pytest.approx(shapes[frame - 1].ravel(), abs=1e-6)
