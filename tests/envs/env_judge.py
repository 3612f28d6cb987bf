"""python env_judge.py GAME STEPS OUT: steps of a CudaVectorEnv, on a GPU or in Numba's simulator, written to OUT.

Beside it stands the judge of all environments: positions that are played one by one, as slow and as obvious as can be.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from tengen.envs import TimeStep
from tengen.rules.errors import TengenError
from tengen.rules.game import Game, Position

COUNT, LONGEST = 11, 17


class Judge:
    """What a vector environment must show, by one position a row."""

    def __init__(self, game: Game, count: int, longest: int):
        self.game, self.longest = game, longest
        self.positions = [game.start() for _ in range(count)]

    def step(self, actions: Any) -> TimeStep:
        after = [position.play(int(action)) for position, action in zip(self.positions, actions, strict=True)]
        ended = [position.outcome is not None for position in after]
        truncated = [position.outcome is None and position.ply == self.longest for position in after]
        stops = np.logical_or(ended, truncated)
        self.positions = [self.game.start() if stop else position for position, stop in zip(after, stops, strict=True)]
        return TimeStep(
            planes=np.array([position.encode() for position in self.positions]),
            masks=np.array([mask_of(position) for position in self.positions]),
            to_play=np.array([position.to_play for position in self.positions]),
            rewards=np.array([rewards_of(position) for position in after]),
            ended=np.array(ended),
            truncated=np.array(truncated),
            plies=np.array([position.ply for position in after]),
            last_planes=np.array([position.encode() for position in after])[stops],
            last_to_play=np.array([position.to_play for position in after])[stops],
        )


def mask_of(position: Position) -> np.ndarray:
    return np.isin(np.arange(position.game.actions), position.legal_actions)


def rewards_of(position: Position) -> list[int]:
    return [0, 0] if position.outcome is None else [position.outcome.value_for(player) for player in (0, 1)]


def shown(step: TimeStep) -> TimeStep:
    """A copy of a step in NumPy's arrays, with the last positions of those games alone that have stopped."""
    here = TimeStep(*(array.cpu().numpy() if hasattr(array, "cpu") else array.copy() for array in step))
    stops = here.ended | here.truncated
    return here._replace(last_planes=here.last_planes[stops], last_to_play=here.last_to_play[stops])


def check_same(one: TimeStep, other: TimeStep) -> None:
    for name, array, expected in zip(TimeStep._fields, one, other, strict=True):
        np.testing.assert_array_equal(array, expected, err_msg=name)


def steps_of(env: Any, count: int) -> Iterator[tuple[np.ndarray, TimeStep]]:
    """Random actions, and what they lead to."""
    for _ in range(count):
        actions = env.random_actions()
        yield actions.cpu().numpy() if hasattr(actions, "cpu") else actions.copy(), shown(env.step(actions))


def refused_by(env: Any) -> list[str]:
    """What is said of the last row's action, which does not exist, and the rows' plies before and after that."""
    step = shown(env.reset())
    told = []
    for wrong in (True, False, False):
        actions = step.masks.argmax(1)
        if wrong:
            actions[-1] = env.game.actions
        step = shown(env.step(actions))
        told.append(str(step.plies.tolist()))
        try:
            if len(told) == 2:
                env.check()
        except TengenError as reason:
            told.append(str(reason))
    env.check()  # nothing has happened since
    return told


def by_cuda(spec: str, count: int) -> dict[str, np.ndarray]:
    """All that is seen of some steps on a GPU, by step and name; and what is said of an illegal action."""
    from tengen.envs import CudaVectorEnv

    env, arrays = CudaVectorEnv(spec, COUNT, seed=5, longest=LONGEST), {}
    for k, (actions, step) in enumerate(steps_of(env, count)):
        arrays |= {f"{k} {name}": array for name, array in {"actions": actions, **step._asdict()}.items()}
    return {**arrays, "refused": np.array(refused_by(env))}


if __name__ == "__main__":
    spec, steps, out = sys.argv[1:]
    np.savez(out, **by_cuda(spec, int(steps)))
