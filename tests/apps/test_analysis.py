"""`tengen analyze`: mistakes are found where the rules prove them, and stand in the record that is written."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.apps.analysis import KINDS
from tengen.apps.cli import app
from tengen.games import load_game
from tengen.records.files import read_records, write_records
from tengen.records.record import Record
from tengen.rules.errors import TengenError

STATIC = Path(__file__).parent.parent.parent / "src" / "tengen" / "apps" / "web" / "static"
EXACT = ["--agent", "minimax:depth=9,evaluation=none"]
MOVES = "a1 b1 b2 a3 c3"  # O answers the corner badly, and does not see the diagonal


def analyze(*arguments):
    result = CliRunner().invoke(app, ["analyze", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def record(tmp_path):
    """A game of tic-tac-toe that O throws away, with a comment on its second move."""
    position = load_game("tictactoe").from_moves(MOVES)
    write_records(tmp_path / "game.sgf", [Record.of(position, ("Ann", "Bob"), comments={2: "hm"})])
    return tmp_path / "game.sgf"


def test_a_proven_mistake_is_marked(record):
    found = json.loads(analyze(record, *EXACT, "--json").stdout)
    assert (found["game"], found["players"], found["result"]) == ("tictactoe", ["Ann", "Bob"], "B+")
    assert [move["move"] for move in found["moves"]] == MOVES.split()
    first, second, *_, last = found["moves"]
    assert (first["before"], first["after"], first["mark"]) == (0.5, 0.5, "")
    assert (second["player"], second["before"], second["after"], second["mark"]) == ("O", 0.5, 0.0, "??")
    assert second["best"] == "b2"  # the only answer to a corner that draws
    assert (last["after"], last["mark"]) == (1.0, "")
    assert found["counts"]["O"] == {"blunder": 1, "mistake": 0, "inaccuracy": 0}
    assert sum(found["counts"]["X"].values()) == 0


def test_the_table_and_the_comments_say_the_same(record, tmp_path):
    printed = analyze(record, *EXACT, "--out", tmp_path / "judged.sgf").stdout
    assert "X: Ann, O: Bob; X wins" in printed
    assert re.search(r"^2 +O +b1 +50\.0% +0\.0% +\?\? +b2", printed, re.MULTILINE)
    assert re.search(r"^O: 1 blunder, 0 mistakes, 0 inaccuracies$", printed, re.MULTILINE)
    [judged] = read_records(tmp_path / "judged.sgf")
    assert judged.moves == read_records(record)[0].moves
    assert judged.comments[2].startswith("hm\nO: win rate 50.0% before, 0.0% after; blunder ??, better b2")
    assert judged.comments[1] == "X: win rate 50.0% before, 50.0% after"


def test_an_agents_own_move_is_never_a_mistake(record):
    found = json.loads(analyze(record, "--agent", "uct:playouts=50", "--json").stdout)
    assert all(move["mark"] == "" for move in found["moves"] if move["move"] == move["best"])
    assert all(0 <= move[side] <= 1 for move in found["moves"] for side in ("before", "after"))


def test_only_the_result_is_on_stdout(record):
    command = [sys.executable, "-m", "tengen", "analyze", str(record), "--time", "0.01", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and json.loads(done.stdout)["agent"] == "strong"


def test_what_cannot_be_analyzed_is_refused(record, tmp_path):
    write_records(tmp_path / "two.sgf", read_records(record) * 2)
    (tmp_path / "moves.txt").write_text("4 4 4\n")
    for arguments, words in [
        ([record, "--agent", "random"], "does not say how good a position is"),
        ([record, "--game", "gomoku"], "is a game of tictactoe: leave --game gomoku out"),
        ([record, "--out", tmp_path / "it.psq"], "comments are kept in a file .sgf"),
        ([record, "--out", tmp_path], "is a folder: give the name of a file"),
        ([record, "--out", tmp_path / "no" / "it.sgf"], "there is no folder"),
        ([tmp_path / "two.sgf"], "two.sgf holds 2 games: choose one with --number, 1 to 2"),
        ([tmp_path / "two.sgf", "--number", 3], "holds games 1 to 2"),
        ([tmp_path / "missing.sgf"], "missing.sgf: the file cannot be read"),
    ]:
        with pytest.raises(TengenError, match=words):
            analyze(*arguments)
    assert len(json.loads(analyze(tmp_path / "two.sgf", "--number", 2, *EXACT, "--json").stdout)["moves"]) == 5
    found = json.loads(analyze(tmp_path / "moves.txt", "--game", "connect4", "--time", 0.01, "--json").stdout)
    assert found["game"] == "connect4"


def test_marks_are_those_of_the_web_app():
    text = (STATIC / "play" / "mistakes.js").read_text()
    theirs = re.findall(r'least: ([\d.]+), sign: "([?!]+)", kind: "(\w+)"', text)
    assert [(float(least), mark, kind) for least, mark, kind in theirs] == list(KINDS)


def test_chess_from_pgn_and_back(tmp_path):
    """Moves are told as players write them; a mate that was let in is a blunder."""
    path, out = tmp_path / "fool.pgn", tmp_path / "told.pgn"
    path.write_text('[White "Ann"]\n\n1. f3 e5 2. g4 (2. e4) Qh4# 0-1\n')
    found = json.loads(analyze(path, "--agent", "alphabeta:depth=2,memory=1", "--out", out, "--json").stdout)
    assert [move["move"] for move in found["moves"]] == ["f3", "e5", "g4", "Qh4#"]
    assert found["moves"][2]["mark"] == "??" and found["moves"][3]["best"] == "Qh4#"
    (told,) = read_records(out)
    assert "blunder" in told.comments[3]
