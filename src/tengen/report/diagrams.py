"""Boards as SVG: the pieces of a position, each with the number of the move last played on its cell.

A page that shows boards includes STYLE once; it follows the reader's light or dark mode.
"""

from __future__ import annotations

from html import escape
from math import sqrt

import numpy as np

from tengen.records.record import plays_points
from tengen.report.shapes import TINTS, USUAL, has_own_pieces, is_stone, path_of, tints_of
from tengen.report.steps import Placement, last_step
from tengen.rules.board import Piece
from tengen.rules.game import Game, Position

CELL, MARGIN = 40, 24  # in the drawing's own units
RADIUS = CELL / sqrt(3)  # of a hexagon that is one cell wide: from its middle to its corners
PITCH = 1.5 * RADIUS  # from one row of hexagons to the next
LARGEST = 1.3  # a unit has at most so many pixels: small boards stay small
DIGIT_SIZES = {1: 19, 2: 17, 3: 13}  # how large a number of so many digits is written

STYLE = """
.board { display: block; width: 100%; height: auto; margin: 0 auto; --surface: #e9c684; --grid: #6b5024;
  --last: #c2410c; --first: #1c1c1e; --second: #fdfdfb; --on-first: #fff; --on-second: #1c1c1e; --rim: #1c1c1e;
  --edge-first: #efe6d4; --edge-second: #2a241c; --nobody: #6e5138; --edge-nobody: #3a2817; --trail: #f2c23080; }
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
.board .piece { fill-rule: evenodd; stroke-width: 1.3; stroke-linejoin: round; }
.board .piece.first { stroke: var(--edge-first); } .board .piece.second { stroke: var(--edge-second); }
.board .nobody { fill: var(--nobody); stroke: var(--edge-nobody); }
.board .on-nobody { fill: #fff; }
.board .dark { fill: var(--dark); }
.board .comb { fill: var(--surface); stroke: var(--grid); stroke-width: 1.2; stroke-linejoin: round; }
.board .trail { fill: var(--trail); }
.board .side, .board .side-rim { fill: none; stroke-width: 9; stroke-linejoin: round; }
.board .side.first { stroke: var(--first); } .board .side.second { stroke: var(--second); }
.board .side-rim { stroke: var(--grid); stroke-width: 11; stroke-linecap: round; }
.board .corner { fill: currentColor; opacity: .65; font-size: 10px; text-anchor: start; }
.board.discs { --surface: #3f9a6b; --grid: #1f5d3d; --last: #ffb454; }
.board.holes { --surface: #2f66b0; --empty: #eef3fa; --first: #d1344b; --second: #f6c945; --rim: #1d4478;
  --last: #fff; }
.board.marks { --surface: none; --grid: #9aa3ad; --first: #0068a8; --second: #c24a00; }
.board.cells { --surface: #efe2c4; --dark: #c9a877; --grid: #8a6a3f; --last: #c2410c; }
.board.hexagons { --surface: #f3ead6; --grid: #9a8560; --last: #f0b429; }
@media (prefers-color-scheme: dark) {
  .board { --surface: #c39a55; --grid: #4a3514; }
  .board.discs { --surface: #2c7a52; --grid: #164630; }
  .board.holes { --surface: #274f86; --empty: #131a24; --rim: #12284a; }
  .board.marks { --surface: none; --grid: #55606c; --first: #5db7f0; --second: #ff9a57; }
  .board.cells { --surface: #94805f; --dark: #66523a; --grid: #3a2f20; --last: #ffb454; }
  .board.hexagons { --surface: #4b463d; --grid: #2b2822; --last: #ffc857; }
}
""" + "".join(
    f".board.{side}-{name} {{ --{side}: {tint.fill}; --edge-{side}: {tint.edge}; --on-{side}: {tint.ink}; }}\n"
    for side in ("first", "second")
    for name, tint in TINTS.items()
)


def drawing_of(position: Position) -> str:
    """The same as a picture that stands alone, as in a notebook."""
    return draw_board(position).replace(">", f"><style>{STYLE}.board {{ max-width: 24em }}</style>", 1)


def draw_board(position: Position, numbered: bool = True) -> str:
    """The position as an <svg> element; a ring, a thicker mark or a lit cell shows the last move."""
    game, board, numbers = position.game, position.board.ravel(), last_played(position)
    drawn = [trail(game, cell) for cell in trail_of(position)]
    for cell in np.flatnonzero(board).tolist():
        number = numbers.get(cell, 0)
        is_last = 0 < number == position.ply
        drawn += draw_piece(game, int(board[cell]), middle(game, cell), number if numbered else 0, is_last)
    return _frame(game, f"{game.spec} after {position.ply} moves", drawn)


