"""Chess by material, where pieces stand, mobility, pawns and the king's shelter; a middlegame's score and an endgame's.

Where pieces stand is kept in notes and brought up to date move by move; the rest is counted on sets of squares.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tengen.games.chess import (
    BISHOP,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    UNDERPROMOTIONS,
    around,
    attacked_by,
    jumps,
    pawns_attack,
    piece_on,
    slide,
    step_to,
    target_of,
)
from tengen.rules.bits import ONE, count_bits, lowest_bit
from tengen.rules.contract import kernel, legal, rules

VALUES = (100, 320, 330, 500, 950, 0)  # in hundredths of a pawn
GAINS = (1, 3, 3, 5, 9, 0)  # to order captures by
PHASES = (0, 1, 1, 2, 4, 0)  # what a piece counts towards the middlegame; 24 in all at the start
WHOLE = 24
CAPTURE, BAD_CAPTURE = 1 << 20, -(1 << 20)  # in the order of actions: before killers, or after all else
LATE, VERY_LATE = 4, 14  # actions tried before a quiet one of which less, or little, is expected
SEVENTH = np.uint64(0x00FF00000000FF00)  # both players' pawns that are about to promote, or have not moved
FILE = np.uint64(0x0101010101010101)

NOTES = np.dtype([("middlegame", np.int32), ("endgame", np.int32)], align=True)  # White's less Black's


class Classical(NamedTuple):
    """What chess books teach, in hundredths of a pawn."""

    squares: Any  # [2 phases, 6 kinds, 64]: a white piece's value on each square, material included
    passed: Any  # [8]: what a passed pawn is worth in an endgame, by how many rows it has to go
    mobility: Any  # [6]: for each attacked square, by kind
    doubled: int = 12
    isolated: int = 14
    pair: int = 35  # of bishops
    shelter: int = 9  # each own pawn beside the king, in a middlegame
    danger: int = 7  # each square beside the king that the opponent attacks
    open_file: int = 18  # for a rook
    tempo: int = 10

    @classmethod
    def made(cls) -> Classical:
        passed = np.array([0, 110, 70, 42, 24, 12, 6, 0], np.int32)
        return cls(square_values(), passed, np.array([0, 4, 4, 2, 1, 0], np.int32))

    @property
    def scale(self):
        return 200.0

    def record(self, game):
        return NOTES


def square_values() -> np.ndarray:
    """A white piece's value on each square: [2, 6, 64]."""
    y, x = np.divmod(np.arange(64), 8)
    rank, edge = 7 - y, np.minimum(x, 7 - x)  # rank 0 is White's first; edge 3 are the files in the middle
    centre = edge + np.minimum(y, 7 - y)  # 0 in the corners, 6 in the centre
    middlegame, endgame = np.zeros((6, 64)), np.zeros((6, 64))
    middlegame[PAWN] = 2 * rank * (edge == 3) + np.array([0, 0, 2, 8, 14, 24, 40, 0])[rank] + 6 * (edge == 3) - 6
    endgame[PAWN] = np.array([0, 4, 8, 14, 24, 40, 64, 0])[rank] - 2 * (edge == 3)
    middlegame[KNIGHT], endgame[KNIGHT] = 9 * centre - 30 - 8 * (rank == 0), 7 * centre - 26
    middlegame[BISHOP], endgame[BISHOP] = 4 * centre - 10 - 10 * (rank == 0), 3 * centre - 8
    middlegame[ROOK], endgame[ROOK] = 18 * (rank == 6) + 4 * edge - 6, 6 * (rank >= 5) + 4
    middlegame[QUEEN], endgame[QUEEN] = 2 * centre - 6 * (rank == 0), 6 * centre - 16
    middlegame[KING] = -24 * np.minimum(rank, 3) - 14 * np.maximum(edge - 1, 0) + 20 * (edge == 1) * (rank == 0)
    endgame[KING] = 10 * centre - 34
    material = np.array(VALUES, np.int32)[:, None]
    return np.stack([middlegame, endgame]).astype(np.int32) + material


# Notes.


