"""The networks, in torch: planes of a board in; a logit for each action and the value for the player to move out."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from tengen.nets.metadata import Architecture
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d)


class Convolution(nn.Module):
    """A convolution that keeps the board's size, then a batch norm. Without the norm the convolution has a bias."""

    def __init__(self, inputs: int, outputs: int, size: int, has_norm: bool = True):
        super().__init__()
        self.convolution = nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=not has_norm)
        self.norm = nn.BatchNorm2d(outputs) if has_norm else nn.Identity()
        nn.init.kaiming_normal_(self.convolution.weight, nonlinearity="relu")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.convolution(x))


class Block(nn.Module):
    """relu(x + f(x)), f two convolutions. At first f is zero, and the tower as shallow as one layer."""

    def __init__(self, first: nn.Module, channels: int):
        super().__init__()
        self.first, self.second, self.relu = first, Convolution(channels, channels, 3), nn.ReLU()
        nn.init.zeros_(self.second.norm.get_parameter("weight"))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.relu(x + self.second(self.relu(self.first(x))))


class PooledConvolution(nn.Module):
    """A convolution with a bias that the whole board decides on: the mean and the maximum of some other channels."""

    def __init__(self, channels: int):
        super().__init__()
        pooled = max(1, channels // 4)
        self.local, self.pooled = Convolution(channels, channels, 3), Convolution(channels, pooled, 3)
        self.relu = nn.ReLU()
        self.mean, self.maximum = nn.AdaptiveAvgPool2d(1), nn.AdaptiveMaxPool2d(1)
        self.bias = nn.Conv2d(2 * pooled, channels, 1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen = self.relu(self.pooled(x))  # [n, pooled, rows, columns]
        return self.local(x) + self.bias(torch.cat([self.mean(seen), self.maximum(seen)], 1))


class LocalPolicy(nn.Module):
    """A logit for each cell from what the tower says of that cell; for a pass from the mean of all."""

    def __init__(self, channels: int, hidden: int, has_pass: bool):
        super().__init__()
        self.first, self.relu, self.flatten = Convolution(channels, hidden, 1), nn.ReLU(), nn.Flatten()
        self.cells = quiet(nn.Conv2d(hidden, 1, 1))
        self.mean = nn.AdaptiveAvgPool2d(1)
        self.passing = quiet(nn.Conv2d(hidden, 1, 1)) if has_pass else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen = self.relu(self.first(x))
        logits = self.flatten(self.cells(seen))
        return torch.cat([logits, self.flatten(self.passing(self.mean(seen)))], 1) if self.passing else logits


class LocalValue(nn.Module):
    """A value from the means and the maxima over the board."""

    def __init__(self, channels: int, seen: int, hidden: int):
        super().__init__()
        self.first, self.relu, self.flatten = Convolution(channels, seen, 1), nn.ReLU(), nn.Flatten()
        self.mean, self.maximum = nn.AdaptiveAvgPool2d(1), nn.AdaptiveMaxPool2d(1)
        self.hidden, self.last, self.tanh = nn.Linear(2 * seen, hidden), quiet(nn.Linear(hidden, 1)), nn.Tanh()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen = self.relu(self.first(x))
        summary = self.flatten(torch.cat([self.mean(seen), self.maximum(seen)], 1))
        return self.tanh(self.last(self.relu(self.hidden(summary))))


class Network(nn.Module):
    """A tower that all heads share. Untrained, its policy is nearly uniform and its values are nearly zero."""

    def __init__(self, tower: nn.Module, policy: nn.Module, value: nn.Module, territory: nn.Module | None = None):
        super().__init__()
        self.tower, self.policy, self.value, self.territory = tower, policy, value, territory

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Planes [n, planes, rows, columns] to logits [n, actions] and values [n] in (−1, 1)."""
        x = self.tower(planes)
        return self.policy(x), torch.squeeze(self.value(x), 1)

    def foresee(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """The same and, if there is a head for it, who will own each cell: [n, cells] in (−1, 1), own ones positive."""
        x = self.tower(planes)
        return self.policy(x), torch.squeeze(self.value(x), 1), self.territory(x) if self.territory else None


def build_model(game: Game, architecture: Architecture) -> Network:
    """A network for a game, with fresh weights (torch.manual_seed decides on them)."""
    is_resnet, planes = architecture.kind == "resnet", len(game.planes)
    channels = architecture.channels if is_resnet else 128
    policy, value = (local_heads if architecture.heads == "local" else dense_heads)(game, architecture, channels)
    territory = nn.Sequential(nn.Conv2d(channels, 1, 1), nn.Flatten(), nn.Tanh()) if architecture.territory else None
    tower = residual_tower(planes, architecture) if is_resnet else gobang_tower(planes)
    return Network(tower, policy, value, territory)


def dense_heads(game: Game, architecture: Architecture, channels: int) -> tuple[nn.Module, nn.Module]:
    """AlphaZero's: a few channels, then all cells together. They fit one board."""
    has_norm = architecture.kind == "resnet"
    policy_cells, value_cells = architecture.policy_channels * game.cells, architecture.value_channels * game.cells
    policy = nn.Sequential(
        Convolution(channels, architecture.policy_channels, 1, has_norm),
        nn.ReLU(),
        nn.Flatten(),
        quiet(nn.Linear(policy_cells, game.actions)),
    )
    value = nn.Sequential(
        Convolution(channels, architecture.value_channels, 1, has_norm),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(value_cells, architecture.value_hidden),
        nn.ReLU(),
        quiet(nn.Linear(architecture.value_hidden, 1)),
        nn.Tanh(),
    )
    return policy, value


def local_heads(game: Game, architecture: Architecture, channels: int) -> tuple[nn.Module, nn.Module]:
    """The same weights for every cell, whatever the size of the board."""
    if game.actions not in (game.cells, game.cells + 1):
        raise BadParameter(f"net.heads=local is for games that play on cells: {game.spec} has {game.actions} actions")
    policy = LocalPolicy(channels, architecture.policy_channels, game.actions > game.cells)
    return policy, LocalValue(channels, architecture.value_channels, architecture.value_hidden)


def residual_tower(planes: int, architecture: Architecture) -> nn.Module:
    """AlphaZero's tower; every other block pools, if any do, and so does the last."""
    channels, blocks = architecture.channels, list[nn.Module]()
    for left in reversed(range(architecture.blocks)):
        is_pooled = architecture.pooling and left % 2 == 0
        blocks.append(Block(PooledConvolution(channels) if is_pooled else Convolution(channels, channels, 3), channels))
    return nn.Sequential(Convolution(planes, channels, 3), nn.ReLU(), *blocks)


def gobang_tower(planes: int) -> nn.Module:
    """The Gobang paper's: three convolutions, no norms."""
    layers: list[nn.Module] = []
    for inputs, outputs in ((planes, 32), (32, 64), (64, 128)):
        layers += [Convolution(inputs, outputs, 3, has_norm=False), nn.ReLU()]
    return nn.Sequential(*layers)


def quiet(layer: Layer) -> Layer:
    """The layer, its answers small at first."""
    nn.init.normal_(layer.weight, std=0.01)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def folded(model: Network) -> Network:
    """A copy for playing: each batch norm has become a part of the convolution before it."""
    model = copy.deepcopy(model).eval()
    for layer, norm in normed(model).values():
        layer.convolution, layer.norm = fuse_conv_bn_eval(layer.convolution, norm), nn.Identity()
    return model


def normed(model: Network) -> dict[str, tuple[Convolution, nn.BatchNorm2d]]:
    """The convolutions that a batch norm follows, each with it, by name."""
    layers = {name: layer for name, layer in model.named_modules() if isinstance(layer, Convolution)}
    return {name: (layer, layer.norm) for name, layer in layers.items() if isinstance(layer.norm, nn.BatchNorm2d)}


@torch.no_grad()
def unfold(model: Network, playing: Network, planes: torch.Tensor) -> None:
    """Gives a model the weights of `playing`, a folded one, so that it answers the same and can go on learning.

    A norm undoes itself: it divides by its convolution's deviation on some planes, and multiplies by it again.
    """
    seen: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}

    def keep(name: str) -> Callable[..., None]:
        return lambda layer, given, answer: seen.update({name: torch.var_mean(answer, (0, 2, 3))})

    norms = {name: norm for name, (_, norm) in normed(model).items()}
    hooks = [playing.get_submodule(name).register_forward_hook(keep(name)) for name in norms]
    playing(planes)
    for hook in hooks:
        hook.remove()
    model.load_state_dict(playing.state_dict(), strict=False)
    for name, norm in norms.items():
        variance, mean = seen[name]
        undone = {
            "running_mean": mean - playing.get_parameter(f"{name}.convolution.bias"),
            "running_var": variance,
            "weight": (variance + norm.eps).sqrt(),
            "bias": mean,
        }
        norm.load_state_dict(undone, strict=False)
