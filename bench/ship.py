"""python bench/ship.py NET NAME: makes a net (an .onnx file, or a run folder's newest) one that comes with Tengen.

It is written to src/tengen/models/NAME.onnx with its large weights as float16, after a look at what that costs: the
largest difference of a policy and of a value over random positions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from tengen.games import load_game
from tengen.nets.export import halved
from tengen.nets.runtime import SHIPPED, OnnxNet, find_net
from tengen.rules.contract import encode
from tengen.rules.kernels import entry

POSITIONS = 500


@entry
def show(game, states, planes):
    encode(game, states[0], planes)


def random_planes(game, random) -> np.ndarray:
    """Planes of positions of random games."""
    planes = np.zeros((POSITIONS, len(game.planes), game.cells), np.float32)
    position = game.start()
    for shown in planes:
        if position.outcome is not None:
            position = game.start()
        show(game.parameters, position.states, shown)
        position = position.play(int(random.choice(position.legal_actions)))
    return planes


def policies(logits: np.ndarray) -> np.ndarray:
    shares = np.exp(logits - logits.max(1, keepdims=True))
    return shares / shares.sum(1, keepdims=True)


def main() -> None:
    source, name = sys.argv[1:]
    content = find_net(source).read_bytes()
    small = halved(content)
    nets = OnnxNet(content), OnnxNet(small)
    planes = random_planes(load_game(nets[0].facts.game), np.random.default_rng(1))
    (logits, values), (other_logits, other_values) = (net(planes) for net in nets)
    policy = np.abs(policies(logits) - policies(other_logits)).max()
    value = np.abs(values - other_values).max()
    SHIPPED.mkdir(exist_ok=True)
    (SHIPPED / f"{name}.onnx").write_bytes(small)
    print(f"{name}: {len(content):,} to {len(small):,} bytes; policies differ by {policy:.4f}, values by {value:.4f}")


if __name__ == "__main__":
    main()
