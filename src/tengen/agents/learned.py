"""An agent that plays what a network likes at first sight."""

from __future__ import annotations

import numpy as np

from tengen.agents.agent import NO_LIMIT, check_goes_on
from tengen.rules.game import Game, Position
from tengen.search.evaluators import Evaluator
from tengen.search.limits import Clock, Decision, Limit


class PolicyAgent:
    """Asks once and does not search, so that no limit matters. At a temperature of 0 it plays its first choice.

    Above 0 it draws, with chances in proportion to exp(logit / temperature).
    """

    def __init__(self, name: str, game: Game, evaluator: Evaluator, temperature: float = 0.0, seed: int = 1):
        self.name, self.game, self.evaluator, self.temperature = name, game, evaluator, temperature
        self.random = np.random.default_rng(seed)

    def choose(self, position: Position, limit: Limit = NO_LIMIT) -> Decision:
        check_goes_on(position)
        clock, legal = Clock(limit), position.legal_actions
        logits, values = self.evaluator(position.encode().reshape(1, -1, self.game.cells))
        preferences = logits[0, legal].astype(np.float64)
        if self.temperature:
            action = legal[self.random.choice(len(legal), p=softmax(preferences / self.temperature))]
        else:
            action = legal[int(preferences.argmax())]
        policy = dict(zip(legal, softmax(preferences).tolist(), strict=True))
        return Decision(action, float(values[0]), policy, (action,), nodes=1, depth=1, seconds=clock.seconds)


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()
