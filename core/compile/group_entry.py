"""How Python hands groups of arrays to kernels: they are read into memory once, and kernels get the address, see `groups.py`.

Numba writes the same fifty instructions for each array of each kernel; here all arrays are read by one small function.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from .groups import address, is_group

_READ = "tendril_read_array"
_ITEM_SIZE = 3  # place in numba's description of an array; that of the references comes first


@cache
def group_api() -> Any:
    """A class of functions with which entries from Python are written. Imports numba."""
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.core.pythonapi import NativeValue, PythonAPI
    from numba.np.numpy_support import as_dtype

    class GroupAPI(PythonAPI):
        def to_native_value(self, typ: Any, obj: Any) -> Any:
            if not is_group(typ):
                return super().to_native_value(typ, obj)
            builder = self.builder
            slot = cgutils.alloca_once(builder, self.context.get_value_type(typ))
            failed = cgutils.alloca_once_value(builder, cgutils.false_bit)
            builder.store(cgutils.get_null_value(slot.type.pointee), slot)  # nothing is released that was not read
            self._read_group(typ, obj, (slot, ()), failed)
            value = builder.load(slot)
            value.place = (slot, ())
            return NativeValue(value, is_error=builder.load(failed))

        def _read_group(self, kind: Any, obj: Any, place: Any, failed: Any) -> None:
            """Reads the tuple `obj` to a place in the group, and sets `failed` if it is something else."""
            size = self.tuple_size(obj)
            wrong = self.builder.icmp_unsigned("!=", size, ir.Constant(size.type, len(kind)))
            with self.builder.if_then(wrong, likely=False):
                self.err_set_string("PyExc_ValueError", f"a group of {len(kind)} was expected")
                self.builder.store(cgutils.true_bit, failed)
            with self.builder.if_then(self.builder.not_(self.builder.load(failed)), likely=True):
                for number, member in enumerate(kind):
                    self._read_member(member, self.tuple_getitem(obj, number), place, number, failed)

        def _read_member(self, kind: Any, obj: Any, place: Any, number: int, failed: Any) -> None:
            builder = self.builder
            if is_group(kind):
                self._read_group(kind, obj, (place[0], (*place[1], number)), failed)
                return
            to = address(builder, place, number)
            if isinstance(kind, types.Array) and self.context.enable_nrt:
                size = ir.Constant(self.context.get_value_type(types.intp), as_dtype(kind.dtype).itemsize)
                wrong = builder.call(self._array_reader(), [obj, builder.bitcast(to, self.voidptr), size])
            else:
                native = self.to_native_value(kind, obj)
                builder.store(native.value, to)
                wrong = native.is_error
            with builder.if_then(wrong, likely=False):
                builder.store(cgutils.true_bit, failed)

        def _array_reader(self) -> Any:
            """A function (array, description, size of an item) that is true if the array could not be read."""
            size = self.context.get_value_type(types.intp)
            kind = ir.FunctionType(ir.IntType(1), [self.pyobj, self.voidptr, size])
            function = cgutils.get_or_insert_function(self.module, kind, _READ)
            if not function.blocks:
                function.linkage = "internal"
                function.attributes.add("noinline")
                builder = ir.IRBuilder(function.append_basic_block("entry"))
                inner = type(self)(self.context, builder)
                obj, to, expected = function.args
                error = inner.nrt_adapt_ndarray_from_python(obj, to)
                numbers = builder.bitcast(to, size.as_pointer())
                found = builder.load(builder.gep(numbers, [ir.Constant(size, _ITEM_SIZE)]))
                failed = builder.or_(cgutils.is_not_null(builder, error), builder.icmp_unsigned("!=", found, expected))
                with builder.if_then(failed, likely=False):
                    inner.err_set_string("PyExc_TypeError", "an array of another type was expected")
                builder.ret(failed)
            return function

    return GroupAPI
