"""Leads and ownership of a position and of its moves, for analyses.

They are estimates by random games and reading (knowledge/ownership.py), not the search's own: a move's lead is the
position's, and what random games say that the move changes.
"""

from __future__ import annotations

import math

import numpy as np

from tengen.knowledge.go import is_go
from tengen.knowledge.ownership import Outlook, estimate, rolled
from tengen.rules.game import Position

MOST_MOVES = 16  # whose leads are told, the chosen one first


class Points:
    """Leads and ownership of a position and of its moves, each found once."""

    def __init__(self, position: Position):
        self.position = position
        self.view: Outlook = estimate(position)
        self.base = rolled(position).sum()
        self.moves: dict[int, np.ndarray] = {}

    def owners_after(self, action: int) -> np.ndarray:
        """[rows, columns]: who will own what if that is played."""
        if action not in self.moves:
            self.moves[action] = rolled(self.position.play(action))
        return self.moves[action]

    @property
    def spread(self) -> float:
        """How many points are open, as a standard deviation."""
        return math.sqrt(float((1 - self.view.ownership**2).sum()))

    def lead_after(self, action: int) -> float:
        """The first player's lead if that is played."""
        lead, most = self.view.lead + float(self.owners_after(action).sum() - self.base), self.position.game.cells
        return min(max(lead, -most - self.view.komi), most - self.view.komi)


def points_of_go(position: Position) -> Points | None:
    """The points of a position of Go; other games have none."""
    return Points(position) if is_go(position.game) else None
