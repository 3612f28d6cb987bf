"""Kinds of games: each box has something to try that exists; sizes are those the lecture prints."""

import math

import pytest

from tengen import load_game
from tengen.apps.labs import app
from tengen.course.taxonomy import OTHER_KINDS, boxes, power_text, sizes, tree_power
from tengen.games import offered_names


def test_each_box_has_something_to_try():
    labs = {command.name for command in app.registered_commands}
    assert {(box.information, box.chance) for box in boxes()} == {
        (information, chance) for information in ("perfect", "imperfect") for chance in ("deterministic", "stochastic")
    }
    for box in boxes():
        assert box.here
        for name in box.here:
            if name.startswith("lab "):
                assert name.split()[1] in labs
            else:
                assert load_game(name).spec == name and name in offered_names()
    for row in OTHER_KINDS:
        assert all(cell.split()[1] in labs for cell in row if cell.startswith("lab "))


def test_openspiel_has_the_games_that_are_named():
    pyspiel = pytest.importorskip("pyspiel")
    assert {name for box in boxes() for name in box.openspiel} <= set(pyspiel.registered_names())


def test_the_lectures_sizes():
    """35^100 is 10^154; 9! is 362,880."""
    assert int(tree_power(35, 100)) == 154 == len(str(35**100)) - 1
    found = {size.formula: size for size in sizes()}
    assert power_text(found["9!"].power) == "362,880" and power_text(found["35^100"].power) == "10^154.4"
    assert found["35^80"].power == pytest.approx(80 * math.log10(35))
    assert found["35^100"].years == pytest.approx(154.4 - 16.5, abs=0.1)
