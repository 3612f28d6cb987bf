"""The transposition table: what it keeps, what it gives up, and what its values mean."""

import numpy as np
import pytest

from tengen.search.evaluation import WIN
from tengen.search.limits import Limit
from tengen.search.table import (
    ENTRY,
    EXACT,
    LOWER,
    UPPER,
    enlarged,
    find,
    is_enough,
    known_value,
    megabytes_for,
    new_table,
    remember,
)


def store(table, key, depth, value=0, bound=EXACT, ply=0, number=1, action=7):
    remember(table, np.uint64(key), ply, depth, value, bound, action, number)


def kept(table):
    return {(int(entry.key), int(entry.depth)) for entry in table if entry.bound & 3}


def test_memory_is_fixed():
    for megabytes in (1, 3, 64):
        assert new_table(megabytes).nbytes <= megabytes * 2**20 < 2 * new_table(megabytes).nbytes + ENTRY.itemsize


def test_the_deepest_and_the_newest_of_a_pair_are_kept():
    table = new_table(1)
    pair = len(table)  # keys that far apart share a pair
    store(table, 4, depth=5)
    store(table, 4 + pair, depth=3)
    assert kept(table) == {(4, 5), (4 + pair, 3)}
    store(table, 4 + 2 * pair, depth=2)  # the newest takes the second place
    assert kept(table) == {(4, 5), (4 + 2 * pair, 2)}
    store(table, 4 + 3 * pair, depth=8)  # the deepest takes the first, and the one that was there moves down
    assert kept(table) == {(4 + 3 * pair, 8), (4, 5)}
    store(table, 4 + 4 * pair, depth=1, number=2)  # what an earlier search found deepest gives way
    assert kept(table) == {(4 + 4 * pair, 1), (4, 5)}
    assert find(table, np.uint64(4 + 3 * pair)) == -1


def test_the_same_position_has_one_entry():
    table = new_table(1)
    for depth in (3, 7, 2):
        store(table, 10, depth)
    assert kept(table) == {(10, 2)}


@pytest.mark.parametrize(
    ("bound", "value", "settled"),
    [
        (EXACT, 0, True),
        (LOWER, 4, False),  # v >= 4 says nothing about a window up to 5
        (LOWER, 5, True),
        (UPPER, -4, False),
        (UPPER, -5, True),
    ],
)
def test_what_a_bound_settles(bound, value, settled):
    """For the window (−5, 5): an exact value always, a lower bound from beta on, an upper bound up to alpha."""
    table = new_table(1)
    store(table, 10, depth=4, value=value, bound=bound)
    entry = table[find(table, np.uint64(10))]
    assert is_enough(entry, value, 4, -5, 5) == settled
    assert not is_enough(entry, value, 5, -5, 5)  # not deep enough


@pytest.mark.parametrize("sign", [1, -1])
def test_a_won_game_is_counted_from_the_entry(sign):
    """Won in 3 plies from a position at ply 4 of one search, found again at ply 2 of another."""
    table = new_table(1)
    store(table, 10, depth=4, value=sign * (WIN - 7), ply=4)
    assert known_value(table[find(table, np.uint64(10))], 2) == sign * (WIN - 5)


def test_a_table_grows_with_the_work_and_keeps_what_it_knows():
    table = new_table(1)
    for key in range(1, 2000):
        store(table, key * 0x9E3779B97F4A7C15 % 2**64, depth=key % 7)
    assert enlarged(table, 1.9, width=2) is table
    larger = enlarged(table, 8, width=2)
    assert larger.nbytes == 8 * 2**20
    found = {key for key, _ in kept(larger)}
    assert found == {key for key, _ in kept(table)}
    assert all(find(larger, np.uint64(key)) >= 0 for key in found)


def test_how_much_memory_a_search_can_use():
    assert megabytes_for(Limit(nodes=10**6), 0) == pytest.approx(16e6 / 2**20)
    assert megabytes_for(Limit(nodes=100), 0) == 1  # there is always some
    assert megabytes_for(Limit(time=1, depth=9), 10**6) == pytest.approx(64e6 / 2**20)
    assert megabytes_for(Limit(), 0) == float("inf")
