"""python bench/ship.py NET NAME: makes a net (an .onnx file, or a run folder's newest) one that comes with Tengen.

It is written to src/tengen/models/NAME.onnx with its large weights as float16, after a look at what that costs: the
largest difference of a policy and of a value over random positions. Policy and value nets of the AlphaGo way go to
src/tengen/models/alphago.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from tengen.games import load_game
from tengen.knowledge.go_planes import encode_states
from tengen.nets.export import halved
from tengen.nets.metadata import NetError
from tengen.nets.policy9 import PlaneNet, PolicyNet, ValueNet
from tengen.nets.runtime import SHIPPED, Net, find_net
from tengen.rules.contract import encode
from tengen.rules.game import Game, Position
from tengen.rules.kernels import entry

POSITIONS = 500


@entry
def show(game, states, planes):
    encode(game, states[0], planes)


def random_positions(game: Game) -> Iterator[Position]:
    """Positions of random games."""
    random, position = np.random.default_rng(1), game.start()
    for _ in range(POSITIONS):
        if position.outcome is not None:
            position = game.start()
        yield position
        position = position.play(int(random.choice(position.legal_actions)))


def own_planes(game: Game) -> np.ndarray:
    """Those of the game's own `encode`."""
    planes = np.zeros((POSITIONS, len(game.planes), game.cells), np.float32)
    for shown, position in zip(planes, random_positions(game), strict=True):
        show(game.parameters, position.states, shown)
    return planes


def policies(logits: np.ndarray) -> np.ndarray:
    shares = np.exp(logits - logits.max(1, keepdims=True))
    return shares / shares.sum(1, keepdims=True)


def kind_of(content: bytes) -> type[Net] | type[PlaneNet]:
    for kind in (Net, PolicyNet):
        with suppress(NetError):
            kind(content)
            return kind
    return ValueNet


def answers(content: bytes) -> dict[str, np.ndarray]:
    """What a net says of random positions."""
    net = kind_of(content)(content)
    game = load_game(net.metadata.game)
    if isinstance(net, Net):
        logits, values = net(own_planes(game))
        return {"policies": policies(logits), "values": values}
    told = net(np.concatenate([encode_states(game, position.states) for position in random_positions(game)]))
    return {"policies": policies(told)} if isinstance(net, PolicyNet) else {"values": told}


def main() -> None:
    source, name = sys.argv[1:]
    content = find_net(source).read_bytes()
    small = halved(content)
    plain, rounded = answers(content), answers(small)
    folder = SHIPPED if kind_of(content) is Net else SHIPPED / "alphago"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.onnx").write_bytes(small)
    differences = ", ".join(f"{what} differ by {np.abs(plain[what] - rounded[what]).max():.4f}" for what in plain)
    print(f"{name}: {len(content):,} to {len(small):,} bytes; {differences}")


if __name__ == "__main__":
    main()
