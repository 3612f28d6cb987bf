"""π by Monte Carlo: near π, and as wrong as the law says."""

import math

import numpy as np
import pytest

from tengen.course.monte_carlo_pi import draw_square, estimate_pi, is_inside
from tengen.rules.errors import BadParameter


def test_errors_keep_the_law():
    found = estimate_pi(10_000, runs=200, seed=3)
    assert found.points[0] == 10 and found.points[-1] == 10_000
    for n, error, law in zip(found.points, found.errors, found.law, strict=True):
        assert law == pytest.approx(math.sqrt(math.pi * (4 - math.pi) / n))
        assert error == pytest.approx(law, rel=0.2)  # the deviation of a root mean square of 200 is 5%
    assert abs(found.estimates[-1] - math.pi) < 4 * found.law[-1]


def test_the_circle_is_inscribed():
    points = np.array([[0.5, 0.5], [0, 0.5], [0.5, 1], [0, 0], [0.14, 0.14], [0.15, 0.15]])
    assert is_inside(points).tolist() == [True, True, True, False, False, True]


def test_the_picture_counts_what_it_draws():
    svg = draw_square(100, seed=2).svg()
    inside = int(is_inside(np.random.default_rng(2).random((100, 2))).sum())
    assert f"4 · {inside} / 100 = {4 * inside / 100:.4g}" in svg


@pytest.mark.parametrize(("points", "runs"), [(9, 1), (10**8, 1), (100, 0), (10**7, 30)])
def test_bounds(points, runs):
    with pytest.raises(BadParameter):
        estimate_pi(points, runs)
