"""Kings and pawns: capture the king, or bring a pawn to the far row.

Pieces of two kinds, a rule that the board alone does not show, moves as players write them: a whole game in one file.
Copy it and change the rules. The page docs/add-a-game.md walks through it.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from tengen.rules.board import Between, Coordinates, Piece
from tengen.rules.contract import DRAW, FIRST, ONGOING, SECOND, kernel, rules, stone_key
from tengen.rules.errors import BadMove
from tengen.rules.kernels import entry

# The state: one NumPy record with room for the largest board. `ply` and `to_play` are required.
RECORD = np.dtype(
    [
        ("cells", np.int8, 64),  # 0 empty, 1 White's pawn, 2 her king, 3 Black's pawn, 4 her king; row 0 is at the top
        ("passed", np.int8),  # the cell that a pawn has just passed over, where it can still be captured; or −1
        ("quiet", np.int16),  # plies since a pawn moved or anything was captured
        ("ply", np.int16),
        ("to_play", np.uint8),
        ("result", np.int8),
    ],
    align=True,
)

# An action is a kind of move and the cell that it leaves, kind · cells + cell: 8 directions, and a pawn's two steps.
KINDS = ("u", "ur", "r", "dr", "d", "dl", "l", "ul", "t")
RIGHT = (0, 1, 1, 1, 0, -1, -1, -1, 0)
DOWN = (-1, -1, 0, 1, 1, 1, 0, -1, 0)
MIRRORED = [0, 7, 6, 5, 4, 3, 2, 1, 8]  # each kind, left for right
TWO = 8
PAWN, KING = 0, 1
QUIET = 40  # so many quiet plies are a draw


# The game: its parameters, and what Python asks about it.


class KingsAndPawns(NamedTuple):
    """capture the king, or bring a pawn to the far row"""

    size: Annotated[int, Between(5, 8)] = 6

    title = "Kings and pawns"
    players = ("White", "Black")
    pieces = (
        Piece("P", 0, "pawn", "pawn"),
        Piece("K", 0, "king", "king"),
        Piece("p", 1, "pawn", "pawn"),
        Piece("k", 1, "king", "king"),
    )
    planes = ("own pawns", "own king", "other pawns", "other king", "passed cell", "quiet plies", "White to move")
    move_planes = len(KINDS)
    move_pattern = r"[a-h]\d(?:[ud][lr]?|[lrt])"

    @property
    def shape(self):
        return self.size, self.size

    @property
    def actions(self):
        return len(KINDS) * self.size**2

    def record(self):
        return RECORD

    def board(self, state):
        return state.cells[: self.size**2].reshape(self.shape)

    # What the board does not show, and positions read from text: "…/… w e3 7".

    def facts(self, state):
        return "" if state.passed < 0 else Coordinates(*self.shape).text(state.passed)

    def counters(self, state):
        return state.quiet

    def setup(self, states, board, to_play, facts):
        state = states[0]
        state.cells[: self.size**2] = board.ravel()
        state.to_play, state.passed = to_play, -1
        for word in facts.split():
            if word.isdecimal():
                state.quiet = min(int(word), QUIET)
            else:
                state.passed = Coordinates(*self.shape).cell(word)
        settle(self, states)

    # The names of actions, each its own, whether or not it is ever legal: b2u is a step up from b2.

    def action_text(self, action):
        kind, cell = divmod(action, self.size**2)
        return Coordinates(*self.shape).text(cell) + KINDS[kind]

    def parse_action(self, text):
        if text[2:].lower() not in KINDS:
            raise BadMove(f"{text!r} is not a move; write one as b3, Kb2, bxc4 or b2u")
        return KINDS.index(text[2:].lower()) * self.size**2 + Coordinates(*self.shape).cell(text[:2])

    # Moves as players write them, for which one has to see the board: Kb2, b3, bxc4.

    def move_text(self, position, action):
        begin, end = self.from_to(action)
        points, board = Coordinates(*self.shape), position.board.ravel()
        is_king = board[begin] in (2, 4)
        takes = "x" if board[end] or not (is_king or (begin - end) % self.size == 0) else ""
        mover = "K" if is_king else points.text(begin)[0] if takes else ""
        return mover + takes + points.text(end)

    def read_move(self, position, text):
        shown = {self.move_text(position, action).lower(): action for action in position.legal_actions}
        return shown[text.lower()] if text.lower() in shown else self.parse_action(text)

    def from_to(self, action):
        """The cells that a move leaves and reaches, which boards show."""
        kind, cell = divmod(action, self.size**2)
        two = (-2 if cell > self.size**2 // 2 else 2) if kind == TWO else 0
        return cell, cell + (DOWN[kind] + two) * self.size + RIGHT[kind]

    @property
    def symmetries(self):
        cells = np.arange(self.size**2).reshape(self.shape)
        return np.stack([cells.ravel(), cells[:, ::-1].ravel()])  # as it is, and left for right

    @property
    def action_symmetries(self):
        kind, cell = np.divmod(np.arange(self.actions), self.size**2)
        mirrored = np.array(MIRRORED)[kind] * self.size**2 + self.symmetries[1][cell]
        return np.stack([np.arange(self.actions), mirrored])


# The rules: plain functions that Numba compiles, for a CPU and for a GPU.


@rules(KingsAndPawns)
def start(game, state):
    size = game.size
    for x in range(size):
        state.cells[size + x] = 3
        state.cells[(size - 2) * size + x] = 1
    state.cells[size // 2] = 4
    state.cells[(size - 1) * size + size // 2] = 2
    state.passed = -1


@rules(KingsAndPawns)
def legal(game, state, actions):
    cells, count = game.size * game.size, 0
    for kind in range(len(KINDS)):
        for cell in range(cells):
            if target_of(game, state, cell, kind) >= 0:
                actions[count] = kind * cells + cell
                count += 1
    return count


@kernel
def target_of(game, state, cell, kind):
    """Where a legal move leads; −1 if it is none."""
    size, piece, player = game.size, state.cells[cell], state.to_play
    if piece == 0 or owner_of(piece) != player:
        return -1
    forward = -1 if player == 0 else 1
    x, y = cell % size + RIGHT[kind], cell // size + (2 * forward if kind == TWO else DOWN[kind])
    if not (0 <= x < size and 0 <= y < size):
        return -1
    target = y * size + x
    there = state.cells[target]
    if kind_of(piece) == KING:
        may_go = kind != TWO and (there == 0 or owner_of(there) != player)
    elif kind == TWO:
        home = size - 2 if player == 0 else 1
        may_go = cell // size == home and there == 0 and state.cells[cell + forward * size] == 0
    elif x == cell % size:
        may_go = DOWN[kind] == forward and there == 0
    else:
        takes = target == state.passed or (there != 0 and owner_of(there) != player)
        may_go = DOWN[kind] == forward and takes
    return target if may_go else -1


@kernel
def owner_of(piece):
    return (piece - 1) // 2


@kernel
def kind_of(piece):
    return (piece - 1) % 2


@rules(KingsAndPawns)
def play(game, state, action):
    size, cells = game.size, game.size * game.size
    kind, cell = action // cells, action % cells
    target, piece = target_of(game, state, cell, kind), state.cells[cell]
    is_pawn = kind_of(piece) == PAWN
    state.quiet = 0 if is_pawn or state.cells[target] != 0 else state.quiet + 1
    if is_pawn and target == state.passed:
        state.cells[cell // size * size + target % size] = 0  # it stands beside the pawn that captures it
    state.passed = (cell + target) // 2 if kind == TWO else -1
    state.cells[cell] = 0
    state.cells[target] = piece
    state.ply += 1
    state.to_play = 1 - state.to_play
    state.result = result_of(game, state)


@kernel
def result_of(game, state):
    """Whether the game is over, and who has won, by what stands on the board."""
    size, has_first, has_second = game.size, False, False
    for cell in range(size * size):
        piece = state.cells[cell]
        has_first |= piece == 2
        has_second |= piece == 4
        if piece == 1 and cell < size:
            return FIRST
        if piece == 3 and cell >= size * (size - 1):
            return SECOND
    if not has_second:
        return FIRST
    if not has_first:
        return SECOND
    if not can_move(game, state):
        return SECOND if state.to_play == 0 else FIRST
    return DRAW if state.quiet >= QUIET else ONGOING


@kernel
def can_move(game, state):
    for cell in range(game.size * game.size):
        for kind in range(len(KINDS)):
            if target_of(game, state, cell, kind) >= 0:
                return True
    return False


@entry
def settle(game, states):
    """Sees whether the game of a diagram is over."""
    states[0].result = result_of(game, states[0])


@rules(KingsAndPawns)
def outcome(game, state):
    return state.result


@rules(KingsAndPawns)
def key(game, state):
    cells = game.size * game.size
    result = np.uint64(state.to_play)
    for cell in range(cells):
        piece = state.cells[cell]
        if piece != 0:
            result ^= stone_key(2 * cell + kind_of(piece), owner_of(piece))
    if state.passed >= 0:
        result ^= stone_key(2 * cells + state.passed, 0)
    return result


@rules(KingsAndPawns)
def encode(game, state, planes):
    for cell in range(game.size * game.size):
        piece = state.cells[cell]
        for plane in range(4):
            planes[plane, cell] = 0
        if piece != 0:
            is_own = owner_of(piece) == state.to_play
            planes[kind_of(piece) + (0 if is_own else 2), cell] = 1
        planes[4, cell] = cell == state.passed
        planes[5, cell] = state.quiet
        planes[6, cell] = state.to_play == 0
