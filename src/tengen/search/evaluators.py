"""What a learned search asks: how likely is each action, how good is the position? Many positions at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import blake2b
from threading import Lock
from typing import Protocol, TypeVar

import numpy as np

from tengen.rules.game import Game

FEWEST = 2  # states of a batch that are worth a thread
Answer = TypeVar("Answer")


class Evaluator(Protocol):
    """Answers in batches, each row for the player to move there.

    `planes` [states, planes, cells] are the game's own; the answers are logits [states, actions], illegal ones too, and
    values [states] in [−1, 1], both float32.
    """

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...


def priors_of(logits: np.ndarray) -> np.ndarray:
    """The priors [states, actions] of logits, up to a factor for each state: the likeliest action's is 1."""
    return np.exp(logits - logits.max(axis=1, keepdims=True))


class Prover(Protocol):
    """Says of some of `states` that the player to move wins: booleans [states]. What it says is so.

    It may look `effort` times as long as it does at a leaf.
    """

    def __call__(self, states: np.ndarray, effort: int = 1) -> np.ndarray: ...


class Uniform:
    """Knows nothing: every action is as likely as the next, every position even."""

    def __init__(self, game: Game):
        self.actions = game.actions

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((len(planes), self.actions), np.float32), np.zeros(len(planes), np.float32)


class Cached:
    """Remembers the last `size` answers of an evaluator that always answers the same, and asks only what is new.

    Threads may share it: what two ask at the same time may be asked twice.
    """

    def __init__(self, evaluator: Evaluator, size: int):
        self.evaluator, self.size = evaluator, size
        self.answers: dict[bytes, tuple[np.ndarray, np.float32]] = {}  # the oldest first
        self.hits = self.asked = 0
        self.lock = Lock()

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        keys = [blake2b(row.tobytes(), digest_size=16).digest() for row in planes]
        with self.lock:
            known = {key: self.answers[key] for key in keys if key in self.answers}
        new = {key: row for row, key in enumerate(keys) if key not in known}
        if new:
            logits, values = self.evaluator(planes[list(new.values())])
            known |= {key: (logits[i].copy(), values[i]) for i, key in enumerate(new)}
        with self.lock:
            self._remember({key: known[key] for key in new})
            self.asked += len(keys)
            self.hits += len(keys) - len(new)
        return np.stack([known[key][0] for key in keys]), np.array([known[key][1] for key in keys], np.float32)

    def _remember(self, answers: dict[bytes, tuple[np.ndarray, np.float32]]) -> None:
        self.answers |= answers
        while len(self.answers) > self.size:
            del self.answers[next(iter(self.answers))]


def in_threads(answer: Callable[[int, slice], Answer], states: int, threads: int) -> list[Answer]:
    """`answer(thread, part)` for consecutive parts of a batch of `states`, each on a thread; the answers in order."""
    parts = max(1, min(threads, states // FEWEST))
    borders = [states * i // parts for i in range(parts + 1)]
    slices = [slice(*borders[i : i + 2]) for i in range(parts)]
    waiting = [_pool(threads).submit(answer, i, slices[i]) for i in range(1, parts)]
    return [answer(0, slices[0]), *(future.result() for future in waiting)]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads beside the one that asks; those that wait cost nothing."""
    return ThreadPoolExecutor(threads - 1, "tengen-search")


class Shared:
    """Shares each batch out to threads. The answers are those that the evaluator gives, whichever thread asks."""

    def __init__(self, evaluator: Evaluator, threads: int):
        self.evaluator, self.threads = evaluator, threads

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        answers = in_threads(lambda _, part: self.evaluator(planes[part]), len(planes), self.threads)
        logits, values = zip(*answers, strict=True)
        return np.concatenate(logits), np.concatenate(values)


class SharedProver:
    """Shares each batch out to provers, each with a thread and a memory of its own."""

    def __init__(self, provers: Sequence[Prover]):
        self.provers = provers

    def __call__(self, states: np.ndarray, effort: int = 1) -> np.ndarray:
        def prove(thread: int, part: slice) -> np.ndarray:
            return self.provers[thread](states[part], effort)

        return np.concatenate(in_threads(prove, len(states), len(self.provers)))


class Tempered:
    """Makes an evaluator's policy less sure of itself, or more so: exp(logit / temperature) instead of exp(logit)."""

    def __init__(self, evaluator: Evaluator, temperature: float):
        self.evaluator, self.factor = evaluator, np.float32(1 / temperature)

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits, values = self.evaluator(planes)
        return logits * self.factor, values


class RandomSymmetry:
    """Shows each state under a symmetry of the board, drawn anew each time, and turns the answer back."""

    def __init__(self, evaluator: Evaluator, game: Game, seed: int | Sequence[int] = 1):
        self.evaluator, self.random = evaluator, np.random.default_rng(seed)
        self.sources = np.argsort(game.symmetries, axis=1)  # [symmetries, cells]: which cell comes to stand on each
        self.actions = game.action_symmetries  # [symmetries, actions]: where each action goes

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        drawn = self.random.integers(len(self.sources), size=len(planes))
        turned = np.take_along_axis(planes, self.sources[drawn][:, np.newaxis], axis=2)
        logits, values = self.evaluator(turned)
        return np.take_along_axis(logits, self.actions[drawn], axis=1), values
