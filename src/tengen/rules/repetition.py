"""Repeated positions, for games that draw by repetition: the keys of the positions since the last one-way move.

A one-way move, such as a capture or a pawn's step, leaves a position that nothing before it can equal, so nothing
before it need be kept. A game's record has `("keys", np.uint64, MOST)` and a clock, the plies since the last one-way
move; MOST is more than the clock at which the game is drawn anyway. `start`, `setup` and `play` remember the position
that they make.
"""

from __future__ import annotations

from tengen.rules.contract import kernel


@kernel
def remember(keys, clock, key):
    """Keeps the key of the position that stands on the board `clock` plies after the last one-way move."""
    keys[clock % len(keys)] = key


@kernel
def times_seen(keys, clock, key):
    """How often a position with this key has stood on the board, now included; players have taken turns since then.

    It cannot have been less than four plies ago: each player moves away and back.
    """
    count = 1
    for back in range(4, min(clock, len(keys) - 1) + 1, 2):
        count += keys[(clock - back) % len(keys)] == key
    return count
