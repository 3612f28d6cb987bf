"""The grader: right solutions have all points, wrong ones lose the right ones, hostile files end with a clear word."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.apps.cli import app
from tengen.course.grading.catalogue import ASSIGNMENTS, assignment_of
from tengen.course.grading.questions import Assignment, Question, grade, is_same
from tengen.course.grading.sandbox import StudentCode, Wrong
from tengen.rules.errors import TengenError
from tengen.search import gametree

SOLUTIONS = Path(__file__).parent / "solutions"
posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no such limits")


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_a_right_solution_has_all_points(name):
    report = grade(assignment_of(name), SOLUTIONS / f"{name}.py")
    assert [mark.said for mark in report.marks] == [""] * len(report.marks)
    assert report.points == report.most == assignment_of(name).points == 10
    assert report.seconds < 60


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_a_starter_runs_and_is_not_the_solution(name, tmp_path):
    (tmp_path / "mine.py").write_text(assignment_of(name).starter)
    report = grade(assignment_of(name), tmp_path / "mine.py")
    assert report.points <= 4  # the Wumpus's starter leaves at once, and lives
    assert all(mark.said for mark in report.marks if mark.points < mark.most)


MUTANTS = [  # the assignment, a mistake, and a question that it must lose
    ("minimax", "not is_max) for", "is_max) for", "the lecture's tree"),
    ("minimax", "return max(values) if is_max else min(values)", "return max(values)", "the lecture's tree"),
    ("minimax", "return max(values) if is_max else min(values)", "return sum(values) / len(values)", "any tree"),
    ("minimax", "return tree\n", "return abs(tree)\n", "any tree"),
    ("minimax", "values.index(max(values) if is_max else min(values))", "values.index(max(values))", "the best move"),
    ("minimax", "values.index(max(values) if is_max else min(values))", "0", "the best move"),
    ("alphabeta", "if alpha >= beta:", "if alpha > beta:", "the leaves of any tree"),
    ("alphabeta", "if alpha >= beta:", "if False:", "the lecture's tree"),
    ("alphabeta", "alpha = max(alpha, value)", "pass", "a beta cut"),
    ("alphabeta", "beta = min(beta, value)", "pass", "the lecture's tree"),
    ("alphabeta", "for child in tree:", "for child in reversed(tree):", "the lecture's tree"),
    ("alphabeta", "return [search(tree, is_max, -INFINITY, INFINITY, seen), seen]", "return seen", "a beta cut"),
    ("evaluation", "open_to(board, 2) - open_to(board, 1)", "open_to(board, 1) - open_to(board, 2)", "any board"),
    ("evaluation", ", (2, 4, 6)]", "]", "any board"),
    ("evaluation", "board[cell] != other", "board[cell] == 0", "any board"),
    ("evaluation", "return open_to(board, 2) - open_to(board, 1)", "return 0", "the lecture's 6 − 4 = 2"),
    ("evaluation", "all(board", "any(board", "any board"),
    ("uct", "math.sqrt(2 * ", "math.sqrt(", "UCB1"),
    ("uct", "c * math.sqrt", "math.sqrt", "UCB1"),
    ("uct", "scores.index(max(scores))", "scores.index(min(scores))", "any children"),
    ("uct", "delta = -delta", "pass", "the backup"),
    ("uct", "n + 1", "n", "the backup"),
    (
        "uct",
        "told.append([q + delta, n + 1])\n        delta = -delta",
        "delta = -delta\n        told.append([q + delta, n + 1])",
        "the backup",
    ),
    ("queens", "for j in range(i):", "for j in range(len(queens)):", "counting conflicts"),
    ("queens", "or abs(queens[j] - row) == i - j", "", "counting conflicts"),
    ("queens", "self.attacked(column, self.queens[column]) > 3", "self.rows[self.queens[column]] > 1", "8 queens"),
    ("queens", "return board.queens\n", "return board.queens[:-1]\n", "8 queens"),
    ("queens", "return board.queens\n", "return [row + 1 for row in board.queens]\n", "8 queens"),
    ("queens", "if not troubled:", "if True:", "50 queens"),
    ("wumpus", 'if not percept["breeze"] and not percept["stench"]:', "if True:", "it survives"),
    ("wumpus", 'if not percept["breeze"] and not percept["stench"]:', 'if not percept["stench"]:', "it survives"),
    ("wumpus", 'return "grab"', 'return "release"', "it brings gold that is near"),
    ("wumpus", 'return "climb"', 'return "jump"', "it leaves where it cannot go on"),
    ("wumpus", "plan = way_to(safe - visited) or", "plan = None or", "it gains"),
    ("minialphago", "board[8 * row + column] == player:", "True:", "legal moves"),
    ("minialphago", "WAYS = [(-1, -1), ", "WAYS = [", "legal moves"),
    ("minialphago", "for each in [cell, *flips(board, cell, player)]", "for each in [cell]", "discs are flipped"),
    ("minialphago", "after = list(board)\n    for", "after = board\n    for", ""),  # not wrong: each answer is its own
    ("minialphago", "return max(legal(board, player), key=rank)", "return 0", "it moves legally and in time"),
    (
        "minialphago",
        "return max(legal(board, player), key=rank)",
        "return min(legal(board, player), key=rank)",
        "it beats random moves",
    ),
    (
        "minialphago",
        "return max(legal(board, player), key=rank)",
        "return legal(board, 3 - player)[0]",
        "it moves legally and in time",
    ),
]


@pytest.mark.parametrize(("name", "right", "mistake", "lost"), MUTANTS, ids=range(len(MUTANTS)))
def test_a_mistake_loses_its_question(name, right, mistake, lost, tmp_path):
    text = (SOLUTIONS / f"{name}.py").read_text()
    assert right in text
    (tmp_path / "mine.py").write_text(text.replace(right, mistake))
    report = grade(assignment_of(name), tmp_path / "mine.py")
    told = {mark.name: mark for mark in report.marks}
    if lost:
        assert told[lost].points == 0 and told[lost].said
    assert (report.points < report.most) == bool(lost)


EQUAL = [  # other ways to write the same
    ("minimax", "return max(values) if is_max else min(values)", "return (max if is_max else min)(values)"),
    ("minimax", "return tree\n", "return float(tree)\n"),
    ("minimax", "not isinstance(tree, list)", "isinstance(tree, (int, float))"),
    (
        "minimax",
        "values = [minimax(child, not is_max) for child in tree]",
        "values = []\n    for child in tree: values.append(minimax(child, not is_max))",
    ),
    ("minimax", "def minimax", "import functools, math, heapq\n\n\ndef minimax"),
    ("alphabeta", "if alpha >= beta:", "if beta <= alpha:"),
    ("alphabeta", "INFINITY = 10**9", "INFINITY = float('inf')"),
    ("alphabeta", "return [search(", "return tuple(x for x in [search("),
    ("alphabeta", "value = max(value, found)", "value = found if found > value else value"),
    ("alphabeta", "seen.append(tree)", "seen += [tree]"),
    ("alphabeta", "alpha = max(alpha, value)", "alpha = value if value > alpha else alpha"),
    ("evaluation", "all(board[cell] != other for cell in row)", "other not in [board[cell] for cell in row]"),
    ("evaluation", "sum(all(", "len([1 for row in ROWS if all("),
    ("evaluation", "return open_to(board, 2) - open_to(board, 1)", "return -(open_to(board, 1) - open_to(board, 2))"),
    (
        "evaluation",
        "return open_to(board, 2) - open_to(board, 1)",
        "return float(open_to(board, 2) - open_to(board, 1))",
    ),
    ("evaluation", "def e(board):", "def e(board):\n    board = tuple(board)"),
    ("uct", "math.sqrt(2 * math.log(parent_visits) / visits)", "(2 * math.log(parent_visits) / visits) ** 0.5"),
    ("uct", "2 * math.log(parent_visits)", "math.log(parent_visits**2)"),
    ("uct", "scores.index(max(scores))", "max(range(len(scores)), key=scores.__getitem__)"),
    ("uct", "delta = -delta", "delta *= -1"),
    ("uct", "return told", "return tuple(told)"),
    ("queens", "abs(queens[j] - row) == i - j", "queens[j] - row in (i - j, j - i)"),
    ("queens", "rng = random.Random(seed)", "rng = random.Random(seed + 7)"),
    ("queens", "random.Random(seed)", "random.Random(2 * seed)"),
    ("queens", "for _ in range(20 * n)", "for _ in range(40 * n)"),
    ("queens", "count += 1", "count = count + 1"),
    ("wumpus", "waiting = [at]", "waiting = list([at])"),
    ("wumpus", "HEADINGS[(heading + 1) % 4] == step", "step == HEADINGS[(heading + 1) % 4]"),
    ("wumpus", "heading = (heading + 3) % 4", "heading = (heading - 1) % 4"),
    ("wumpus", "visited.add(at)", "visited.update([at])"),
    ("minialphago", "after = list(board)", "after = board[:]"),
    (
        "minialphago",
        "return (cell in CORNERS, not gives, -len(replies))",
        "return (cell in CORNERS) * 100 - gives * 50 - len(replies)",
    ),
    ("minialphago", "cell // 8 + down, cell % 8 + right", "divmod(cell, 8)[0] + down, divmod(cell, 8)[1] + right"),
]
CLOSED = {
    ("alphabeta", "return [search("): ("seen), seen]", "seen), seen])"),
    ("evaluation", "sum(all("): (") for row in ROWS)", ")])"),
}


@pytest.mark.parametrize(("name", "text", "other"), EQUAL, ids=range(len(EQUAL)))
def test_another_way_to_write_it_is_right(name, text, other, tmp_path):
    solution = (SOLUTIONS / f"{name}.py").read_text()
    assert text in solution
    solution = solution.replace(text, other)
    if (name, text) in CLOSED:
        solution = solution.replace(*CLOSED[name, text])
    (tmp_path / "mine.py").write_text(solution)
    report = grade(assignment_of(name), tmp_path / "mine.py")
    assert [mark.said for mark in report.marks if mark.said] == []


def test_forty_right_and_forty_wrong():
    assert len(EQUAL) + len(ASSIGNMENTS) >= 40 and sum(bool(lost) for *_, lost in MUTANTS) >= 40


def ask_twice(code):
    """One call, so that a hostile file meets the grader; a right answer is 1."""
    if code.call("f", seconds=1.0) != 1:
        raise Wrong("f: it is 1")


HARMLESS = Assignment("harmless", "", "", (Question("first", 1, ask_twice), Question("second", 1, ask_twice)))
HOSTILE = [
    ("while True: pass", "the file took longer than"),
    ("def f():\n    while True: pass", "f took longer than 1 s"),
    ("import time\ndef f(): time.sleep(100)", "f took longer than 1 s"),
    ("import os\ndef f(): return os.fork()", "not allowed here: processes"),
    (
        "import os\ndef f():\n    while True:\n        try: os.fork()\n        except BaseException: pass",
        "longer than 1 s",
    ),
    ("import subprocess\ndef f(): return subprocess.run(['ls'])", "not allowed here: processes"),
    ("import os\ndef f(): return os.system('ls')", "not allowed here: processes"),
    ("import _posixsubprocess as p\ndef f(): return p.fork_exec()", "not allowed here: processes"),
    ("import ctypes\ndef f(): return ctypes.CDLL(None).fork()", "not allowed here: foreign code"),
    ("def f(): return len('x' * 10**12)", "more memory than is allowed"),
    ("def f():\n    kept = []\n    while True: kept.append(bytes(10**8))", "more memory than is allowed"),
    ("def f(): return open('/etc/passwd').read()", "not allowed here: files"),
    ("def f(): open('mine.txt', 'w').write('x')", "not allowed here: files"),
    ("import os\ndef f(): return os.open('/tmp/x', os.O_CREAT | os.O_RDWR)", "not allowed here: files"),
    ("import os\ndef f(): os.remove(__file__)", "not allowed here: files"),
    ("import socket\ndef f(): socket.create_connection(('127.0.0.1', 80))", "not allowed here: the network"),
    ("import os\ndef f(): os.kill(os.getppid(), 9)", "not allowed here: signals"),
    ("import os\ndef f(): os._exit(0)", "f ended the program"),
    ("import sys\ndef f(): sys.exit(0)", "SystemExit"),
    ("import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()", "f"),
    ("def f(): return f()", "RecursionError"),
    ("def f(): return 'x' * 10**7", "the answer is too long"),
    ("def f(): return object()", "not JSON serializable"),
    ("def f(): raise KeyError('no')", "KeyError: 'no' (line 1)"),
    ("from tengen.search.gametree import minimax as f", "the work is yours to do"),
    (f"def f(): return open({str(Path(gametree.__file__))!r}).read()", "not allowed here: files"),
    ("f = 3", "there is no function f"),
    ("def f(:", "SyntaxError"),
    (
        "import os\nfor number in range(3, 20):\n    try: os.write(number, b'nonsense\\n')\n    except OSError: pass\n"
        "def f(): return 1",
        "",
    ),
]


@posix
@pytest.mark.parametrize(("text", "words"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_files_end_with_a_clear_word(text, words, tmp_path, monkeypatch):
    monkeypatch.setattr("tengen.course.grading.sandbox.STARTING", 3.0)
    (tmp_path / "mine.py").write_text(text)
    began = time.perf_counter()
    report = grade(HARMLESS, tmp_path / "mine.py", total=20)
    assert time.perf_counter() - began < 30
    assert (tmp_path / "mine.py").read_text() == text
    if words:
        assert report.points == 0 and all(words in mark.said for mark in report.marks)
        assert all(len(mark.said) < 600 for mark in report.marks)


@posix
def test_nothing_is_left_behind(tmp_path):
    """The process and its session are gone, and so is its folder."""
    (tmp_path / "mine.py").write_text("import os\ndef f(): return [os.getpid(), os.getcwd()]")
    with StudentCode(tmp_path / "mine.py") as code:
        number, folder = code.call("f")
        assert number != os.getpid() and Path(folder).is_dir()
    assert not Path(folder).exists()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_what_is_printed_is_no_answer(tmp_path):
    """Output is dropped, input is empty, the environment is bare, and one question's crash is not the next one's."""
    text = "import os\nprint('x' * 10**6)\ndef f():\n    print(1)\n    return 1\n"
    text += "def g(): return sorted(os.environ)\ndef h(): os._exit(1)\n"
    (tmp_path / "mine.py").write_text(text)
    with StudentCode(tmp_path / "mine.py") as code:
        assert code.call("f") == 1
        assert set(code.call("g")) <= {"PATH", "SYSTEMROOT", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "LC_CTYPE"}
        with pytest.raises(Wrong, match="ended the program"):
            code.call("h")
        assert code.call("f") == 1


def test_the_whole_grading_has_its_time(tmp_path):
    (tmp_path / "mine.py").write_text("import time\ndef minimax(tree, is_max): time.sleep(30)\nbest_move = minimax\n")
    began = time.perf_counter()
    report = grade(assignment_of("minimax"), tmp_path / "mine.py", total=3)
    assert time.perf_counter() - began < 15 and report.points == 0
    assert any("the whole grading" in mark.said for mark in report.marks)


def test_answers_are_compared_as_numbers():
    assert is_same(0.1 + 0.2, 0.3) and is_same(3.0, 3) and is_same([1, [2.0]], (1, [2]))
    assert not is_same("3", 3) and not is_same(True, 1) and not is_same([1], [1, 2]) and not is_same(None, 0)
    assert not is_same(float("nan"), 3)


def test_the_command(tmp_path):
    def run(*arguments):
        result = CliRunner().invoke(app, ["grade", *map(str, arguments)])
        if isinstance(result.exception, TengenError):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.output

    assert all(name in run() for name in ASSIGNMENTS)
    assert "the lecture's tree" in run("minimax")
    run("minimax", "--starter", tmp_path / "mine.py")
    assert (tmp_path / "mine.py").read_text() == assignment_of("minimax").starter
    with pytest.raises(TengenError, match="there already"):
        run("minimax", "--starter", tmp_path / "mine.py")
    assert "NotImplementedError" in run("minimax", tmp_path / "mine.py") and "0 of 10  in all" in run(
        "minimax", tmp_path / "mine.py"
    )
    run("minimax", SOLUTIONS / "minimax.py", "--gradescope", tmp_path / "results.json")
    found = json.loads((tmp_path / "results.json").read_text())
    assert found["score"] == 10 and [test["max_score"] for test in found["tests"]] == [1, 2, 2, 3, 2]
    assert json.loads(run("uct", SOLUTIONS / "uct.py", "--json"))["tests"][0]["status"] == "passed"
    for wrong in (
        ["minmax", tmp_path / "mine.py"],
        ["minimax", tmp_path / "none.py"],
        ["--starter", tmp_path / "x.py"],
    ):
        with pytest.raises(TengenError):
            run(*wrong)


def test_a_student_needs_only_python(tmp_path):
    """The process beside the grader imports nothing of ours."""
    from tengen.course.grading import student

    text = "import sys\ndef f(): return [name for name in sys.modules if name.startswith(('tengen', 'numpy', 'numba'))]"
    (tmp_path / "mine.py").write_text(text)
    with StudentCode(tmp_path / "mine.py") as code:
        assert code.call("f") == []
    done = subprocess.run(
        [sys.executable, "-I", student.__file__, tmp_path / "mine.py", str(1 << 30), "5"],
        input=b"",
        capture_output=True,
    )
    assert json.loads(done.stdout) == {"answer": ["f"]}
