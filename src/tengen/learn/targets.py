"""What a position teaches beside its policy and its value: targets by name, ours and yours (`./mine.py:Reply`).

A target says what is to be foreseen of a position (`wanted`), the head that foresees it, and the loss between the two.
It is written once: `wanted` gets NumPy's arrays on a CPU and torch's tensors on a GPU, and uses what both have.
A tower that must foresee more learns more from each game; when it plays, nobody asks these heads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from tengen.nets.metadata import TARGET_GROUP
from tengen.rules.contract import has_rule
from tengen.rules.errors import BadParameter, nearest
from tengen.rules.game import Game
from tengen.rules.plugins import class_of_file, file_spec, listed, load_packaged, packaged


class PlayedGames(NamedTuple):
    """Games that were played, one after the other: arrays of NumPy, or tensors of torch on a GPU."""

    moves: Any  # [positions]
    policies: Any  # [positions, actions]: what searches came to; all zero where a move was random
    begins: Any  # [positions]: the first position of the same game …
    ends: Any  # [positions]: … and the one behind its last
    results: Any  # [positions]: how that game ended: FIRST, SECOND or DRAW
    games: Any  # [positions]: its number
    owners: Any  # [games, cells]: who owns each cell at the end (`territory`); zero unless a target `needs_end`
    scores: Any  # [games]: by how much the first player won (`score`), likewise


class Target:
    """Something that a position teaches. Its name is its class's, in small letters, or what a package calls it."""

    per = "cells"  # "cells", "actions" or "position": how many numbers a position has, and how they turn with the board
    needs_end = False  # whether games are played again to their end, for `owners` and `scores`
    weight = 1.0  # of its loss

    def check(self, game: Game) -> None:
        """Raises BadParameter if the target is not for this game."""

    def wanted(self, played: PlayedGames, chosen: Any, movers: Any) -> Any:
        """The numbers to predict at the positions `chosen` [batch], where the players `movers` [batch] (0 or 1) are to
        move: [batch, cells], [batch, actions] or [batch, 1]."""
        raise NotImplementedError

    def head(self, game: Game, channels: int) -> nn.Module:
        """A module from features [batch, channels, rows, columns] to numbers in the shape of `wanted`."""
        raise NotImplementedError

    def loss(self, foreseen: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """The mean distance between the head's answer `foreseen` and the numbers `wanted`: a scalar."""
        return functional.mse_loss(foreseen, wanted)


class Territory(Target):
    """who will own each cell at the end: 1 for own cells, −1 for the opponent's"""

    needs_end = True

    def check(self, game: Game) -> None:
        if not has_rule(type(game.parameters), "territory"):
            raise BadParameter(f"territory is for games that say who owns each cell at the end; {game.spec} does not")

    def wanted(self, played: PlayedGames, chosen: Any, movers: Any) -> Any:
        owners = played.owners[played.games[chosen]]
        own, others = owners == movers[:, None] + 1, owners == 2 - movers[:, None]
        return 1.0 * own - 1.0 * others

    def head(self, game: Game, channels: int) -> nn.Module:
        return nn.Sequential(nn.Conv2d(channels, 1, 1), nn.Flatten(), nn.Tanh())


TARGETS: dict[str, type[Target]] = {"territory": Territory}


class NamedTarget(NamedTuple):
    """A target and what it is called: its loss is shown under that name."""

    name: str
    target: Target


def load_targets(text: str, game: Game) -> list[NamedTarget]:
    """The targets that `text` names, separated by commas, each checked for the game."""
    found = [NamedTarget(*target_of(name)) for name in listed(text)]
    names = [one.name for one in found]
    for name, target in found:
        if names.count(name) > 1:
            raise BadParameter(f"net.targets={text}: {name} stands there twice")
        if target.per not in ("cells", "actions", "position"):
            raise BadParameter(f"target {name}: per is {target.per!r}; it is 'cells', 'actions' or 'position'")
        target.check(game)
    return found


def target_of(spec: str) -> tuple[str, Target]:
    """The name and the target of `spec`: one of TARGETS, a class in a file, or a package's."""
    if (found := file_spec(spec)) is not None:
        path, name, options = found
        if options:
            raise BadParameter(f"net.targets={spec}: a target takes no options")
        kind = class_of_file(path, name, "target", "wanted")
        return kind.__name__.lower(), kind()
    if spec in TARGETS:
        return spec, TARGETS[spec]()
    offered = packaged(TARGET_GROUP)
    if spec not in offered:
        raise BadParameter(f"no target is called {spec!r}{nearest(spec, [*TARGETS, *offered])}")
    return spec, load_packaged(offered[spec])()


def add_heads(model: Any, game: Game, targets: list[NamedTarget]) -> Any:
    """The model, with a head for each target."""
    if targets and not (hasattr(model, "features") and hasattr(model, "channels")):
        raise BadParameter(
            f"net.targets={','.join(one.name for one in targets)}: {type(model).__name__} does not show its features; "
            "derive it from tengen.nets.layers.Network"
        )
    heads = {name: target.head(game, model.channels) for name, target in targets}
    model.foreseen = nn.ModuleDict(heads)
    return model


def foresee(model: Any, planes: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Logits, values, and the answers of the heads of the model's targets."""
    if not model.foreseen:
        return tuple(model(planes))
    features = model.features(planes)
    return (*model.answer(features), *(head(features) for head in model.foreseen.values()))


def one_hot(numbers: Any, count: int) -> Any:
    """`numbers` [batch], each below `count`, as rows [batch, count], 1 at the number; of NumPy or torch."""
    places = torch.arange(count, device=numbers.device) if isinstance(numbers, torch.Tensor) else np.arange(count)
    return 1.0 * (numbers[:, None] == places)


def size_of(target: Target, game: Game) -> int:
    """How many numbers a target has for each position."""
    return {"cells": game.cells, "actions": game.actions, "position": 1}[target.per]
