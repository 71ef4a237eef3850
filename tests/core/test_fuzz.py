"""Random scenes: a sample of `make fuzz`, and the failures that it has kept."""

from __future__ import annotations

import json

import fuzz
import numpy as np
import pytest
from random_scenes import random_settings, simulate
from tendril.core.describe.model import model_records

SEEDS = range(4, 28)  # some seconds together; seed 3 alone takes 15 s, in clothoids and explicit steps


def without_contact(seed):
    """Contact is left to `make fuzz`: its kernels take longer than the other tests together."""
    return {**random_settings(seed), "rod_contact": False, "colliders": [], "bodies": []}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_scene_neither_raises_nor_has_a_nan(seed):
    assert fuzz.problem(without_contact(seed)) == ""


def test_the_sample_covers_all_models_and_most_are_simulated():
    rods = [rod for seed in SEEDS for rod in without_contact(seed)["rods"]]
    assert {rod["model"] for rod in rods} == {record.name for record in model_records()}
    assert {rod["motion"] for rod in rods} >= {"teleport", "spin", "shake", "nan", "raises"}
    assert min(rod["young"] for rod in rods) < 1e4
    assert max(rod["young"] for rod in rods) > 1e10


def test_settings_and_results_follow_from_the_seed():
    assert random_settings(5) == random_settings(5)
    first, second = simulate(without_contact(8)), simulate(without_contact(8))
    assert first is not None
    assert all(np.array_equal(a, b) for a, b in zip(first[0], second[0], strict=True))


def test_a_failure_is_found_shrunk_and_kept(monkeypatch, tmp_path, capsys):
    """Planted: rods that shake fail."""
    monkeypatch.setattr(fuzz, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(
        fuzz, "problem", lambda settings: "shakes" * any(rod["motion"] == "shake" for rod in settings["rods"])
    )
    assert fuzz.main(["--seed", "1", "--count", "12"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("seed 1,")
    kept = list((tmp_path / "kept").iterdir())
    assert kept
    for path in kept:
        settings = json.loads(path.read_text())["settings"]
        assert [rod["motion"] for rod in settings["rods"]] == ["shake"]
        assert settings["colliders"] == settings["fields"] == settings["bodies"] == []
        (rod,) = settings["rods"]
        assert rod["points"] <= 3
        assert (rod["hold"], settings["gravity"]) == ("none", 0.0)


@pytest.mark.parametrize("path", sorted(fuzz.KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_kept_failures_are_repaired(path):
    assert fuzz.problem(json.loads(path.read_text(encoding="utf-8"))["settings"]) == ""


@pytest.mark.long
def test_a_hundred_thousand_random_scenes():
    assert fuzz.main(["--seed", "1000000", "--count", "100000", "--seconds", "1e9"]) == 0
