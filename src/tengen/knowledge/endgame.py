"""Exact Reversi endgames: the best move and its score in discs, proven.

Boards of every size lie in the middle of 8×8 words, so that all steps are constants; the cells around a smaller board
hold no disc and are never empty. A position is `own` (the mover's discs), `other` and `empty`; with it goes `odd`, the
quadrants with an odd number of empty cells, where it is better to move.

Two searches are stacked. With few empty cells, a chain of kernels, one for each number of them, tries the odd quadrants
first. Above, a loop with its own stack ranks moves by the opponent's mobility, or by a short look ahead where there are
many empty cells, and remembers positions in a table. It can pause anywhere: Python runs it in slices and looks at the
clock between them. An agent does the same with `begin` and `proceed`.

Scores are the mover's discs minus the opponent's at the end. All searches are fail-soft: the value v of a window
(alpha, beta) is exact if alpha < v < beta; v <= alpha is an upper bound, v >= beta a lower bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from tengen.games.reversi import Reversi
from tengen.rules.bits import ONE, count_bits, highest_bit_distance, lowest_bit
from tengen.rules.contract import kernel
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game, Position
from tengen.rules.kernels import entry
from tengen.search.limits import Clock, Decision, Limit, Pace

NOTHING = np.uint64(0)
INNER_COLUMNS = np.uint64(0x7E7E7E7E7E7E7E7E)
FIRST_COLUMN, LAST_COLUMN = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
FIRST_ROW = np.uint64(0xFF)
HIGHEST = np.uint64(1 << 63)
GATHER_ROWS = np.uint64(0x0102040810204080)  # times a first column: its bits, in order, in the highest byte
LOWEST_SCORE, HIGHEST_SCORE = -128, 127  # beyond all scores: nothing is known yet
PASS, NO_MOVE = 64, 65


def ray(cell: int, right: int, down: int) -> int:
    """The cells that lie in one direction from a cell of an 8×8 board."""
    y, x = divmod(cell, 8)
    cells = 0
    while 0 <= (x := x + right) < 8 and 0 <= (y := y + down) < 8:
        cells |= 1 << (8 * y + x)
    return cells


def between_discs(at: int, line: int) -> int:
    """Twice the flips if `at` is played on a line of eight; `line` are own discs, the opponent has the rest."""
    flips = 0
    for cells in (range(at - 1, -1, -1), range(at + 1, 8)):
        distance = next((i for i, cell in enumerate(cells) if line >> cell & 1), 0)
        flips += 2 * distance
    return flips


UP = ((1, 0), (-1, 1), (0, 1), (1, 1))  # directions towards higher bits, as steps right and down
RAYS = np.array([[ray(c, *d) for d in UP] + [ray(c, -d[0], -d[1]) for d in UP] for c in range(64)], np.uint64)
DIAGONALS = np.array([[ray(c, 1, 1) | ray(c, -1, -1), ray(c, 1, -1) | ray(c, -1, 1)] for c in range(64)], np.uint64)
LAST_FLIPS = np.array([[between_discs(at, line) for line in range(256)] for at in range(8)], np.int8)
NEIGHBOURS = np.array(
    [
        sum(1 << o for o in range(64) if o != c and abs(o // 8 - c // 8) <= 1 and abs(o % 8 - c % 8) <= 1)
        for c in range(64)
    ],
    np.uint64,
)
QUADRANTS = np.array([0x0F0F0F0F << (4 * (c % 8 // 4)) << (32 * (c // 32)) for c in range(64)], np.uint64)


@kernel
def moves_both_ways(own, other, step):
    """The cells behind runs of `other` that begin at `own`, in the direction of `step` and in the opposite one."""
    twice = step + step
    up, down = other & (own << step), other & (own >> step)
    up |= other & (up << step)
    down |= other & (down >> step)
    pairs_up = other & (other << step)
    pairs_down = pairs_up >> step
    up |= pairs_up & (up << twice)
    down |= pairs_down & (down >> twice)
    up |= pairs_up & (up << twice)
    down |= pairs_down & (down >> twice)
    return (up << step) | (down >> step)


@kernel
def moves_of(own, other, empty):
    """The empty cells where `own` flips something."""
    inner = other & INNER_COLUMNS
    moves = moves_both_ways(own, inner, np.uint64(1)) | moves_both_ways(own, other, np.uint64(8))
    moves |= moves_both_ways(own, inner, np.uint64(7)) | moves_both_ways(own, inner, np.uint64(9))
    return moves & empty


@kernel
def flips_up(own, other, cells):
    """The flips on a ray towards higher bits: adding one carries to the first cell that is not `other`."""
    end = ((other | ~cells) + ONE) & cells & own
    return (end - np.uint64(end != 0)) & cells


@kernel
def flips_down(own, other, cells):
    """The flips on a ray towards lower bits: up from the highest cell that is not `other`."""
    end = (HIGHEST >> highest_bit_distance((cells & ~other) | ONE)) & cells & own
    return (NOTHING - (end << ONE)) & cells


@kernel
def flips_of(own, other, cell):
    """The discs of `other` that a disc of `own` on `cell` flips."""
    rays = RAYS[np.uint32(cell)]
    flips = flips_up(own, other, rays[0]) | flips_up(own, other, rays[1])
    flips |= flips_up(own, other, rays[2]) | flips_up(own, other, rays[3])
    flips |= flips_down(own, other, rays[4]) | flips_down(own, other, rays[5])
    return flips | flips_down(own, other, rays[6]) | flips_down(own, other, rays[7])


@kernel
def final_score(own, other, empty, award):
    """The score of a game that is over; `award` (1 or 0) says whether the winner gets the empty cells."""
    margin = count_bits(own) - count_bits(other)
    if award != 0 and margin != 0:
        margin += count_bits(empty) if margin > 0 else -count_bits(empty)
    return margin


@kernel
def flips_of_last(own, cell):
    """Twice the flips of `own` on the last empty cell: what is not its own is the opponent's, or outside."""
    cell = np.uint32(cell)
    x, y = cell & np.uint32(7), cell >> np.uint32(3)
    row = (own >> np.uint64(cell & np.uint32(56))) & FIRST_ROW
    column = (((own >> np.uint64(x)) & FIRST_COLUMN) * GATHER_ROWS) >> np.uint64(56)
    falling = ((own & DIAGONALS[cell, 0]) * FIRST_COLUMN) >> np.uint64(56)
    rising = ((own & DIAGONALS[cell, 1]) * FIRST_COLUMN) >> np.uint64(56)
    on_lines = LAST_FLIPS[x, np.uint32(row)] + LAST_FLIPS[y, np.uint32(column)]
    return np.int64(on_lines) + LAST_FLIPS[x, np.uint32(falling)] + LAST_FLIPS[x, np.uint32(rising)]


