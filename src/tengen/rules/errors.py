"""What can go wrong at the door. Each message says what, where, and what would be right."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class TengenError(ValueError):
    """Anything a user can put right; its message is written for that user."""


class UnknownGame(TengenError):
    """No game has this name, and no file is there."""


class BadParameter(TengenError):
    """A parameter that the game does not have, or a value it does not take."""


class GameFileError(TengenError):
    """A game's file does not keep the contract."""


class BadMove(TengenError):
    """A text or a number that names no action of the game."""


class IllegalMove(TengenError):
    """An action that the rules do not allow in this position."""


class BadDiagram(TengenError):
    """A board that cannot be read, or cannot arise."""


def nearest(word: str, choices: Iterable[str]) -> str:
    """A hint that ends an error message: the choice most like `word`, or all of them."""
    choices = list(choices)
    close = get_close_matches(word, choices, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; choose from {', '.join(choices)}" if choices else ""
