"""Matrix games: values that are known, the minimax theorem on any matrix, SciPy's linear programming as the judge."""

import random
from fractions import Fraction

import pytest

from tengen.course.kuhn import kuhn_matrix
from tengen.course.matrix_games import (
    BadMatrix,
    best_replies,
    column_concedes,
    dominant_choices,
    play_fictitiously,
    pure_equilibria,
    pure_guarantees,
    read_game,
    row_assures,
    solve,
)
from tengen.rules.errors import BadParameter

THIRD = Fraction(1, 3)


@pytest.mark.parametrize(
    ("name", "value", "rows"),
    [
        ("pennies", 0, [Fraction(1, 2)] * 2),
        ("rps", 0, [THIRD] * 3),
        ("morra", Fraction(-1, 12), [Fraction(7, 12), Fraction(5, 12)]),  # Russell and Norvig
        ("saddle", 1, [0, 0, 1]),
        ("3, -1; 0, 2", 1, [THIRD, 2 * THIRD]),
    ],
)
def test_values_that_are_known(name, value, rows):
    found = solve(read_game(name).first)
    assert (found.value, found.rows) == (value, rows)


def test_kuhns_poker_is_worth_minus_one_eighteenth():
    payoffs = kuhn_matrix()
    assert (len(payoffs), len(payoffs[0])) == (27, 64)
    found = solve(payoffs)
    assert found.value == Fraction(-1, 18)
    assert row_assures(payoffs, found.rows) == column_concedes(payoffs, found.columns) == found.value


def random_matrix(rng):
    rows, columns = rng.randint(1, 6), rng.randint(1, 6)
    return [[Fraction(rng.randint(-9, 9), rng.choice([1, 1, 2, 3])) for _ in range(columns)] for _ in range(rows)]


def test_the_minimax_theorem_on_any_matrix():
    """What the rows assure equals what the columns concede; a saddle point is pure max-min = min-max."""
    rng = random.Random(1)
    for _ in range(200):
        payoffs = random_matrix(rng)
        found = solve(payoffs)
        for mixture in (found.rows, found.columns):
            assert min(mixture) >= 0 and sum(mixture) == 1
        assert row_assures(payoffs, found.rows) == column_concedes(payoffs, found.columns) == found.value
        low, high = pure_guarantees(payoffs)
        assert low <= found.value <= high
        game = read_game("; ".join(", ".join(map(str, row)) for row in payoffs))
        assert bool(pure_equilibria(game)) == (low == high)


def test_scipy_finds_the_same_values():
    optimize = pytest.importorskip("scipy.optimize")
    rng = random.Random(2)
    for _ in range(50):
        payoffs = random_matrix(rng)
        rows, columns = len(payoffs), len(payoffs[0])
        # the greatest v with Σ x a ≥ v in every column
        bounds = [[-float(payoffs[i][j]) for i in range(rows)] + [1.0] for j in range(columns)]
        judged = optimize.linprog(
            [0.0] * rows + [-1.0],
            A_ub=bounds,
            b_ub=[0.0] * columns,
            A_eq=[[1.0] * rows + [0.0]],
            b_eq=[1.0],
            bounds=[(0, 1)] * rows + [(None, None)],
        )
        assert -judged.fun == pytest.approx(float(solve(payoffs).value), abs=1e-7)


def test_the_prisoners_dilemma():
    """To betray is dominant, and the only equilibrium; silence would be better for both; sums differ."""
    game = read_game("prisoners")
    assert [
        [(int(a), int(b)) for a, b in zip(*row, strict=True)] for row in zip(game.first, game.second, strict=True)
    ] == [
        [(-1, -1), (-3, 0)],
        [(0, -3), (-2, -2)],
    ]
    assert not game.is_zero_sum and game.sums() == [-4, -3, -2]
    assert pure_equilibria(game) == [(1, 1)]
    assert dominant_choices(game) == ([1], [1])
    assert game.first[0][0] > game.first[1][1] and game.second[0][0] > game.second[1][1]


def test_pure_equilibria_are_best_replies():
    rng = random.Random(3)
    for _ in range(50):
        rows = range(rng.randint(1, 4))
        columns = range(rng.randint(1, 4))
        text = "; ".join(", ".join(f"{rng.randint(0, 3)}:{rng.randint(0, 3)}" for _ in columns) for _ in rows)
        game = read_game(text)
        assert set(pure_equilibria(game)) == best_replies(game)[0] & best_replies(game)[1]
        for i, j in pure_equilibria(game):
            assert all(game.first[k][j] <= game.first[i][j] for k in rows)
            assert all(game.second[i][k] <= game.second[i][j] for k in columns)


def test_fictitious_play_closes_in_on_the_value():
    for name in ("morra", "rps", "saddle"):
        payoffs = read_game(name).first
        value = float(solve(payoffs).value)
        play = play_fictitiously(payoffs, 5000)
        assert all(
            low <= value + 1e-9 and high >= value - 1e-9 for low, high in zip(play.assured, play.conceded, strict=True)
        )
        assert play.conceded[-1] - play.assured[-1] < 0.2
        assert sum(play.rows) == pytest.approx(1) == sum(play.columns)
        assert "the value" in play.chart(value).text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no payoff"),
        ("1, 2; 3", "as many as the first"),
        ("1, x", "no payoff"),
        ("1/0", "no payoff"),
        ("1:2, 3", "first:second"),
        ("1:2:3", "first:second"),
        ("99999999999", "too large"),
        (";".join(["1"] * 65), "1 to 64 choices"),
        ("1," * 20_000, "20000 is the most"),
    ],
)
def test_bad_matrices_are_refused(text, words):
    with pytest.raises(BadMatrix, match=words):
        read_game(text)


def test_rounds_are_bounded():
    with pytest.raises(BadParameter):
        play_fictitiously([[Fraction(1)]], 0)