@kernel
def solve_one(own, other, cell, award):
    """The value with one empty cell."""
    margin = count_bits(own) - count_bits(other)
    flips = flips_of_last(own, cell)
    if flips != 0:
        return margin + flips + 1
    flips = flips_of_last(other, cell)
    if flips != 0:
        return margin - flips - 1
    if award == 0 or margin == 0:
        return margin
    return margin + 1 if margin > 0 else margin - 1


@kernel
def solve_two(own, other, empty, odd, alpha, beta, award, counts):
    """The value with two empty cells."""
    first, second = lowest_bit(empty), lowest_bit(empty & (empty - ONE))
    sign = 1
    for _turn in range(2):
        best = LOWEST_SCORE
        if NEIGHBOURS[np.uint32(first)] & other != 0:
            flipped = flips_of(own, other, first)
            if flipped != 0:
                counts[0] += 1
                best = -solve_one(other ^ flipped, own ^ flipped ^ (ONE << np.uint64(first)), second, award)
                if best >= beta:
                    return sign * best
        if NEIGHBOURS[np.uint32(second)] & other != 0:
            flipped = flips_of(own, other, second)
            if flipped != 0:
                counts[0] += 1
                value = -solve_one(other ^ flipped, own ^ flipped ^ (ONE << np.uint64(second)), first, award)
                best = max(best, value)
        if best != LOWEST_SCORE:
            return sign * best
        own, other = other, own
        beta, sign = -alpha, -sign
    return final_score(own, other, empty, award)


def level_above(below: Callable[..., Any], lists_moves: bool) -> Callable[..., Any]:
    """The kernel for one empty cell more than `below`'s. Moves are listed first, or found by trying all empty cells."""

    @kernel
    def solve(own, other, empty, odd, alpha, beta, award, counts):
        sign = 1
        for _turn in range(2):
            best = LOWEST_SCORE
            cells = moves_of(own, other, empty) if lists_moves else empty
            moves, later = cells & odd, cells & ~odd
            while moves | later != 0:
                if moves == 0:
                    moves, later = later, NOTHING
                cell = lowest_bit(moves)
                moves &= moves - ONE
                if lists_moves or NEIGHBOURS[np.uint32(cell)] & other != 0:
                    flipped = flips_of(own, other, cell)
                    if lists_moves or flipped != 0:
                        counts[0] += 1
                        move = ONE << np.uint64(cell)
                        value = -below(
                            other ^ flipped,
                            own ^ flipped ^ move,
                            empty ^ move,
                            odd ^ QUADRANTS[np.uint32(cell)],
                            -beta,
                            -max(alpha, best),
                            award,
                            counts,
                        )
                        if value > best:
                            best = value
                            if best >= beta:
                                return sign * best
            if best != LOWEST_SCORE:
                return sign * best
            own, other = other, own
            alpha, beta, sign = -beta, -alpha, -sign
        return final_score(own, other, empty, award)

    return solve


