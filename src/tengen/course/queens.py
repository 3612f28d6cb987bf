"""n queens by min-conflicts: every column has its queen, and one that is attacked moves to where it is attacked least.

A board is counted, not looked at: how many queens stand in each row and on each diagonal. So what attacks a square is
three numbers, and a step costs at most a look at one column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import thread_time
from typing import Any, NamedTuple

import numpy as np

from tengen.rules.contract import advance, below, kernel
from tengen.rules.errors import BadParameter
from tengen.rules.kernels import entry

LARGEST = 10_000_000
STARTS = ("greedy", "random")
GREEDY, RANDOM = range(len(STARTS))
PROBES = 100  # rows that the greedy start tries for a column
SEED, TROUBLED, STEPS, MOVED = range(4)  # places in `progress`; MOVED is the column of the last step
LARGEST_WATCHED = 1000


class Queens(NamedTuple):
    """So many queens on a board as wide, and how they are put up."""

    size: int
    start: int = GREEDY


@kernel
def put(column, row, by, rows, rising, falling):
    """Counts a queen in (by = 1) or out (by = −1)."""
    rows[row] += by
    rising[column + row] += by
    falling[column - row + len(rows) - 1] += by


@kernel
def attackers(column, row, rows, rising, falling):
    """How many queens stand in the square's row and on its diagonals, one on the square itself three times."""
    return rows[row] + rising[column + row] + falling[column - row + len(rows) - 1]


@entry
def set_up(queens, progress, queen_rows, rows, rising, falling):
    """A queen for each column, all in different rows; the greedy start tries rows until a queen is not attacked.

    The boards are empty. Rows still free stand first in a list from which one is drawn and the last put in its place.
    """
    size = queens.size
    free = np.arange(size).astype(np.int32)
    seed = np.uint64(progress[SEED])
    for column in range(size):
        left, chosen = size - column, 0
        least = 4
        for _ in range(PROBES if queens.start == GREEDY else 1):
            seed = advance(seed)
            at = below(seed, left)
            attacked = attackers(column, free[at], rows, rising, falling)
            if attacked < least:
                least, chosen = attacked, at
            if least == 0:
                break
        queen_rows[column] = free[chosen]
        free[chosen] = free[left - 1]
        put(column, queen_rows[column], 1, rows, rising, falling)
    progress[SEED] = np.int64(seed)


@kernel
def list_troubled(queen_rows, rows, rising, falling, troubled):
    """The columns whose queens are attacked; returns how many."""
    count = 0
    for column in range(len(queen_rows)):
        if attackers(column, queen_rows[column], rows, rising, falling) > 3:
            troubled[count] = column
            count += 1
    return count


@kernel
def best_row(column, first, rows, rising, falling):
    """The row of a column that is attacked least; of several, the next one from `first` on. The queen is lifted."""
    size = len(rows)
    best, least = 0, 3 * size
    for i in range(size):
        row = first + i if first + i < size else first + i - size
        attacked = attackers(column, row, rows, rising, falling)
        if attacked < least:
            best, least = row, attacked
            if least == 0:
                break
    return best


@entry
def repair(queens, progress, queen_rows, rows, rising, falling, troubled, most):
    """Moves attacked queens, drawn at random, up to `most` of them. True once none is attacked.

    `troubled` lists the columns that are attacked, and some that no longer are; it is made anew when it is empty, and
    after a move that leaves a queen attacked.
    """
    seed, count, done = np.uint64(progress[SEED]), progress[TROUBLED], 0
    while done < most:
        if count == 0:
            count = list_troubled(queen_rows, rows, rising, falling, troubled)
            if count == 0:
                break
        seed = advance(seed)
        at = below(seed, count)
        column = troubled[at]
        if attackers(column, queen_rows[column], rows, rising, falling) == 3:
            count -= 1
            troubled[at] = troubled[count]
            continue
        put(column, queen_rows[column], -1, rows, rising, falling)
        seed = advance(seed)
        queen_rows[column] = best_row(column, below(seed, len(rows)), rows, rising, falling)
        put(column, queen_rows[column], 1, rows, rising, falling)
        done += 1
        progress[MOVED] = column
        if attackers(column, queen_rows[column], rows, rising, falling) > 3:
            count = 0  # it may attack others now
    progress[SEED], progress[TROUBLED] = np.int64(seed), count
    progress[STEPS] += done
    return done < most


