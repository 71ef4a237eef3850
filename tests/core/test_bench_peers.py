"""`make bench-peers` reports a peer that cannot be installed, or fails, instead of stopping."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tendril.bench.peers import __main__ as peers
from tendril.bench.peers import cases, environment
from tendril.bench.peers.environment import ROOT, Peer


def test_one_environment_that_cannot_be_created_does_not_exclude_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(command: list[str]) -> str:
        if command[-1].endswith("peers-newton.txt"):
            raise environment.PeerError("no matching distribution")
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True)
        return str(tmp_path)

    monkeypatch.setattr(environment, "_call", call)
    monkeypatch.setattr(environment, "FOLDER", tmp_path / "peers")
    chosen = [peer for peer in peers.PEERS if peer.environment in ("classic", "newton", "")]
    assert environment.prepare(chosen) == {"newton": "not installed: no matching distribution"}


def test_a_missing_python_is_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "FOLDER", tmp_path)
    peer = Peer("Blender", "blender_workloads", "blender", ("W3",), python="9.9")
    assert environment.prepare([peer]) == {"Blender": "not installed: there is no Python 9.9 on this machine"}


def test_every_peer_has_its_requirements_script_and_workloads() -> None:
    for peer in peers.PEERS:
        assert (ROOT / "bench" / "peers" / f"{peer.script}.py").exists()
        assert not peer.environment or (ROOT / "requirements" / f"peers-{peer.environment}.txt").exists()
        assert set(peer.workloads) <= set(peers.WORKLOADS)
    for workload in peers.WORKLOADS:
        assert sum(workload in peer.workloads for peer in peers.PEERS) >= 2


def test_a_missing_peer_has_its_reason_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    reason = "not installed: no matching distribution"
    monkeypatch.setattr(environment, "prepare", lambda _peers: {"MuJoCo": reason})
    monkeypatch.setattr(environment, "run", lambda peer, name: _result(peer.name, name, 2.0))
    monkeypatch.setattr(peers, "_tendril", lambda name: _result("Tendril", name, 1.0))
    results = peers.measure(["W1"])
    rows = [peers.row(result, results) for result in results]
    assert rows[0] == ("W1", "Tendril 1.0", "1", "1", "tip error 0.5 %")
    assert rows[1] == ("W1", "MuJoCo", "", "", reason)
    assert rows[2][3] == "2"


def _result(program: str, workload: str, seconds: float) -> dict[str, object]:
    figure = {"tip_error_percent": 0.5}
    return {"program": program, "version": "1.0", "workload": workload, "seconds": seconds, "figure": figure}


def test_tendril_is_measured_by_processor_time() -> None:
    result = peers._on_processor(
        {"seconds": 9.0, "figure": {"processor_seconds": 2.0, "best_frame": 1.0, "overlap": 3.0}}
    )
    assert result == {"seconds": 2.0, "figure": {"overlap": 3.0}}


def test_the_measures_of_contact_see_overlaps() -> None:
    strands = cases.heap_points()
    assert cases.heap_overlap(strands) == 0.0
    strands[1] = strands[0] + (0.0, 0.0, cases.STRAND.radius)
    assert cases.heap_overlap(strands) == pytest.approx(1.0, abs=1e-3)  # the strand is not quite level
    sunk = [points - (0.0, 0.0, 0.1) for points in cases.heap_points()]
    lowest = min(points[:, 2].min() for points in sunk)
    assert cases.heap_overlap(sunk) == pytest.approx(1.0 - lowest / cases.STRAND.radius)
    rope = cases.dropped_points()
    assert cases.dropped_penetration(rope) == 0.0
    reach = cases.CYLINDER_RADIUS + 0.1 + 0.25 * cases.DROPPED.radius
    resting = np.stack([rope[:, 0], 0.0 * rope[:, 1], np.full(len(rope), reach)], axis=1)
    assert cases.dropped_penetration(resting) == pytest.approx(0.75, abs=0.01)
