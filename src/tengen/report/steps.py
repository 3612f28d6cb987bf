"""What a move does with its piece: where that came from and where it stands now."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tengen.records.record import plays_points
from tengen.rules.board import STONES
from tengen.rules.game import Game, Position


class Placement(NamedTuple):
    """What a move does with its piece."""

    cell: int | None  # where it stands then; None for a pass
    origin: int | None = None  # where it stood before, if it comes from the board
    fills: tuple[int, ...] = ()  # all its cells, if it fills more than one and comes from none
    piece: int | None = None  # what stands there then, if the board was asked and the game has pieces of its own


def step_of(position: Position | None, action: int | None) -> Placement:
    """What a legal action of the position does with its piece. Where the game does not say, it is played."""
    if position is None or action is None:
        return Placement(None)
    said = _said(position.game, action)
    return said if said is not None else compare(position, position.play(action))


def last_step(position: Position) -> Placement:
    """What the last action did."""
    if position.previous is None or position.action is None:
        return Placement(None)
    said = _said(position.game, position.action)
    return said if said is not None else compare(position.previous, position)


def _said(game: Game, action: int) -> Placement | None:
    """What the game says itself of an action; None if it does not."""
    if hasattr(game.parameters, "from_to") and (cells := game.parameters.from_to(action)) is not None:
        origin, cell = cells
        return Placement(None if cell is None else int(cell), None if origin is None else int(origin))
    if plays_points(game) and not hasattr(game.parameters, "action_text"):
        return Placement(action if action < game.cells else None)
    return None


def compare(before: Position, after: Position) -> Placement:
    """What two boards say of the move between them.

    A piece that leaves the board, turns into another or into the other player's is a move on its own cell; so is one
    that belongs to nobody, such as an arrow.
    """
    board, now, own = before.board.ravel(), after.board.ravel(), before.to_play + 1
    owners, owners_now = before.owners.ravel(), after.owners.ravel()
    cell, origin, fills = _moved(board, now, own, owners, owners_now)
    piece = int(now[cell]) or None if cell is not None and before.game.pieces != STONES else None
    return Placement(cell, origin, fills, piece)


def _moved(
    board: np.ndarray, now: np.ndarray, own: int, owners: np.ndarray, owners_now: np.ndarray
) -> tuple[int | None, int | None, tuple[int, ...]]:
    """The cell, the origin and all filled cells of a move of the player whose pieces are `own`."""
    left = cells_where((owners == own) & (owners_now != own))
    filled = cells_where((board == 0) & (owners_now == own))
    arrived = filled or cells_where((owners != own) & (owners_now == own))
    if not arrived:
        changed = left or cells_where(board != now)
        return (changed[0] if changed else None), None, ()
    if left:
        return arrived[0], left[0], ()
    return arrived[0], None, tuple(filled) if len(filled) > 1 else ()


def cells_where(mask: np.ndarray) -> list[int]:
    return np.flatnonzero(mask).tolist()
