"""Banded and bordered factorizations against dense solves of the same matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tendril.core.maths.linalg.bordered_band import (
    BORDER,
    COLUMN,
    HALF_WIDTH,
    factor,
    factor_bordered,
    solve,
    solve_bordered,
)
from tendril.core.maths.linalg.selected_inverse import invert_within
from tendril.core.maths.linalg.tridiagonal import factor_tridiagonal, solve_tridiagonal

SMALLEST_OPEN, SMALLEST_CLOSED = 8, 12  # two vertices, three vertices
PADDING = 3  # rows before and after a rod's own, which belong to others
FOREIGN = 1e300  # what stands there


def within_the_shape(n: int, border: int) -> np.ndarray:
    """Which entries of an n x n matrix may differ from zero."""
    k = np.arange(n)
    inside = np.abs(k[:, None] - k[None, :]) <= HALF_WIDTH
    inside[n - border :, :] = inside[:, n - border :] = True
    return inside


def random_matrix(rng: np.random.Generator, n: int, border: int, condition: float = 1e3) -> np.ndarray:
    """Symmetric and positive definite: diagonally dominant, with rows and columns scaled over orders of magnitude."""
    full = np.where(within_the_shape(n, border), rng.standard_normal((n, n)), 0.0)
    full = full + full.T
    full += np.diag(np.abs(full).sum(axis=1) * rng.uniform(1.01, 1.5, n))
    scale = condition ** rng.uniform(-0.25, 0.25, n)
    return full * np.outer(scale, scale)


class Stored:
    """A matrix as the factorizations want it, amid rows of other rods that they must leave alone."""

    def __init__(self, full: np.ndarray, border: int) -> None:
        self.full, self.n, self.closed = full, len(full), border > 0
        inner = self.n - border
        rows = self.n + 2 * PADDING
        self.band = np.full((rows, COLUMN), FOREIGN)
        self.border = np.full((rows if border else 0, BORDER), FOREIGN)
        self.corner = np.tril(full[inner:, inner:]) if border else np.zeros((BORDER, BORDER))
        self.band[PADDING : PADDING + self.n] = 0.0
        for c in range(inner):
            reach = min(HALF_WIDTH, inner - 1 - c) + 1
            self.band[PADDING + c, :reach] = full[c : c + reach, c]
            if border:
                self.border[PADDING + c] = full[inner:, c]

    def factor(self) -> bool:
        if self.closed:
            return bool(factor_bordered(self.band, self.border, self.corner, PADDING, self.n))
        return bool(factor(self.band, PADDING, self.n))

    def solve(self, b: np.ndarray) -> np.ndarray:
        x = np.full(self.n + 2 * PADDING, FOREIGN)
        x[PADDING:-PADDING] = b
        if self.closed:
            solve_bordered(self.band, self.border, self.corner, PADDING, self.n, x)
        else:
            solve(self.band, PADDING, self.n, x)
        assert np.all(x[:PADDING] == FOREIGN)
        assert np.all(x[-PADDING:] == FOREIGN)
        assert np.all(self.band[:PADDING] == FOREIGN)
        assert np.all(self.band[-PADDING:] == FOREIGN)
        return x[PADDING:-PADDING]


def check_against_dense(full: np.ndarray, border: int, rng: np.random.Generator) -> None:
    stored = Stored(full, border)
    assert stored.factor()
    for _ in range(2):  # the factor serves any number of right-hand sides
        wanted = rng.standard_normal(len(full)) / np.sqrt(np.diag(full))
        b = full @ wanted
        x, dense = stored.solve(b), np.linalg.solve(full, b)
        scale = np.sqrt(np.diag(full))
        assert np.abs((x - dense) * scale).max() < 1e-11
        assert np.abs((full @ x - b) / scale).max() < 1e-12 * np.abs(b / scale).max()


SIZES = [
    *((n, 0) for n in (*range(SMALLEST_OPEN, 50, 4), 160)),
    *((n, BORDER) for n in (*range(SMALLEST_CLOSED, 50, 4), 160)),
]


@pytest.mark.parametrize(("n", "border"), SIZES)
def test_solutions_are_those_of_a_dense_solve(n: int, border: int) -> None:
    rng = np.random.default_rng(100 * n + border)
    for _ in range(5):
        check_against_dense(random_matrix(rng, n, border), border, rng)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(SMALLEST_OPEN, 70), st.booleans(), st.floats(1.0, 1e8))
def test_matrices_of_any_size_and_scaling(seed: int, n: int, closed: bool, condition: float) -> None:
    border = BORDER if closed and n >= SMALLEST_CLOSED else 0
    rng = np.random.default_rng(seed)
    check_against_dense(random_matrix(rng, n, border, condition), border, rng)


@pytest.mark.parametrize("n", [SMALLEST_CLOSED, 24, 41])
def test_the_factor_is_that_of_the_matrix(n: int) -> None:
    """L D L^T put together again is the matrix, so D has its determinant and its signs."""
    full = random_matrix(np.random.default_rng(n), n, 0)
    stored = Stored(full, 0)
    assert stored.factor()
    band = stored.band[PADDING:-PADDING]
    lower = np.eye(n)
    for c in range(n):
        reach = min(HALF_WIDTH, n - 1 - c)
        lower[c + 1 : c + 1 + reach, c] = band[c, 1 : reach + 1]
    np.testing.assert_allclose(lower @ np.diag(band[:, 0]) @ lower.T, full, rtol=1e-12, atol=1e-12 * full.max())


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(SMALLEST_OPEN, 48), st.booleans(), st.floats(1e-9, 2.0))
def test_indefinite_matrices_are_refused_and_definite_ones_are_not(
    seed: int, n: int, closed: bool, distance: float
) -> None:
    """Shifted so that the smallest eigenvalue is a little above or below zero."""
    border = BORDER if closed and n >= SMALLEST_CLOSED else 0
    full = random_matrix(np.random.default_rng(seed), n, border, 1.0)
    lowest, size = np.linalg.eigvalsh(full)[[0, -1]]
    for sign in (1.0, -1.0):
        shifted = full - (lowest - sign * distance * size) * np.eye(n)
        assert Stored(shifted, border).factor() == (sign > 0)


@pytest.mark.parametrize("border", [0, BORDER], ids=["open", "closed"])
@pytest.mark.parametrize("bad", [-1.0, 0.0, np.nan])
def test_a_bad_entry_anywhere_on_the_diagonal_is_refused(border: int, bad: float) -> None:
    n = 20
    for place in range(n):
        full = random_matrix(np.random.default_rng(place), n, border)
        full[place, place] *= bad
        assert not Stored(full, border).factor()


@pytest.mark.parametrize(("n", "border"), SIZES)
def test_the_selected_inverse_is_that_of_the_dense_matrix(n: int, border: int) -> None:
    full = random_matrix(np.random.default_rng(7 * n + border), n, border)
    stored = Stored(full, border)
    assert stored.factor()
    z, z_border, z_corner = np.zeros((n, COLUMN)), np.zeros((n if border else 0, BORDER)), np.zeros((BORDER, BORDER))
    invert_within(
        stored.band, stored.border, stored.corner, PADDING, n, stored.closed, z, z_border, z_corner
    )  # fmt: skip
    inverse, scale = np.linalg.inv(full), np.sqrt(np.diag(full))
    relative = inverse * np.outer(scale, scale)
    inner = n - border
    for c in range(inner):
        reach = min(HALF_WIDTH, inner - 1 - c) + 1
        found = z[c, :reach] * scale[c : c + reach] * scale[c]
        assert np.abs(found - relative[c : c + reach, c]).max() < 1e-12
        if border:
            assert np.abs(z_border[c] * scale[inner:] * scale[c] - relative[inner:, c]).max() < 1e-12
    if border:
        corner = np.tril(z_corner) * np.outer(scale[inner:], scale[inner:])
        assert np.abs(corner - np.tril(relative[inner:, inner:])).max() < 1e-12


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9, 50])
@pytest.mark.parametrize("cyclic", [False, True])
def test_tridiagonal_matrices_are_solved(n: int, cyclic: bool) -> None:
    if cyclic and n < 3:
        return
    rng = np.random.default_rng(n)
    first = 4
    diagonal, beside, fill, b = (rng.uniform(-1.0, 1.0, n + 8) for _ in range(4))
    diagonal += 4.0
    full = np.diag(diagonal[first : first + n])
    for k in range(0 if cyclic else 1, n):
        full[k, k - 1] = full[k - 1, k] = beside[first + k]
    expected, untouched = np.linalg.solve(full, b[first : first + n]), b[:first].copy()
    assert factor_tridiagonal(diagonal, beside, fill, first, n, cyclic, 0.0)
    solve_tridiagonal(diagonal, beside, fill, first, n, cyclic, b)
    assert b[first : first + n] == pytest.approx(expected, abs=1e-14)
    assert np.array_equal(b[:first], untouched)


@pytest.mark.parametrize("cyclic", [False, True])
def test_an_indefinite_tridiagonal_matrix_is_refused(cyclic: bool) -> None:
    diagonal, beside = np.full(6, 1.0), np.full(6, 0.6)
    assert not factor_tridiagonal(diagonal, beside, np.zeros(6), 0, 6, cyclic, 0.0)
