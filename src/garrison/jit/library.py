"""Machine code that gives the same bits in the process that compiles it and in those that load it."""

from collections.abc import Callable
from typing import Any

from numba.core import codegen, compiler


class KernelLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The machine code of a kernel, which calls its own copies of the functions that were compiled into it.

    Numba leaves the names of these copies visible, and of several copies with one name a process calls the first.
    In the process that compiles, that is the callee as it was compiled by itself; in a process that loads the kernel,
    it is the kernel's copy, which was optimised once more: another order of sums, so other bits.
    """

    stays_apart = False
    """Whether kernels that it is compiled into keep calling it, instead of having it in the middle of their own code"""

    def _finalize_final_module(self) -> None:
        self._shared_module = self._final_module.clone()  # for the kernels that this one will be compiled into
        _relabel(self._shared_module, "external", "linkonce_odr")
        if self.stays_apart:
            for function in self._shared_module.functions:
                if not function.is_declaration:
                    function.add_function_attribute("noinline")
        # After the last optimisation, which would treat invisible functions otherwise.
        _relabel(self._final_module, "linkonce_odr", "internal")
        super()._finalize_final_module()


def _relabel(module: Any, old: str, new: str) -> None:
    for function in module.functions:
        if not function.is_declaration and function.linkage.name == old:
            function.linkage = new


class KernelCompiler(compiler.Compiler):  # type: ignore[misc]
    """Numba's compiler, which puts its result into a `KernelLibrary`."""

    stays_apart = False

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """Compile a Python function."""
        self.state.library = KernelLibrary(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.stays_apart = self.stays_apart
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


class ApartCompiler(KernelCompiler):
    """The same for a kernel that stays apart."""

    stays_apart = True
