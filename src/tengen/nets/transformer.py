"""A transformer for boards: every cell is a token, and attention knows how far apart two cells are, both ways."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from tengen.nets.layers import Network, dense_heads, local_heads
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game

HEAD = 16  # numbers of a cell in each head of attention
SLOWEST = 1 / 30  # of a rotation a cell, in turns of 2π: no board is so long that it comes around


class Transformer(Network):
    """attention between all cells, with rotary positions in two dimensions"""

    def __init__(
        self,
        game: Game,
        blocks: int = 3,
        channels: int = 32,
        heads: str = "dense",
        policy_channels: int = 4,
        value_channels: int = 2,
        value_hidden: int = 64,
    ):
        super().__init__()
        if channels % HEAD:
            raise BadParameter(f"net.channels={channels}: a transformer's are a multiple of {HEAD}")
        self.shape, self.channels = game.shape, channels
        self.embed = nn.Linear(len(game.planes), channels)
        self.blocks = nn.ModuleList(AttentionBlock(channels, game.shape) for _ in range(blocks))
        self.norm = nn.LayerNorm(channels)
        make = local_heads if heads == "local" else dense_heads
        self.policy, self.value = make(game, channels, policy_channels, value_channels, value_hidden)

    def features(self, planes: torch.Tensor) -> torch.Tensor:
        x = self.embed(planes.flatten(2).transpose(1, 2))  # [n, cells, channels]
        for block in self.blocks:
            x = block(x)
        return self.norm(x).transpose(1, 2).unflatten(2, self.shape)

    def answer(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.policy(features), torch.squeeze(self.value(features), 1)


class AttentionBlock(nn.Module):
    """Attention, then two layers for each cell by itself; each is added to what comes in, which is normed first."""

    def __init__(self, channels: int, shape: tuple[int, int]):
        super().__init__()
        self.heads = channels // HEAD
        self.norms = nn.ModuleList(nn.LayerNorm(channels) for _ in range(2))
        self.look, self.join = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.gate, self.back = nn.Linear(channels, 4 * channels), nn.Linear(2 * channels, channels)
        angles = rotary_angles(shape, HEAD)
        self.register_buffer("cosines", angles.cos(), persistent=False)
        self.register_buffer("sines", angles.sin(), persistent=False)
        for layer in (self.join, self.back):  # at first a block passes on what it is given
            nn.init.normal_(layer.weight, std=0.02)
            nn.init.zeros_(layer.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Cells [n, cells, channels] to cells of the same shape."""
        queries, keys, values = self.look(self.norms[0](x)).unflatten(2, (3, self.heads, HEAD)).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(self.turned(queries), self.turned(keys), values)
        x = x + self.join(seen.transpose(1, 2).flatten(2))
        gate, wide = self.gate(self.norms[1](x)).chunk(2, 2)
        return x + self.back(functional.silu(gate) * wide)

    def turned(self, x: torch.Tensor) -> torch.Tensor:
        """Each pair of numbers [n, heads, cells, numbers], turned by the angle of its cell: the product of two cells
        then depends on how far apart they are, and not on where they lie."""
        one, other = x.chunk(2, 3)
        cosines, sines = self.get_buffer("cosines"), self.get_buffer("sines")
        return torch.cat([one * cosines - other * sines, one * sines + other * cosines], 3)


def rotary_angles(shape: tuple[int, int], numbers: int) -> torch.Tensor:
    """By how much each cell turns each pair of numbers: [cells, numbers / 2]; half of the pairs know its row, half its
    column, from half a turn a cell down to the slowest."""
    speeds = 2 * torch.pi * torch.logspace(torch.tensor(0.5).log10(), torch.tensor(SLOWEST).log10(), numbers // 4)
    rows, columns = torch.meshgrid(torch.arange(shape[0]), torch.arange(shape[1]), indexing="ij")
    return torch.cat([rows.reshape(-1, 1) * speeds, columns.reshape(-1, 1) * speeds], 1)
