"""The kernel cache: a second start compiles nothing, an edited rule never runs stale, games never meet."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from types import ModuleType

import numpy as np
import pytest
from numba.core import config

from tengen import load_game
from tengen.rules import kernel_cache, kernels
from tengen.rules.contract import ONGOING
from tengen.rules.fingerprint import Unkeepable, is_foreign
from tengen.rules.game import START, step
from tengen.rules.kernel_cache import Untrusted, cache_folder
from tengen.rules.plain import run_plain

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "breakthrough.py"


class Machine:
    """A kernel cache and a copy of the package of its own; every command is a new process."""

    def __init__(self, folder):
        self.folder = folder
        left_out = shutil.ignore_patterns("__pycache__", "models", "static")
        shutil.copytree(ROOT / "src" / "tengen", folder / "tengen", ignore=left_out)

    def perft(self, spec, depth, **environment):
        """What `tengen perft` prints, and whether something was compiled."""
        return self.run("-m", "tengen", "perft", str(spec), str(depth), "--json", **environment)

    def run(self, *arguments, python=sys.executable, **environment):
        output, errors = self.run_and_listen(*arguments, python=python, **environment)
        return output, "compiling" in errors

    def run_and_listen(self, *arguments, python=sys.executable, **environment):
        """What a process prints, and what it says on stderr."""
        command = [python, *arguments]
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        result = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=600,
            cwd=self.folder,
            env={
                **inherited,
                "XDG_CACHE_HOME": str(self.folder / "cache"),
                "PYTHONPATH": str(self.folder),
                **environment,
            },
        )
        assert result.returncode == 0, result.stderr
        return result.stdout.strip(), result.stderr

    def edit(self, path, old, new):
        text = (self.folder / path).read_text()
        assert text.count(old) == 1
        (self.folder / path).write_text(text.replace(old, new))


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_second_start_compiles_nothing(machine):
    first, compiled = machine.perft("tictactoe", 3)
    again, compiled_again = machine.perft("tictactoe", 3)
    assert (first, compiled) == (again, True)
    assert not compiled_again


def test_other_parameters_compile_nothing(machine):
    machine.perft("mnk:m=16,n=9,k=3", 1)
    assert machine.perft("mnk:m=11,n=7,k=5", 1) == ('{"counts": [77]}', False)


def test_edited_rule_of_the_package(machine):
    assert machine.perft("mnk:m=1,n=3,k=2", 3)[0] == '{"counts": [3, 6, 6]}'
    machine.edit("tengen/games/mnk.py", "    if lines.has_row(state.lines[player], x, y, game.k):", "    if True:")
    assert machine.perft("mnk:m=1,n=3,k=2", 3) == ('{"counts": [3, 0, 0]}', True)


def test_edited_helper_of_the_package(machine):
    assert machine.perft("tictactoe", 2)[0] == '{"counts": [9, 72]}'
    machine.edit(
        "tengen/rules/lines.py", "for y in range(rows):\n        empty =", "for y in range(rows - 1):\n        empty ="
    )
    assert machine.perft("tictactoe", 2) == ('{"counts": [6, 30]}', True)


def test_edited_rule_helper_and_constant_of_a_user(machine):
    shutil.copy(EXAMPLE, machine.folder / "mine.py")
    machine.edit("mine.py", "for x in range(2 * game.size):", "for x in range(ROWS * game.size):")
    machine.edit("mine.py", "RECORD = np.dtype(", "ROWS = 2\nRECORD = np.dtype(")
    assert machine.perft("mine.py:size=5", 3) == ('{"counts": [13, 156, 1924]}', True)
    assert machine.perft("mine.py:size=5", 3) == ('{"counts": [13, 156, 1924]}', False)
    machine.edit("mine.py", "ROWS = 2", "ROWS = 1")
    assert machine.perft("mine.py:size=5", 3) == ('{"counts": [13, 169, 1911]}', True)  # as OpenSpiel counts
    machine.edit("mine.py", "is_free = there == 0 or (", "is_free = (")  # in a helper: no step on an empty cell
    assert machine.perft("mine.py:size=5", 1) == ('{"counts": [0]}', True)
    machine.edit("mine.py", "is_free = (", "is_free = dx != 0 or (")
    machine.edit("mine.py", "for dx in range(-1, 2):", "for dx in range(0, 2):")  # in a rule
    assert machine.perft("mine.py:size=5", 1) == ('{"counts": [4]}', True)


def test_words_compile_nothing(machine):
    """Messages, comments, docstrings, Python's half of a game and its folder are no part of the machine code."""
    shutil.copy(EXAMPLE, machine.folder / "mine.py")
    machine.perft("mine.py:size=5", 2)
    machine.edit("tengen/rules/errors.py", "A game's file does not keep the contract.", "Another sentence.")
    machine.edit("tengen/rules/bits.py", "ONE = np.uint64(1)", "ONE = np.uint64(1)  # a comment\n")
    machine.edit("tengen/rules/contract.py", '"""A 64-bit hash of a 64-bit number', '"""Hashes')
    machine.edit("tengen/rules/game.py", "the game is over ({how})", "it is over ({how})")
    machine.edit("mine.py", '"""reach the far row', '"""A comment.\n\n    Reach the far row')
    machine.edit("mine.py", "RECORD = np.dtype(", "def unused(): return 7\n\n\nRECORD = np.dtype(")
    (machine.folder / "elsewhere").mkdir()
    shutil.move(machine.folder / "mine.py", machine.folder / "elsewhere")
    assert machine.perft("elsewhere/mine.py:size=5", 2) == ('{"counts": [13, 156]}', False)


