"""Hex as an electrical circuit, and the links that nobody can cut any more.

After Anshelevich ("A hierarchical approach to computer Hex", 2002): for each player the board is a circuit between
their two sides. Own stones conduct, empty cells resist, the other's stones insulate. Who has the lower resistance is
ahead, and the cells that most of the current flows through are those worth playing.

A bridge is two stones (or a stone and a side) that both touch the same two empty cells: if one of these is taken, the
other links them. Where bridges that share no cell lead from side to side, the game is decided: that bounds the score.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tengen.games.hex import LARGEST, RED
from tengen.rules.bits import lowest_bit
from tengen.rules.contract import kernel, legal, rules
from tengen.search.evaluation import WIN

CELLS = LARGEST * LARGEST
NEAR = 6  # how many cells touch one; bridges lead to as many more
MOST_LINKS = 2 * NEAR + 2  # with both sides
STEPS = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))  # to the cells that touch one, all the way round
SUPPLE = 1.6  # over-relaxation: how far a cell's voltage goes beyond the mean of its neighbours'
NOTES = np.dtype([("is_linked", np.int8, 2)])  # whether a player's sides are linked, by stones and bridges
ONE = np.uint32(1)
UNIT = 400  # the score of a current e times the other's
SHORT = np.float32(1000)  # the current where stones or bridges lead across
LITTLE = 0.02  # a share of the current below which a cell links nothing
SCRATCH = np.dtype(
    [
        ("rows", np.uint32, (2, LARGEST + 2)),  # a player's stones, sides too, and the empty cells, as they are
        ("own", np.uint32, LARGEST + 2),  # the stones again, with one more
        ("free", np.uint32, LARGEST + 2),  # the empty cells that no bridge has used
        ("linked", np.uint32, LARGEST + 2),
        ("owner", np.int8, CELLS),  # 0 for nobody, 1 for the player whose circuit it is, 2 for the other
        ("node", np.int16, CELLS + 2),  # of the circuit: the cell itself, or one of the cells that it is joined with
        ("links", np.int16, (CELLS, MOST_LINKS)),  # nodes that an empty cell is connected to
        ("conducts", np.float32, (CELLS, MOST_LINKS)),
        ("count", np.int16, CELLS),
        ("volts", np.float32, CELLS + 2),
        ("inflow", np.float32, CELLS + 2),  # of nodes of stones: the sum of what comes in
        ("width", np.float32, CELLS + 2),  # and of what conducts it
        ("flow", np.float32, (2, CELLS)),  # the share of each player's current through each empty cell
        ("answers", np.int16, CELLS),  # how many threats a stone on a cell answers
    ],
    align=True,
)


class Circuit(NamedTuple):
    """Who has the lower resistance between their sides."""

    scratch: Any
    width: int = 0  # so many of the most promising cells are looked at; 0 for all
    rounds: int = 12  # of relaxation
    far: int = 1  # whether bridges between empty cells conduct, too

    @property
    def scale(self):
        return float(UNIT)

    @property
    def is_complete(self):
        return self.width == 0

    @property
    def counts_plies(self):
        return False

    def record(self, game):
        return NOTES


def circuit_for(width: int = 0, **settings: int) -> Circuit:
    return Circuit(np.zeros(1, SCRATCH).view(np.recarray), width, **settings)


# Bridges that lead across.


@rules(Circuit)
def take_notes(evaluation, game, state, notes):
    for player in range(2):
        notes.is_linked[player] = is_linked(evaluation.scratch[0], game.size, state, player)


@rules(Circuit)
def follow(evaluation, game, before, after, action, notes):
    take_notes(evaluation, game, after, notes)


@rules(Circuit)
def bounds(evaluation, game, state, notes):
    """Who is linked across wins, at the latest when the board is full."""
    latest = WIN - game.size * game.size - 2
    if notes.is_linked[1 - state.to_play] and not state.can_swap:
        return -WIN, -latest
    return latest if notes.is_linked[state.to_play] else -WIN, WIN


@kernel
def is_linked(scratch, size, state, player):
    """Whether bridges that share no cell, and stones that touch, lead from a player's one side to the other."""
    lay_out(scratch, size, state, player)
    return link(scratch, size, 0, 0)


