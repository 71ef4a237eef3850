"""`make bench-peers` reports a peer that cannot be installed, or fails, instead of stopping."""

from __future__ import annotations

from pathlib import Path

import pytest
from tendril.bench.peers import __main__ as peers
from tendril.bench.peers import environment


def test_one_package_that_cannot_be_installed_does_not_exclude_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(command: list[str]) -> str:
        if command[-1] == "mujoco":
            raise environment.PeerError("no matching distribution")
        return str(tmp_path)

    monkeypatch.setattr(environment, "_call", call)
    monkeypatch.setattr(environment, "FOLDER", tmp_path / "peers")
    (tmp_path / "peers").mkdir()
    monkeypatch.setattr(environment.shutil, "rmtree", lambda *_args, **_more: None)
    assert environment.prepare(["mujoco", "pyelastica"]) == {
        "mujoco": "mujoco could not be installed: no matching distribution"
    }


def test_a_missing_peer_has_its_reason_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    reason = "mujoco could not be installed: no matching distribution"
    monkeypatch.setattr(environment, "prepare", lambda _packages: {"mujoco": reason})
    monkeypatch.setattr(environment, "run", lambda script, name: _result(script, name, 2.0))
    monkeypatch.setattr(peers, "_tendril", lambda name: _result("Tendril", name, 1.0))
    results = peers.measure(["W1"])
    rows = [peers.row(result, results) for result in results]
    assert rows[0] == ("W1", "Tendril 1.0", "1", "1", "tip error 0.5 %")
    assert rows[1] == ("W1", "MuJoCo", "", "", reason)
    assert rows[2][3] == "2"


def _result(program: str, workload: str, seconds: float) -> dict[str, object]:
    figure = {"tip_error_percent": 0.5}
    return {"program": program, "version": "1.0", "workload": workload, "seconds": seconds, "figure": figure}
