"""The command line as a person uses it: real processes, real output."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tengen import __version__
from tengen.rules.kernel_cache import kept_in, tidy

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = str(ROOT / "examples" / "breakthrough.py")


def tengen(*arguments, text="", **environment):
    return subprocess.run(
        [sys.executable, "-m", "tengen", *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "COLUMNS": "100", **environment},
    )


def test_help_imports_nothing_heavy():
    """That is what keeps it under 0.4 s: Numba alone takes longer."""
    code = "import sys, tengen.apps.cli; print([m for m in ('numba', 'numpy', 'rich.table') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr
    assert "tengen play tictactoe" in tengen("--help").stdout


def test_the_version_is_told():
    assert tengen("--version").stdout == f"tengen {__version__}\n"


def test_the_shell_completes_commands():
    asked = {"_TENGEN_COMPLETE": "complete_bash", "COMP_WORDS": "tengen tourn", "COMP_CWORD": "1"}
    command = [str(Path(sys.executable).with_name("tengen"))]
    done = subprocess.run(command, env={**os.environ, **asked}, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["tournament"]


def test_compiled_kernels_are_shown_and_deleted(tmp_path):
    own = {"XDG_CACHE_HOME": str(tmp_path)}
    tengen("perft", "connect4", "1", **own)
    shown = json.loads(tengen("cache", "--json", **own).stdout)
    assert shown["folder"] == str(tmp_path / "tengen" / "kernels")
    assert shown["bytes"] > 1000 * shown["kernels"] > 0
    assert f"0 kernels, 0.0 MB; {shown['kernels']} deleted" in tengen("cache", "--clear", **own).stdout
    assert json.loads(tengen("cache", "--json", **own).stdout)["kernels"] == 0


def test_old_kernels_leave_the_cache(tmp_path):
    for age in range(5):
        (tmp_path / f"{age}.kernel").write_bytes(bytes(100))
        os.utime(tmp_path / f"{age}.kernel", (0, time.time() - 100 * age))
    assert tidy(tmp_path, longest=350) == 1
    assert tidy(tmp_path, most=250) == 2
    assert [path.name for _, _, path in kept_in(tmp_path)] == ["0.kernel", "1.kernel"]


def test_kernels_for_a_gpu_and_leftovers_are_deleted_too_and_nothing_of_others(tmp_path):
    folder = tmp_path / "tengen" / "kernels"
    (folder / "learn_5e1f").mkdir(parents=True, mode=0o700)
    key = "0123456789abcdef_0123456789ab"
    ours = [f"learn_5e1f/gpu_rows.play_rows_{key}-40.py311{end}" for end in (".nbi", ".1.nbc")]
    ours += ["step.0a.kernel", ".step.0b.kernel.4711.part"]
    others = ["learn_5e1f/mine.play-40.py311.nbi", "letter.txt", ".part"]
    for name in (*ours, *others):
        (folder / name).write_bytes(bytes(1000))
    own = {"XDG_CACHE_HOME": str(tmp_path)}
    shown = json.loads(tengen("cache", "--json", **own).stdout)
    assert (shown["kernels"], shown["bytes"]) == (4, 4000)
    assert json.loads(tengen("cache", "--clear", "--json", **own).stdout)["deleted"] == 4
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == sorted(others)


def test_games():
    rows = {row["name"]: row for row in json.loads(tengen("games", "--json").stdout)}
    assert set(rows) == {"breakthrough", "chess", "connect4", "draughts", "go", "gomoku", "hex", "mnk", "reversi"}
    assert rows["gomoku"]["parameters"]["rule"] == {"values": "freestyle|standard|renju", "default": "freestyle"}
    assert "gomoku (also: renju)" in tengen("games").stdout


def test_perft():
    assert json.loads(tengen("perft", "reversi", "5", "--json").stdout) == {"counts": [4, 12, 56, 244, 1396]}
    assert json.loads(tengen("perft", EXAMPLE, "3", "--json").stdout) == {"counts": [22, 484, 11132]}
    from_moves = tengen("perft", "tictactoe", "1", "--moves", "b2 a1", "--json")
    from_board = tengen("perft", "tictactoe", "1", "--board", ".../.X./O..", "--to-play", "X", "--json")
    assert json.loads(from_moves.stdout) == json.loads(from_board.stdout) == {"counts": [7]}
    assert re.search(r"3 +504 ", tengen("perft", "tictactoe", "3").stdout)


def test_check():
    assert json.loads(tengen("check", "tictactoe", "--games", "3", "--json").stdout) == {"ok": True, "problems": []}
    result = tengen("check", EXAMPLE, "--games", "2")
    assert result.returncode == 0
    assert "is sound: 2 random games" in result.stdout


def test_check_finds_wild_indices(tmp_path):
    """A write outside an array, which would crash the process, is an error with a reason here."""
    path = tmp_path / "wild.py"
    path.write_text(
        Path(EXAMPLE).read_text().replace("state.cells[end] = player + 1", "state.cells[end + 64] = player + 1")
    )
    result = tengen("check", str(path), "--json")
    assert result.returncode == 1
    assert "reads or writes outside an array" in json.loads(result.stdout)["problems"][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["perft", "gomku", "2"], "tengen: no game is called 'gomku'; did you mean 'gomoku'?"),
        (["perft", "gomoku:size=99", "2"], "tengen: size=99 is out of range: size is 5 to 20"),
        (["perft", "tictactoe", "2", "--moves", "a1a1"], "tengen: a1 is occupied at move 2"),
        (["perft", "tictactoe", "2", "--to-play", "X"], "tengen: --to-play goes with --board"),
        (["play", "tictactoe", "--second", "randm"], "tengen: no agent is called 'randm'; did you mean 'random'?"),
        (["perft", "nothing.py", "1"], "tengen: there is no file nothing.py"),
        (["bench", "serch"], "tengen: there is no bench 'serch'; did you mean 'search'?"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, message):
    result = tengen(*arguments)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert message in result.stderr


def test_a_file_of_that_name_is_meant(tmp_path):
    """A file beside us is named with its folder and its ending."""
    (tmp_path / "shogi.py").write_text("")
    for arguments in (["play", "shogi"], ["match", "tictactoe", "shogi", "random"]):
        command = [sys.executable, "-m", "tengen", *arguments]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
        assert (result.returncode, result.stdout) == (2, "")
        assert "is called 'shogi'; did you mean ./shogi.py?" in result.stderr


def test_play():
    text = "b2\nb2\nmoves\nzz\nhelp\nundo\na1\n"
    result = tengen("play", "tictactoe", "--second", "human", text=text)
    assert result.returncode == 0
    assert "b2 is occupied at move 2" in result.stdout
    assert "'zz' is not a point; write one as a3" in result.stdout
    assert "a3 b3 c3 a2 c2 a1 b1 c1" in result.stdout
    assert result.stdout.rstrip().endswith("stopped")


def test_interrupts_are_heard_in_the_middle_of_a_kernel():
    process = subprocess.Popen(
        [sys.executable, "-m", "tengen", "perft", "reversi", "20"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.stdout.readline().split()[:1] != ["10"]:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == -signal.SIGINT


def test_nothing_comes_after_nothing():
    assert json.loads(tengen("perft", "tictactoe", "12", "--json").stdout)["counts"][8:] == [127872, 0, 0, 0]


def test_play_survives_garbage():
    result = tengen("play", "tictactoe", "--second", "human", text="a" + "1" * 5000 + "\n\u00e9\n\x00\nb2\n")
    assert result.returncode == 0
    assert "is off the board" in result.stdout
    assert "(X)" in result.stdout


def test_play_to_the_end():
    first = tengen("play", "connect4", "--first", "random", "--second", "random", "--seed", "4")
    assert first.stdout == tengen("play", "connect4", "--first", "random", "--second", "random", "--seed", "4").stdout
    assert re.search(r"(X wins|O wins|a draw)\s*$", first.stdout)


@pytest.mark.parametrize("seed", [-1, 2**63 - 1, 2**63])
def test_the_largest_seed_serves_both_players(seed):
    played = tengen("play", "tictactoe", "--first", "random", "--second", "random", "--seed", str(seed))
    if 0 <= seed < 2**63:
        assert re.search(r"(X wins|O wins|a draw)\s*$", played.stdout), played.stderr
    else:
        assert played.returncode == 2 and "'--seed'" in played.stderr


@pytest.mark.long
def test_compile_then_nothing_is_compiled(tmp_path):
    first = tengen("compile", "connect4", XDG_CACHE_HOME=str(tmp_path))
    assert "tengen: compiling a part of connect4; it is kept on disk" in first.stderr
    assert first.stderr.count("compiling") == 1
    assert first.stdout.strip() == "ready"
    assert tengen("compile", "connect4", XDG_CACHE_HOME=str(tmp_path)).stderr == ""
    for command in (["perft", "connect4", "2"], ["play", "connect4", "--first", "random"]):
        assert tengen(*command, XDG_CACHE_HOME=str(tmp_path)).stderr == ""


@pytest.mark.long
def test_bench():
    rows = json.loads(tengen("bench", "rules", "--time", "0.01", "--json").stdout)
    assert [row["name"] for row in rows][:2] == ["playouts tictactoe", "playouts connect4"]
    assert all(row["ours"] > 0 and (row["peer"] is None) == (row["ratio"] is None) for row in rows)
    assert rows[0]["peer"] > 0


def test_solve():
    """Three kinds of proof, and what is said where there is none."""
    draw = tengen("solve", "tictactoe", "--moves", "a1 b2")
    assert draw.returncode == 0 and "X: a draw;" in draw.stdout
    exact = json.loads(tengen("solve", "reversi:size=4", "--json").stdout)
    assert (exact["proven"], exact["value"], exact["note"]) == (True, -1.0, "exact score -8")
    threats = tengen("solve", "gomoku", "--moves", "h8 a1 i8 a3 j8 a5")
    assert threats.returncode == 0 and "Black wins by VCF in 3 plies" in threats.stdout
    nothing = tengen("solve", "gomoku", "--moves", "h8", "--json")
    assert nothing.returncode == 1 and json.loads(nothing.stdout) == {"proven": False}
    unsolved = tengen("solve", "connect4", "--time", "0.2")
    assert unsolved.returncode == 1 and "not solved within the limit" in unsolved.stdout
    over = tengen("solve", "tictactoe", "--moves", "a1 b1 a2 b2 a3")
    assert over.returncode == 2 and "the game is over" in over.stderr and "Traceback" not in over.stderr
