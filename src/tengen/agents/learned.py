"""An agent that plays what a network likes at first sight; and who judges and plays for AlphaGo's search."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tengen.agents.agent import NO_LIMIT, check_can_choose
from tengen.knowledge.go import is_go
from tengen.knowledge.go_patterns import OpenEyes, PatternPolicy, Patterns
from tengen.knowledge.go_planes import encode_states
from tengen.nets.policy9 import PolicyNet, ValueNet
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game, Position
from tengen.search.alphago import Judge, TwoNets
from tengen.search.evaluators import Evaluator
from tengen.search.limits import Clock, Decision, Limit
from tengen.search.rollouts import Even, NetRollouts, QuickRollouts, Rollouts

ALPHAGO_POLICY, ALPHAGO_VALUE = "go9-policy", "go9-value"  # the nets that we ship
ROLLOUTS = ("fast", "policy", "uniform")
QUICK_REPEATS = 8  # quick games cost next to nothing beside two nets


class PolicyAgent:
    """Asks once and does not search, so that no limit matters. At a temperature of 0 it plays its first choice.

    Above 0 it draws, with chances in proportion to exp(logit / temperature).
    """

    def __init__(self, name: str, game: Game, evaluator: Evaluator, temperature: float = 0.0, seed: int = 1):
        self.name, self.game, self.evaluator, self.temperature = name, game, evaluator, temperature
        self.random = np.random.default_rng(seed)

    def choose(self, position: Position, limit: Limit = NO_LIMIT) -> Decision:
        check_can_choose(self, position, limit)
        clock, legal = Clock(limit), position.legal_actions
        logits, values = self.evaluator(position.encode().reshape(1, -1, self.game.cells))
        preferences = logits[0, legal].astype(np.float64)
        if self.temperature:
            action = legal[self.random.choice(len(legal), p=softmax(preferences, self.temperature))]
        else:
            action = legal[int(preferences.argmax())]
        policy = dict(zip(legal, softmax(preferences).tolist(), strict=True))
        return Decision(action, float(values[0]), policy, (action,), nodes=1, depth=1, seconds=clock.seconds)


def softmax(logits: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Chances in proportion to exp(logit / temperature), however small that is: then the highest share them."""
    with np.errstate(over="ignore"):  # far below the highest, minus infinity is as good as any number
        weights = np.exp((logits - logits.max()) / temperature)
    return weights / weights.sum()


Ask = Callable[[np.ndarray], np.ndarray]


def judge_of(game: Game, policy: str, value: str) -> tuple[Judge, Ask | None]:
    """Who judges leaves, by the names of two nets (or `patterns`, `uniform`; `none`); and the policy net alone."""
    if not is_go(game):
        raise BadParameter(f"alphago plays Go, not {game.name}")
    show = partial(encode_states, game)
    show(game.start().states)  # compiling is no part of anybody's time to think
    net = None if policy in ("uniform", "patterns") else load_half(PolicyNet, policy, game)
    worth = None if value == "none" else load_half(ValueNet, value, game)
    if net is None:
        likely: Ask = PatternPolicy(game, Patterns.fitted()) if policy == "patterns" else partial(no_preference, game)
        return TwoNets(likely, None if worth is None else lambda states: worth(show(states))), None
    return TwoNets(net, worth, show), lambda states: net(show(states))


def no_preference(game: Game, states: np.ndarray) -> np.ndarray:
    return np.zeros((len(states), game.actions), np.float32)


def load_half(kind: Any, name: str, game: Game) -> Any:
    """A policy or a value net."""
    net = kind(name)
    net.check_for(game)
    return net


def rollouts_of(game: Game, kind: str, policy: Ask | None, repeats: int) -> Rollouts:
    """Who plays games to their end, and how many from each leaf (0: as many as are usual)."""
    if kind == "policy":
        if policy is None:
            raise BadParameter("rollouts=policy needs a policy net: give policy=PATH, or rollouts=fast")
        return NetRollouts(game, policy, OpenEyes(), repeats or 1)
    return QuickRollouts(game, Patterns.fitted() if kind == "fast" else Even(), repeats or QUICK_REPEATS)
