"""The Gobang paper's network: three convolutions of 32, 64 and 128 channels, no norms."""

from __future__ import annotations

from torch import nn

from tengen.nets.layers import Convolution, ConvolutionalNetwork, dense_heads
from tengen.rules.game import Game

WIDTHS = (32, 64, 128)


class GobangNet(ConvolutionalNetwork):
    """the Gobang paper's three convolutions"""

    def __init__(self, game: Game, policy_channels: int = 4, value_channels: int = 2, value_hidden: int = 64):
        heads = dense_heads(game, WIDTHS[-1], policy_channels, value_channels, value_hidden, has_norm=False)
        layers: list[nn.Module] = []
        for inputs, outputs in zip((len(game.planes), *WIDTHS), WIDTHS, strict=False):
            layers += [Convolution(inputs, outputs, 3, has_norm=False), nn.ReLU()]
        super().__init__(WIDTHS[-1], nn.Sequential(*layers), *heads)
