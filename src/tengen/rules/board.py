"""Boards as people write them: coordinates, diagrams, symmetries; and what a parameter may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tengen.rules.errors import BadDiagram, BadMove, BadParameter, nearest

LETTERS = "abcdefghijklmnopqrstuvwxyz"
STONES = ".XO"


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


def draw(board: np.ndarray, coordinates: Coordinates, last: int | None = None) -> str:
    """The board with its coordinates around it; the stone on cell `last` in brackets."""
    rows, columns = board.shape
    lines = []
    for y in range(rows):
        label = coordinates.text(y * columns)[1:]
        marks = "".join(
            f"({STONES[s]})" if last == y * columns + x else f" {STONES[s]} " for x, s in enumerate(board[y])
        )
        lines.append(f"{label:>2}{marks}".rstrip())
    return "\n".join([*lines, ("   " + "  ".join(coordinates.letters[:columns])).rstrip()])


def diagram(board: np.ndarray) -> str:
    """The board in one line: rows from the top joined by `/`."""
    return "/".join("".join(STONES[s] for s in row) for row in board)


def read_diagram(text: str, shape: tuple[int, int]) -> np.ndarray:
    """The board of a diagram: rows from the top joined by `/` or line breaks; X first player, O second, `.` empty."""
    rows, columns = shape
    given = ["".join(row.split()) for line in text.strip().splitlines() for row in line.split("/")]
    if len(given) != rows:
        raise BadDiagram(f"the diagram has {len(given)} rows; this board has {rows}")
    board = np.zeros(shape, np.int8)
    for y, row in enumerate(given):
        if len(row) != columns:
            raise BadDiagram(f"row {y + 1} from the top, {row!r}, has {len(row)} columns; this board has {columns}")
        for x, mark in enumerate(row):
            stone = STONES.find(mark.upper())
            if stone < 0:
                raise BadDiagram(f"row {y + 1} from the top, {row!r}, has {mark!r}; use X, O and .")
            board[y, x] = stone
    return board


def check_turn(board: np.ndarray, to_play: int) -> None:
    """Refuses stone counts that cannot arise where the players place one stone each in turn."""
    first, second = int((board == 1).sum()), int((board == 2).sum())
    if first - second != to_play:
        side = STONES[to_play + 1]
        raise BadDiagram(
            f"X has {first} stones and O {second}: with {side} to play, X needs "
            + ("as many as O" if to_play == 0 else "one more than O")
        )


def check_winner(result: int, to_play: int) -> None:
    """Refuses a diagram that the player to move has won: the game was over before the last move."""
    if result == to_play + 1:
        raise BadDiagram(f"{STONES[to_play + 1]} has won already, and so cannot be to play")


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