def test_only_the_edited_game_is_compiled(machine):
    machine.perft("connect4", 1), machine.perft("tictactoe", 1)
    machine.edit(
        "tengen/games/mnk.py",
        "state.ply == game.m * game.n:\n        state.result = DRAW\n\n\n@",
        "False:\n        state.result = DRAW\n\n\n@",
    )
    assert machine.perft("tictactoe", 1)[1]
    assert not machine.perft("connect4", 1)[1]


WAYS = """
from pathlib import Path
from typing import Annotated, NamedTuple

import helper
import numpy as np

from tengen.rules.board import Between
from tengen.rules.contract import kernel, rules

ONE, OTHER, DEFAULT = (int(word) for word in Path(__file__).with_name("numbers.txt").read_text().split())
exec(Path(__file__).with_name("piece.txt").read_text())


class Ways(NamedTuple):
    size: Annotated[int, Between(1, 9)] = 1
    planes = ("nothing",)
    shape = (1, 1)
    actions = 1000

    def record(self):
        return np.dtype([("ply", np.int16), ("to_play", np.uint8)], align=True)

    def board(self, state):
        return np.zeros((1, 1), np.int8)


def counter(number):
    @kernel
    def count():
        return number

    return count


once, twice = counter(ONE), counter(OTHER)


@kernel
def by_default(number=DEFAULT):
    return number


def define(step):
    @rules(Ways)
    def legal(game, state, actions):
        count = once() + 2 * twice() + by_default() + from_text() + helper.more() + step
        for i in range(count):
            actions[i] = i
        return count


define(len(Path(__file__).with_name("piece.txt").read_text()) % 2)


@rules(Ways)
def start(game, state):
    pass


@rules(Ways)
def play(game, state, action):
    state.ply += 1


@rules(Ways)
def outcome(game, state):
    return 0


@rules(Ways)
def key(game, state):
    return np.uint64(state.ply)


@rules(Ways)
def encode(game, state, planes):
    planes[:] = 0
"""
PIECE = "@kernel\ndef from_text():\n    return {number}\n"


