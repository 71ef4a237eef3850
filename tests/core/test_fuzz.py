"""Random scenes: a sample of `make fuzz`, and the failures that it has kept."""

from __future__ import annotations

import json
import time

import fuzz
import numpy as np
import pytest
from random_scenes import CROWD, random_settings, simulate
from tendril.core.describe.fields import KINDS
from tendril.core.describe.model import model_records

SEEDS = [*range(4, 21), *range(22, 28)]  # without contact: some seconds together, which seed 21 takes alone
SEEDS_OF_CONTACT = (2001, 2003, 2004, 2015, 2016, 2018, 2020, 2021)  # the same, twelve rods among them


def without_contact(seed):
    """Smaller, and without contact, whose kernels take longer than the other tests together."""
    settings = {**random_settings(seed), "rod_contact": False, "colliders": [], "bodies": []}
    return {**settings, "rods": settings["rods"][:3]}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_scene_neither_raises_nor_has_a_nan(seed):
    assert fuzz.problem(without_contact(seed)) == ""


@pytest.mark.parametrize("seed", SEEDS_OF_CONTACT)
def test_a_random_scene_with_contact_neither_raises_nor_has_a_nan(seed):
    assert fuzz.problem(random_settings(seed)) == ""


def test_the_sample_covers_all_models_and_most_are_simulated():
    rods = [rod for seed in SEEDS for rod in without_contact(seed)["rods"]]
    assert {rod["model"] for rod in rods} == {record.name for record in model_records()}
    assert {rod["motion"] for rod in rods} >= {"teleport", "spin", "shake", "nan", "raises"}
    assert min(rod["young"] for rod in rods) < 1e4
    assert max(rod["young"] for rod in rods) > 1e10


def test_the_sample_has_contact_crowds_and_bodies():
    scenes = [random_settings(seed) for seed in SEEDS_OF_CONTACT]
    assert max(len(scene["rods"]) for scene in scenes) == CROWD
    assert any(scene["rod_contact"] and scene["bodies"] for scene in scenes)
    assert {one["kind"] for scene in scenes for one in scene["colliders"]} >= {"huge", "sliver"}
    assert max(rod["points"] for scene in scenes for rod in scene["rods"]) > 1000


def test_random_settings_span_what_is_asked_for():
    scenes = [random_settings(seed) for seed in range(2000)]
    rods = [rod for scene in scenes for rod in scene["rods"]]
    for name, least, most in (("points", 2, 15000), ("young", 2e2, 5e11), ("size", 2e-5, 500.0)):
        values = [rod[name] for rod in rods]
        assert min(values) <= least
        assert max(values) >= most
    assert {field["kind"] for scene in scenes for field in scene["fields"]} == set(KINDS)


def test_a_scene_that_takes_too_long_is_found(monkeypatch):
    """Compiling does not count."""
    monkeypatch.setattr(fuzz, "MOST_SECONDS", 0.05)
    monkeypatch.setattr(fuzz, "MOST_SECONDS_PER_POINT", 0.0)

    def busy(settings, threads=1, around=None):
        fuzz.compiling.on_start(None)
        wait(0.3)
        fuzz.compiling.on_end(None)
        with around():
            wait(settings["frames"])

    def wait(seconds):
        until = time.process_time() + seconds
        while time.process_time() < until:
            pass

    monkeypatch.setattr(fuzz, "simulate", busy)
    assert fuzz.problem({"rods": [], "substeps": 1, "frames": 0.0}) == ""
    assert fuzz.problem({"rods": [], "substeps": 1, "frames": 5.0}).startswith("a frame takes more than")


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
