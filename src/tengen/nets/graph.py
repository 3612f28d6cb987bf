"""A network on an NVIDIA GPU at its fastest: bfloat16, channels last, fused layers, and launched as one CUDA graph.

cuDNN does a convolution, its bias, a block's sum and the ReLU in one kernel, if it is asked to; torch's layers ask for
each by itself. What is launched again and again is recorded once: a graph of sixty kernels costs what one launch does.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from tengen.nets.layers import (
    Block,
    Convolution,
    ConvolutionalNetwork,
    LocalPolicy,
    LocalValue,
    PlanePolicy,
    folded,
    without_targets,
)
from tengen.rules.game import Game

ONE = (1, 1)
ALIGNED = 8  # numbers in bfloat16 that tensor cores read in one go
FEW = 64  # outputs of a convolution, with which two columns at a time are quicker
PLANES = 32  # at least: with fewer, cuDNN takes kernels that were made for GPUs before
WARM_UPS = 3  # before recording: cuDNN tries its algorithms, and memory is found


class GraphNet:
    """Answers `planes` [rows, planes, cells] with `priors` and `values`: tensors that stay where they are.

    With `symmetry` each position is shown under a random symmetry of the board, and its logits are turned back;
    `temperature` divides them.
    """

    def __init__(self, game: Game, model: nn.Module, rows: int, symmetry: bool = False, temperature: float = 1.0):
        self.game, self.has_symmetry, self.factor = game, symmetry, 1 / temperature
        device = torch.device("cuda")
        self.planes = torch.zeros((rows, len(game.planes), game.cells), dtype=torch.uint8, device=device)
        self.logits, self.priors = (torch.zeros((rows, game.actions), device=device) for _ in range(2))
        self.values = torch.zeros(rows, device=device)
        self.model = ready(model, game)
        shape = (rows, self.model.planes, *game.shape)
        self.board = torch.zeros(shape, dtype=torch.bfloat16, device=device).to(memory_format=torch.channels_last)
        self.sources = torch.argsort(torch.as_tensor(game.symmetries, device=device), 1)
        self.targets = torch.as_tensor(game.action_symmetries, device=device)

    def load(self, model: nn.Module) -> None:
        """Takes over a model's weights, in place: a graph goes on to read them."""
        with torch.no_grad():
            for own, other in zip(tensors_of(self.model), tensors_of(ready(model, self.game)), strict=True):
                own.copy_(other)

    @torch.inference_mode()
    def answer(self) -> None:
        """Answers all planes, on the current stream."""
        rows, planes, cells = self.planes.shape
        shown = self.planes
        if self.has_symmetry:
            turns = torch.randint(len(self.sources), (rows,), device=shown.device)
            shown = shown.gather(2, self.sources[turns][:, None, :].expand(rows, planes, cells))
        self.board[:, :planes] = shown.view(rows, planes, *self.game.shape)
        logits, values = self.model(self.board)
        turned = logits.gather(1, self.targets[turns]) if self.has_symmetry else logits
        torch.mul(turned, self.factor, out=self.logits)
        torch.softmax(self.logits, 1, out=self.priors)
        self.values.copy_(values)


def ready(model: nn.Module, game: Game) -> Any:
    """A copy of `model` for playing on a GPU, with fused layers if it is a ConvolutionalNetwork."""
    is_ours = isinstance(model, ConvolutionalNetwork)
    playing: Any = PlayingNet(model, game.shape[1]) if is_ours else PlainNet(model, len(game.planes))
    return playing.to("cuda", torch.bfloat16).to(memory_format=torch.channels_last)


def tensors_of(model: nn.Module) -> Iterator[torch.Tensor]:
    """A model's parameters and the statistics of its norms."""
    yield from model.parameters()
    yield from model.buffers()


def recorded(work: Callable[[], None], stream: torch.cuda.Stream) -> torch.cuda.CUDAGraph:
    """The kernels that `work` launches on the current stream, as a graph."""
    torch.backends.cudnn.benchmark = True
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        for _ in range(WARM_UPS):
            work()
        stream.synchronize()
        with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
            work()
    return graph


def layers_of(part: nn.Module) -> list[Any]:
    return list(part.children())