@pytest.fixture
def elsewhere(tmp_path):
    """A Python whose packages, NumPy too, lie outside its own folders, as those of `pip install --user` do."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True, timeout=120)
    python = tmp_path / "venv" / "bin" / "python"
    command = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    folder = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout.strip()
    (Path(folder) / "elsewhere.pth").write_text(sysconfig.get_path("purelib"))
    return str(python), Path(folder)


def test_every_way_to_change_a_game(machine, elsewhere):
    """Closures, defaults, factories, text that is run, and a helper among installed packages; NumPy lies elsewhere."""
    python, packages = elsewhere
    files = {
        "mine.py": WAYS,
        "numbers.txt": "1 2 4",
        "piece.txt": PIECE.format(number=0),
        packages / "helper.py": "from tengen.rules.contract import kernel\n\n@kernel\ndef more():\n    return 8\n",
    }
    for name, text in files.items():
        (machine.folder / name).write_text(text)

    def count():
        counts, compiled = machine.perft("mine.py", 1, python=python)
        return json.loads(counts)["counts"][0], compiled

    assert [count(), count()] == [(17, True), (17, False)]
    changes = [
        ("numbers.txt", "2 1 4", 16),  # what a factory was given
        ("numbers.txt", "2 1 5", 17),  # a default
        ("piece.txt", PIECE.format(number=3), 20),  # text that is run
        ("piece.txt", PIECE.format(number=3) + "\n", 21),  # a rule's own closure
        (packages / "helper.py", files[packages / "helper.py"].replace("8", "9"), 22),
        ("mine.py", WAYS.replace("once, twice =", "twice, once ="), 23),  # the same functions under other names
    ]
    for name, text, wanted in changes:
        (machine.folder / name).write_text(text)
        assert count() == (wanted, True), name


HELPER = """
from pathlib import Path

from numba import int64, types, vectorize
from numba.experimental import jitclass
from numba.extending import overload_method, register_jitable

from tengen.rules.contract import kernel


@jitclass([("size", int64)])
class Box:
    def __init__(self):
        self.size = 1

    def more(self):
        return self.size


@vectorize(["int64(int64)"])
def up(number):
    return number + 2


@overload_method(types.UnicodeType, "worth")
def worth(text):
    return lambda text: 4


def counter(number):
    @register_jitable
    def count():
        return number

    return count


given = counter(int(Path(__file__).with_name("given.txt").read_text()))


@kernel
def more():
    return Box().more() + up(0) + "".worth() + given()
"""


def test_every_way_of_numbas_to_make_a_helper(machine):
    """A class, a function for the cells of arrays, a method of a type of Numba's, plain Python that is compiled in."""
    piece = PIECE.format(number=0)
    files = {"mine.py": WAYS, "numbers.txt": "0 0 0", "piece.txt": piece + "\n" * (len(piece) % 2), "given.txt": "8"}
    changes = [
        ("helper.py", HELPER, 15),
        ("helper.py", HELPER.replace("self.size = 1", "self.size = 2"), 16),
        ("helper.py", HELPER.replace("number + 2", "number + 4"), 17),
        ("helper.py", HELPER.replace("lambda text: 4", "lambda text: 7"), 18),
        ("given.txt", "9", 19),
    ]
    for name, text in files.items():
        (machine.folder / name).write_text(text)
    for name, text, wanted in changes:
        (machine.folder / name).write_text(text)
        assert machine.perft("mine.py", 1) == (f'{{"counts": [{wanted}]}}', True), text


def test_parameters_that_change_places(machine):
    """Numba's type of a NamedTuple does not know the names of its fields."""
    shutil.copy(EXAMPLE, machine.folder / "mine.py")
    one = "    size: Annotated[int, Between(4, 8)] = 8\n"
    other = "    rows: Annotated[int, Between(1, 2)] = 2\n"
    machine.edit("mine.py", one, one + other)
    machine.edit("mine.py", "for x in range(2 * game.size):", "for x in range(game.rows * game.size):")
    assert machine.perft("mine.py:size=5,rows=1", 2)[0] == '{"counts": [13, 169]}'
    machine.edit("mine.py", one + other, other + one)
    assert machine.perft("mine.py:size=5,rows=1", 2) == ('{"counts": [13, 169]}', True)


