"""`tengen check` as its author's terminal sees it, and the short look at a file that is played for the first time."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tengen.rules.whereabouts import Watchdog

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "breakthrough.py"
OVER = "def outcome(game, state):\n"
TEXT = "    def action_text(self, action):\n"
TWICE = "    state.cells[begin] = 0\n"


def tengen(*arguments, text="", **environment):
    command = [sys.executable, "-m", "tengen", *arguments]
    known = {**os.environ, **environment}
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, env=known)


def changed_example(folder, old, new):
    """The example with one change, and the line on which that begins."""
    text = EXAMPLE.read_text()
    assert text.count(old) == 1
    path = folder / "changed.py"
    path.write_text(text.replace(old, new) + f"# {folder}\n")  # a text that no earlier run has cached
    return path, text[: text.index(old)].count("\n") + 1


@pytest.mark.slow  # ten seconds are what a rule has to answer
@pytest.mark.parametrize(
    ("old", "loop", "told"),
    [
        (OVER, "    while state.ply == 3:\n        pass\n", "a rule does not return within 10 s after "),
        (TEXT, "        while True:\n            pass\n", "action_text() does not return within 10 s ("),
    ],
)
def test_an_endless_rule_is_named(tmp_path, old, loop, told):
    path, line = changed_example(tmp_path, old, old + loop)
    done = tengen("check", f"{path}:size=5", "--json")
    (problem,) = json.loads(done.stdout)["problems"]
    assert done.returncode == 1
    assert problem.startswith(told)
    assert any(f"({path}, line {line + i})" in problem for i in (1, 2)), problem
    if old is OVER:
        played = problem.removeprefix(told).partition(", in outcome() (")[0]
        assert len(played.split()) == 2, played  # the third move is the one that is never over


@pytest.mark.parametrize(
    ("change", "told"),
    {
        "    state.cells[begin + 999 * (state.ply == 2)] = 0\n": "a rule reads or writes outside an array",
        "    if state.ply == 2:\n        raise ValueError('no')\n" + TWICE: "ValueError: no",
    }.items(),
)
def test_a_rule_that_fails_is_told_with_its_line(tmp_path, change, told):
    path, line = changed_example(tmp_path, TWICE, change)
    own = {"XDG_CACHE_HOME": str(tmp_path)}  # a kernel from the cache names the file that it was compiled from
    (problem,) = json.loads(tengen("check", f"{path}:size=5", "--json", **own).stdout)["problems"]
    assert told in problem and "in play" in problem
    assert f"{path}, line {line + change.count(chr(10)) // 2}" in problem


def test_a_file_is_looked_at_once_before_it_is_played(tmp_path):
    path, _ = changed_example(tmp_path, "(4, 8)", "(4, 7)")
    arguments = "best", f"{path}:size=7", "--agent", "random", "--json"
    first, second = tengen(*arguments), tengen(*arguments)
    assert f"{path} is new or has changed: checking it" in first.stderr
    assert "checking it" not in second.stderr
    assert json.loads(first.stdout)["action"] and json.loads(second.stdout)["action"]


@pytest.mark.parametrize(
    "command",
    [
        ("play", "{}", "--second", "random"),
        ("match", "{}", "random", "random", "--games", "2"),
        ("tournament", "{}", "random", "random", "--games", "2"),
        ("train", "{}"),
        ("serve", "--game", "{}"),
        ("gtp", "{}", "random"),
        ("best", "{}", "--agent", "random"),
    ],
)
def test_a_broken_file_is_not_played(tmp_path, command):
    path, _ = changed_example(tmp_path, "    state.ply += 1\n", "")
    done = tengen(*(word.format(path) for word in command), XDG_STATE_HOME=str(tmp_path))
    assert done.returncode == 2, done.stderr
    assert f"{path} is not sound: ply is 0 after 1 plies; play() adds one" in done.stderr
    assert f"see tengen check {path}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_watch_that_is_over_tells_nothing():
    """A test's own frame looks like a rule of somebody's game: it stays, and nobody is watched any more."""
    told: list[str] = []
    watchdog = Watchdog(told.append, patience=0.2)
    watchdog.end()
    time.sleep(0.6)
    assert told == []
