"""The replay: the newest games, kept as moves. A batch is made by playing moves again, under a random symmetry."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tengen.learn.selfplay import Games
from tengen.rules.contract import DRAW, encode, play, start
from tengen.rules.game import Game
from tengen.rules.kernels import entry


@entry
def make_batch(game, states, scratch, moves, begins, results, chosen, turns, cells, planes, values):
    """Writes the planes and the values of chosen positions, each turned by its symmetry.

    `begins` [positions] is where each position's game begins in `moves`, `results` [positions] how it ended, `turns`
    [batch, cells] where the symmetry sends each cell; `scratch` [planes, cells]. A value is for the player to move.
    """
    for b in range(len(chosen)):
        states[0] = states[1]
        start(game, states[0])
        for index in range(begins[chosen[b]], chosen[b]):
            play(game, states[0], moves[index])
        encode(game, states[0], scratch)
        for plane in range(planes.shape[1]):
            for cell in range(cells):
                planes[b, plane, turns[b, cell]] = scratch[plane, cell]
        result = results[chosen[b]]
        values[b] = 0 if result == DRAW else 1 if result == states[0].to_play + 1 else -1


class Samples(NamedTuple):
    """What a step of training learns from."""

    planes: np.ndarray  # [batch, planes, cells]
    policies: np.ndarray  # [batch, actions]
    values: np.ndarray  # [batch], for the player to move


class Replay:
    """Games of the newest generations, up to a number of positions."""

    def __init__(self, game: Game):
        self.game = game
        self.generations: dict[int, Games] = {}
        self._joined: Games | None = None

    def __len__(self) -> int:
        """Positions."""
        return sum(len(games.moves) for games in self.generations.values())

    def add(self, generation: int, games: Games, window: int) -> None:
        """Adds a generation's games, and forgets the oldest generations that the window does not need."""
        self.generations[generation] = games
        while len(self) - len(self.generations[oldest := min(self.generations)].moves) >= window:
            del self.generations[oldest]
        self._joined = None

    def _join(self) -> None:
        """Lays all games side by side, with what a batch asks of each position."""
        self._joined = Games.join(list(self.generations.values()))
        ends = np.cumsum(self._joined.lengths)
        self._begins = np.repeat(ends - self._joined.lengths, self._joined.lengths)
        self._results = np.repeat(self._joined.results, self._joined.lengths)
        self._useful = np.flatnonzero(self._joined.policies.any(axis=1))

    def sample(self, count: int, random: np.random.Generator) -> Samples:
        """Positions drawn at random, each with the policy that its search came to and how its game ended."""
        if self._joined is None:
            self._join()
        assert self._joined is not None
        game, games = self.game, self._joined
        chosen = random.choice(self._useful, count)
        turns = random.integers(len(game.symmetries), size=count)
        planes = np.zeros((count, len(game.planes), game.cells), np.float32)
        values, policies = np.zeros(count, np.float32), np.zeros((count, game.actions), np.float32)
        np.put_along_axis(policies, game.action_symmetries[turns], games.policies[chosen].astype(np.float32), 1)
        make_batch(
            game.parameters,
            game.new_states(2),
            np.zeros((len(game.planes), game.cells), np.float32),
            games.moves,
            self._begins,
            self._results,
            chosen,
            game.symmetries[turns],
            game.cells,
            planes,
            values,
        )
        return Samples(planes, policies, values)
