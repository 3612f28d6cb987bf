"""python bench/ownership.py: how well ownership and leads are estimated, by games of GNU Go against itself.

Each game begins with random moves. Its end, counted by GNU Go with what it calls dead taken off, is the truth for the
positions before: some of the middle (--moves) and of the last ten moves. It needs gnugo.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from statistics import mean

import numpy as np

from tengen.agents.gtp import GtpEngine
from tengen.agents.process import find_program
from tengen.games import load_game
from tengen.knowledge.ownership import as_it_stands, estimate
from tengen.rules.game import Position

RANDOM_MOVES = 4


def play_game(engine: GtpEngine, size: int, rng: random.Random) -> tuple[list[Position], np.ndarray]:
    """The positions of a game, and who owned each point at its end: [rows, columns]."""
    game = load_game(f"go:size={size}")
    for line in (f"boardsize {size}", "clear_board", "komi 7.5"):
        engine.ask(line)
    positions = [game.start()]
    while positions[-1].outcome is None:
        position, colour = positions[-1], "bw"[positions[-1].to_play]
        if position.ply < RANDOM_MOVES:
            text = game.action_text(rng.choice(position.legal_actions[:-1]))
            engine.ask(f"play {colour} {text}")
        else:
            text = engine.ask(f"genmove {colour}").lower()
        positions.append(position.play(text))
    board = positions[-1].board
    for vertex in engine.ask("final_status_list dead").split():
        board.flat[game.coordinates.cell(vertex.lower())] = 0
    rows = "/".join("".join(".XO"[stone] for stone in row) for row in board)
    return positions, as_it_stands(game.from_board(rows, "X"))[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--moves", type=int, nargs="*", default=[20, 40], help="plies that are judged, too")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, found = random.Random(options.seed), defaultdict(list)
    for number in range(options.games):
        seed = options.seed * 1000 + number
        program = (
            f"{find_program('gnugo') or 'gnugo'} --mode gtp --chinese-rules --level 1 --never-resign --seed {seed}"
        )
        with GtpEngine(program) as engine:
            positions, truth = play_game(engine, options.size, rng)
        last = range(max(len(positions) - 12, 1), len(positions) - 2)
        for name, plies in [*((f"move {ply}", [ply]) for ply in options.moves), ("last ten moves", last)]:
            for ply in plies:
                if ply < len(positions) - 2:
                    began = time.perf_counter()
                    view = estimate(positions[ply])
                    seconds = time.perf_counter() - began
                    right = float((np.sign(np.round(view.ownership, 6)) == truth).mean())
                    found[name].append((abs(view.lead - (float(truth.sum()) - 7.5)), right, seconds))
    print(f"{options.games} games on {options.size}×{options.size}")
    for name, rows in found.items():
        error, right, seconds = (mean(column) for column in zip(*rows, strict=True))
        print(
            f"{name:16} {len(rows):5} positions  lead off by {error:5.2f}  points right {right:6.1%}  {seconds:.3f} s"
        )


if __name__ == "__main__":
    main()
