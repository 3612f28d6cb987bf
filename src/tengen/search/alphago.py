"""AlphaGo's search: PUCT whose leaves are judged twice, by a network and by games played to their end.

As in the papers, an edge has the visits N, the results W of rollouts and the values V that the network gave, and
Q = (λW + (1 − λ)V) / N. Since λ stays what it is, our trees keep the mixture: λ of a leaf's mean result and 1 − λ of
its value are backed up as one number, and all else is PUCT (tree.py).

Leaves wait in batches while every edge on their paths counts one loss more; threads share a batch, each asking the
network about some leaves and playing their games. What a leaf comes to depends on its number, not on the thread.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from tengen.rules.contract import FIRST
from tengen.rules.game import Game, Position
from tengen.search.limits import Clock, Decision, Limit
from tengen.search.puct import DEFAULT_SIMULATIONS, FOREVER, Batch, Puct
from tengen.search.rollouts import Rollouts

HOLD = 0.02  # seconds that a batch should take at most, where time is limited


class Judge(Protocol):
    """Answers about states, each for the player to move there: logits [states, actions], values [states] in [−1, 1]."""

    def __call__(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...


class TwoNets:
    """A judge made of a policy net and a value net; without the latter every position is even."""

    def __init__(
        self,
        policy: Callable[[np.ndarray], np.ndarray],
        value: Callable[[np.ndarray], np.ndarray] | None = None,
        show: Callable[[np.ndarray], np.ndarray] = lambda states: states,
    ):
        """Both nets get the planes that `show` makes of states."""
        self.policy, self.value, self.show = policy, value, show

    def __call__(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        shown = self.show(states)
        values = np.zeros(len(states), np.float32) if self.value is None else self.value(shown)
        return self.policy(shown), values


class AlphaGo(Puct):
    """A search that keeps its tree between moves. Its simulations are called playouts, as UCT's are.

    `rollouts`, from Puct, is λ; at 0 no game is played, at 1 the judge's values are not looked at.
    """

    def __init__(self, game: Game, judge: Judge, player: Rollouts | None = None, threads: int = 1, **settings: Any):
        """`settings` are Puct's; the constants c = 4 and λ = ½ are those of the paper on 9×9 Go.

        Without a player no games are played, and λ is 0.
        """
        self.judge, self.player, self.threads = judge, player, threads
        settings = {"exploration": 4.0, "rollouts": 0.5, **settings}
        if player is None:
            settings["rollouts"] = 0.0
        self.number = 0  # of leaves so far: each plays by a random sequence of its own, see `leaf_number`
        self.pool: Executor | None = None
        self.leaf_seconds = 0.0  # what a leaf took lately
        super().__init__(game, self._judge_first, **settings)

    def _judge_first(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The evaluator that Puct has for a root: judges the first leaf, whatever the planes are."""
        return self.judge(self.work.leaves[: len(planes)])

    def move_to(self, position: Position) -> None:
        self.work.leaves[0] = position.states[0]
        super().move_to(position)

    def search(self, position: Position, limit: Limit) -> Decision:
        """Searches a position that is not over. A tree that is full goes on without growing.

        Games under way when the time is over are given up, and their simulations taken back.
        """
        clock = Clock(limit)
        most = limit.count or (FOREVER if limit.time is not None else DEFAULT_SIMULATIONS)
        with self._threads():
            self.move_to(position)
            done = 0
            while self.has_more(done, most, limit, clock):
                done += self.play_out(most - done, clock)
        return self.decide(done, clock)

    @contextlib.contextmanager
    def _threads(self) -> Iterator[None]:
        """Keeps a pool of threads during a search, unless one thread is enough."""
        if self.threads == 1 or self.batch == 1:
            yield
            return
        with ThreadPoolExecutor(self.threads) as self.pool:
            yield
        self.pool = None

    def play_out(self, most: int, clock: Clock | None = None) -> int:
        """Makes one batch of at most `most` simulations; returns how many were completed."""
        assert self.position is not None
        if clock is not None and clock.limit is not None and self.leaf_seconds > 0:
            most = min(most, max(1, int(min(clock.left, max(HOLD, 0.1 * clock.limit)) / self.leaf_seconds)))
        waiting, finished = self.select(most, encodes=False)
        if waiting == 0:
            return finished
        began = Clock(Limit())
        logits, values = self._evaluate(self.work, waiting, clock)
        self.leaf_seconds = began.seconds / waiting
        return finished + self.backup(waiting, logits, values, rollouts=0.0)

    def _evaluate(self, batch: Batch, waiting: int, clock: Clock | None) -> tuple[np.ndarray, np.ndarray]:
        """Logits [waiting, actions] of the leaves that wait, and their mixed values [waiting]."""
        shares = [part for part in np.array_split(np.arange(waiting), self.threads if self.pool else 1) if len(part)]
        first, self.number = self.number, self.number + waiting

        def answer(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return self.assess(batch.leaves[part[0] : part[-1] + 1], first + int(part[0]), clock)

        answers = list(self.pool.map(answer, shares) if self.pool else map(answer, shares))
        logits, values = zip(*answers, strict=True)
        return np.concatenate(logits), np.concatenate(values)

    def assess(self, leaves: np.ndarray, number: int, clock: Clock | None) -> tuple[np.ndarray, np.ndarray]:
        """Logits of leaves, and their values for the player to move: (1 − λ)v + λz."""
        logits, values = self.judge(leaves)
        if self.rollouts == 0 or self.player is None:
            return logits, values
        results = self.player(leaves, leaf_number(self.seed, number), clock)
        results = np.where(leaves["to_play"] == FIRST - 1, results, -results)
        return logits, ((1 - self.rollouts) * values + self.rollouts * results).astype(np.float32)


def leaf_number(seed: int, leaf: int) -> int:
    """The 64-bit number that seeds the rollouts of a leaf: no two seeds up to 2**63 begin at the same number.

    Seeds below 2**24 have 2**40 numbers each; the upper bits of larger ones are spread over all bits.
    """
    upper, lower = divmod(seed, 2**24)
    return (lower * 2**40 + upper * 0x9E3779B97F4A7C15 + leaf) % 2**64
