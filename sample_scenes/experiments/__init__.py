"""Experiments that repeat figures and tables of the papers: `python -m tendril experiment NAME`.

An experiment is a module of this package with a function `run()` that returns an Outcome, and a row in the table below. If it can
be run with several models, `run` takes the name of one.
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
    run: Callable[..., Outcome]
    models: tuple[str, ...] = ()  # models to choose from; empty: no choice


def _in_module(name: str) -> Callable[..., Outcome]:
    """The `run` of the module, which is imported at the first call, so that reading the table is cheap."""

    def run(*model: str) -> Outcome:
        outcome = importlib.import_module(f".{name}", __package__).run(*model)
        assert isinstance(outcome, Outcome)
        return outcome

    return run


def _row(name: str, title: str, source: str, *models: str) -> Experiment:
    return Experiment(name, title, source, _in_module(name), models)


DER = ("der", "der2008")

TABLE = {
    experiment.name: experiment
    for experiment in (
        _row("michell_ring", "A twisted ring leaves its plane", "Bergou et al. 2008, Fig. 8"),
        _row("helical_perversion", "A straightened spring forms a helical perversion", "Bergou et al. 2008, Fig. 2"),
        _row("twist_asymmetry", "Twist stays on one side of a bend", "Bergou et al. 2008, Fig. 5"),
        _row("localised_buckling", "Localised buckling of a twisted rod", "Bergou et al. 2008, Fig. 7"),
        _row("induced_twist", "A twisted rod buckles if its end cannot turn", "Thesis on Discrete Elastic Rods, 2012"),
        _row("spinning_body", "A spinning body winds up its rod", "Thesis on Discrete Elastic Rods, 2012"),
        _row("redundancy", "Redundant parameters and constraints", "Thesis on Discrete Elastic Rods, 2012"),
        _row("projection_energy", "Energy lost by projections", "Bergou et al. 2008, section 10"),
        _row("table_1", "Time of a step", "Bergou et al. 2008, Table 1"),
        _row("trefoil", "A knot jumps when it is twisted", "Bergou et al. 2008, Fig. 1", *DER),
        _row("plectonemes", "A twisted rod winds about itself", "Bergou et al. 2008, Fig. 9"),
        _row("chain", "A chain of open links is pulled apart", "Bergou et al. 2008, Fig. 10", *DER),
        _row("torsion_pendulum", "A disc turns on a wire", "Formula of the torsional pendulum"),
        _row("wilberforce", "Wilberforce pendulum", "Bergou et al. 2008, Fig. 11", *DER),
        _row("transducer", "A rod carries torque between two bodies", "Bergou et al. 2008, Fig. 6", *DER),
        _row("heavy_ball", "A ball of 100 kg on a rope of ten grams", "Formula of the rigid pendulum"),
        _row("tree", "A tree in wind, with rigid forks", "Bergou et al. 2008, Fig. 12"),
        _row("springs", "Two springs slide along a strand", "Zhao et al. 2022, Fig. 14", "der", "compact"),
        _row("knot", "A knot is drawn tight", "Zhao et al. 2022, Figs. 13 and 15", "der", "compact"),
        _row("preconditioners", "Preconditioners for compact rods", "Zhao et al. 2022, Figs. 3 to 5"),
        _row(
            "helix", "A helix under gravity, in compact and in Cartesian coordinates", "Zhao et al. 2022, Figs. 6 to 10"
        ),
        _row("compact_table_1", "Time of a step, compact rods", "Zhao et al. 2022, Table 1"),
        _row("dragged", "The root of a rod is dragged in long steps", "Zhao et al. 2022, Fig. 11"),
        _row("sliding_plectoneme", "A rod with sliding ends is twisted", "Zhao et al. 2022, Fig. 16"),
        _row("cylinders", "A rod falls on three cylinders", "Zhao et al. 2022, Fig. 17", "der", "compact"),
        _row("spiral", "A spiral under torsion winds about itself", "Spillmann and Teschner 2009, Fig. 4"),
        _row("buckling", "A twisted rod buckles when disturbed", "Spillmann and Teschner 2009, Figs. 9 and 10"),
        _row("pendulum", "Ghost inertia slows a pendulum", "Spillmann and Teschner 2009, Fig. 11"),
        _row("ghost_substeps", "Substeps for frames with little inertia", "Spillmann and Teschner 2009, Fig. 12"),
        _row("ribbon", "A ribbon of rods falls on the ground", "Spillmann and Teschner 2009, Fig. 15"),
        _row("spheroid", "A cage of four rods is twisted to a figure eight", "Spillmann and Teschner 2009, Fig. 13"),
        _row("rings", "A chain of rings", "Spillmann and Teschner 2009, Fig. 1"),
        _row("heavy_bodies", "Two heavy bodies fall on two trusses", "Spillmann and Teschner 2009, Fig. 1"),
        _row("draped_nets", "Nets thrown over spheres", "Spillmann and Teschner 2009, Fig. 16"),
        _row("trusses", "Trusses with and without torsion", "Spillmann and Teschner 2009, Fig. 14"),
        _row("clothoid_series", "Power series of a clothoid", "Casati and Bertails-Descoubes 2013, Figs. 3, 4 and 6"),
        _row("curly_rod", "A curly rod hangs", "Casati and Bertails-Descoubes 2013, Fig. 9"),
        _row("swinging_rod", "A rod swings", "Casati and Bertails-Descoubes 2013, Fig. 8 (a)"),
        _row(
            "super_helix_stability",
            "Why super-helices were unstable",
            "Casati and Bertails-Descoubes 2013, section 8.1",
        ),
        _row("pieces", "Piecewise summation of an element", "Casati and Bertails-Descoubes 2013, Fig. 5"),
        _row("unwinding", "A curly rod unwinds", "Casati and Bertails-Descoubes 2013, Figs. 8 (b) and 9"),
        _row("real_strands", "A tendril and a ringlet", "Casati and Bertails-Descoubes 2013, Figs. 1 and 2"),
        _row("twining", "A plant winds round a pole", "Casati and Bertails-Descoubes 2013, Fig. 10"),
        _row("head_of_hair", "Hair on a head that shakes", "Casati and Bertails-Descoubes 2013, Fig. 11"),
        _row("curled_sheets", "Ribbon, poster, parchment", "Casati and Bertails-Descoubes 2013, Figs. 1 and 12"),
        _row("clothoid_cost", "Cost of a step", "Casati and Bertails-Descoubes 2013, Fig. 9"),
    )
}
