"""What a page is told of a game and of a position; and the doors by which games are named: in by a client's words, out
to a page.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from tengen.apps.web import own_games
from tengen.apps.web.own_games import OwnGame
from tengen.games import load_game, offered_names
from tengen.knowledge.groups import connected, owner_of
from tengen.records.record import file_name, result_text
from tengen.report.shapes import is_stone, path_of, tints_of
from tengen.report.steps import cells_where, last_step, step_of
from tengen.rules.board import SHAPES, Between, OneOf, Piece
from tengen.rules.errors import BadMove, UnknownGame
from tengen.rules.game import Game, Position, parameter_kinds
from tengen.rules.kernels import at_once

LONGEST_SPEC, LONGEST_MOVE, MOST_MOVES = 100, 32, 2000
MOST_TEXTS = 4096  # moves as players write them that are kept: to write one, all others may have to be looked at
LONGEST_KEPT = 400  # moves of a page whose positions are kept: 6 kB each on the largest board of Go
SETTING = r"[A-Za-z_][A-Za-z0-9_]*=[A-Za-z0-9_.+-]+"
SPEC = re.compile(rf"[a-z0-9-]+(:{SETTING}(,{SETTING})*)?")
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))

Spec = Field(max_length=LONGEST_SPEC, description="a game and its parameters", examples=["gomoku:size=9,rule=renju"])


class Problem(BaseModel):
    """What every answer is that is not what was asked for."""

    error: str = Field(description="what is wrong, and what would be right")


class Place(BaseModel):
    """A position, told by its game and the moves that led to it."""

    model_config = ConfigDict(extra="forbid")

    game: str = Spec
    moves: list[str] = Field(default=[], max_length=MOST_MOVES, description="as people write them", examples=[["h8"]])


class Forbidden(BaseModel):
    """An empty point that may not be played."""

    cell: int
    reason: str


class EdgeLabels(BaseModel):
    """What stands beside the board: a point is its column's label and its row's."""

    columns: list[str]
    rows: list[str]


class PieceView(BaseModel):
    """What may stand on a cell."""

    symbol: str
    owner: int | None = Field(description="0 or 1; null for nobody's, such as a wall")
    name: str = Field(description="what it is called, beside its owner; empty if that is enough")
    shape: str = Field(description="what its outline shows: stone, pawn, …; empty if that is the game's own")
    path: str | None = Field(description="its outline in a square of 40 units; null for a stone, as the board has them")


class View(BaseModel):
    """A position as a page draws it. Cells are numbered row by row from the top left."""

    game: str
    drawing: str = Field(description="lines, discs, holes, marks, cells or hexagons: what the board looks like")
    shape: tuple[int, int] = Field(description="rows and columns")
    labels: EdgeLabels
    colours: tuple[str, str] = Field(description="what the players are called")
    tints: tuple[str, str] = Field(description="the colours of their pieces: black, white, red, blue, green or yellow")
    pieces: list[PieceView] = Field(description="what the numbers of the board stand for, from 1 on")
    sides: tuple[str, str] | None = Field(description="the sides of the board that each player has: top, bottom, …")
    board: list[int] = Field(description="0 empty, else a piece's number")
    facts: str = Field(description="what the board does not show, such as rights to castle")
    to_play: int
    moves: list[str] = Field(description="that led here, spelled as we do")
    shown: list[str] = Field(description="the same as players write them")
    movers: list[int] = Field(description="who made them")
    legal: list[str] = Field(description="what may be played")
    texts: dict[str, str] = Field(description="legal moves that players write otherwise, as they do")
    cells: dict[str, int] = Field(description="where each legal move puts its stone; a pass puts none")
    origins: dict[str, int] = Field(description="the cell that a legal move leaves, if its stone comes from one")
    fills: dict[str, list[int]] = Field(description="the cells of a legal move that fills more than one")
    arrives: dict[str, int] = Field(description="what then stands there, where the board was asked")
    last: int | None = Field(description="the cell of the last move")
    last_fills: list[int] = Field(description="the cells of the last move, if it filled more than one")
    last_origin: int | None = Field(description="the cell that the last move left")
    flipped: list[int] = Field(description="cells that changed side by the last move")
    captured: list[int] = Field(description="cells that the last move emptied")
    forbidden: list[Forbidden]
    outcome: Literal["first", "second", "draw"] | None
    result: str = Field(description="as SGF has it: B+, W+3.5, 0 for a draw, ? while the game goes on")
    line: list[int] = Field(description="the cells of the row that won")
    score: tuple[float, float] | None = Field(description="discs; or areas with komi, once it is over")


class Parameter(BaseModel):
    """A parameter of a game, or an option of an agent."""

    name: str
    kind: Literal["int", "float", "choice", "text"]
    low: float | None = None
    high: float | None = None
    choices: list[str] | None = None
    default: str | float | None
    about: str = ""


class LevelView(BaseModel):
    name: str
    about: str


class GameView(BaseModel):
    """A game that a page may offer."""

    name: str
    title: str
    about: str
    is_own: bool = Field(description="whether it is a file that the operator serves")
    parameters: list[Parameter]
    usual_sizes: list[int] = Field(description="values of the parameter size that people use most")
    levels: list[LevelView]


# Routes.


def known_game(spec: str) -> Game:
    """The game of a client's spec: one that we ship, or a file that the operator serves, by its name.

    Nothing that a client says is a file's path, whatever it looks like.
    """
    if len(spec) > LONGEST_SPEC or not SPEC.fullmatch(spec) or ".py" in spec:
        raise UnknownGame(f"{spec[:LONGEST_SPEC]!r} is not a game; write one as gomoku or gomoku:size=9,rule=renju")
    name, _, parameters = spec.partition(":")
    return own_games.find_game(name, parameters) or _loaded(spec)


@lru_cache(maxsize=256)
def _loaded(spec: str) -> Game:
    return load_game(spec)


def page_spec(game: Game) -> str:
    """How a page is told a game: `known_game` makes the same of it."""
    return game.page_spec if isinstance(game, OwnGame) else game.spec


def command_spec(game: Game) -> str:
    """How a command of ours is told a game. No page is."""
    return game.command if isinstance(game, OwnGame) else game.spec


def shown_spec(spec: str) -> str:
    """How a page is told a spec that stands on the disk: of a file that is not served, its name without folders."""
    game = own_games.game_at(spec)
    return page_spec(game) if game is not None else file_name(spec) if ".py" in spec else spec


# Positions.


def position_of(spec: str, moves: Sequence[str]) -> Position:
    """The position after a client's moves in the game of a client's spec."""
    return position_after(known_game(spec), moves)


@at_once()
def position_after(game: Game, moves: Sequence[str]) -> Position:
    """The position after a client's moves; raises what is wrong with the first that cannot be played."""
    return _played(game.start(), moves)


