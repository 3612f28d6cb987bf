"""Boards as people write them: coordinates, diagrams, symmetries; and what a parameter may be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tengen.rules.errors import BadDiagram, BadMove, BadParameter, nearest

LETTERS = "abcdefghijklmnopqrstuvwxyz"
EMPTY = "."  # the mark of a cell on which nothing stands


@dataclass(frozen=True)
class Between:
    """A parameter's range, both ends included."""

    low: float
    high: float

    def read(self, name: str, value: object, kind: type) -> int | float:
        try:
            number = kind(value)
            is_cut = kind is int and not isinstance(value, str) and number != value  # not by way of a float: those
            if is_cut or number != number:  # have 53 bits, a seed has 63; and NaN is not itself
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            raise BadParameter(f"{name}={value} is not a {'whole ' if kind is int else ''}number") from None
        if not self.low <= number <= self.high:
            raise BadParameter(f"{name}={value} is out of range: {name} is {self.low} to {self.high}")
        return number

    def text(self, value: float) -> str:
        return str(int(value)) if value == int(value) else repr(value)

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


class OneOf:
    """A parameter chosen by name; its value is the name's number, or if its kind is str the name itself."""

    def __init__(self, *names: str):
        self.names = names

    def read(self, name: str, value: object, kind: type) -> Any:
        if isinstance(value, str) and value in self.names:
            return value if kind is str else self.names.index(value)
        if kind is not str and isinstance(value, int) and 0 <= value < len(self.names):
            return int(value)
        raise BadParameter(f"{name}={value} is unknown{nearest(str(value), self.names)}")

    def text(self, value: float) -> str:
        return self.names[int(value)]

    def __str__(self) -> str:
        return "|".join(self.names)


class Piece(NamedTuple):
    """What may stand on a cell: 1 on a board is the first of a game's pieces, 2 the second, and so on."""

    symbol: str  # one character, in diagrams
    owner: int | None  # whose it is, 0 or 1; None for nobody's, such as a wall
    name: str = ""  # what a screen reader calls it; by default, its owner's name
    shape: str = "stone"  # one of SHAPES, or SVG path data in a square of 40 units, filled by the rule evenodd


STONES = (Piece("X", 0), Piece("O", 1))  # the pieces of a game that names none
SHAPES = ("stone", "man", "crowned", "pawn", "knight", "bishop", "rook", "queen", "king", "amazon", "arrow", "wall")
PATH_DATA = re.compile(r"[Mm]\s*[-+.\d][MmLlHhVvCcSsQqTtAaZzEe\d\s.,+-]{0,5000}", re.ASCII)
NOT_SYMBOLS = EMPTY + "/-" + "0123456789"


@dataclass(frozen=True)
class Coordinates:
    """Names of the points of a board, as `a1` in the corner nearest to the first player (or at the top left)."""

    rows: int
    columns: int
    letters: str = LETTERS
    from_top: bool = False

    def text(self, cell: int) -> str:
        y, x = divmod(cell, self.columns)
        return f"{self.letters[x]}{y + 1 if self.from_top else self.rows - y}"

    def cell(self, text: str) -> int:
        """The cell of a point such as `h8`; raises BadMove if there is none."""
        letter, digits = text[:1].lower(), text[1:]
        if not (letter.isalpha() and digits.isascii() and digits.isdigit()):
            raise BadMove(f"{text!r} is not a point; write one as {self.text(0)}")
        x, number = self.letters.find(letter), int(digits[:9])
        if not (0 <= x < self.columns and 1 <= number <= self.rows):
            last = self.letters[self.columns - 1]
            without = " without i" if "i" not in self.letters and last > "i" else ""
            raise BadMove(
                f"{text[:9]} is off the board; its columns are a to {last}{without}, its rows 1 to {self.rows}"
            )
        return (number - 1 if self.from_top else self.rows - number) * self.columns + x


