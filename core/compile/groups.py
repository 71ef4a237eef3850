"""Groups of arrays (named tuples) are handed from function to function by their address.

Numba takes a tuple apart and hands over every number of every array by itself: for a group of a hundred arrays that is a thousand
arguments in each call, which took much of the time of compilation. Here a call hands over the address of the group, and the called
function reads the arrays that it uses. A group is never written after it was made and lives until the call ends, so it is neither
copied nor counted. Functions without groups are called as numba does.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

Place = tuple[Any, tuple[int, ...]]  # the address of an argument, and the way from there to a group within it


def address(builder: Any, place: Place, *further: int) -> Any:
    from llvmlite import ir

    start, way = place
    return builder.gep(start, [ir.IntType(32)(k) for k in (0, *way, *further)], inbounds=True)


def is_group(kind: Any) -> bool:
    from numba.core import types

    return isinstance(kind, types.NamedTuple | types.NamedUniTuple)


@cache
def group_context() -> Any:
    """The class of a target context for numba's compilers, in which groups are arguments by address. Imports numba."""
    from llvmlite import ir
    from numba.core import callconv, cgutils
    from numba.core.cpu import CPUContext
    from numba.core.datamodel import ArgPacker

    class ByAddress:
        """In place of numba's own model of the type."""

        def __init__(self, model: Any) -> None:
            self._type = model.get_value_type()

        def get_argument_type(self) -> Any:
            return self._type.as_pointer()

        def as_argument(self, builder: Any, value: Any) -> Any:
            if hasattr(value, "place"):
                return address(builder, value.place)
            slot = cgutils.alloca_once(builder, self._type)
            builder.store(value, slot)
            return slot

        def from_argument(self, builder: Any, argument: Any) -> Any:
            value = builder.load(argument)
            value.place = (argument, ())
            return value

    class Models:
        def __init__(self, models: Any) -> None:
            self._models = models

        def lookup(self, kind: Any) -> Any:
            model = self._models.lookup(kind)
            return ByAddress(model) if is_group(kind) else model

    class CallingConvention(callconv.CPUCallConv):
        def decorate_function(self, fn: Any, args: Any, fe_argtypes: Any, noalias: bool = False) -> None:
            super().decorate_function(fn, args, fe_argtypes, noalias)
            for argument in self.get_arguments(fn):
                kind = argument.type
                if isinstance(kind, ir.PointerType) and isinstance(kind.pointee, ir.Aggregate):
                    argument.add_attribute("noalias")  # nobody writes there meanwhile
                    argument.add_attribute("captures(none)")

    class GroupContext(CPUContext):
        @property
        def call_conv(self) -> Any:
            return CallingConvention(self)

        def get_arg_packer(self, fe_args: Any) -> Any:
            return ArgPacker(Models(self.data_model_manager), fe_args)

        def get_python_api(self, builder: Any) -> Any:
            from .group_entry import group_api  # late: it imports this file

            return group_api()(self, builder)

    return GroupContext


@cache
def group_lowering() -> Any:
    """The class that makes intermediate code: variables that are groups of an argument, or within one, are read where they are.
    Imports numba."""
    from numba.core import imputils, ir
    from numba.core.lowering import Lower

    def _is(value: Any, kind: str) -> bool:
        return isinstance(value, ir.Expr) and value.op == kind

    def _unpacked(value: Any, once: dict[str, Any]) -> Any:
        """What `a, b = x, y` assigns to a name."""
        if _is(value, "static_getitem"):
            whole = once.get(value.value.name)
            if _is(whole, "exhaust_iter"):
                whole = once.get(whole.value.name)
            if _is(whole, "build_tuple"):
                return whole.items[value.index]
        return value

    class GroupLower(Lower):
        def extract_function_arguments(self) -> Any:
            arguments = super().extract_function_arguments()
            self._places: dict[str, Place] = {}  # by the name of a variable
            self._values: dict[str, Any] = {}
            assigned = [one for block in self.blocks.values() for one in block.find_insts(ir.Assign)]
            times = Counter(one.target.name for one in assigned)
            once = {one.target.name: one.value for one in assigned if times[one.target.name] == 1}
            before = -1
            while before < len(self._places):  # what is within a group is found after the group
                before = len(self._places)
                for name, value in once.items():
                    place = self._place_of(_unpacked(value, once), arguments) if is_group(self.typeof(name)) else None
                    if place is not None:
                        self._places[name] = place
            self._omitted = self._needless_tuples(once)
            return arguments

        def _needless_tuples(self, once: dict[str, Any]) -> set[str]:
            """Tuples that `a, b = x, y` makes and takes apart at once, if a and b are known to be groups of an argument."""
            uses = Counter(var.name for block in self.blocks.values() for one in block.body for var in one.list_vars())
            taken = Counter(once[name].value.name for name in self._places if _is(once[name], "static_getitem"))
            found = set()
            for name, value in once.items():
                whole = value.value.name if _is(value, "exhaust_iter") else ""
                if _is(once.get(whole), "build_tuple") and uses[whole] == 2 and uses[name] == 1 + taken[name]:
                    found |= {name, whole}
            return found

        def _place_of(self, value: Any, arguments: Any) -> Place | None:
            if isinstance(value, ir.Arg):
                return getattr(arguments[value.index], "place", None)
            if isinstance(value, ir.Var):
                return self._places.get(value.name)
            if _is(value, "getattr") and value.value.name in self._places:
                start, way = self._places[value.value.name]
                return start, (*way, self._field(value))
            return None

        def _field(self, expr: Any) -> int:
            return self.typeof(expr.value.name).fields.index(expr.attr)

        def lower_assign(self, ty: Any, inst: Any) -> Any:
            return None if self._is_nowhere(inst.target.name) else super().lower_assign(ty, inst)

        def lower_expr(self, resty: Any, expr: Any) -> Any:
            if not _is(expr, "getattr") or expr.value.name not in self._places:
                return super().lower_expr(resty, expr)
            found = self.builder.load(address(self.builder, self._places[expr.value.name], self._field(expr)))
            return imputils.impl_ret_borrowed(self.context, self.builder, resty, found)

        def loadvar(self, name: str) -> Any:
            if name not in self._places:
                return super().loadvar(name)
            if name not in self._values:
                with self.builder.goto_entry_block():  # once: reading a group is a long line of intermediate code
                    value = self.builder.load(address(self.builder, self._places[name]))
                value.place = self._places[name]
                self._values[name] = value
            return self._values[name]

        def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
            if not self._is_nowhere(name):
                super().storevar(value, name, argidx)

        def delvar(self, name: str) -> None:
            if not self._is_nowhere(name):
                super().delvar(name)

        def _is_nowhere(self, name: str) -> bool:
            """Whether a variable has no memory of its own."""
            return name in self._places or name in self._omitted

    return GroupLower
