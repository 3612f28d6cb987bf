"""The transposition table: what is known of positions seen before, in a fixed amount of memory.

Entries stand in pairs. The first of a pair keeps what was deepest, unless it is of an earlier search; the second takes
whatever comes. A value is for the player to move; a won game's is counted from the entry's position, not from the root.
"""

from __future__ import annotations

import numpy as np

from tengen.rules.contract import kernel
from tengen.search.evaluation import WON
from tengen.search.limits import Limit

NOTHING, UPPER, LOWER, EXACT = 0, 1, 2, 3  # what a value says: v <= value, v >= value, v == value
LEAST = 1.0  # megabytes
MOST_A_SECOND = 4_000_000  # positions that a search looks at
PROVEN = 127  # the depth of a value that no evaluation had a say in

ENTRY = np.dtype(
    [
        ("key", np.uint64),
        ("value", np.int32),
        ("action", np.int16),
        ("depth", np.int8),
        ("bound", np.uint8),  # and, above its two bits, the number of the search
    ],
    align=True,
)


def new_table(megabytes: float, entry: np.dtype = ENTRY) -> np.ndarray:
    """As many entries, a power of two, as fit. The memory is claimed here, so that no search has to wait for it."""
    table = np.zeros(2 ** max(1, (int(megabytes * 2**20) // entry.itemsize).bit_length() - 1), entry)
    table.view(np.uint8)[::4096] = 0
    return table.view(np.recarray)


def enlarged(table: np.ndarray, megabytes: float, width: int) -> np.ndarray:
    """The table, or one with more entries in its place if that much memory holds twice as many.

    An entry stands where its key says, in a bucket of `width` entries. What is known comes along; of entries that still
    share a bucket, one does.
    """
    if table.nbytes * 2 > megabytes * 2**20:
        return table
    larger = new_table(megabytes, table.dtype)
    known = table[table["key"] != 0]
    larger[(known["key"] & np.uint64(len(larger) - width)).astype(np.int64)] = known
    return larger


def megabytes_for(limit: Limit, last: int) -> float:
    """What a search within a limit can make use of, if the search before looked at `last` positions.

    To claim memory takes time, 15 ms for 128 MB: more than many a whole search.
    """
    needs = [float(limit.count)] if limit.count is not None else []
    needs += [limit.time * MOST_A_SECOND] if limit.time is not None else []
    needs += [4.0 * last] if limit.depth is not None else []
    return max(min(needs) * ENTRY.itemsize / 2**20, LEAST) if needs else float("inf")


@kernel
def find(table, key):
    """The index of a position's entry, or −1."""
    index = np.int64(key & np.uint64(len(table) - 2))
    for i in range(index, index + 2):
        if table[i].key == key and table[i].bound & 3 != NOTHING:
            return i
    return -1


@kernel
def known_value(entry, ply):
    """An entry's value as seen from the root of the search, `ply` plies above."""
    value = np.int64(entry.value)
    return value - ply if value >= WON else value + ply if value <= -WON else value


@kernel
def is_enough(entry, value, depth, alpha, beta):
    """Whether an entry settles a search to `depth` with that window."""
    if entry.depth < depth:
        return False
    bound = entry.bound & 3
    return bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha)


@kernel
def remember(table, key, ply, depth, value, bound, action, number):
    """Stores a value: in place of the same position's, else of one of an earlier search or no deeper, else second."""
    index = np.int64(key & np.uint64(len(table) - 2))
    first = table[index]
    number = number % 63 + 1  # none is 0: that is an empty entry's
    if first.key != key and first.bound >> 2 == number and first.depth > depth:
        index += 1
    elif first.key != key and first.bound >> 2 == number:
        table[index + 1] = first  # the shallower of the two moves down
    table[index].key = key
    table[index].value = value + ply if value >= WON else value - ply if value <= -WON else value
    table[index].action = action
    table[index].depth = depth
    table[index].bound = bound | number << 2