@kernel
def link(scratch, size, row, bit):
    """The same of the rows that are laid out, with one more stone; the bridges' cells are gone from `free` after it."""
    own, free, linked = scratch.own, scratch.free, scratch.linked
    for y in range(size + 2):
        own[y], free[y], linked[y] = scratch.rows[0, y], scratch.rows[1, y], 0
    own[row] |= bit
    free[row] &= ~bit
    linked[0] = own[0]
    while True:
        while touch_on(size, own, linked):
            pass
        if linked[size + 1] != 0:
            return True
        if not bridge_on(size, own, free, linked):
            return False


@kernel
def lay_out(scratch, size, state, player):
    """Writes a player's rows; Blue's board is mirrored, so that everybody goes from the first row to the last."""
    full = (ONE << np.uint32(size)) - ONE
    own, free = scratch.rows
    for y in range(size + 2):
        own[y] = free[y] = 0
    for y in range(size):
        stones, empty = state.stones[player, y], ~(state.stones[0, y] | state.stones[1, y]) & full
        if player == RED:
            own[y + 1], free[y + 1] = stones, empty
        else:
            for x in range(size):
                own[x + 1] |= (stones >> np.uint32(x) & ONE) << np.uint32(y)
                free[x + 1] |= (empty >> np.uint32(x) & ONE) << np.uint32(y)
    own[0] = own[size + 1] = full


@kernel
def touch_on(size, own, linked):
    """Links the stones that touch linked ones, row after row; whether there were any."""
    has_grown = False
    for y in range(1, size + 2):
        near = np.uint32(0)
        for direction in range(NEAR):
            dx, dy = STEPS[direction]
            if y + dy <= size + 1:
                near |= moved(linked[y + dy], -dx)
        more = near & own[y] & ~linked[y]
        if more != 0:
            linked[y] |= more
            has_grown = True
    return has_grown


@kernel
def bridge_on(size, own, free, linked):
    """Links one stone by a bridge, whose two cells are then used up; whether there was any."""
    for y in range(1, size + 2):
        rest = own[y] & ~linked[y]
        if rest == 0:
            continue
        for direction in range(NEAR):
            dx, dy = STEPS[direction]
            ex, ey = STEPS[(direction + 1) % NEAR]
            if 0 <= y + dy + ey <= size + 1:
                found = rest & moved(linked[y + dy + ey], -dx - ex)
                found &= moved(free[y + dy], -dx) & moved(free[y + ey], -ex)
                if found != 0:
                    bit = ONE << np.uint32(lowest_bit(found))
                    linked[y] |= bit
                    free[y + dy] &= ~moved(bit, dx)
                    free[y + ey] &= ~moved(bit, ex)
                    return True
    return False


@kernel
def moved(row, columns):
    """The cells of a row, so many columns further on."""
    return row << np.uint32(columns) if columns >= 0 else row >> np.uint32(-columns)


# The circuits.


@rules(Circuit)
def evaluate(evaluation, game, state, notes):
    own = current(evaluation, game.size, state, state.to_play)
    other = current(evaluation, game.size, state, 1 - state.to_play)
    return np.int64(UNIT * (math.log(own) - math.log(other)))


@rules(Circuit)
def candidates(evaluation, game, state, notes, actions, scores):
    """The cells by how much of both players' currents flows through them.

    One that links one's own sides wins, and nothing else is looked at; where the other threatens to link theirs, only
    what answers all of these threats is.
    """
    count, scratch, cells = legal(game, state, actions), evaluation.scratch[0], game.size * game.size
    for player in range(2):
        current(evaluation, game.size, state, player)
    for i in range(count):
        cell = actions[i]
        scores[i] = 1 << 30 if cell == cells else np.int64(100_000 * (scratch.flow[0, cell] + scratch.flow[1, cell]))
    if not state.can_swap:
        winning = linking_cell(scratch, game.size, state, state.to_play)
        if winning >= 0:
            actions[0] = winning
            return 1
        count = keep_answers(scratch, game.size, state, actions, scores, count)
    if 0 < evaluation.width < count:
        count = keep_best(actions, scores, count, evaluation.width)
    return count


