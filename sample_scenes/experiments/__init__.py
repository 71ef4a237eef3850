"""The experiments of the papers: `python -m tendril experiment NAME`.

An experiment is a module here with a function `run()` that returns an Outcome, and a row in the table below.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from .outcome import Outcome


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    source: str  # the paper and its figure
    run: Callable[[], Outcome]


def _in_module(name: str) -> Callable[[], Outcome]:
    """The module's `run`, imported only when it is called: the table costs nothing."""

    def run() -> Outcome:
        outcome = importlib.import_module(f".{name}", __package__).run()
        assert isinstance(outcome, Outcome)
        return outcome

    return run


def _row(name: str, title: str, source: str) -> Experiment:
    return Experiment(name, title, source, _in_module(name))


TABLE = {
    experiment.name: experiment
    for experiment in (
        _row("michell_ring", "A twisted ring leaves its plane", "Bergou et al. 2008, Fig. 8"),
        _row("trefoil", "A knot jumps when it is twisted", "Bergou et al. 2008, Fig. 1"),
        _row("plectonemes", "A twisted rod winds about itself", "Bergou et al. 2008, Fig. 9"),
        _row("chain", "A chain of open links is pulled apart", "Bergou et al. 2008, Fig. 10"),
        _row("springs", "Two springs slide along a strand", "Zhao et al. 2022, Fig. 14"),
        _row("knot", "A knot is drawn tight", "Zhao et al. 2022, Figs. 13 and 15"),
        _row("cylinders", "A rod falls on three cylinders", "Zhao et al. 2022, Fig. 17"),
        _row("clothoid_series", "Power series of a clothoid", "Casati and Bertails-Descoubes 2013, Figs. 3, 4 and 6"),
        _row("curly_rod", "A curly rod hangs", "Casati and Bertails-Descoubes 2013, Fig. 9"),
        _row("swinging_rod", "A rod swings", "Casati and Bertails-Descoubes 2013, Fig. 8 (a)"),
    )
}
