"""python bench/net_match.py [--games 40] [--simulations 64] [--opening 4] NET OTHER [NET OTHER …]: nets against nets.

All games of a pair are searched side by side by PUCT without noise, each opening with both colours, so one core plays
them faster than `tengen match` does. A line is a pair: wins, draws and losses of the first, and its share of points.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from tengen.arena.match import Score
from tengen.arena.openings import random_openings
from tengen.games import load_game
from tengen.nets.runtime import Net, find_net
from tengen.search.lockstep import PUCT, Plan, search_all


def play(nets: tuple[Net, Net], games: int, plan: Plan, opening: int) -> Score:
    """The score of the first net, which moves first in every other game."""
    game = load_game(nets[0].metadata.game)
    lines = random_openings(game, opening, 1)
    positions = [game.from_actions(line) for line in (next(lines) for _ in range(games // 2)) for _ in range(2)]
    while any(position.outcome is None for position in positions):
        for side, net in enumerate(nets):
            own = [
                number
                for number, position in enumerate(positions)
                if position.outcome is None and position.to_play == (side + number) % 2
            ]
            if own:
                states = np.concatenate([positions[number].states for number in own])
                for number, action in zip(own, search_all(game, plan, states, net), strict=True):
                    positions[number] = positions[number].play(int(action))
    values = [position.outcome.value_for(number % 2) for number, position in enumerate(positions)]
    return Score(values.count(1), values.count(0), values.count(-1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nets", nargs="+")
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--simulations", type=int, default=64)
    parser.add_argument("--opening", type=int, default=4, help="random plies")
    given = parser.parse_args()
    plan = Plan(root=PUCT, simulations=given.simulations, noise=0.0, temperature=0.0, exploration=1.5)
    nets = {name: Net(find_net(name)) for name in given.nets}
    for one, other in zip(given.nets[::2], given.nets[1::2], strict=True):
        score = play((nets[one], nets[other]), given.games, plan, given.opening)
        low, high = score.interval()
        told = f"{score.wins}–{score.draws}–{score.losses}"
        print(f"{one} against {other}: {told}, {score.rate:.1%} ({low:.0%} to {high:.0%})", flush=True)


if __name__ == "__main__":
    main()
