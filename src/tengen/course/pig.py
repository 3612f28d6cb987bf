"""The dice game Pig, solved exactly: roll and add to the turn's total until you hold, or roll a 1 and lose it.

Whoever has 100 points first wins. A position is the mover's points, the other's, and the turn's total. Turns that gain
nothing lead back to where they began, so the game has no end to count back from. Two methods solve it: `iterate_values`
improves all positions at once until nothing changes, as Neller and Presser did (The UMAP Journal 25, 2004);
`solve_pairs` takes pairs of points from the end of the game backwards, and solves two linear equations for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tengen.course.pictures import Chart
from tengen.report.charts import Line
from tengen.rules.contract import kernel
from tengen.rules.errors import BadParameter
from tengen.rules.kernels import entry

GOAL, LARGEST_GOAL = 100, 200
PUBLISHED = 0.5306  # Neller and Presser: the first player's chance if both play best
TOLERANCE = 1e-14
HOLD_AT_20 = 20


class PigRules(NamedTuple):
    """The points that win, and the die: its 1 ends the turn."""

    goal: int = GOAL
    faces: int = 6


# Value iteration


@entry
def iterate_values(rules, values, tolerance):
    """Improves values [own, other, turn], the mover's chances, until no one changes by more; returns the sweeps."""
    goal, sweeps, change = rules.goal, 0, 1.0
    while change > tolerance:
        change = 0.0
        sweeps += 1
        for points in range(2 * goal - 2, -1, -1):
            for own in range(max(0, points - goal + 1), min(goal, points + 1)):
                other = points - own
                for turn in range(goal - own - 1, -1, -1):
                    lost = 1.0 - values[other, own, 0]
                    roll = lost
                    for face in range(2, rules.faces + 1):
                        total = turn + face
                        roll += 1.0 if own + total >= goal else values[own, other, total]
                    better = max(roll / rules.faces, 1.0 - values[other, own + turn, 0])
                    change = max(change, abs(better - values[own, other, turn]))
                    values[own, other, turn] = better
    return sweeps


# Pairs of points


@kernel
def turn_value(rules, own, starts, other, lost, rolls, is_chosen, constant, share):
    """What a turn is worth to the mover: constant[0] + share[0] · (1 − the other's chance with the points as they are).

    starts [points of the other, points of the mover]: the other's chances at the start of its turn, once it is worse
    off. If is_chosen, rolls [turn] is set to what is best if that share is worth `lost`; else it is followed.
    """
    for turn in range(rules.goal - own - 1, -1, -1):
        sure, open_share = 0.0, 1.0 / rules.faces
        for face in range(2, rules.faces + 1):
            if own + turn + face >= rules.goal:
                sure += 1.0 / rules.faces
            else:
                sure += constant[turn + face] / rules.faces
                open_share += share[turn + face] / rules.faces
        held = 0.0 if turn == 0 else 1.0 - starts[other, own + turn]
        held_share = 1.0 if turn == 0 else 0.0
        if is_chosen:
            rolls[turn] = sure + open_share * lost >= held + held_share * lost
        constant[turn] = sure if rolls[turn] else held
        share[turn] = open_share if rolls[turn] else held_share


@entry
def solve_pairs(rules, first, second, starts, is_chosen):
    """The chances of both players at the start of their turns: starts [player, own, other].

    first and second [own, other, turn] say where each player rolls. If is_chosen they are set to what is best, by
    policy iteration in each pair of points; else they are followed.
    """
    goal = rules.goal
    constant, share = np.zeros((2, goal)), np.zeros((2, goal))
    for points in range(2 * goal - 2, -1, -1):
        for own in range(max(0, points - goal + 1), min(goal, points + 1)):
            other, mine, theirs = points - own, 0.5, 0.5
            for _ in range(100):
                turn_value(
                    rules, own, starts[1], other, 1 - theirs, first[own, other], is_chosen, constant[0], share[0]
                )
                turn_value(rules, other, starts[0], own, 1 - mine, second[other, own], is_chosen, constant[1], share[1])
                a, b, c, d = constant[0, 0], share[0, 0], constant[1, 0], share[1, 0]
                before = mine
                mine = (a + b * (1 - c - d)) / (1 - b * d)  # mine = a + b(1 − theirs), theirs = c + d(1 − mine)
                theirs = c + d * (1 - mine)
                if mine == before or not is_chosen:
                    break
            starts[0, own, other], starts[1, other, own] = mine, theirs


@dataclass(frozen=True)
class PigSolution:
    """The game solved: when to roll, and what the first player may hope for."""

    goal: int
    first_wins: float  # by pairs of points
    first_wins_iterated: float  # by value iteration
    sweeps: int
    rolls: np.ndarray  # [own, other, turn]: whether it is best to roll

    def holds_at(self, own: int, other: int) -> int:
        """The least turn total at which it is best to hold; at or above what wins, it is the total that wins."""
        held = np.flatnonzero(~self.rolls[own, other, : self.goal - own])
        return int(held[0]) if len(held) else self.goal - own

    def hold_totals(self, own: int, other: int) -> list[int]:
        """All turn totals, short of winning, at which it is best to hold; what wins is held in any case."""
        return [int(turn) for turn in np.flatnonzero(~self.rolls[own, other, : self.goal - own])]

    def chart(self) -> Chart:
        """Where to hold, against one's own points, for some points of the other."""
        others = [other for other in (0, 50, 70, 90) if other < self.goal]
        lines = [
            Line(f"the other has {other}", [(float(own), float(self.holds_at(own, other))) for own in range(self.goal)])
            for other in others
        ]
        return Chart("Pig: hold at this turn total", lines, "own points")


def check_goal(goal: int) -> None:
    if not 2 <= goal <= LARGEST_GOAL:
        raise BadParameter(f"goal={goal}: 2 to {LARGEST_GOAL} points")


def solve_pig(goal: int = GOAL) -> PigSolution:
    """Both methods; their answers are compared by the tests, and told side by side."""
    check_goal(goal)
    rules = PigRules(goal)
    values = np.full((goal, goal, goal), 0.5)
    sweeps = int(iterate_values(rules, values, TOLERANCE))
    rolls = np.zeros((goal, goal, goal), np.bool_)
    starts = np.zeros((2, goal, goal))
    solve_pairs(rules, rolls, rolls.copy(), starts, True)
    return PigSolution(goal, float(starts[0, 0, 0]), float(values[0, 0, 0]), sweeps, rolls)


def hold_at(total: int, goal: int = GOAL) -> np.ndarray:
    """The policy of rolling until the turn's total is at least `total`, or wins: [own, other, turn]."""
    own, turn = np.ogrid[:goal, :goal]
    rolls = (turn < total) & (own + turn < goal)
    return np.ascontiguousarray(np.broadcast_to(rolls[:, None, :], (goal, goal, goal)))


def first_wins(first: np.ndarray, second: np.ndarray) -> float:
    """The first player's chance, if both follow a policy [own, other, turn]."""
    starts = np.zeros((2, len(first), len(first)))
    solve_pairs(PigRules(len(first)), first.copy(), second.copy(), starts, False)
    return float(starts[0, 0, 0])


def ranges(totals: list[int]) -> str:
    """Whole numbers in few words: 22 to 26, 28 to 58; or "what wins" if there are none."""
    parts: list[list[int]] = []
    for total in totals:
        if parts and parts[-1][1] == total - 1:
            parts[-1][1] = total
        else:
            parts.append([total, total])
    return ", ".join(f"{low} to {high}" if low < high else str(low) for low, high in parts) or "what wins"
