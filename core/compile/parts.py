"""How kernels and parts are compiled.

Both hand on groups of arrays by address, see `groups.py`. Parts are compiled to intermediate code only, which is optimised once,
within the kernels that call them.

Numba would optimise each function together with all that it calls and generate machine code, and repeat both for every function
that calls it. Only kernels call parts, so their own machine code would never run; it took most of the time of compilation.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

from .groups import group_context, group_lowering


@contextmanager
def _rare_collections() -> Iterator[None]:
    """The compiler makes millions of small objects that live until it is done: looking for garbage among them takes a tenth of its
    time."""
    first, *others = gc.get_threshold()
    gc.set_threshold(max(first, 50_000) if first else 0, *others)  # zero means switched off
    try:
        yield
    finally:
        gc.set_threshold(first, *others)


@cache
def kernel_compiler() -> Any:
    """A compiler class for `numba.njit(pipeline_class=...)`. Imports numba."""
    from numba.core import compiler, typed_passes
    from numba.core.compiler_machinery import register_pass

    @register_pass(mutates_CFG=True, analysis_only=False)
    class KernelLowering(typed_passes.NativeLowering):
        _name = "tendril_kernel_lowering"

        @property
        def lowering_class(self) -> Any:
            return group_lowering()

    class KernelCompiler(compiler.Compiler):
        lowering = KernelLowering

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self.state.targetctx.__class__ = group_context()  # a copy for this compilation

        def compile_extra(self, func: Any) -> Any:
            with _rare_collections():
                return super().compile_extra(func)

        def define_pipelines(self) -> Any:
            pipelines = super().define_pipelines()
            for pipeline in pipelines:
                pipeline.passes = [
                    (self.lowering if kind is typed_passes.NativeLowering else kind, text)
                    for kind, text in pipeline.passes
                ]
                pipeline.finalize()
            return pipelines

    return KernelCompiler


@cache
def part_compiler() -> Any:
    """The same for parts."""
    from numba.core import codegen
    from numba.core.compiler_machinery import register_pass

    make_function = import_module("numba._dynfunc").make_function

    class PartLibrary(codegen.JITCodeLibrary):
        """Intermediate code, to be linked into kernels."""

        def _optimize_functions(self, ll_module: Any) -> None:
            ll_module.data_layout = self._codegen._data_layout

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True

    @register_pass(mutates_CFG=True, analysis_only=False)
    class PartLowering(kernel_compiler().lowering):
        _name = "tendril_part_lowering"

        def run_pass(self, state: Any) -> bool:
            library = state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            state.flags.no_compile = True
            super().run_pass(state)
            lowered = state["cr"]
            function = lowered.fndesc
            # Numba identifies a function by its entry from Python. That of a part is null, and never called.
            entry = make_function(function.lookup_module(), function.qualname, "", 0, lowered.env, (library,))
            state.targetctx.insert_user_function(entry, function, [library])
            state.reload_init.extend(library._reload_init)
            state["cr"] = lowered._replace(cfunc=entry)
            return True

    class PartCompiler(kernel_compiler()):
        lowering = PartLowering

    return PartCompiler
