"""The same files with the JIT off: a debugger steps through a rule, and coverage counts it.

Run with NUMBA_DISABLE_JIT=1; the expected results are those of the compiled rules, asked of another process.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from broken_games import BREAKS, EXAMPLE, problems_of
from numba.core import config

import tengen
from tengen.rules.errors import BadMove
from tengen.rules.playouts import perft, playouts

pytestmark = [
    pytest.mark.skipif(
        not config.DISABLE_JIT, reason="the other tests run the compiled rules; this set wants the JIT off"
    ),
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
]
SPECS = ["tictactoe", "mnk:m=5,n=4,k=3", "connect4", "gomoku:size=7", "gomoku:size=7,rule=standard", "reversi:size=4"]
SPECS += [
    "gomoku:size=9,rule=renju",
    "reversi:size=6",
    "reversi",
    "draughts",
    "international",
    "hex:size=5",
    "chess:quiet=5",
    "breakthrough:size=4",
    "go:size=3,suicide=1",
    "go:size=5",
    f"{EXAMPLE}:size=4",
]
COMPILED = """
import json, sys, tengen
from tengen.rules.playouts import perft, playouts
for spec in sys.argv[1:]:
    start = tengen.load_game(spec).start()
    games = playouts(start, 3, seed=7)
    print(json.dumps([perft(start, 2), games.draws, games.first_wins, games.second_wins, games.plies]))
"""


@pytest.fixture(scope="module")
def compiled():
    """What the compiled rules answer, for each spec."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    command = [sys.executable, "-c", COMPILED, *SPECS]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return dict(zip(SPECS, map(json.loads, output.splitlines()), strict=True))


@pytest.mark.parametrize("spec", SPECS)
def test_same_answers_as_compiled(spec, compiled):
    start = tengen.load_game(spec).start()
    games = playouts(start, 3, seed=7)
    assert [perft(start, 2), games.draws, games.first_wins, games.second_wins, games.plies] == compiled[spec]


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec != "reversi"])
def test_sound(spec):
    assert tengen.check(spec, games=1).problems == []


WRONG = [  # those that need no compiler to be found; see broken_games.py
    "legal() answers differently when it is asked twice",
    "to_play is 0 in every position: play() says who moves next (broken.py, line",
    "is legal either after",
    "setup() sees another winner",
    "is not a permutation of 0 to 24",
    "as many action_symmetries as symmetries",
    "encode() writes 0.5 into plane 'first player to move'",
    "cannot be tested: give the class a setup()",
    "actions are 0 to 624 (broken.py, line",
    "it is ONGOING, FIRST, SECOND or DRAW",
    "is not read as two moves: write a move_pattern that matches 'a5a5'",
    "has 40,625 actions; a game has 1 to 32,767",
]


@pytest.mark.parametrize("message", WRONG)
def test_what_is_wrong_is_found_in_plain_python_too(message, tmp_path):
    assert message in problems_of(tmp_path / "broken.py", BREAKS[message])[0]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gomokku", "gomoku"),
        ("gomoku:sise=9", "size"),
        ("gomoku:size=99", "5 to 20"),
        ("gomoku:rule=ren", "renju"),
        ("reversi:size=5", "odd"),
        ("missing.py", "missing.py"),
    ],
)
def test_what_cannot_be_loaded_is_named(spec, message):
    with pytest.raises(tengen.TengenError, match=message):
        tengen.load_game(spec)


def test_renju_in_plain_python():
    """A double-three whose threes have to be judged one stone further."""
    rows = ["." * 9] * 2 + ["....X....", "....X....", "..XX.....", *["." * 9] * 3, "O.O.O.O.."]
    position = tengen.load_game("gomoku:size=9,rule=renju").from_board("/".join(rows))
    assert position.forbidden() == {4 * 9 + 4: "double-three"}


def test_handicap_in_plain_python():
    start = tengen.load_game("go:size=9,handicap=9").start()
    assert np.count_nonzero(start.board) == 9


def test_chess_in_words():
    """Texts of positions and of moves, which ask the rules what is legal."""
    game = tengen.load_game("chess")
    mate = game.from_moves("e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7")
    assert mate.outcome is not None and mate.outcome.winner == 0
    assert [mate.previous.move_text(action) for action in mate.previous.legal_actions].count("Qxf7#") == 1
    castled = game.from_board("r3k2r/pppp1ppp/8/3Pp3/8/8/PPP2PPP/R3K2R w KQkq e6 0 1").play("O-O").play("O-O-O")
    assert castled.diagram() == "2kr3r/pppp1ppp/8/3Pp3/8/8/PPP2PPP/R4RK1 w - - 2 2"
    passed = game.from_board("4k3/8/8/3Pp3/8/8/8/4K3 w - e6 0 1").play("dxe6")
    assert passed.diagram() == "4k3/8/4P3/8/8/8/8/4K3 b - - 0 1"
    with pytest.raises(BadMove):
        passed.play("Qa1")
