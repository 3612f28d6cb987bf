"""Tic-tac-toe's tree, whole and reduced by symmetry; the lecture's e(s) on boards; minimax's time and space.

All is counted by walking our own rules; what is equal up to the board's eight symmetries is counted once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from tengen.course.alphabeta import estimator
from tengen.course.pictures import BLUE, FAINT, GREEN, INK, MARGIN, ORANGE, SOFT, Picture, places
from tengen.games import load_game
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game, Position

DEEPEST = 9
E_BOARDS = (
    ("", "8 − 8 = 0"),
    ("b2 b1", "6 − 4 = 2"),
    ("a1 b2 c1 b1", "3 − 3 = 0"),
)  # moves, and what the lecture prints
SMALL, BOARD = 16, 48  # a cell and a board of the drawing


@dataclass(frozen=True)
class TreeCounts:
    """What there is of the game at each ply, and in all."""

    sequences: list[int]  # [plies + 1]: ways to get there, nodes of the tree
    positions: list[int]  # different boards
    classes: list[int]  # boards up to symmetry
    reduced: list[int]  # nodes of the tree in which symmetric moves are one
    games: int  # ways to play to the end
    reduced_games: int  # in the reduced tree

    def total(self, name: str) -> int:
        count: int = sum(getattr(self, name))
        return count


def class_of(position: Position) -> bytes:
    """The least of a board's images: the same for boards that are equal up to symmetry."""
    board = position.board.ravel()
    return min(images_of(position.game, board))


def images_of(game: Game, board: np.ndarray) -> Iterator[bytes]:
    for image in game.symmetries:
        turned = np.empty_like(board)
        turned[image] = board
        yield turned.tobytes()


def children_of_class(position: Position) -> list[Position]:
    """What can be reached by a move, one for each class, in the order of the moves."""
    found: dict[bytes, Position] = {}
    for action in position.legal_actions:
        child = position.play(action)
        found.setdefault(class_of(child), child)
    return list(found.values())


def count_tree(spec: str = "tictactoe") -> TreeCounts:
    """All positions, level by level; how many ways lead to each; and the same for classes."""
    start = load_game(spec).start()
    whole = {start.board.tobytes(): (start, 1)}
    folded = {class_of(start): (start, 1)}
    counts: dict[str, list[int]] = {name: [] for name in ("sequences", "positions", "classes", "reduced")}
    games = reduced_games = 0
    while whole:
        counts["positions"].append(len(whole))
        counts["sequences"].append(sum(ways for _, ways in whole.values()))
        counts["classes"].append(len(folded))
        counts["reduced"].append(sum(ways for _, ways in folded.values()))
        games += sum(ways for position, ways in whole.values() if position.outcome is not None)
        reduced_games += sum(ways for position, ways in folded.values() if position.outcome is not None)
        below: dict[bytes, tuple[Position, int]] = {}
        for position, ways in whole.values():
            for action in position.legal_actions if position.outcome is None else ():
                child = position.play(action)
                key = child.board.tobytes()
                below[key] = child, below.get(key, (child, 0))[1] + ways
        folded_below: dict[bytes, tuple[Position, int]] = {}
        for position, ways in folded.values():
            for child in children_of_class(position) if position.outcome is None else ():
                key = class_of(child)
                folded_below[key] = child, folded_below.get(key, (child, 0))[1] + ways
        whole, folded = below, folded_below
    return TreeCounts(**counts, games=games, reduced_games=reduced_games)


# The lecture's evaluation


@dataclass(frozen=True)
class OpenRows:
    """A board with the rows still open to each player, and e(s)."""

    moves: str
    printed: str  # in the lecture
    first: int
    second: int
    value: float  # by the evaluation that plays


def rows_of_three() -> list[tuple[int, ...]]:
    """The board's rows, columns and diagonals, by cell."""
    cells = np.arange(9).reshape(3, 3)
    lines = [*cells, *cells.T, np.diagonal(cells), np.diagonal(cells[:, ::-1])]
    return [tuple(int(cell) for cell in line) for line in lines]


def open_rows(position: Position, player: int) -> list[tuple[int, ...]]:
    """Rows without a mark of the other: those that a player could still fill."""
    theirs = 2 - player  # what the other's marks are on the board
    board = position.board.ravel()
    return [row for row in rows_of_three() if not any(board[cell] == theirs for cell in row)]


def e_boards() -> list[OpenRows]:
    """The lecture's three boards: counted row by row, and asked of the evaluation `lines`."""
    found = []
    for moves, printed in E_BOARDS:
        position = load_game("tictactoe").from_moves(moves)
        first, second = (len(open_rows(position, player)) for player in (0, 1))
        value = estimator(load_game("tictactoe").start())(position)
        found.append(OpenRows(moves, printed, first, second, value + 0.0))
    return found


# Minimax's time and space


@dataclass(frozen=True)
class MinimaxCost:
    """What minimax took to look so many plies ahead."""

    depth: int
    nodes: int  # visited: time, O(b^m)
    at_once: int  # the most nodes that wait in memory if all moves are made at once: O(bm)
    one_by_one: int  # if one move is made at a time: O(m)