def draw_blank(game: Game) -> str:
    """An empty board for a script to play on, with one of each piece in its <defs>, numbered 1, about the point 0, 0.

    Pieces are groups: data-piece is what a board has there, 1, 2 and so on, and `+` behind it says that it was played
    last. What lights up a cell, if anything does on this board, has data-trail.
    """
    kinds = [(value, is_last) for value in range(1, len(game.pieces) + 1) for is_last in (False, True)]
    pieces = [
        f'<g data-piece="{value}{"+" if is_last else ""}">{"".join(draw_piece(game, value, (0, 0), 1, is_last))}</g>'
        for value, is_last in kinds
    ]
    lit = [f"<g data-trail>{_lit_cell(game, 0, 0)}</g>"] if has_trails(game) else []
    return _frame(game, f"a board of {game.spec}", ["<defs>", *pieces, *lit, "</defs>"])


def draw_piece(game: Game, value: int, place: tuple[float, float], number: int, is_last: bool) -> list[str]:
    """What a board has on a cell, at a place of the drawing, with its number unless that is zero."""
    piece, (x, y) = game.pieces[value - 1], place
    if not is_stone(piece):
        return _shaped(piece, x, y, number)
    return (_mark if game.drawing == "marks" else _stone)(x, y, side_of(piece), number, is_last)


def side_of(piece: Piece) -> str:
    """Whose a piece is, as the drawing's classes say it."""
    return "nobody" if piece.owner is None else ("first", "second")[piece.owner]


def has_trails(game: Game) -> bool:
    """Whether the cells of a move are lit: where pieces are no stones, which have rings, or may come from elsewhere."""
    return game.drawing == "cells" or has_own_pieces(game)


def trail_of(position: Position) -> list[int]:
    """The cells that the last move lights up: those that it left and reached."""
    step = last_step(position) if has_trails(position.game) else Placement(None)
    if step.cell is None:
        return []
    value = int(position.board.flat[step.cell])
    is_ringed = value > 0 and is_stone(position.game.pieces[value - 1]) and step.origin is None
    return [] if is_ringed else [cell for cell in (step.origin, step.cell) if cell is not None]


def trail(game: Game, cell: int) -> str:
    """A lit cell."""
    return _lit_cell(game, *middle(game, cell))


def _lit_cell(game: Game, x: float, y: float) -> str:
    if game.drawing == "hexagons":
        return f'<path class="trail" d="{hexagon(x, y)}"/>'
    return f'<rect class="trail" x="{x - CELL / 2}" y="{y - CELL / 2}" width="{CELL}" height="{CELL}"/>'


def _frame(game: Game, label: str, pieces: list[str]) -> str:
    """The <svg> of an empty board, and what stands on it."""
    width, height = size_of(game)
    size = f'viewBox="0 0 {width:g} {height:g}" style="max-width: {LARGEST * width:.0f}px"'
    head = f'<svg class="board {game.drawing}{_tinted(game)}" {size} role="img" aria-label="{escape(label)}">'
    return "".join([head, *_sides(game), *_grid(game), *_labels(game), *pieces, "</svg>"])


def size_of(game: Game) -> tuple[float, float]:
    """How wide and how high a board's drawing is, its margins included."""
    rows, columns = game.shape
    if game.drawing == "hexagons":
        width, height = (columns + (rows - 1) / 2) * CELL, (rows - 1) * PITCH + 2 * RADIUS
        return width + 2 * MARGIN, round(height + 2 * MARGIN, 2)
    return columns * CELL + 2 * MARGIN, rows * CELL + 2 * MARGIN


def middle(game: Game, cell: int) -> tuple[float, float]:
    """Where the middle of a cell is. Each row of hexagons begins half a cell to the right of the row above."""
    y, x = divmod(cell, game.shape[1])
    if game.drawing == "hexagons":
        return _middle(x + y / 2), round(MARGIN + RADIUS + y * PITCH, 2)
    return _middle(x), _middle(y)


def _tinted(game: Game) -> str:
    """The classes of the players' colours; boards behind a front and crosses have colours of their own."""
    tints = tints_of(game)
    if tints == USUAL or game.drawing in ("holes", "marks"):
        return ""
    return f" first-{tints[0]} second-{tints[1]}"


