"""Nothing on the way of a player or a trainer needs what POSIX alone has.

Windows itself is not tried here. Its stand-in is a process in which our modules do not find what it does not have, but
for what other packages need on this system.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tengen.records.disk import is_locked, lock

WITHOUT_POSIX = """
import builtins, importlib, os, pkgutil, select, signal, socket, sys

MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "_posixsubprocess"}
GONE = {
    os: "fork forkpty killpg getuid geteuid getgid getegid getpgid setpgid setsid getloadavg sched_getaffinity uname "
    "statvfs sysconf mkfifo chown lchown fchown nice",
    signal: "SIGKILL SIGALRM SIGHUP SIGQUIT SIGUSR1 SIGUSR2 SIGCHLD SIGPIPE alarm setitimer pause pthread_sigmask",
    select: "poll epoll kqueue",
    socket: "AF_UNIX",
}
EXTRAS = {"torch", "onnx", "safetensors", "ray", "cuda", "numba_cuda"}  # what players do without


def import_all():
    import tengen

    skipped = set()
    for module in pkgutil.walk_packages(tengen.__path__, "tengen."):
        if module.name == "tengen.__main__":
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as reason:
            assert reason.name.split(".")[0] in EXTRAS, reason
            skipped.add(module.name)
    return skipped


def forget_posix():
    import_where = builtins.__import__

    def import_here(name, globals=None, *rest):
        if name in MODULES and (globals or {}).get("__name__", "").startswith("tengen"):
            raise ImportError(f"{name} is not there")
        return import_where(name, globals, *rest)

    builtins.__import__ = import_here
    for module, names in GONE.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)


for name in HIDDEN:
    sys.modules[name] = None  # whoever imports it is told that it is not there
skipped = import_all()  # so that all that is not ours is there before something is missing
for name in [name for name in sys.modules if name.partition(".")[0] == "tengen"]:
    del sys.modules[name]
forget_posix()
assert import_all() == skipped
"""

PLAYS = """
from tengen.apps.cli import main

sys.argv = ["tengen", "match", "tictactoe", "random", "random", "--games", "2", "--workers", "0", "--out", sys.argv[1]]
main()
"""

ENDS_ENGINES = """
import time
from tengen.agents.gtp import EngineError, GtpEngine

engine = GtpEngine([sys.executable, "-c", "import time; time.sleep(600)"], timeout=0.1)
try:
    engine.ask("name")
except EngineError as reason:
    print(reason)
print("ended by", -engine.process.returncode)
"""


TRAINS = """
from tengen.apps.cli import main

changes = ["run.generations=1", "selfplay.positions=64", "selfplay.simulations=2", "evaluation.games=2"]
options = [word for change in changes for word in ("--set", change)]
sys.argv = ["tengen", "train", "tictactoe", "--run", sys.argv[1], "--device", "cpu", *options]
main()
"""


def in_stand_in(code, *arguments, hidden=("torch", "ray")):
    """What a program says where there is nothing of POSIX, and nothing of some packages."""
    command = [sys.executable, "-c", f"HIDDEN = {hidden}\n{WITHOUT_POSIX}{code}", *map(str, arguments)]
    environment = os.environ | {"USERNAME": "somebody"}  # as Windows tells it
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_all_modules_are_imported_and_a_match_is_played_without_posix(tmp_path):
    assert "2 games" in in_stand_in(PLAYS, tmp_path / "match")
    assert {"games.db", "lock"} <= set(os.listdir(tmp_path / "match"))


@pytest.mark.slow
def test_a_net_is_trained_without_posix(tmp_path):
    pytest.importorskip("torch")
    assert "complete" in in_stand_in(TRAINS, tmp_path / "run", hidden=("ray",))


def test_an_engine_that_hangs_is_ended_without_groups_of_processes():
    said = in_stand_in(ENDS_ENGINES)
    assert "did not answer 'name' within" in said
    assert said.splitlines()[-1] == "ended by 15"


# Locks.

HOLDER = "import sys; from pathlib import Path; from tengen.records.disk import lock; "
HOLDER += "file = lock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"


def looks_locked(path):
    with path.open("rb") as file:
        return is_locked(file)


def test_a_lock_is_seen_and_is_gone_when_its_process_is_killed(tmp_path):
    path, pipe = tmp_path / "lock", subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdin=pipe, stdout=pipe) as holder:
        assert holder.stdout.readline() == b"held\n"
        assert looks_locked(path)
        with pytest.raises(BlockingIOError):
            lock(path)
        holder.kill()
    assert not looks_locked(path)
    with lock(path):
        assert looks_locked(path)
    assert not looks_locked(path)


def test_those_who_look_at_a_lock_do_not_see_each_other(tmp_path):
    path = tmp_path / "lock"
    path.touch()
    with ThreadPoolExecutor(8) as pool:
        assert not any(pool.map(looks_locked, [path] * 500))
    with lock(path):
        pass
