"""How parts are compiled: to intermediate code only, which is optimised once, within the kernels that call them.

Numba would optimise each function together with all that it calls and generate machine code, and repeat both for every function
that calls it. Only kernels call parts, so their own machine code would never run; it took most of the time of compilation.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def part_compiler() -> Any:
    """A compiler class for `numba.njit(pipeline_class=...)`. Imports numba."""
    from numba.core import codegen, compiler, typed_passes
    from numba.core.compiler_machinery import register_pass

    make_function = import_module("numba._dynfunc").make_function

    class PartLibrary(codegen.JITCodeLibrary):
        """Intermediate code, to be linked into kernels."""

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True

    @register_pass(mutates_CFG=True, analysis_only=False)
    class PartLowering(typed_passes.NativeLowering):
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

    class PartCompiler(compiler.Compiler):
        def define_pipelines(self) -> Any:
            pipelines = super().define_pipelines()
            for pipeline in pipelines:
                pipeline.passes = [
                    (PartLowering if kind is typed_passes.NativeLowering else kind, text)
                    for kind, text in pipeline.passes
                ]
                pipeline.finalize()
            return pipelines

    return PartCompiler
