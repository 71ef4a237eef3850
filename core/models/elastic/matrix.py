"""Newton's matrix of a rod or net: a band for rods, a sparse matrix for nets. The two have the same functions, chosen here.

Rods have no pattern. The choice is by its type, so that only one of the two is compiled.
"""

from __future__ import annotations

from ...compile.jit import part
from ...compile.lanes import Truth
from ...errors import Array, Flags
from ...maths.linalg.sparse_factor import Pattern, factor
from .arrays import Forces, Graph, Material, System
from .band import add_edges as add_edges_to_band
from .band import add_inertia as add_inertia_to_band
from .band import clear as clear_band
from .band import enlarge_diagonal as enlarge_diagonal_of_band
from .band import factor_band, solve_band
from .fronts import add_edges as add_edges_to_fronts
from .fronts import add_inertia as add_inertia_to_fronts
from .fronts import clear as clear_fronts
from .fronts import enlarge_diagonal as enlarge_diagonal_of_fronts
from .fronts import solve_fronts


@part
def begin_matrix(
    graph: Graph, material: Material, forces: Forces, system: System, pattern: Pattern | None, r: int, h: float
) -> None:
    """The matrix of inertia and drag in a stage of length h."""
    if pattern is None:
        clear_band(graph, system, r)
        add_inertia_to_band(graph, material, forces, system, r, h)
    else:
        clear_fronts(graph, material.held, system, pattern, r)
        add_inertia_to_fronts(graph, material, forces, system, r, h)


@part
def add_edges(graph: Graph, system: System, pattern: Pattern | None, stiffness: Array, touched: Flags, r: int) -> None:
    """Adds stiffness (E, 28) of x theta x of edges that are touched, lower triangle by rows."""
    if pattern is None:
        add_edges_to_band(graph, system, stiffness, touched, r)
    else:
        add_edges_to_fronts(graph, system, stiffness, touched, r)


@part
def enlarge_diagonal(graph: Graph, system: System, pattern: Pattern | None, r: int, factor: float) -> None:
    """Makes the diagonal of the positions larger by a factor."""
    if pattern is None:
        enlarge_diagonal_of_band(graph, system, r, factor)
    else:
        enlarge_diagonal_of_fronts(graph, system, r, factor)


@part
def factor_matrix(graph: Graph, held: Flags, system: System, pattern: Pattern | None, stack: Array, r: int) -> Truth:
    """LDL^T, held unknowns apart. False if the matrix is not positive definite."""
    if pattern is None:
        return factor_band(graph, held, system, r)
    return factor(pattern, system.values, stack, r)


@part
def solve_matrix(graph: Graph, held: Flags, system: System, pattern: Pattern | None, r: int, x: Array) -> None:
    """Solves with the factored matrix, in place; x is (n,), and zero where unknowns are held."""
    if pattern is None:
        solve_band(graph, held, system, r, x)
    else:
        solve_fronts(graph, held, system, pattern, r, x)