def draw(board: np.ndarray, coordinates: Coordinates, last: int | None = None, pieces: Sequence[Piece] = STONES) -> str:
    """The board with its coordinates around it; the piece on cell `last` in brackets."""
    rows, columns = board.shape
    lines, marks = [], marks_of(pieces)
    for y in range(rows):
        label = coordinates.text(y * columns)[1:]
        shown = "".join(
            f"({marks[value]})" if last == y * columns + x else f" {marks[value]} " for x, value in enumerate(board[y])
        )
        lines.append(f"{label:>2}{shown}".rstrip())
    return "\n".join([*lines, ("   " + "  ".join(coordinates.letters[:columns])).rstrip()])


def marks_of(pieces: Sequence[Piece]) -> str:
    """The characters of a board's values, from 0 on."""
    return EMPTY + "".join(piece.symbol for piece in pieces)


def diagram(board: np.ndarray, pieces: Sequence[Piece] = STONES) -> str:
    """The board in one line: rows from the top joined by `/`.

    Where a game has pieces of its own, a number stands for so many empty cells, as in chess: `4k3/8/8/8/8/8/4P3/4K3`.
    """
    marks = marks_of(pieces)
    text = "/".join("".join(marks[value] for value in row) for row in board)
    return text if pieces == STONES else re.sub(r"\.+", lambda run: str(len(run[0])), text)


def read_diagram(
    text: str, shape: tuple[int, int], pieces: Sequence[Piece] = STONES, has_words: bool = False
) -> tuple[np.ndarray, list[str]]:
    """The board of a diagram, and the words after its last row if there may be any.

    Rows come from the top, joined by `/` or line breaks. A cell is a piece's symbol, or `.` for an empty one; a number
    is so many empty ones.
    """
    rows, columns = shape
    given, words = [row.strip() for line in text.strip().splitlines() for row in line.split("/")], []
    if has_words and given:
        given[-1], *words = given[-1].split() or [""]
    if len(given) != rows:
        raise BadDiagram(f"the diagram has {len(given)} rows; this board has {rows}")
    board = np.zeros(shape, np.int8)
    for y, row in enumerate("".join(row.split()) for row in given):
        where = f"row {y + 1} from the top, {row!r},"
        cells = [value for mark in re.findall(r"[0-9]{1,3}|.", row) for value in _values(mark, pieces, where)]
        if len(cells) != columns:
            raise BadDiagram(f"{where} has {len(cells)} columns; this board has {columns}")
        board[y] = cells
    return board, words


def _values(mark: str, pieces: Sequence[Piece], where: str) -> list[int]:
    """The cells that a mark of a diagram stands for. Case counts only where two pieces differ in nothing else."""
    marks = marks_of(pieces)
    if mark.isdecimal() and mark.isascii():
        return [0] * int(mark)
    same = [value for value, known in enumerate(marks) if known.lower() == mark.lower()]
    value = marks.find(mark) if len(same) > 1 else same[0] if same else -1
    if value < 0:
        raise BadDiagram(f"{where} has {mark!r}; use {', '.join(marks[1:])} and {EMPTY}")
    return [value]


def check_turn(board: np.ndarray, to_play: int) -> None:
    """Refuses stone counts that cannot arise where the players place one stone each in turn."""
    first, second = int((board == 1).sum()), int((board == 2).sum())
    if first - second != to_play:
        side = STONES[to_play].symbol
        raise BadDiagram(
            f"X has {first} stones and O {second}: with {side} to play, X needs "
            + ("as many as O" if to_play == 0 else "one more than O")
        )


def check_winner(result: int, to_play: int) -> None:
    """Refuses a diagram that the player to move has won: the game was over before the last move."""
    if result == to_play + 1:
        raise BadDiagram(f"{STONES[to_play].symbol} has won already, and so cannot be to play")


def bits_board(words: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """The board of stones that are bits of two words; `bits` [rows, columns] is where each cell's bit is."""
    first, second = ((int(word) >> bits.astype(object)) & 1 for word in words)
    return (first + 2 * second).astype(np.int8)


def board_symmetries(rows: int, columns: int) -> np.ndarray:
    """The symmetries of a board: [symmetries, cells], where cell c goes to; 8 for a square, 4 for a rectangle."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    images = [cells, cells[::-1], cells[:, ::-1], cells[::-1, ::-1]]
    if rows == columns:
        images += [image.T for image in images]
    return np.stack([np.argsort(image.ravel()) for image in images])
