"""Curves as SVG: round ticks, thinned lines, and the values that were given."""

from xml.etree import ElementTree

import pytest

from tengen.records.charts import MOST_POINTS, Line, draw_chart, percent, plain, round_ticks


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
