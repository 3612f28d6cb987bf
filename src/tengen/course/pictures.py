"""Pictures for slides: a few shapes that become SVG or PNG, trees laid out from left to right, and charts as files.

Colours are fixed and the ground is white, so that a picture looks on a slide as it does here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from tengen.records.disk import write_file
from tengen.report import charts
from tengen.report.charts import Line
from tengen.rules.errors import BadParameter, TengenError

INK, SOFT, FAINT, GROUND = "#1d2329", "#5c6670", "#b9c1ca", "#ffffff"
BLUE, ORANGE, GREEN = "#0068a8", "#c24a00", "#007a55"
PALE_BLUE, PALE_ORANGE, PALE_GREEN, PALE_GREY = "#e3f0f9", "#fbe8da", "#dff3ea", "#f1f3f5"
MARGIN = 16
PIXELS = 96  # of matplotlib's inch
SHARPNESS = 2  # pixels of a PNG to one of ours
SUFFIXES = (".svg", ".png")


class PictureError(TengenError):
    """A picture that cannot be drawn, or not written there."""


@dataclass(frozen=True)
class Shape:
    """A polygon; two points are a line."""

    points: tuple[tuple[float, float], ...]
    fill: str = "none"
    edge: str = INK
    thickness: float = 1.2
    is_dashed: bool = False


@dataclass(frozen=True)
class Words:
    """A line of text about a point."""

    x: float
    y: float
    text: str
    size: float = 13
    colour: str = INK
    anchor: str = "middle"  # or start, end
    is_bold: bool = False


@dataclass
class Picture:
    """Shapes and words, y downwards; what comes later lies on top."""

    title: str
    width: float = 0.0
    height: float = 0.0
    items: list[Shape | Words] = field(default_factory=list)

    def box(self, x: float, y: float, width: float, height: float, **looks: Any) -> None:
        self.items.append(Shape(((x, y), (x + width, y), (x + width, y + height), (x, y + height)), **looks))

    def line(self, x: float, y: float, to_x: float, to_y: float, **looks: Any) -> None:
        self.items.append(Shape(((x, y), (to_x, to_y)), **looks))

    def write(self, x: float, y: float, text: str, **looks: Any) -> None:
        self.items.append(Words(x, y, text, **looks))

    def svg(self) -> str:
        size = f'width="{self.width:g}" height="{self.height:g}" viewBox="0 0 {self.width:g} {self.height:g}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="system-ui, sans-serif" role="img">'
        ground = f'<title>{escape(self.title)}</title><rect width="100%" height="100%" fill="{GROUND}"/>'
        return "\n".join([head, ground, *(_svg_item(item) for item in self.items), "</svg>\n"])

    def _repr_svg_(self) -> str:
        """How a notebook shows it."""
        return self.svg()

    def save(self, path: Path) -> Path:
        """Writes .svg, or .png where matplotlib is installed."""
        if suffix_of(path) == ".svg":
            return put_file(path, self.svg())
        figure, axes = bare_figure(self.width / PIXELS, self.height / PIXELS)
        axes.set(xlim=(0, self.width), ylim=(self.height, 0))
        axes.set_axis_off()
        axes.set_position((0, 0, 1, 1))
        for item in self.items:
            _plot_item(axes, item)
        return save_figure(figure, path)


def suffix_of(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise PictureError(f"{path}: a picture's name ends in {' or '.join(SUFFIXES)}")
    return suffix


def put_file(path: Path, text: str) -> Path:
    try:
        write_file(path, text.encode())
    except OSError as reason:
        raise PictureError(f"{path} cannot be written: {reason.strerror or reason}") from None
    return path


def bare_figure(width: float, height: float) -> tuple[Any, Any]:
    """matplotlib's figure and axes, in inches."""
    from tengen.arena.report import new_figure

    figure, axes = new_figure(width, height)
    figure.set_layout_engine("none")
    return figure, axes


def save_figure(figure: Any, path: Path) -> Path:
    try:
        figure.savefig(path, dpi=PIXELS * SHARPNESS, metadata={"Software": None})
    except OSError as reason:
        raise PictureError(f"{path} cannot be written: {reason.strerror or reason}") from None
    return path


def _svg_item(item: Shape | Words) -> str:
    if isinstance(item, Words):
        weight = ' font-weight="600"' if item.is_bold else ""
        looks = f'font-size="{item.size:g}" fill="{item.colour}" text-anchor="{item.anchor}"{weight}'
        return f'<text x="{item.x:.1f}" y="{item.y + 0.35 * item.size:.1f}" {looks}>{escape(item.text)}</text>'
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in item.points)
    dashes = ' stroke-dasharray="5 4"' if item.is_dashed else ""
    looks = f'fill="{item.fill}" stroke="{item.edge}" stroke-width="{item.thickness:g}"{dashes}'
    return f'<polygon points="{points}" {looks} stroke-linejoin="round"/>'


def _plot_item(axes: Any, item: Shape | Words) -> None:
    from matplotlib.patches import Polygon

    looks: dict[str, Any]
    if isinstance(item, Words):
        side = {"middle": "center", "start": "left", "end": "right"}[item.anchor]
        points = item.size * 72 / PIXELS
        looks = {"color": item.colour, "fontsize": points, "fontweight": "bold" if item.is_bold else "normal"}
        text = item.text.replace("$", r"\$")  # no formula
        axes.text(item.x, item.y, text, ha=side, va="center", **looks)
        return
    looks = {"facecolor": item.fill, "edgecolor": item.edge, "linewidth": item.thickness * 72 / PIXELS}
    axes.add_patch(Polygon(item.points, linestyle="--" if item.is_dashed else "-", joinstyle="round", **looks))