def _played(position: Position, moves: Sequence[str]) -> Position:
    if position.ply + len(moves) > MOST_MOVES:
        raise BadMove(f"{position.ply + len(moves):,} moves; up to {MOST_MOVES:,} are played")
    for number, move in enumerate(moves, position.ply + 1):
        if not isinstance(move, str) or not 0 < len(move) <= LONGEST_MOVE:
            text = position.game.action_text(position.legal_actions[0] if position.legal_actions else 0)
            raise BadMove(f"move {number} is {str(move)[:LONGEST_MOVE]!r}; a move is a short text such as {text}")
        position = position.play(move)
    return position


class MoveLine:
    """The moves that a page asked about last, with their positions.

    A page sends all moves of its game each time. Only those beyond the ones that it sent before are played.
    """

    def __init__(self) -> None:
        self.used = 0.0
        self._moves: tuple[str, ...] = ()  # as the page spelled them
        self._last: Position | None = None
        self._lock = threading.Lock()

    @at_once()
    def position(self, spec: str, moves: Sequence[str]) -> Position:
        """The position after a client's moves, as `position_of` finds it."""
        game = known_game(spec)
        with self._lock:
            last, known, self.used = self._last, self._moves, time.monotonic()
        if last is None or last.game is not game:
            last, known = game.start(), ()
        pairs = enumerate(zip(known, moves, strict=False))
        common = next((ply for ply, (old, new) in pairs if old != new), min(len(known), len(moves)))
        position = _played(_earlier(last, common), moves[common:])
        if len(moves) > common or not known:  # who looks back keeps what comes after
            kept = min(len(moves), LONGEST_KEPT)
            with self._lock:
                self._last, self._moves = _earlier(position, kept), tuple(moves[:kept])
        return position