@kernel
def linking_cell(scratch, size, state, player):
    """A cell with which a player's sides are linked, or −1; only cells with some current are tried."""
    lay_out(scratch, size, state, player)
    for cell in range(size * size):
        if scratch.flow[player, cell] > LITTLE and links_with(scratch, size, player, cell):
            return cell
    return -1


@kernel
def links_with(scratch, size, player, cell):
    """Whether a stone on a cell links the player's sides, whose rows are laid out."""
    y = cell // size
    x = cell - y * size
    row, column = (y, x) if player == RED else (x, y)
    return link(scratch, size, row + 1, ONE << np.uint32(column))


@kernel
def keep_answers(scratch, size, state, actions, scores, count):
    """Keeps the actions that answer every threat of the other to link: on its cell, or in one of its bridges."""
    player, threats = 1 - state.to_play, 0
    lay_out(scratch, size, state, player)
    for cell in range(size * size):
        scratch.answers[cell] = 0
    for cell in range(size * size):
        if scratch.flow[player, cell] > LITTLE and links_with(scratch, size, player, cell):
            threats += 1
            for i in range(count):
                y = actions[i] // size
                x = actions[i] - y * size
                row, column = (y, x) if player == RED else (x, y)
                scratch.answers[actions[i]] += scratch.free[row + 1] >> np.uint32(column) & ONE == 0
    kept = 0
    for i in range(count):
        if scratch.answers[actions[i]] == threats:
            actions[kept], scores[kept] = actions[i], scores[i]
            kept += 1
    return max(kept, 1)  # if nothing answers all, all is lost


@kernel
def keep_best(actions, scores, count, width):
    """Moves the best to the front; returns how many are kept."""
    for i in range(width):
        best = i
        for j in range(i + 1, count):
            if scores[j] > scores[best]:
                best = j
        actions[i], actions[best] = actions[best], actions[i]
        scores[i], scores[best] = scores[best], scores[i]
    return width


@kernel
def current(evaluation, size, state, player):
    """The current between a player's sides at one volt; the share of it through each empty cell is written, too."""
    scratch = evaluation.scratch[0]
    join_stones(scratch, size, state, player)
    first, last = root(scratch.node, size * size), root(scratch.node, size * size + 1)
    if first == last:
        for cell in range(size * size):
            scratch.flow[player, cell] = 0
        return SHORT
    connect(scratch, size, player, evaluation.far)
    relax(scratch, size, player, first, last, evaluation.rounds)
    total = np.float32(1 / SHORT)
    for cell in range(size * size):
        through = np.float32(0)
        if scratch.owner[cell] == 0:
            volts = scratch.volts[cell]
            for i in range(scratch.count[cell]):
                node = scratch.links[cell, i]
                flow = scratch.conducts[cell, i] * abs(scratch.volts[node] - volts)
                through += flow
                total += flow if node == first else np.float32(0)
        scratch.flow[player, cell] = through / 2
    for cell in range(size * size):
        scratch.flow[player, cell] /= total
    return total


@kernel
def root(node, cell):
    """The cell that stands for all that are joined with this one."""
    while node[cell] != cell:
        node[cell] = node[node[cell]]
        cell = node[cell]
    return np.int64(cell)


@kernel
def join(node, one, other):
    node[root(node, one)] = root(node, other)


@kernel
def step_from(size, x, y, direction):
    """The cell beside (x, y) in a direction, or −1 if that is off the board."""
    dx, dy = STEPS[direction % NEAR]
    return cell_at(size, x + dx, y + dy)


@kernel
def bridged_from(size, x, y, direction):
    """The cell that a bridge leads to between a direction and the next, or −1."""
    dx, dy = STEPS[direction]
    ex, ey = STEPS[(direction + 1) % NEAR]
    return cell_at(size, x + dx + ex, y + dy + ey)


@kernel
def cell_at(size, x, y):
    return y * size + x if 0 <= x < size and 0 <= y < size else -1


