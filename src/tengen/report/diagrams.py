"""Boards as SVG: the stones of a position, each with the number of the move last played on its cell.

A page that shows boards includes STYLE once; it follows the reader's light or dark mode.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import numpy as np

from tengen.records.record import plays_points
from tengen.rules.game import Game, Position

CELL, MARGIN = 40, 24  # in the drawing's own units
LARGEST = 1.3  # a unit has at most so many pixels: small boards stay small
DIGIT_SIZES = {1: 19, 2: 17, 3: 13}  # how large a number of so many digits is written

STYLE = """
.board { display: block; width: 100%; height: auto; margin: 0 auto; --surface: #e9c684; --grid: #6b5024;
  --last: #c2410c; --first: #1c1c1e; --second: #fdfdfb; --on-first: #fff; --on-second: #1c1c1e; --rim: #1c1c1e; }
.board .surface { fill: var(--surface); }
.board .grid { stroke: var(--grid); stroke-width: 1.2; fill: none; stroke-linecap: square; }
.board .star { fill: var(--grid); }
.board .hole { fill: var(--empty); }
.board .label { fill: currentColor; opacity: .65; }
.board text { font-family: system-ui, sans-serif; text-anchor: middle; dominant-baseline: central; }
.board .stone { stroke: var(--rim); stroke-width: 1; }
.board .first { fill: var(--first); } .board .second { fill: var(--second); }
.board .on-first { fill: var(--on-first); } .board .on-second { fill: var(--on-second); }
.board .last { stroke: var(--last); stroke-width: 3.5; }
.board .mark { fill: none; stroke-width: 4; stroke-linecap: round; }
.board .mark.first { stroke: var(--first); } .board .mark.second { stroke: var(--second); }
.board .mark.last { stroke-width: 6; }
.board .corner { fill: currentColor; opacity: .65; font-size: 10px; text-anchor: start; }
.board.discs { --surface: #3f9a6b; --grid: #1f5d3d; --last: #ffb454; }
.board.holes { --surface: #2f66b0; --empty: #eef3fa; --first: #d1344b; --second: #f6c945; --rim: #1d4478;
  --last: #fff; }
.board.marks { --surface: none; --grid: #9aa3ad; --first: #0068a8; --second: #c24a00; }
.board.cells { --surface: #efe9dd; --grid: #b7ab94; --last: #c2410c; }
@media (prefers-color-scheme: dark) {
  .board { --surface: #c39a55; --grid: #4a3514; }
  .board.discs { --surface: #2c7a52; --grid: #164630; }
  .board.holes { --surface: #274f86; --empty: #131a24; --rim: #12284a; }
  .board.marks { --surface: none; --grid: #55606c; --first: #5db7f0; --second: #ff9a57; }
  .board.cells { --surface: #57534b; --grid: #3a3731; --last: #ffb454; }
}
"""


def drawing_of(position: Position) -> str:
    """The same as a picture that stands alone, as in a notebook."""
    return draw_board(position).replace(">", f"><style>{STYLE}.board {{ max-width: 24em }}</style>", 1)


def draw_board(position: Position, numbered: bool = True) -> str:
    """The position as an <svg> element; a ring, or a thicker mark, shows the last move."""
    game = position.game
    columns, draw_one = game.shape[1], _piece(game)
    board, numbers = position.board, last_played(position)
    pieces = []
    for cell in np.flatnonzero(board).tolist():
        y, x = divmod(cell, columns)
        number = numbers.get(cell, 0)
        is_last = 0 < number == position.ply
        pieces += draw_one(_middle(x), _middle(y), int(board[y, x]), number if numbered else 0, is_last)
    return _frame(game, f"{game.spec} after {position.ply} moves", pieces)


def draw_blank(game: Game) -> str:
    """An empty board for a script to play on, with one of each piece in its <defs>, numbered 1, about the point 0, 0.

    Pieces are groups: data-piece is the stone, 1 or 2, and `+` behind it says that it was played last.
    """
    kinds = [(stone, is_last) for stone in (1, 2) for is_last in (False, True)]
    pieces = [
        f'<g data-piece="{stone}{"+" if is_last else ""}">{"".join(_piece(game)(0, 0, stone, 1, is_last))}</g>'
        for stone, is_last in kinds
    ]
    return _frame(game, f"a board of {game.spec}", ["<defs>", *pieces, "</defs>"])


def _piece(game: Game) -> Callable[[float, float, int, int, bool], list[str]]:
    """What draws a piece: where it is, whose, its number, whether it was the last."""
    return _mark if game.drawing == "marks" else _stone


def _frame(game: Game, label: str, pieces: list[str]) -> str:
    """The <svg> of an empty board, and what stands on it."""
    rows, columns = game.shape
    width, height = columns * CELL + 2 * MARGIN, rows * CELL + 2 * MARGIN
    size = f'viewBox="0 0 {width} {height}" style="max-width: {LARGEST * width:.0f}px"'
    head = f'<svg class="board {game.drawing}" {size} role="img" aria-label="{escape(label)}">'
    return "".join([head, *_grid(game.drawing, rows, columns), *_labels(game), *pieces, "</svg>"])


def last_played(position: Position) -> dict[int, int]:
    """Each cell that was played on, with the number of the last such move."""
    game = position.game
    if plays_points(game):
        return {action: number for number, action in enumerate(position.moves, 1) if action < game.cells}
    numbers: dict[int, int] = {}
    while position.previous is not None:
        before = position.previous
        own = before.to_play + 1
        for cell in np.flatnonzero((position.board == own) & (before.board != own)).tolist():
            numbers.setdefault(cell, position.ply)
        position = before
    return numbers


def _middle(index: int) -> float:
    """Where the middle of a column, or of a row, is."""
    return MARGIN + (index + 0.5) * CELL


def _grid(drawing: str, rows: int, columns: int) -> list[str]:
    """The empty board."""
    inset = CELL / 2 if drawing == "lines" else 0  # stones stand on the crossings, or between the lines
    left, top = MARGIN + inset, MARGIN + inset
    right, bottom = MARGIN + columns * CELL - inset, MARGIN + rows * CELL - inset
    size = f'width="{columns * CELL}" height="{rows * CELL}"'
    surface = f'<rect class="surface" x="{MARGIN}" y="{MARGIN}" {size} rx="4"/>'
    if drawing == "holes":
        places = [(_middle(x), _middle(y)) for y in range(rows) for x in range(columns)]
        return [surface, *(f'<circle class="hole" cx="{x}" cy="{y}" r="{0.42 * CELL}"/>' for x, y in places)]
    edges = 0 if drawing == "lines" else 1
    inner = 1 if drawing == "marks" else 0  # tic-tac-toe is open at its sides
    upright = [left + x * CELL for x in range(inner, columns + edges - inner)]
    level = [top + y * CELL for y in range(inner, rows + edges - inner)]
    path = "".join([f"M{x} {top}V{bottom}" for x in upright] + [f"M{left} {y}H{right}" for y in level])
    return [surface, f'<path class="grid" d="{path}"/>', *(_stars(rows, columns) if drawing == "lines" else [])]


def _stars(rows: int, columns: int) -> list[str]:
    """The dots that help the eye on a board of lines: near the corners and in the centre, on large boards nine."""
    if rows != columns or rows < 7:
        return []
    edge, centre = 2 if rows < 12 else 3, rows // 2
    sides = {edge, rows - 1 - edge}
    points = {(x, y) for x in sides for y in sides}
    if rows % 2:
        points.add((centre, centre))
    if rows % 2 and rows > 15:
        points |= {(x, centre) for x in sides} | {(centre, y) for y in sides}
    return [f'<circle class="star" cx="{_middle(x)}" cy="{_middle(y)}" r="3.2"/>' for x, y in sorted(points)]


def _labels(game: Game) -> list[str]:
    """The names of columns, beside the first row, and of rows, on the left."""
    rows, columns = game.shape
    bottom = MARGIN * 1.5 + rows * CELL
    names = game.coordinates
    beside = MARGIN / 2 if names.from_top else bottom
    across = [(_middle(x), beside, names.text(x)[:1]) for x in range(columns)]
    down = [(MARGIN / 2, _middle(y), names.text(y * columns)[1:]) for y in range(rows)]
    if game.actions == columns:  # whole columns are played: rows have no names
        down = []
    size = min(18, 11 + columns // 2)  # large boards are drawn smaller, and their labels should still be read
    return [
        f'<text class="label" x="{x}" y="{y}" font-size="{size}">{escape(text)}</text>' for x, y, text in across + down
    ]


def _stone(x: float, y: float, stone: int, number: int, is_last: bool) -> list[str]:
    """A stone, and its number unless that is zero."""
    side = ("first", "second")[stone - 1]
    last = " last" if is_last else ""
    drawn = [f'<circle class="stone {side}{last}" cx="{x}" cy="{y}" r="{0.44 * CELL if not last else 0.41 * CELL}"/>']
    if number:
        size = DIGIT_SIZES.get(len(str(number)), 10)
        drawn.append(f'<text class="on-{side}" x="{x}" y="{y}" font-size="{size}">{number}</text>')
    return drawn


def _mark(x: float, y: float, stone: int, number: int, is_last: bool) -> list[str]:
    """A cross or a nought, with its number in the corner unless that is zero."""
    reach = 0.24 * CELL
    last = " last" if is_last else ""
    if stone == 1:
        path = f"M{x - reach} {y - reach}L{x + reach} {y + reach}M{x - reach} {y + reach}L{x + reach} {y - reach}"
        drawn = [f'<path class="mark first{last}" d="{path}"/>']
    else:
        drawn = [f'<circle class="mark second{last}" cx="{x}" cy="{y}" r="{1.1 * reach}"/>']
    if number:
        drawn.append(f'<text class="corner" x="{x - 0.45 * CELL}" y="{y - 0.36 * CELL}">{number}</text>')
    return drawn
