"""Does an option of training pay? Runs that differ in one setting learn for the same time, then meet the base run.

    python bench/options.py gomoku8 --minutes 7 --device cuda samples6=training.samples=6.0 pooling=net.pooling=true

Each NAME=TABLE.KEY=VALUE[,TABLE.KEY=VALUE…] is one run; all learn side by side, so they have the same share of the
machine. Then every net plays the base's, colours alternating, and the table says who is better and how sure that is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from tengen.arena.match import score_of
from tengen.arena.tournament import Tournament, play_tournament
from tengen.games import load_game
from tengen.learn.settings import load_settings

EQUAL = ["training.schedule=constant", "evaluation.every=0", "run.generations=100000"]  # wherever time ends a run


def command(preset: str, folder: Path, changes: list[str], options: argparse.Namespace, minutes: float) -> list[str]:
    all_changes = [*EQUAL, f"run.groups={options.cores}", *filter(None, options.common.split(",")), *changes]
    words = [word for change in all_changes for word in ("--set", change)]
    program = [sys.executable, "-c", "from tengen.apps.cli import main; main()", "train", preset]
    return [*program, "--run", str(folder), "--device", options.device, "--minutes", str(minutes), *words]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset")
    parser.add_argument("variants", nargs="+", metavar="NAME=CHANGES")
    parser.add_argument("--minutes", type=float, default=7)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--cores", type=int, default=2, help="groups of games in each run")
    parser.add_argument("--seeds", type=int, default=2, help="runs of each variant: they differ more than one thinks")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--common", default="", metavar="CHANGES", help="of every run, the base's too")
    parser.add_argument("--out", type=Path, default=Path("runs/options"))
    options = parser.parse_args()
    variants = {"base": [], **{name: rest.split(",") for name, _, rest in (v.partition("=") for v in options.variants)}}
    seeds = range(1, options.seeds + 1)
    warm = command(options.preset, options.out / "warm", ["selfplay.positions=64"], options, 0.01)
    subprocess.run(warm, check=True, stdout=subprocess.DEVNULL)  # the kernels are compiled once, not by every run
    running = [
        subprocess.Popen(
            command(options.preset, folder, [*changes, f"run.seed={seed}"], options, options.minutes),
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=folder.with_suffix(".log").open("w"),
            stderr=subprocess.STDOUT,
        )
        for name, changes in variants.items()
        for seed in seeds
        if (folder := options.out / f"{name}-{seed}")
    ]
    for process in running:
        process.wait()
    report(options, list(variants), seeds)


def report(options: argparse.Namespace, names: list[str], seeds: range) -> None:
    """Every net of a variant against every net of the base."""
    game = load_game(load_settings(options.preset).run.game)
    print(f"{'option':16}{'games':>8}{'positions':>11}{'steps':>8}{'loss':>8}   against the base")
    for name in names:
        for seed in seeds:
            last = json.loads((options.out / f"{name}-{seed}/metrics.jsonl").read_text().splitlines()[-1])
            facts = f"{name}-{seed}"
            print(
                f"{facts:16}{last['games']:8}{last['positions']:11}{last['step']:8}{last['loss']['total']:8.3f}", end=""
            )
            for other in seeds:
                if (name, seed) <= ("base", other) and name == "base":
                    continue
                agents = [
                    f"puct:net={options.out / f'{who}'},simulations={options.simulations}"
                    for who in (f"{name}-{seed}", f"base-{other}")
                ]
                results = play_tournament(Tournament.of(game, agents, plies=4), options.games)
                score = score_of(agents[0], results.in_order())
                low, high = score.interval()
                print(
                    f"   {score.wins}–{score.draws}–{score.losses}: {score.rate:.1%} ({low:.0%} to {high:.0%})", end=""
                )
            print(flush=True)


if __name__ == "__main__":
    main()
