"""Strings of moves: whatever is played comes back, passes that others leave out are restored, damage has its place."""

import random
from pathlib import Path

import pytest

import tengen
from tengen.records.movetext import read_moves, write_moves
from tengen.records.record import Record, RecordError

BREAKTHROUGH = str(Path(__file__).parent.parent.parent / "examples" / "breakthrough.py")
GAMES = ["tictactoe", "connect4", "gomoku:size=8", "renju", "reversi", "reversi:size=6", "go:size=5"]


def random_game(spec, seed):
    rng, position = random.Random(seed), tengen.load_game(spec).start()
    while position.outcome is None:
        position = position.play(rng.choice(position.legal_actions))
    return position


@pytest.mark.parametrize("spec", [*GAMES, f"{BREAKTHROUGH}:size=5"])
def test_random_games_come_back(spec):
    game = tengen.load_game(spec)
    records = [Record.of(random_game(spec, seed)) for seed in range(20)] + [Record.of(game.start())]
    assert read_moves(write_moves(*records), game) == records
    if ".py" not in spec:
        assert read_moves(write_moves(*records)) == records


def test_what_a_line_looks_like():
    renju, connect4 = (
        tengen.load_game("renju").from_moves("h8 i9 g10"),
        tengen.load_game("connect4").from_moves("4 4 3"),
    )
    assert write_moves(Record.of(renju), Record.of(connect4)) == "renju h8i9g10\nconnect4 4 4 3\n"


def game_with_passes():
    """A game of Othello in which somebody must pass and another move follows."""
    games = (random_game("reversi", seed) for seed in range(100))
    return next(Record.of(end) for end in games if 64 in end.moves[:-1])


@pytest.mark.parametrize("word", ["", "--", "ps", "PA", "pass", " -- "])
def test_forced_passes_are_restored(word):
    record = game_with_passes()
    whole = "".join(record.game.action_text(action) for action in record.moves)
    text = whole.replace("pass", word)
    assert "pass" in whole
    assert read_moves(text) == read_moves(text, record.game) == [record]


def test_a_pass_at_the_end_stays():
    record = game_with_passes()
    begin = Record(record.game, record.moves[: record.moves.index(64) + 1])
    assert write_moves(begin).endswith("pass\n")
    assert read_moves(write_moves(begin)) == [begin]


def test_a_line_without_a_name():
    othello, gomoku = read_moves("F5, D6, C3\n# what follows is Gomoku\n\n  h8 i9\n")
    assert (othello.game.spec, gomoku.game.spec) == ("reversi", "gomoku")
    assert read_moves("h8i9", tengen.load_game("renju"))[0].game.spec == "renju"
    assert read_moves("f5d6", tengen.load_game("go:size=9"))[0].game.spec == "go:size=9"


def test_every_game_of_renju_is_legal_in_freestyle():
    for seed in range(20):
        record = Record.of(random_game("renju", seed))
        (read,) = read_moves(write_moves(record).removeprefix("renju "))
        assert (read.game.spec, read.moves, read.result) == ("gomoku", record.moves, record.result)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f5d6\n\nf5d6f5", r"f5 is occupied at move 3 \(line 3, column 5\)"),
        ("renju h8 i9 h8", r"h8 is occupied at move 3 \(line 1, column 13\)"),
        ("gomoku:size=99 h8", r"size=99 is out of range: size is 5 to 20 \(line 1\)"),
        ("renju h8 ?", r"'\?' is not a move; write one as a15 \(line 1, column 10\)"),
        ("  h8 p20", r"p20 is off the board; .* \(line 1, column 6\)"),
        ("renju h8 pass", r"'pass' is not a move"),
        ("reversi pass", r"pass is not allowed while a move flips something at move 1 \(line 1, column 9\)"),
        ("evil.py a1", r"give that game, for a record alone never makes us run code \(line 1\)"),
        ("connect4 4 9", r"'9' is not a column; they are 1 to 7 \(line 1, column 12\)"),
    ],
)
def test_errors(text, message):
    with pytest.raises(RecordError, match=message):
        read_moves(text)
