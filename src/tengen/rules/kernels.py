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
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from numba import njit
from numba.core import config, event
from numba.core.bytecode import FunctionIdentity
from numba.core.errors import NumbaError

from tengen.rules.contract import JIT_OPTIONS
from tengen.rules.errors import GameFileError
from tengen.rules.fingerprint import Unkeepable, fingerprint
from tengen.rules.kernel_cache import KernelCache, cache_for_all, file_name, warn_of_lost_kernels

FunctionIdentity._unique_ids = itertools.count(secrets.randbits(48))  # see above: what happens without is tested
COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # Numba paints its words where colorama is installed
_compiling = threading.RLock()  # entry points are made one after the other


class Entry:
    """A kernel that Python calls with the game as its first argument; compiled for that game when first called.

    An evaluation, or any other NamedTuple among the arguments, is part of what it is compiled for.
    """

    def __init__(self, function: FunctionType):
        self.function = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self._native: dict[tuple[type, ...], Callable[..., Any]] = {}

    def __call__(self, game: Any, *arguments: Any) -> Any:
        kinds = (type(game), *tuples_among(arguments))
        native = self._native.get(kinds)
        if native is None:
            with _compiling:
                native = self._native[kinds] = self._native.get(kinds) or self._compile(kinds)
        try:
            return native(game, *arguments)
        except BaseException as reason:
            if (kept := cache_of(native)) is not None:
                kept.release()
            if not isinstance(reason, NumbaError | KeyError):
                raise
            raise GameFileError(f"{type(game).__name__}: a rule does not compile: {compiler_says(reason)}") from reason

    def _compile(self, kinds: tuple[type, ...]) -> Callable[..., Any]:
        if config.DISABLE_JIT:
            return self.function
        label = "_".join([self.__name__, *(kind.__name__ for kind in kinds)])
        try:
            name, folder = f"{label}_{fingerprint(self.function, *kinds)}", cache_for_all()
        except Unkeepable as reason:
            warn_of_lost_kernels(f"{label}: {reason}")
            name, folder = label, None
        clone = FunctionType(
            self.function.__code__,
            self.function.__globals__,
            name,
            self.function.__defaults__,
            self.function.__closure__,
        )
        clone.__qualname__, clone.__module__ = name, self.function.__module__
        native = njit(nogil=True, **JIT_OPTIONS)(clone)
        if folder is not None:
            native._cache = KernelCache(folder, file_name(name))
        _announce_compilations()
        _game_names[native] = Path(inspect.getfile(kinds[0])).stem
        return native


def tuples_among(arguments: Iterable[Any]) -> Iterator[type]:
    """The classes of the tuples among some arguments, and of those within them: all may answer rules."""
    for argument in arguments:
        if isinstance(argument, tuple):
            yield type(argument)
            yield from tuples_among(argument)


def cache_of(native: Any) -> KernelCache | None:
    """Where a compiled entry point is kept on disk; None if it is not."""
    kept = getattr(native, "_cache", None)
    return kept if isinstance(kept, KernelCache) else None


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


_game_names: dict[Any, str] = {}  # of each native entry point


@cache
def _announce_compilations() -> None:
    """From now on, says in one line a game on stderr when entry points are compiled rather than loaded."""
    announced = set()

    class Announcer(event.Listener):
        def on_start(self, event: event.Event) -> None:
            dispatcher = event.data["dispatcher"]
            name = _game_names.get(dispatcher)
            if name is not None and name not in announced:
                announced.add(name)
                kept = "; it is kept on disk" if cache_of(dispatcher) else ""
                print(f"tengen: compiling a part of {name}{kept}", file=sys.stderr, flush=True)

        def on_end(self, event: event.Event) -> None:
            pass

    event.register("numba:compile", Announcer())
