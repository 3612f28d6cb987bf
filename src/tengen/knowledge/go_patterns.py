"""A quick player of Go for rollouts: every move is drawn by small local patterns, as AlphaGo's rollouts were.

A point is as likely as the product of its factors: what the eight points around it hold and which chains beside it live
by it alone (a pattern, the same under the board's eight symmetries), whether it captures, saves or defends, whether it
is near the last move, and whether it would leave its own stones with one liberty. The factors were fitted to games by
`bench/fit_rollouts.py`. Own eyes are never filled; a pass is played when there is nothing else.

Three things keep it quick. A stone changes the patterns of eight points only, so all points' weights are kept up to
date. What depends on the last move concerns a few points, whose weights are changed for one draw. And whether a move is
legal or self-atari is asked only of the point that was drawn: then it is put aside for this turn, self-atari with a
chance that stands for its factor, and another is drawn.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from tengen.games.go import (
    EDGE,
    EMPTY,
    NOWHERE,
    PASS,
    beside,
    cell_at,
    cell_of,
    is_plain,
    judge,
    may_roll,
    move,
    sides,
    surroundings,
)
from tengen.rules.contract import advance, below, kernel, rules
from tengen.rules.game import Game
from tengen.rules.kernels import entry
from tengen.search.rollouts import NO_NOTES

CODES = 1 << 16  # what eight points hold, two bits each, clockwise from the north
INDICES = 1 << 20  # the same, and four bits more: the chain to the north, east, south, west lives by this point alone
LANES = 16  # weights are summed by so many at a time, which CPUs do at once
UNIT = 64.0  # the weight of a point whose factors are all 1
PASS_LOGIT = np.float32(-3.0)  # where patterns guide a search
LEAST_PRIOR = np.float32(0.15)  # of self-atari, where patterns guide a search: some groups are killed from inside
HEAVIEST = 1 << 21  # no point weighs more: sums stay below 2³¹
# What a point is besides its pattern: bits of its mark. Sizes are 0, 1, 2, and 3 for more.
NEAR, CAPTURES, RESCUES, SAVES, ATTACKS, DEFENDS, MARKS = 0, 2, 4, 5, 7, 8, 9
ATARIS = MARKS  # and from here on its pattern's four bits
FEATURES = (
    *("beside the last move", "diagonal to the last move"),
    *("captures a stone", "captures two", "captures more"),
    "the captured held own stones in atari",
    *("extends a stone in atari", "extends two", "extends more"),
    "a liberty of the last move's chain, which has two",
    "a liberty of an own chain beside the last move, which has two",
    *("self-atari of a stone", "self-atari of two", "self-atari of more"),
)
SELF_ATARI = len(FEATURES) - 3  # where they begin; the others are bits of a mark, with the highest value of each:
MARKED = ((NEAR, 2), (CAPTURES, 3), (RESCUES, 1), (SAVES, 3), (ATTACKS, 1), (DEFENDS, 1))


TABLES = np.dtype(
    [
        ("weights", np.uint64, INDICES),  # of a point by its pattern: Black's in the lower half, White's in the upper
        ("factors", np.float32, 1 << MARKS),  # of its mark
        ("mercy", np.float32, 4),  # the chance that self-atari of so many stones is played all the same
    ],
    align=True,
)


class Patterns(NamedTuple):
    """Draws moves by patterns."""

    tables: Any  # one record: Numba counts the uses of arrays, not of records, which takes time

    @classmethod
    def fitted(cls) -> Patterns:
        """With the weights that come with Tengen."""
        return fitted_patterns()

    @classmethod
    def of(cls, patterns: np.ndarray, weights: np.ndarray, features: np.ndarray) -> Patterns:
        """From logarithms of factors: of patterns (see `canonical`), and of FEATURES."""
        tables = np.zeros(1, TABLES).view(np.recarray)
        tables[0].weights = table_of(patterns, weights)
        tables[0].factors, tables[0].mercy = factors_of(features), mercy_of(features)
        return cls(tables)

    def record(self, game):
        cells = len(game.new_states(1)[0].cells)
        return np.dtype(
            [
                ("weights", np.uint64, (cells // LANES + 1) * LANES),  # as in TABLES
                ("sums", np.uint64, LANES),  # of the cells whose number leaves this remainder
                ("codes", np.uint16, cells),
                ("marks", np.uint16, cells),
                ("marked", np.uint16, 2 * cells),  # the cells that have a mark, and those not to be drawn again
                ("stones", np.uint16, cells),  # one of each chain that was in atari when last looked at …
                ("liberties", np.uint16, cells),  # … and the point that it lives by
                ("ataris", np.uint16),  # how many
            ],
            align=True,
        )


class OpenEyes(NamedTuple):
    """How a network plays to the end: anything legal but its own eyes, and a pass if there is nothing else."""

    unit: int = 1

    def record(self, game):
        return NO_NOTES


@rules(OpenEyes)
def choices(player, game, state, actions):
    count = 0
    for y in range(game.size):
        for x in range(game.size):
            cell = cell_at(game, x, y)
            if state.cells[cell] == EMPTY and may_roll(game, state, cell):
                actions[count] = y * game.size + x
                count += 1
    if count == 0:
        actions[0] = game.size * game.size
        count = 1
    return count


# Patterns, in NumPy: how they are turned, and how the tables are made.


def turned(indices: np.ndarray, quarters: int, is_mirrored: bool) -> np.ndarray:
    """Patterns as a quarter turn, or the mirror of north and south's line, shows them."""
    result = np.zeros_like(indices)
    for place in range(8):
        source = (-place if is_mirrored else place) + 2 * quarters
        result |= (indices >> (2 * (source % 8)) & 3) << (2 * place)
        if place % 2 == 0:
            result |= (indices >> (16 + source % 8 // 2) & 1) << (16 + place // 2)
    return result


def images(indices: np.ndarray) -> np.ndarray:
    """Patterns under all eight symmetries: [8, patterns]."""
    wide = np.asarray(indices, np.int64)
    return np.stack([turned(wide, quarters, mirror) for mirror in (False, True) for quarters in range(4)])


def canonical(indices: np.ndarray) -> np.ndarray:
    """The one that stands for each pattern and its images: the least of them."""
    return images(indices).min(0)


def colours_changed(codes: np.ndarray) -> np.ndarray:
    """Codes with Black's and White's stones exchanged; empty points and edges stay."""
    low, high = codes & 0x5555, codes >> 1 & 0x5555
    single = low ^ high  # exactly one bit of the two: a stone
    return codes ^ (single | single << 1)


def own_eyes(codes: np.ndarray) -> np.ndarray:
    """Whether a code is an eye of the player with stones of 1, as rollouts see it (see `is_own_eye`)."""
    points = codes[:, None] >> 2 * np.arange(8) & 3
    ours = (points[:, ::2] == 1) | (points[:, ::2] == EDGE)
    corners = points[:, 1::2]
    return ours.all(1) & ((corners == 2).sum(1) + (corners == EDGE).any(1) < 2)


def table_of(patterns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weights of all points by pattern: [INDICES], Black's in the lower half of 64 bits, White's in the upper.

    A pattern with chains in atari is worth that without, times a factor of its own if it has one.
    """
    spread, plain = images(patterns), patterns < CODES
    logarithms = np.zeros(CODES, np.float32)
    logarithms[spread[:, plain]] = weights[plain]
    totals = np.tile(logarithms, INDICES // CODES)
    urgent = spread[:, ~plain]
    totals[urgent] = logarithms[urgent % CODES] + weights[~plain]
    scaled = np.rint(UNIT * np.exp(totals.clip(-10, 10))).clip(1, HEAVIEST)
    table, codes = scaled.astype(np.uint64).reshape(-1, CODES), np.arange(CODES)
    table[:, own_eyes(codes)] = 0
    return (table | table[:, colours_changed(codes)] << np.uint64(32)).ravel()


def factors_of(features: np.ndarray) -> np.ndarray:
    """The factor of every mark: [2 ** MARKS]."""
    padded = np.concatenate([[0.0], features])
    marks = np.arange(1 << MARKS)
    total = np.zeros(len(marks))
    at = 1
    for shift, most in MARKED:
        value = np.minimum(marks >> shift & (3 if most > 1 else 1), most)
        total += padded[np.where(value > 0, at + value - 1, 0)]
        at += most
    return np.exp(np.clip(total, -10, 10)).astype(np.float32)


def mercy_of(features: np.ndarray) -> np.ndarray:
    """Chances by how many stones would be in atari; none of them is above 1."""
    return np.exp(np.minimum(np.concatenate([[0.0], features[SELF_ATARI:]]), 0)).astype(np.float32)


@cache
def fitted_patterns() -> Patterns:
    with resources.files("tengen.knowledge").joinpath("go_patterns.npz").open("rb") as file:
        arrays = np.load(file, allow_pickle=False)
        return Patterns.of(
            arrays["patterns"].astype(np.int64), arrays["weights"].astype(np.float32), arrays["features"]
        )


# Reading the board.


@kernel
def ring(game):
    """The steps to the eight cells around a cell, clockwise from the north."""
    width = game.size + 1
    return -width, 1 - width, 1, 1 + width, width, width - 1, -1, -1 - width


@kernel
def read_code(game, state, cell):
    """What the eight cells around a cell hold."""
    code, shift = 0, 0
    for step in ring(game):
        code |= np.int64(state.cells[beside(cell, step)]) << shift
        shift += 2
    return code


@kernel
def touches(game, state, cell, chain):
    """How many stones of a chain lie beside an empty cell."""
    count = 0
    for step in sides(game):
        near = beside(cell, step)
        count += state.chain[near] == chain
    return count


@kernel
def liberties_of(game, state, chain):
    """How many liberties a chain has, where 3 stands for more; and the first two of them.

    Its pseudo-liberties tell whether those found are all there are, so that it is never walked to its end in vain.
    """
    first = np.uint16(NOWHERE)
    most = state.liberties[chain]
    if most > 8:  # a point touches a chain four times at most
        return 3, first, first
    stone, touched = chain, 0
    while True:
        for step in sides(game):
            near = beside(stone, step)
            if (state.cells[near] == EMPTY) & (near != first):
                count = touches(game, state, near, chain)
                if touched > 0:
                    return 2 if touched + count == most else 3, first, near
                if count == most:
                    return 1, near, first
                first, touched = near, count
        stone = state.next[stone]
        if stone == chain:  # not on a board that is whole
            return 0, first, first


@kernel
def size_of(state, chain):
    """How many stones a chain has, where 3 stands for more."""
    stone, size = state.next[chain], 1
    while stone != chain and size < 3:
        stone = state.next[stone]
        size += 1
    return size


@kernel
def self_atari(game, state, cell):
    """How many stones (3 for more) a move of the player to move on an empty cell leaves with one liberty; else 0.

    Nothing is said of moves that capture: what they leave is room.
    """
    own = state.to_play + 1
    first, size = NOWHERE, 1
    for step in sides(game):
        near = np.int64(beside(cell, step))
        stone = state.cells[near]
        if stone == EMPTY:
            if first != NOWHERE and near != first:
                return 0
            first = near
        elif stone == own:
            chain = state.chain[near]
            if state.liberties[chain] > 8:
                return 0
            at = chain
            while True:
                for side in sides(game):
                    other = np.int64(beside(at, side))
                    if state.cells[other] == EMPTY and other != cell:
                        if first != NOWHERE and other != first:
                            return 0
                        first = other
                size += 1
                at = state.next[at]
                if at == chain:
                    break
        elif stone != EDGE:
            chain = state.chain[near]
            if state.liberties[chain] <= 4 and state.liberties[chain] == touches(game, state, cell, chain):
                return 0
    return min(size, 3)


@kernel
def has_held_in_atari(game, state, chain):
    """Whether an opponent of a chain, beside it, is in atari."""
    own = state.cells[chain]
    stone = chain
    while True:
        for step in sides(game):
            near = beside(stone, step)
            if state.cells[near] == 3 - own and liberties_of(game, state, state.chain[near])[0] == 1:
                return True
        stone = state.next[stone]
        if stone == chain:
            return False


@kernel
def urgent_mark(game, state, cell):
    """The mark of a cell that some chain lives by alone: its four bits of atari, and what it captures or saves."""
    own = state.to_play + 1
    captured, saved, rescues, mark, bit = 0, 0, 0, 0, ATARIS
    for step in sides_clockwise(game):
        near = beside(cell, step)
        stone = state.cells[near]
        if stone != EMPTY and stone != EDGE:
            chain = state.chain[near]
            if state.liberties[chain] <= 4 and state.liberties[chain] == touches(game, state, cell, chain):
                mark |= 1 << bit
                if stone == own:
                    saved = max(saved, size_of(state, chain))
                else:
                    captured = max(captured, size_of(state, chain))
                    rescues |= has_held_in_atari(game, state, chain)
        bit += 1
    return mark | captured << CAPTURES | rescues << RESCUES | saved << SAVES


@kernel
def sides_clockwise(game):
    """The steps to the four cells beside a cell, from the north."""
    return -(game.size + 1), 1, game.size + 1, -1


@kernel
def add_mark(notes, cell, mark, count):
    """Adds to the mark of a cell, which is listed if that is news; returns how many are. No branch: see go.py."""
    notes.marked[count] = cell
    count += np.uint16((notes.marks[cell] == 0) & (mark != 0))
    notes.marks[cell] |= np.uint16(mark)
    return count


@kernel
def look_at_chain(game, state, notes, stone, bit, count):
    """Lists a chain that is in atari; marks the liberties of one that has two. Returns how many cells are marked."""
    liberties, first, second = liberties_of(game, state, state.chain[stone])
    if liberties == 1 and notes.ataris < len(notes.stones):
        notes.stones[notes.ataris], notes.liberties[notes.ataris] = stone, first
        notes.ataris += np.uint16(1)
    elif liberties == 2:
        count = add_mark(notes, first, 1 << bit, count)
        count = add_mark(notes, second, 1 << bit, count)
    return count


@kernel
def mark_near(game, state, notes, last, count):
    """Marks the points around the last move, and looks at the chains whose liberties it has changed."""
    if state.cells[last] != EMPTY:  # it may have been taken at once: suicide
        count = look_at_chain(game, state, notes, last, ATTACKS, count)
    previous = NOWHERE
    for step in sides(game):
        near = beside(last, step)
        stone = state.cells[near]
        count = add_mark(notes, near, (stone == EMPTY) << NEAR, count)
        if stone == state.to_play + 1 and state.chain[near] != previous:
            previous = state.chain[near]
            count = look_at_chain(game, state, notes, near, DEFENDS, count)
    for step in (-game.size - 2, -game.size, game.size, game.size + 2):
        near = beside(last, step)
        count = add_mark(notes, near, 2 * (state.cells[near] == EMPTY) << NEAR, count)
    return count


@kernel
def mark_ataris(game, state, notes, count):
    """Marks the points that chains in atari live by; a chain that no longer lives by its point leaves the list.

    If it is in atari all the same, by another point, it was joined with the last move, and is on the list again.
    """
    kept = np.uint16(0)
    for i in range(notes.ataris):
        stone, liberty = notes.stones[i], notes.liberties[i]
        if (state.cells[stone] != EMPTY) & (state.cells[liberty] == EMPTY):
            chain = state.chain[stone]
            if state.liberties[chain] == touches(game, state, liberty, chain):
                notes.stones[kept], notes.liberties[kept] = stone, liberty
                kept += np.uint16(1)
                if notes.marks[liberty] >> ATARIS == 0:
                    count = add_mark(notes, liberty, urgent_mark(game, state, liberty), count)
    notes.ataris = kept
    return count


@kernel
def mark_points(game, state, notes, last):
    """Marks and lists all points that are something besides their pattern; returns how many.

    `last` is the cell of the last move, or NOWHERE.
    """
    count = np.uint16(0)
    if last != NOWHERE:
        count = mark_near(game, state, notes, last, count)
    return mark_ataris(game, state, notes, count)


# Weights, and drawing by them.


@kernel
def half(weights, player):
    """One player's weight of two."""
    return weights >> np.uint64(32 * player) & np.uint64(0xFFFFFFFF)


@kernel
def take_notes_of(tables, game, state, notes):
    """Notes of a board, from nothing."""
    notes.weights[:] = 0
    notes.marks[:] = 0
    notes.ataris = 0
    for y in range(game.size):
        for x in range(game.size):
            cell = cell_at(game, x, y)
            notes.codes[cell] = read_code(game, state, cell)
            if state.cells[cell] == EMPTY:
                notes.weights[cell] = tables.weights[notes.codes[cell]]
            elif state.chain[cell] == cell:
                liberties, first, _ = liberties_of(game, state, cell)
                if liberties == 1:
                    notes.stones[notes.ataris], notes.liberties[notes.ataris] = cell, first
                    notes.ataris += np.uint16(1)


@kernel
def refresh(tables, state, notes, cell):
    """Sets the weights of a cell by its code; those of a cell that is not empty are 0."""
    notes.weights[cell] = tables.weights[notes.codes[cell]] * np.uint64(state.cells[cell] == EMPTY)


@kernel
def follow_cell(tables, game, state, notes, cell):
    """Brings the notes up to date with what a cell holds now."""
    stone = np.uint16(state.cells[cell])
    refresh(tables, state, notes, cell)
    shift = np.uint16(8)  # of this cell, as the one to its north sees it
    for step in ring(game):
        near = beside(cell, step)
        notes.codes[near] = notes.codes[near] & ~(np.uint16(3) << shift) | stone << shift
        refresh(tables, state, notes, near)
        shift = (shift + np.uint16(2)) & np.uint16(15)


@kernel
def follow_move(tables, game, state, notes, cell):
    """Brings the notes up to date with a move on a cell: the stone, and what it captured."""
    follow_cell(tables, game, state, notes, cell)
    if state.captured != NOWHERE:
        stone = state.captured
        while True:
            follow_cell(tables, game, state, notes, stone)
            stone = state.next[stone]
            if stone == state.captured:
                break


@kernel
def weigh_marked(tables, notes, mover, count):
    """Gives marked cells the mover's weights that their marks come to."""
    for i in range(count):
        cell = notes.marked[i]
        mark = np.uint32(notes.marks[cell])
        notes.marks[cell] = 0
        plain = half(tables.weights[mark >> np.uint32(ATARIS) << np.uint32(16) | np.uint32(notes.codes[cell])], mover)
        weight = np.float32(plain) * tables.factors[mark & np.uint32((1 << MARKS) - 1)]
        notes.weights[cell] = np.uint64(min(weight, np.float32(HEAVIEST))) << np.uint64(32 * mover)


@kernel
def draw_cell(notes, mover, seed):
    """A cell, as likely as its weight; NOWHERE if all weights are 0. The seed is used up."""
    for lane in range(LANES):
        notes.sums[lane] = notes.weights[lane]
    for first in range(LANES, len(notes.weights), LANES):
        for lane in range(LANES):
            notes.sums[lane] += notes.weights[np.uint16(first + lane)]
    total = np.uint64(0)
    for lane in range(LANES):
        total += notes.sums[lane]
    if half(total, mover) == 0:
        return np.uint16(NOWHERE)
    wanted = np.uint64(below(seed, half(total, mover)))
    cell = np.uint16(0)
    while wanted >= half(notes.sums[cell], mover):
        wanted -= half(notes.sums[cell], mover)
        cell += np.uint16(1)
    while wanted >= half(notes.weights[cell], mover):
        wanted -= half(notes.weights[cell], mover)
        cell += np.uint16(LANES)
    return cell


@kernel
def choose_cell(tables, game, state, notes, count, seed):
    """Draws until a move is legal, and not one to be sorry for; returns its cell, or PASS, and the next seed."""
    mover, cell = np.int64(state.to_play), PASS
    weigh_marked(tables, notes, mover, count)
    while cell == PASS:
        seed = advance(seed)
        drawn = draw_cell(notes, mover, seed)
        if drawn == NOWHERE:
            break
        cell = np.int64(drawn)
        around = surroundings(game, state, drawn)
        if not is_plain(state, drawn, around) and judge(game, state, drawn) != 0:
            cell = PASS
        elif around & 15 < 2:
            seed = advance(seed)
            chance = tables.mercy[self_atari(game, state, drawn)] * np.float32(1 << 24)
            if np.float32(seed >> np.uint64(40)) >= chance:
                cell = PASS
        if cell == PASS:  # it is put aside for this turn
            notes.weights[drawn] = 0
            notes.marked[count] = drawn
            count += np.uint16(1)
    for i in range(count):
        refresh(tables, state, notes, notes.marked[i])
    return cell, seed


@kernel
def last_cell(game, state):
    """The cell of the last move, or NOWHERE."""
    return cell_of(game, state.last - 1) if 0 < state.last <= game.size * game.size else NOWHERE


@rules(Patterns)
def roll(player, game, state, notes, actions, seed):
    tables = player.tables[0]
    take_notes_of(tables, game, state, notes)
    last = last_cell(game, state)
    while state.over == 0:
        count = mark_points(game, state, notes, last)
        cell, seed = choose_cell(tables, game, state, notes, count, seed)
        move(game, state, cell)
        last = NOWHERE
        if cell != PASS and state.over == 0:  # once it is over, `area` has used `next` for itself
            follow_move(tables, game, state, notes, cell)
            last = cell
    return seed


@entry
def weigh_points(game, tables, states, notes, logits):
    """Writes the logarithm of each point's weight: logits [states, actions]; a pass is as likely as a poor point."""
    for i in range(len(states)):
        state = states[i]
        take_notes_of(tables[0], game, state, notes[0])
        count = mark_points(game, state, notes[0], last_cell(game, state))
        weigh_marked(tables[0], notes[0], np.int64(state.to_play), count)
        for point in range(game.size * game.size):
            cell = cell_of(game, point)
            weight = max(np.float32(half(notes[0].weights[cell], state.to_play)), np.float32(0.01))
            if state.cells[cell] == EMPTY:
                weight *= max(tables[0].mercy[self_atari(game, state, cell)], LEAST_PRIOR)
            logits[i, point] = np.log(weight / np.float32(UNIT))
        logits[i, game.size * game.size] = PASS_LOGIT


class PatternPolicy:
    """What the patterns think likely, for searches: states to logits [states, actions]."""

    def __init__(self, game: Game, player: Patterns):
        self.game, self.player = game, player
        self(game.start().states)  # compiling is no part of anybody's time to think

    def __call__(self, states: np.ndarray) -> np.ndarray:
        logits = np.empty((len(states), self.game.actions), np.float32)
        notes = np.zeros(1, self.player.record(self.game)).view(np.recarray)
        weigh_points(self.game.parameters, self.player.tables, states, notes, logits)
        return logits
