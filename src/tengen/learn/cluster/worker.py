"""Self-play on one core or one GPU of a cluster: a worker plays a slice with the weights that it is handed.

Between slices games under way stay with the worker, and go on with newer weights, as those of a local run do.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import ray

from tengen.arena.cluster import check_version
from tengen.games import load_game
from tengen.learn.selfplay import Games, Group
from tengen.learn.settings import ON_CUDA, SelfplaySettings, Settings
from tengen.nets.runtime import Net
from tengen.search.evaluators import RandomSymmetry

NetParts = dict[str, list[Any]]  # by device, a reference in a list: Ray would fetch a bare one for every slice


class Weights(NamedTuple):
    """A net that plays, by reference: `cpu` is an ONNX file, `cuda` are the arrays of torch's model."""

    generation: int
    step: int
    parts: NetParts


class Post(NamedTuple):
    """The settings of a worker."""

    settings: Settings
    device: str  # it plays on: cpu or cuda
    learns_on: str  # the device that the settings are meant for
    seed: int  # no other worker's
    version: str  # of the driver's Tengen
    folder: str  # in which the driver runs

    @property
    def rows(self) -> int:
        """Games side by side: as the settings say if they are for this device, else as is usual there."""
        if self.device == self.learns_on:
            return self.settings.selfplay.games
        usual: int = ON_CUDA["selfplay"]["games"] if self.device == "cuda" else SelfplaySettings().games
        return usual


class Slice(NamedTuple):
    """Games that a worker has ended, once."""

    worker: str
    number: int  # of the worker's slices
    generation: int  # of the weights
    step: int
    games: Games
    evaluations: int
    seconds: float

    @property
    def positions(self) -> int:
        return len(self.games.moves)

    @property
    def size(self) -> int:
        """Bytes of its arrays: what moves through the object store."""
        return sum(array.nbytes for array in self.games)


class SelfPlayWorker:
    """Plays slices, one after the other. Ray makes an actor of it; nothing here knows that but `fetch`."""

    def __init__(self, name: str, post: Post):
        check_version(post.version, post.folder)
        self.name, self.post, self.step = name, post, -1
        self.game = load_game(post.settings.run.game)
        self.player: Any = (CudaPlayer if post.device == "cuda" else CpuPlayer)(self.game, post)

    def play(self, number: int, weights: Weights, positions: int) -> Slice:
        """Plays until games with `positions` positions have ended; `number` counts the worker's slices."""
        began = time.monotonic()
        if weights.step != self.step:
            self.player.load(self.fetch(weights.parts[self.post.device]))
            self.step = weights.step
        games, evaluations = self.player.play(positions, number)
        seconds = time.monotonic() - began
        return Slice(self.name, number, weights.generation, weights.step, games, evaluations, seconds)

    def fetch(self, part: list[Any]) -> Any:
        return ray.get(part[0])


class CpuPlayer:
    """A group of games on one core, with a net in ONNX Runtime: torch is not needed."""

    def __init__(self, game: Any, post: Post):
        self.game, self.post = game, post
        settings = post.settings
        common = settings.plan(), post.rows, settings.longest(game), post.seed
        self.group = Group(game, *common, settings.opening(game))
        self.net: Net | None = None

    def load(self, model: bytes) -> None:
        self.net = Net(model)
        self.net.metadata.check_for(self.game, "the driver's net")

    def play(self, positions: int, number: int) -> tuple[Games, int]:
        assert self.net is not None
        before, evaluator = self.group.evaluations, self.net
        if self.post.settings.selfplay.symmetry:
            evaluator = RandomSymmetry(self.net, self.game, [self.post.seed, number])  # type: ignore[assignment]
        games = self.group.play(evaluator, positions, lambda: False)
        return games, self.group.evaluations - before


class CudaPlayer:
    """A group of games on one GPU."""

    def __init__(self, game: Any, post: Post):
        import torch

        from tengen.learn.gpu.selfplay import GpuGroup
        from tengen.learn.trainer import new_model

        own, settings = post.settings.selfplay, post.settings
        self.model = new_model(game, settings).to("cuda", memory_format=torch.channels_last)
        common = settings.plan(), self.model, post.rows, settings.longest(game), post.seed
        self.group = GpuGroup(game, *common, settings.opening(game), own.symmetry)

    def load(self, arrays: dict[str, np.ndarray]) -> None:
        import torch

        self.model.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in arrays.items()})

    def play(self, positions: int, number: int) -> tuple[Games, int]:
        before = self.group.evaluations
        games = self.group.play(self.model, positions, lambda: False)
        return games, self.group.evaluations - before
