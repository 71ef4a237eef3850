"""The command `make bench`: its rows can be selected, it shows progress, and limits that are exceeded end it with code 1."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tendril.bench import __main__ as bench
from tendril.bench.masses import energy_gain
from tendril.bench.rows import Line, Row, exponent, sweep
from tendril.bench.table import ROWS
from tendril.core.models.protocol import Energies
from tendril.core.store import cli


def test_rows_have_distinct_names_and_can_be_selected() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    assert {"W1", "W2", "W3", "W9", "segments", "rods", "strands"} <= set(names)
    assert [row.name for row in bench.chosen(["W3", "W1"], False)] == ["W1", "W3"]
    assert bench.chosen([], True) == list(ROWS)
    with pytest.raises(SystemExit):
        bench.main(["--only", "W0"])


def test_exponent_of_growth() -> None:
    sizes = [10, 40, 160, 640]
    assert exponent(sizes, [1.0, 2.0, 8.0, 32.0]) == pytest.approx(1.0)
    lines = list(sweep("{} things", sizes, lambda n: 1e-6 * n**1.5, 1.15, "thing"))
    assert [line.name for line in lines[:2]] == ["10 things", "40 things"]
    assert lines[-1].figures["exponent"] == pytest.approx(1.5)
    assert lines[-1].limits == {"exponent": 1.15}


def test_energy_that_comes_from_nowhere() -> None:
    falls = [Energies(kinetic=k, gravity=2.0 - k) for k in (0.0, 0.5, 1.0)]
    assert energy_gain(falls) == 0.0
    assert energy_gain([*falls, Energies(gravity=1.0), Energies(kinetic=0.9, gravity=1.0)]) == 0.0
    assert energy_gain([*falls, Energies(kinetic=1.5, gravity=1.0)]) == pytest.approx(0.5)


def test_progress_and_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def measure(full: bool) -> Iterator[Line]:
        assert full
        yield Line("a fast thing", 0.1, {"seconds": 1.0})
        yield Line("a slow thing", 2.0, {"seconds": 1.0, "error": 0.5}, {"error": 0.4})

    rows = [Row("made up", measure), Row("another", lambda _full: [Line("nothing", 0.0)])]
    out = tmp_path / "folder" / "bench.json"
    assert bench.run(rows, True, out) == 1
    printed = capsys.readouterr()
    assert "[1/2, 0:00] made up" in printed.out
    assert "[2/2, 0:00] another" in printed.out
    assert "limit exceeded: a slow thing: seconds 2, at most 1 (row made up)" in printed.err
    assert "fast" not in printed.err
    assert [entry["name"] for entry in json.loads(out.read_text())["rows"]] == [
        "a fast thing",
        "a slow thing",
        "nothing",
    ]
    assert bench.run(rows[1:], False, out) == 0


def test_the_command_line_passes_its_arguments_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--list"]) == 0
    assert capsys.readouterr().out.split("\n")[:2] == ["W1", "W2"]
