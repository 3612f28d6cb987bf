"""Entry points: kernels that Python calls, compiled once a game and kept on disk.

Numba keeps one cache index a function for all the types it was compiled for, and checks only that function's own file.
So a user's game could break the index for every other game, and an edited rule would go unnoticed. Here each entry
point is cloned for each game (and evaluation) under a name that holds a fingerprint of everything that may be compiled
into it (fingerprint.py), and has a cache of its own (kernel_cache.py): games never meet, and new code has a new name.

One more trap: Numba numbers functions and record types from one in every process, and the names of compiled helpers are
made of these numbers. Two cached kernels, compiled in two processes and loaded into a third, can then hold different
helpers of the same name, and the linker keeps the first. So each process numbers its functions from a random start.
"""

from __future__ import annotations

import inspect
import itertools
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FunctionType
from typing import Any

from numba import njit, typeof
from numba.core import config
from numba.core.bytecode import FunctionIdentity
from numba.core.errors import NumbaError

from tengen.rules.compiler import EntryCompiler
from tengen.rules.contract import JIT_OPTIONS
from tengen.rules.errors import GameFileError
from tengen.rules.fingerprint import Unkeepable, fingerprint
from tengen.rules.kernel_cache import KernelCache, cache_for_all, file_name, warn_of_lost_kernels
from tengen.rules.plain import run_plain

FunctionIdentity._unique_ids = itertools.count(secrets.randbits(48))  # see above: what happens without is tested
COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # Numba paints its words where colorama is installed
_compiling = threading.RLock()  # entry points are made one after the other
_in_haste: ContextVar[bool] = ContextVar("in_haste", default=False)


class Entry:
    """A kernel that Python calls with the game as its first argument; compiled for that game when first called.

    An evaluation, or any other NamedTuple among the arguments, is part of what it is compiled for.
    """

    def __init__(self, function: FunctionType):
        self.function = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self._native: dict[tuple[type, ...], Callable[..., Any]] = {}
        self._ahead: set[tuple[Any, tuple[Any, ...]]] = set()  # what is compiled while plain Python answers
        self.is_plain = False  # whether it always answers in plain Python
        self.is_heavy = False  # whether it never does: compiling it takes less time than plain Python would

    def __call__(self, game: Any, *arguments: Any) -> Any:
        native = self._native_for(game, arguments)
        is_hasty = _in_haste.get() and not self.is_heavy and not self._is_ready(native, game, *arguments)
        if (self.is_plain or is_hasty) and _says_the_same(game):
            return run_plain(self.function, game, *arguments)
        try:
            return native(game, *arguments)
        except BaseException as reason:
            if native is not self.function:
                native._cache.release()
            if not isinstance(reason, NumbaError | KeyError):
                raise
            raise GameFileError(f"{type(game).__name__}: a rule does not compile: {compiler_says(reason)}") from reason

    def _native_for(self, game: Any, arguments: tuple[Any, ...]) -> Any:
        """Numba's function for these kinds of tuples: with the JIT off, the plain one."""
        kinds = (type(game), *tuples_among(arguments))
        native = self._native.get(kinds)
        if native is None:
            with _compiling:
                native = self._native[kinds] = self._native.get(kinds) or self._compile(kinds)
        return native

    def _compile(self, kinds: tuple[type, ...]) -> Callable[..., Any]:
        if config.DISABLE_JIT:
            return self.function
        label = "_".join([self.__name__, *(kind.__name__ for kind in kinds)])
        try:
            name, folder = f"{label}_{fingerprint(self.function, *kinds)}", cache_for_all()
        except Unkeepable as reason:
            warn_of_lost_kernels(f"{label}: {reason}")
            name, folder = label, None
        own = self.function
        clone = FunctionType(own.__code__, own.__globals__, name, own.__defaults__, own.__closure__)
        clone.__qualname__, clone.__module__ = name, own.__module__
        native = njit(nogil=True, pipeline_class=EntryCompiler, **JIT_OPTIONS)(clone)
        native._cache = KernelCache(folder, file_name(name), Path(inspect.getfile(kinds[0])).stem)
        return native

    def is_there(self, game: Any, *arguments: Any) -> bool:
        """Whether the machine code for such arguments need not be compiled."""
        native = self._native_for(game, arguments)
        types = tuple(typeof(argument) for argument in (game, *arguments))
        return native is self.function or types in native.overloads or native._cache.has(types, native.targetctx)

    def _is_ready(self, native: Any, *arguments: Any) -> bool:
        """The same; what is not there is compiled in a thread of its own from now on."""
        if self.is_there(*arguments):
            return True
        types = tuple(typeof(argument) for argument in arguments)
        with _compiling:
            is_new = (native, types) not in self._ahead
            self._ahead.add((native, types))
        if is_new:
            threading.Thread(target=_compile_ahead, args=(native, types), daemon=True).start()
        return False


def _says_the_same(game: Any) -> bool:
    """Whether a game's rules are known to answer the same in plain Python: numbers of few bits overflow there alone.

    Ours do, by tests. In a game of one's own, `2 * state.to_play - 1` may be 255.
    """
    return type(game).__module__.startswith("tengen.games.")


def _compile_ahead(native: Any, types: tuple[Any, ...]) -> None:
    try:
        native.compile(types)
    except Exception:  # whoever needs it will be told
        native._cache.release()


@contextmanager
def at_once() -> Iterator[None]:
    """Within, an entry point whose machine code is not there yet answers in plain Python, and is compiled meanwhile."""
    token = _in_haste.set(True)
    try:
        yield
    finally:
        _in_haste.reset(token)


def tuples_among(arguments: Iterable[Any]) -> Iterator[type]:
    """The classes of the tuples among some arguments, and of those within them: all may answer rules."""
    for argument in arguments:
        if isinstance(argument, tuple):
            yield type(argument)
            yield from tuples_among(argument)


def entry(function: Callable[..., Any]) -> Entry:
    """Makes an entry point of a kernel whose first argument is the game."""
    return Entry(function)  # type: ignore[arg-type]


def compiler_says(reason: Exception) -> str:
    """The one line of the compiler's pages that tells the author of a game what is wrong, and where."""
    if isinstance(reason, KeyError):
        return f"the record has no field {reason}"
    plain = COLOUR.sub("", str(reason))
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    starts = [i for i, line in enumerate(lines) if line.startswith("Rejected as the implementation raised")]
    innermost = [line for line in lines[starts[-1] + 1 if starts else 0 :] if "Failed in nopython mode" not in line]
    place = next(
        (line.rstrip(":") for line in innermost if line.startswith("File ") and "tengen/rules" not in line), ""
    )
    hint = "; is it a helper that lacks @kernel?" if "Untyped global name" in innermost[0] else ""
    return f"{innermost[0]}{hint} {place}".strip()
