"""The documents' experiments: every number that a document works out is ours, too."""

import re
from dataclasses import replace

import pytest

from tengen.course.reproduce import EXPERIMENTS, gobang, gomoku8
from tengen.course.reproduce.page import Options


@pytest.fixture
def options(tmp_path):
    said = []
    yield Options(tmp_path / "out", say=said.append)
    assert any("report" in line for line in said)


def page_of(options):
    return (options.folder / "report.html").read_text()


def test_the_slides(options):
    EXPERIMENTS["3x3"](options)
    page = page_of(options)
    assert page.count("as there") == 6 + 5 + 5 + 4 * 3 + 2 + 6  # priors, four edges with N, W and Q, two bounds, π
    assert "not as there" not in page


def test_the_lecture(options):
    EXPERIMENTS["lecture"](options)
    page = page_of(options)
    assert "not as there" not in page
    assert page.count("as there") == 4 + 7 + 2  # the tree, the bounds, two assignments
    assert "alpha cut: MIN can have 2 here, and MAX has 3 elsewhere" in page
    best, drawn = (float(found) for found in re.findall(r"power.*?<td>[13]/[24]</td><td>(0\.\d+)", page))
    assert 0.5 < best < drawn < 0.85


@pytest.fixture
def small(monkeypatch):
    """Every experiment with as little as shows that it runs."""
    monkeypatch.setattr(gobang, "QUICK", gobang.GobangExtent(size=9, games=2, timed_games=1, plies=4, preset="gomoku9"))
    monkeypatch.setattr(gobang, "CLASSICAL", ["gobang1", "gobang5", "gobang6"])
    families = {"minimax": ["gobang1"], "alpha-beta": ["gobang5"], "UCT": ["gobang6"]}
    monkeypatch.setattr(gobang, "FAMILIES", families)
    monkeypatch.setattr(gobang, "SIMULATIONS", 20)
    monkeypatch.setattr(gomoku8, "QUICK_GAMES", 4)
    monkeypatch.setattr(gomoku8, "SIMULATIONS", 20)


def test_gobang(options, small):
    options = replace(options, net="uniform")
    EXPERIMENTS["gobang"](options)
    page = page_of(options)
    assert "wins of the network search against alpha-beta" in page
    assert page.count('class="chart"') >= 3
    assert (options.folder / "games/report.html").is_file()
    assert "| gobang5 |" in (options.folder / "move-times.md").read_text()


def test_8x8(options, small):
    options = replace(options, net="uniform")
    EXPERIMENTS["8x8"](options)
    assert "win rate at the end, 4 games" in page_of(options)