solve_three = level_above(solve_two, False)
solve_four = level_above(solve_three, False)
solve_five = level_above(solve_four, True)
solve_six = level_above(solve_five, True)
solve_seven = level_above(solve_six, True)
FEW = 7  # empty cells that the chain of kernels takes


@kernel
def solve_few(own, other, empty, odd, alpha, beta, award, counts):
    """The value with so few empty cells that no table and no list of moves pays."""
    count = count_bits(empty)
    if count == 7:
        return solve_seven(own, other, empty, odd, alpha, beta, award, counts)
    if count == 6:
        return solve_six(own, other, empty, odd, alpha, beta, award, counts)
    if count == 5:
        return solve_five(own, other, empty, odd, alpha, beta, award, counts)
    if count == 4:
        return solve_four(own, other, empty, odd, alpha, beta, award, counts)
    if count == 3:
        return solve_three(own, other, empty, odd, alpha, beta, award, counts)
    if count == 2:
        return solve_two(own, other, empty, odd, alpha, beta, award, counts)
    if count == 1:
        return solve_one(own, other, lowest_bit(empty), award)
    return final_score(own, other, empty, award)


class BoardMasks(NamedTuple):
    """What a board of one size is, as sets of cells, and how it is scored."""

    playable: np.uint64
    sides: np.uint64  # its first and last column
    ends: np.uint64  # its first and last row
    award: int  # 1 if the winner gets the empty cells at the end, else 0

    @classmethod
    def of_size(cls, size: int, award: bool) -> BoardMasks:
        """The board of one size in the middle of 8×8."""
        inside = range((8 - size) // 2, (8 + size) // 2)
        outermost = (inside[0], inside[-1])

        def cells(columns: Iterable[int], rows: Iterable[int]) -> np.uint64:
            return np.uint64(sum(1 << (8 * y + x) for x, y in product(columns, rows)))

        return cls(cells(inside, inside), cells(outermost, inside), cells(inside, outermost), int(award))


@kernel
def rows_with_gaps(empty):
    """All cells of the rows that have an empty cell."""
    gaps = empty | ((empty >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F))
    gaps |= gaps >> np.uint64(2)
    gaps |= gaps >> np.uint64(1)
    return (gaps & FIRST_COLUMN) * FIRST_ROW


@kernel
def columns_with_gaps(empty):
    """All cells of the columns that have an empty cell."""
    gaps = empty | (empty >> np.uint64(32))
    gaps |= gaps >> np.uint64(16)
    gaps |= gaps >> np.uint64(8)
    return (gaps & FIRST_ROW) * FIRST_COLUMN


@kernel
def diagonals_with_gaps(empty, step, kept_up, kept_down):
    """All cells of the diagonals of one kind that have an empty cell; the cells kept do not wrap when they move."""
    up = down = empty
    for _distance in range(7):
        up |= (up & kept_up) << step
        down |= (down & kept_down) >> step
    return up | down


@kernel
def stable_discs(own, empty, board):
    """Discs of `own` that can never be flipped; perhaps not all of them, but none that can be.

    A disc is stable if on each of its four lines all cells are taken, or the board ends beside it, or a stable disc of
    its own is beside it.
    """
    border = board.sides | board.ends
    safe_row = ~rows_with_gaps(empty) | board.sides
    safe_column = ~columns_with_gaps(empty) | board.ends
    safe_falling = ~diagonals_with_gaps(empty, np.uint64(9), ~LAST_COLUMN, ~FIRST_COLUMN) | border
    safe_rising = ~diagonals_with_gaps(empty, np.uint64(7), ~FIRST_COLUMN, ~LAST_COLUMN) | border
    stable, before = own & safe_row & safe_column & safe_falling & safe_rising, NOTHING
    while stable != before:
        before = stable
        grown = own & (safe_row | (stable << np.uint64(1)) | (stable >> np.uint64(1)))
        grown &= safe_column | (stable << np.uint64(8)) | (stable >> np.uint64(8))
        grown &= safe_falling | (stable << np.uint64(9)) | (stable >> np.uint64(9))
        stable |= grown & (safe_rising | (stable << np.uint64(7)) | (stable >> np.uint64(7)))
    return stable


@kernel
def neighbours_of(cells):
    """The cells beside a set of cells."""
    wide = cells | ((cells & ~LAST_COLUMN) << np.uint64(1)) | ((cells & ~FIRST_COLUMN) >> np.uint64(1))
    return (wide | (wide << np.uint64(8)) | (wide >> np.uint64(8))) & ~cells


@kernel
def weighted_mobility(own, other, empty, board):
    """How many moves `own` has; a corner counts twice."""
    moves = moves_of(own, other, empty)
    return count_bits(moves) + count_bits(moves & board.sides & board.ends)


@kernel
def worth(own, other, empty, board):
    """What one side has, in sixteenths of a disc: moves, corners in reach, corners, stable discs; edge discs are weak.

    The weights fit the exact scores of 6,000 positions with 9 to 17 empty cells (standard error: 10 discs).
    """
    moves, corners = moves_of(own, other, empty), board.sides & board.ends
    value = 26 * count_bits(moves) + 94 * count_bits(moves & corners) + 58 * count_bits(own & corners)
    return value + 17 * count_bits(stable_discs(own, empty, board)) - 8 * count_bits(own & (board.sides | board.ends))


@kernel
def evaluate(own, other, empty, board):
    """A guess at the score for the mover, in sixteenths of a disc."""
    return worth(own, other, empty, board) - worth(other, own, empty, board)


BEST_GUESS = 1_000_000  # more than any


@kernel
def look_none(own, other, empty, alpha, beta, board, counts):
    """A guess without looking ahead."""
    return evaluate(own, other, empty, board)


def look_further(below: Callable[..., Any]) -> Callable[..., Any]:
    """A guess from one move further ahead than `below`'s, by alpha-beta."""

    @kernel
    def look(own, other, empty, alpha, beta, board, counts):
        moves = moves_of(own, other, empty)
        if moves == 0:
            if moves_of(other, own, empty) == 0:
                return 16 * final_score(own, other, empty, board.award)
            return -below(other, own, empty, -beta, -alpha, board, counts)
        best = -BEST_GUESS
        while moves != 0 and best < beta:
            cell = lowest_bit(moves)
            moves &= moves - ONE
            flipped, move = flips_of(own, other, cell), ONE << np.uint64(cell)
            alpha = max(alpha, best)
            counts[0] += 1
            value = -below(other ^ flipped, own ^ flipped ^ move, empty ^ move, -beta, -alpha, board, counts)
            best = max(best, value)
        return best

    return look


look_one = look_further(look_none)
look_two = look_further(look_one)
look_three = look_further(look_two)


ENTRY = np.dtype(
    [
        ("own", np.uint64),
        ("other", np.uint64),
        ("lower", np.int8),  # the value is at least this
        ("upper", np.int8),  # and at most this
        ("move", np.uint8),  # the best cell, or PASS
        ("empties", np.uint8),  # 0 if nothing is stored here
        ("age", np.uint8),
    ],
    align=True,
)
BUCKET = 4  # entries among which a new one finds its place

FRAME = np.dtype(
    [
        ("own", np.uint64),
        ("other", np.uint64),
        ("alpha", np.int32),
        ("beta", np.int32),
        ("best", np.int32),
        ("best_move", np.int32),
        ("count", np.int32),  # moves listed
        ("next", np.int32),  # moves begun
        ("stage", np.int32),  # how the move begun last is searched
    ],
    align=True,
)
DEEPEST = 128  # frames: a pass takes one, and no two follow each other
WIDEST = 64  # moves in a position: a diagram may have more than any game

LEVEL, PHASE, VALUE, AGE, STATUS_WORDS = 0, 1, 2, 3, 4
ENTERING, TRYING, LEAVING, FINISHED = 0, 1, 2, 3  # phases of the search
WHOLE, PROBE, AGAIN = 0, 1, 2  # stages of a move: whole window, null window, to be searched again


class Memory(NamedTuple):
    """All arrays that a search works on."""

    table: np.ndarray  # [entries]
    frames: np.ndarray  # [DEEPEST]
    cells: np.ndarray  # [DEEPEST, WIDEST] moves of each frame
    flips: np.ndarray  # [DEEPEST, WIDEST] what they flip
    ranks: np.ndarray  # [DEEPEST, WIDEST] the higher, the sooner they are tried
    status: np.ndarray  # [STATUS_WORDS] where the search stands
    counts: np.ndarray  # [1] moves made, those of looks ahead included

    @classmethod
    def of_size(cls, megabytes: float) -> Memory:
        """Memory whose table takes at most so many megabytes."""
        buckets = max(1, int(megabytes * 2**20) // (ENTRY.itemsize * BUCKET))
        table = np.zeros(BUCKET << (buckets.bit_length() - 1), ENTRY)
        table["empties"] = 0  # the system hands memory out when it is written, and no search should wait for that
        return cls(
            table.view(np.recarray),
            np.zeros(DEEPEST, FRAME).view(np.recarray),
            np.zeros((DEEPEST, WIDEST), np.uint8),
            np.zeros((DEEPEST, WIDEST), np.uint64),
            np.zeros((DEEPEST, WIDEST), np.int32),
            np.zeros(STATUS_WORDS, np.int64),
            np.zeros(1, np.int64),
        )


class Thresholds(NamedTuple):
    """From how many empty cells on each refinement is used; none changes a value."""

    table: int = 8
    stability: int = 8
    children_in_table: int = 11  # a child's bound in the table may end the search of its parent
    mobility: int = 8
    look_one: int = 12
    look_two: int = 14
    look_three: int = 17


@kernel
def first_of_bucket(table, own, other):
    """The first of the entries where a position may be stored."""
    number = own * np.uint64(0x9E3779B97F4A7C15) ^ (other * np.uint64(0xC2B2AE3D27D4EB4F) >> np.uint64(7))
    number = (number ^ (number >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    buckets = np.uint64(len(table) // BUCKET)
    return np.uint32((number >> np.uint64(20)) & (buckets - ONE)) * np.uint32(BUCKET)


@kernel
def find(table, own, other):
    """The index of a position's entry, or −1."""
    first = first_of_bucket(table, own, other)
    for i in range(BUCKET):
        entry = table[first + np.uint32(i)]
        if entry.own == own and entry.other == other:
            return np.int64(first) + i
    return -1


@kernel
def remember(table, own, other, empties, lower, upper, move, age):
    """Stores bounds and the best move; what is known already gets narrower, else the least useful entry gives way.

    Least useful are entries of earlier searches, then those with the fewest empty cells.
    """
    at = find(table, own, other)
    if at >= 0:
        entry = table[np.uint32(at)]
        lower, upper = max(lower, entry.lower), min(upper, entry.upper)
    else:
        first, least = first_of_bucket(table, own, other), 1000
        for i in range(BUCKET):
            entry = table[first + np.uint32(i)]
            use = entry.empties + 64 * (entry.age == age)
            if use < least:
                least, at = use, np.int64(first) + i
        entry = table[np.uint32(at)]
    entry.own, entry.other = own, other
    entry.lower, entry.upper = lower, upper
    entry.move, entry.empties, entry.age = move, empties, age


@kernel
def guess(own, other, empty, board, refinements, counts):
    """How good a position looks for the mover; the more empty cells, the further the look ahead."""
    empties = count_bits(empty)
    if empties >= refinements.look_three:
        return look_three(own, other, empty, -BEST_GUESS, BEST_GUESS, board, counts)
    if empties >= refinements.look_two:
        return look_two(own, other, empty, -BEST_GUESS, BEST_GUESS, board, counts)
    if empties >= refinements.look_one:
        return look_one(own, other, empty, -BEST_GUESS, BEST_GUESS, board, counts)
    return 16 * weighted_mobility(own, other, empty, board) + count_bits(neighbours_of(other) & empty)


@kernel
def odd_quadrants(empty):
    """All cells of the quadrants with an odd number of empty cells."""
    odd = NOTHING
    while empty != 0:
        odd ^= QUADRANTS[np.uint32(lowest_bit(empty))]
        empty &= empty - ONE
    return odd


@kernel
def list_moves(memory, level, own, other, empty, board, refinements, hash_move):
    """Writes the moves of a frame with what they flip and their ranks; returns how many there are."""
    cells, flips, ranks = memory.cells[level], memory.flips[level], memory.ranks[level]
    moves, count, odd = moves_of(own, other, empty), 0, odd_quadrants(empty)
    is_ranked = count_bits(empty) >= refinements.mobility
    while moves != 0:
        cell = lowest_bit(moves)
        moves &= moves - ONE
        flipped, move = flips_of(own, other, cell), ONE << np.uint64(cell)
        rank = 4 * np.int64(move & odd != 0)
        if cell == hash_move:
            rank = BEST_GUESS
        elif is_ranked:
            rank -= guess(other ^ flipped, own ^ flipped ^ move, empty ^ move, board, refinements, memory.counts)
        cells[np.uint32(count)], flips[np.uint32(count)], ranks[np.uint32(count)] = cell, flipped, rank
        count += 1
    return count


@kernel
def bound_by_children(memory, level):
    """A lower bound that reaches beta, if the table has a child that proves one; else LOWEST_SCORE."""
    frame = memory.frames[level]
    for i in range(frame.count):
        flipped, move = memory.flips[level, i], ONE << np.uint64(memory.cells[level, i])
        at = find(memory.table, frame.other ^ flipped, frame.own ^ flipped ^ move)
        if at >= 0 and -memory.table[np.uint32(at)].upper >= frame.beta:
            return -np.int64(memory.table[np.uint32(at)].upper)
    return LOWEST_SCORE


@kernel
def enter(memory, level, board, refinements):
    """Opens a frame; returns its value if it is known at once, else LOWEST_SCORE with its moves listed."""
    frame = memory.frames[level]
    own, other = frame.own, frame.other
    empty = board.playable & ~(own | other)
    empties, hash_move, is_root = count_bits(empty), NO_MOVE, level == 0
    # 1. What is known of the position already; the root must find a move.
    if empties >= refinements.stability and not is_root:
        cells = count_bits(board.playable)
        if cells - 2 * count_bits(other) <= frame.alpha:
            most = cells - 2 * count_bits(stable_discs(other, empty, board))
            if most <= frame.alpha:
                return most
    if empties >= refinements.table:
        at = find(memory.table, own, other)
        if at >= 0:
            entry = memory.table[np.uint32(at)]
            hash_move = np.int64(entry.move)
            if not is_root:
                if entry.lower >= frame.beta or entry.lower == entry.upper:
                    return np.int64(entry.lower)
                if entry.upper <= frame.alpha:
                    return np.int64(entry.upper)
    # 2. Its moves, or a pass, or the end of the game.
    frame.best, frame.best_move = LOWEST_SCORE, NO_MOVE
    frame.next, frame.stage = 0, WHOLE
    frame.count = list_moves(memory, level, own, other, empty, board, refinements, hash_move)
    if frame.count == 0:
        if moves_of(other, own, empty) == 0:
            return final_score(own, other, empty, board.award)
        memory.cells[level, 0], memory.flips[level, 0], memory.ranks[level, 0] = PASS, NOTHING, 0
        frame.count = 1
    # 3. What is known of its children.
    elif empties >= refinements.children_in_table and not is_root:
        return bound_by_children(memory, level)
    return LOWEST_SCORE


@kernel
def pick_move(memory, level, begun, count):
    """Moves the best ranked of the moves not yet begun to the place `begun`."""
    cells, flips, ranks = memory.cells[level], memory.flips[level], memory.ranks[level]
    best = begun
    for i in range(begun + 1, count):
        if ranks[np.uint32(i)] > ranks[np.uint32(best)]:
            best = i
    here, there = np.uint32(begun), np.uint32(best)
    cells[here], cells[there] = cells[there], cells[here]
    flips[here], flips[there] = flips[there], flips[here]
    ranks[here], ranks[there] = ranks[there], ranks[here]


@kernel
def make_move(memory, level, at, alpha, beta):
    """Sets up the next frame with the position after one of a frame's moves."""
    frame, child = memory.frames[level], memory.frames[level + 1]
    cell, flipped = np.uint64(memory.cells[level, at]), memory.flips[level, at]
    move = NOTHING if cell == PASS else ONE << cell
    child.own, child.other = frame.other ^ flipped, frame.own ^ flipped ^ move
    child.alpha, child.beta = -beta, -alpha
    memory.counts[0] += 1


@kernel
def begin_move(memory, level):
    """Sets up the next frame with the next move: the first with the whole window, others with a null window first."""
    frame = memory.frames[level]
    alpha = max(frame.alpha, frame.best)
    if frame.stage == AGAIN:
        frame.stage = WHOLE
        make_move(memory, level, frame.next - 1, alpha, frame.beta)
        return
    pick_move(memory, level, frame.next, frame.count)
    frame.stage = PROBE if frame.next > 0 and frame.beta - alpha > 1 else WHOLE
    make_move(memory, level, frame.next, alpha, alpha + 1 if frame.stage == PROBE else frame.beta)
    frame.next += 1


@kernel
def take_value(memory, level, value):
    """Tells a frame the value of the move it has begun last."""
    frame = memory.frames[level]
    alpha = max(frame.alpha, frame.best)
    if frame.stage == PROBE and alpha < value < frame.beta:
        frame.stage = AGAIN
    elif value > frame.best:
        frame.best, frame.best_move = value, memory.cells[level, frame.next - 1]


@kernel
def finish(memory, level, board, refinements):
    """Stores what a frame has proven."""
    frame = memory.frames[level]
    empties = count_bits(board.playable & ~(frame.own | frame.other))
    if empties >= refinements.table:
        lower = frame.best if frame.best > frame.alpha else LOWEST_SCORE
        upper = frame.best if frame.best < frame.beta else HIGHEST_SCORE
        age = memory.status[AGE]
        remember(memory.table, frame.own, frame.other, empties, lower, upper, frame.best_move, age)


@kernel
def search(memory, board, refinements, most_moves):
    """Goes on with the search that stands in memory until it is finished or so many moves are made."""
    status, frames = memory.status, memory.frames
    level, phase, value = status[LEVEL], status[PHASE], status[VALUE]
    last = memory.counts[0] + most_moves
    while phase != FINISHED and memory.counts[0] < last:
        frame = frames[level]
        if phase == ENTERING:
            empty = board.playable & ~(frame.own | frame.other)
            if level > 0 and count_bits(empty) <= FEW:
                odd, alpha, beta = odd_quadrants(empty), np.int64(frame.alpha), np.int64(frame.beta)
                value = solve_few(frame.own, frame.other, empty, odd, alpha, beta, board.award, memory.counts)
                phase = LEAVING
            else:
                value = enter(memory, level, board, refinements)
                phase = LEAVING if value != LOWEST_SCORE else TRYING
        elif phase == TRYING:
            if frame.stage != AGAIN and (frame.best >= frame.beta or frame.next == frame.count):
                finish(memory, level, board, refinements)
                value, phase = np.int64(frame.best), LEAVING
            else:
                begin_move(memory, level)
                level, phase = level + 1, ENTERING
        elif level == 0:
            phase = FINISHED
        else:
            level, phase = level - 1, TRYING
            take_value(memory, level, -value)
    status[LEVEL], status[PHASE], status[VALUE] = level, phase, value
    return phase == FINISHED


@kernel
def in_the_middle(game, word):
    """A set of the game's cells as cells in the middle of 8×8."""
    size, cells = game.size, NOTHING
    margin = (8 - size) // 2
    for y in range(size):
        row = (word >> np.uint64(y * size)) & ((ONE << np.uint64(size)) - ONE)
        cells |= row << np.uint64(8 * (y + margin) + margin)
    return cells


@entry
def begin(game, states, memory, alpha, beta):
    """Sets up the search of states[0] with a window in discs of the player to move: −65 <= alpha < beta <= 65."""
    state, frame = states[0], memory.frames[0]
    frame.own = in_the_middle(game, state.discs[state.to_play])
    frame.other = in_the_middle(game, state.discs[1 - state.to_play])
    frame.alpha, frame.beta = alpha, beta
    frame.best, frame.best_move = LOWEST_SCORE, NO_MOVE
    memory.status[LEVEL], memory.status[PHASE] = 0, ENTERING


@entry
def proceed(game, memory, board, refinements, most_moves):
    """Goes on with the search for about so many moves; returns whether it is finished.

    Then status[VALUE] is the value and frames[0].best_move the cell of the best move, in the middle of 8×8. Before
    that, frames[0].best is what its moves are known to reach so far.
    """
    return search(memory, board, refinements, most_moves)


EXACT, OUTCOME = (-65, 65), (-1, 1)  # goals: the score; who wins. Any other window of scores is one, too
WORST = -64  # of all scores
SLICE = 0.004  # seconds between two looks at the clock
LEAST_SLICE = 2000  # moves in a slice
FOREVER = 2**60


@dataclass
class Endgame:
    """An exact solver that keeps what it has learned from one position to the next."""

    game: Game
    memory: float = 256  # megabytes, for the table
    award: bool = False  # whether the winner gets the empty cells: so in tournaments and problems, not in our rules
    refinements: Thresholds = field(default_factory=Thresholds)

    def __post_init__(self) -> None:
        if not isinstance(self.game.parameters, Reversi):
            raise BadParameter(f"{self.game.name} has no exact endgames; reversi has")
        if not self.memory > 0:
            raise BadParameter(f"memory={self.memory}: a table takes more than zero megabytes")
        self.board = BoardMasks.of_size(self.game.shape[0], self.award)
        self.arrays = Memory.of_size(self.memory)
        self.search(self.game.start(), Limit(nodes=1))  # compiling is no part of anybody's time to think

    def search(self, position: Position, limit: Limit, goal: tuple[int, int] = EXACT) -> Decision:
        """The best move of a position that is not over, and what it is worth; proven, unless the limit comes first.

        The goal is a window of scores of the player to move: a value inside is exact, one outside is a bound. A limit
        on nodes may be exceeded by the few thousand of one small subtree; with one on depth, the moves of a position
        with more empty cells are ranked, and no more.
        """
        goal = max(goal[0], EXACT[0]), min(goal[1], EXACT[1])
        if position.game != self.game or position.outcome is not None or goal[0] >= goal[1]:
            raise BadParameter(f"cannot solve {position!r} for {goal}: wants {self.game.spec}, not over, and a window")
        run = SolverRun(self, Clock(limit), limit.count or FOREVER)
        empties = int((position.board == 0).sum())
        self.arrays.status[AGE] = (self.arrays.status[AGE] + 1) % 256
        is_too_deep = limit.depth is not None and empties > limit.depth
        proof = run.prove(position, goal, 1 if is_too_deep else FOREVER)
        line = run.follow(position, proof) if proof.is_finished else (proof.action,)
        return Decision(
            action=proof.action,
            value=proof.value,
            principal_variation=line,
            nodes=run.nodes,
            depth=empties,
            seconds=run.clock.seconds,
            note=str(proof),
        )


@dataclass(frozen=True)
class ScoreBounds:
    """What a search has shown of a position: its value lies between two scores of the player to move."""

    action: int
    lower: int
    upper: int
    goal: tuple[int, int]
    is_finished: bool

    @property
    def value(self) -> float | None:
        """1 for a proven win of the player to move, 0 for a draw, −1 for a loss, None for what is not proven."""
        if self.lower > 0 or self.upper < 0:
            return 1.0 if self.lower > 0 else -1.0
        return 0.0 if self.lower == self.upper else None

    def __str__(self) -> str:
        if self.lower == self.upper:
            return f"exact score {self.lower:+d}"
        bound = f"score at least {self.lower:+d}" if self.lower > WORST else f"score at most {self.upper:+d}"
        if self.is_finished:
            return bound
        return f"not proven; {bound}" if self.lower > WORST else "not proven"


@dataclass
class SolverRun:
    """One use of the solver: its clock, and the nodes it has made."""

    solver: Endgame
    clock: Clock
    most_nodes: int
    nodes: int = 0

    def prove(self, position: Position, goal: tuple[int, int], most_nodes: int = FOREVER) -> ScoreBounds:
        """Searches a position until its value is known as well as the goal asks, or a limit runs out."""
        arrays, game = self.solver.arrays, self.solver.game.parameters
        begin(game, position.states, arrays, *goal)
        last = min(self.most_nodes, self.nodes + most_nodes)
        is_finished, pace = False, Pace(self.clock, LEAST_SLICE)
        while not is_finished:
            arrays.counts[0], size = 0, pace.next(last - self.nodes)
            is_finished = proceed(game, arrays, self.solver.board, self.solver.refinements, size)
            self.nodes += int(arrays.counts[0])
            pace.did(int(arrays.counts[0]))
            if self.nodes >= last or self.clock.left <= 0:
                break
        return self._proof(goal, is_finished)

    def _proof(self, goal: tuple[int, int], is_finished: bool) -> ScoreBounds:
        """What the arrays say of the root: of an unfinished search, what its finished moves have shown."""
        frame = self.solver.arrays.frames[0]
        best, begun_first = int(frame["best"]), int(self.solver.arrays.cells[0, 0])
        lower, upper = (best if best > goal[0] else WORST), (best if best < goal[1] and is_finished else -WORST)
        action = self._action(int(frame["best_move"]) if best > goal[0] or is_finished else begun_first)
        return ScoreBounds(action, lower, upper, goal, is_finished)

    def _action(self, cell: int) -> int:
        """The game's action for a cell in the middle of 8×8."""
        size = self.solver.game.shape[0]
        margin = (8 - size) // 2
        return size * size if cell == PASS else (cell // 8 - margin) * size + cell % 8 - margin

    def follow(self, position: Position, proof: ScoreBounds) -> tuple[int, ...]:
        """The line of best moves to the end of the game, or as far as the limits allow.

        The table holds what was proven, so that most positions of the line are found again at once.
        """
        line = [proof.action]
        low, high = (proof.lower - 1, proof.upper + 1) if proof.lower == proof.upper else proof.goal
        position = position.play(proof.action)
        while position.outcome is None:
            low, high = -high, -low
            proof = self.prove(position, (low, high))
            if not proof.is_finished:
                break
            line.append(proof.action)
            position = position.play(proof.action)
        return tuple(line)
