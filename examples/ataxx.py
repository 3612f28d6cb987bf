"""Ataxx: a stone grows into the next cell or jumps one further, and turns the stones that it lands beside.

A whole game in one file, with a pass, actions of several kinds and all eight symmetries. docs/add-a-game.md says what
each part is for.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, NamedTuple

import numpy as np

from tengen.rules.board import Between, Coordinates, board_symmetries
from tengen.rules.contract import DRAW, FIRST, ONGOING, SECOND, kernel, rules, stone_key
from tengen.rules.errors import BadMove

MOST_JUMPS = 100  # in a row; then the game is a draw, since jumps alone need never end

# Where a jump comes from, in rows and columns: the ring of 16 cells at a distance of two, in the order of a 5×5 board.
RING = np.array([5 * y + x for y in range(5) for x in range(5) if max(abs(y - 2), abs(x - 2)) == 2])
ROWS, COLUMNS = tuple((RING // 5 - 2).tolist()), tuple((RING % 5 - 2).tolist())

RECORD = np.dtype(
    [
        ("cells", np.int8, 64),  # 0 empty, or a player + 1; row 0 is at the top
        ("stones", np.int8, 2),  # how many each has
        ("jumps", np.int16),  # since a stone was last added
        ("ply", np.int16),
        ("to_play", np.uint8),
        ("result", np.int8),
    ],
    align=True,
)


class Ataxx(NamedTuple):
    """grow or jump, and turn your opponent's stones; most stones win"""

    size: Annotated[int, Between(4, 8)] = 7

    planes = ("own stones", "opponent's stones", "jumps in a row, in tens", "first player to move")
    players = ("Black", "White")
    drawing = "discs"
    scoring = "discs"
    move_pattern = r"pass|[a-h]\d-[a-h]\d|[a-h]\d|#\d+"

    @property
    def shape(self):
        return self.size, self.size

    @property
    def actions(self):
        """Kind 0 grows into a cell; kinds 1 to 16 jump to it from a cell of the ring; the last action is a pass."""
        return 17 * self.size**2 + 1

    def record(self):
        return RECORD

    def board(self, state):
        return state.cells[: self.size**2].reshape(self.shape)

    def counters(self, state):
        return str(state.jumps)

    def setup(self, states, board, to_play):
        state = states[0]
        state.cells[: self.size**2] = board.ravel()
        state.stones[:] = (board == 1).sum(), (board == 2).sum()
        state.to_play = to_play
        first, second = state.stones.tolist()
        if board.all() or first == 0 or second == 0:
            state.result = FIRST if first > second else SECOND if second > first else DRAW

    def from_to(self, action):
        """The cell that a stone leaves (None for one that stays) and the one it reaches; None for what is no move."""
        kind, target = divmod(action, self.size**2)
        if kind == 0:
            return None, target
        if kind == 17:
            return None
        y, x = target // self.size + ROWS[kind - 1], target % self.size + COLUMNS[kind - 1]
        return (y * self.size + x, target) if 0 <= y < self.size and 0 <= x < self.size else None

    def action_text(self, action):
        """`c3` grows, `a1-c3` jumps; a jump from outside of the board is only a number."""
        points, cells = Coordinates(*self.shape), self.from_to(action)
        if cells is None:
            return "pass" if action == self.actions - 1 else f"#{action}"
        return "-".join(points.text(cell) for cell in cells if cell is not None)

    def parse_action(self, text):
        found = actions_by_text(self).get(text.lower())
        if found is None:
            raise BadMove(f"{text!r} is not a move; write c3 to grow into c3, a1-c3 to jump there, or pass")
        return found

    @property
    def action_symmetries(self):
        """A symmetry turns the ring as it turns a board of 5×5."""
        kinds, targets = np.divmod(np.arange(self.actions - 1), self.size**2)
        images = []
        for cells, ring in zip(self.symmetries, board_symmetries(5, 5), strict=True):
            turned = np.array([0, *(1 + np.searchsorted(RING, ring[RING]))])
            images.append(np.append(turned[kinds] * self.size**2 + cells[targets], self.actions - 1))
        return np.stack(images)

    @property
    def symmetries(self):
        return board_symmetries(*self.shape)


