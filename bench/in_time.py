"""python bench/in_time.py [GAME STEPS]…: do searches begin together, as a GPU likes it? Counted on a CPU.

A GPU's step is as long as its slowest block of rows, and slow are those with a row at its root. Rows whose games have
ended wait for the next look; it comes after 32 steps, or after the 33 of a search (see `GpuGroup.play`). A stand-in for
the network says nothing in particular. Counted are the last third of the steps.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from tengen.games import load_game
from tengen.learn.selfplay import Opening, begin_games, new_trajectories, play_row
from tengen.rules.kernels import entry
from tengen.search.lockstep import Plan, expand_and_backup, new_rows, row_of

CASES = [("go:size=9", 9000), ("gomoku:size=9", 5000), ("reversi", 6000), ("connect4", 4000)]
ROWS, BLOCK, ANSWERS = 512, 8, 64


@entry
def play_unended(game, plan, rows, trajectory, priors, values):
    """As a GPU's rows do: those whose game has ended wait."""
    for i in range(len(rows.progress)):
        if trajectory.ended[i] == 0:
            row = row_of(rows, i, rows.actions[i], rows.weights[i], rows.planes[i])
            expand_and_backup(game, plan, row, priors[i], values[i])
            play_row(game, plan, row, trajectory, i)


def count(spec: str, steps: int, between: int) -> None:
    game, plan, random = (
        load_game(spec),
        Plan(simulations=32, value_scale=0.25, chance_plies=1000),
        np.random.default_rng(1),
    )
    rows, trajectory, opening = (
        new_rows(game, plan, ROWS, 1),
        new_trajectories(game, ROWS, 4 * game.cells + 100),
        Opening(4),
    )
    begin_games(game.parameters, rows, trajectory, opening, True)
    priors = random.dirichlet(np.ones(game.actions), (ANSWERS, ROWS)).astype(np.float32)
    quiet, blocks, waiting = 0, 0.0, 0.0
    for step in range(steps):
        if step >= steps * 2 // 3:
            at_root = (rows.progress.length == 0) & (trajectory.ended == 0)
            share = at_root.reshape(-1, BLOCK).any(axis=1).mean()
            quiet, blocks, waiting = quiet + (share < 0.05), blocks + share, waiting + (trajectory.ended > 0).mean()
        values = 0.05 * random.standard_normal(ROWS, np.float32)
        play_unended(game.parameters, plan, rows, trajectory, priors[step % ANSWERS], values)
        if step % between == between - 1:
            begin_games(game.parameters, rows, trajectory, opening, False)
    counted = steps - steps * 2 // 3
    print(
        f"{spec:14} looks after {between} steps: in {quiet / counted:.0%} of the steps fewer than 5% of the blocks "
        f"have a row at its root, on average {blocks / counted:.0%}; {waiting / counted:.1%} of the rows wait",
        flush=True,
    )


if __name__ == "__main__":
    given = sys.argv[1:]
    for spec, steps in list(zip(given[::2], map(int, given[1::2]), strict=True)) or CASES:
        for between in (32, 33):
            count(spec, steps, between)
