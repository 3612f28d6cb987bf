"""What a learned search asks: how likely is each action, how good is the position? Many positions at a time."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tengen.rules.game import Game


class Evaluator(Protocol):
    """Answers in batches, each row for the player to move there.

    `planes` [states, planes, cells] are the game's own; the answers are logits [states, actions], illegal ones too, and
    values [states] in [−1, 1], both float32.
    """

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...


class Uniform:
    """Knows nothing: every action is as likely as the next, every position even."""

    def __init__(self, game: Game):
        self.actions = game.actions

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((len(planes), self.actions), np.float32), np.zeros(len(planes), np.float32)
