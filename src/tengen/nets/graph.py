"""A network on an NVIDIA GPU at its fastest: bfloat16, channels last, fused layers, and launched as one CUDA graph.

cuDNN does a convolution, its bias, a block's sum and the ReLU in one kernel, if it is asked to; torch's layers ask for
each by itself. What is launched again and again is recorded once: a graph of sixty kernels costs what one launch does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from tengen.nets.models import Block, Convolution, LocalPolicy, Network, PooledConvolution, folded
from tengen.rules.game import Game

ONE = (1, 1)
WARM_UPS = 3  # before recording: cuDNN tries its algorithms, and memory is found


class GraphNet:
    """Answers `planes` [rows, planes, cells] with `logits` and `values`: tensors that stay where they are.

    With `symmetry` each position is shown under a random symmetry of the board, and its logits are turned back;
    `temperature` divides them.
    """

    def __init__(self, game: Game, model: Network, rows: int, symmetry: bool = False, temperature: float = 1.0):
        self.game, self.has_symmetry, self.factor = game, symmetry, 1 / temperature
        device = torch.device("cuda")
        self.planes = torch.zeros((rows, len(game.planes), game.cells), dtype=torch.uint8, device=device)
        self.logits = torch.zeros((rows, game.actions), device=device)
        self.values = torch.zeros(rows, device=device)
        self.model = ready(model)
        self.sources = torch.argsort(torch.as_tensor(game.symmetries, device=device), 1)
        self.targets = torch.as_tensor(game.action_symmetries, device=device)

    def load(self, model: Network) -> None:
        """Takes over a model's weights, in place: a graph goes on to read them."""
        with torch.no_grad():
            for own, other in zip(self.model.parameters(), ready(model).parameters(), strict=True):
                own.copy_(other)

    @torch.inference_mode()
    def answer(self) -> None:
        """Answers all planes, on the current stream."""
        rows, planes, cells = self.planes.shape
        shown = self.planes
        if self.has_symmetry:
            turns = torch.randint(len(self.sources), (rows,), device=shown.device)
            shown = shown.gather(2, self.sources[turns][:, None, :].expand(rows, planes, cells))
        board = shown.view(rows, planes, *self.game.shape).to(torch.bfloat16, memory_format=torch.channels_last)
        logits, values = answers(self.model, board)
        turned = logits.gather(1, self.targets[turns]) if self.has_symmetry else logits
        torch.mul(turned, self.factor, out=self.logits)
        self.values.copy_(values)


def ready(model: Network) -> Network:
    """A copy for playing on a GPU."""
    return folded(model).to("cuda", torch.bfloat16).to(memory_format=torch.channels_last)  # type: ignore[call-overload]


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


def answers(model: Network, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What the folded model itself answers, in fewer kernels."""
    for layer in layers_of(model.tower):
        if isinstance(layer, Convolution):  # the ReLU that follows is in it
            x = convolved(layer, x)
        elif isinstance(layer, Block):
            is_pooled = isinstance(layer.first, PooledConvolution)
            first = pooled(layer.first, x) if is_pooled else convolved(layer.first, x)
            second = layer.second.convolution
            x = torch.cudnn_convolution_add_relu(first, second.weight, x, 1.0, second.bias, ONE, ONE, ONE, 1)
    return heads(model, x)


def convolved(layer: Any, x: torch.Tensor) -> torch.Tensor:
    """relu(convolution + bias)."""
    own = layer.convolution
    return torch.cudnn_convolution_relu(x, own.weight, own.bias, ONE, own.padding, ONE, 1)


def pooled(layer: Any, x: torch.Tensor) -> torch.Tensor:
    """relu(the pooled convolution), the local bias and the board's added in one go."""
    seen, local = convolved(layer.pooled, x), layer.local.convolution
    summary = torch.cat([seen.mean((2, 3)), seen.amax((2, 3))], 1)
    bias = functional.linear(summary, layer.bias.weight.flatten(1), local.bias)
    plain = torch.cudnn_convolution(x, local.weight, ONE, ONE, ONE, 1, False, False, True)
    return plain.add_(bias[:, :, None, None]).relu_()


def heads(model: Network, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both heads, which begin with one look at the tower's answer."""
    policy, value = layers_of(model.policy), layers_of(model.value)
    convolutions = policy[0].convolution, value[0].convolution
    weights = torch.cat([layer.weight.flatten(1) for layer in convolutions])
    biases = torch.cat([layer.bias for layer in convolutions])
    cells = x.permute(0, 2, 3, 1).reshape(-1, x.shape[1])  # [rows · cells, channels]
    seen = functional.linear(cells, weights, biases).relu_().view(len(x), -1, len(weights))
    parts = seen.split([len(layer.weight) for layer in convolutions], 2)
    return (local_heads if isinstance(model.policy, LocalPolicy) else dense_heads)(model, *parts)


def dense_heads(model: Network, moves: torch.Tensor, chances: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """From what either head has seen of each cell: [rows, cells, channels]."""
    policy, value = layers_of(model.policy), layers_of(model.value)
    hidden = value[3](chances.transpose(1, 2).flatten(1)).relu_()
    return policy[-1](moves.transpose(1, 2).flatten(1)), value[5](hidden).tanh_().squeeze(1)


def local_heads(model: Any, moves: torch.Tensor, chances: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    policy, value = model.policy, model.value
    logits = functional.linear(moves, policy.cells.weight.flatten(1), policy.cells.bias).squeeze(2)
    if policy.passing is not None:
        passing = functional.linear(moves.mean(1), policy.passing.weight.flatten(1), policy.passing.bias)
        logits = torch.cat([logits, passing], 1)
    hidden = value.hidden(torch.cat([chances.mean(1), chances.amax(1)], 1)).relu_()
    return logits, value.last(hidden).tanh_().squeeze(1)
