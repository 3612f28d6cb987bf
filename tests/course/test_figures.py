"""The documents' drawings show what the code is: layers, visits, weights."""

import re

import pytest

from tengen.course.figures import FIGURES, draw_figure, draw_network
from tengen.nets.metadata import Architecture
from tengen.rules.errors import BadParameter


def words_of(name):
    return [item.text for item in draw_figure(name).items if hasattr(item, "text")]


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_within_its_edges(name):
    picture = draw_figure(name)
    for item in picture.items:
        for x, y in getattr(item, "points", None) or [(item.x, item.y)]:
            assert 0 <= x <= picture.width and 0 <= y <= picture.height, item
    assert picture.svg().startswith("<svg")


def test_a_network_is_drawn_as_it_is():
    words = words_of("network-8x8")
    block = "3×3 convolution, 64 · batch norm · ReLU · 3×3 convolution, 64 · batch norm"
    assert f"4 times: x + ({block}), ReLU" in words
    assert {"4 planes 8×8", "linear, 256 → 64", "linear, 64 → 1", "tanh"} <= set(words)
    other = draw_network("gomoku:size=8", Architecture(blocks=7, channels=24), "another").svg()
    assert "7 times: x + (3×3 convolution, 24" in other
    assert [text for text in words_of("network-gobang") if text.startswith("3×3")] == [
        "3×3 convolution, 32",
        "3×3 convolution, 64",
        "3×3 convolution, 128",
    ]


def test_the_cycle_counts_one_visit_more_along_the_way():
    words = words_of("puct-cycle")
    assert [text for text in words if not re.fullmatch(r"\d+", text)] == [
        "the tree",
        "select",
        "expand and evaluate",
        "v = -0.2",  # as the slides print it
        "backup",
    ]
    panels = [[int(n) for n in re.findall(r"\d+", part)] for part in " ".join(words).split("backup")]
    before, after = panels[0], panels[1]
    assert max(before) == 3 and max(after) == 4
    assert sum(after) == 4 + 3 + 1  # the root; 2 twice, 9 once; what is below 2


def test_shapes_are_worth_what_the_paper_says():
    words = words_of("zones")
    assert [text for text in words if text.startswith("+")] == ["+100", "+50", "+20"]
    assert [words.count(weight) for weight in "321"] == [49, 28, 4]  # core, edges, corners of 9×9


def test_an_unknown_figure_is_refused():
    with pytest.raises(BadParameter, match="no figure is called 'zone'; did you mean 'zones'"):
        draw_figure("zone")
