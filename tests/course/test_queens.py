"""n queens: solved boards are solved, steps are min-conflicts steps, and a million are not too many."""

import numpy as np
import pytest

from tengen.course import queens
from tengen.course.queens import QueensBoard, growth, solve, watch
from tengen.rules.errors import BadParameter


def pairs(queen_rows):
    """Pairs that attack each other, the slow and obvious way."""
    count, rows = 0, queen_rows.tolist()
    for a in range(len(rows)):
        for b in range(a + 1, len(rows)):
            count += rows[a] == rows[b] or abs(rows[a] - rows[b]) == b - a
    return count


def attackers_of(queen_rows, column, row):
    """Queens of other columns that attack a square."""
    return sum(
        other != column and (at == row or abs(at - row) == abs(other - column))
        for other, at in enumerate(queen_rows.tolist())
    )


@pytest.mark.parametrize("start", queens.STARTS)
@pytest.mark.parametrize("size", [1, 4, 5, 6, 7, 8, 9, 10, 13, 20, 33])
def test_small_boards(size, start):
    for seed in range(8):
        found = solve(size, seed, start)
        assert found.is_right()
        assert pairs(found.queen_rows) == 0


def test_every_step_moves_an_attacked_queen_to_where_it_is_attacked_least():
    """One queen at a time, in its own column; the counts say at every moment what the board does."""
    checked, before = 0, None
    for board in watch(12, seed=5, start="random"):
        now = board.queen_rows.copy()
        assert board.conflicts == pairs(now)
        truth = [attackers_of(now, column, row) > 0 for column, row in enumerate(now.tolist())]
        assert board.attacked().tolist() == truth
        moved = [] if before is None else np.flatnonzero(now != before).tolist()
        if len(moved) == 1:  # otherwise nothing, or another start
            (column,) = moved
            assert attackers_of(before, column, before[column]) > 0
            here = [attackers_of(before, column, row) for row in range(12)]
            assert here[now[column]] == min(here)
            checked += 1
        before = now
    assert checked > 3
    assert pairs(now) == 0


def test_a_greedy_start_has_few_conflicts_and_all_rows():
    greedy, random = QueensBoard(2000, seed=3), QueensBoard(2000, seed=3, start="random")
    for board in (greedy, random):
        assert sorted(board.queen_rows.tolist()) == list(range(2000))
    assert greedy.conflicts < 40
    assert random.conflicts > 500


def test_the_same_seed_makes_the_same_board():
    first, again, other = solve(500, 7), solve(500, 7), solve(500, 8)
    assert (first.queen_rows == again.queen_rows).all() and first.steps == again.steps
    assert (first.queen_rows != other.queen_rows).any()


def test_a_million():
    """How long it took is printed by `tengen lab queens 1000000`, and not judged here."""
    found = solve(1_000_000)
    assert found.is_right()
    assert found.starts == 1
    assert found.steps < 1000  # whatever the size, some 50: that is what min-conflicts is known for


def test_growth():
    rows = growth([10, 100, 1000], runs=3)
    assert [row["size"] for row in rows] == [10, 100, 1000]
    assert all(row["steps_least"] <= row["steps"] <= row["steps_most"] for row in rows)


@pytest.mark.parametrize(
    ("size", "words"), [(2, "always attack"), (3, "always attack"), (0, "from 1"), (10**8, "from 1")]
)
def test_what_cannot_be_is_refused(size, words):
    with pytest.raises(BadParameter, match=words):
        solve(size)
    with pytest.raises(BadParameter, match="greedy or random"):
        solve(8, start="gready")
    with pytest.raises(BadParameter, match="can be watched"):
        next(watch(5000))
