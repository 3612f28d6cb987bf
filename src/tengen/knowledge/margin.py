"""Reversi on 8×8 by the margin that patterns of discs foretell, as Logistello did.

Groups of cells that matter (edges, corners, lines) are read as numbers in base three, and for each number a table holds
what it is worth; mobility has its tables, too. All weights are for the player to move, and each phase of the game has
its own. They were fitted to games of our own by `bench/fit_reversi.py`.

The notes hold the numbers: a disc changes them by a vector that depends on its cell alone. Reading them anew from all
discs at every leaf was slower.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from tengen.knowledge.endgame import flips_of, moves_of, neighbours_of
from tengen.rules.bits import ONE, count_bits, lowest_bit
from tengen.rules.board import Coordinates, board_symmetries
from tengen.rules.contract import kernel, legal, rules

CORNERS = np.uint64(0x8100000000000081)
SHAPES = {  # of each pattern one place; the board's symmetries give the others, which share its weights
    "edge with X-cells": "a1 b1 c1 d1 e1 f1 g1 h1 b2 g2",
    "corner, 3×3": "a1 b1 c1 a2 b2 c2 a3 b3 c3",
    "corner, 2×5": "a1 b1 c1 d1 e1 a2 b2 c2 d2 e2",
    "second row": "a2 b2 c2 d2 e2 f2 g2 h2",
    "third row": "a3 b3 c3 d3 e3 f3 g3 h3",
    "fourth row": "a4 b4 c4 d4 e4 f4 g4 h4",
    "diagonal of 8": "a1 b2 c3 d4 e5 f6 g7 h8",
    "diagonal of 7": "b1 c2 d3 e4 f5 g6 h7",
    "diagonal of 6": "c1 d2 e3 f4 g5 h6",
    "diagonal of 5": "d1 e2 f3 g4 h5",
    "diagonal of 4": "e1 f2 g3 h4",
}
OWN_MOVES, OTHER_MOVES, OWN_REACH, OTHER_REACH, EMPTY = range(5)  # what is counted besides, up to MOST each
COUNTS, MOST = 5, 64
REPLY = 2000  # in the order of actions, where what the search has learned of one is at most 16,384
ROUNDED = 10  # to so many hundredths of a disc, which makes a smaller file
PHASES = 6  # by the discs on the board: each has its own weights


class Pattern(NamedTuple):
    """A group of cells, wherever the board's symmetries put it."""

    places: list[list[int]]  # the cells of each place, in the same order
    mirror: list[int]  # that order as a mirror shows it; the same for a group without symmetry

    @classmethod
    def of(cls, points: str) -> Pattern:
        """The pattern that has these points at one of its places."""
        cells = [Coordinates(8, 8, from_top=True).cell(point) for point in points.split()]
        images = [symmetry[cells].tolist() for symmetry in board_symmetries(8, 8)]
        turned = next((image for image in images if set(image) == set(cells) and image != cells), cells)
        return cls(list({frozenset(image): image for image in images}.values()), [cells.index(c) for c in turned])

    @property
    def powers(self) -> np.ndarray:
        """What a disc on each cell of a place adds to its index."""
        return 3 ** np.arange(len(self.mirror))

    @property
    def entries(self) -> int:
        """How many indices there are."""
        return int(3 ** len(self.mirror))


PATTERNS = [Pattern.of(points) for points in SHAPES.values()]
PLACES = sum(len(pattern.places) for pattern in PATTERNS)
WIDTH = (PLACES + 15) // 16 * 16  # of the notes: whole vectors
COUNTED = sum(pattern.entries for pattern in PATTERNS)  # in the table, the counts come after the patterns
ENTRIES = COUNTED + COUNTS * MOST


def steps_of_cells() -> np.ndarray:
    """What the first player's disc on a cell adds to the index of each place: [cells, WIDTH]."""
    steps = np.zeros((64, WIDTH), np.uint16)
    number = 0
    for pattern in PATTERNS:
        for place in pattern.places:
            steps[place, number] = pattern.powers
            number += 1
    return steps


def begins_of_places() -> np.ndarray:
    """Where the table of each place's pattern begins: [PLACES]."""
    begins = np.cumsum([0, *(pattern.entries for pattern in PATTERNS[:-1])])
    return np.repeat(begins, [len(pattern.places) for pattern in PATTERNS]).astype(np.uint32)


STEPS, BEGINS = steps_of_cells(), begins_of_places()


def entries_changed(digits: list[int], is_mirrored: bool) -> np.ndarray:
    """For every entry of the table, the one with other discs (empty, own, other) on its cells, perhaps in a mirror."""
    pieces, begin = [], 0
    for pattern in PATTERNS:
        cells = np.arange(pattern.entries)[:, None] // pattern.powers % 3  # [indices, cells]
        cells = cells[:, pattern.mirror] if is_mirrored else cells
        pieces.append(begin + np.array(digits)[cells] @ pattern.powers)
        begin += pattern.entries
    return np.concatenate([*pieces, np.arange(begin, ENTRIES)])