def test_constants_of_other_modules_and_in_large_tables(machine):
    shutil.copy(EXAMPLE, machine.folder / "mine.py")
    (machine.folder / "pack").mkdir()
    (machine.folder / "pack" / "__init__.py").write_text("")
    (machine.folder / "pack" / "tables.py").write_text(
        "import numpy as np\nTABLES = (np.full(3000, 2), np.full(3000, 2))\n"
    )
    machine.edit(
        "mine.py", "for x in range(2 * game.size):", "for x in range(pack.tables.TABLES[1][1500] * game.size):"
    )
    machine.edit("mine.py", "import numpy as np\n", "import numpy as np\nimport pack.tables\n")
    assert machine.perft("mine.py:size=5", 2)[0] == '{"counts": [13, 156]}'
    (machine.folder / "pack" / "tables.py").write_text(
        "import numpy as np\nTABLES = (np.full(3000, 2), np.full(3000, 1))\n"
    )
    assert machine.perft("mine.py:size=5", 2) == ('{"counts": [13, 169]}', True)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_damaged_kernels_are_compiled_anew(machine, damage):
    machine.perft("connect4", 2)
    paths = list((machine.folder / "cache").rglob("*.kernel"))
    assert paths
    for path in paths:
        data = bytearray(path.read_bytes())
        if damage == "flip":
            data[-len(data) // 3] ^= 1
        path.write_bytes({"cut": data[: len(data) // 2], "flip": data, "empty": b""}[damage])
    assert machine.perft("connect4", 2) == ('{"counts": [7, 49]}', True)
    assert machine.perft("connect4", 2) == ('{"counts": [7, 49]}', False)


def test_a_cache_that_cannot_be_written(machine):
    (machine.folder / "file").write_text("")
    counts, compiled = machine.perft("connect4", 2, XDG_CACHE_HOME=str(machine.folder / "file"))
    assert (counts, compiled) == ('{"counts": [7, 49]}', True)


@pytest.fixture
def traps(tmp_path):
    """Folders that somebody else may have written to, each with what is said of it."""
    if not hasattr(os, "getuid"):
        pytest.skip("this system has no owners of files")
    for name in ("open", "above/mine", "true", "given"):
        (tmp_path / name / "tengen" / "kernels").mkdir(parents=True)
    (tmp_path / "open" / "tengen" / "kernels").chmod(0o777)
    (tmp_path / "above").chmod(0o777)
    (tmp_path / "link" / "tengen").mkdir(parents=True)
    (tmp_path / "link" / "tengen" / "kernels").symlink_to(tmp_path / "true")
    found = {"open": "others may write", "above/mine": "others may write", "link": "is a link"}
    if os.getuid() == 0:  # nobody else can give a folder away
        os.chown(tmp_path / "given" / "tengen" / "kernels", 12345, 12345)
        (tmp_path / "led").symlink_to(tmp_path / "led-to")
        (tmp_path / "led-to" / "tengen" / "kernels").mkdir(parents=True)
        os.chown(tmp_path / "led", 12345, 12345, follow_symlinks=False)
        found |= dict.fromkeys(("given", "led"), "belongs to somebody else")
    return {tmp_path / name: words for name, words in found.items()}


def test_folders_of_others_are_not_looked_into(traps, monkeypatch):
    for base, words in traps.items():
        monkeypatch.setenv("XDG_CACHE_HOME", str(base))
        monkeypatch.setattr(config, "CACHE_DIR", "")
        with pytest.raises(Untrusted, match=words):
            cache_folder()
        monkeypatch.setattr(config, "CACHE_DIR", str(base / "tengen" / "kernels"))  # NUMBA_CACHE_DIR
        with pytest.raises(Untrusted, match=words):
            cache_folder()


@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "NUMBA_CACHE_DIR"])
def test_kernels_of_others_are_not_run(machine, traps, variable):
    """Nothing is read from there, and nothing written; it is said why."""
    base = next(iter(traps))
    folder = base / "tengen" / "kernels"
    value = base if variable == "XDG_CACHE_HOME" else folder
    counts, said = machine.run_and_listen("-m", "tengen", "perft", "connect4", "1", "--json", **{variable: str(value)})
    assert counts == '{"counts": [7]}'
    assert "others may write" in said and "it is kept on disk" not in said
    assert list(folder.iterdir()) == []


def test_a_kernel_that_another_could_have_written_is_not_run(machine):
    machine.perft("connect4", 1)
    for path in (machine.folder / "cache").rglob("*.kernel"):
        path.chmod(0o666)
    assert machine.perft("connect4", 1) == ('{"counts": [7]}', True)
    assert machine.perft("connect4", 1) == ('{"counts": [7]}', False)


TOGETHER = """
import tengen
from numba.core import event
from tengen.rules.kernel_cache import KernelCache
from tengen.rules.playouts import perft

class Listener(event.Listener):
    def on_start(self, event):
        if isinstance(event.data["dispatcher"]._cache, KernelCache):
            print(event.data["dispatcher"].__name__, event.data["args"])

    def on_end(self, event):
        pass

event.register("numba:compile", Listener())
assert perft(tengen.load_game("connect4").start(), 2) == 49
"""


def test_processes_that_start_together_compile_once(machine):
    """Which of them compiles an entry point is a matter of luck; no other does."""
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda number: machine.run("-c", TOGETHER)[0], range(4)))
    compiled = "\n".join(filter(None, told)).splitlines()
    assert {line.partition("_")[0] for line in compiled} == {"step", "count"}
    assert len(compiled) == 2