def _earlier(position: Position, ply: int) -> Position:
    """The position from which another came, after its first so many moves."""
    while position.ply > ply:
        assert position.previous is not None
        position = position.previous
    return position


def game_views(levels: Any) -> list[GameView]:
    """All games with their parameters, the operator's own after ours; `levels` says which levels a game has."""
    return [_game_view(name, levels) for name in [*offered_names(), *own_games.served_names()]]


def _game_view(name: str, levels: Any) -> GameView:
    game = known_game(name)
    kinds, values = parameter_kinds(type(game.parameters)), game.parameters._asdict()
    parameters = [
        parameter_view(field, kind, allowed, values[field])
        for field, (kind, allowed) in kinds.items()
        if field not in game.fixed
    ]
    about = about_of(type(game.parameters))
    shown = [LevelView(name=level.name, about=level.about) for level in levels(game)]
    is_own = isinstance(game, OwnGame)
    return GameView(
        name=name,
        title=game.title,
        about=about,
        is_own=is_own,
        parameters=parameters,
        usual_sizes=list(game.usual_sizes),
        levels=shown,
    )


def about_of(game_type: type) -> str:
    """The first line of what a game's class says of itself; what Python writes in its place is left out."""
    lines = (game_type.__doc__ or "").strip().splitlines()
    return "" if not lines or lines[0].startswith(f"{game_type.__name__}(") else lines[0]


def parameter_view(name: str, kind: type, allowed: Any, default: Any, about: str = "") -> Parameter:
    """What may be chosen, as a page shows it."""
    if isinstance(allowed, OneOf):
        chosen = None if default is None else allowed.text(default)
        return Parameter(name=name, kind="choice", choices=list(allowed.names), default=chosen, about=about)
    if isinstance(allowed, Between):
        word: Literal["int", "float"] = "int" if kind is int else "float"
        low, high = (end if math.isfinite(end) else None for end in (allowed.low, allowed.high))
        return Parameter(name=name, kind=word, low=low, high=high, default=default, about=about)
    return Parameter(name=name, kind="text", default=default, about=about)


@at_once()
def view_of(position: Position) -> View:
    """A position as a page draws it."""
    game, board = position.game, position.board.ravel()
    earlier = position if position.previous is None else position.previous
    before, changed = earlier.board.ravel(), (earlier.owners != position.owners).ravel()
    last, line = last_step(position), line_of(position)
    steps = {game.action_text(action): step_of(position, action) for action in position.legal_actions}
    outcome = position.outcome
    return View(
        game=page_spec(game),
        drawing=game.drawing,
        shape=game.shape,
        labels=labels_of(game),
        colours=game.players,
        tints=tints_of(game),
        pieces=[piece_view(piece) for piece in game.pieces],
        sides=game.sides,
        board=board.tolist(),
        facts=position.facts,
        to_play=position.to_play,
        moves=[game.action_text(action) for _, action in line],
        shown=[shown_text(before, action) for before, action in line],
        movers=[before.to_play for before, _ in line],
        legal=list(steps),
        texts=texts_of(position),
        cells={text: step.cell for text, step in steps.items() if step.cell is not None},
        origins={text: step.origin for text, step in steps.items() if step.origin is not None},
        fills={text: list(step.fills) for text, step in steps.items() if step.fills},
        arrives={text: step.piece for text, step in steps.items() if step.piece is not None},
        last=last.cell,
        last_fills=list(last.fills),
        last_origin=last.origin,
        flipped=[cell for cell in cells_where(changed & (before > 0) & (board > 0)) if cell != last.cell],
        captured=[cell for cell in cells_where((before > 0) & (board == 0)) if cell != last.origin],
        forbidden=[Forbidden(cell=cell, reason=reason) for cell, reason in position.forbidden().items()],
        outcome=None
        if outcome is None
        else ("draw" if outcome.winner is None else ("first", "second")[outcome.winner]),
        result=result_text(game, outcome),
        line=winning_line(position, last.cell),
        score=score_of(position),
    )


