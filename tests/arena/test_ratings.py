"""Ratings: what results say, no less where they form a long ladder."""

import math

import pytest

from tengen.arena.ratings import ratings


def test_two_players():
    found = ratings([["a", "b", 300, 0, 100]], "b")
    assert found["b"] == 0
    assert found["a"] == pytest.approx(400 * math.log10(3), abs=1)


def test_a_ladder_adds_up():
    """Fifteen players, each 3 : 1 against the one before; ratings are 191 apart."""
    results = [[f"g{i}", f"g{i - 1}", 300, 0, 100] for i in range(1, 15)]
    found = ratings(results, "g0")
    for i in range(15):
        assert found[f"g{i}"] == pytest.approx(i * 400 * math.log10(3), rel=0.01, abs=1)


def test_nobody_is_infinitely_strong():
    assert 0 < ratings([["a", "b", 40, 0, 0]], "b")["a"] < 1500
