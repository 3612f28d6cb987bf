"""Positions that come again, counted in the keys since the last one-way move."""

import numpy as np

from tengen.rules.contract import kernel
from tengen.rules.repetition import remember, times_seen


@kernel
def told(keys, clock, key):
    remember(keys, clock, key)
    return times_seen(keys, clock, key)


def counts(moves, room=9):
    """What is told after each key; None is a one-way move to a new position."""
    keys, clock, found = np.zeros(room, np.uint64), 0, []
    for number, key in enumerate(moves):
        clock = 0 if key is None or number == 0 else clock + 1
        found.append(told(keys, clock, np.uint64(key if key is not None else 1000 + number)))
    return found


def test_a_position_comes_a_third_time():
    assert counts([1, 2, 3, 4, 1, 2, 3, 4, 1]) == [1, 1, 1, 1, 2, 2, 2, 2, 3]


def test_what_was_before_a_one_way_move_does_not_count():
    assert counts([1, 2, 3, 4, None, 2, 3, 4, 1, 2]) == [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]


def test_positions_that_the_ring_no_longer_holds_are_forgotten():
    assert counts([1, 2, 3, 4] * 4, room=6)[-4:] == [2, 2, 2, 2]