def measure_minimax(depth: int, spec: str = "tictactoe") -> MinimaxCost:
    """Walks the tree as minimax does, and watches what is kept on the stack."""
    if not 1 <= depth <= DEEPEST:
        raise BadParameter(f"depth={depth}: 1 to {DEEPEST} plies")
    visited = most = deepest = 0

    def visit(position: Position, left: int, waiting: int, level: int) -> None:
        nonlocal visited, most, deepest
        visited += 1
        deepest = max(deepest, level)
        most = max(most, waiting)
        if left == 0 or position.outcome is not None:
            return
        moves = position.legal_actions
        for i, action in enumerate(moves):
            visit(position.play(action), left - 1, waiting + len(moves) - i, level + 1)

    visit(load_game(spec).start(), depth, 1, 1)
    return MinimaxCost(depth, visited, most, deepest)


# Pictures


@cache
def symbols() -> tuple[str, str, str]:
    first, second = load_game("tictactoe").players
    return "", first, second


def draw_board_of(picture: Picture, position: Position, x: float, y: float, cell: float = SMALL) -> None:
    """The board with its left upper corner there."""
    for i in (1, 2):
        picture.line(x + i * cell, y, x + i * cell, y + 3 * cell, edge=SOFT)
        picture.line(x, y + i * cell, x + 3 * cell, y + i * cell, edge=SOFT)
    for number, mark in enumerate(position.board.ravel().tolist()):
        if mark:
            spot = x + (number % 3 + 0.5) * cell, y + (number // 3 + 0.5) * cell
            colour = BLUE if mark == 1 else ORANGE
            picture.write(*spot, symbols()[mark], size=0.75 * cell, colour=colour, is_bold=True)


def draw_reduced_tree(plies: int = 2) -> Picture:
    """The tree up to symmetry, its first plies; under each board, how many of the whole tree's nodes it stands for."""
    if not 1 <= plies <= 2:
        raise BadParameter(f"plies={plies}: 1 or 2 can be drawn")
    start = load_game("tictactoe").start()
    nodes, stands_for = [(start, 0)], [1]
    children: dict[int, list[int]] = {}
    for at, (position, level) in enumerate(nodes):
        below = children_of_class(position) if level < plies else []
        children[at] = list(range(len(nodes), len(nodes) + len(below)))
        reached = [class_of(position.play(action)) for action in position.legal_actions] if below else []
        for child in below:
            nodes.append((child, level + 1))
            stands_for.append(stands_for[at] * reached.count(class_of(child)))
    picture, step, drop = Picture("Tic-tac-toe up to symmetry"), BOARD + 20, BOARD + 56
    spots = {at: (MARGIN + column * step, MARGIN + level * drop) for at, (column, level) in places(children).items()}
    picture.width = max(x for x, _ in spots.values()) + BOARD + MARGIN
    picture.height = max(y for _, y in spots.values()) + BOARD + 22 + MARGIN
    for at, numbers in children.items():
        x, y = spots[at]
        for number in numbers:
            to_x, to_y = spots[number]
            picture.line(x + BOARD / 2, y + BOARD + 20, to_x + BOARD / 2, to_y - 4, edge=FAINT)
    for at, (x, y) in spots.items():
        draw_board_of(picture, nodes[at][0], x, y)
        picture.write(x + BOARD / 2, y + BOARD + 10, f"× {stands_for[at]}", size=11, colour=SOFT)
    return picture


def draw_e_boards() -> Picture:
    """The lecture's three boards; blue lines are open to X, orange ones to O."""
    side, gap, cell = 132, 48, 44
    picture = Picture("e(s)", 2 * MARGIN + 3 * side + 2 * gap, 2 * MARGIN + side + 26)
    for i, board in enumerate(e_boards()):
        x, y = MARGIN + i * (side + gap), MARGIN
        position = load_game("tictactoe").from_moves(board.moves)
        for player, colour, shift in ((0, BLUE, -4.0), (1, ORANGE, 4.0)):
            for row in open_rows(position, player):
                draw_open_row(picture, row, x, y, cell, colour, shift)
        draw_board_of(picture, position, x, y, cell)
        said = f"{board.first} − {board.second} = {board.value:g}".replace("-", "−")
        picture.write(x + side / 2, y + side + 16, said, is_bold=True, colour=INK if said == board.printed else GREEN)
    return picture


def draw_open_row(
    picture: Picture, row: tuple[int, ...], x: float, y: float, cell: float, colour: str, shift: float
) -> None:
    (x1, y1), (x2, y2) = (((end % 3 + 0.5) * cell, (end // 3 + 0.5) * cell) for end in (row[0], row[-1]))
    length = math.hypot(x2 - x1, y2 - y1)
    across = -(y2 - y1) / length * shift, (x2 - x1) / length * shift
    ends = (x + x1 + across[0], y + y1 + across[1], x + x2 + across[0], y + y2 + across[1])
    picture.line(*ends, edge=colour, thickness=1.6)
