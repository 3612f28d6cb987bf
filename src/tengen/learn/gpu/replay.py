"""A replay whose games lie on the GPU, and whose batches are made there."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import cuda

from tengen.learn.gpu.arrays import launch, shared, to_gpu
from tengen.learn.gpu.kernels import set_up_rows, settle_rows
from tengen.learn.replay import Replay
from tengen.learn.selfplay import Games
from tengen.rules.contract import DRAW
from tengen.rules.cuda import grid
from tengen.rules.game import Game
from tengen.search.lockstep import as_words


class GpuReplay(Replay):
    """A replay whose games lie on the GPU, and whose batches are made there."""

    def __init__(self, game: Game, territory: bool = False):
        super().__init__(game, territory)
        self._held: dict[int, dict[str, torch.Tensor]] = {}
        self.blank = cuda.to_device(as_words(game.new_states(1))[0])
        self.states = cuda.device_array(1, game.parameters.record())
        self.cells, self.actions = (
            torch.as_tensor(turns).cuda() for turns in (game.symmetries, game.action_symmetries)
        )

    def _join(self) -> None:
        """Brings new generations to the GPU, and lays all of them side by side there."""
        self._held = {number: self._held.get(number) or self._hold(games) for number, games in self.generations.items()}
        parts = self._held.values()
        columns = {name: [part[name] for part in parts] for name in next(iter(parts))}
        offset, games = 0, 0
        for place, part in enumerate(parts):
            for name in ("begins", "useful"):
                columns[name][place] = part[name] + offset
            columns["numbers"][place] = part["numbers"] + games
            offset, games = offset + len(part["moves"]), games + len(part["owners"])
        self._joined = Games.none(self.game.actions)
        self.columns = {name: torch.cat(column) for name, column in columns.items()}

    def _hold(self, games: Games) -> dict[str, torch.Tensor]:
        """One generation's games on the GPU, with what a batch asks of each position."""
        ends, count = np.cumsum(games.lengths, dtype=np.int64), len(games.lengths)
        own = {
            "moves": to_gpu(games.moves),
            "policies": to_gpu(games.policies),
            "begins": to_gpu(np.repeat(ends - games.lengths, games.lengths)),
            "results": to_gpu(np.repeat(games.results, games.lengths)),
            "useful": to_gpu(np.flatnonzero(games.policies.any(axis=1))),
            "numbers": to_gpu(np.repeat(np.arange(count), games.lengths)),
            "owners": torch.zeros((count, self.game.cells), dtype=torch.int8, device="cuda"),
        }
        if self.has_territory:
            states = self._states(count)
            sources = shared(own["moves"], to_gpu(ends - games.lengths), to_gpu(ends), own["owners"])
            launch(settle_rows, grid(count), self.game.parameters, *states, *sources)
        return own

    def _states(self, count: int) -> tuple[Any, Any, Any]:
        """States to play on, the same as words, and what a blank one is."""
        if len(self.states) < count:
            self.states = cuda.device_array(count, self.game.parameters.record())
        states = self.states[:count]
        return states, as_words(states), self.blank

    def tensors(self, count: int, random: torch.Generator) -> tuple[torch.Tensor, ...]:
        """Planes [batch, planes, cells], policies [batch, actions], values [batch] and territories [batch, cells], as
        `sample` has them."""
        if self._joined is None:
            self._join()
        game, held = self.game, self.columns
        chosen = held["useful"][torch.randint(len(held["useful"]), (count,), device="cuda", generator=random)]
        planes = torch.zeros((count, len(game.planes), game.cells), dtype=torch.uint8, device="cuda")
        movers = torch.zeros(count, dtype=torch.int8, device="cuda")
        sources = shared(held["moves"], held["begins"][chosen], chosen, planes, movers)
        launch(set_up_rows, grid(count), game.parameters, *self._states(count), *sources)
        results = held["results"][chosen]
        values = torch.where(results == movers + 1, 1.0, torch.where(results == DRAW, 0.0, -1.0))
        turns = torch.randint(len(self.cells), (count,), device="cuda", generator=random)
        cells = self.cells[turns][:, None, :].expand_as(planes)
        policies = held["policies"][chosen].float()
        turned = torch.zeros_like(policies).scatter_(1, self.actions[turns], policies)
        owners = held["owners"][held["numbers"][chosen]]
        lands = torch.where(owners == 0, 0.0, torch.where(owners == movers[:, None] + 1, 1.0, -1.0))
        territories = torch.zeros_like(lands).scatter_(1, self.cells[turns], lands)
        return torch.zeros_like(planes).scatter_(2, cells, planes).float(), turned, values, territories
