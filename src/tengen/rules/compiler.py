"""How Numba compiles kernels here: helpers and rules as parts of entry points, and entry points alone to machine code.

By itself Numba makes a library of each function: optimised, as machine code, with wrappers by which Python and C may
call it. All of that is done again wherever the function is linked into another, which is optimised as a whole. Nobody
but other kernels calls a helper, so here it is no more than what is linked. That takes half the time.
"""

from __future__ import annotations

from typing import Any

from numba import jit
from numba._dynfunc import make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering

# Helpers.


class HelperLibrary(JITCodeLibrary):
    """A function's code, to be linked into others."""

    def _optimize_final_module(self) -> None:
        """What this is linked into is optimised."""

    def _finalize_final_module(self) -> None:
        """As Numba does it, but without machine code."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class HelperLowering(NativeLowering):
    """Numba's step from types to code, for a helper."""

    _name = "helper_lowering"

    def run_pass(self, state: Any) -> bool:
        state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = state.flags.no_compile = True
        state.library = HelperLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        super().run_pass(state)
        made = state.cr
        name = make_function(made.fndesc.lookup_module(), made.fndesc.qualname, "", 0, made.env, ())  # never called
        state.targetctx.insert_user_function(name, made.fndesc, [state.library])
        state.cr = made._replace(cfunc=name)
        return True


class HelperCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        return [steps_with(HelperLowering, self.state)]


AS_HELPER = {"pipeline_class": HelperCompiler}  # for `overload`, of what it says is compiled


class Helper(CPUDispatcher):
    """A function that kernels call. Where Python calls it, Numba compiles it once more in its own way."""

    def __init__(self, function: Any, *more: Any, **options: Any):
        super().__init__(function, *more, **{"pipeline_class": HelperCompiler, **options})
        self._for_python: Any = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self._for_python is None:
            self._for_python = jit(**self.targetoptions)(self.py_func)
        return self._for_python(*arguments, **named)


# Entry points.


class EntryLibrary(JITCodeLibrary):
    """The code of an entry point and of all that it calls."""

    def _optimize_final_module(self) -> None:
        """Twice: only once helpers have become small is it clear which of them should be a part of what calls them."""
        super()._optimize_final_module()
        super()._optimize_final_module()


@register_pass(mutates_CFG=True, analysis_only=False)
class EntryLowering(NativeLowering):
    """Numba's step from types to code, for an entry point: Python calls it, C does not."""

    _name = "entry_lowering"

    def run_pass(self, state: Any) -> bool:
        state.flags.no_cfunc_wrapper = True
        state.library = EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().run_pass(state)


class EntryCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        return [steps_with(EntryLowering, self.state)]


def steps_with(lowering: type, state: Any) -> Any:
    """All the steps that Numba takes, with another one from types to code."""
    steps = DefaultPassBuilder.define_nopython_pipeline(state)
    steps.passes = [(lowering if step is NativeLowering else step, why) for step, why in steps.passes]
    steps.finalize()
    return steps
