"""python bench/gpu_layers.py: a convolution that answers two columns at a time beside one that answers them one by one.

Milliseconds for a layer of a block, with its bias and ReLU, and with a block's input added: see `FusedConvolution`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from gpu_search import milliseconds

from tengen.nets import graph

CASES = [(8, 64, 16384), (8, 64, 32768), (8, 32, 16384), (8, 96, 8192), (8, 128, 8192), (10, 64, 16384)]


@torch.inference_mode()
def measure(size: int, channels: int, rows: int) -> None:
    torch.manual_seed(1)
    own = nn.Conv2d(channels, channels, 3, padding=1)
    x = torch.randn(rows, channels, size, size, device="cuda", dtype=torch.bfloat16)
    x = x.to(memory_format=torch.channels_last)
    took, answers = [], []
    for columns in (1, 2):  # an odd number of columns is answered one by one
        layer = graph.FusedConvolution(own, columns).to("cuda", torch.bfloat16)
        layer = layer.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        answers.append(layer(x, x))
        stream = torch.cuda.Stream()
        for addend in (None, x):
            replay = graph.recorded(lambda layer=layer, addend=addend: layer(x, addend), stream).replay
            with torch.cuda.stream(stream):
                took.append(milliseconds(replay))
    worst = (answers[0] - answers[1]).abs().max().item()
    print(
        f"{size}×{size}, {channels:3} channels, {rows} rows: one by one {took[0]:.4f} and {took[1]:.4f} ms, "
        f"two at a time {took[2]:.4f} and {took[3]:.4f} ms; they differ by {worst:.2g} at most",
        flush=True,
    )


if __name__ == "__main__":
    graph.FEW = 1000  # whether it pays is what is measured
    for case in CASES:
        measure(*case)
