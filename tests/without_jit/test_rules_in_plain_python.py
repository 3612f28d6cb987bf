"""The same files with the JIT off: a debugger steps through a rule, and coverage counts it.

Run with NUMBA_DISABLE_JIT=1; the expected results are those of the compiled rules, asked of another process.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import config

import tengen
from tengen.rules.playouts import perft, playouts

pytestmark = [
    pytest.mark.skipif(
        not config.DISABLE_JIT, reason="the other tests run the compiled rules; this set wants the JIT off"
    ),
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
]
EXAMPLE = str(Path(__file__).parent.parent.parent / "examples" / "breakthrough.py")
SPECS = ["tictactoe", "mnk:m=5,n=4,k=3", "connect4", "gomoku:size=7", "gomoku:size=7,rule=standard", "reversi:size=4"]
SPECS += [
    "gomoku:size=9,rule=renju",
    "reversi:size=6",
    "reversi",
    "go:size=3,suicide=1",
    "go:size=5",
    EXAMPLE + ":size=4",
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


def test_renju_in_plain_python():
    """A double-three whose threes have to be judged one stone further."""
    rows = ["." * 9] * 2 + ["....X....", "....X....", "..XX.....", *["." * 9] * 3, "O.O.O.O.."]
    position = tengen.load_game("gomoku:size=9,rule=renju").from_board("/".join(rows))
    assert position.forbidden() == {4 * 9 + 4: "double-three"}


def test_handicap_in_plain_python():
    start = tengen.load_game("go:size=9,handicap=9").start()
    assert np.count_nonzero(start.board) == 9
