"""Ratings: what results say, no less where they form a long ladder; and intervals that hold what they promise."""

import importlib.util
import itertools
import math
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from tengen.arena.ratings import (
    ELO,
    Model,
    Pool,
    RatingError,
    Result,
    check_result,
    count_results,
    expected_score,
    match_superiority,
    rate,
    ratings,
)
from tengen.games import load_game
from tengen.records.record import Record


def load_bench():
    """The simulations are those of the benchmark."""
    path = Path(__file__).parent.parent.parent / "bench" / "arena.py"
    spec = importlib.util.spec_from_file_location("bench_arena", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


bench = load_bench()


def test_two_players():
    found = ratings([["a", "b", 300, 0, 100]], "b")
    assert found["b"] == 0
    assert found["a"] == pytest.approx(400 * math.log10(3), abs=1)


def test_a_ladder_adds_up():
    """Fifteen players, each 3 : 1 against the one before; ratings are 191 apart."""
    results = [[f"g{i}", f"g{i - 1}", 300, 0, 100] for i in range(1, 15)]
    found = ratings(results, "g0")
    for i in range(15):
        assert found[f"g{i}"] == pytest.approx(i * 400 * math.log10(3), rel=0.01, abs=1)


def test_nobody_is_infinitely_strong():
    assert 0 < ratings([["a", "b", 40, 0, 0]], "b")["a"] < 1500


@pytest.mark.parametrize(("wins", "draws", "losses"), [(60, 20, 20), (15, 80, 5), (700, 200, 100), (50, 0, 50)])
def test_elo_is_that_of_the_points(wins, draws, losses):
    """Near equality, a rating and the Elo of a match are the same, whatever the share of draws."""
    elo = rate([("a", "b", 10 * wins, 10 * draws, 10 * losses)]).difference("a", "b").elo
    assert expected_score(elo) == pytest.approx((wins + draws / 2) / (wins + draws + losses), abs=0.012)


def test_half_of_each_is_the_prior_of_two_players():
    """Jeffreys's prior, by hand: 7.5, 2.5 and 1.5 make ν = 2.5 / √(7.5 · 1.5) and d = log(7.5 / 1.5)."""
    found = rate([("a", "b", 7, 2, 1)])
    nu = 2.5 / math.sqrt(7.5 * 1.5)
    assert found.draw_rate == pytest.approx(nu / (2 + nu), abs=1e-6)
    assert found.difference("a", "b").elo == pytest.approx(ELO * math.log(5) * 2 / (2 + nu), abs=1e-3)


def test_the_slope_is_the_slope():
    """The derivative that Newton's method goes by, beside differences of what it climbs."""
    rng = random.Random(1)
    pairs = itertools.permutations("abcd", 2)
    results = [check_result((*pair, rng.randrange(9), rng.randrange(9), 1)) for pair in pairs]
    model = Model(Pool.of(results), with_first_move=True)
    parameters = np.array([0.4, -0.3, 1.1, -1.2, 0.2, -0.5])
    slope, step = model.look(parameters)[1], 1e-5
    for i in range(len(parameters)):
        aside = np.eye(len(parameters))[i] * step
        change = (model.look(parameters + aside)[0] - model.look(parameters - aside)[0]) / (2 * step)
        assert slope[i] == pytest.approx(change, rel=1e-5, abs=1e-6)


def test_rows_add_up_in_any_order():
    results = [("a", "b", 3, 1, 2), ("b", "c", 4, 0, 1), ("c", "a", 2, 2, 2)]
    split = [("c", "a", 2, 0, 1), ("a", "b", 1, 1, 2), ("b", "c", 4, 0, 1), ("a", "b", 2, 0, 0), ("c", "a", 0, 2, 1)]
    one, other = rate(results), rate(split)
    for row in one.table:
        assert other.row(row.name) == pytest.approx(row, abs=1e-3)
    swapped = rate([(b, a, losses, draws, wins) for a, b, wins, draws, losses in results])
    assert swapped.row("a").elo == pytest.approx(one.row("a").elo, abs=1e-3)  # who began was not asked


def test_the_table():
    found = rate([("a", "b", 6, 2, 2), ("b", "a", 3, 1, 6), ("c", "b", 1, 0, 9)], anchor="b")
    assert [row.name for row in found.table] == ["a", "b", "c"]
    assert found.row("a")[4:] == (20, 13.5, 3)
    assert found.row("b")[4:] == (30, 15.5, 3)
    assert found.row("b")[1:4] == pytest.approx((0, 0, 0))
    assert found.row("a")[1:4] == pytest.approx(found.difference("a", "b"))
    free = rate([("a", "b", 6, 2, 2), ("b", "a", 3, 1, 6), ("c", "b", 1, 0, 9)])
    assert sum(row.elo for row in free.table) == pytest.approx(0, abs=1e-6)
    assert free.difference("a", "c") == pytest.approx(found.difference("a", "c"), abs=1e-3)
    assert free.superiority("a", "c") > 0.99
    assert free.superiority("a", "c") + free.superiority("c", "a") == pytest.approx(1)
    wide, narrow = (rate([("a", "b", 6, 2, 2)], confidence=share).difference("a", "b") for share in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.elo < narrow.high < wide.high


def test_the_first_move():
    """Equals, of whom the first wins 3 of 4 games: 191 Elo, and nobody is better for it."""
    results = [(a, b, 300, 0, 100) for a, b in itertools.permutations("abc", 2)]
    found = rate(results, first_move=True)
    assert found.first_move == pytest.approx(400 * math.log10(3), abs=1)
    low, high = found.first_move_interval
    assert low < found.first_move < high
    assert all(abs(row.elo) < 0.1 for row in found.table)
    assert rate(results).first_move is None
    one_sided = rate([("a", "b", 300, 0, 100)], first_move=True)
    assert one_sided.first_move is None
    assert "both colours" in one_sided.warnings[0]


def test_groups_that_never_met():
    found = rate([("a", "b", 30, 0, 10), ("c", "d", 10, 0, 30), ("d", "e", 1, 1, 1)])
    assert found.warnings == (
        "2 groups of players never met, not even through others, so their ratings cannot be compared: a, b; c, d, e",
    )
    assert 0.4 < found.superiority("a", "e") < 0.6  # whatever is known within the groups
    assert found.superiority("a", "b") > 0.99
    known, unknown = found.difference("a", "b"), found.difference("a", "c")
    assert known.high - known.low < 300
    assert 3000 < unknown.high - unknown.low < 10_000
    assert not rate([("a", "b", 1, 0, 0), ("b", "c", 1, 0, 0)]).warnings


@pytest.mark.parametrize(
    "results",
    [
        [],
        [("a", "b", 0, 0, 0)],
        [("a", "b", 1, 0, 0)],
        [("a", "b", 0, 1, 0)],
        [("a", "b", 0, 0, 100_000)],
        [("a", "b", 0, 100_000, 0)],
        [("a", "a", 3, 1, 2)],
        [("a", "b", 5, 0, 0), ("b", "c", 5, 0, 0), ("a", "c", 5, 0, 0)],
        [("a", "b", 5, 0, 0), ("c", "d", 0, 0, 0), ("e", "e", 0, 1, 0)],
        [(f"p{i}", f"p{i + 1}", 100, 0, 0) for i in range(60)],
    ],
)
@pytest.mark.parametrize("first_move", [False, True])
def test_whatever_was_played_the_answer_is_finite(results, first_move):
    found = rate(results, first_move=first_move)
    for row in found.table:
        assert all(map(math.isfinite, row[1:]))
        assert row.low <= row.elo <= row.high
    assert 0 <= found.draw_rate < 1
    for one, other in itertools.combinations(found.names[:5], 2):
        assert 0 <= found.superiority(one, other) <= 1


def test_one_game_says_little():
    found = rate([("a", "b", 1, 0, 0)]).difference("a", "b")
    assert found.low < 0 < found.elo < 200
    assert found.high > 600


def test_errors():
    with pytest.raises(RatingError, match=r"the anchor 'z' has no games; a, b have"):
        rate([("a", "b", 1, 0, 0)], anchor="z")
    with pytest.raises(RatingError, match=r"'z' has no games"):
        rate([("a", "b", 1, 0, 0)]).superiority("a", "z")
    with pytest.raises(RatingError, match=r"confidence=95 is out of range"):
        rate([("a", "b", 1, 0, 0)], confidence=95)
    for wrong in [("a", "b", 1, 0), ("a", "b", -1, 0, 0), ("a", "b", 1, 0, 0.5), ("a", "b", "1", 0, 0), 7, ("a",)]:
        with pytest.raises(RatingError, match="is not a result"):
            rate([wrong])


def test_superiority_in_a_match():
    assert match_superiority(0, 7, 0) == 0.5
    assert match_superiority(1, 0, 0) == pytest.approx(3 / 4)  # the integral of 2p from one half
    assert match_superiority(5, 3, 2) == pytest.approx(1 - match_superiority(2, 9, 5))
    wins, losses = 60, 40
    assert match_superiority(wins, 0, losses) == pytest.approx(
        1 - 0.5 * math.erfc((wins - losses) / math.sqrt(2 * (wins + losses))), abs=0.005
    )
    assert match_superiority(100_000, 0, 99_000) == pytest.approx(0.98748, abs=1e-4)
    drawn = sum(np.random.default_rng(1).beta(6, 3, 100_000) > 0.5) / 100_000
    assert match_superiority(5, 0, 2) == pytest.approx(drawn, abs=0.006)


def test_results_of_records():
    game = load_game("tictactoe")
    records = [
        Record(game, (), players, result)
        for players, result in [(("a", "b"), "B+"), (("a", "b"), "W+T"), (("b", "a"), "0"), (("a", "b"), "?")]
    ]
    assert count_results(records) == [Result("a", "b", 1, 0, 1), Result("b", "a", 0, 1, 0)]


@pytest.mark.parametrize(
    ("pool", "games", "draw_rate"), [("8 over 350 Elo", 100, 0.2), ("8 equals", 10, 0.0), ("8 over 1400 Elo", 10, 0.6)]
)
def test_intervals_hold_the_truth(pool, games, draw_rate):
    """90% of 90% intervals. Intervals narrower or wider by a tenth would hold 86.1% or 93.0%."""
    found = bench.coverage(bench.POOLS[pool], games, draw_rate, simulations=500, seed=7)
    assert found.differences == pytest.approx(0.9, abs=0.02)
    assert found.ratings == pytest.approx(0.9, abs=0.02)
    assert found.first_move == pytest.approx(0.9, abs=0.045)
