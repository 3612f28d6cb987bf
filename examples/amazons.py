"""The Game of the Amazons: a queen moves, then shoots an arrow from where she stands; who cannot move has lost.

A whole game in one file, with what Breakthrough does not show: a turn of two actions, pieces that are nobody's, and a
fact that the board does not show, namely which queen must shoot. docs/add-a-game.md says what each part is for.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from tengen.rules.board import Between, Coordinates, Piece, board_symmetries
from tengen.rules.contract import kernel, mix, rules, stone_key
from tengen.rules.errors import BadDiagram, BadMove, BadParameter

ARROW = 3  # on a board; 1 and 2 are the players' queens

# Eight directions, in the order of the cells around the middle one of a 3×3 board.
AROUND = np.array([0, 1, 2, 3, 5, 6, 7, 8])
ROWS, COLUMNS = tuple((AROUND // 3 - 1).tolist()), tuple((AROUND % 3 - 1).tolist())

RECORD = np.dtype(
    [
        ("cells", np.int8, 100),  # 0 empty, 1 and 2 queens, 3 an arrow; row 0 is at the top
        ("shooter", np.int16),  # one more than the cell of the queen that must shoot, or 0
        ("ply", np.int16),
        ("to_play", np.uint8),
        ("result", np.int8),
    ],
    align=True,
)


class Amazons(NamedTuple):
    """move a queen, shoot an arrow; who cannot move loses"""

    size: Annotated[int, Between(6, 10)] = 10

    planes = ("own queens", "opponent's queens", "arrows", "queen that must shoot", "first player to move")
    players = ("White", "Black")
    pieces = (
        Piece("W", 0, "White queen", "queen"),
        Piece("B", 1, "Black queen", "queen"),
        Piece("x", None, "arrow", "wall"),
    )
    usual_sizes = (6, 8, 10)
    move_pattern = r"[a-j]\d+[-/][a-j]\d+?(?=[a-j#]|$)|#\d+"

    def validate(self):
        if self.size % 2:
            raise BadParameter(f"size={self.size} is odd; boards of the Amazons are 6, 8 or 10 wide")

    @property
    def shape(self):
        return self.size, self.size

    @property
    def move_planes(self):
        """An action is a direction, how far, and the cell of the queen; an arrow flies as a queen moves."""
        return 8 * (self.size - 1)

    @property
    def actions(self):
        return self.move_planes * self.size**2

    @property
    def symmetries(self):
        return board_symmetries(*self.shape)

    @property
    def action_symmetries(self):
        """A symmetry turns the directions as it turns a board of 3×3."""
        kinds, cells = np.divmod(np.arange(self.actions), self.size**2)
        directions, steps = np.divmod(kinds, self.size - 1)
        images = []
        for image, around in zip(self.symmetries, board_symmetries(3, 3), strict=True):
            turned = np.searchsorted(AROUND, around[AROUND])[directions]
            images.append((turned * (self.size - 1) + steps) * self.size**2 + image[cells])
        return np.stack(images)

    def record(self):
        return RECORD

    def board(self, state):
        return state.cells[: self.size**2].reshape(self.shape)

    def facts(self, state):
        """The queen that must shoot, `d7`; nothing before a queen has moved."""
        return Coordinates(*self.shape).text(state.shooter - 1) if state.shooter else ""

    def setup(self, states, board, to_play, facts):
        state = states[0]
        state.cells[: self.size**2] = board.ravel()
        state.to_play = to_play
        if facts:
            cell = Coordinates(*self.shape).cell(facts)
            if state.cells[cell] != to_play + 1:
                raise BadDiagram(f"{self.players[to_play]} has no queen on {facts} that could shoot")
            state.shooter = cell + 1
        elif not any(self._is_beside_empty(board, y, x) for y, x in np.argwhere(board == to_play + 1)):
            state.result = 2 - to_play

    def _is_beside_empty(self, board, y, x):
        return (board[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2] == 0).any()

    def line_of(self, action):
        """The cell of the queen, and where she or her arrow goes; None where that is off the board."""
        kind, cell = divmod(action, self.size**2)
        direction, steps = divmod(kind, self.size - 1)
        y, x = divmod(cell, self.size)
        y, x = y + ROWS[direction] * (steps + 1), x + COLUMNS[direction] * (steps + 1)
        return (cell, y * self.size + x) if 0 <= y < self.size and 0 <= x < self.size else None

    def action_text(self, action):
        """`d1-d7`; an action that leads off the board is only a number."""
        points, cells = Coordinates(*self.shape), self.line_of(action)
        return f"#{action}" if cells is None else "-".join(points.text(cell) for cell in cells)

    def move_text(self, position, action):
        """An arrow is written `d7/g7`."""
        return self.action_text(action).replace("-", "/" if position.facts else "-")

    def parse_action(self, text):
        points = Coordinates(*self.shape)
        if text[:1] == "#" and text[1:].isdecimal() and len(text) < 9 and int(text[1:]) < self.actions:
            if self.line_of(int(text[1:])) is None:
                return int(text[1:])
        begin, dash, end = text.replace("/", "-").partition("-")
        if not dash:
            raise BadMove(f"{text!r} is not a move; write d1-d7 for a queen, then d7/g7 for her arrow")
        (y, x), (to_y, to_x) = (divmod(points.cell(point), self.size) for point in (begin, end))
        steps, row, column = max(abs(to_y - y), abs(to_x - x)), to_y - y, to_x - x
        if steps == 0 or abs(row) not in (0, steps) or abs(column) not in (0, steps):
            raise BadMove(f"{text!r} is no line; queens and arrows go straight or diagonally")
        direction = list(zip(ROWS, COLUMNS, strict=True)).index((row // steps, column // steps))
        return (direction * (self.size - 1) + steps - 1) * self.size**2 + y * self.size + x


# The rules.


@rules(Amazons)
def start(game, state):
    """On 10×10 the queens stand on a4, d1, g1 and j4, and opposite; smaller boards are the same, drawn closer."""
    size = game.size
    near, far = (size - 1) // 3, size - 1 - (size - 1) // 3
    for player in range(2):
        home, row = (size - 1, far) if player == 0 else (0, near)
        state.cells[home * size + near] = state.cells[home * size + far] = player + 1
        state.cells[row * size] = state.cells[row * size + size - 1] = player + 1


@rules(Amazons)
def legal(game, state, actions):
    """Each direction in turn, and each distance for as long as some queen gets so far: so the actions rise."""
    cells, count = game.size * game.size, 0
    first, last = (0, cells) if state.shooter == 0 else (state.shooter - 1, state.shooter)
    for direction in range(8):
        for steps in range(1, game.size):
            before = count
            for cell in range(first, last):
                if state.cells[cell] == state.to_play + 1 and is_open(game, state, cell, direction, steps):
                    actions[count] = (direction * (game.size - 1) + steps - 1) * cells + cell
                    count += 1
            if count == before:
                break
    return count


@kernel
def is_open(game, state, cell, direction, steps):
    """Whether so many cells in a direction are on the board and empty."""
    y, x = cell // game.size, cell % game.size
    for _ in range(steps):
        y, x = y + ROWS[direction], x + COLUMNS[direction]
        if not (0 <= y < game.size and 0 <= x < game.size) or state.cells[y * game.size + x] != 0:
            return False
    return True


@rules(Amazons)
def play(game, state, action):
    size, player = game.size, state.to_play
    kind, cell = action // (size * size), action % (size * size)
    direction, steps = kind // (size - 1), kind % (size - 1) + 1
    target = cell + (ROWS[direction] * size + COLUMNS[direction]) * steps
    state.ply += 1
    if state.shooter == 0:
        state.cells[cell], state.cells[target] = 0, player + 1
        state.shooter = target + 1
        return  # the same player goes on, with the arrow
    state.cells[target] = ARROW
    state.shooter = 0
    state.to_play = 1 - player
    if not can_move(game, state):
        state.result = player + 1


@kernel
def can_move(game, state):
    """Whether the player to move has a queen beside an empty cell."""
    for cell in range(game.size * game.size):
        if state.cells[cell] == state.to_play + 1:
            for direction in range(8):
                if is_open(game, state, cell, direction, 1):
                    return True
    return False


@rules(Amazons)
def outcome(game, state):
    return state.result


@rules(Amazons)
def key(game, state):
    result = mix(np.uint64(2 * state.shooter + state.to_play))
    for cell in range(game.size * game.size):
        if state.cells[cell] != 0:
            result ^= stone_key(cell + 128 * (state.cells[cell] // 2), state.cells[cell] % 2)
    return result


@rules(Amazons)
def encode(game, state, planes):
    for cell in range(game.size * game.size):
        planes[0, cell] = state.cells[cell] == state.to_play + 1
        planes[1, cell] = state.cells[cell] == 2 - state.to_play
        planes[2, cell] = state.cells[cell] == ARROW
        planes[3, cell] = cell == state.shooter - 1
        planes[4, cell] = state.to_play == 0
