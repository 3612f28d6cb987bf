"""How long does a first answer take on a machine where nothing is compiled yet?

    python bench/cold.py            # both
    python bench/cold.py pages      # each game: its first board, then the first move of the level that a page offers
    python bench/cold.py engines    # eight Gomocup engines that start together, beside one alone

Every row begins with an empty cache of its own. Processor time counts whatever was started.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from websockets.sync.client import ClientConnection, connect

GAMES = ("tictactoe", "connect4", "gomoku", "renju", "reversi", "go:size=9", "go:size=19")
LAST = ("move", "view", "error")


@contextmanager
def empty_cache() -> Iterator[dict[str, str]]:
    """The environment of a process that finds nothing compiled."""
    with tempfile.TemporaryDirectory() as folder:
        yield {**os.environ, "XDG_CACHE_HOME": folder}


def processor_time() -> float:
    """Of all processes that we started, and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# Pages.


def time_page(game: str) -> tuple[float, float, float]:
    """Seconds until the server listens, then to the first board, then to the first move of the level medium."""
    command = [sys.executable, "-m", "tengen", "serve", "--port", "0"]
    began = perf_counter()
    with (
        empty_cache() as cold,
        subprocess.Popen(command, env=cold, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server,
    ):
        try:
            assert server.stdout is not None
            url = server.stdout.readline().split()[3]
            served = perf_counter()
            with connect(url.replace("http", "ws") + "/api/socket") as page:
                ask(page, {"id": 1, "type": "position", "game": game, "moves": []})
                shown = perf_counter()
                ask(page, {"id": 2, "type": "think", "game": game, "moves": [], "agent": "medium"})
            return served - began, shown - served, perf_counter() - shown
        finally:
            server.terminate()


def ask(page: ClientConnection, question: dict[str, object]) -> None:
    """Asks the server, and waits for the answer that ends this."""
    page.send(json.dumps(question))
    while (answer := json.loads(page.recv(120)))["type"] not in LAST:
        pass
    if answer["type"] == "error":
        raise SystemExit(f"{question['game']}: {answer['error']}")


def show_pages() -> None:
    print(f"{'seconds':12} {'served':>8} {'board':>8} {'reply':>8}")
    for game in GAMES:
        print(f"{game:12}" + "".join(f"{seconds:9.2f}" for seconds in time_page(game)), flush=True)
    print()


# Engines.


def time_engines(count: int) -> tuple[float, float, float]:
    """Seconds until the last engine has said OK, until all have moved once, and the processor time of them all."""
    command = [sys.executable, "-m", "tengen", "gomocup"]
    before, began = processor_time(), perf_counter()
    with empty_cache() as cold:
        engines = [
            subprocess.Popen(
                command, env=cold, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            for _ in range(count)
        ]
        for engine in engines:
            assert engine.stdin is not None
            engine.stdin.write("START 15\n")
            engine.stdin.flush()
        for engine in engines:
            assert engine.stdout is not None
            assert engine.stdout.readline() == "OK\n"
        ready = perf_counter()
        for engine in engines:
            assert engine.stdin is not None and engine.stdout is not None
            engine.stdin.write("INFO timeout_turn 300000\nINFO max_node 1000\nBEGIN\n")
            engine.stdin.flush()
        for engine in engines:
            assert engine.stdout is not None
            while "," not in (line := engine.stdout.readline()):
                assert line, "an engine has ended"
        moved = perf_counter()
        for engine in engines:
            engine.communicate("END\n")
    return ready - began, moved - began, processor_time() - before


def show_engines() -> None:
    print(f"{'engines':>8} {'OK':>8} {'moved':>8} {'processor':>10}")
    rows = {count: time_engines(count) for count in (1, 8)}
    for count, (ready, moved, used) in rows.items():
        print(f"{count:8} {ready:8.2f} {moved:8.2f} {used:10.2f}")
    warm = idle_time()
    print(f"an engine that compiles nothing takes {warm:.2f} s of processor time;")
    one, eight = (rows[count][2] - count * warm for count in (1, 8))
    print(f"compiling took {one:.2f} s for one and {eight:.2f} s for eight: {eight / one:.2f} times\n")


def idle_time() -> float:
    """The processor time of an engine whose kernels are there."""
    with empty_cache() as cold:
        command = [sys.executable, "-m", "tengen", "gomocup"]
        said = "START 15\nINFO timeout_turn 300000\nINFO max_node 1000\nBEGIN\nEND\n"
        for _ in range(2):
            before = processor_time()
            subprocess.run(command, env=cold, input=said, text=True, capture_output=True, check=True)
        return processor_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("pages", "engines"))
    what = parser.parse_args().what
    if what != "engines":
        show_pages()
    if what != "pages":
        show_engines()


if __name__ == "__main__":
    main()