HOLDER = """
import sys, time
from pathlib import Path
from tengen.rules.kernel_cache import KernelCache

folder = Path(sys.argv[1])
cache = KernelCache(folder, "step", "go")
assert cache._is_our_turn(folder / "step.kernel")
print("it compiles", flush=True)
time.sleep(1000)
"""


def test_whoever_dies_while_others_wait_holds_up_nobody(tmp_path, monkeypatch):
    with subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path], stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout.readline() == "it compiles\n"
            waiting = kernel_cache.KernelCache(tmp_path, "step", "go")
            monkeypatch.setattr(kernel_cache, "LONGEST_WAIT", 0.1)
            assert not waiting._is_our_turn(tmp_path / "step.kernel")
        finally:
            holder.kill()
    monkeypatch.setattr(kernel_cache, "LONGEST_WAIT", 300.0)
    assert waiting._is_our_turn(tmp_path / "step.kernel")
    waiting.release()


AT_ONCE = """
import threading, tengen
from tengen.rules.game import step
from tengen.rules.kernels import at_once

game = tengen.load_game("connect4")
with at_once():
    position = game.start().play("4").play("4")
(native,) = step._native.values()
print(position.diagram(), len(native.overloads))
for thread in threading.enumerate():
    if thread.daemon:
        thread.join()
print(position == game.start().play("4").play("4"), len(native.overloads))
"""


def test_a_first_position_waits_for_no_compiler(machine):
    first = "......./......./......./......./...O.../...X... 0"
    assert machine.run("-c", AT_ONCE)[0].splitlines() == [first, "True 1"]
    assert machine.run("-c", AT_ONCE)[0].splitlines() == [first.replace(" 0", " 1"), "True 1"]


@pytest.mark.parametrize("spec", ["gomoku:size=9,rule=renju", "reversi", "go:size=5", str(EXAMPLE)])
def test_plain_python_says_the_same(spec):
    """The compiled rules and the same functions as plain Python, in the same process."""
    game = load_game(spec)
    states, actions = {}, {}
    for run in (step, partial(run_plain, step.function)):
        random, states[run], actions[run] = Random(5), game.new_states(1), np.zeros(game.actions, np.int32)
        told = [run(game.parameters, states[run], START, actions[run])]
        while told[-1][0] == ONGOING and len(told) < 60:
            action = int(random.choice(actions[run][: told[-1][1]]))
            told.append(run(game.parameters, states[run], action, actions[run]))
        states[run] = states[run].tobytes(), [tuple(map(float, answer)) for answer in told]
    one, other = states.values()
    assert one == other and len(one[1]) > 10


NARROW = """
import tengen
from tengen.rules.kernels import at_once

game = tengen.load_game("narrow.py")
with at_once():
    print(len(game.start().legal_actions))
"""


def test_a_game_of_ones_own_does_not_begin_in_plain_python(machine):
    """In machine code a number of 8 bits becomes wider in a sum; in plain Python it overflows, and nobody says so."""
    shutil.copy(EXAMPLE, machine.folder / "narrow.py")
    machine.edit("narrow.py", "y += -1 if state.to_play == 0 else 1", "y += 2 * state.to_play - 1")
    assert machine.run("-c", NARROW)[0] == "22"


