"""Entry points: kernels that Python calls, compiled once a game and kept on disk.

Numba keeps one cache index a function for all the types it was compiled for, and checks only that function's own file.
So a user's game could break the index for every other game, and an edited rule would go unnoticed. Here each entry
point is cloned for each game under a name that holds a fingerprint of everything compiled into it: games never meet,
and new code has a new name.

One more trap: Numba numbers functions and record types from one in every process, and the names of compiled helpers are
made of these numbers. Two cached kernels, compiled in two processes and loaded into a third, can then hold different
helpers of the same name, and the linker keeps the first. So each process numbers its functions from a random start.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba import njit
from numba.core import config, event
from numba.core.bytecode import FunctionIdentity

from tengen.rules.contract import JIT_OPTIONS, rule_of

FOREIGN = ("numpy", "math", "numba", "builtins")  # packages whose own version stands for their code

FunctionIdentity._unique_ids = itertools.count(secrets.randbits(48))  # see above: what happens without is tested


class Entry:
    """A kernel that Python calls with the game as its first argument; compiled for that game when first called."""

    def __init__(self, function: FunctionType):
        self.function = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self._native: dict[type, Callable[..., Any]] = {}

    def __call__(self, game: Any, *arguments: Any) -> Any:
        native = self._native.get(type(game))
        if native is None:
            native = self._native[type(game)] = self._compile(type(game))
        return native(game, *arguments)

    def _compile(self, game_type: type) -> Callable[..., Any]:
        if config.DISABLE_JIT:
            return self.function
        name = f"{self.__name__}__{game_type.__name__}_{fingerprint(self.function, game_type)}"
        clone = FunctionType(self.function.__code__, self.function.__globals__, name, self.function.__defaults__)
        clone.__qualname__, clone.__module__ = name, self.function.__module__
        kept, config.CACHE_DIR = config.CACHE_DIR, config.CACHE_DIR or str(cache_folder())
        try:
            native = njit(cache=True, nogil=True, **JIT_OPTIONS)(clone)
        finally:
            config.CACHE_DIR = kept
        _announce_compilations()
        _game_names[native] = Path(inspect.getfile(game_type)).stem
        return native


def entry(function: Callable[..., Any]) -> Entry:
    """Makes an entry point of a kernel whose first argument is the game."""
    return Entry(function)  # type: ignore[arg-type]


@cache
def cache_folder() -> Path:
    """Where compiled kernels are kept: private to the user, since what lies there is run."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "tengen" / "kernels"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def fingerprint(function: Callable[..., Any], game_type: type) -> str:
    """A hash of all that is compiled into an entry point for one game: code, constants, rules, and compiler flags.

    The game's module is part of it: a cache names the class it was compiled for, so a copy elsewhere has its own.
    """
    flags = (config.BOUNDSCHECK, config.OPT, config.DEBUGINFO_DEFAULT)
    digest = hashlib.sha256(repr((game_type.__module__, game_type.__qualname__, flags)).encode())
    for piece in sorted(_pieces(function, game_type)):
        digest.update(piece.encode())
    return digest.hexdigest()[:12]


def _pieces(function: Callable[..., Any], game_type: type) -> set[str]:
    """One text for each function and constant that `function` reaches."""
    pieces: set[str] = set()
    waiting: list[tuple[str, Any]] = [(function.__name__, function)]
    seen: set[FunctionType] = set()
    while waiting:
        name, value = waiting.pop()
        value = getattr(value, "py_func", value)
        if rule := getattr(value, "rule", None):
            value = rule_of(game_type, rule)
        if not isinstance(value, FunctionType):
            pieces.add(f"{name}={_constant_text(value)}")
        elif value not in seen:
            seen.add(value)
            pieces.add(f"{name}:{_code_text(value.__code__)}{value.__defaults__}")
            waiting.extend((f"{value.__name__}.{inner}", reached) for inner, reached in _reached(value))
    return pieces


def _code_text(code: CodeType) -> str:
    """A function's bytecode and constants, without file names and line numbers."""
    constants = [_code_text(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts[_has_doc(code) :]]
    return f"{code.co_code.hex()}{constants}{code.co_names}{code.co_varnames}{code.co_freevars}"


def _has_doc(code: CodeType) -> bool:
    return bool(code.co_consts) and isinstance(code.co_consts[0], str)


def _reached(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The globals, and attributes of modules of ours, that a function's code names."""
    for code in _codes(function.__code__):
        for name in code.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, ModuleType):
                if value.__name__.split(".")[0] not in FOREIGN:
                    yield from ((other, getattr(value, other)) for other in code.co_names if hasattr(value, other))
            elif name in function.__globals__ and not _is_foreign(value):
                yield name, value
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_foreign(value: Any) -> bool:
    value = getattr(value, "py_func", value)
    return callable(value) and (getattr(value, "__module__", "") or "").split(".")[0] in FOREIGN


def _constant_text(value: Any) -> str:
    """A constant as compiled; what cannot be printed faithfully stands for the whole file that defines it."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, type):
        module = sys.modules[value.__module__]
        source = Path(module.__file__).read_bytes() if module.__file__ else b""
        return value.__qualname__ + hashlib.sha256(source).hexdigest()
    return repr(value)


_game_names: dict[Any, str] = {}  # of each native entry point


@cache
def _announce_compilations() -> None:
    """From now on, says in one line a game on stderr when entry points are compiled rather than loaded."""
    announced = set()

    class Announcer(event.Listener):
        def on_start(self, event: event.Event) -> None:
            name = _game_names.get(event.data["dispatcher"])
            if name is not None and name not in announced:
                announced.add(name)
                print(f"tengen: compiling {name}; this happens once", file=sys.stderr, flush=True)

        def on_end(self, event: event.Event) -> None:
            pass

    event.register("numba:compile", Announcer())
