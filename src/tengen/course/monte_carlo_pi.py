"""π by Monte Carlo: points drawn in a square, and how many of them lie in its circle.

The share of points inside estimates π/4. One point is inside (4) or not (0), with variance π(4 − π), so the error of n
points is about √(π(4 − π)/n) = 1.64/√n: a hundred times the points for one more digit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tengen.course.pictures import BLUE, FAINT, INK, MARGIN, ORANGE, Chart, Picture, Shape
from tengen.report.charts import Line
from tengen.rules.errors import BadParameter

MOST_POINTS, MOST_DRAWS = 10_000_000, 200_000_000  # of a run; of all runs
DRAWN_POINTS = 400  # in the picture
SIDE = 320  # of the square
BATCH = 1_000_000
POINT_SIZE = 1.6


@dataclass(frozen=True)
class PiEstimates:
    """What several runs found, after each of some numbers of points."""

    points: list[int]
    estimates: list[float]  # of the first run
    errors: list[float]  # the root of the mean square error over all runs
    law: list[float]  # √(π(4 − π)/n)

    def chart(self) -> Chart:
        """Errors against points, both by powers of ten; the law is a straight line."""
        lines = [
            Line(name, [(math.log10(n), y) for n, y in zip(self.points, errors, strict=True) if y > 0])
            for name, errors in (("error, root mean square", self.errors), ("√(π(4 − π)/n)", self.law))
        ]
        return Chart("π by Monte Carlo: the error", lines, "log₁₀ n, points", is_logarithmic=True)


def estimate_pi(points: int = 100_000, runs: int = 50, seed: int = 1) -> PiEstimates:
    """Throws so many points in each run, and looks at the estimates on the way."""
    if not (10 <= points <= MOST_POINTS and runs >= 1 and points * runs <= MOST_DRAWS):
        raise BadParameter(
            f"{points:,} points, {runs:,} runs: 10 to {MOST_POINTS:,} points, 1 run at least, "
            f"and {MOST_DRAWS:,} points in all at most"
        )
    counts = counts_on_the_way(points)
    found = np.array([list(estimates_of(counts, rng)) for rng in np.random.default_rng(seed).spawn(runs)])
    errors = np.sqrt(((found - math.pi) ** 2).mean(axis=0))
    law = [math.sqrt(math.pi * (4 - math.pi) / n) for n in counts]
    return PiEstimates(counts, found[0].tolist(), errors.tolist(), law)


def counts_on_the_way(points: int) -> list[int]:
    """10, 100, 1000 … and three numbers between two of these, up to `points`."""
    steps = round(4 * math.log10(points))
    return sorted({*(round(10 ** (i / 4)) for i in range(4, steps)), points})


def estimates_of(counts: list[int], rng: np.random.Generator) -> Iterator[float]:
    """4 × the share of points inside, after each of the counts."""
    inside = thrown = 0
    for count in counts:
        while thrown < count:
            batch = min(count - thrown, BATCH)
            inside += int(is_inside(rng.random((batch, 2))).sum())
            thrown += batch
        yield 4 * inside / thrown


def is_inside(points: np.ndarray) -> np.ndarray:
    """Whether points [n, 2] of the unit square lie in its inscribed circle."""
    inside: np.ndarray = ((points - 0.5) ** 2).sum(axis=1) <= 0.25
    return inside


def draw_square(points: int = DRAWN_POINTS, seed: int = 1) -> Picture:
    """The square with its circle, and points inside (blue) and outside (orange)."""
    thrown = np.random.default_rng(seed).random((points, 2))
    inside = is_inside(thrown)
    picture = Picture("π by Monte Carlo", SIDE + 2 * MARGIN, SIDE + 2 * MARGIN + 24)
    for (x, y), is_in in zip(thrown.tolist(), inside.tolist(), strict=True):
        left, top = MARGIN + x * SIDE - POINT_SIZE / 2, MARGIN + y * SIDE - POINT_SIZE / 2
        colour = BLUE if is_in else ORANGE
        picture.box(left, top, POINT_SIZE, POINT_SIZE, fill=colour, edge=colour, thickness=0.6)
    picture.box(MARGIN, MARGIN, SIDE, SIDE, edge=FAINT)
    angles = [2 * math.pi * i / 90 for i in range(90)]
    middle = MARGIN + SIDE / 2
    ring = tuple((middle + SIDE / 2 * math.cos(a), middle + SIDE / 2 * math.sin(a)) for a in angles)
    picture.items.append(Shape(ring, edge=INK))
    told = f"4 · {inside.sum()} / {points} = {4 * inside.mean():.4g}"
    picture.write(middle, MARGIN + SIDE + 16, told)
    return picture
