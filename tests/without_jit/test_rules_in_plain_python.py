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
from tengen.rules.errors import GameFileError
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


WRONG = {  # what is said of the example after a change
    "legal() answers differently when it is asked twice": (
        "                if target >= 0:",
        "                if target >= 0 and np.random.random() < 0.8:",
    ),
    "to_play is 0 in every position": ("state.to_play = 1 - player", "state.to_play = player"),
    "is legal either after": ("range(-1, 2):", "range(-1, 2 if state.ply < 3 else 1):"),
    "setup() sees another winner": ("            state.result = 1\n", "            state.result = 2\n"),
    "is not a permutation of 0 to 24": ("cells[:, ::-1].ravel()", "cells.ravel() // 2"),
    "as many action_symmetries as symmetries": ("for image in self.symmetries]", "for image in self.symmetries[:1]]"),
    "encode() writes 0.5 into plane": ("state.to_play == 0\n", "0.5 * (state.to_play == 0)\n"),
    "cannot be tested: give the class a setup()": ("def setup(", "def set_up("),
    "actions are 0 to 624": (
        "actions[count] = cell * cells + target",
        "actions[count] = cell * cells + target + 625",
    ),
    "it is ONGOING, FIRST, SECOND or DRAW": ("    return state.result\n", "    return state.result * 3\n"),
    "is not read as two moves": ('move_pattern = r"[a-h]\\d[a-h]\\d"\n', ""),
    "has 40,625 actions": ("return self.size**4 ", "return 65 * self.size**4 "),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_wrong_is_found_in_plain_python_too(message, tmp_path):
    text, (old, new) = Path(EXAMPLE).read_text(), WRONG[message]
    assert text.count(old) == 1
    (tmp_path / "wrong.py").write_text(text.replace(old, new))
    try:
        problems = tengen.check(f"{tmp_path / 'wrong.py'}:size=5", games=3).problems
    except GameFileError as reason:
        problems = [str(reason)]
    assert message in problems[0]


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
