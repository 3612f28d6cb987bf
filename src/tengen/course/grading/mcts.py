"""The assignments on e(s) and UCT."""

from __future__ import annotations

import math
import random

from tengen.course.grading.questions import Assignment, Question, expect
from tengen.course.grading.sandbox import StudentCode
from tengen.course.tictactoe_tree import E_BOARDS, open_rows
from tengen.games import load_game

EVALUATION_STARTER = '''"""The lecture's evaluation of tic-tac-toe.

A board is a list of nine cells, row by row: 0 free, 1 MAX, 2 MIN.
"""


def e(board):
    """Rows still open to MAX less rows still open to MIN."""
    raise NotImplementedError
'''
UCT_STARTER = '''"""UCT: UCB1, the best child, and the backup of two players."""


def ucb1(mean, visits, parent_visits, c):
    """mean + c * sqrt(2 ln n / n_j)."""
    raise NotImplementedError


def best_child(children, parent_visits, c):
    """The index of the child with the greatest UCB1; a child is [wins, visits], all of them visited."""
    raise NotImplementedError


def backup(path, delta):
    """BACKUPNEGAMAX: the path, from the leaf to the root, of [Q, N], after delta was counted at the leaf."""
    raise NotImplementedError
'''


def ask_e(code: StudentCode, moves: str) -> None:
    position = load_game("tictactoe").from_moves(moves)
    right = len(open_rows(position, 0)) - len(open_rows(position, 1))
    expect(code.call("e", position.board.ravel().tolist()), right, f"e(s) after {moves or 'no move'}")


def judge_boards(code: StudentCode) -> None:
    rng = random.Random(5)
    for _ in range(25):
        position = load_game("tictactoe").start()
        for _ in range(rng.randint(1, 8)):
            if position.outcome is None:
                position = position.play(rng.choice(list(position.legal_actions)))
        ask_e(code, " ".join(position.game.action_text(action) for action in position.moves))


def plain_ucb1(mean: float, visits: int, parent_visits: int, c: float) -> float:
    return mean + c * math.sqrt(2 * math.log(parent_visits) / visits)


def judge_ucb1(code: StudentCode) -> None:
    for numbers in ((0.7, 10, 21, 1.0), (0.625, 8, 21, 1.0), (0.0, 3, 21, 0.5), (1.0, 1, 2, 0.0)):
        expect(code.call("ucb1", *numbers), plain_ucb1(*numbers), f"ucb1{numbers}")


def ask_child(code: StudentCode, children: list[list[int]], c: float) -> None:
    n = sum(visits for _, visits in children)
    scores = [plain_ucb1(won / visits, visits, n, c) for won, visits in children]
    expect(code.call("best_child", children, n, c), scores.index(max(scores)), f"best_child({children}, {n}, {c})")


def judge_children(code: StudentCode) -> None:
    rng = random.Random(6)
    for _ in range(25):
        visits = [rng.randint(1, 30) for _ in range(rng.randint(2, 6))]
        ask_child(code, [[rng.randint(0, n), n] for n in visits], rng.choice([0.0, 0.5, 1.0, 2.0]))


def judge_backup(code: StudentCode) -> None:
    rng = random.Random(7)
    for _ in range(10):
        path = [[rng.randint(-5, 5), rng.randint(1, 20)] for _ in range(rng.randint(1, 6))]
        delta = rng.choice([-1, 0, 1])
        right = [[q + delta * (-1) ** level, n + 1] for level, (q, n) in enumerate(path)]
        expect(code.call("backup", path, delta), right, f"backup({path}, {delta})")


EVALUATION = Assignment(
    "evaluation",
    "the lecture's e(s) of tic-tac-toe",
    EVALUATION_STARTER,
    (
        *(
            Question(f"the lecture's {printed}", 2, lambda code, moves=moves: ask_e(code, moves))  # type: ignore[misc]
            for moves, printed in E_BOARDS
        ),
        Question("any board", 4, judge_boards),
    ),
)
UCT = Assignment(
    "uct",
    "UCB1, the best child, the negamax backup",
    UCT_STARTER,
    (
        Question("UCB1", 3, judge_ucb1),
        Question("the lecture's three children", 1, lambda code: ask_child(code, [[7, 10], [5, 8], [0, 3]], 1.0)),
        Question("without exploration", 1, lambda code: ask_child(code, [[7, 10], [5, 8], [0, 3]], 0.0)),
        Question("any children", 2, judge_children),
        Question("the backup", 3, judge_backup),
    ),
)
