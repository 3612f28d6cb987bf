"""python bench/openings.py GAME NET [COUNT] [PLIES]: openings in which neither side is much better, one a line.

For `tengen match --openings FILE`. Stones are put at random, each within two points of another, the first near the
middle; a position is kept if the net, then a short search with it, then a longer one think it about even. No two are
the same, turned or mirrored perhaps.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from tengen import load_agent, load_game
from tengen.nets.runtime import load_net
from tengen.rules.game import Game, Position

EVEN = 0.2  # a value nearer to 0 than this
NEAR = 2  # points
LOOKS = "simulations=200,threats=1", "simulations=800,threats=1,temperature=1.8"


def random_opening(game: Game, plies: int, random: np.random.Generator) -> Position | None:
    """So many stones side by side; None if the game is over before."""
    rows, columns = game.shape
    middle = (rows // 2 + random.integers(-NEAR, NEAR + 1)) * columns + columns // 2 + random.integers(-NEAR, NEAR + 1)
    position, stones = game.start().play(int(middle)), [int(middle)]
    while len(stones) < plies:
        beside = [cell for cell in position.legal_actions if any(is_near(game, cell, stone) for stone in stones)]
        stones.append(int(random.choice(beside)))
        position = position.play(stones[-1])
        if position.outcome is not None:
            return None
    return position


def is_near(game: Game, cell: int, other: int) -> bool:
    (row, column), (there, across) = divmod(cell, game.shape[1]), divmod(other, game.shape[1])
    return max(abs(row - there), abs(column - across)) <= NEAR


def even_openings(spec: str, name: str, plies: int) -> Iterator[Position]:
    """Without end."""
    game, random, seen = load_game(spec), np.random.default_rng(1), set[bytes]()
    net, agents = load_net(name, game), [load_agent(f"puct:net={name},{look}", game) for look in LOOKS]
    while True:
        position = random_opening(game, plies, random)
        if position is None:
            continue
        _, values = net(position.encode().reshape(1, -1, game.cells))
        key = min(position.board.reshape(-1)[np.argsort(turn)].tobytes() for turn in game.symmetries)
        if abs(values[0]) < EVEN and key not in seen:
            seen.add(key)
            if all(abs(agent.choose(position).value or 0.0) < EVEN for agent in agents):
                yield position


if __name__ == "__main__":
    spec, name, *numbers = sys.argv[1:]
    count, plies = (*map(int, numbers), *(100, 5)[len(numbers) :])
    for _, position in zip(range(count), even_openings(spec, name, plies), strict=False):
        print(" ".join(position.game.action_text(move) for move in position.moves), flush=True)