class QueensBoard:
    """Queens being moved, and the counts that say who is attacked."""

    def __init__(self, size: int, seed: int = 1, start: str = "greedy"):
        check(size, start)
        self.queens = Queens(size, STARTS.index(start))
        self.progress = np.array([seed, 0, 0, 0], np.int64)
        self.set_up()

    def set_up(self) -> None:
        """Begins anew, with other luck."""
        size = self.queens.size
        self.queen_rows, self.troubled = np.zeros(size, np.int32), np.zeros(size, np.int32)
        self.counts = np.zeros(size, np.int32), np.zeros(2 * size - 1, np.int32), np.zeros(2 * size - 1, np.int32)
        self.progress[TROUBLED] = 0
        set_up(self.queens, self.progress, self.queen_rows, *self.counts)

    def repair(self, most: int) -> bool:
        """Up to `most` steps; True once no queen is attacked."""
        return bool(repair(self.queens, self.progress, self.queen_rows, *self.counts, self.troubled, most))

    @property
    def steps(self) -> int:
        return int(self.progress[STEPS])

    @property
    def conflicts(self) -> int:
        """Pairs of queens that attack each other along a line."""
        return int(sum((count.astype(np.int64) * (count - 1) // 2).sum() for count in self.counts))

    def attacked(self) -> np.ndarray:
        """Which columns' queens are attacked: bool [columns]."""
        rows, rising, falling = self.counts
        at, columns = self.queen_rows, np.arange(self.queens.size)
        return rows[at] + rising[columns + at] + falling[columns - at + self.queens.size - 1] > 3

    def attackers(self) -> np.ndarray:
        """How many queens of other columns attack each square: [columns, rows]. A queen compares its column by them."""
        rows, rising, falling = self.counts
        column, row = np.ogrid[: self.queens.size, : self.queens.size]
        found = rows[row] + rising[column + row] + falling[column - row + self.queens.size - 1]
        found[np.arange(self.queens.size), self.queen_rows] -= 3  # itself, on each of its lines
        return found


def check(size: int, start: str) -> None:
    if size in (2, 3):
        raise BadParameter(f"{size} queens always attack each other; take 1, or 4 and more")
    if not 1 <= size <= LARGEST:
        raise BadParameter(f"{size} queens: from 1 to {LARGEST:,}")
    if start not in STARTS:
        raise BadParameter(f"start={start!r}: queens are put up {' or '.join(STARTS)}")


@dataclass(frozen=True)
class Solution:
    """Queens that leave each other in peace, and what it took."""

    size: int
    queen_rows: np.ndarray  # [columns]
    conflicts: int  # pairs after the first start
    steps: int  # queens moved, those before another start included
    starts: int
    seconds: float  # of this process on one core, compiling left out

    def is_right(self) -> bool:
        """Whether all rows and all diagonals differ: looked at without the counts."""
        columns = np.arange(self.size)
        lines = (self.queen_rows, columns + self.queen_rows, columns - self.queen_rows)
        return all(len(np.unique(line)) == self.size for line in lines)


def patience(size: int) -> int:
    """Steps before another start: few boards need as many, and on a small one a queen may be stuck for ever."""
    return 20 + 3 * size


def solve(size: int, seed: int = 1, start: str = "greedy") -> Solution:
    """Puts queens up and moves them until none is attacked."""
    QueensBoard(8).repair(10)  # compiled before the clock starts
    began = thread_time()
    board, starts = QueensBoard(size, seed, start), 1
    conflicts = board.conflicts
    while not board.repair(patience(size)):
        board.set_up()
        starts += 1
    seconds = thread_time() - began
    return Solution(size, board.queen_rows.copy(), conflicts, board.steps, starts, seconds)


def watch(size: int, seed: int = 1, start: str = "greedy") -> Iterator[QueensBoard]:
    """The board after each step, first as it is put up, last solved. It is one board: look before the next step."""
    if size > LARGEST_WATCHED:
        raise BadParameter(f"{size} queens: the steps of {LARGEST_WATCHED} can be watched")
    board, allowed = QueensBoard(size, seed, start), patience(size)
    yield board
    while board.attacked().any():
        if board.steps >= allowed:
            board.set_up()
            allowed += patience(size)
        else:
            board.repair(1)
        yield board


@dataclass(frozen=True)
class QueensStep:
    """A board after a step, and what the step compared."""

    queen_rows: list[int]  # [columns]
    conflicts: int  # pairs
    attacked: list[int]  # columns
    column: int | None  # whose queen was moved, perhaps to where it was; None: all were put up
    came_from: int | None  # its row before
    compared: list[int]  # [rows]: queens that attacked each square of the column, the queen itself lifted


def told_steps(size: int, seed: int = 1, start: str = "greedy") -> Iterator[QueensStep]:
    """The steps of `watch`, each with what it compared."""
    steps, before, attackers = 0, [0], np.zeros((1, 1), np.int32)
    for board in watch(size, seed, start):
        now, column = board.queen_rows.tolist(), int(board.progress[MOVED]) if board.steps > steps else None
        yield QueensStep(
            queen_rows=now,
            conflicts=board.conflicts,
            attacked=np.flatnonzero(board.attacked()).tolist(),
            column=column,
            came_from=None if column is None else before[column],
            compared=[] if column is None else attackers[column].tolist(),
        )
        steps, before, attackers = board.steps, now, board.attackers()


def growth(sizes: Sequence[int], runs: int = 5, seed: int = 1, start: str = "greedy") -> list[dict[str, Any]]:
    """Steps and seconds for boards of several sizes: their means over some runs, and the extremes."""
    rows = []
    for size in sizes:
        found = [solve(size, seed + run, start) for run in range(runs)]
        steps, seconds = [each.steps for each in found], [each.seconds for each in found]
        rows.append(
            {
                "size": size,
                "conflicts": sum(each.conflicts for each in found) / runs,
                "steps": sum(steps) / runs,
                "steps_least": min(steps),
                "steps_most": max(steps),
                "seconds": sum(seconds) / runs,
                "seconds_most": max(seconds),
            }
        )
    return rows


def picture(board: QueensBoard) -> str:
    """The board as text: Q stands in peace, X is attacked."""
    size, attacked = board.queens.size, board.attacked()
    lines = []
    for row in range(size):
        cells = ["·"] * size
        for column in np.flatnonzero(board.queen_rows == row).tolist():
            cells[column] = "X" if attacked[column] else "Q"
        lines.append(" ".join(cells))
    return "\n".join(lines)
