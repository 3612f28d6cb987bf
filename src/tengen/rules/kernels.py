"""Entry points: kernels that Python calls, compiled once a game and kept on disk.

Numba keeps one cache index a function for all the types it was compiled for, and checks only that function's own file.
So a user's game could break the index for every other game, and an edited rule would go unnoticed. Here each entry
point is cloned for each game (and evaluation) under a name that holds a fingerprint of everything that may be compiled
into it: games never meet, and new code has a new name.

One more trap: Numba numbers functions and record types from one in every process, and the names of compiled helpers are
made of these numbers. Two cached kernels, compiled in two processes and loaded into a third, can then hold different
helpers of the same name, and the linker keeps the first. So each process numbers its functions from a random start.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import os
import re
import secrets
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numba import njit
from numba.core import config, event
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import FunctionCache
from numba.core.errors import NumbaError

from tengen.rules.contract import JIT_OPTIONS
from tengen.rules.errors import GameFileError

FunctionIdentity._unique_ids = itertools.count(secrets.randbits(48))  # see above: what happens without is tested
COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # Numba paints its words where colorama is installed
_compiling = threading.RLock()  # threads of one process: `cache_of` changes Numba's settings for a moment


class Entry:
    """A kernel that Python calls with the game as its first argument; compiled for that game when first called.

    An evaluation, or any other NamedTuple among the arguments, is part of what it is compiled for.
    """

    def __init__(self, function: FunctionType):
        self.function = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self._native: dict[tuple[type, ...], Callable[..., Any]] = {}

    def __call__(self, game: Any, *arguments: Any) -> Any:
        kinds = (type(game), *(type(argument) for argument in arguments if isinstance(argument, tuple)))
        native = self._native.get(kinds)
        if native is None:
            with _compiling:
                native = self._native[kinds] = self._native.get(kinds) or self._compile(kinds)
        try:
            return native(game, *arguments)
        except (NumbaError, KeyError) as reason:
            raise GameFileError(f"{type(game).__name__}: a rule does not compile: {compiler_says(reason)}") from reason

    def _compile(self, kinds: tuple[type, ...]) -> Callable[..., Any]:
        if config.DISABLE_JIT:
            return self.function
        name = "_".join([self.__name__, *(kind.__name__ for kind in kinds), fingerprint(self.function, *kinds)])
        clone = FunctionType(self.function.__code__, self.function.__globals__, name, self.function.__defaults__)
        clone.__qualname__, clone.__module__ = name, self.function.__module__
        native = njit(nogil=True, **JIT_OPTIONS)(clone)
        native._cache = cache_of(clone) or native._cache
        _announce_compilations()
        _game_names[native] = Path(inspect.getfile(kinds[0])).stem
        return native


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


class CarefulCache(FunctionCache):
    """Numba's cache on disk; what cannot be read is compiled anew, and what cannot be written is not kept."""

    def load_overload(self, *arguments: Any) -> Any:
        try:
            return super().load_overload(*arguments)
        except Exception:  # a damaged file can raise anything
            self.save_or_warn(self.flush)
            return None

    def save_overload(self, *arguments: Any) -> None:
        self.save_or_warn(super().save_overload, *arguments)

    def save_or_warn(self, work: Callable[..., Any], *arguments: Any) -> None:
        try:
            work(*arguments)
        except OSError as reason:
            _warn_of_lost_kernels(str(reason))


def cache_of(function: FunctionType) -> CarefulCache | None:
    """The cache of one entry point, or None where there is no folder to keep it in."""
    kept = config.CACHE_DIR
    try:
        config.CACHE_DIR = kept or str(cache_folder())
        return CarefulCache(function)
    except OSError as reason:
        _warn_of_lost_kernels(str(reason))
        return None
    finally:
        config.CACHE_DIR = kept


@cache
def _warn_of_lost_kernels(reason: str) -> None:
    print(f"tengen: compiled kernels cannot be kept ({reason}); set XDG_CACHE_HOME", file=sys.stderr, flush=True)


def cache_folder() -> Path:
    """Where compiled kernels are kept: private to the user, since what lies there is run."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "tengen" / "kernels"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def fingerprint(function: Callable[..., Any], *kinds: Any) -> str:
    """A hash of all that can be compiled into an entry point for a game (and an evaluation).

    That is the source, and the constants, of every module of ours or of the user's that the entry point's or the game's
    module reaches; the game's class, since a cache names it and cannot be read without it; and the compiler's flags.
    """
    flags = (config.BOUNDSCHECK, config.OPT, config.DEBUGINFO_DEFAULT)
    classes = [(kind.__module__, kind.__qualname__, kind._fields) for kind in kinds]
    digest = hashlib.sha256(repr((classes, flags)).encode())
    for name in sorted(_modules_reached(function.__module__, *(kind.__module__ for kind in kinds))):
        digest.update(_module_hash(name))
    return digest.hexdigest()[:12]


def _modules_reached(*names: str) -> set[str]:
    """The names of these modules, and of those that they import from, but for foreign ones."""
    reached: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        module = sys.modules.get(name)
        if module is not None and name not in reached and not _is_foreign(module):
            reached.add(name)
            for value in list(vars(module).values()):
                home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
                if isinstance(home, str):
                    waiting.extend(_with_submodules(home) if isinstance(value, ModuleType) else [home])
    return reached


def _with_submodules(name: str) -> Iterator[str]:
    """A package imported by its name may be used for any module in it."""
    yield from (other for other in list(sys.modules) if other == name or other.startswith(name + "."))


@cache
def _foreign_folders() -> tuple[str, ...]:
    return tuple(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib"))


def _is_foreign(module: ModuleType) -> bool:
    """Whether a module is Python's own or an installed package: these do not change between two runs of ours."""
    file = getattr(module, "__file__", None)
    if module.__name__.split(".")[0] == "tengen" or file is None:
        return file is None
    return _is_foreign_file(file)


@cache
def _is_foreign_file(file: str) -> bool:
    if not Path(file).is_file():  # torch has modules that name files of nowhere
        return True
    return str(Path(file).resolve()).startswith(_foreign_folders())


@cache
def _module_hash(name: str) -> bytes:
    """A module's source, and its constants as they are now."""
    module = sys.modules[name]
    digest = hashlib.sha256(Path(module.__file__ or "").read_bytes())
    for constant, value in sorted(vars(module).items()):
        if not constant.startswith("__"):
            for piece in _constant_pieces(value):
                digest.update(constant.encode() + piece)
    return digest.digest()


def _constant_pieces(value: Any) -> Iterator[bytes]:
    """What can be compiled in as a constant: numbers, texts, arrays, and tuples of them."""
    if isinstance(value, tuple):
        for part in value:
            yield from _constant_pieces(part)
    elif isinstance(value, np.ndarray):
        yield repr((value.dtype, value.shape)).encode() + value.tobytes()
    elif isinstance(value, int | float | str | bytes | np.generic):
        yield repr(value).encode()


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
                print(f"tengen: compiling a part of {name}; it is kept on disk", file=sys.stderr, flush=True)

        def on_end(self, event: event.Event) -> None:
            pass

    event.register("numba:compile", Announcer())
