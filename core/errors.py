"""The exception type of the core, which names the field, the value and the remedy; and validation helpers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

# Supported sizes (m). Outside of them the units are almost certainly wrong, and round-off becomes significant.
SMALLEST_SIZE = 1e-6
LARGEST_SIZE = 1e4
LARGEST_FRICTION = 100.0


class TendrilError(ValueError):
    """Invalid input, explained in one sentence. Raised before anything is changed."""

    def __init__(self, field: str, value: object, cure: str) -> None:
        self.field = field
        self.value = value
        self.cure = cure
        super().__init__(f"{field} is {shorten(value)}: {cure}")


def shorten(value: object, most: int = 60) -> str:
    """The value for a message: on one line, and short."""
    if isinstance(value, np.ndarray):
        text = f"an array of shape {value.shape}"
    else:
        try:
            text = repr(value)
        except Exception as error:  # repr runs the caller's code; the message must not fail
            text = f"a {type(value).__name__} that can't be shown ({type(error).__name__})"
    text = " ".join(text.split())
    half = most // 2 - 2
    return text if len(text) <= most else text[:half] + "..." + text[-half:]


def number(field: str, value: Any, cure: str = "give one finite number") -> float:
    if dimensions(value) != 0 or np.asarray(value).dtype.kind not in "iufO":
        raise TendrilError(field, value, cure)
    try:
        result = float(value)
    except Exception:  # __float__ runs the caller's code
        raise TendrilError(field, value, cure) from None
    if not math.isfinite(result):
        raise TendrilError(field, value, cure)
    return result


def positive(field: str, value: Any, unit: str = "") -> float:
    cure = f"give a finite number above zero{unit and ' in ' + unit}"
    result = number(field, value, cure)
    if result <= 0.0:
        raise TendrilError(field, value, cure)
    return result


def not_negative(field: str, value: Any, unit: str = "") -> float:
    cure = f"give a finite number, zero or above{unit and ', in ' + unit}"
    result = number(field, value, cure)
    if result < 0.0:
        raise TendrilError(field, value, cure)
    return result


def whole(field: str, value: Any, least: int, most: int | None = None) -> int:
    span = f"from {least}" + ("" if most is None else f" to {most}")
    cure = f"give a whole number {span}"
    if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, (int, np.integer)):
        raise TendrilError(field, value, cure)
    result = int(value)
    if result < least or (most is not None and result > most):
        raise TendrilError(field, value, cure)
    return result


def flag(field: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TendrilError(field, value, "give True or False")
    return bool(value)


def dimensions(value: Any) -> int:
    """Number of dimensions; -1 for values that are not arrays, such as ragged lists."""
    try:
        return int(np.asarray(value).ndim)
    except Exception:  # __array__ runs the caller's code
        return -1


def array(field: str, value: Any, shape: tuple[int | None, ...], cure: str) -> Array:
    """A finite float64 array of the given shape (None: any length), always a copy."""
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "iufO":  # numpy would parse text and drop imaginary parts
            raise TypeError
        if given.dtype.kind == "O":  # such as huge integers, but also text and dates
            given = np.reshape([number(field, item) for item in given.flat], given.shape)
        with np.errstate(all="ignore"):  # infinite values are refused below
            result = given.astype(np.float64, order="C", copy=True)
    except Exception:  # __array__ or __float__ run the caller's code
        raise TendrilError(field, value, cure) from None
    fits = result.ndim == len(shape) and all(
        want is None or want == have for want, have in zip(shape, result.shape, strict=True)
    )
    if not fits:
        raise TendrilError(field, value, cure)
    finite = np.isfinite(result)
    if not np.all(finite):
        told = value if result.ndim < 2 else result[np.argwhere(~finite)[0, 0]].tolist()  # the first row
        raise TendrilError(field, told, "replace NaN and infinite entries by finite numbers")
    return result


def vector(field: str, value: ArrayLike) -> Array:
    return array(field, value, (3,), "give three finite numbers (x, y, z)")


def directions(field: str, vectors: Array) -> Array:
    """The vectors, along the last axis, normalised."""
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if not np.all((lengths > 1e-150) & (lengths < 1e150)):
        raise TendrilError(field, vectors, "give vectors with a length above zero")
    return np.asarray(vectors / lengths)


def direction(field: str, value: ArrayLike) -> Array:
    return directions(field, vector(field, value))


def per_vertex(field: str, value: Any, count: int, above_zero: bool = True) -> Array:
    """One number for the whole rod or one per vertex, as an array of one per vertex."""
    bound = "above zero" if above_zero else "zero or above"
    cure = f"give one finite number {bound}, or {count} of them, one per vertex"
    single = dimensions(value) == 0
    result = np.full(count, number(field, value, cure)) if single else array(field, value, (count,), cure)
    lowest = float(result.min())
    if lowest < 0.0 or (above_zero and lowest == 0.0):
        raise TendrilError(field, value if single else lowest, cure)
    return result


def friction_coefficient(value: Any) -> float:
    friction = not_negative("friction", value)
    if friction > LARGEST_FRICTION:
        raise TendrilError("friction", value, f"give a coefficient from 0 to {LARGEST_FRICTION:g}")
    return friction


def fraction(field: str, value: Any) -> float:
    share = not_negative(field, value)
    if share > 1.0:
        raise TendrilError(field, value, "give a number from 0 to 1")
    return share
