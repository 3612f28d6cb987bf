"""A network in one file: convolutions in two steps, along the board and then along the channels, as in MobileNet.

tengen train connect4 --set net.kind=./separable.py:Separable --set net.blocks=4 --set net.options=size=5
"""

import torch
from torch import nn

from tengen.nets.layers import Network, dense_heads
from tengen.rules.game import Game


class Separable(Network):
    """convolutions of each channel by itself, then of each cell by itself"""

    def __init__(self, game: Game, blocks: int = 3, channels: int = 32, size: int = 3):
        super().__init__()
        self.channels = channels  # of `features`
        self.first = nn.Conv2d(len(game.planes), channels, 1)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(channels, channels, size, padding=size // 2, groups=channels),
                nn.BatchNorm2d(channels),
                nn.Conv2d(channels, 2 * channels, 1),
                nn.GELU(),
                nn.Conv2d(2 * channels, channels, 1),
            )
            for _ in range(blocks)
        )
        self.policy, self.value = dense_heads(game, channels, moves=4, chances=2, hidden=64)

    def features(self, planes: torch.Tensor) -> torch.Tensor:
        x = self.first(planes)
        for block in self.blocks:
            x = x + block(x)
        return torch.relu(x)

    def answer(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.policy(features), self.value(features).squeeze(1)
