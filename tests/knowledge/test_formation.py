"""The evaluation of draughts: the same from both sides of the board, and captures are never left undone."""

import random

import numpy as np
import pytest
from judges import assess_position, random_position

from tengen import load_game
from tengen.knowledge.evaluations import evaluation_for
from tengen.rules.board import diagram
from tengen.search.alphabeta import AlphaBeta
from tengen.search.limits import Limit


def turned(position):
    """The board turned round, with the players exchanged."""
    board = position.board[::-1, ::-1]
    board = np.where(board == 0, 0, (board + 1) % 4 + 1)  # 1 and 2 become 3 and 4
    return position.game.from_board(diagram(board, position.game.pieces), 1 - position.to_play)


@pytest.mark.parametrize("spec", ["draughts", "international"])
def test_both_players_are_judged_alike(spec):
    game, rng = load_game(spec), random.Random(spec)
    evaluation, seen = evaluation_for(game), 0
    for _ in range(40):
        position = random_position(game, rng, rng.randint(0, 70))
        if position.facts:
            continue
        value, actions, _ = assess_position(position, evaluation)
        other, mirrored, _ = assess_position(turned(position), evaluation)
        assert value == other, position
        assert len(actions) == len(mirrored)
        seen += value != 0
    assert seen > 10


@pytest.mark.parametrize(
    ("diagram", "sign"),
    [
        ("8/8/8/8/8/2b5/8/w3w3 b", -1),  # two men against one
        ("8/8/8/8/8/2b5/8/W7 b", -1),  # a king against a man
        ("8/2B5/8/8/8/8/8/W3W3 w", 1),
    ],
)
def test_who_is_ahead(diagram, sign):
    value, _, _ = assess_position(load_game("draughts").from_board(diagram), evaluation_for(load_game("draughts")))
    assert value * sign > 30


def test_captures_are_all_there_is_beyond_the_horizon():
    game = load_game("draughts")
    evaluation = evaluation_for(game)
    assert assess_position(game.start(), evaluation, at_horizon=True)[1:] == ([], False)
    position = game.from_board("8/8/1b1b4/2w5/8/2w1w3/8/8 b")
    for after in (position, position.play("9x18")):
        assert assess_position(after, evaluation, at_horizon=True)[1:] == (after.legal_actions, True)


def test_a_shot_is_found():
    """White gives a man, which must be taken, and takes both of Black's."""
    game = load_game("draughts")
    position = game.from_board("8/8/3b1b2/8/3w1w2/6w1/7w/8 w")
    found = AlphaBeta(game, evaluation_for(game)).search(position, Limit(depth=2))
    assert (game.action_text(found.action), found.note) == ("19-15", "wins in 4")