def last_played(position: Position) -> dict[int, int]:
    """Each cell that was played on, with the number of the last such move."""
    game = position.game
    if plays_points(game) and not has_own_pieces(game):
        return {action: number for number, action in enumerate(position.moves, 1) if action < game.cells}
    numbers: dict[int, int] = {}
    while position.previous is not None:
        before = position.previous
        own = position.owners == before.to_play + 1
        fresh = (own & (before.owners != position.owners)) | ((before.board == 0) & (position.board != 0))
        for cell in np.flatnonzero(fresh).tolist():
            numbers.setdefault(cell, position.ply)
        position = before
    return numbers


def _middle(index: float) -> float:
    """Where the middle of a column, or of a row, is."""
    return MARGIN + (index + 0.5) * CELL


def hexagon(x: float, y: float) -> str:
    """The outline of a hexagon about a point, from its upper corner clockwise."""
    half, quarter, side = CELL // 2, round(RADIUS / 2, 2), round(RADIUS, 2)
    top = round(y - RADIUS, 2)
    return f"M{x:g} {top:g}l{half} {quarter}v{side}l-{half} {quarter}l-{half}-{quarter}v-{side}z"


def _sides(game: Game) -> list[str]:
    """The sides of the board that belong to players, in their colours. The board covers their inner half."""
    if game.sides is None:
        return []
    named = [(name, text.split()) for name, text in zip(("first", "second"), game.sides, strict=True)]
    paths = [(name, "".join(side_path(game, side) for side in sides)) for name, sides in named]
    rims = [f'<path class="side-rim" d="{path}"/>' for _, path in paths if path]
    return [*rims, *(f'<path class="side {name}" d="{path}"/>' for name, path in paths if path)]


def side_path(game: Game, side: str) -> str:
    """A side of the board: a straight line, or the outer edges of hexagons."""
    rows, columns = game.shape
    if game.drawing != "hexagons":
        width, height = columns * CELL, rows * CELL
        begin = {"bottom": f"M{MARGIN} {MARGIN + height}", "right": f"M{MARGIN + width} {MARGIN}"}
        return begin.get(side, f"M{MARGIN} {MARGIN}") + (f"h{width}" if side in ("top", "bottom") else f"v{height}")
    cells = {
        "top": range(columns),
        "bottom": range((rows - 1) * columns, rows * columns),
        "left": range(0, rows * columns, columns),
        "right": range(columns - 1, rows * columns, columns),
    }[side]
    corners = {"top": (5, 0, 1), "bottom": (4, 3, 2), "left": (5, 4, 3), "right": (0, 1, 2)}[side]
    points = [corner(middle(game, cell), number) for cell in cells for number in corners]
    points[0 if side in ("bottom", "right") else -1] = shared_edge(game, side)
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in dict.fromkeys(points))


def corner(about: tuple[float, float], number: int) -> tuple[float, float]:
    """A corner of a hexagon about a point, counted clockwise from the upper one."""
    x = (0, 1, 1, 0, -1, -1)[number] * CELL / 2
    y = (-1, -0.5, 0.5, 1, 0.5, -0.5)[number] * RADIUS
    return round(about[0] + x, 1), round(about[1] + y, 1)


def shared_edge(game: Game, side: str) -> tuple[float, float]:
    """The middle of the edge that two sides share: of the cell at the upper right, or at the lower left."""
    rows, columns = game.shape
    is_upper = side in ("top", "right")
    x, y = middle(game, columns - 1 if is_upper else (rows - 1) * columns)
    way = 1 if is_upper else -1
    return round(x + way * CELL / 4, 1), round(y - way * 0.75 * RADIUS, 1)


def _grid(game: Game) -> list[str]:
    """The empty board."""
    drawing, (rows, columns) = game.drawing, game.shape
    if drawing == "hexagons":
        path = "".join(hexagon(*middle(game, cell)) for cell in range(game.cells))
        return [f'<path class="comb" d="{path}"/>']
    inset = CELL / 2 if drawing == "lines" else 0  # stones stand on the crossings, or between the lines
    left, top = MARGIN + inset, MARGIN + inset
    right, bottom = MARGIN + columns * CELL - inset, MARGIN + rows * CELL - inset
    size = f'width="{columns * CELL}" height="{rows * CELL}"'
    surface = f'<rect class="surface" x="{MARGIN}" y="{MARGIN}" {size} rx="4"/>'
    if drawing == "holes":
        places = [(_middle(x), _middle(y)) for y in range(rows) for x in range(columns)]
        return [surface, *(f'<circle class="hole" cx="{x}" cy="{y}" r="{0.42 * CELL}"/>' for x, y in places)]
    if drawing == "cells":
        return [surface, f'<path class="dark" d="{_dark_squares(rows, columns)}"/>', _border(rows, columns)]
    edges = 0 if drawing == "lines" else 1
    inner = 1 if drawing == "marks" else 0  # tic-tac-toe is open at its sides
    upright = [left + x * CELL for x in range(inner, columns + edges - inner)]
    level = [top + y * CELL for y in range(inner, rows + edges - inner)]
    path = "".join([f"M{x} {top}V{bottom}" for x in upright] + [f"M{left} {y}H{right}" for y in level])
    return [surface, f'<path class="grid" d="{path}"/>', *(_stars(rows, columns) if drawing == "lines" else [])]


