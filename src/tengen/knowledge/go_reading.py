"""Small places of Go, read out to their end: what each side gets if it moves first, and nobody plays elsewhere.

A place is a set of points; all other points stay as they are. Both sides play there or pass, until both pass, and the
board is counted as it stands: what is dead has to be captured, so dead stones, eyes, seki and the last borders come out
by themselves. The game's own rules judge each move, superko too. A side never fills its own eye, and a line ends where
seven stones or more are captured at once.

Exact for the place alone, if the reading was finished: what a ko threat elsewhere could change is not seen, and of two
ways to the same board the first one's superko counts for both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tengen.games.go import EMPTY, NOWHERE, PASS, cell_of, is_own_eye, is_plain, judge, move, score, surroundings
from tengen.rules.contract import kernel, territory
from tengen.rules.game import Position
from tengen.rules.kernels import entry

DEEPEST = 160  # plies of a line; what is longer is not settled by reading
WIDEST = 48  # points of a place, stones and all
MANY = 7  # stones that are captured at once and end the reading of a place
ENDLESS = 10_000.0  # more than any board holds
SLOTS = 1 << 14  # of the table of boards that were seen
NOTHING = -2  # in place of a move: none is known
EXACT, LOWER, UPPER = 1, 2, 3

SEEN = np.dtype([("key", np.uint64), ("score", np.float32), ("kind", np.int8), ("cell", np.int16)], align=True)
FRAME = np.dtype(
    [
        ("cells", np.int16, WIDEST + 1),
        ("count", np.int16),
        ("at", np.int16),
        ("best_cell", np.int16),
        ("alpha", np.float32),
        ("beta", np.float32),
        ("first_alpha", np.float32),
        ("best", np.float32),
        ("key", np.uint64),
    ],
    align=True,
)


class PlaceReading(NamedTuple):
    """What comes of a place if one side moves first."""

    score: float  # the first player's margin over the whole board as it stands then: to be compared, not believed
    owners: np.ndarray  # [rows, columns]: who owns each point of the board at the end: +1, −1 or 0
    first: int | None  # what is played first; None: a pass


@kernel
def name_of(state):
    """A key of the board, the player to move and the passes before."""
    side = np.uint64(0x9E3779B97F4A7C15) if state.to_play == 1 else np.uint64(0)
    return state.key ^ side ^ (np.uint64(0x632BE59BD9B4E019) if state.passes > 0 else np.uint64(0))


@kernel
def list_moves(game, state, place, frame):
    """The legal moves in the place that fill no own eye; the pass is the last."""
    count = 0
    for i in range(len(place)):
        cell = np.int64(place[i])
        if state.cells[cell] != EMPTY:
            continue
        around = surroundings(game, state, cell)
        if is_own_eye(game, state, cell, around):
            continue
        if is_plain(state, cell, around) or judge(game, state, cell) == 0:
            frame.cells[count] = cell
            count += 1
    frame.cells[count] = PASS
    frame.count, frame.at = count + 1, 0
    frame.best, frame.best_cell = -ENDLESS, NOTHING


@kernel
def bring_forward(frame, cell):
    """The move that was best before is tried first."""
    for i in range(frame.count):
        if frame.cells[i] == cell:
            frame.cells[i], frame.cells[0] = frame.cells[0], frame.cells[i]


@kernel
def takes_all(state):
    """Whether the last move captured so many stones that their place is the capturer's: no eye shape is so large."""
    count, cell = 0, np.int64(state.captured)
    if cell == NOWHERE or state.passes > 0:
        return False
    while True:
        count += 1
        cell = np.int64(state.next[cell])
        if cell == state.captured or count >= MANY:
            return count >= MANY


