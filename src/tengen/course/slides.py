"""The slides' worked example: a position on 3×3, and a network of which they say what it answers in three positions."""

from __future__ import annotations

import math

import numpy as np

from tengen.rules.game import Game, Position
from tengen.search.evaluators import Uniform

MOVES = "a1 a2 b2"  # cells 1 and 5 are Black's, 4 is White's, who is to play
CELLS = {7: "a3", 8: "b3", 9: "c3", 4: "a2", 5: "b2", 6: "c2", 1: "a1", 2: "b1", 3: "c1"}  # as the slides number them
NAMES = {text: str(cell) for cell, text in CELLS.items()}
EXPLORATION = 5.0  # c
ANSWERS = {  # in the position after these cells: priors by cell, and a value for the player to move
    (): ({2: 0.4, 3: 0.1, 6: 0.05, 7: 0.1, 8: 0.15, 9: 0.2}, 0.0),
    (2,): ({3: 0.2, 6: 0.15, 7: 0.1, 8: 0.25, 9: 0.3}, -0.1),
    (9,): ({2: 0.25, 3: 0.2, 6: 0.1, 7: 0.2, 8: 0.25}, -0.2),
}


def cell_of(game: Game, action: int) -> int:
    """An action's number on the slides."""
    return int(NAMES[game.action_text(action)])


class SlidesNet:
    """The network of the slides; of any other position it knows nothing: all is as likely, and even."""

    def __init__(self, game: Game):
        self.rest, self.known = Uniform(game), {}
        for cells, (priors, value) in ANSWERS.items():
            position = self.after(game.from_moves(MOVES), cells)
            logits = np.full(game.actions, -50, np.float32)
            for cell, prior in priors.items():
                logits[game.parse_action(CELLS[cell])] = math.log(prior)
            self.known[position.encode().tobytes()] = logits, value

    @staticmethod
    def after(position: Position, cells: tuple[int, ...]) -> Position:
        for cell in cells:
            position = position.play(CELLS[cell])
        return position

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits, values = self.rest(planes)
        for row, board in enumerate(planes):
            if board.tobytes() in self.known:
                logits[row], values[row] = self.known[board.tobytes()]
        return logits, values
