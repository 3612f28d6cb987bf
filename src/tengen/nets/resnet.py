"""AlphaZero's network: a tower of residual blocks."""

from __future__ import annotations

from torch import nn

from tengen.nets.layers import Block, Convolution, ConvolutionalNetwork, PooledConvolution, dense_heads, local_heads
from tengen.rules.game import Game


class ResNet(ConvolutionalNetwork):
    """a tower of residual blocks, as AlphaZero has it"""

    def __init__(
        self,
        game: Game,
        blocks: int = 3,
        channels: int = 32,
        pooling: bool = False,
        heads: str = "dense",
        policy_channels: int = 4,
        value_channels: int = 2,
        value_hidden: int = 64,
    ):
        make = local_heads if heads == "local" else dense_heads
        policy, value = make(game, channels, policy_channels, value_channels, value_hidden)
        super().__init__(channels, residual_tower(len(game.planes), blocks, channels, pooling), policy, value)


def residual_tower(planes: int, blocks: int, channels: int, has_pooling: bool) -> nn.Module:
    """AlphaZero's tower; every other block pools, if any do, and so does the last."""
    layers = list[nn.Module]()
    for left in reversed(range(blocks)):
        is_pooled = has_pooling and left % 2 == 0
        layers.append(Block(PooledConvolution(channels) if is_pooled else Convolution(channels, channels, 3), channels))
    return nn.Sequential(Convolution(planes, channels, 3), nn.ReLU(), *layers)
