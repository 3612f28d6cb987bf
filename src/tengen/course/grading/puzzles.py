"""The assignments on n queens and the Wumpus world."""

from __future__ import annotations

import random
from dataclasses import asdict
from statistics import mean

from tengen.course import wumpus
from tengen.course.grading.questions import Assignment, Question, expect
from tengen.course.grading.sandbox import StudentCode, Wrong

WORLDS, SIZE = 60, 4
QUEENS_STARTER = '''"""n queens by min-conflicts. A board is a list: the row, from 0, of the queen in each column."""


def conflicts(queens):
    """How many pairs of queens attack each other."""
    raise NotImplementedError


def solve(n, seed):
    """A board of n queens that do not attack each other."""
    raise NotImplementedError
'''
WUMPUS_STARTER = '''"""The Wumpus world. You begin in the lower left corner and look to the right; climb there to leave.

A percept is a dict with stench, breeze, glitter, bump and scream. Gold carried out +1000, death -1000, an action -1,
the arrow -10.
"""


def start(size):
    """A new cave of size x size squares."""


def act(percept):
    """One of left, right, forward, grab, release, shoot, climb."""
    return "climb"
'''


def attacking(queens: list[int]) -> int:
    """Pairs that share a row or a diagonal, one by one."""
    count = 0
    for i, row in enumerate(queens):
        for j in range(i):
            count += queens[j] == row or abs(queens[j] - row) == i - j
    return count


def judge_conflicts(code: StudentCode) -> None:
    rng = random.Random(8)
    for _ in range(25):
        size = rng.randint(1, 12)
        queens = [rng.randrange(size) for _ in range(size)]
        expect(code.call("conflicts", queens), attacking(queens), f"conflicts({queens})")


def ask_queens(code: StudentCode, size: int, seconds: float) -> None:
    for seed in (1, 2):
        queens = code.call("solve", size, seed, seconds=seconds)
        is_board = isinstance(queens, list) and all(type(row) is int and 0 <= row < size for row in queens)
        if not is_board or len(queens) != size:
            raise Wrong(f"solve({size}, {seed}) is no list of {size} rows from 0 to {size - 1}")
        if pairs := attacking(queens):
            raise Wrong(f"solve({size}, {seed}): {pairs} pairs attack each other")


QUEENS = Assignment(
    "queens",
    "n queens by min-conflicts",
    QUEENS_STARTER,
    (
        Question("counting conflicts", 3, judge_conflicts),
        Question("8 queens", 3, lambda code: ask_queens(code, 8, 5)),
        Question("50 queens", 2, lambda code: ask_queens(code, 50, 10)),
        Question("200 queens", 2, lambda code: ask_queens(code, 200, 10)),
    ),
)


class StudentAgent:
    """A student's agent, as the cave asks it."""

    def __init__(self, code: StudentCode, size: int):
        self.code = code
        code.call("start", size)

    def act(self, percept: wumpus.Percept) -> str:
        action = self.code.call("act", asdict(percept))
        if action not in wumpus.ACTIONS:
            raise Wrong(f"{action!r} is not an action; there are {', '.join(wumpus.ACTIONS)}")
        return str(action)


def visit(code: StudentCode, world: wumpus.World) -> wumpus.Cave:
    """A student's agent in a cave; it has as many actions as any."""
    return wumpus.final(world, StudentAgent(code, world.size))


def judge_near_gold(code: StudentCode) -> None:
    """No pits, the wumpus far away, gold two squares ahead: it must come out with it."""
    for gold in ((1, 0), (2, 0), (0, 2)):
        cave = visit(code, wumpus.World(SIZE, frozenset(), (3, 3), gold))
        if cave.is_dead or cave.score < 900:
            raise Wrong(
                f"gold at {gold}, no pits, the wumpus at (3, 3): the score is {cave.score}; it should be over 900"
            )


def judge_breeze(code: StudentCode) -> None:
    """Pits beside the start: nobody can go on safely, and to leave is best."""
    cave = visit(code, wumpus.World(SIZE, frozenset({(1, 0), (0, 1)}), (3, 3), (2, 2)))
    if cave.is_dead:
        raise Wrong("with pits on both sides of the start it died; it should have left")


def judge_many(code: StudentCode, least: float, most_dead: float) -> None:
    caves = [visit(code, world) for world in wumpus.worlds_of(WORLDS, SIZE, wumpus.PIT_CHANCE, 9)]
    score, dead = mean(cave.score for cave in caves), mean(cave.is_dead for cave in caves)
    if score < least or dead > most_dead:
        told = f"in {WORLDS} worlds the mean score is {score:.0f}, and {dead:.0%} end in death"
        raise Wrong(f"{told}; {least:.0f} at least and {most_dead:.0%} at most are asked for")


WUMPUS = Assignment(
    "wumpus",
    "an agent that reasons in the dark",
    WUMPUS_STARTER,
    (
        Question("it leaves where it cannot go on", 2, judge_breeze),
        Question("it brings gold that is near", 3, judge_near_gold),
        Question("it survives", 2, lambda code: judge_many(code, -100.0, 0.1)),
        Question("it gains", 3, lambda code: judge_many(code, 150.0, 0.1)),
    ),
)