def labels_of(game: Game) -> EdgeLabels:
    rows, columns = game.shape
    texts = [game.coordinates.text(cell) for cell in range(game.cells)]
    return EdgeLabels(
        columns=[texts[x][0] for x in range(columns)],
        rows=[texts[y * columns][1:] for y in range(rows)],
    )


@at_once()
def cells_of(position: Position) -> dict[str, int]:
    """Where each legal move puts its stone, as in a View."""
    steps = {action: step_of(position, action).cell for action in position.legal_actions}
    return {position.game.action_text(action): cell for action, cell in steps.items() if cell is not None}


def piece_view(piece: Piece) -> PieceView:
    shape, path = piece.shape if piece.shape in SHAPES else "", None if is_stone(piece) else path_of(piece)
    return PieceView(symbol=piece.symbol, owner=piece.owner, name=piece.name, shape=shape, path=path)


def line_of(position: Position) -> list[tuple[Position, int]]:
    """The moves that led to a position, each with the position in which it was played."""
    line = []
    while position.previous is not None and position.action is not None:
        line.append((position.previous, position.action))
        position = position.previous
    return line[::-1]


def shown_text(position: Position, action: int) -> str:
    """A move as players write it."""
    has_own = hasattr(position.game.parameters, "move_text")
    return _move_text(position, action) if has_own else position.game.action_text(action)


@lru_cache(maxsize=MOST_TEXTS)
def _move_text(position: Position, action: int) -> str:
    return position.move_text(action)


def texts_of(position: Position) -> dict[str, str]:
    """The legal moves that players write otherwise than `Game.action_text` does."""
    texts = {position.game.action_text(action): shown_text(position, action) for action in position.legal_actions}
    return {text: shown for text, shown in texts.items() if shown != text}


def winning_line(position: Position, last: int | None) -> list[int]:
    """The cells of the rows through the last stone that won. Beside a row of just the right length, longer ones do not
    count: by some rules they never do.
    """
    length = position.game.row_length
    if last is None or length is None or position.outcome is None or position.outcome.winner is None:
        return []
    runs = [run for step in DIRECTIONS if len(run := run_through(position.owners, last, step)) >= length]
    exact = [run for run in runs if len(run) == length]
    return sorted({cell for run in exact or runs for cell in run})


def run_through(board: np.ndarray, cell: int, step: tuple[int, int]) -> list[int]:
    """The cells of one owner in line with a cell, that cell included."""
    rows, columns = board.shape
    y, x = divmod(cell, columns)
    run = [cell]
    for sign in (1, -1):
        row, column = y + sign * step[0], x + sign * step[1]
        while 0 <= row < rows and 0 <= column < columns and board[row, column] == board[y, x]:
            run.append(row * columns + column)
            row, column = row + sign * step[0], column + sign * step[1]
    return run


def score_of(position: Position) -> tuple[float, float] | None:
    """What both have: discs at any time; areas only at the end, since before that they mean nothing."""
    scoring, board, outcome = position.game.scoring, position.owners, position.outcome
    if scoring == "discs":
        return float((board == 1).sum()), float((board == 2).sum())
    if scoring != "area" or outcome is None:
        return None
    first = area_of(board, 1)
    return first, first - outcome.score


def area_of(board: np.ndarray, stone: int) -> float:
    """Stones, and empty regions that reach stones of this colour alone."""
    return float(sum(len(group) for group in connected(board) if owner_of(board, group) == stone))
