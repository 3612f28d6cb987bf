"""Targets of each kind that `territory` is not: for each action, and one number for a position.

Both were tried in training and did not pay (docs/experiments.md).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from tengen.learn.targets import PlayedGames, Target
from tengen.nets.layers import LocalValue, policy_head
from tengen.rules.game import Game


class Reply(Target):
    """the opponent's next policy, as far as a search has found it"""

    per = "actions"
    weight = 0.15

    def wanted(self, played: PlayedGames, chosen: Any, movers: Any) -> Any:
        goes_on = chosen + 1 < played.ends[chosen]
        return played.policies[chosen + goes_on] * goes_on[:, None]

    def head(self, game: Game, channels: int) -> nn.Module:
        return policy_head(game, channels)

    def loss(self, foreseen: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        return -(wanted * functional.log_softmax(foreseen, 1)).sum(1).mean()


class PliesLeft(Target):
    """how many plies the game will still last, as a share of the board's cells"""

    per = "position"
    weight = 0.25

    def __init__(self) -> None:
        self.cells = 1

    def check(self, game: Game) -> None:
        self.cells = game.cells

    def wanted(self, played: PlayedGames, chosen: Any, movers: Any) -> Any:
        return (1.0 * (played.ends[chosen] - chosen) / self.cells)[:, None]

    def head(self, game: Game, channels: int) -> nn.Module:
        return nn.Sequential(LocalValue(channels, 4, 32, nn.Softplus()))
