"""The replay: the newest games, kept as moves. A batch is made by playing moves again, under a random symmetry."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tengen.learn.selfplay import Games
from tengen.rules.contract import DRAW, encode, play, start, territory
from tengen.rules.game import Game
from tengen.rules.kernels import entry


@entry
def make_batch(game, states, scratch, moves, begins, results, owners, chosen, turns, cells, planes, values, lands):
    """Writes the planes, the values and the territories (`lands`) of chosen positions, each turned by its symmetry.

    `begins` [positions] is where each position's game begins in `moves`, `results` [positions] how it ended, `owners`
    [batch, cells] who owned what then, `turns` [batch, cells] where the symmetry sends each cell; `scratch` [planes,
    cells]. A value and a territory are for the player to move.
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
        for cell in range(cells):
            owner = owners[b, cell]
            lands[b, turns[b, cell]] = 0 if owner == 0 else 1 if owner == states[0].to_play + 1 else -1
        result = results[chosen[b]]
        values[b] = 0 if result == DRAW else 1 if result == states[0].to_play + 1 else -1


@entry
def settle(game, states, moves, lengths, owners):
    """Plays each game again, to its end, and writes who owns each cell then: owners [games, cells]."""
    index = 0
    for number in range(len(lengths)):
        states[0] = states[1]
        start(game, states[0])
        for _ in range(lengths[number]):
            play(game, states[0], moves[index])
            index += 1
        territory(game, states[0], owners[number])


class Samples(NamedTuple):
    """What a step of training learns from."""

    planes: np.ndarray  # [batch, planes, cells]
    policies: np.ndarray  # [batch, actions]
    values: np.ndarray  # [batch], for the player to move
    territories: np.ndarray  # [batch, cells], likewise: 1 for own cells, −1 for the opponent's


class Replay:
    """Games of the newest generations, up to a number of positions."""

    def __init__(self, game: Game, territory: bool = False):
        self.game, self.has_territory = game, territory  # without it all territories are zero
        self.generations: dict[int, Games] = {}
        self._joined: Games | None = None
        self._owners: dict[int, np.ndarray] = {}

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
        self._owners = {
            number: self._owners[number] if number in self._owners else self._settled(games)
            for number, games in self.generations.items()
        }
        self._final = np.concatenate(list(self._owners.values()))
        self._numbers = np.repeat(np.arange(len(self._joined.lengths)), self._joined.lengths)

    def _settled(self, games: Games) -> np.ndarray:
        """Who owned each cell at the end of each game."""
        owners = np.zeros((len(games.lengths), self.game.cells), np.int8)
        if self.has_territory:
            settle(self.game.parameters, self.game.new_states(2), games.moves, games.lengths, owners)
        return owners

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
        territories = np.zeros((count, game.cells), np.float32)
        np.put_along_axis(policies, game.action_symmetries[turns], games.policies[chosen].astype(np.float32), 1)
        make_batch(
            game.parameters,
            game.new_states(2),
            np.zeros((len(game.planes), game.cells), np.float32),
            games.moves,
            self._begins,
            self._results,
            self._final[self._numbers[chosen]],
            chosen,
            game.symmetries[turns],
            game.cells,
            planes,
            values,
            territories,
        )
        return Samples(planes, policies, values, territories)