@entry
def read_place(game, states, place, frames, seen, budget):
    """Alpha-beta to the end from states[0] over the cells of `place`; returns score, best cell, nodes.

    Nodes of −1: the budget was used up, or a line was too long, and nothing is known.
    """
    nodes, depth = 1, 0
    open_frame(game, states[0], place, frames[0], seen, np.float32(-ENDLESS), np.float32(ENDLESS))
    while True:
        frame = frames[depth]
        if frame.at < frame.count and frame.alpha < frame.beta:
            cell = np.int64(frame.cells[frame.at])
            states[depth + 1] = states[depth]
            child = states[depth + 1]
            move(game, child, cell)
            nodes += 1
            if nodes > budget or depth + 2 >= DEEPEST:
                return 0.0, NOTHING, -1
            if takes_all(child):
                states[depth + 2] = child
                child = states[depth + 2]
                move(game, child, PASS)
                move(game, child, PASS)
            if child.over != 0:
                side = np.float32(-1) if states[depth].to_play == 1 else np.float32(1)
                take(frame, side * np.float32(score(game, child)))
                continue
            depth += 1
            value = open_frame(game, child, place, frames[depth], seen, -frame.beta, -frame.alpha)
            if value > -ENDLESS:
                depth -= 1
                take(frames[depth], -value)
            continue
        kind = EXACT if frame.first_alpha < frame.best < frame.beta else LOWER if frame.best >= frame.beta else UPPER
        slot = seen[frame.key & np.uint64(SLOTS - 1)]
        slot.key, slot.score, slot.kind, slot.cell = frame.key, frame.best, kind, frame.best_cell
        if depth == 0:
            return np.float64(frame.best), np.int64(frame.best_cell), nodes
        value = -frame.best
        depth -= 1
        take(frames[depth], value)


@kernel
def open_frame(game, state, place, frame, seen, alpha, beta):
    """Begins a node; returns its score if the table knows it, else −ENDLESS."""
    frame.key = name_of(state)
    slot = seen[frame.key & np.uint64(SLOTS - 1)]
    is_known = slot.kind != 0 and slot.key == frame.key
    if is_known and beta < ENDLESS:
        is_bound = (slot.kind == LOWER and slot.score >= beta) or (slot.kind == UPPER and slot.score <= alpha)
        if slot.kind == EXACT or is_bound:
            return slot.score
    list_moves(game, state, place, frame)
    if is_known:
        bring_forward(frame, slot.cell)
    frame.alpha, frame.beta, frame.first_alpha = alpha, beta, alpha
    return np.float32(-ENDLESS)


@kernel
def take(frame, value):
    """What the move that was tried is worth to the player who made it."""
    if value > frame.best:
        frame.best, frame.best_cell = value, frame.cells[frame.at]
    frame.alpha = max(frame.alpha, value)
    frame.at += 1


@entry
def set_turn(game, states, player):
    """It is that player's turn, and nobody has passed."""
    states[0].to_play, states[0].passes = player, 0


@entry
def follow_place(game, states, cell, owners):
    """Plays on a cell (or PASS); returns whether it is over, and then who owns each point."""
    move(game, states[0], cell)
    if states[0].over != 0:
        territory(game, states[0], owners)
    return np.int64(states[0].over)


@entry
def cells_of_place(game, points, cells):
    """The framed cells of points."""
    for i in range(len(points)):
        cells[i] = cell_of(game, points[i])


class Reader:
    """Reads places of one position; its memory is kept from place to place."""

    def __init__(self, position: Position, budget: int):
        self.position, self.game, self.budget = position, position.game, budget
        self.states = self.game.new_states(DEEPEST)
        self.frames = np.zeros(DEEPEST, FRAME).view(np.recarray)

    def read(self, place: list[int], player: int) -> PlaceReading | None:
        """What comes of a place if `player` moves first; None if that could not be read to the end."""
        if len(place) > WIDEST:
            return None
        game, cells = self.game.parameters, np.zeros(len(place), np.int64)
        cells_of_place(game, np.array(place, np.int64), cells)
        point_of = dict(zip(cells.tolist(), place, strict=True))
        seen = np.zeros(SLOTS, SEEN).view(np.recarray)
        current, owners = self.position.states, np.zeros(self.game.cells, np.int8)
        set_turn(game, current, player)
        found, over = list[tuple[float, int]](), 0
        while not over:
            self.states[0] = current[0]
            value, cell, nodes = read_place(game, self.states, cells, self.frames, seen, self.budget)
            if nodes < 0:
                return None
            found.append((float(value), int(cell)))
            over = follow_place(game, current, cell, owners)
        score, first = found[0]
        return PlaceReading(
            score if player == 0 else -score, signs_of(owners).reshape(self.game.shape), point_of.get(first)
        )


def signs_of(owners: np.ndarray) -> np.ndarray:
    """Owners 0, 1, 2 as 0, +1, −1."""
    return (owners == 1).astype(np.int8) - (owners == 2).astype(np.int8)
