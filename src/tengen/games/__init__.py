"""The games: one file each, found by its name, with nothing to register elsewhere."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from tengen.rules.errors import BadParameter, GameFileError, UnknownGame, nearest
from tengen.rules.game import Game


def load_game(spec: str) -> Game:
    """The game of a spec: a name or a file, then its parameters: `gomoku:size=8`, `./breakthrough.py:size=6`."""
    if not isinstance(spec, str):
        raise BadParameter(f"a game is named by a text, such as 'gomoku:size=8' or './mine.py', not by {spec!r}")
    head, dot_py, tail = spec.rpartition(".py")  # a path may hold a colon
    name, _, rest = (head + dot_py, "", tail[1:]) if dot_py and tail[:1] in ("", ":") else spec.partition(":")
    parameters = _parameters(rest)
    if name.endswith(".py"):
        return Game(name, game_type(module_of_file(Path(name))), parameters)
    if name in file_names():
        return Game(name, game_type(importlib.import_module(f"tengen.games.{name}")), parameters)
    names = other_names()
    if name not in names:
        hint = "; a file's name ends in .py" if "/" in name else nearest(name, [*file_names(), *names])
        raise UnknownGame(f"no game is called {name!r}{hint}")
    owner, fixed = names[name]
    if clash := fixed.keys() & parameters.keys():
        raise BadParameter(f"{name} is {owner} with {fixed}: {', '.join(clash)} cannot be changed; use {owner}:…")
    return Game(name, game_type(importlib.import_module(f"tengen.games.{owner}")), parameters, fixed)


def file_names() -> list[str]:
    """The names of the games that come with us, one a file."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def other_names() -> dict[str, tuple[str, dict[str, Any]]]:
    """Further names that the files give to some parameters: `tictactoe` is `mnk:m=3,n=3,k=3`."""
    return {
        other: (name, fixed)
        for name in file_names()
        for other, fixed in getattr(game_type(importlib.import_module(f"tengen.games.{name}")), "names", {}).items()
    }


def game_type(module: ModuleType) -> Any:
    """The one NamedTuple that a game's file defines."""
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, tuple)
        and hasattr(value, "_fields")
        and value.__module__ == module.__name__
        and hasattr(value, "record")
    ]
    if len(found) != 1:
        count = "no" if not found else f"{len(found)}"
        raise GameFileError(f"{module.__file__} has {count} NamedTuple with a record(); a game's file has one")
    return found[0]


def module_of_file(path: Path, what: str = "game") -> ModuleType:
    """Runs a user's file as a module, once.

    Its name is that of the file, wherever it lies: the kernel cache then knows a copy again. Only where a process runs
    two files of one name does the second have its folder's hash in its name.
    """
    if not path.is_file():
        raise UnknownGame(
            f"{path} is a folder, not a file of a {what}" if path.is_dir() else f"there is no file {path}"
        )
    path = path.resolve()
    name = f"tengen_{what}_{path.stem}"
    if name in sys.modules and sys.modules[name].__file__ != str(path):
        name += f"_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name not in sys.modules:
        module = ModuleType(name)
        module.__file__ = str(path)
        sys.modules[name] = module
        try:  # from its source, always: Python's own cache of modules overlooks two edits within a second
            exec(compile(path.read_bytes(), path, "exec"), module.__dict__)
        except (Exception, SystemExit) as reason:
            del sys.modules[name]
            if isinstance(reason, GameFileError):
                raise
            raise GameFileError(f"{path} does not run: {describe(reason, path)}") from reason
    return sys.modules[name]


def describe(reason: BaseException, path: Path) -> str:
    """An error in a user's file, with the line of that file where it came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(reason.__traceback__) if frame.filename == str(path)]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{type(reason).__name__}: {reason}{where}"


def _parameters(text: str) -> dict[str, str]:
    """The parameters after the colon of a spec."""
    parameters: dict[str, str] = {}
    for piece in filter(None, text.split(",")):
        name, equals, value = (part.strip() for part in piece.partition("="))
        if not equals or not value:
            raise BadParameter(f"{piece!r} is not a parameter; write name=value")
        if name in parameters:
            raise BadParameter(f"{name} is given twice")
        parameters[name] = value
    return parameters
