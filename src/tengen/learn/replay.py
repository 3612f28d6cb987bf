"""The replay: the newest games, kept as moves. A batch is made by playing moves again, under a random symmetry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tengen.learn.selfplay import Games
from tengen.learn.targets import NamedTarget, PlayedGames, Target
from tengen.rules.contract import DRAW, encode, legal, play, score, start, territory
from tengen.rules.game import Game
from tengen.rules.kernels import entry


@entry
def make_batch(game, states, scratch, moves, begins, results, chosen, turns, cells, planes, values, movers):
    """Writes the planes of chosen positions, each turned by its symmetry, their values, and who is to move.

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
        result, movers[b] = results[chosen[b]], states[0].to_play
        values[b] = 0 if result == DRAW else 1 if result == states[0].to_play + 1 else -1


@entry
def replay_to_end(game, states, moves, lengths, owners, scores):
    """Plays each game again, to its end, and writes who owns each cell then [games, cells], and its score [games]."""
    index = 0
    for number in range(len(lengths)):
        states[0] = states[1]
        start(game, states[0])
        for _ in range(lengths[number]):
            play(game, states[0], moves[index])
            index += 1
        territory(game, states[0], owners[number])
        scores[number] = score(game, states[0])


@entry
def spread(game, states, actions, moves, begins, chosen, kept, policies):
    """Writes the policies [batch, actions] of chosen positions from those `kept` [batch, legal actions] in order."""
    for b in range(len(chosen)):
        states[0] = states[1]
        start(game, states[0])
        for index in range(begins[chosen[b]], chosen[b]):
            play(game, states[0], moves[index])
        for k in range(legal(game, states[0], actions)):
            policies[b, actions[k]] = kept[b, k]


class SpreadPolicies:
    """Policies that are kept by legal actions, asked for as if they were [positions, actions]."""

    def __init__(self, game: Game, played: PlayedGames):
        self.game, self.played = game, played

    def __getitem__(self, chosen: np.ndarray) -> np.ndarray:
        played, policies = self.played, np.zeros((len(chosen), self.game.actions), np.float32)
        states, actions = self.game.new_states(2), np.empty(self.game.most_legal, np.int32)
        kept = played.policies[chosen].astype(np.float32)
        spread(self.game.parameters, states, actions, played.moves, played.begins, chosen, kept, policies)
        return policies


class Samples(NamedTuple):
    """What a step of training learns from."""

    planes: np.ndarray  # [batch, planes, cells]
    policies: np.ndarray  # [batch, actions]
    values: np.ndarray  # [batch], for the player to move
    targets: tuple[np.ndarray, ...]  # what each further target wants: [batch, …], as targets.py has them

    def split(self, count: int) -> list[Samples]:
        """The samples in `count` parts."""
        parts = [np.array_split(part, count) for part in (self.planes, self.policies, self.values, *self.targets)]
        shares = zip(*parts, strict=True)
        return [Samples(planes, policies, values, tuple(others)) for planes, policies, values, *others in shares]


class Replay:
    """Games of the newest generations, up to a number of positions."""

    def __init__(self, game: Game, targets: Sequence[NamedTarget] = ()):
        self.game, self.targets = game, [one.target for one in targets]
        self.needs_end = any(target.needs_end for target in self.targets)
        self.generations: dict[int, Games] = {}
        self.played: PlayedGames | None = None  # all of them, side by side, once they are asked for
        self._ends: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def __len__(self) -> int:
        """Positions."""
        return sum(len(games.moves) for games in self.generations.values())

    def add(self, generation: int, games: Games, window: int) -> None:
        """Adds a generation's games, and drops the oldest generations as long as `window` positions are left."""
        self.generations[generation] = games
        while len(self) - len(self.generations[oldest := min(self.generations)].moves) >= window:
            del self.generations[oldest]
        self.played = None

    def join(self) -> PlayedGames:
        """Lays all games side by side, with what a batch needs of each position."""
        games = Games.join(list(self.generations.values()))
        self._ends = {
            number: self._ends[number] if number in self._ends else self.ends_of(games)
            for number, games in self.generations.items()
        }
        owners, scores = (np.concatenate(parts) for parts in zip(*self._ends.values(), strict=True))
        self.useful: Any = np.flatnonzero(games.policies.any(axis=1))
        return with_all_actions(self.game, PlayedGames(games.moves, games.policies, *places_of(games), owners, scores))

    def ends_of(self, games: Games) -> tuple[np.ndarray, np.ndarray]:
        """The owners of cells at the games' ends [games, cells], and the scores [games]; zeros if not needed."""
        count = len(games.lengths)
        owners, scores = np.zeros((count, self.game.cells), np.int8), np.zeros(count, np.float32)
        if self.needs_end:
            replay_to_end(self.game.parameters, self.game.new_states(2), games.moves, games.lengths, owners, scores)
        return owners, scores

    def sample(self, count: int, random: np.random.Generator) -> Samples:
        """`count` positions drawn at random, each with the policy of its search, its value and its targets."""
        played = self.played = self.played or self.join()
        game, chosen = self.game, random.choice(self.useful, count)
        turns = random.integers(len(game.symmetries), size=count)
        planes, values, movers = positions_at(game, played, chosen, turns)
        policies = turned(played.policies[chosen], game.action_symmetries[turns])
        wanted = (self._wanted(target, played, chosen, turns, movers) for target in self.targets)
        return Samples(planes, policies, values, tuple(wanted))

    def _wanted(
        self, target: Target, played: PlayedGames, chosen: np.ndarray, turns: np.ndarray, movers: np.ndarray
    ) -> np.ndarray:
        """The numbers of a target for the positions `chosen`, under the same symmetries as their planes."""
        numbers = target.wanted(played, chosen, movers)
        if target.per == "position":
            return numbers.astype(np.float32)
        images = self.game.symmetries if target.per == "cells" else self.game.action_symmetries
        return turned(numbers, images[turns])


def with_all_actions(game: Game, played: PlayedGames) -> PlayedGames:
    """The games with policies over all actions, however they are kept."""
    if game.most_legal == game.actions:
        return played
    return played._replace(policies=SpreadPolicies(game, played))


def positions_at(
    game: Game, played: PlayedGames, chosen: np.ndarray, turns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Planes [batch, planes, cells], values and players to move [batch] of chosen positions, each under the symmetry
    with the number in `turns` [batch]."""
    planes = np.zeros((len(chosen), len(game.planes), game.cells), np.float32)
    values, movers = np.zeros(len(chosen), np.float32), np.zeros(len(chosen), np.int8)
    states, scratch = game.new_states(2), np.zeros(planes.shape[1:], np.float32)
    where = played.moves, played.begins, played.results, chosen, game.symmetries[turns]
    make_batch(game.parameters, states, scratch, *where, game.cells, planes, values, movers)
    return planes, values, movers


def turned(numbers: np.ndarray, images: np.ndarray) -> np.ndarray:
    """The `numbers` [batch, places] moved to the places `images` [batch, places]."""
    result = np.zeros(numbers.shape, np.float32)
    np.put_along_axis(result, images, numbers.astype(np.float32), 1)
    return result


def places_of(games: Games) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each position of `games`: where its game begins and ends, the game's result, and the game's number."""
    ends = np.cumsum(games.lengths, dtype=np.int64)
    columns = ends - games.lengths, ends, games.results, np.arange(len(ends))
    begins, ends, results, numbers = (np.repeat(column, games.lengths) for column in columns)
    return begins, ends, results, numbers
