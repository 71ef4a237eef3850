"""Lanes: several numbers that are computed with at once, in one vector register of the processor.

A kernel computes with `Lanes` as it does with numbers: its parts are compiled for either type. An array of lanes is an array of
numbers whose last axis has LANES entries; `as_lanes` reads it so, and likewise the arrays of a group. Operations never mix lanes,
so the result in one does not depend on what is in the others.

Comparing lanes gives a mask, which no `if` takes: `any_of` and `all_of` make it a truth, `select` chooses by it in each lane, and
`both`, `either` and `but` combine masks. All of these also take plain numbers and truths. Without numba there is one lane, a
number.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .groups import is_group
from .jit import numba_or_none

Numbers = Any  # a number, or lanes
Truth = Any  # a truth, or a mask

numba = numba_or_none()
LANES = 4 if numba is not None else 1  # what registers of most processors hold


def with_lanes(group: Any, made: dict[int, Any] | None = None) -> Any:
    """A copy of a group of arrays whose arrays of numbers are arrays of lanes, to be read by `as_lanes`. What was one array twice
    remains so."""
    made = {} if made is None else made
    if isinstance(group, tuple):
        return type(group)(*[with_lanes(member, made) for member in group])
    if not (isinstance(group, np.ndarray) and group.dtype == np.float64):
        return group
    return made.setdefault(id(group), np.repeat(group[..., None], LANES, axis=-1))


if numba is None:

    def as_lanes(group: Any) -> Any:
        if isinstance(group, tuple):
            return type(group)(*map(as_lanes, group))
        return group[..., 0] if isinstance(group, np.ndarray) and group.dtype == np.float64 else group

    def with_axis(group: Any) -> Any:
        if isinstance(group, tuple):
            return type(group)(*map(with_axis, group))
        return group[..., None] if isinstance(group, np.ndarray) and group.dtype == np.float64 else group

    def select(mask: Any, a: Any, b: Any) -> Any:
        return a if mask else b

    def always(like: Any) -> Any:
        return True

    def align_stack() -> None:
        pass

    def all_of(mask: Any) -> bool:
        return bool(mask)

    any_of = all_of

    def both(a: Any, b: Any) -> Any:
        return a and b

    def either(a: Any, b: Any) -> Any:
        return a or b

    def but(a: Any, b: Any) -> Any:
        return a and not b

    def is_finite(x: Any) -> Any:
        return math.isfinite(x)

    def places_for(like: Any) -> int:
        return LANES

    def put_lane(x: Any, row: int, lane: int, value: Any) -> None:
        x[row, lane] = value

    def take_lane(x: Any, row: int, lane: int, like: Any) -> Any:
        return x[row, lane]

else:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.core.extending import intrinsic, models, register_model
    from numba.core.imputils import lower_builtin, lower_cast
    from numba.core.typeconv import Conversion
    from numba.core.typing.templates import AbstractTemplate, infer_global, signature

    _BITS = ir.IntType(LANES)
    _NUMBERS = ir.VectorType(ir.DoubleType(), LANES)
    _TRUTHS = ir.VectorType(ir.IntType(1), LANES)
    _WORD = ir.IntType(32)

    class Lanes(types.Type):
        def unify(self, context: Any, other: Any) -> Any:
            return self if isinstance(other, types.Number) else None

        def can_convert_from(self, context: Any, other: Any) -> Any:
            return Conversion.unsafe if isinstance(other, types.Number) else None

    class Mask(types.Type):
        def unify(self, context: Any, other: Any) -> Any:  # the compiler guesses that what begins as a number stays one
            return self if other == types.boolean else None

        def can_convert_from(self, context: Any, other: Any) -> Any:
            return Conversion.unsafe if other == types.boolean else None

    LANE, MASK = Lanes(name="tendril_lanes"), Mask(name="tendril_mask")

    @register_model(Lanes)
    class _LanesModel(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, _NUMBERS)

    @register_model(Mask)
    class _MaskModel(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, _TRUTHS)

    def _spread(builder: Any, value: Any) -> Any:
        nothing = ir.Constant(_NUMBERS, ir.Undefined)
        one = builder.insert_element(nothing, value, ir.Constant(_WORD, 0))
        return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(_WORD, LANES), [0] * LANES))

    @lower_cast(types.Number, Lanes)
    def _cast(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
        return _spread(builder, context.cast(builder, value, source, types.float64))

    @lower_cast(types.Boolean, Mask)
    def _cast_truth(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
        nothing = ir.Constant(_TRUTHS, ir.Undefined)
        one = builder.insert_element(nothing, value, ir.Constant(_WORD, 0))
        return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(_WORD, LANES), [0] * LANES))

    def _define(function: Any, count: int, result: Any, write: Callable[[Any, Any, list[Any]], Any]) -> None:
        """A function of `count` lanes, of which some may be numbers."""

        class Template(AbstractTemplate):
            def generic(self, args: Any, kws: Any) -> Any:
                fits = len(args) == count and LANE in args
                if fits and all(kind == LANE or isinstance(kind, types.Number) for kind in args):
                    return signature(result, *[LANE] * count)
                return None

        infer_global(function)(Template)
        lower_builtin(function, *[LANE] * count)(lambda context, builder, sig, args: write(context, builder, args))

    def _arithmetic(name: str) -> Callable[[Any, Any, list[Any]], Any]:
        return lambda context, builder, args: getattr(builder, name)(*args)

    def _comparison(sign: str) -> Callable[[Any, Any, list[Any]], Any]:
        return lambda context, builder, args: builder.fcmp_ordered(sign, *args)

    def _of_processor(name: str) -> Callable[[Any, Any, list[Any]], Any]:
        def write(context: Any, builder: Any, args: list[Any]) -> Any:
            kind = ir.FunctionType(_NUMBERS, [_NUMBERS])
            function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f64")
            return builder.call(function, args)

        return write

    def _one_by_one(function: Any) -> Callable[[Any, Any, list[Any]], Any]:
        def write(context: Any, builder: Any, args: list[Any]) -> Any:
            sig = signature(types.float64, *[types.float64] * len(args))
            call = context.get_function(function, sig)
            found = ir.Constant(_NUMBERS, ir.Undefined)
            for k in range(LANES):
                at = ir.Constant(_WORD, k)
                value = call(builder, [builder.extract_element(argument, at) for argument in args])
                found = builder.insert_element(found, value, at)
            return found

        return write

    for _name, _short in (("add", "fadd"), ("sub", "fsub"), ("mul", "fmul"), ("truediv", "fdiv")):
        _define(getattr(operator, _name), 2, LANE, _arithmetic(_short))
        _define(getattr(operator, "i" + _name), 2, LANE, _arithmetic(_short))
    _define(operator.neg, 1, LANE, _arithmetic("fneg"))
    for _name, _sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "==")):
        _define(getattr(operator, _name), 2, MASK, _comparison(_sign))
    _define(abs, 1, LANE, _of_processor("fabs"))
    _define(math.sqrt, 1, LANE, _of_processor("sqrt"))
    _define(math.floor, 1, LANE, _of_processor("floor"))
    for _function, _count in ((math.sin, 1), (math.cos, 1), (math.atan2, 2), (math.pow, 2)):
        _define(_function, _count, LANE, _one_by_one(_function))

    def _extreme(sign: str) -> Callable[[Any, Any, list[Any]], Any]:
        return lambda context, builder, args: builder.select(
            builder.fcmp_ordered(sign, args[1], args[0]), args[1], args[0]
        )

    _define(max, 2, LANE, _extreme(">"))
    _define(min, 2, LANE, _extreme("<"))

    def _is_lanes(*kinds: Any) -> bool:
        return any(kind in (LANE, MASK) for kind in kinds)

    @intrinsic
    def select(context: Any, mask: Any, a: Any, b: Any) -> Any:
        """a where the mask is true, b elsewhere."""
        kind = LANE if _is_lanes(mask, a, b) else a if a == b else types.float64
        given = mask if mask == MASK else types.boolean

        def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.select(*args)

        return kind(given, kind, kind), write

    @intrinsic
    def always(context: Any, like: Any) -> Any:
        """True, in all lanes if `like` is lanes."""
        kind = MASK if like == LANE else types.boolean

        def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return ir.Constant(_TRUTHS, [1] * LANES) if kind == MASK else cgutils.true_bit

        return kind(like), write

    @intrinsic
    def align_stack(context: Any) -> Any:
        """Makes the memory of a function begin where lanes do not straddle a page: such a write takes a hundred times as long. The
        compiler only sees to it where something in the function needs it."""

        def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            slot = cgutils.alloca_once(builder, _NUMBERS)
            slot.align = 64
            kind = ir.FunctionType(ir.VoidType(), [slot.type])
            builder.asm(kind, "", "r,~{memory}", [slot], True)
            return context.get_dummy_value()

        return types.none(), write

    def _summary(constant: int, sign: str) -> Any:
        @intrinsic
        def summary(context: Any, mask: Any) -> Any:
            def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
                if mask != MASK:
                    return args[0]
                bits = builder.bitcast(args[0], _BITS)
                return builder.icmp_unsigned(sign, bits, ir.Constant(_BITS, constant))

            return types.boolean(mask if mask == MASK else types.boolean), write

        return summary

    all_of, any_of = _summary((1 << LANES) - 1, "=="), _summary(0, "!=")

    def _combination(write_bits: Callable[[Any, Any, Any], Any]) -> Any:
        @intrinsic
        def combination(context: Any, a: Any, b: Any) -> Any:
            kind = MASK if _is_lanes(a, b) else types.boolean
            if kind == MASK and a != b:
                return None

            def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
                return write_bits(builder, *args)

            return kind(kind, kind), write

        return combination

    both = _combination(lambda builder, a, b: builder.and_(a, b))
    either = _combination(lambda builder, a, b: builder.or_(a, b))
    but = _combination(
        lambda builder, a, b: builder.and_(
            a, builder.xor(b, b.type(-1) if b.type != _TRUTHS else ir.Constant(_TRUTHS, [1] * LANES))
        )
    )

    @intrinsic
    def is_finite(context: Any, x: Any) -> Any:
        def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            # x - x is zero for finite numbers only; compared as integers, so that nothing is assumed of NaN.
            difference = builder.fsub(args[0], args[0])
            return builder.fcmp_ordered(
                "==", difference, ir.Constant(difference.type, [0.0] * LANES if x == LANE else 0.0)
            )

        return (MASK if x == LANE else types.boolean)(x), write

    def _map_group(kind: Any, change: Callable[[Any], Any]) -> Any:
        if is_group(kind):
            return types.BaseTuple.from_types([_map_group(member, change) for member in kind], kind.instance_class)
        if isinstance(kind, types.Array) and kind.dtype == types.float64:
            return change(kind)
        return kind

    def _write_group(context: Any, builder: Any, kind: Any, to: Any, value: Any, axes: int) -> Any:
        if kind == to:
            if context.enable_nrt:
                context.nrt.incref(builder, kind, value)
            return value
        if is_group(kind):
            members = [
                _write_group(context, builder, member, into, builder.extract_value(value, k), axes)
                for k, (member, into) in enumerate(zip(kind, to, strict=True))
            ]
            return context.make_tuple(builder, to, members)
        source, target = context.make_array(kind)(context, builder, value), context.make_array(to)(context, builder)
        intp = context.get_value_type(types.intp)
        shape, strides = cgutils.unpack_tuple(builder, source.shape), cgutils.unpack_tuple(builder, source.strides)
        if axes < 0:
            shape, strides, size = shape[:-1], strides[:-1], ir.Constant(intp, 8 * LANES)
        else:
            size = ir.Constant(intp, 8)
            shape, strides = [*shape, ir.Constant(intp, 1)], [*strides, size]
        context.populate_array(
            target,
            data=builder.bitcast(source.data, target.data.type),
            shape=cgutils.pack_array(builder, shape, intp),
            strides=cgutils.pack_array(builder, strides, intp),
            itemsize=size,
            meminfo=None,
        )
        return target._getvalue()

    def _view(change: Callable[[Any], Any], axes: int) -> Any:
        @intrinsic
        def view(context: Any, group: Any) -> Any:
            to = _map_group(group, change)

            def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
                return _write_group(context, builder, group, to, args[0], axes)

            return to(group), write

        return view

    as_lanes = _view(lambda kind: types.Array(LANE, kind.ndim - 1, "C", aligned=False), -1)
    with_axis = _view(lambda kind: types.Array(kind.dtype, kind.ndim + 1, "C"), 1)

    @intrinsic
    def places_for(context: Any, like: Any) -> Any:
        """How many values of a type fit into a row of LANES numbers."""

        def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return context.get_constant(types.intp, 1 if like == LANE else LANES)

        return types.intp(like), write

    def _row(context: Any, builder: Any, kind: Any, array: Any, row: Any, lane: Any, of_lanes: bool) -> Any:
        data = context.make_array(kind)(context, builder, array).data
        start = builder.mul(row, row.type(LANES))
        if of_lanes:
            return builder.bitcast(builder.gep(data, [start]), _NUMBERS.as_pointer())
        return builder.gep(data, [builder.add(start, lane)])

    @intrinsic
    def put_lane(context: Any, x: Any, row: Any, lane: Any, value: Any) -> Any:
        """Writes a number to lane `lane` of a row of x (rows, LANES), or lanes to all of it."""
        kind = LANE if value == LANE else types.float64

        def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            place = _row(context, builder, x, args[0], args[1], args[2], kind == LANE)
            builder.store(args[3], place, align=8)
            return context.get_dummy_value()

        return types.none(x, types.intp, types.intp, kind), write

    @intrinsic
    def take_lane(context: Any, x: Any, row: Any, lane: Any, like: Any) -> Any:
        """Reads what `put_lane` wrote; `like` is a value of the same type."""
        kind = LANE if like == LANE else types.float64

        def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.load(_row(context, builder, x, args[0], args[1], args[2], kind == LANE), align=8)

        return kind(x, types.intp, types.intp, like), write
