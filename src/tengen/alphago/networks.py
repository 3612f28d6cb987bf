"""AlphaGo's networks, in torch, as the 9×9 paper has them; and to and from ONNX files.

A tower of one 5×5 and several 3×3 convolutions. The policy's last layer is a 1×1 convolution with a bias for each
point; a pass, which the paper's net cannot play, is judged by the mean over the board. The value's two linear layers
look at one number a point.
"""

from __future__ import annotations

from pathlib import Path

import onnx
import torch
from torch import fx, nn

from tengen.nets.export import LAYERS, finished, operators, tensor, weights_of
from tengen.nets.layers import Convolution, folded, quiet
from tengen.nets.metadata import NetError
from tengen.nets.policy9 import KINDS, PLANE_SETS, PlaneNetMetadata
from tengen.nets.runtime import read_net
from tengen.rules.game import Game

VALUE_HIDDEN = 64


class PointBias(nn.Module):
    """Adds a number of its own to each point of the board."""

    def __init__(self, shape: tuple[int, int]):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(1, 1, *shape))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.bias


LAYERS[PointBias] = lambda layer: ("Add", {})


class Tracer(fx.Tracer):
    """Finds a network's layers, of which PointBias is one."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return isinstance(m, PointBias) or super().is_leaf_module(m, module_qualified_name)


def new_tower(planes: int, channels: int, layers: int) -> nn.Sequential:
    """One 5×5 convolution, then 3×3 ones, each with a norm and a ReLU."""
    parts: list[nn.Module] = [Convolution(planes, channels, 5), nn.ReLU()]
    for _ in range(layers - 1):
        parts += [Convolution(channels, channels, 3), nn.ReLU()]
    return nn.Sequential(*parts)


class PolicyNetwork(nn.Module):
    """Planes [n, planes, rows, columns] to logits [n, points + 1]; the last is a pass."""

    def __init__(self, planes: int, shape: tuple[int, int], channels: int, layers: int):
        super().__init__()
        self.tower = new_tower(planes, channels, layers)
        self.points = nn.Sequential(nn.Conv2d(channels, 1, 1, bias=False), PointBias(shape), nn.Flatten())
        self.rest = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, 1, 1), nn.Flatten())
        for layer in (self.points[0], self.rest[1]):
            nn.init.normal_(layer.get_parameter("weight"), std=0.01)

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        x = self.tower(planes)
        return torch.cat([self.points(x), self.rest(x)], 1)


class ValueNetwork(nn.Module):
    """Planes [n, planes, rows, columns] to values [n] in (−1, 1)."""

    def __init__(self, planes: int, shape: tuple[int, int], channels: int, layers: int):
        super().__init__()
        self.tower = new_tower(planes, channels, layers)
        self.value = nn.Sequential(
            Convolution(channels, 1, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(shape[0] * shape[1], VALUE_HIDDEN),
            nn.ReLU(),
            quiet(nn.Linear(VALUE_HIDDEN, 1)),
            nn.Tanh(),
        )

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        return torch.squeeze(self.value(self.tower(planes)), 1)


def new_network(game: Game, metadata: PlaneNetMetadata) -> nn.Module:
    """A network with fresh weights (torch.manual_seed decides on them)."""
    network = PolicyNetwork if metadata.kind == "policy" else ValueNetwork
    return network(PLANE_SETS[metadata.planes], game.shape, metadata.channels, metadata.layers)


def export_net(model: nn.Module, game: Game, metadata: PlaneNetMetadata) -> bytes:
    """The ONNX file of a network, its norms folded into the convolutions; the model itself is left as it is."""
    playing = folded(model).float().cpu()
    steps = Tracer().trace(playing).nodes
    (answer,) = next(step for step in steps if step.op == "output").args
    nodes, weights = operators(playing, steps, {answer: KINDS[metadata.kind]})
    shape = (game.actions,) if metadata.kind == "policy" else ()
    planes = tensor("planes", PLANE_SETS[metadata.planes], *game.shape)
    return finished(nodes, weights, planes, [tensor(KINDS[metadata.kind], *shape)], metadata.texts())


def import_net(path: Path, game: Game) -> tuple[nn.Module, PlaneNetMetadata]:
    """The network of an ONNX file, its norms folded: it answers as the file does, and can be trained further."""
    try:
        file = onnx.load_from_string(read_net(path))
    except Exception as reason:  # protobuf's own, which have no base in common with others
        raise NetError(f"{path.name} is damaged, or no ONNX file: {reason}") from reason
    metadata = PlaneNetMetadata.read(path.name, {prop.key: prop.value for prop in file.metadata_props})
    model = folded(new_network(game, metadata))
    try:
        model.load_state_dict(weights_of(file))
    except RuntimeError as reason:
        raise NetError(f"{path.name} has other weights than its metadata say: {reason}") from reason
    return model, metadata
