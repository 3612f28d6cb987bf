"""Steps of gradient descent on a GPU: the loss of `Trainer`, in bfloat16 where that is safe, one CUDA graph a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from tengen.learn.gpu.replay import GpuReplay
from tengen.learn.settings import Settings
from tengen.learn.targets import size_of
from tengen.learn.trainer import Trainer, loss_of_weights, loss_terms
from tengen.nets.graph import WARM_UPS
from tengen.rules.game import Game

BATCHES = 8  # that are drawn in one go: launching what draws them takes longer than drawing


class GpuTrainer(Trainer):
    """A trainer that draws its batches on the GPU, and waits for nothing before the last step is under way."""

    def __init__(self, game: Game, settings: Settings):
        super().__init__(game, settings, device="cuda")
        batch = self.settings.batch
        self.rate = torch.zeros((), device="cuda")
        self.planes = torch.zeros((batch, len(game.planes), game.cells), device="cuda")
        self.policies = torch.zeros((batch, game.actions), device="cuda")
        self.values = torch.zeros(batch, device="cuda")
        self.wanted = [torch.zeros((batch, size_of(one.target, game)), device="cuda") for one in self.targets]
        self.sums = torch.zeros(len(self.terms), device="cuda")
        self.graph: torch.cuda.CUDAGraph | None = None
        self.launched = 0

    def train(  # type: ignore[override]
        self, replay: GpuReplay, steps: int, rate: float, seed: list[int], is_stopped: Callable[[], bool]
    ) -> dict[str, float]:
        random = torch.Generator("cuda").manual_seed(hash(tuple(seed)) % 2**62)
        self.model.train()
        self.rate.fill_(rate)
        self.sums.zero_()
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate
        for drawn in self._drawn(replay, steps, random):
            if is_stopped():
                break
            for own, part in zip((self.planes, self.policies, self.values, *self.wanted), drawn, strict=True):
                own.copy_(part)
            self._launch()
            self.steps += 1
        return self._means(self.sums.cpu(), steps)

    def _drawn(self, replay: GpuReplay, steps: int, random: torch.Generator) -> Iterator[tuple[torch.Tensor, ...]]:
        """A batch for each step."""
        size = self.settings.batch
        for done in range(0, steps, BATCHES):
            drawn = replay.tensors(min(BATCHES, steps - done) * size, random)
            yield from zip(*(tensor.split(size) for tensor in drawn), strict=True)

    def _launch(self) -> None:
        """One step: the first ones kernel by kernel, then as a graph."""
        if self.graph is not None:
            self.graph.replay()
            return
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._learn()
        torch.cuda.current_stream().wait_stream(stream)
        self.launched += 1
        if self.launched == WARM_UPS:
            self.optimiser.zero_grad(set_to_none=True)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
                self._learn()

    def _learn(self) -> None:
        board = self.planes.view(len(self.planes), -1, *self.game.shape).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            answers = self.answers(self.model, board)
        terms = loss_terms(answers, self.policies, self.values, self.targets, self.wanted)
        self.optimiser.zero_grad(set_to_none=True)
        terms.sum().backward()
        self.optimiser.step()
        entropy = -torch.xlogy(self.policies, self.policies).sum(1).mean()
        weights = loss_of_weights(self.model, self.settings.weight_decay)
        self.sums += torch.cat([terms.detach(), torch.stack([entropy, weights])])