# Trees


def places(children: Mapping[int, Sequence[int]], root: int = 0) -> dict[int, tuple[float, int]]:
    """Where the nodes of a tree stand, as a column and a level: leaves side by side, parents above their middle."""
    found: dict[int, tuple[float, int]] = {}
    columns = 0

    def place(node: int, level: int) -> float:
        nonlocal columns
        below = [place(child, level + 1) for child in children.get(node, ())]
        if below:
            column = (below[0] + below[-1]) / 2
        else:
            column, columns = float(columns), columns + 1
        found[node] = column, level
        return column

    place(root, 0)
    return found


# Charts


def chart_svg(title: str, lines: Sequence[Line], across: str, is_logarithmic: bool = False) -> str:
    """A chart of `report/charts.py` as a file of its own: its style inside, its title and legend above the plot."""
    figure = charts.draw_chart(title, lines, across=across, is_logarithmic=is_logarithmic)
    found = re.search(r"<svg[^>]*>(.*)</svg>", figure, re.DOTALL)
    if found is None:
        raise PictureError(f"{title}: there is nothing to draw")
    top = 46 + 18 * math.ceil(len(lines) / 2)
    head = [f'<text class="title" x="{MARGIN}" y="{24 - top}">{escape(title)}</text>']
    for i, line in enumerate(lines):
        x, y = MARGIN + 250 * (i % 2), 46 - top + 18 * (i // 2)
        colour = f"c{i % charts.COLOURS}{' again' if i >= charts.COLOURS else ''}"
        head.append(f'<path class="line {colour}" d="M{x} {y}h18"/><text class="name" x="{x + 24}" y="{y + 4}">')
        head.append(f"{escape(line.name)}</text>")
    width, height = charts.WIDTH + MARGIN, charts.HEIGHT + top + MARGIN
    plot = re.sub(r'<rect class="slab".*?</rect>', "", found[1], flags=re.DOTALL)  # nobody points at a slide
    style = ".title { font: 600 14px system-ui, sans-serif; fill: currentColor; } svg { color: #1d2329; }"
    light = re.sub(r"@media \(prefers-color-scheme: dark\) \{.*?\n\}\n", "", charts.STYLE, flags=re.DOTALL)
    size = f'viewBox="0 {-top} {width} {height}" width="{width}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><style>{light}{style}</style>'
        f'<rect x="0" y="{-top}" width="{width}" height="{height}" fill="{GROUND}"/>'
        f'<g class="chart">{"".join(head)}{plot}</g></svg>\n'
    )


class Chart:
    """Curves, to be looked at in a terminal or a notebook, or saved."""

    def __init__(self, title: str, lines: Sequence[Line], across: str, is_logarithmic: bool = False):
        self.title, self.lines, self.across, self.is_logarithmic = title, list(lines), across, is_logarithmic

    def _repr_svg_(self) -> str:
        return chart_svg(self.title, self.lines, self.across, self.is_logarithmic)

    def save(self, path: Path) -> Path:
        if suffix_of(path) == ".svg":
            return put_file(path, self._repr_svg_())
        from tengen.arena.report import new_figure

        figure, axes = new_figure(7, 4)
        for line in self.lines:
            axes.plot(*zip(*line.points, strict=True), label=line.name)
        axes.set(title=self.title, xlabel=self.across, yscale="log" if self.is_logarithmic else "linear")
        axes.legend()
        axes.grid(alpha=0.3)
        return save_figure(figure, path)

    def text(self, width: int = 72, height: int = 16) -> str:
        """The curves in letters: a stands for the first, b for the second …"""
        scale: Callable[[float], float] = math.log10 if self.is_logarithmic else float
        spots = [
            (x, scale(y), chr(ord("a") + i))
            for i, line in enumerate(self.lines)
            for x, y in line.points
            if y > 0 or not self.is_logarithmic
        ]
        if not spots:
            return ""
        left, right = extent(x for x, _, _ in spots)
        low, high = extent(y for _, y, _ in spots)
        grid = [[" "] * width for _ in range(height)]
        for x, y, letter in reversed(spots):
            row = round((high - y) / (high - low) * (height - 1))
            grid[row][round((x - left) / (right - left) * (width - 1))] = letter
        back: Callable[[float], float] = (lambda y: 10**y) if self.is_logarithmic else float
        edges = {0: charts.plain(back(high)), height - 1: charts.plain(back(low))}
        lines = [f"{edges.get(i, ''):>9} │{''.join(row).rstrip()}" for i, row in enumerate(grid)]
        lines.append(" " * 10 + "└" + "─" * width)
        ends = f"{charts.plain(left)}  to  {charts.plain(right)}  {self.across}"
        names = [f"{chr(ord('a') + i)} {line.name}" for i, line in enumerate(self.lines)]
        return "\n".join([self.title, *lines, " " * 11 + ends, *(f"{'':11}{name}" for name in names)])


def extent(values: Iterable[float]) -> tuple[float, float]:
    """The least and the greatest, never the same."""
    every = list(values)
    low, high = min(every), max(every)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def check_count(count: int, most: int, what: str) -> None:
    """Refuses a picture that nobody could read."""
    if count > most:
        raise BadParameter(f"{count} {what} are too many for a picture; {most} can be read: look less deep")
