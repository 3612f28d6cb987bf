"""The clock lasts: whole games are simulated with answers that come late."""

import math
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tengen import load_game
from tengen.apps.timing import LATE, LEAST, LONGEST, moves_at_most, seconds_for

SPECS = ["tictactoe", "connect4", "reversi", "gomoku:size=15", "go:size=9"]


def random_game(spec, seed):
    """The positions of a random game that are not over. In Go nobody passes, and it is over after two full boards."""
    chance, position = random.Random(seed), load_game(spec).start()
    while position.outcome is None and position.ply < 2 * position.game.cells:
        yield position
        legal = position.legal_actions
        position = position.play(chance.choice(legal[:-1] or legal))


def time_left(spec, seed, clock, lateness, player=0):
    """What is left on the player's clock after a game in which every answer is as late as `lateness` says."""
    for position in random_game(spec, seed):
        if position.to_play == player:
            clock -= seconds_for(position, clock) + lateness()
        if clock <= 0:
            break
    return clock


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("scarcity", [1.05, 1.5, 4.0, 100.0])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_time_lasts_for_a_game_though_every_answer_is_as_late_as_can_be(spec, scarcity, seed):
    clock = scarcity * LATE * moves_at_most(load_game(spec).start())
    lateness = LATE / 2 if spec.startswith("go") else LATE  # games of Go are twice as long as the board has points
    assert time_left(spec, seed, clock, lambda: lateness) > 0


@pytest.mark.parametrize("spec", SPECS)
def test_the_time_lasts_though_answers_are_late_by_chance(spec):
    chance = random.Random(7)
    for seed in range(3):
        plies = len(list(random_game(spec, seed)))
        assert time_left(spec, seed, 0.04 * plies / 2 + 0.5, lambda: chance.uniform(0, 0.06)) > 0


@pytest.mark.parametrize("spec", SPECS)
def test_time_that_is_there_is_used(spec):
    """Of ten minutes, most of a clock is spent where a game goes its full length; never half of it on one move."""
    position = load_game(spec).start()
    assert 600 / moves_at_most(position) <= seconds_for(position, 600) <= 300
    if spec != "tictactoe":
        assert time_left(spec, 1, 600.0, lambda: 0.0) < 200


def test_overtime_is_used_up_but_for_a_margin():
    position = load_game("reversi").start()
    assert 25 < seconds_for(position, 30, moves=1) <= 30 - LATE
    assert 25 < seconds_for(position, 300, moves=10) <= 30 - LATE
    assert 0 < seconds_for(position, 0.1, moves=1) <= 0.1 - LATE + 1e-9
    assert seconds_for(position, 0.02, moves=1) <= 0.02 / 2


@settings(max_examples=100)
@given(clock=st.floats(0.2, 1000), count=st.integers(1, 25), seed=st.integers(0, 5))
def test_canadian_overtime_lasts(clock, count, seed):
    """`clock` seconds for `count` moves; when those are made, the clock is as it was."""
    if clock / count < 2 * LATE:
        return
    left, moves = clock, count
    for position in random_game("connect4", seed):
        left, moves = left - seconds_for(position, left, moves) - LATE, moves - 1
        assert left > 0
        if moves == 0:
            left, moves = clock, count


def test_a_limit_on_each_move_is_kept():
    position = load_game("gomoku").start()
    assert 4 < seconds_for(position, 1e6, most=5.0) <= 5 - LATE
    assert seconds_for(position, 10.0, most=1000.0) < 1
    assert seconds_for(position, 1e6, moves=3, most=0.01) <= 0.01


def test_where_there_is_no_choice_no_time_is_spent():
    position = load_game("mnk:m=3,n=1,k=3").from_moves("a1 b1")
    assert seconds_for(position, 1e6) == LEAST


@settings(max_examples=300)
@given(
    left=st.floats(),
    moves=st.integers(-(10**30), 10**30),
    most=st.none() | st.floats(),
)
@example(left=0.0, moves=0, most=None)
@example(left=-5.0, moves=3, most=None)
@example(left=1e-9, moves=0, most=None)
@example(left=1e18, moves=0, most=None)
@example(left=math.nan, moves=0, most=math.nan)
@example(left=math.inf, moves=1, most=math.inf)
@example(left=1e18, moves=0, most=-1.0)
def test_absurd_clocks_give_a_time_that_a_search_can_keep(left, moves, most):
    seconds = seconds_for(load_game("connect4").start(), left, moves, most)
    assert LEAST <= seconds <= LONGEST
    if left >= 1:
        assert seconds <= left
