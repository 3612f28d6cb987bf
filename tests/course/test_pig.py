"""Pig solved by two methods that agree, the published chance, and small games beside plain fractions."""

import random
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from tengen.course.pig import PUBLISHED, first_wins, hold_at, ranges, solve_pig
from tengen.rules.errors import BadParameter


@pytest.fixture(scope="module")
def solved():
    return solve_pig()


def test_two_methods_agree_with_what_is_published(solved):
    assert solved.first_wins == pytest.approx(solved.first_wins_iterated, abs=1e-12)
    assert round(solved.first_wins, 4) == PUBLISHED == 0.5306
    assert round(solved.first_wins, 6) == 0.530593
    assert first_wins(solved.rolls, solved.rolls) == pytest.approx(solved.first_wins, abs=1e-12)


def test_hold_at_20_is_not_best(solved):
    """Against each other two who hold at 20 have the published 0.5347; the best play beats them from either seat."""
    holding = hold_at(20)
    both = first_wins(holding, holding)
    assert round(both, 4) == 0.5347
    assert first_wins(solved.rolls, holding) > both > first_wins(holding, solved.rolls)
    assert first_wins(solved.rolls, holding) > solved.first_wins > first_wins(holding, solved.rolls)


def test_the_best_play_is_no_single_number(solved):
    """With 41 points against 49: hold at 22 or more, but roll at 27."""
    assert ranges(solved.hold_totals(41, 49)) == "22 to 26, 28 to 56"
    assert solved.holds_at(0, 0) == 21
    assert solved.hold_totals(99, 0) == [] and ranges([]) == "what wins"


def test_a_simulation_agrees(solved):
    rng = np.random.default_rng(1)
    wins, games = 0, 2000
    for _ in range(games):
        points, mover, turn = [0, 0], 0, 0
        while True:
            own, other = points[mover], points[1 - mover]
            if own + turn >= 100:
                wins += mover == 0
                break
            if solved.rolls[own, other, turn]:
                face = int(rng.integers(1, 7))
                turn += face
                if face > 1:
                    continue
            else:
                points[mover] += turn
            mover, turn = 1 - mover, 0
    assert wins / games == pytest.approx(solved.first_wins, abs=4 * 0.5 / games**0.5)


def plain_chance(goal):
    """The first player's chance, by fixed strategies improved one after the other, in plain floats."""
    chance = {}

    def turn_worth(own, other, turn, lost):
        if own + turn >= goal:
            return 1.0
        return max(
            (lost + sum(turn_worth_of(own, other, turn + face, lost) for face in range(2, 7))) / 6,
            lost if turn == 0 else 1 - chance[other, own + turn],
        )

    @cache
    def turn_worth_of(own, other, turn, lost):
        return turn_worth(own, other, turn, lost)

    for points in range(2 * goal - 2, -1, -1):
        for own in range(max(0, points - goal + 1), min(goal, points + 1)):
            other = points - own
            if own > other:
                continue
            mine = theirs = 0.5
            for _ in range(300):
                mine = turn_worth(own, other, 0, 1 - theirs)
                theirs = turn_worth(other, own, 0, 1 - mine)
                turn_worth_of.cache_clear()
            chance[own, other], chance[other, own] = mine, theirs
    return chance[0, 0]


@pytest.mark.parametrize("goal", [2, 3, 7, 12])
def test_small_goals_beside_a_plain_judge(goal):
    found = solve_pig(goal)
    assert found.first_wins == pytest.approx(plain_chance(goal), abs=1e-9)
    assert found.first_wins_iterated == pytest.approx(found.first_wins, abs=1e-12)


def test_a_goal_of_two_by_hand():
    """Each roll but a 1 wins: p = 5/6 + 1/6 (1 − p), so p = 6/7."""
    assert solve_pig(2).first_wins == pytest.approx(float(Fraction(6, 7)), abs=1e-12)


def test_policies_are_random_ones_too():
    """Any two policies: the chances of both seats come to what a long simulation would; here, that they are chances."""
    rng = random.Random(1)
    for _ in range(5):
        one, two = hold_at(rng.randint(1, 30), 40), hold_at(rng.randint(1, 30), 40)
        assert 0 < first_wins(one, two) < 1


@pytest.mark.parametrize("goal", [1, 201])
def test_goals_are_bounded(goal):
    with pytest.raises(BadParameter):
        solve_pig(goal)
