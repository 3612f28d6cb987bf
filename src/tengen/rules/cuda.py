"""How a kernel becomes a GPU's code: for one game with its parameters, and without what Numba adds to every loop.

A CPU's kernel serves a game with any parameters. A GPU's is made for the numbers it is called with: what they rule out
is not there, and what they say is a constant in it. `bench/gpu_code.py` says how much is left.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import FunctionType
from typing import Any

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 asks NumPy for a name that 2.5 no longer has
    np.row_stack = np.vstack

from numba import cuda
from numba.core import config
from numba.core.errors import NumbaPerformanceWarning

from tengen.rules.errors import BadParameter
from tengen.rules.fingerprint import fingerprint
from tengen.rules.game import Game
from tengen.rules.kernel_cache import cache_folder, check_ours, warn_of_lost_kernels

warnings.simplefilter("ignore", NumbaPerformanceWarning)  # small grids are what a small run has
_launching = threading.Lock()  # groups play on threads of their own; Numba compiles and loads kernels for one at a time
ROWS = 8  # of a block, which is a warp: they differ in what they do, and few of them wait for each other
THREADS = 32  # of a block: those without a row help the others
REGISTERS = 112  # of a thread, at most: so all blocks of 16,384 rows are on an H200 at the same time
SHARED_BYTES = 48 * 1024  # that the threads of a block have in common, on every GPU


def grid(rows: int, each: int = ROWS) -> tuple[int, int]:
    """How many blocks, and of how many threads, so many rows take: a thread a row."""
    return -(-rows // each), each


def scratch_shapes(game: Game) -> tuple[tuple[int, int], tuple[int, int, int], tuple[int]]:
    """What the threads of a block have in common: actions [rows, legal actions], planes [rows, planes, cells], and how
    many words are enough for these or for priors [rows, actions]."""
    rows, words = ROWS, max(-(-len(game.planes) * game.cells // 4), game.actions)
    bytes_each = 4 * (game.most_legal + words + 4)
    while rows * bytes_each > SHARED_BYTES:
        rows //= 2
        if rows == 0:
            raise BadParameter(
                f"{game.spec}: planes and actions take {bytes_each:,} bytes, and on a GPU there is room for "
                f"{SHARED_BYTES:,}; use --device cpu"
            )
    return (rows, game.most_legal), (rows, len(game.planes), game.cells), (rows * words,)


class GpuEntry:
    """A CUDA kernel, compiled once for its constants and kept on disk under a fingerprint, as a CPU's entry points are.

    The first arguments, as many as it has names, are tuples of numbers: the kernel's own globals of these names.
    """

    def __init__(self, function: FunctionType, names: tuple[str, ...]):
        self.function, self.names = function, names
        self._native: dict[Any, Any] = {}
        self._ahead: dict[str, subprocess.Popen[bytes]] = {}

    def __getitem__(self, shape: tuple[Any, ...]) -> Callable[..., None]:
        """As Numba has it: kernel[blocks, threads, stream](arguments)."""

        def start_threads(*arguments: Any) -> None:
            constants, others = arguments[: len(self.names)], arguments[len(self.names) :]
            key = tuple((type(constant), constant) for constant in constants)
            with _launching:
                if key not in self._native:
                    self._native[key] = self.compiled(constants)
                self._native[key][shape](*others)  # the first time, it is loaded

        return start_threads

    def clone(self, constants: tuple[Any, ...]) -> FunctionType:
        """The function with these constants, under a name that says all that can be compiled into it."""
        sources = fingerprint(self.function, *(type(constant) for constant in constants if type(constant) is not tuple))
        values = hashlib.sha256(repr((constants, cuda_version())).encode()).hexdigest()[:12]
        name = f"{self.function.__name__}_{sources}_{values}"
        known = {**self.function.__globals__, **dict(zip(self.names, constants, strict=True))}
        clone = FunctionType(self.function.__code__, known, name)
        clone.__qualname__, clone.__module__ = name, self.function.__module__
        return clone

    def is_kept(self, constants: tuple[Any, ...]) -> bool:
        """Whether the kernel with these constants is on disk; OSError where nothing can be, or others wrote it."""
        paths = list(cache_folder().rglob(f"*{self.clone(constants).__name__}*"))
        for path in paths:
            check_ours(path.lstat(), path)
        return bool(paths)

    def wait_for(self, process: subprocess.Popen[bytes], constants: tuple[Any, ...]) -> None:
        """When the process ends the kernel with these constants will be on disk, if all goes well."""
        self._ahead[self.clone(constants).__name__] = process

    def compiled(self, constants: tuple[Any, ...]) -> Any:
        """Numba's own kernel with these constants, which is compiled, or loaded, when it is launched."""
        clone = self.clone(constants)
        if config.ENABLE_CUDASIM:
            return cuda.jit(clone)
        count_plainly()
        native = cuda.jit(clone, max_registers=REGISTERS)
        own = cuda.core.config
        kept = own.CACHE_DIR
        try:
            own.CACHE_DIR = str(cache_folder())
            if not self.is_kept(constants):
                _announce(type(constants[0]).__name__)
            if process := self._ahead.pop(clone.__name__, None):
                process.wait()
            native.enable_caching()
        except OSError as reason:  # then it is compiled each time
            warn_of_lost_kernels(str(reason))
        finally:
            own.CACHE_DIR = kept
        return native


@cache
def cuda_version() -> str:
    """Of what makes a GPU's code; Numba's simulator does without it."""
    try:
        return version("numba-cuda")
    except PackageNotFoundError:
        return ""


@cache
def _announce(game: str) -> None:
    print(f"tengen: compiling {game} for the GPU; it is kept on disk", file=sys.stderr, flush=True)


def gpu_entry(*names: str) -> Callable[[Callable[..., None]], GpuEntry]:
    """Makes a CUDA kernel, a thread a row, of a function that knows its constants by these names."""
    return lambda function: GpuEntry(function, names)  # type: ignore[arg-type]


@cache
def count_plainly() -> None:
    """Lets a loop over a range step in every turn. Numba's steps only where there is a next turn, and what the compiler
    makes of that asks so several times a turn. Nobody sees the step after the last."""
    try:
        from numba.cuda import cgutils
        from numba.cuda.core.imputils import RefType, iternext_impl
        from numba.cuda.cpython.rangeobj import registry
    except ImportError:  # the simulator; or another numba-cuda, whose loops are longer then
        return

    @iternext_impl(RefType.UNTRACKED)
    def step(context: Any, builder: Any, signature: Any, arguments: Any, result: Any) -> None:
        turn = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
        left, value = builder.load(turn.count), builder.load(turn.iter)
        result.set_valid(builder.icmp_signed(">", left, left.type(0)))
        result.yield_(value)
        builder.store(builder.sub(left, left.type(1), flags=["nsw"]), turn.count)
        builder.store(builder.add(value, turn.step, flags=["nsw"]), turn.iter)

    for place, (_, name, kinds) in enumerate(registry.functions):
        if name == "iternext":
            registry.functions[place] = step, name, kinds