@kernel
def add(evaluation, notes, squares, kind, player, sign):
    """Adds the values of pieces of one kind on a set of squares."""
    while squares != 0:
        cell = lowest_bit(squares)
        squares &= squares - ONE
        seen = cell if player == 0 else cell ^ 56
        side = sign if player == 0 else -sign
        notes.middlegame += side * evaluation.squares[0, kind, seen]
        notes.endgame += side * evaluation.squares[1, kind, seen]


@rules(Classical)
def take_notes(evaluation, game, state, notes):
    for kind in range(6):
        for player in range(2):
            add(evaluation, notes, state.kinds[kind] & state.sides[player], kind, player, 1)


@rules(Classical)
def follow(evaluation, game, before, after, action, notes):
    for kind in range(6):
        if before.kinds[kind] == after.kinds[kind] and (before.sides[0] ^ after.sides[0]) & after.kinds[kind] == 0:
            continue
        for player in range(2):
            old, new = before.kinds[kind] & before.sides[player], after.kinds[kind] & after.sides[player]
            add(evaluation, notes, old & ~new, kind, player, -1)
            add(evaluation, notes, new & ~old, kind, player, 1)


# The score.


@rules(Classical)
def evaluate(evaluation, game, state, notes):
    middlegame, endgame = np.int64(notes.middlegame), np.int64(notes.endgame)
    phase = 0
    for kind in range(KNIGHT, KING):
        phase += PHASES[kind] * count_bits(state.kinds[kind])
    phase = min(phase, WHOLE)
    for player in range(2):
        sign = 1 if player == 0 else -1
        early, late = merits(evaluation, state, player)
        middlegame += sign * early
        endgame += sign * late
    whole = middlegame * phase + endgame * (WHOLE - phase)
    return evaluation.tempo + (whole if state.to_play == 0 else -whole) // WHOLE  # rounded alike for both colours


@kernel
def merits(evaluation, state, player):
    """What a player's pieces are worth beyond their squares: in a middlegame, and in an endgame."""
    own, other = state.sides[player], state.sides[1 - player]
    pawns, rivals = own & state.kinds[PAWN], other & state.kinds[PAWN]
    early, late = structure(evaluation, player, pawns, rivals)
    empty, safe = ~(own | other), ~own & ~pawns_attack(rivals, 1 - player)
    ring = around(other & state.kinds[KING])
    moves, pressure = 0, 0
    for kind in range(KNIGHT, KING):
        pieces = own & state.kinds[kind]
        while pieces != 0:
            piece = pieces & (~pieces + ONE)
            pieces ^= piece
            reached = reach(kind, piece, empty)
            moves += evaluation.mobility[kind] * (count_bits(reached & safe) - 4)
            pressure += count_bits(reached & ring)
            if kind == ROOK and files_of(piece) & pawns == 0:
                early += evaluation.open_file
    shelter = count_bits(around(own & state.kinds[KING]) & pawns)
    pair = evaluation.pair if count_bits(own & state.kinds[BISHOP]) > 1 else 0
    early += moves + pair + evaluation.shelter * shelter + evaluation.danger * pressure
    return early, late + moves + pair


@kernel
def structure(evaluation, player, pawns, rivals):
    """What pawns are worth by how they stand to one another."""
    early = late = 0
    files = files_of(pawns)
    beside = step_to(files, 2) | step_to(files, 6)
    faults = evaluation.isolated * count_bits(pawns & ~beside)
    faults += evaluation.doubled * (count_bits(pawns) - count_bits(files & np.uint64(0xFF)))
    fronts = fill_ahead(rivals, 1 - player)
    guarded = fronts | step_to(fronts, 2) | step_to(fronts, 6)
    free = pawns & ~guarded
    while free != 0:
        rows = lowest_bit(free) >> 3
        free &= free - ONE
        worth = evaluation.passed[rows if player == 0 else 7 - rows]
        early += worth // 2
        late += worth
    return early - faults, late - faults


@kernel
def reach(kind, piece, empty):
    """The squares that a piece attacks."""
    if kind == KNIGHT:
        return jumps(piece)
    reached = np.uint64(0)
    for direction in range(8):
        if kind == QUEEN or (kind == ROOK) == (direction % 2 == 0):
            reached |= slide(piece, empty, direction)
    return reached


