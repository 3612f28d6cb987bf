"""How the Go Text Protocol names moves: a letter without I and a row, on every board, and `pass`.

Rows are counted as the game counts them: from the bottom, but in Reversi from the top, as its engines do.
"""

from __future__ import annotations

import numpy as np

from tengen.records.record import plays_points
from tengen.rules.board import Coordinates
from tengen.rules.errors import BadMove, BadParameter
from tengen.rules.game import Game, Position

LETTERS = "abcdefghjklmnopqrstuvwxyz"
PASS = "pass"


class Vertices:
    """The vertices of one game.

    Where an action is no point, but puts one stone on the board and changes nothing else (connect four), it is named by
    the point where its stone lands. Other actions go by their own texts, and so may these: Hex's i5 is a point, too.
    """

    def __init__(self, game: Game):
        rows, columns = game.shape
        if max(rows, columns) > len(LETTERS):
            raise BadParameter(
                f"{game.spec} has {columns} columns; the Go Text Protocol has letters for {len(LETTERS)}"
            )
        self.game = game
        self.coordinates = Coordinates(rows, columns, LETTERS, game.coordinates.from_top)
        self.shown = Coordinates(rows, columns, LETTERS.upper(), game.coordinates.from_top)  # around a diagram

    def point(self, cell: int) -> str:
        """The vertex of a cell."""
        return self.shown.text(cell)

    def text(self, position: Position, action: int) -> str:
        """An action in a position as a vertex."""
        if plays_points(self.game):
            return PASS if action == self.game.cells else self.point(action)
        cell = self._landings(position).get(action)
        return self.game.action_text(action) if cell is None else self.point(cell)

    def action(self, position: Position, text: str) -> int:
        """The action that a vertex names in a position; raises BadMove if there is none."""
        if plays_points(self.game):
            if text.lower() != PASS:
                return self.coordinates.cell(text)
            if self.game.actions == self.game.cells:
                raise BadMove(f"there is no pass in {self.game.name}")
            return self.game.cells
        for action, cell in self._landings(position).items():
            if text.upper() == self.point(cell):
                return action
        return self.game.parse_action(text)

    def line(self, position: Position, actions: tuple[int, ...]) -> list[str]:
        """The vertices of actions that follow each other, as far as they can be played."""
        if plays_points(self.game):
            return [self.text(position, action) for action in actions]
        words = []
        for action in actions:
            if action not in position.legal_actions:
                break
            words.append(self.text(position, action))
            position = position.play(action)
        return words

    def _landings(self, position: Position) -> dict[int, int]:
        """The cells where the stones of legal actions land. None, where actions are more than stones that are put."""
        if self.game.actions >= self.game.cells:
            return {}
        cells: dict[int, int] = {}
        for action in position.legal_actions:
            changed = np.flatnonzero(position.board != position.play(action).board)
            if len(changed) != 1:
                return {}
            cells[action] = int(changed[0])
        return cells if len(set(cells.values())) == len(cells) else {}
