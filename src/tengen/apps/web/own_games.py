"""Games that are files of the operator's own: named on the command line, and by nobody else.

A file is run once, when the server starts. Pages call it by its name without the ending (`my_game.py` is `my-game`),
which is looked up in a list, never on the disk. Inside, the game is called by its file's name without any folder: so no
path of this machine stands in what it says.

Which files are served is a matter of the app that a request comes to, so the list goes along with the request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from tengen.games import file_names, load_game, other_names
from tengen.learn.settings import preset_names
from tengen.rules.errors import BadMove, BadParameter, GameFileError, TengenError
from tengen.rules.game import Game

LONGEST_NAME = 40  # characters
PATH = re.compile(r"\S{0,500}/(?=[^\s/]{1,100}\.py\b)")  # the folders of a file that is not served
MOST_CELLS = 1024  # of a board that a page draws

_served: ContextVar[Mapping[str, Path]] = ContextVar("served", default=MappingProxyType({}))


class OwnGame(Game):
    """A game of a file. Whatever goes wrong when its file reads a client's move is said to be no move."""

    def __init__(self, page_name: str, path: Path, parameters: str):
        loaded = load_game(f"{path}:{parameters}").parameters
        super().__init__(path.name, type(loaded), loaded._asdict())
        self.page_name, self.path = page_name, path

    def __reduce__(self) -> tuple[Any, ...]:
        return load_game, (self.command,)

    @property
    def command(self) -> str:
        """The spec by which a command of ours finds it."""
        return f"{self.path}{self._rest}"

    @property
    def page_spec(self) -> str:
        """The spec by which pages name it."""
        return f"{self.page_name}{self._rest}"

    @property
    def _rest(self) -> str:
        return self.spec[len(self.name) :]

    def parse_action(self, text: str) -> int:
        try:
            return super().parse_action(text)
        except TengenError:
            raise
        except Exception as reason:
            raise BadMove(f"{text[:40]!r} is not a move of {self.name}") from reason


# Which files are served.


def read_games(paths: Sequence[Path]) -> dict[str, Path]:
    """The files by the names that pages call them; runs each, and raises TengenError if one cannot be served."""
    found: dict[str, Path] = {}
    for given in paths:
        name, path = name_of(given), given.resolve()
        if name in (*file_names(), *other_names(), *preset_names()):
            raise GameFileError(f"{given} would be called {name!r}, as one of ours is: give the file another name")
        if name in found and found[name] != path:
            raise GameFileError(f"{given} and {found[name]} would both be called {name!r}: give one another name")
        load_game(str(given))
        own_game(name, path, "")
        found[name] = path
    return found


def name_of(path: Path) -> str:
    """What pages call a game's file: small letters, digits and hyphens."""
    if path.suffix != ".py":
        hint = "choose parameters in the page" if ".py:" in path.name else "a game's file ends in .py"
        raise GameFileError(f"--game {path}: it takes a file such as ./breakthrough.py; {hint}")
    name = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")
    if not 0 < len(name) <= LONGEST_NAME:
        raise GameFileError(f"{path} has no name for a page: it needs 1 to {LONGEST_NAME} letters a to z or digits")
    return name


class Serving:
    """Tells whatever answers a request which files its app serves."""

    def __init__(self, app: ASGIApp, games: Mapping[str, Path]):
        self.app, self.games = app, games

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = _served.set(self.games)
        try:
            await self.app(scope, receive, send)
        finally:
            _served.reset(token)


# Finding them.


def served_names() -> list[str]:
    """The games of files that may be named here, in the operator's order."""
    return list(_served.get())


def find_game(name: str, parameters: str) -> OwnGame | None:
    """The game of a name that is served here; None if none is called so."""
    path = _served.get().get(name)
    return None if path is None else own_game(name, path, parameters)


@lru_cache(maxsize=256)
def own_game(name: str, path: Path, parameters: str) -> OwnGame:
    """A game of a file; raises TengenError if its parameters are wrong, or a page could not draw its board."""
    if ".py" in parameters:  # it would be read as part of the path
        raise BadParameter(f"{parameters[:40]!r} are no parameters of {path.name}")
    game = OwnGame(name, path, parameters)
    rows, columns = game.shape
    letters = len(game.coordinates.letters)
    if game.cells > MOST_CELLS or columns > letters:
        most = f"{MOST_CELLS:,} cells and {letters} columns at most"
        raise BadParameter(f"{game.name}: a board of {rows}×{columns} is too large for a page, which draws {most}")
    return game


def game_at(spec: str) -> OwnGame | None:
    """The game of a spec that stands in a file of ours, if it names a file that is served here."""
    head, ending, rest = spec.rpartition(".py")
    if not ending or rest[:1] not in ("", ":"):
        return None
    with suppress(OSError, RuntimeError, ValueError):  # of a path that cannot be; and whatever is wrong with parameters
        path = Path(head + ending).resolve()
        for name, known in _served.get().items():
            if known == path:
                return own_game(name, path, rest[1:])
    return None


def game_of_file(name: str, parameters: str) -> OwnGame | None:
    """The game of a file's bare name, as records have it, if one that is served here is called so."""
    for page_name, path in _served.get().items():
        if path.name == name:
            return own_game(page_name, path, parameters)
    return None


def without_folders(text: str, *others: Path) -> str:
    """What a process of ours said, without the folders of games' files, and without other folders of ours."""
    for folder in (*(path.parent for path in _served.get().values()), *others):
        text = text.replace(f"{folder}/", "").replace(f"{folder.resolve()}/", "")
    return PATH.sub("", text)
