"""The public names: which they are, that they come when they are asked for, and what they say when they are misused."""

import subprocess
import sys

import pytest

import tengen

NAMES = ["Agent", "Decision", "Game", "Limit", "Net", "Outcome", "Position", "Record", "TengenError"]
NAMES += ["check", "load_agent", "load_game", "load_net", "play_game", "tournament", "train"]
WRONG = {
    "load_game(7)": "a game is named by a text, such as 'gomoku:size=8' or './mine.py', not by 7",
    "load_game('gomoku:size=0')": "size=0 is out of range",
    "load_game('gomoko')": "did you mean 'gomoku'?",
    "load_agent(7, GAME)": "an agent is named by a text, such as 'uct:playouts=1000', not by 7",
    "load_agent('uct', 'hex')": "load_agent takes a game, not 'hex'",
    "load_agent('uct:playouts=0', GAME)": "playouts=0 is out of range",
    "load_agent('uct', GAME).choose(GAME.start(), 100)": "100 is no limit; write Limit(time=1.0)",
    "load_agent('uct', GAME).choose(load_game('connect4').start())": "was loaded for tictactoe",
    "GAME.action_text(999)": "tictactoe has no action 999: they are 0 to 8",
    "GAME.action_text(-1)": "tictactoe has no action -1: they are 0 to 8",
    "GAME.action_text('b2')": "'b2' is not a move; give an action's number or its text",
    "GAME.start().play('z9')": "z9",
    "GAME.start().play(1.5)": "1.5 is not a move",
    "GAME.start().play('b2').play('b2')": "b2 is occupied at move 2",
    "play_game(GAME, load_agent('random', GAME))": "play_game takes a list of two agents",
    "load_net('nothing', GAME)": "no net is called 'nothing'",
    "load_net('go9', GAME)": "go9",
    "Limit(time=-1)": "time=-1: a limit is more than zero",
}


def test_these_are_the_names():
    """A snapshot: whoever adds one means it, and whoever takes one away says so in the changelog."""
    assert tengen.__all__ == NAMES
    for name in NAMES:
        assert getattr(tengen, name).__name__ == name
        assert name in dir(tengen)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = tengen.nothing


def test_nothing_is_imported_before_it_is_used():
    code = (
        "import sys, tengen; print([m for m in sys.modules if m.split('.')[0] in ('numpy', 'numba', 'torch', 'ray')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_call_gets_a_sentence(call):
    known = {name: getattr(tengen, name) for name in NAMES} | {"GAME": tengen.load_game("tictactoe")}
    with pytest.raises(tengen.TengenError) as caught:
        eval(call, known)
    assert WRONG[call] in str(caught.value)
