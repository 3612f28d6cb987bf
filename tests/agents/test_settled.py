"""Positions that are settled, or nearly: the engine passes at the right time, and what it counts GNU Go counts, too.

`settled.json` has one a line: whose turn it is, whether the other side has just passed, the moves that are right where
one is needed (any of them; none: nothing is), and what GNU Go says of it: dead stones, stones in seki, and the score
(empty where a move is worth something, so that it depends on whose turn it is). Most are the last boards of games of
GNU Go against itself, begun with random moves.
"""

import json
from pathlib import Path

import pytest

from tengen import load_agent, load_game
from tengen.agents.gtp import GtpEngine
from tengen.agents.passing import margin, pass_in_time
from tengen.knowledge.go_counting import CHINESE, count
from tengen.knowledge.ownership import estimate

POSITIONS = json.loads((Path(__file__).parent / "settled.json").read_text())
MOST_NEEDLESS = 2
LARGE = 13  # boards from this size on take a while to compile for


def start_of(one):
    """The position, after the other side's pass if there was one."""
    game = load_game(f"go:size={one['size']},komi={one['komi']:g}")
    other = "XO"[one["to_play"] == "X"]
    position = game.from_board(one["diagram"], other if one["passed"] else one["to_play"])
    return position.play("pass") if one["passed"] else position


def vertices(game, cells):
    """Cells as GTP names them: on these boards the same names in capitals."""
    return sorted(game.action_text(cell).upper() for cell in cells)


def number(score):
    return (1 if score[0] == "B" else -1) * float(score[2:])


def marked(least, most):
    """Those positions as parameters; large boards are slow."""
    chosen = [one for one in POSITIONS if least <= one["size"] < most]
    return [pytest.param(one, id=f"{one['size']}: {one['name']}") for one in chosen]


ALL = marked(0, LARGE) + [pytest.param(*each.values, id=each.id, marks=pytest.mark.slow) for each in marked(LARGE, 20)]


def test_there_are_forty():
    assert len(POSITIONS) >= 40
    assert {one["size"] for one in POSITIONS} >= {7, 9, 13, 19}
    assert {one["to_play"] for one in POSITIONS} == {"X", "O"}
    assert sum(bool(one["dead"]) for one in POSITIONS) >= 20
    assert sum(bool(one["seki"]) for one in POSITIONS) >= 8


@pytest.mark.parametrize("one", ALL)
def test_what_is_dead_and_what_is_in_seki(one):
    view = estimate(start_of(one))
    assert vertices(view.position.game, view.dead) == one["dead"]
    assert vertices(view.position.game, view.seki) == one["seki"]
    assert view.is_settled == bool(one["score"])
    if one["score"]:
        assert view.lead == view.agreed == number(one["score"])
        assert count(view, CHINESE).result == one["score"]


def is_needed(one, position):
    """Whether a move is: it is one that is asked for, or who has won would lose by counting all stones as alive."""
    if not one["score"]:
        return position.ply == int(one["passed"])
    side = 1 - 2 * position.to_play
    return side * number(one["score"]) > 0 and margin(position) <= 0


def play_out(one):
    """Both sides play until both pass: the last position, the moves, and how many of them were needless."""
    position = start_of(one)
    agent = load_agent("uct:playouts=150,threads=1", position.game)
    played, needless = [], 0
    while position.outcome is None:
        action = pass_in_time(position, agent, agent.choose(position)).action
        needless += action != position.game.cells and not is_needed(one, position)
        played.append(position.game.action_text(action))
        position = position.play(action)
    return position, played, needless


@pytest.mark.parametrize("one", ALL)
def test_the_game_ends_in_time_and_nothing_is_lost(one):
    position, played, needless = play_out(one)
    assert needless <= MOST_NEEDLESS, played
    if one["moves"]:
        assert played[0] in one["moves"]
    if one["score"]:
        assert estimate(position).agreed == number(one["score"]), played


@pytest.mark.parametrize("one", ALL)
def test_gnu_go_counts_the_same(gnugo, one):
    position, played, _ = play_out(one)
    with GtpEngine(f"{gnugo} --mode gtp --chinese-rules") as engine:
        for line in (f"boardsize {one['size']}", "clear_board", f"komi {one['komi']}"):
            engine.ask(line)
        for stone, colour in ((1, "black"), (2, "white")):
            for cell in (position.board == stone).ravel().nonzero()[0]:
                engine.ask(f"play {colour} {position.game.action_text(int(cell))}")
        assert engine.ask("final_score") == count(estimate(position), CHINESE).result, played
