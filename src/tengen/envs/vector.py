"""Many games side by side in NumPy arrays, for training code of your own."""

from __future__ import annotations

from typing import Any

import numpy as np

from tengen.envs.rows import (
    TimeStep,
    check_actions,
    draw_action,
    game_of,
    is_legal,
    longest_of,
    new_game_rows,
    refusal,
    reset_row,
    seeds_of,
    step_row,
    time_step,
)
from tengen.rules.game import Game
from tengen.rules.kernels import entry


@entry
def reset_rows(game, rows):
    """All rows begin a game."""
    for i in range(len(rows.states)):
        reset_row(game, rows, i)


@entry
def step_rows(game, rows, actions, longest):
    """Each row plays its action [rows]; returns −1, or the first row whose action is illegal: then none has played."""
    for i in range(len(rows.states)):
        if not is_legal(rows, i, actions[i]):
            return i
    for i in range(len(rows.states)):
        step_row(game, rows, i, actions[i], longest)
    return -1


@entry
def draw_actions(game, rows, actions):
    """Writes a random legal action of each row into `actions` [rows]."""
    for i in range(len(rows.states)):
        actions[i] = draw_action(rows, i)


class VectorEnv:
    """`count` games side by side, each at its own ply; where one stops, the next one begins in the same step.

    The game is a `Game` or its spec. Without `longest`, games are broken off after 100 plies and four for each cell.
    """

    def __init__(self, game: Game | str, count: int, seed: int = 1, longest: int | None = None):
        self.game = game_of(game)
        self.count, self.longest = count, longest_of(self.game, longest)
        self.rows = new_game_rows(self.game, count, seed)
        self._shown = time_step(self.game, self.rows._asdict())
        self._drawn = np.zeros(count, np.int64)
        self.reset()

    def reset(self, seed: int | None = None) -> TimeStep:
        """All games begin anew; random actions begin anew if there is a seed, else they go on."""
        if seed is not None:
            self.rows.seeds[:] = seeds_of(seed, self.count)
        reset_rows(self.game.parameters, self.rows)
        return self._shown

    def step(self, actions: Any) -> TimeStep:
        """Plays an action in each game: integers [count]. If one of them is illegal, none is played, and it is named.

        Where a game has stopped, `ended` or `truncated` says so, `rewards`, `plies`, `last_planes` and `last_to_play`
        are those of its end, and `planes`, `masks` and `to_play` already those of the next game.
        """
        chosen = np.asarray(actions)
        check_actions(chosen, self.count)
        chosen = np.ascontiguousarray(chosen, np.int64)
        row = step_rows(self.game.parameters, self.rows, chosen, self.longest)
        if row >= 0:
            possible = self.rows.actions[row, : self.rows.counts[row]].tolist()
            raise refusal(self.game, row, int(chosen[row]), possible, int(self.rows.done[row]))
        return self._shown

    def random_actions(self) -> np.ndarray:
        """A legal action of each game [count], all with the same chance; the next call overwrites them."""
        draw_actions(self.game.parameters, self.rows, self._drawn)
        return self._drawn