def _dark_squares(rows: int, columns: int) -> str:
    """Every other square, the one at the bottom left among them."""
    places = [(x, y) for y in range(rows) for x in range(columns) if (x + rows - y) % 2]
    return "".join(f"M{MARGIN + x * CELL} {MARGIN + y * CELL}h{CELL}v{CELL}h-{CELL}z" for x, y in places)


def _border(rows: int, columns: int) -> str:
    size = f'width="{columns * CELL}" height="{rows * CELL}"'
    return f'<rect class="grid" x="{MARGIN}" y="{MARGIN}" {size}/>'


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
    names = game.coordinates
    across = [(*_column_label(game, x), names.text(x)[:1]) for x in range(columns)]
    down = [(*_row_label(game, y), names.text(y * columns)[1:]) for y in range(rows)]
    if game.actions == columns:  # whole columns are played: rows have no names
        down = []
    size = min(18, 11 + columns // 2)  # large boards are drawn smaller, and their labels should still be read
    return [
        f'<text class="label" x="{x}" y="{y}" font-size="{size}">{escape(text)}</text>' for x, y, text in across + down
    ]


def _column_label(game: Game, x: int) -> tuple[float, float]:
    """Where a column's name stands: above the board if rows are counted from there, else below."""
    rows, columns = game.shape
    is_above = game.coordinates.from_top
    if game.drawing == "hexagons":  # in line with the column, which leans
        across, down = middle(game, x if is_above else (rows - 1) * columns + x)
        return (across - 17, round(down - 30, 2)) if is_above else (across + 17, round(down + 30, 2))
    return _middle(x), MARGIN / 2 if is_above else MARGIN * 1.5 + rows * CELL


def _row_label(game: Game, y: int) -> tuple[float, float]:
    if game.drawing == "hexagons":
        across, down = middle(game, y * game.shape[1])
        return across - 32, down
    return MARGIN / 2, _middle(y)


def _shaped(piece: Piece, x: float, y: float, number: int) -> list[str]:
    """A piece with a shape of its own, and its number in the cell's corner unless that is zero."""
    move = f"translate({x - CELL / 2:g} {y - CELL / 2:g})"
    drawn = [f'<path class="piece {side_of(piece)}" transform="{move}" d="{path_of(piece)}"/>']
    if number:
        drawn.append(f'<text class="corner" x="{x - 0.45 * CELL}" y="{y - 0.36 * CELL}">{number}</text>')
    return drawn


def _stone(x: float, y: float, side: str, number: int, is_last: bool) -> list[str]:
    """A stone, and its number unless that is zero."""
    last = " last" if is_last else ""
    drawn = [f'<circle class="stone {side}{last}" cx="{x}" cy="{y}" r="{0.44 * CELL if not last else 0.41 * CELL}"/>']
    if number:
        size = DIGIT_SIZES.get(len(str(number)), 10)
        drawn.append(f'<text class="on-{side}" x="{x}" y="{y}" font-size="{size}">{number}</text>')
    return drawn


def _mark(x: float, y: float, side: str, number: int, is_last: bool) -> list[str]:
    """A cross or a nought, with its number in the corner unless that is zero."""
    reach = 0.24 * CELL
    last = " last" if is_last else ""
    if side == "first":
        path = f"M{x - reach} {y - reach}L{x + reach} {y + reach}M{x - reach} {y + reach}L{x + reach} {y - reach}"
        drawn = [f'<path class="mark first{last}" d="{path}"/>']
    else:
        drawn = [f'<circle class="mark {side}{last}" cx="{x}" cy="{y}" r="{1.1 * reach}"/>']
    if number:
        drawn.append(f'<text class="corner" x="{x - 0.45 * CELL}" y="{y - 0.36 * CELL}">{number}</text>')
    return drawn