@cache
def entries_alike() -> np.ndarray:
    """For every entry of the table, the number of its weight: those that mirrors make equal share one."""
    mirrored = entries_changed([0, 1, 2], is_mirrored=True)
    return np.unique(np.minimum(mirrored, np.arange(ENTRIES)), return_inverse=True)[1]


def tables_of(weights: np.ndarray) -> np.ndarray:
    """Weights as tables that are ready to be looked up, for each player to move: [players, phases, ENTRIES]."""
    table = weights[:, entries_alike()]
    return np.stack([table, table[:, entries_changed([0, 2, 1], is_mirrored=False)]])


@cache
def fitted_tables() -> np.ndarray:
    """The tables of the weights that come with Tengen, in hundredths of a disc."""
    with resources.files("tengen.knowledge").joinpath("margin.npz").open("rb") as file:
        weights = np.load(file, allow_pickle=False)["weights"]  # [phases, weights]
    return tables_of(ROUNDED * weights)


class Margin(NamedTuple):
    """The margin of good play, in hundredths of a disc."""

    tables: Any  # [players, phases, ENTRIES]

    @classmethod
    def fitted(cls) -> Margin:
        """With the weights that come with Tengen."""
        return cls(fitted_tables())

    @property
    def scale(self):
        return 1250.0  # with it, values fit best who won the games held out of the fit

    def record(self, game):
        return np.dtype([("indices", np.uint16, WIDTH)], align=True)


@kernel
def add_discs(indices, cells, times):
    """Adds so many times a disc of the first player on each cell to the indices of the places that have it."""
    factor = np.uint16(np.int64(times) & 0xFFFF)  # −1 comes round
    while cells != 0:
        steps = STEPS[np.uint32(lowest_bit(cells))]
        cells &= cells - ONE
        for i in range(WIDTH):
            indices[i] += factor * steps[i]


@rules(Margin)
def take_notes(evaluation, game, state, notes):
    """Indices in base three: 0 empty, 1 the first player's disc, 2 the second's."""
    add_discs(notes.indices, state.discs[0], 1)
    add_discs(notes.indices, state.discs[1], 2)


@rules(Margin)
def follow(evaluation, game, before, after, action, notes):
    mover = before.to_play
    flipped = before.discs[1 - mover] & after.discs[mover]
    add_discs(notes.indices, flipped, 1 if mover == 1 else -1)
    add_discs(notes.indices, after.discs[mover] & ~(before.discs[mover] | flipped), 1 + mover)


@kernel
def phase_of(empties):
    """Which weights to use."""
    return np.uint32(max(0, 60 - empties) * PHASES // 61)


@kernel
def entries_of_counts(own, other, moves):
    """The entries of what is counted; `moves` are those of `own`, who is to move."""
    empty = ~(own | other)
    return (
        np.uint32(COUNTED + OWN_MOVES * MOST + count_bits(moves)),
        np.uint32(COUNTED + OTHER_MOVES * MOST + count_bits(moves_of(other, own, empty))),
        np.uint32(COUNTED + OWN_REACH * MOST + count_bits(neighbours_of(other) & empty)),
        np.uint32(COUNTED + OTHER_REACH * MOST + count_bits(neighbours_of(own) & empty)),
        np.uint32(COUNTED + EMPTY * MOST + count_bits(empty)),
    )


@rules(Margin)
def evaluate(evaluation, game, state, notes):
    own, other = state.discs[state.to_play], state.discs[1 - state.to_play]
    table = evaluation.tables[state.to_play, phase_of(64 - count_bits(own | other))]
    score = np.int64(0)
    for i in range(PLACES):
        score += table[BEGINS[i] + notes.indices[i]]
    for counted in entries_of_counts(own, other, state.moves):
        score += table[counted]
    return score


@rules(Margin)
def candidates(evaluation, game, state, notes, actions, scores):
    """First what leaves the other the fewest moves; a corner among them counts twice."""
    count = legal(game, state, actions)
    own, other = state.discs[state.to_play], state.discs[1 - state.to_play]
    empty = ~(own | other)
    for i in range(count):
        scores[i] = 0
        if state.moves != 0:
            flipped, move = flips_of(own, other, actions[i]), ONE << np.uint64(actions[i])
            replies = moves_of(other ^ flipped, own ^ flipped ^ move, empty ^ move)
            scores[i] = -REPLY * (count_bits(replies) + count_bits(replies & CORNERS))
    return count
