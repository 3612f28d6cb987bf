"""The kernels of self-play for a GPU: what CPU threads do for all rows of a group, one CUDA thread does for one row."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 asks NumPy for a name that 2.5 no longer has
    np.row_stack = np.vstack

from numba import cuda
from numba.core import config
from numba.core.errors import NumbaPerformanceWarning

from tengen.learn.selfplay import begin_game, play_row
from tengen.rules.contract import encode, play, start, territory
from tengen.rules.kernels import cache_folder, fingerprint
from tengen.search.lockstep import ask_root, copy_words

warnings.simplefilter("ignore", NumbaPerformanceWarning)  # small grids are what a small run has
_compiling = threading.Lock()  # groups play on threads of their own, and Numba's folder is a global
THREADS = 16  # of a block, which is a warp: rows differ in what they do, and few of them wait for each other


def blocks(rows: int) -> int:
    """Blocks of threads for so many rows."""
    return -(-rows // THREADS)


class GpuEntry:
    """A CUDA kernel, compiled once a game and kept on disk under a fingerprint, as entry points of the CPU are."""

    def __init__(self, function: FunctionType):
        self.function = function
        self._native: dict[tuple[type, ...], Any] = {}

    def __getitem__(self, shape: tuple[Any, ...]) -> Callable[..., None]:
        """As Numba has it: kernel[blocks, threads, stream](arguments)."""

        def start_threads(*arguments: Any) -> None:
            kinds = tuple(type(argument) for argument in arguments if isinstance(argument, tuple))
            with _compiling:
                if kinds not in self._native:
                    self._native[kinds] = self._compile(kinds)
            self._native[kinds][shape](*arguments)

        return start_threads

    def _compile(self, kinds: tuple[type, ...]) -> Any:
        if config.ENABLE_CUDASIM:
            return cuda.jit(self.function)
        name = f"{self.function.__name__}_{fingerprint(self.function, *kinds)}"
        clone = FunctionType(self.function.__code__, self.function.__globals__, name)
        clone.__qualname__, clone.__module__ = name, self.function.__module__
        native = cuda.jit(clone)
        own = cuda.core.config
        kept, own.CACHE_DIR = own.CACHE_DIR, own.CACHE_DIR or str(cache_folder())
        try:
            native.enable_caching()
        except OSError:  # then it is compiled each time
            pass
        finally:
            own.CACHE_DIR = kept
        return native


def gpu_entry(function: Callable[..., None]) -> GpuEntry:
    """Makes a CUDA kernel, a thread a row, of a function."""
    return GpuEntry(function)  # type: ignore[arg-type]


@gpu_entry
def begin_rows(game, rows, story, opening, every):
    """Every row, or only those whose last game has ended, begins a game."""
    i = cuda.grid(1)
    if i < len(rows.rows) and (every or story.ended[i] > 0):
        begin_game(game, rows, story, i, opening)
        encode(game, rows.leaves[i], rows.planes[i])


@gpu_entry
def search_rows(game, rows):
    """Every row begins its search anew."""
    i = cuda.grid(1)
    if i < len(rows.rows):
        ask_root(rows, i)
        encode(game, rows.leaves[i], rows.planes[i])


@gpu_entry
def play_rows(game, plan, rows, story, logits, values):
    """Every row hears its answer, but for those whose game has ended: they wait until it is read."""
    i = cuda.grid(1)
    if i < len(rows.rows) and story.ended[i] == 0:
        play_row(game, plan, rows, story, i, logits[i], values[i])


@gpu_entry
def set_up_rows(game, states, words, blank, moves, begins, ends, planes, movers):
    """Each state after moves[begins : ends], what the network is shown of it, and who is to move."""
    i = cuda.grid(1)
    if i < len(states):
        copy_words(blank, words[i])
        start(game, states[i])
        for index in range(begins[i], ends[i]):
            play(game, states[i], moves[index])
        encode(game, states[i], planes[i])
        movers[i] = states[i].to_play


@gpu_entry
def settle_rows(game, states, words, blank, moves, begins, ends, owners):
    """Each state after moves[begins : ends], all moves of a game, and who owns each cell then."""
    i = cuda.grid(1)
    if i < len(begins):
        copy_words(blank, words[i])
        start(game, states[i])
        for index in range(begins[i], ends[i]):
            play(game, states[i], moves[index])
        territory(game, states[i], owners[i])
