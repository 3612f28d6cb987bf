"""Curves as SVG: round ticks, a band about a line for its interval, and what the values are under the pointer.

Also intervals side by side (`draw_intervals`) and counts (`draw_bars`).

A page that shows charts includes STYLE once; its colours can be told apart by colour-blind readers, in light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise

WIDTH, HEIGHT = 520, 240
LEFT, RIGHT, TOP, BOTTOM = 58, 508, 12, 204  # of the plot
MOST_POINTS = 300
FEW_POINTS = 24  # up to so many are also marked by dots
COLOURS = 6
MOST_BARS = 40
SHORT = 74  # characters of a name that fit above its interval

STYLE = """
.chart { --colour-0: #0068a8; --colour-1: #c24a00; --colour-2: #007a55; --colour-3: #a0468a; --colour-4: #7d6300;
  --colour-5: #56606b; --faint: #d9dee4; --soft: #5c6670; }
@media (prefers-color-scheme: dark) {
  .chart { --colour-0: #5db7f0; --colour-1: #ff9a57; --colour-2: #35c99b; --colour-3: #ea9fce; --colour-4: #ecd15c;
    --colour-5: #b4bdc8; --faint: #333c47; --soft: #a3aeba; }
}
.chart svg { display: block; width: 100%; height: auto; overflow: visible; }
.chart .grid { stroke: var(--faint); stroke-width: 1; fill: none; }
.chart .tick { fill: var(--soft); font: 12px system-ui, sans-serif; }
.chart .line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.chart .line.again { stroke-dasharray: 6 4; }
.chart .zero { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 2 3; }
.chart .name { fill: currentColor; font: 12px system-ui, sans-serif; }
.chart .band { stroke: none; opacity: .16; }
.chart .slab { fill: transparent; } .chart .slab:hover { fill: var(--soft); opacity: .18; }
.chart .legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin: 0; padding: 0; list-style: none; }
.chart .legend i { display: inline-block; width: .9em; height: .25em; margin-right: .4em; border-radius: 2px;
  vertical-align: .2em; }
.chart .legend .again { mask: repeating-linear-gradient(90deg, #000 0 .3em, #0000 .3em .45em); }
""" + "".join(
    f".chart .line.c{i} {{ stroke: var(--colour-{i}); }} .chart .band.c{i}, .chart .dot.c{i} "
    f"{{ fill: var(--colour-{i}); }} .chart i.c{i} {{ background: var(--colour-{i}); }}\n"
    for i in range(COLOURS)
)

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """One curve, its points from left to right; `band` is the interval about each of them, where there is one."""

    name: str
    points: Sequence[Point]
    band: Sequence[tuple[float, float]] = ()
    summary: float | None = None  # what the legend says; by default the last value

    def thinned(self) -> Line:
        """The same line with at most MOST_POINTS points, the first and the last among them."""
        if len(self.points) <= MOST_POINTS:
            return self
        kept = [round(i * (len(self.points) - 1) / (MOST_POINTS - 1)) for i in range(MOST_POINTS)]
        band = [self.band[i] for i in kept] if self.band else ()
        return replace(self, points=[self.points[i] for i in kept], band=band)


def plain(value: float) -> str:
    """A number in few characters: 0.0123, 2.7, 21,300, 1.25M."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:.3g}M"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def seconds(value: float) -> str:
    """A time in few characters: 250 µs, 1.5 ms, 2 s."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{plain(value / size)} {unit}"
    return f"{value * 1e6:.2g} µs"


def percent(value: float) -> str:
    return f"{100 * value:.3g}%"


@dataclass(frozen=True)
class Axis:
    """A range of values, low to high, that is drawn from `begin` to `end`."""

    low: float
    high: float
    begin: float
    end: float
    ticks: list[float]
    is_logarithmic: bool = False

    def place(self, value: float) -> float:
        low, high = self.low, self.high
        if self.is_logarithmic:
            value, low, high = (math.log10(number) for number in (value, low, high))
        return self.begin + (value - low) / (high - low) * (self.end - self.begin)


def round_ticks(low: float, high: float, steps: int = 5) -> list[float]:
    """About `steps` + 1 round numbers, evenly spaced by 1, 2 or 5 times a power of ten, that enclose low and high."""
    if high <= low:
        low, high = (0.0, high or 1.0) if high >= 0 else (low, 0.0)
    power = 10.0 ** math.floor(math.log10((high - low) / steps))
    spacing = next(power * factor for factor in (1, 2, 5, 10) if power * factor * steps >= (high - low) * 0.999)
    first, last = math.floor(low / spacing + 1e-9), math.ceil(high / spacing - 1e-9)
    return [i * spacing for i in range(first, last + 1)]


def logarithmic_ticks(low: float, high: float) -> list[float]:
    """Powers of ten that enclose low and high, with 2 and 5 times these where there is room."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    last = max(last, first + 1)
    if last - first > 2:
        spacing = 1 + (last - first - 1) // 6
        return [10.0**power for power in range(first, last + spacing, spacing)]
    ticks = [factor * 10.0**power for power in range(first, last + 1) for factor in (1, 2, 5)]
    below = max(i for i, tick in enumerate(ticks) if tick <= low * 1.001)
    above = min((i for i, tick in enumerate(ticks) if tick >= high * 0.999), default=len(ticks) - 1)
    return ticks[below : max(above, below + 1) + 1]


def spans_decades(lines: Sequence[Line]) -> bool:
    """Whether values are so different that only a logarithmic axis shows them all."""
    values = [y for line in lines for _, y in line.points if y > 0]
    return bool(values) and max(values) > 20 * min(values)


def draw_chart(
    title: str,
    lines: Sequence[Line],
    text: Callable[[float], str] = plain,
    across: str = "step",
    span: tuple[float, float] | None = None,
    is_logarithmic: bool = False,
) -> str:
    """The lines as a <figure> with a legend of their last values; nothing at all if no line has a point.

    `text` writes a value, `across` says what the horizontal axis counts, `span` is the range shown at least. On a
    logarithmic axis only positive values have a place: lines that have others are drawn without these.
    """
    if is_logarithmic:
        lines = [replace(line, points=[point for point in line.points if point[1] > 0], band=()) for line in lines]
    lines = [line.thinned() for line in lines if line.points]
    if not lines:
        return ""
    xs = sorted({x for line in lines for x, _ in line.points})
    heights = [y for line in lines for y in _heights(line)] + list(span or ())
    horizontal, vertical = _across_axis(xs[0], xs[-1]), _upright_axis(min(heights), max(heights), is_logarithmic)
    drawn = _grid(horizontal, vertical, text, across)
    for i, line in enumerate(lines):
        drawn += _draw_line(line, i, horizontal, vertical)
    drawn += _slabs(lines, xs, horizontal, text, across)
    legend = "".join(
        f'<li><i class="{_colour(i)}"></i>{escape(line.name)} <b>{escape(text(_summary(line)))}</b></li>'
        for i, line in enumerate(lines)
    )
    return _figure(title, f"{title}, by {across}", f'<ul class="legend">{legend}</ul>', HEIGHT, drawn)


def _figure(title: str, label: str, caption: str, height: float, drawn: list[str]) -> str:
    return (
        f'<figure class="chart"><figcaption><h3>{escape(title)}</h3>{caption}</figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(label)}">{"".join(drawn)}</svg></figure>'
    )


def _colour(number: int) -> str:
    """The class of a line's colour. A colour that was used before comes again dashed."""
    return f"c{number % COLOURS}" + (" again" if number >= COLOURS else "")


def _summary(line: Line) -> float:
    return line.points[-1][1] if line.summary is None else line.summary


@dataclass(frozen=True)
class Interval:
    """A value that is known up to something."""

    name: str
    value: float
    low: float
    high: float


def draw_intervals(title: str, rows: Sequence[Interval], text: Callable[[float], str] = plain, across: str = "") -> str:
    """A dot for each value, whiskers for its interval, one row each; nothing at all if there are none."""
    if not rows:
        return ""
    ends = [edge for row in rows for edge in (row.low, row.high)] + [0.0]
    ticks = round_ticks(min(ends), max(ends))
    axis = Axis(ticks[0], ticks[-1], 12, RIGHT, ticks)
    bottom = TOP + 36 * len(rows)
    lines = "".join(f"M{axis.place(tick):.1f} {TOP}V{bottom}" for tick in ticks)
    drawn = [f'<path class="grid" d="{lines}"/>']
    drawn.append(f'<path class="zero" d="M{axis.place(0):.1f} {TOP}V{bottom}"/>')
    for tick in ticks:
        x = axis.place(tick)
        drawn.append(
            f'<text class="tick" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{escape(text(tick))}</text>'
        )
    drawn.append(f'<text class="tick" x="{RIGHT}" y="{bottom + 32}" text-anchor="end">{escape(across)}</text>')
    for i, row in enumerate(rows):
        drawn += _draw_interval(row, i % COLOURS, TOP + 36 * i, axis, text)
    return _figure(title, f"{title}: values and intervals", "", bottom + 36, drawn)


def _draw_interval(row: Interval, colour: int, top: float, axis: Axis, text: Callable[[float], str]) -> list[str]:
    """The name above, the whiskers below."""
    low, middle, high = (axis.place(value) for value in (row.low, row.value, row.high))
    y = top + 25
    name = row.name if len(row.name) <= SHORT else f"{row.name[: SHORT - 1]}…"
    said = f"{row.name}: {text(row.value)} ({text(row.low)} to {text(row.high)})"
    whiskers = f"M{low:.1f} {y}H{high:.1f}M{low:.1f} {y - 5}v10M{high:.1f} {y - 5}v10"
    return [
        f'<text class="name" x="12" y="{top + 13}">{escape(name)}</text>',
        f'<path class="line c{colour}" d="{whiskers}"/>',
        f'<circle class="dot c{colour}" cx="{middle:.1f}" cy="{y}" r="5"/>',
        f'<rect class="slab" x="{axis.begin}" y="{top}" width="{axis.end - axis.begin}" height="36">'
        f"<title>{escape(said)}</title></rect>",
    ]


def draw_bars(title: str, counts: Mapping[int, int], across: str) -> str:
    """How often each number was seen, as bars; numbers are put together where they are many."""
    if not counts:
        return ""
    first, last = min(counts), max(counts)
    width = next(
        size
        for power in range(12)
        for size in (10**power, 2 * 10**power, 5 * 10**power)
        if size * MOST_BARS > last - first
    )
    begin = first // width * width
    heights: dict[int, int] = {}
    for number, count in counts.items():
        heights[number // width * width] = heights.get(number // width * width, 0) + count
    end = last // width * width + width
    horizontal = Axis(begin, end, LEFT, RIGHT, [tick for tick in round_ticks(begin, end) if begin <= tick <= end])
    vertical = _upright_axis(0, max(heights.values()))
    drawn = _grid(horizontal, vertical, plain, across)
    for number, count in sorted(heights.items()):
        left, right, top = horizontal.place(number), horizontal.place(number + width), vertical.place(count)
        which = f"{number}" if width == 1 else f"{number} to {number + width - 1}"
        drawn.append(
            f'<rect class="dot c0" x="{left + 0.5:.1f}" y="{top:.1f}" width="{max(right - left - 1, 1):.1f}" '
            f'height="{BOTTOM - top:.1f}"><title>{escape(f"{across} {which}: {count:,}")}</title></rect>'
        )
    return _figure(title, f"{title}, by {across}", "", HEIGHT, drawn)


def _heights(line: Line) -> list[float]:
    """Everything the vertical axis must have room for."""
    return [y for _, y in line.points] + [edge for interval in line.band for edge in interval]


def _across_axis(first: float, last: float) -> Axis:
    """The horizontal axis, which ends where the points do. Between whole numbers, only whole ones are ticks."""
    if first == last:
        first, last = (0.0, 2 * last) if last > 0 else (first - 0.5, last + 0.5)
    ticks = [tick for tick in round_ticks(first, last) if first <= tick <= last]
    if float(first).is_integer() and float(last).is_integer():
        ticks = [tick for tick in ticks if abs(tick - round(tick)) < 1e-9]
    return Axis(first, last, LEFT, RIGHT, ticks)


def _upright_axis(low: float, high: float, is_logarithmic: bool = False) -> Axis:
    """The vertical axis, which ends at round numbers."""
    ticks = logarithmic_ticks(low, high) if is_logarithmic else round_ticks(low, high)
    return Axis(ticks[0], ticks[-1], BOTTOM, TOP, ticks, is_logarithmic)


def _grid(horizontal: Axis, vertical: Axis, text: Callable[[float], str], across: str) -> list[str]:
    """Lines and numbers of both axes."""
    rows = [(vertical.place(tick), escape(text(tick))) for tick in vertical.ticks]
    lines = "".join(f"M{LEFT} {y:.1f}H{RIGHT}" for y, _ in rows)
    drawn = [f'<path class="grid" d="{lines}"/>']
    drawn += [f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{name}</text>' for y, name in rows]
    for tick in horizontal.ticks:
        x = horizontal.place(tick)
        drawn.append(f'<text class="tick" x="{x:.1f}" y="{BOTTOM + 18}" text-anchor="middle">{plain(tick)}</text>')
    drawn.append(f'<text class="tick" x="{RIGHT}" y="{HEIGHT - 2}" text-anchor="end">{escape(across)}</text>')
    return drawn


def _draw_line(line: Line, number: int, horizontal: Axis, vertical: Axis) -> list[str]:
    """The band, the curve, and dots where the points are few."""
    colour = _colour(number)
    xs = [horizontal.place(x) for x, _ in line.points]
    places = [f"{x:.1f},{vertical.place(y):.1f}" for x, (_, y) in zip(xs, line.points, strict=True)]
    drawn = []
    if line.band:
        under = [f"{x:.1f},{vertical.place(low):.1f}" for x, (low, _) in zip(xs, line.band, strict=True)]
        over = [f"{x:.1f},{vertical.place(high):.1f}" for x, (_, high) in zip(xs, line.band, strict=True)]
        drawn.append(f'<polygon class="band {colour}" points="{" ".join(under + over[::-1])}"/>')
    drawn.append(f'<polyline class="line {colour}" points="{" ".join(places)}"/>')
    dots = places if len(places) <= FEW_POINTS else places[-1:]
    for place in dots:
        x, y = place.split(",")
        drawn.append(f'<circle class="dot {colour}" cx="{x}" cy="{y}" r="3"/>')
    return drawn


def _slabs(
    lines: Sequence[Line], xs: list[float], horizontal: Axis, text: Callable[[float], str], across: str
) -> list[str]:
    """An invisible slab about each x; the pointer over it is told the values there."""
    said: dict[float, list[str]] = {x: [f"{across} {x:,.10g}"] for x in xs}
    for line in lines:
        for i, (x, y) in enumerate(line.points):
            interval = f" ({text(line.band[i][0])} to {text(line.band[i][1])})" if line.band else ""
            said[x].append(f"{line.name}: {text(y)}{interval}")
    places = [horizontal.place(x) for x in xs]
    edges = [LEFT, *((one + other) / 2 for one, other in pairwise(places)), RIGHT]
    return [
        f'<rect class="slab" x="{edges[i]:.1f}" y="{TOP}" width="{edges[i + 1] - edges[i]:.1f}" '
        f'height="{BOTTOM - TOP}"><title>{escape(chr(10).join(said[x]))}</title></rect>'
        for i, x in enumerate(xs)
    ]
