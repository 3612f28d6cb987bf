"""The games: one file each, found by its name, with nothing to register elsewhere."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tengen.rules.errors import BadParameter, GameFileError, UnknownGame
from tengen.rules.game import Game
from tengen.rules.plugins import module_of_file, nearest_or_file

ORDER = (
    "tictactoe",
    "connect4",
    "gomoku",
    "renju",
    "reversi",
    "hex",
    "go",
    "chess",
    "draughts",
    "international",
    "breakthrough",
    "mnk",
)


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
        return Game(name, class_of(name), parameters)
    names = other_names()
    if name not in names:
        hint = "; a file's name ends in .py" if "/" in name else nearest_or_file(name, [*file_names(), *names])
        raise UnknownGame(f"no game is called {name!r}{hint}")
    owner, fixed = names[name]
    if clash := fixed.keys() & parameters.keys():
        raise BadParameter(f"{name} is {owner} with {fixed}: {', '.join(clash)} cannot be changed; use {owner}:…")
    return Game(name, class_of(owner), parameters, fixed)


@cache
def class_of(name: str) -> Any:
    """The class of a game that comes with us, by its file's name."""
    return game_type(importlib.import_module(f"tengen.games.{name}"))


def offered_names() -> list[str]:
    """The games that lists offer, in their order: easy ones first; files that ORDER does not name at the end."""
    return [*ORDER, *(name for name in file_names() if name not in ORDER)]


@cache
def sgf_numbers() -> dict[int, str]:
    """The games that have a number in SGF (GM), by that number."""
    numbers = {getattr(class_of(name), "sgf_number", 0): name for name in file_names()}
    return {number: numbers[number] for number in sorted(numbers) if number}


def file_names() -> list[str]:
    """The names of the games that come with us, one a file."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def other_names() -> dict[str, tuple[str, dict[str, Any]]]:
    """Further names that the files give to some parameters: `tictactoe` is `mnk:m=3,n=3,k=3`."""
    return {
        other: (name, fixed) for name in file_names() for other, fixed in getattr(class_of(name), "names", {}).items()
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