@kernel
def files_of(squares):
    """The whole files on which a set has squares."""
    squares |= squares >> np.uint64(32)
    squares |= squares >> np.uint64(16)
    squares |= squares >> np.uint64(8)
    return (squares & np.uint64(0xFF)) * FILE


@kernel
def fill_ahead(pawns, player):
    """The squares ahead of pawns."""
    if player == 0:
        pawns |= pawns >> np.uint64(8)
        pawns |= pawns >> np.uint64(16)
        pawns |= pawns >> np.uint64(32)
        return pawns >> np.uint64(8)
    pawns |= pawns << np.uint64(8)
    pawns |= pawns << np.uint64(16)
    pawns |= pawns << np.uint64(32)
    return pawns << np.uint64(8)


# What to look at first, and what cannot wait.


@rules(Classical)
def candidates(evaluation, game, state, notes, actions, scores):
    count = legal(game, state, actions)
    guarded, is_known = np.uint64(0), False
    for i in range(count):
        scores[i] = urgency(state, actions[i])
        if scores[i] == CAPTURE:
            if not is_known:
                guarded, is_known = guarded_squares(state), True
            scores[i] = promise(state, actions[i], guarded)
    return count


@rules(Classical)
def threats(evaluation, game, state, notes, actions, scores):
    if state.in_check:
        return -candidates(evaluation, game, state, notes, actions, scores)
    count, kept = legal(game, state, actions), 0
    guarded, is_known = np.uint64(0), False
    for i in range(count):
        score = urgency(state, actions[i])
        if score == CAPTURE:
            if not is_known:
                guarded, is_known = guarded_squares(state), True
            score = promise(state, actions[i], guarded)
        if score >= CAPTURE:
            actions[kept], scores[kept] = actions[i], score
            kept += 1
    return kept


@rules(Classical)
def may_wait(evaluation, game, state):
    return not state.in_check


@rules(Classical)
def plies_for(evaluation, game, state, action):
    return 0 if state.in_check else 1  # who is in check has little choice


@rules(Classical)
def plies_off(evaluation, game, before, after, action, place):
    other = 1 - before.to_play
    is_loud = before.in_check or after.in_check or before.sides[other] != after.sides[other]
    if (
        place < LATE
        or is_loud
        or action >> 6 >= UNDERPROMOTIONS
        or before.kinds[PAWN] & ~after.kinds[PAWN] & SEVENTH != 0
    ):
        return 0
    return 1 if place < VERY_LATE else 2


@kernel
def guarded_squares(state):
    """The squares that the opponent attacks."""
    return attacked_by(state, 1 - state.to_play, ~(state.sides[0] | state.sides[1]))


@kernel
def urgency(state, action):
    """CAPTURE if an action takes a piece, 0 if it is quiet; promotions to a queen first, to others last."""
    begin, kind = action & 63, action >> 6
    end = target_of(state.to_play, begin, kind)
    there = ONE << np.uint64(end)
    if (end < 8 or end >= 56) and state.kinds[PAWN] >> np.uint64(begin) & ONE != 0:
        return CAPTURE + 100 if kind < UNDERPROMOTIONS else BAD_CAPTURE
    if state.sides[1 - state.to_play] & there != 0:
        return CAPTURE
    is_passing = there == state.passing and state.kinds[PAWN] >> np.uint64(begin) & ONE != 0
    return CAPTURE if is_passing else 0


@kernel
def promise(state, action, guarded):
    """How early to look at a capture: first those that win something, last those that lose."""
    begin = action & 63
    end = target_of(state.to_play, begin, action >> 6)
    moved, there = piece_on(state, begin), ONE << np.uint64(end)
    if state.sides[1 - state.to_play] & there == 0:
        return CAPTURE  # in passing
    taken = piece_on(state, end)
    if moved != KING and guarded & there != 0 and VALUES[moved] > VALUES[taken] + 50:
        return BAD_CAPTURE + GAINS[taken]
    return CAPTURE + 10 * GAINS[taken] - GAINS[moved]
