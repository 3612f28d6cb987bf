"""The conformance check: every game of ours passes; a broken one gets a message its author can act on."""

import pytest
from broken_games import BREAKS, EXAMPLE, problems_of
from piece_games import KINGS_AND_PAWNS

import tengen

GAMES = [
    "tictactoe",
    "mnk:m=7,n=4,k=3",
    "connect4",
    "connect4:columns=8,rows=7",
    "gomoku:size=9",
    "gomoku:rule=standard",
]
GAMES += [
    "renju",
    "reversi",
    "reversi:size=4",
    "draughts",
    "international",
    "hex:size=5",
    "hex",
    "hex:size=19,swap=0",
    "go:size=5",
    "go:size=9,handicap=2",
    "go:size=3,suicide=1",
    str(EXAMPLE),
    str(KINGS_AND_PAWNS),
]


@pytest.mark.parametrize("spec", GAMES)
def test_our_games_are_sound(spec):
    report = tengen.check(spec, games=6)
    assert report.ok, report.problems
    assert report.positions > 20


@pytest.mark.parametrize(("message", "change"), BREAKS.items())
def test_a_broken_game_is_told_what_is_wrong(tmp_path, message, change):
    problems = problems_of(tmp_path / "broken.py", change)
    assert any(message in problem for problem in problems), problems


def test_keys_that_remember_the_way(tmp_path):
    problems = problems_of(
        tmp_path / "broken.py",
        ('("ply", np.int16),', '("ply", np.int16), ("last", np.int16),'),
        ("    state.ply += 1\n", "    state.ply += 1\n    state.last = action % 97\n"),
        ("    result = np.uint64(state.to_play)\n", "    result = np.uint64(state.last)\n"),
    )
    assert any("lead to one board, but to two keys" in problem for problem in problems), problems


def test_games_that_never_end(tmp_path):
    problems = problems_of(
        tmp_path / "broken.py",
        ("                if target >= 0:", "                if True:"),
        ("actions[count] = cell * cells + target", "actions[count] = cell * cells + cell"),
        ("for dx in range(-1, 2):", "for dx in range(1):"),
        ("    if end // game.size == far_row or state.pawns[1 - player] == 0:", "    if False:"),
    )
    assert any("a random game is not over after 20000 plies" in problem for problem in problems), problems
