"""The slides on AlphaZero's search: their example on 3×3, simulation by simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tengen.course.reproduce.page import Claim, Options, claim, write_experiment
from tengen.games import load_game
from tengen.report.diagrams import draw_board
from tengen.rules.game import Game
from tengen.search.puct import Puct
from tengen.search.tree import ROOT

CELLS = {7: "a3", 8: "b3", 9: "c3", 4: "a2", 5: "b2", 6: "c2", 1: "a1", 2: "b1", 3: "c1"}  # as the slides number them
ANSWERS = [  # the network's: priors by cell, and a value for the player to move
    ({2: 0.4, 3: 0.1, 6: 0.05, 7: 0.1, 8: 0.15, 9: 0.2}, 0.0),
    ({3: 0.2, 6: 0.15, 7: 0.1, 8: 0.25, 9: 0.3}, -0.1),
    ({2: 0.25, 3: 0.2, 6: 0.1, 7: 0.2, 8: 0.25}, -0.2),
]
EXPLORATION = 5.0
FINAL_VISITS = {2: 40, 3: 10, 6: 5, 7: 10, 8: 15, 9: 320}
EXACT = 1e-6


class Slides:
    """A network that answers what the slides say, one answer after the other."""

    def __init__(self, game: Game):
        self.game, self.answers = game, iter(ANSWERS)

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        priors, value = next(self.answers)
        return logits_of(self.game, priors)[None], np.array([value], np.float32)


def logits_of(game: Game, priors: dict[int, float]) -> np.ndarray:
    """What a network says that has these priors, by the slides' numbers of cells."""
    logits = np.full(game.actions, -50, np.float32)
    for cell, prior in priors.items():
        logits[game.parse_action(CELLS[cell])] = math.log(prior)
    return logits


def reproduce_slides(options: Options) -> None:
    game = load_game("tictactoe")
    position = game.from_moves("a1 a2 b2")  # cells 1 and 5 are Black's, 4 is White's
    search = Puct(game, Slides(game), exploration=EXPLORATION, urgency=-1, batch=1, memory=1)

    def edge(cell: int, node: int = ROOT) -> Any:
        action = game.parse_action(CELLS[cell])
        return next(edge for edge in search.edges_of(node) if edge.action == action)

    claims: list[Claim] = []

    def say(step: str, cell: int, node: int, visits: int, total: float) -> None:
        found = edge(cell, node)
        claims.append(claim(f"{step}: N of {cell}", visits, int(found.visits)))
        claims.append(claim(f"{step}: W of {cell}", total, float(found.value), EXACT))
        claims.append(claim(f"{step}: Q of {cell}", total / visits, float(found.value) / int(found.visits), EXACT))

    def expect_priors(step: str, node: int, answer: int) -> None:
        for cell, prior in ANSWERS[answer][0].items():
            claims.append(claim(f"{step}: P of {cell}", prior, float(edge(cell, node).prior), EXACT))

    search.move_to(position)
    expect_priors("expansion of the root", ROOT, 0)
    search.simulate(1)
    say("1st, a tie: the highest prior", 2, ROOT, 1, 0.1)
    below = int(edge(2).child)
    expect_priors("1st, below 2", below, 1)
    bound = 0.1 + EXPLORATION * 0.4 * math.sqrt(1) / 2
    claims.append(claim("Q + U of 2", 1.1, bound, EXACT))
    search.simulate(1)
    say("2nd, 2 and then 9: Black wins", 9, below, 1, 1.0)
    say("2nd", 2, ROOT, 2, -0.9)
    claims.append(claim("U of 9 = 5 · 0.2 · √2", 1.414, EXPLORATION * 0.2 * math.sqrt(2), 5e-4))
    search.simulate(1)
    say("3rd, 9", 9, ROOT, 1, 0.2)
    expect_priors("3rd, below 9", int(edge(9).child), 2)
    total = sum(FINAL_VISITS.values())
    for cell, visits in FINAL_VISITS.items():
        claims.append(claim(f"after 400: π of {cell}, τ = 1", visits / 400, visits / total, EXACT))
    board = f'<div class="games"><figure class="card">{draw_board(position)}</figure></div>'
    write_experiment(
        options,
        "AlphaZero's search, step by step",
        "White is to play on 3×3; cells are numbered 1 2 3 from the left of the bottom row; c = 5. The network's "
        "answers are those of the slides, all else is what our search does. The slides count the root's own expansion "
        "as a visit.",
        claims,
        [("The position", board)],
    )