@kernel
def join_stones(scratch, size, state, player):
    """Joins a player's stones that touch, or that a bridge links, to nodes of the circuit; and the sides with them."""
    owner, node = scratch.owner, scratch.node
    for cell in range(size * size + 2):
        node[cell] = cell
    for cell in range(size * size):
        y = cell // size
        x = np.uint32(cell - y * size)
        own, other = state.stones[player, y] >> x & ONE, state.stones[1 - player, y] >> x & ONE
        owner[cell] = own + 2 * other
    for cell in range(size * size):
        if owner[cell] != 1:
            continue
        y = cell // size
        x = cell - y * size
        for direction in range(NEAR // 2):  # the other half is the same seen from the other stone
            near, after = step_from(size, x, y, direction), step_from(size, x, y, direction + 1)
            far = bridged_from(size, x, y, direction)
            if near >= 0 and owner[near] == 1:
                join(node, cell, near)
            if far >= 0 and owner[far] == 1 and owner[near] == owner[after] == 0:
                join(node, cell, far)
        for side in range(2):
            if is_beside(owner, size, player, x, y, side):
                join(node, cell, size * size + side)


@kernel
def is_beside(owner, size, player, x, y, side):
    """Whether a cell is at a player's first (0) or second side, or one row away with a bridge to it."""
    row, column = (y, x) if player == RED else (x, y)
    if side:
        row, column = size - 1 - row, size - 1 - column  # upside down it is the first side
    if row != 1 or column == size - 1:
        return row == 0
    low, high = (column, column + 1) if player == RED else (column * size, (column + 1) * size)
    last = size * size - 1
    return owner[last - low if side else low] == 0 and owner[last - high if side else high] == 0


@kernel
def connect(scratch, size, player, far):
    """Lists what each empty cell is connected to, and how well: half as well to another empty cell as to a stone."""
    owner = scratch.owner
    for cell in range(size * size):
        if owner[cell] != 0:
            continue
        scratch.count[cell] = 0
        y = cell // size
        x = cell - y * size
        for direction in range(NEAR):
            near, after = step_from(size, x, y, direction), step_from(size, x, y, direction + 1)
            bridged = bridged_from(size, x, y, direction)
            if near >= 0 and owner[near] != 2:
                add_link(scratch, cell, near, owner[near])
            if bridged >= 0 and owner[near] == owner[after] == 0:
                if owner[bridged] == 1 or (far and owner[bridged] == 0):
                    add_link(scratch, cell, bridged, owner[bridged])
        for side in range(2):
            if is_beside(owner, size, player, x, y, side):
                add_link(scratch, cell, size * size + side, 1)


@kernel
def add_link(scratch, cell, other, is_stone):
    """One more connection of an empty cell."""
    i = scratch.count[cell]
    scratch.links[cell, i] = root(scratch.node, other)
    scratch.conducts[cell, i] = np.float32(1.0 if is_stone else 0.5)
    scratch.count[cell] = i + 1


@kernel
def relax(scratch, size, player, first, last, rounds):
    """Finds the voltages, 1 at the first side and 0 at the second: each in turn becomes the mean of those around it.

    The cells come from the first side to the second, then back; a node of stones follows after them.
    """
    volts = scratch.volts
    for cell in range(size * size):
        place = cell // size if player == RED else cell % size
        volts[cell] = 1 - (place + np.float32(0.5)) / size if scratch.owner[cell] != 1 else np.float32(0.5)
    volts[first], volts[last] = 1, 0
    for number in range(rounds):
        for cell in range(size * size):
            scratch.inflow[cell] = scratch.width[cell] = 0
        supple = np.float32(SUPPLE if number < rounds - 2 else 1.0)
        for step in range(size * size):
            cell = step if number % 2 == 0 else size * size - 1 - step
            if player != RED:
                cell = cell % size * size + cell // size
            if scratch.owner[cell] != 0 or scratch.count[cell] == 0:
                continue
            inflow = width = np.float32(0)
            for i in range(scratch.count[cell]):
                inflow += scratch.conducts[cell, i] * volts[scratch.links[cell, i]]
                width += scratch.conducts[cell, i]
            volts[cell] += supple * (inflow / width - volts[cell])
            for i in range(scratch.count[cell]):
                other = scratch.links[cell, i]
                if other < size * size and scratch.owner[other] == 1:
                    scratch.inflow[other] += scratch.conducts[cell, i] * volts[cell]
                    scratch.width[other] += scratch.conducts[cell, i]
        for cell in range(size * size):
            if scratch.width[cell] > 0 and cell not in (first, last):
                volts[cell] = scratch.inflow[cell] / scratch.width[cell]