def widened(size: int) -> int:
    """The next larger size that tensor cores read in one go."""
    return -(-size // ALIGNED) * ALIGNED


class PlainNet(nn.Module):
    """Any network, for boards of `planes` planes."""

    def __init__(self, model: nn.Module, planes: int):
        super().__init__()
        self.planes, self.own = planes, without_targets(copy.deepcopy(model)).eval()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logits, values = self.own(x)
        return logits, values


class PlayingNet(nn.Module):
    """The answers of `model` on boards of `columns` columns, in fewer kernels: norms are folded, and planes and the
    heads' channels are widened."""

    @torch.no_grad()
    def __init__(self, model: Any, columns: int):
        super().__init__()
        own = without_targets(folded(model))
        layers: list[Any] = [layer for layer in own.tower.children() if not isinstance(layer, nn.ReLU)]
        first = layers[0].convolution
        self.planes = max(PLANES, widened(first.in_channels))
        first.weight = nn.Parameter(functional.pad(first.weight, (0, 0, 0, 0, 0, self.planes - first.in_channels)))
        self.tower = nn.Sequential(*(fused(layer, columns) for layer in layers))
        heads = {LocalPolicy: LocalHeads, PlanePolicy: PlaneHeads}.get(type(own.policy), DenseHeads)
        self.heads = heads(own)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Widened planes to logits [rows, actions] and values [rows]."""
        return self.heads(self.tower(x).permute(0, 2, 3, 1).flatten(1, 2))


def fused(layer: Any, columns: int) -> nn.Module:
    """A layer of a tower, and the ReLU after it."""
    if isinstance(layer, Convolution):
        return FusedConvolution(layer.convolution, columns)
    return FusedBlock(layer, columns) if isinstance(layer, Block) else FusedPooling(layer, columns)


class FusedConvolution(nn.Module):
    """relu(convolution + bias), or relu(convolution + bias + addend), in one kernel.

    Tensor cores are quickest with 128 outputs. A convolution with fewer answers two columns of a board at a time: its
    kernel has four columns and moves on by two, with outputs for the left and the right one. In memory they lie as
    those of two columns do. That is a third more to multiply, in less time (bench/gpu_layers.py).
    """

    def __init__(self, own: nn.Conv2d, columns: int):
        super().__init__()
        self.step = 2 if columns % 2 == 0 and own.out_channels <= FEW else 1
        sides = [functional.pad(own.weight, (left, self.step - 1 - left)) for left in range(self.step)]
        assert own.bias is not None  # its norm is folded
        self.weight, self.bias = nn.Parameter(torch.cat(sides)), nn.Parameter(own.bias.repeat(self.step))

    def forward(self, x: torch.Tensor, addend: torch.Tensor | None = None) -> torch.Tensor:
        rows, _, height, columns = x.shape
        layout = (1, self.step), ONE, ONE, 1
        if addend is None:
            answer = torch.cudnn_convolution_relu(x, self.weight, self.bias, *layout)
        else:
            pairs = addend.permute(0, 2, 3, 1).reshape(rows, height, columns // self.step, -1).permute(0, 3, 1, 2)
            answer = torch.cudnn_convolution_add_relu(x, self.weight, pairs, 1.0, self.bias, *layout)
        return answer.permute(0, 2, 3, 1).reshape(rows, height, columns, -1).permute(0, 3, 1, 2)


class FusedBlock(nn.Module):
    """A block: two kernels, if it does not pool."""

    def __init__(self, own: Any, columns: int):
        super().__init__()
        self.first, self.second = (fused(part, columns) for part in (own.first, own.second))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x), x)


class FusedPooling(nn.Module):
    """relu(the pooled convolution), the local bias and the board's added in one go."""

    def __init__(self, own: Any, columns: int):
        super().__init__()
        self.pooled, self.local, self.bias = fused(own.pooled, columns), own.local.convolution, own.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen = self.pooled(x)
        summary = torch.cat([seen.mean((2, 3)), seen.amax((2, 3))], 1)
        bias = functional.linear(summary, self.bias.weight.flatten(1), self.local.bias)
        plain = torch.cudnn_convolution(x, self.local.weight, ONE, ONE, ONE, 1, False, False, True)
        return plain.add_(bias[:, :, None, None]).relu_()


class DenseHeads(nn.Module):
    """One look at each cell, one at all cells, and the value's last layer: [rows, cells, channels] to answers."""

    def __init__(self, model: Any):
        super().__init__()
        policy, value = layers_of(model.policy), layers_of(model.value)
        moves, chances = policy[0].convolution.out_channels, value[0].convolution.out_channels
        self.look, self.actions = look_of(policy[0], value[0]), policy[-1].out_features
        self.split = [self.actions, value[3].out_features]
        own = [policy[-1].weight.unflatten(1, (moves, -1)), value[3].weight.unflatten(1, (chances, -1))]
        both = own[0].new_zeros(sum(self.split), own[0].shape[2], self.look.out_features)
        both[: self.actions, :, :moves] = own[0].transpose(1, 2)
        both[self.actions :, :, moves : moves + chances] = own[1].transpose(1, 2)
        self.board = wide_linear(both.flatten(1), torch.cat([policy[-1].bias, value[3].bias]))
        self.last = value[5]

    def forward(self, cells: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        seen = self.board(self.look(cells).relu_().flatten(1))
        logits, hidden = seen[:, : sum(self.split)].split(self.split, 1)
        return logits, self.last(hidden.relu()).tanh_().squeeze(1)


class LocalHeads(nn.Module):
    """One look at each cell, then what the model has."""

    def __init__(self, model: Any):
        super().__init__()
        self.policy, self.value = model.policy, model.value
        parts = model.policy.first, model.value.first
        self.look, self.split = look_of(*parts), [part.convolution.out_channels for part in parts]

    def forward(self, cells: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        policy, value = self.policy, self.value
        moves, chances = self.look(cells).relu_()[..., : sum(self.split)].split(self.split, 2)
        logits = functional.linear(moves, policy.cells.weight.flatten(1), policy.cells.bias).squeeze(2)
        if policy.passing is not None:
            passing = functional.linear(moves.mean(1), policy.passing.weight.flatten(1), policy.passing.bias)
            logits = torch.cat([logits, passing], 1)
        return logits, local_values(value, chances)


class PlaneHeads(nn.Module):
    """One look at each cell, then a logit for each kind of move from it; values as the model has them."""

    def __init__(self, model: Any):
        super().__init__()
        self.is_local = isinstance(model.value, LocalValue)
        value = [model.value.first] if self.is_local else layers_of(model.value)
        parts = model.policy.first, value[0]
        self.look, self.split = look_of(*parts), [part.convolution.out_channels for part in parts]
        self.kinds = wide_linear(model.policy.kinds.weight.flatten(1), model.policy.kinds.bias)
        self.count = model.policy.kinds.out_channels
        if self.is_local:
            self.value = model.value
        else:
            turned = value[3].weight.unflatten(1, (self.split[1], -1)).transpose(1, 2).flatten(1)
            self.hidden, self.last = wide_linear(turned, value[3].bias), value[5]

    def forward(self, cells: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        moves, chances = self.look(cells).relu_()[..., : sum(self.split)].split(self.split, 2)
        logits = self.kinds(moves)[..., : self.count].transpose(1, 2).flatten(1)
        if self.is_local:
            return logits, local_values(self.value, chances)
        hidden = self.hidden(chances.flatten(1))[:, : self.last.in_features].relu()
        return logits, self.last(hidden).tanh_().squeeze(1)


def local_values(value: Any, chances: torch.Tensor) -> torch.Tensor:
    """The values of a LocalValue, from what it sees in each cell [rows, cells, channels]."""
    hidden = value.hidden(torch.cat([chances.mean(1), chances.amax(1)], 1)).relu_()
    return value.last(hidden).tanh_().squeeze(1)


def look_of(policy: Any, value: Any) -> nn.Linear:
    """The convolutions with which the heads begin, as one layer."""
    both = policy.convolution, value.convolution
    return wide_linear(torch.cat([one.weight.flatten(1) for one in both]), torch.cat([one.bias for one in both]))


def wide_linear(weights: torch.Tensor, biases: torch.Tensor) -> nn.Linear:
    """A layer with these weights [outputs, inputs], whose outputs are widened."""
    more = widened(len(weights)) - len(weights)
    layer = nn.Linear(weights.shape[1], len(weights) + more)
    layer.weight, layer.bias = (
        nn.Parameter(functional.pad(part, ends)) for part, ends in ((weights, (0, 0, 0, more)), (biases, (0, more)))
    )
    return layer
