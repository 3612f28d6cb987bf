"""A game that was played, whatever file it is kept in."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from tengen.games import load_game
from tengen.rules import contract
from tengen.rules.errors import TengenError
from tengen.rules.game import Game, Outcome, Position

COLOURS = "BW"  # the first player is Black
NOT_KNOWN, DRAWN = "?", "0"  # results without a winner
LONGEST = 128 * 2**20  # bytes that are read of a file at most
MOST_GAMES = 200_000  # that one file may hold


class RecordError(TengenError):
    """A record that cannot be read or written. What it quotes of a file cannot move a terminal's cursor."""

    def __init__(self, reason: str):
        super().__init__(printable(reason))


@dataclass(frozen=True)
class Record:
    """A game as it was played from its start. Whatever reads records gives legal moves only."""

    game: Game
    moves: tuple[int, ...]
    players: tuple[str, str] = ("", "")  # who moved first, who second
    result: str = NOT_KNOWN  # as SGF has it: B+, W+3.5, B+R (resigned), B+T (on time), 0 (a draw), ? (not known)
    comments: Mapping[int, str] = field(default_factory=dict)  # by ply; 0 is before the first move
    date: str = ""
    opening: int = 0  # plies that were given, not chosen
    seconds: tuple[float, ...] = ()  # that each ply after the opening took; perhaps one more, that of a move not played
    ending: str = ""  # why it ended, if not by the rules of the game: a resignation, a crash, an illegal move
    diagram: str = ""  # the board that it began from, if that is not the game's own start …
    to_play: int = 0  # … and who moved first there
    properties: Mapping[int, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    # What else an SGF file says, by ply and name, values as they stand there: ranks, events, clocks, marks on the board

    @classmethod
    def of(
        cls,
        position: Position,
        players: tuple[str, str] = ("", ""),
        comments: Mapping[int, str] = {},
        **facts: Any,
    ) -> Record:
        """The record of a game that led to `position`, whose result is that of the position unless `facts` say more."""
        first = position
        while first.previous is not None:
            first = first.previous
        if first != position.game.start():
            if not plays_points(position.game):
                raise RecordError("a game that began from a diagram cannot be recorded, unless its moves are points")
            facts |= {"diagram": first.diagram(), "to_play": first.to_play}
        facts.setdefault("result", result_text(position.game, position.outcome))
        record = cls(position.game, tuple(position.moves), players, comments=dict(comments), **facts)
        record.__dict__["_has_legal_moves"] = True
        return record

    @property
    def outcome(self) -> Outcome | None:
        """What `result` says; a win without a margin counts 1. None if it does not say who won."""
        if self.result.lower() in (DRAWN, "draw"):
            return Outcome(None, 0.0)
        if not (match := re.fullmatch(r"([BW])\+(\d*\.?\d*)\w*", self.result)):
            return None
        winner = COLOURS.index(match[1])
        margin = float(match[2]) if match[2].strip(".") else 1.0
        return Outcome(winner, margin if winner == 0 else -margin)

    def start(self) -> Position:
        """The position before the first move."""
        return self.game.from_board(self.diagram, self.to_play) if self.diagram else self.game.start()

    def positions(self) -> Iterator[Position]:
        """The position before the first move, then after each; raises what `Position.play` raises."""
        position = self.start()
        yield position
        for action in self.moves:
            position = position.play(action)
            yield position

    def end(self) -> Position:
        """The position after the last move."""
        *_, last = self.positions()
        return last

    @cached_property
    def _has_legal_moves(self) -> bool:
        self.end()
        return True

    def check_moves(self) -> None:
        """Raises what `Position.play` raises; a record never changes, so its moves are played for this only once."""
        assert self._has_legal_moves

    def check(self) -> None:
        """Raises RecordError if comments, opening or times do not fit the moves."""
        plies = len(self.moves)
        if stray := self.comments.keys() - range(plies + 1):
            raise RecordError(f"there is a comment on ply {min(stray)}; the game has plies 0 to {plies}")
        if stray := self.properties.keys() - range(plies + 1):
            raise RecordError(f"there are properties of ply {min(stray)}; the game has plies 0 to {plies}")
        if not 0 <= self.opening <= plies:
            raise RecordError(f"an opening of {self.opening} plies does not fit a game of {plies}")
        if len(self.seconds) > plies - self.opening + 1:
            raise RecordError(f"there are {len(self.seconds)} times; {plies - self.opening} plies follow the opening")
        for ply, seconds in enumerate(self.seconds, self.opening + 1):
            if not (math.isfinite(seconds) and seconds >= 0):
                raise RecordError(f"move {ply} took {seconds} seconds; a time is a number from 0 on")


def result_text(game: Game, outcome: Outcome | None) -> str:
    """An outcome as SGF has it, with a margin where the game's own rules count one."""
    if outcome is None:
        return NOT_KNOWN
    if outcome.winner is None:
        return DRAWN
    counts = contract.rule_of(type(game.parameters), "score").__module__ != contract.__name__
    return f"{COLOURS[outcome.winner]}+" + (np.format_float_positional(abs(outcome.score), trim="-") if counts else "")


def result_words(record: Record) -> str:
    """How a game ended, for readers who do not know SGF; and why, if not by the rules of the game."""
    outcome = record.outcome
    if outcome is None:
        words = "no result"
    elif outcome.winner is None:
        words = "a draw"
    else:
        margin = f" by {abs(outcome.score):g}" if record.result[-1:].isdigit() else ""
        words = f"{record.game.players[outcome.winner]} wins{margin}"
    return f"{words} ({' '.join(record.ending.split())})" if record.ending else words


def plays_points(game: Game) -> bool:
    """Whether the game's actions are the cells of its board, and perhaps a pass, without names of their own."""
    return game.actions in (game.cells, game.cells + 1) and not hasattr(game.parameters, "action_text")


def must_pass(position: Position) -> bool:
    """Whether a pass is the only action, as it often is in Reversi."""
    game = position.game
    return plays_points(game) and position.legal_actions == [game.cells]


def printable(text: str) -> str:
    """The text for a terminal: whatever is no character that one sees is shown as a question mark in a diamond."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def recorded_game(spec: str, given: Game | None = None) -> Game:
    """The game of a spec that stands in a record.

    A record never makes us run code: a spec that names a file is the `given` game, if its parameters are the same.
    """
    if ".py" not in spec:
        return _known_game(spec)
    if given is None:
        raise RecordError(f"the game is a file, {spec}: give that game, for a record alone never makes us run code")
    if file_name(given.spec) != file_name(spec):
        raise RecordError(f"the game is {spec}; the one that was given is {given.spec}")
    return given


def file_name(spec: str) -> str:
    """The spec of a user's game without the folders of its file: these differ from machine to machine."""
    path, ending, parameters = spec.rpartition(".py")
    return re.split(r"[/\\\\]", path)[-1] + ending + parameters


@lru_cache(maxsize=256)
def _known_game(spec: str) -> Game:
    return load_game(spec)
