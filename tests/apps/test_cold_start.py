"""On a machine where nothing is compiled yet, first answers do not wait for the compiler."""

import json
import os
import subprocess
import sys

import pytest

PATIENCE = 120.0  # seconds
FIRST_VIEW = """
import json, os, sys
from tengen.apps.web import ahead
from tengen.apps.web.views import position_of

begun = []

class Process:
    def __init__(self, command, **options):
        begun.append(command[-2:])

    def wait(self):
        pass

ahead.subprocess.Popen = Process
for moves in ([], ["h8"]):
    view = ahead.first_view(position_of("gomoku", moves))
print(json.dumps([view.moves, len(view.legal), begun]), flush=True)
os._exit(0)  # a compiler cannot be stopped
"""


@pytest.fixture
def cold(tmp_path):
    return {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}


def kernels(folder):
    """The entry points that have been compiled."""
    return {path.name.partition("_")[0] for path in folder.glob("tengen/kernels/*.kernel")}


@pytest.mark.parametrize(
    ("arguments", "line", "answer", "farewell"),
    [
        (["gomocup", "alphabeta"], "START 15", "OK", "END"),
        (["gtp", "go:size=9", "uct:playouts=10"], "name", "= Tengen", "quit"),
        (["gtp", "go:size=9", "uct:playouts=10"], "boardsize 13", "=", "quit"),
        (["uci", "--agent", "alphabeta"], "isready", "readyok", "quit"),
        (
            ["uci", "--agent", "alphabeta"],
            "go movetime 100",
            "info string the search is being compiled: this move is played at first sight",
            "quit",
        ),
    ],
)
def test_engines_answer_at_once(tmp_path, cold, arguments, line, answer, farewell):
    command, pipe = [sys.executable, "-m", "tengen", *arguments], subprocess.PIPE
    with subprocess.Popen(command, env=cold, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as engine:
        try:
            engine.stdin.write(f"{line}\n")
            engine.stdin.flush()
            assert engine.stdout.readline().strip() == answer
            assert "run" not in kernels(tmp_path)  # the search is not there yet
            engine.stdin.write(f"{farewell}\n")
            engine.stdin.flush()
            assert engine.wait(PATIENCE) == 0
        finally:
            engine.kill()


def test_a_first_move_is_in_time(tmp_path, cold):
    """What the compiler has not made yet is not waited for: a threat is seen at first sight."""
    command, pipe = [sys.executable, "-m", "tengen", "gomocup", "alphabeta"], subprocess.PIPE
    lines = ["START 15", "INFO timeout_turn 100", "BOARD", *(f"{x},7,2" for x in (5, 6, 7)), "3,3,1", "2,9,1", "DONE"]
    with subprocess.Popen(command, env=cold, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as engine:
        try:
            engine.stdin.write("\n".join(lines) + "\n")
            engine.stdin.flush()
            assert engine.stdout.readline().strip() == "OK"
            assert engine.stdout.readline().strip() in ("4,7", "8,7", "3,7", "9,7")
            assert "run" not in kernels(tmp_path)
        finally:
            engine.kill()


def test_the_first_board_waits_for_nothing(tmp_path, cold):
    """Its rules run as plain Python; the usual opponent is compiled in a process of its own, which begins once."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_VIEW], env=cold, capture_output=True, text=True, timeout=PATIENCE
    )
    moves, legal, begun = json.loads(done.stdout)
    assert (moves, legal) == (["h8"], 224)
    assert begun == [["gomoku", "alphabeta:depth=1,threats=0,quiescence=0"]]
    assert kernels(tmp_path) == set()


def test_eight_engines_compile_once(tmp_path, cold):
    """Each kernel is compiled by one of them; the others wait for it."""
    command, pipe = [sys.executable, "-m", "tengen", "gtp", "connect4", "uct:playouts=10"], subprocess.PIPE
    engines = [subprocess.Popen(command, env=cold, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for _ in range(8)]
    told = [engine.communicate("genmove b\nquit\n", timeout=PATIENCE) for engine in engines]
    assert all(answer.startswith("= ") for answer, _ in told)
    assert {"step", "run"} <= kernels(tmp_path)
    compiled = list(tmp_path.glob("tengen/kernels/*.kernel"))
    assert sum("compiling" in errors for _, errors in told) <= len(compiled) < len(engines)
