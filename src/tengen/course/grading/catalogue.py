"""The assignments by name."""

from __future__ import annotations

from tengen.course.grading.mcts import EVALUATION, UCT
from tengen.course.grading.puzzles import QUEENS, WUMPUS
from tengen.course.grading.questions import Assignment
from tengen.course.grading.reversi import MINI_ALPHAGO
from tengen.course.grading.trees import ALPHABETA, MINIMAX
from tengen.rules.errors import BadParameter, nearest

ASSIGNMENTS = {each.name: each for each in (MINIMAX, ALPHABETA, EVALUATION, UCT, MINI_ALPHAGO, QUEENS, WUMPUS)}


def assignment_of(name: str) -> Assignment:
    """The assignment of a name."""
    if name not in ASSIGNMENTS:
        raise BadParameter(f"there is no assignment {name!r}{nearest(name, list(ASSIGNMENTS))}")
    return ASSIGNMENTS[name]