@cache
def actions_by_text(game):
    """The actions by their names."""
    return {game.action_text(action): action for action in range(game.actions)}


# The rules.


@rules(Ataxx)
def start(game, state):
    last = game.size - 1
    put(state, 0, 0)
    put(state, game.size * last + last, 0)
    put(state, last, 1)
    put(state, game.size * last, 1)


@kernel
def put(state, cell, player):
    """A stone more on an empty cell."""
    state.cells[cell] = player + 1
    state.stones[player] += 1


@rules(Ataxx)
def legal(game, state, actions):
    cells, count = game.size * game.size, 0
    for target in range(cells):
        if state.cells[target] == 0 and is_beside_own(game, state, target):
            actions[count] = target
            count += 1
    for kind in range(1, 17):
        for target in range(cells):
            if state.cells[target] == 0 and origin_of(game, state, kind, target) >= 0:
                actions[count] = kind * cells + target
                count += 1
    if count == 0:
        actions[0] = 17 * cells
        count = 1
    return count


@kernel
def is_beside_own(game, state, cell):
    """Whether the player to move has a stone beside a cell."""
    y, x = cell // game.size, cell % game.size
    for row in range(max(y - 1, 0), min(y + 2, game.size)):
        for column in range(max(x - 1, 0), min(x + 2, game.size)):
            if state.cells[row * game.size + column] == state.to_play + 1:
                return True
    return False


@kernel
def origin_of(game, state, kind, target):
    """The cell from which a stone of the player to move makes a jump of that kind, or −1."""
    y, x = target // game.size + ROWS[kind - 1], target % game.size + COLUMNS[kind - 1]
    if 0 <= y < game.size and 0 <= x < game.size and state.cells[y * game.size + x] == state.to_play + 1:
        return y * game.size + x
    return -1


@rules(Ataxx)
def play(game, state, action):
    cells, player = game.size * game.size, state.to_play
    kind, target = action // cells, action % cells
    if kind < 17:  # not a pass
        state.jumps = 0 if kind == 0 else state.jumps + 1
        if kind > 0:
            state.cells[origin_of(game, state, kind, target)] = 0
            state.stones[player] -= 1
        put(state, target, player)
        turn_beside(game, state, target)
    state.ply += 1
    state.to_play = 1 - player
    is_full = state.stones[0] + state.stones[1] == cells
    if is_full or state.stones[0] == 0 or state.stones[1] == 0:
        state.result = majority_of(state.stones[0], state.stones[1])
    elif state.jumps >= MOST_JUMPS:
        state.result = DRAW


@kernel
def turn_beside(game, state, cell):
    """The opponent's stones beside a cell become the player's."""
    player, y, x = state.to_play, cell // game.size, cell % game.size
    for row in range(max(y - 1, 0), min(y + 2, game.size)):
        for column in range(max(x - 1, 0), min(x + 2, game.size)):
            if state.cells[row * game.size + column] == 2 - player:
                state.stones[1 - player] -= 1
                put(state, row * game.size + column, player)


@kernel
def majority_of(first, second):
    """Who has won with so many stones."""
    return FIRST if first > second else SECOND if second > first else DRAW


@rules(Ataxx)
def outcome(game, state):
    return state.result


@rules(Ataxx)
def score(game, state):
    return 0.0 if state.result in (ONGOING, DRAW) else float(state.stones[0]) - float(state.stones[1])


@rules(Ataxx)
def key(game, state):
    result = np.uint64(state.to_play)
    for cell in range(game.size * game.size):
        if state.cells[cell] != 0:
            result ^= stone_key(cell, state.cells[cell] - 1)
    return result


@rules(Ataxx)
def encode(game, state, planes):
    for cell in range(game.size * game.size):
        planes[0, cell] = state.cells[cell] == state.to_play + 1
        planes[1, cell] = state.cells[cell] == 2 - state.to_play
        planes[2, cell] = state.jumps // 10
        planes[3, cell] = state.to_play == 0
