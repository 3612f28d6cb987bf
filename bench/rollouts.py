"""python bench/rollouts.py: games played to their end a second, by whom, on one thread.

Chance, patterns, and a policy net in lockstep, the last beside the net alone in the same run. Rates are by the
processor time of this process, so that others on the machine matter less. Without --net a network of the paper's shape
with weights that nobody trained stands in for one: it costs the same.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tengen.games import load_game
from tengen.knowledge.go_patterns import OpenEyes, Patterns
from tengen.knowledge.go_planes import PLANES, encode_states
from tengen.nets.policy9 import PlaneNetMetadata, PolicyNet
from tengen.rules.game import Game
from tengen.search.rollouts import Even, NetRollouts, QuickRollouts

ROUNDS = 5


def rate(work: Callable[[], int]) -> float:
    """The best of some rounds: what was done a second of processor time."""
    best = 0.0
    for _ in range(ROUNDS):
        began = time.process_time()
        done = work()
        best = max(best, done / (time.process_time() - began))
    return best


def quick_rate(game: Game, player: object, games: int) -> float:
    rollouts = QuickRollouts(game, player, 1)
    rollouts.repeats = games
    start, numbers = game.start().states, iter(range(ROUNDS))

    def work() -> int:
        rollouts(start, next(numbers))
        return games

    return rate(work)


def untrained(game: Game) -> bytes:
    """A policy net of the paper's shape."""
    from tengen.alphago.networks import export_net, new_network

    facts = PlaneNetMetadata("policy", game.spec)
    return export_net(new_network(game, facts).eval(), game, facts)


def net_rates(game: Game, net: PolicyNet, rows: int) -> tuple[float, float]:
    """Positions a second: the net alone on full batches, and rollouts in lockstep, in turns."""
    planes = np.random.default_rng(1).integers(2, size=(rows, PLANES, game.cells), dtype=np.uint8)
    asked = 0

    def policy(states: np.ndarray) -> np.ndarray:
        nonlocal asked
        asked += len(states)
        return net(encode_states(game, states))

    rollouts = NetRollouts(game, policy, OpenEyes(), repeats=rows, rows=rows)
    alone, played = [], []
    for number in range(ROUNDS):
        began = time.process_time()
        net(planes)
        alone.append(rows / (time.process_time() - began))
        asked, began = 0, time.process_time()
        rollouts(game.start().states, number)
        played.append(asked / (time.process_time() - began))
    return max(alone), max(played)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--net", type=Path, help="a policy net; by default one that nobody trained")
    parser.add_argument("--rows", type=int, default=16, help="games side by side")
    parser.add_argument("--games", type=int, default=5000, help="quick games a round")
    options = parser.parse_args()
    game = load_game("go:size=9,komi=5.5")
    print(f"chance    {quick_rate(game, Even(), options.games):10,.0f} games/s from the empty 9×9 board")
    print(f"patterns  {quick_rate(game, Patterns.fitted(), options.games):10,.0f} games/s")
    net = PolicyNet(options.net or untrained(game))
    alone, played = net_rates(game, net, options.rows)
    print(f"the net   {alone:10,.0f} positions/s alone, {played:,.0f} in rollouts: {played / alone:.0%}")


if __name__ == "__main__":
    main()
