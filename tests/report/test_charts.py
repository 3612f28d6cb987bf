"""Curves as SVG: round ticks, thinned lines, and the values that were given."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from tengen.report.charts import (
    MOST_POINTS,
    Interval,
    Line,
    draw_bars,
    draw_chart,
    draw_intervals,
    logarithmic_ticks,
    percent,
    plain,
    round_ticks,
    seconds,
    spans_decades,
)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 2.7, [0, 1, 2, 3]),
        (-100, 400, [-100, 0, 100, 200, 300, 400]),
        (12, 13, [12, 12.2, 12.4, 12.6, 12.8, 13]),
        (0, 0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (7, 7, [0, 2, 4, 6, 8]),
        (-7, -7, [-8, -6, -4, -2, 0]),
        (0, 21_345, [0, 5000, 10_000, 15_000, 20_000, 25_000]),
    ],
)
def test_round_ticks(low, high, ticks):
    assert round_ticks(low, high) == pytest.approx(ticks)


def test_numbers_in_few_characters():
    assert [plain(value) for value in (0, 0.01234, 2.7, 999, 21_345, 1_250_000)] == [
        "0", "0.0123", "2.7", "999", "21,345", "1.25M",
    ]  # fmt: skip
    assert [percent(value) for value in (0, 0.0134, 0.9, 1)] == ["0%", "1.34%", "90%", "100%"]


def test_a_chart():
    line = Line("against <uct>", [(0, 0.25), (100, 0.5), (200, 1.0)], [(0.1, 0.4), (0.3, 0.7), (0.8, 1.0)])
    figure = ElementTree.fromstring(draw_chart("Win rate", [line], percent, span=(0, 1)))
    assert figure.findtext("figcaption/h3") == "Win rate"
    assert "".join(figure.find("figcaption/ul/li").itertext()) == "against <uct> 100%"
    assert [title.text for title in figure.iter("title")] == [
        "step 0\nagainst <uct>: 25% (10% to 40%)",
        "step 100\nagainst <uct>: 50% (30% to 70%)",
        "step 200\nagainst <uct>: 100% (80% to 100%)",
    ]
    assert figure.find("svg/polyline").get("points") == "58.0,156.0 283.0,108.0 508.0,12.0"
    assert len(figure.find("svg/polygon").get("points").split()) == 6


def test_long_lines_are_thinned():
    line = Line("loss", [(x, x * x) for x in range(10_000)]).thinned()
    assert len(line.points) == MOST_POINTS
    assert line.points[0] == (0, 0)
    assert line.points[-1] == (9999, 9999**2)


def test_one_point_and_none():
    assert ElementTree.fromstring(draw_chart("one", [Line("a", [(5, 3.0)])])).find("svg/circle") is not None
    assert draw_chart("none", [Line("a", []), Line("b", [])]) == ""


def test_generations_are_whole_numbers():
    chart = ElementTree.fromstring(draw_chart("loss", [Line("a", [(1, 3.0), (2, 2.0), (3, 1.5)])], str))
    floor = [text.text for text in chart.iter("text") if text.get("text-anchor") == "middle"]
    assert [text for text in floor if text in ("1.2", "1.5", "1.6")] == []
    assert {"1", "2", "3"} <= set(floor)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.00012, 3.0, [0.0001, 0.001, 0.01, 0.1, 1, 10]),
        (1, 1000, [1, 10, 100, 1000]),
        (3, 40, [2, 5, 10, 20, 50]),
        (7, 7, [5, 10]),
        (1e-6, 1e6, [1e-6, 1e-4, 1e-2, 1, 1e2, 1e4, 1e6]),
    ],
)
def test_logarithmic_ticks(low, high, ticks):
    assert logarithmic_ticks(low, high) == pytest.approx(ticks)


def test_a_logarithmic_chart():
    """A factor of ten is the same distance everywhere; what is not positive has no place."""
    line = Line("uct", [(1, 0.001), (2, 0.01), (3, 0.0), (4, 0.1), (5, 1.0)], summary=0.25)
    assert spans_decades([line])
    assert not spans_decades([Line("even", [(1, 1.0), (2, 3.0), (3, 0.0)])])
    figure = ElementTree.fromstring(draw_chart("Times", [line], seconds, "move", is_logarithmic=True))
    heights = [float(place.split(",")[1]) for place in figure.find("svg/polyline").get("points").split()]
    assert [round(one - other, 3) for one, other in pairwise(heights)] == [64, 64, 64]
    assert "".join(figure.find("figcaption/ul/li").itertext()) == "uct 250 ms"
    assert draw_chart("none", [Line("a", [(1, 0.0)])], is_logarithmic=True) == ""


def test_the_seventh_line_is_dashed():
    figure = ElementTree.fromstring(draw_chart("many", [Line(f"{i}", [(0, i), (1, i)]) for i in range(7)]))
    classes = [line.get("class") for line in figure.iter("polyline")]
    assert classes[0] == "line c0"
    assert classes[6] == "line c0 again"


def test_times_in_few_characters():
    assert [seconds(value) for value in (90, 2, 0.25, 0.0015, 0.00025, 0)] == [
        "90 s", "2 s", "250 ms", "1.5 ms", "250 µs", "0 µs",
    ]  # fmt: skip


def test_intervals_side_by_side():
    rows = [Interval("<a>", 100, 50, 150), Interval("b" * 200, -100, -300, 100)]
    figure = ElementTree.fromstring(draw_intervals("Elo", rows, across="mean is 0"))
    assert next(title.text for title in figure.iter("title")) == "<a>: 100 (50 to 150)"
    dots = [float(dot.get("cx")) for dot in figure.iter("circle")]
    zero = float(figure.find("svg/path[@class='zero']").get("d").split()[0][1:])
    assert dots[0] - zero == pytest.approx(zero - dots[1], abs=0.2)
    assert all(len(text.text) < 80 for text in figure.iter("text"))
    assert draw_intervals("none", []) == ""


def test_bars():
    figure = ElementTree.fromstring(draw_bars("Lengths", {9: 5, 10: 1, 300: 2}, "plies"))
    assert [title.text for title in figure.iter("title")] == [
        "plies 0 to 9: 5",
        "plies 10 to 19: 1",
        "plies 300 to 309: 2",
    ]
    single = ElementTree.fromstring(draw_bars("Lengths", {7: 3}, "plies"))
    assert [title.text for title in single.iter("title")] == ["plies 7: 3"]
    assert draw_bars("none", {}, "plies") == ""
