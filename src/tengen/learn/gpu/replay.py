"""A replay whose games lie on the GPU, and whose batches are made there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from numba import cuda

from tengen.learn.gpu.arrays import launch, shared, to_gpu
from tengen.learn.gpu.kernels import end_rows, list_legal, set_up_rows
from tengen.learn.replay import Replay, places_of
from tengen.learn.selfplay import Games
from tengen.learn.targets import NamedTarget, PlayedGames, Target
from tengen.rules.contract import DRAW
from tengen.rules.cuda import grid
from tengen.rules.game import Game
from tengen.search.lockstep import as_words


class GpuReplay(Replay):
    """A `Replay` in the GPU's memory."""

    def __init__(self, game: Game, targets: Sequence[NamedTarget] = ()):
        super().__init__(game, targets)
        self._held: dict[int, PlayedGames] = {}
        self.blank = cuda.to_device(as_words(game.new_states(1))[0])
        self.states = cuda.device_array(1, game.parameters.record())
        self.cells, self.actions = (
            torch.as_tensor(turns).cuda() for turns in (game.symmetries, game.action_symmetries)
        )

    def join(self) -> PlayedGames:
        """Brings new generations to the GPU, and lays all of them side by side there."""
        self._held = {number: self._held.get(number) or self._hold(games) for number, games in self.generations.items()}
        parts, positions, games = list[PlayedGames](), 0, 0
        for part in self._held.values():
            begins, ends = part.begins + positions, part.ends + positions
            parts.append(part._replace(begins=begins, ends=ends, games=part.games + games))
            positions, games = positions + len(part.moves), games + len(part.scores)
        played = PlayedGames(*(torch.cat(columns) for columns in zip(*parts, strict=True)))
        self.useful: Any = torch.nonzero(played.policies.any(1)).squeeze(1)
        if self.game.most_legal == self.game.actions:
            return played
        return played._replace(policies=SpreadThere(self, played))

    def _hold(self, games: Games) -> PlayedGames:
        """One generation's games on the GPU, with what a batch asks of each position."""
        columns = [to_gpu(column) for column in (games.moves, games.policies, *places_of(games))]
        return PlayedGames(*columns, *self._ends_there(games, columns[0]))  # type: ignore[call-arg]

    def _ends_there(self, games: Games, moves: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Who owns each cell at the end of each game, and the scores: as `Replay.ends_of` has them."""
        count = len(games.lengths)
        owners = torch.zeros((count, self.game.cells), dtype=torch.int8, device="cuda")
        scores = torch.zeros(count, device="cuda")
        if self.needs_end:
            lengths = to_gpu(games.lengths).long()
            ends = lengths.cumsum(0)
            sources = shared(moves, ends - lengths, ends, owners, scores)
            launch(end_rows, grid(count), self.game.parameters, *self._states(count), *sources)
        return owners, scores

    def _states(self, count: int) -> tuple[Any, Any, Any]:
        """`count` states to play on, the same memory as words, and the words of a blank state."""
        if len(self.states) < count:
            self.states = cuda.device_array(count, self.game.parameters.record())
        states = self.states[:count]
        return states, as_words(states), self.blank

    def tensors(self, count: int, random: torch.Generator) -> tuple[torch.Tensor, ...]:
        """Planes, policies, values, and what each target wants: as `sample` has them."""
        played = self.played = self.played or self.join()
        game, chosen = self.game, self.useful[self._drawn(len(self.useful), count, random)]
        planes = torch.zeros((count, len(game.planes), game.cells), dtype=torch.uint8, device="cuda")
        movers = torch.zeros(count, dtype=torch.int8, device="cuda")
        sources = shared(played.moves, played.begins[chosen], chosen, planes, movers)
        launch(set_up_rows, grid(count), game.parameters, *self._states(count), *sources)
        results = played.results[chosen]
        values = torch.where(results == movers + 1, 1.0, torch.where(results == DRAW, 0.0, -1.0))
        turns = self._drawn(len(self.cells), count, random)
        policies = turned(played.policies[chosen], self.actions[turns])
        seen = torch.zeros_like(planes).scatter_(2, self.cells[turns][:, None, :].expand_as(planes), planes)
        wanted = (self._wanted_there(target, played, chosen, turns, movers) for target in self.targets)
        return seen.float(), policies, values, *wanted

    def _drawn(self, below: int, count: int, random: torch.Generator) -> torch.Tensor:
        return torch.randint(below, (count,), device="cuda", generator=random)

    def _wanted_there(
        self, target: Target, played: PlayedGames, chosen: torch.Tensor, turns: torch.Tensor, movers: torch.Tensor
    ) -> torch.Tensor:
        numbers = target.wanted(played, chosen, movers)
        if target.per == "position":
            return numbers.float()
        return turned(numbers, (self.cells if target.per == "cells" else self.actions)[turns])


class SpreadThere:
    """As `SpreadPolicies`, on the GPU."""

    def __init__(self, replay: GpuReplay, played: PlayedGames):
        self.replay, self.played = replay, played

    def __getitem__(self, chosen: torch.Tensor) -> torch.Tensor:
        played, game, count = self.played, self.replay.game, len(chosen)
        actions = torch.zeros((count, game.most_legal), dtype=torch.int32, device="cuda")
        sources = shared(played.moves, played.begins[chosen], chosen, actions)
        launch(list_legal, grid(count), game.parameters, *self.replay._states(count), *sources)
        policies = torch.zeros((count, game.actions), device="cuda")
        return policies.scatter_add_(1, actions.long(), played.policies[chosen].float())


def turned(numbers: torch.Tensor, images: torch.Tensor) -> torch.Tensor:
    """The `numbers` [batch, places] moved to the places `images` [batch, places]."""
    return torch.zeros_like(numbers, dtype=torch.float32).scatter_(1, images, numbers.float())
