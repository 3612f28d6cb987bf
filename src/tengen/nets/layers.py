"""What networks are made of, in torch: layers, heads, and how norms become a part of the layer before them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from tengen.rules.errors import BadParameter
from tengen.rules.game import Game

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d)
Module = TypeVar("Module", bound=nn.Module)


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
    """A logit for each cell from the features of that cell, and for a pass from the mean of all cells."""

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


class PlanePolicy(nn.Module):
    """A logit for each kind of move from each cell: planes over the board, in the order of actions."""

    def __init__(self, channels: int, kinds: int, has_norm: bool):
        super().__init__()
        self.first, self.relu = Convolution(channels, channels, 1, has_norm), nn.ReLU()
        self.kinds, self.flatten = quiet(nn.Conv2d(channels, kinds, 1)), nn.Flatten()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.flatten(self.kinds(self.relu(self.first(x))))


class LocalValue(nn.Module):
    """A value from the means and the maxima over the board."""

    def __init__(self, channels: int, seen: int, hidden: int, bounds: nn.Module | None = None):
        super().__init__()
        self.first, self.relu, self.flatten = Convolution(channels, seen, 1), nn.ReLU(), nn.Flatten()
        self.mean, self.maximum = nn.AdaptiveAvgPool2d(1), nn.AdaptiveMaxPool2d(1)
        self.hidden, self.last = nn.Linear(2 * seen, hidden), quiet(nn.Linear(hidden, 1))
        self.tanh = bounds or nn.Tanh()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen = self.relu(self.first(x))
        summary = self.flatten(torch.cat([self.mean(seen), self.maximum(seen)], 1))
        return self.tanh(self.last(self.relu(self.hidden(summary))))


class Network(nn.Module):
    """A network in two steps: the features of each cell, then logits and values from them.

    Any torch module from planes to (logits, values) can learn and play. One with these two steps, and with `channels`,
    the number of features of a cell, can also learn further targets (learn/targets.py).
    """

    channels: int

    def features(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes [n, planes, rows, columns] to features [n, channels, rows, columns]."""
        raise NotImplementedError

    def answer(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Features to logits [n, actions] and values [n] in (−1, 1), for the player to move."""
        raise NotImplementedError

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Planes [n, planes, rows, columns] to logits [n, actions] and values [n]."""
        return self.answer(self.features(planes))


class ConvolutionalNetwork(Network):
    """A tower of convolutions that all heads share. Untrained, its policy is nearly uniform and its values are nearly
    zero. Networks of this kind have fast paths of their own to ONNX (export.py) and on a GPU (graph.py).
    """

    def __init__(self, channels: int, tower: nn.Module, policy: nn.Module, value: nn.Module):
        super().__init__()
        self.channels, self.tower, self.policy, self.value = channels, tower, policy, value

    def features(self, planes: torch.Tensor) -> torch.Tensor:
        return self.tower(planes)

    def answer(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.policy(features), torch.squeeze(self.value(features), 1)


def dense_heads(
    game: Game, channels: int, moves: int, chances: int, hidden: int, has_norm: bool = True
) -> tuple[nn.Module, nn.Module]:
    """AlphaZero's policy and value heads: `moves` and `chances` channels, then a layer over all cells of one board.

    Where an action is a kind of move and a cell, the policy is planes over the board.
    """
    policy = dense_policy(game, channels, moves, has_norm)
    value = nn.Sequential(
        Convolution(channels, chances, 1, has_norm),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(chances * game.cells, hidden),
        nn.ReLU(),
        quiet(nn.Linear(hidden, 1)),
        nn.Tanh(),
    )
    return policy, value


def local_heads(game: Game, channels: int, moves: int, chances: int, hidden: int) -> tuple[nn.Module, nn.Module]:
    """Policy and value heads with the same weights for every cell, for boards of any size."""
    if not (plays_on_cells(game) or game.move_planes):
        raise BadParameter(f"net.heads=local is for games that play on cells: {game.spec} has {game.actions} actions")
    return local_policy(game, channels, moves), LocalValue(channels, chances, hidden)


def policy_head(game: Game, channels: int, moves: int = 4) -> nn.Module:
    """A logit for each action: local, if actions are cells."""
    return (local_policy if plays_on_cells(game) else dense_policy)(game, channels, moves)


def dense_policy(game: Game, channels: int, moves: int, has_norm: bool = True) -> nn.Module:
    if game.move_planes:
        return PlanePolicy(channels, game.move_planes, has_norm)
    return nn.Sequential(
        Convolution(channels, moves, 1, has_norm),
        nn.ReLU(),
        nn.Flatten(),
        quiet(nn.Linear(moves * game.cells, game.actions)),
    )


def local_policy(game: Game, channels: int, moves: int) -> nn.Module:
    if game.move_planes:
        return PlanePolicy(channels, game.move_planes, has_norm=True)
    return LocalPolicy(channels, moves, game.actions > game.cells)


def plays_on_cells(game: Game) -> bool:
    """Whether an action is a cell, or a pass."""
    return game.actions in (game.cells, game.cells + 1)


def quiet(layer: Layer) -> Layer:
    """The layer, with small weights at first."""
    nn.init.normal_(layer.weight, std=0.01)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def without_targets(model: Module) -> Module:
    """The model without the heads of its targets."""
    if hasattr(model, "foreseen"):
        del model.foreseen
    return model


def folded(model: Module) -> Module:
    """A copy for playing: each batch norm has become a part of the convolution before it."""
    model = copy.deepcopy(model).eval()
    for layer, norm in normed(model).values():
        layer.convolution, layer.norm = fuse_conv_bn_eval(layer.convolution, norm), nn.Identity()
    return model


def normed(model: nn.Module) -> dict[str, tuple[Convolution, nn.BatchNorm2d]]:
    """The convolutions that a batch norm follows, each with it, by name."""
    layers = {name: layer for name, layer in model.named_modules() if isinstance(layer, Convolution)}
    return {name: (layer, layer.norm) for name, layer in layers.items() if isinstance(layer.norm, nn.BatchNorm2d)}


@torch.no_grad()
def unfold(model: nn.Module, playing: nn.Module, planes: torch.Tensor) -> None:
    """Gives `model` the weights of the folded model `playing`, so that it answers the same and can go on learning.

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
