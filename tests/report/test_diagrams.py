"""Boards as SVG: they parse, and every stone stands on its cell with its number."""

import random
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import tengen
from tengen.report.diagrams import CELL, MARGIN, draw_board, last_played

BREAKTHROUGH = str(Path(__file__).parent.parent.parent / "examples" / "breakthrough.py")


def drawn_board(svg, shape):
    """The board that a drawing shows: [rows, columns]."""
    board = np.zeros(shape, np.int8)
    for mark in ElementTree.fromstring(svg).iter("circle"):
        sides = mark.get("class").split()
        if "first" in sides or "second" in sides:
            x, y = ((float(mark.get(axis)) - MARGIN) / CELL - 0.5 for axis in ("cx", "cy"))
            board[round(y), round(x)] = 1 if "first" in sides else 2
    return board


def numbers(svg):
    """The numbers on stones or beside marks, in the order of the cells."""
    texts = ElementTree.fromstring(svg).iter("text")
    return [int(text.text) for text in texts if text.get("class") in ("on-first", "on-second", "corner")]


@pytest.mark.parametrize("spec", ["connect4", "gomoku:size=8", "reversi", "go:size=9", "go:size=19", BREAKTHROUGH])
def test_the_drawing_shows_the_board(spec):
    rng, position = random.Random(3), tengen.load_game(spec).start()
    while position.outcome is None and position.ply < 80:
        position = position.play(rng.choice(position.legal_actions))
    assert (drawn_board(draw_board(position), position.game.shape) == position.board).all()


def test_tictactoe_in_crosses_and_noughts():
    svg = draw_board(tengen.load_game("tictactoe").from_moves("b2 a1 c3"))
    drawing = ElementTree.fromstring(svg)
    assert len(drawing.findall("path[@class='mark first']")) == 1
    assert len(drawing.findall("path[@class='mark first last']")) == 1
    assert len(drawing.findall("circle[@class='mark second']")) == 1
    assert numbers(svg) == [3, 1, 2]
    assert numbers(draw_board(tengen.load_game("tictactoe").from_moves("b2 a1 c3"), numbered=False)) == []


def test_numbers_are_of_the_last_move_on_a_cell():
    """White's stone on a5 is captured, and Black plays there."""
    game = tengen.load_game("go:size=5")
    captured = game.from_moves("b5 a5 a4 e1")
    assert numbers(draw_board(captured)) == [1, 3, 4]
    assert last_played(captured.play("a5")) == {0: 5, 1: 1, 5: 3, 24: 4}
    assert numbers(draw_board(captured.play("a5"))) == [5, 1, 3, 4]


def test_where_stones_fall_and_pawns_go():
    connect4 = tengen.load_game("connect4").from_moves("4 4 3")
    assert last_played(connect4) == {38: 1, 31: 2, 37: 3}
    pawns = tengen.load_game(f"{BREAKTHROUGH}:size=5").from_moves("a2a3 e4e3 a3b4")
    points = tengen.load_game("mnk:m=5,n=5,k=5").coordinates
    assert {points.text(cell): number for cell, number in last_played(pawns).items()} == {"a3": 1, "e3": 2, "b4": 3}
    assert sorted(numbers(draw_board(pawns))) == [2, 3]  # nobody stands on a3 any more


def test_a_ring_is_about_the_last_move_only():
    go = tengen.load_game("go:size=5")
    assert 'stone first last"' in draw_board(go.from_moves("c3"))
    assert 'last"' not in draw_board(go.from_moves("c3 pass"))
    assert 'last"' not in draw_board(tengen.load_game("reversi").start())