def test_a_module_that_is_called_as_one_of_pythons_is_looked_into(monkeypatch, tmp_path):
    """`import test` finds a folder of the user's before Python's own tests."""
    assert is_foreign("math") and is_foreign("statistics") and is_foreign("numpy.random")
    monkeypatch.setitem(sys.modules, "test", ModuleType("test"))
    spec = importlib.util.spec_from_file_location("test", tmp_path / "test" / "__init__.py")
    monkeypatch.setattr(sys.modules["test"], "__spec__", spec)
    monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
    is_foreign.cache_clear()
    assert not is_foreign("test.tables")
    assert not is_foreign("cuda")
    is_foreign.cache_clear()


def test_copies_of_a_game_never_meet(machine):
    """The same file under two names: neither process can import the other's class, and neither has to."""
    for name in ("one.py", "other.py", "one.py"):
        shutil.copy(EXAMPLE, machine.folder / name)
        assert machine.perft(f"{name}:size=5", 2)[0] == '{"counts": [13, 156]}'
    (machine.folder / "one.py").unlink()
    assert machine.perft("other.py:size=5", 2) == ('{"counts": [13, 156]}', False)


PLAYOUTS = """
import sys, tengen
from tengen.rules.playouts import playouts
for spec in sys.argv[1:]:
    print(playouts(tengen.load_game(spec).start(), 20, seed=1))
"""


EVERYTHING = """
import tengen
from numba.core import event
from tengen.rules.playouts import perft, playouts

class Listener(event.Listener):
    def on_start(self, event):
        print(event.data["dispatcher"].py_func.__qualname__)

    def on_end(self, event):
        pass

event.register("numba:compile", Listener())
game = tengen.load_game("gomoku:size=8,rule=renju")
agent, position = tengen.load_agent("uct:playouts=50", game), game.start()
for _ in range(3):
    position = position.play(agent.choose(position).action)
position.encode(), position.forbidden(), game.from_board(position.diagram())
perft(position, 1), playouts(position, 1, seed=1)
"""


def test_nothing_at_all_is_compiled_twice(machine):
    """No kernel is called from Python but through an entry point, which is kept."""
    assert machine.run("-c", EVERYTHING)[0] != ""
    assert machine.run("-c", EVERYTHING) == ("", False)


OTHERS = pytest.param(("go:size=9", "go:size=13"), marks=pytest.mark.long)


@pytest.mark.parametrize("specs", [OTHERS, ("mnk:m=8,n=8,k=5", "gomoku:size=8")])
def test_kernels_of_two_processes_work_together_in_a_third(machine, specs):
    """Their helpers may have got the same names; whose is called then must not be a matter of luck."""
    alone = [machine.run("-c", PLAYOUTS, spec)[0] for spec in specs]
    assert machine.run("-c", PLAYOUTS, *specs) == ("\n".join(alone), False)


def test_checked_kernels_are_not_mixed_with_unchecked_ones(machine):
    machine.perft("tictactoe", 1)
    assert machine.perft("tictactoe", 1, NUMBA_BOUNDSCHECK="1")[1]
    assert not machine.perft("tictactoe", 1)[1]


def test_threads_make_an_entry_point_once_and_one_after_the_other(monkeypatch):
    under_way, seen = [], []

    def slow_fingerprint(function, *kinds):
        under_way.append(function)
        seen.append(len(under_way))
        time.sleep(0.05)
        under_way.pop()
        raise Unkeepable("a test")

    monkeypatch.setattr(kernels, "fingerprint", slow_fingerprint)
    game = load_game("tictactoe").parameters
    entries = [kernels.entry(lambda game, number: number + 1), kernels.entry(lambda game, number: number + 2)]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda place: entries[place % 2](game, place), range(6))) == [1, 3, 3, 5, 5, 7]
    assert seen == [1, 1]


def test_without_jit_the_same_counts(machine):
    assert machine.perft("connect4", 3, NUMBA_DISABLE_JIT="1") == ('{"counts": [7, 49, 343]}', False)
