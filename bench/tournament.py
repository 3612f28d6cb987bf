"""What a tournament costs beyond its agents' thinking: eight agents, every pair, on 9×9 Gomoku.

    python bench/tournament.py --games 100

Overhead is the time of all workers, from the first process started to the last game stored and the report written, less
the time that agents took to choose, as a share of the latter.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from time import perf_counter

from tengen.agents.specs import PRESETS
from tengen.arena.folder import play_in_folder
from tengen.arena.ratings import count_results, rate
from tengen.arena.tournament import Tournament
from tengen.games import load_game

AGENTS = (  # the Gobang paper's, but for the one that takes as long as all others, and one of ours
    *(name for name in PRESETS if name.startswith("gobang") and name != "gobang4"),
    "alphabeta:time=0.05",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=100, help="of each pair")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    tournament = Tournament.of(load_game("gomoku:size=9"), AGENTS)
    with tempfile.TemporaryDirectory() as folder:
        began = perf_counter()
        records = play_in_folder(tournament, options.games, Path(folder), options.workers)
        wall = perf_counter() - began
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    thought = sum(sum(record.seconds) for record in records)
    overhead = options.workers * wall / thought - 1
    print(f"{'agent':24} {'Elo':>6} {'95%':>14} {'points':>8}")
    for row in rate(count_results(records)).table:
        print(f"{row.name:24} {row.elo:+6.0f} {row.low:+6.0f} to {row.high:+5.0f} {row.points / row.games:8.1%}")
    moves = sum(len(record.seconds) for record in records)
    print(f"{len(records)} games, {moves} moves, {size / 2**20:.1f} MB kept, {options.workers} workers")
    print(f"{wall:.0f} s, of which agents thought {thought / options.workers:.0f} s: overhead {overhead:.1%}")


if __name__ == "__main__":
    main()
