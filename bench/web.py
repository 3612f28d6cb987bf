"""How quick is the web app, and what does it bear? A server of its own, asked over real sockets.

    python bench/web.py                     # load, replies and 100 games
    python bench/web.py games --count 300 --game gomoku:size=9 --agent uct:playouts=200
    python bench/web.py frames              # in Chromium: first paint, and frames while agents think
    python bench/web.py levels --games 40   # does each level beat the one below? minutes

`load` is what a browser fetches, all pages together; `replies` is a server that has just started and whose kernels are
compiled already (run it twice): the first move of each level, which loads them, and the second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

from tengen.apps.web.levels import LEVELS, levels_of
from tengen.games import load_game

GAMES = ("tictactoe", "connect4", "gomoku", "renju", "reversi", "go:size=9")
LAST = ("move", "view", "done", "error")
REFERENCE = re.compile(r'"(\.{0,2}/?[\w./-]+\.(?:js|css|svg))"')


@contextmanager
def server() -> Iterator[str]:
    """The address of a server that has just started."""
    command = [sys.executable, "-m", "tengen", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[3]
        finally:
            process.terminate()


# Load.


def show_load() -> None:
    began = perf_counter()
    with server() as url:
        print(f"started in {perf_counter() - began:.2f} s")
        began = perf_counter()
        files = fetch(url)
        seconds = perf_counter() - began
    print(f"{'file':32} {'bytes':>8} {'sent':>8}")
    for name, (size, sent) in sorted(files.items()):
        print(f"{name:32} {size:8,} {sent:8,}")
    total, sent = (sum(row[i] for row in files.values()) for i in (0, 1))
    print(f"{'all pages together':32} {total:8,} {sent:8,}  in {1000 * seconds:.0f} ms\n")


def fetch(url: str) -> dict[str, tuple[int, int]]:
    """The page and whatever its files name, each with its size and with what went over the wire."""
    found: dict[str, tuple[int, int]] = {}
    waiting = ["index.html"]
    with httpx.Client(base_url=url) as client:
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            with client.stream("GET", f"/{name}") as answer:
                sent = sum(len(piece) for piece in answer.iter_raw())
            if answer.status_code != 200:
                continue  # it looked like the name of a file, and was none
            text = client.get(f"/{name}").text
            found[name] = len(text.encode()), sent
            base = httpx.URL(f"http://x/{name}")
            for reference in REFERENCE.findall(text):
                waiting.append(base.join(reference).path.removeprefix("/"))
    return found


# Replies.


async def ask(page: ClientConnection, **message: Any) -> tuple[dict[str, Any], float]:
    """The last answer to a message, and the seconds it took."""
    began = perf_counter()
    await page.send(json.dumps({"id": 1, **message}))
    while True:
        answer = json.loads(await page.recv())
        if answer["type"] in LAST:
            return answer, perf_counter() - began


async def time_replies(url: str, game: str) -> Iterator[tuple[str, float, float]]:
    rows = []
    async with connect(url.replace("http", "ws") + "/api/socket") as page:
        for level in LEVELS:
            first, took = await ask(page, type="think", game=game, moves=[], agent=level)
            if first["type"] == "error":
                raise SystemExit(f"{game}, {level}: {first['error']}")
            _, again = await ask(page, type="think", game=game, moves=[first["move"]], agent=level)
            rows.append((level, took, again))
    return iter(rows)


def show_replies() -> None:
    print(f"{'seconds for a move':20}" + "".join(f"{level:>18}" for level in LEVELS))
    for game in GAMES:
        with server() as url:
            rows = asyncio.run(time_replies(url, game))
            print(f"{game:20}" + "".join(f"{f'{took:.2f}, then {again:.2f}':>18}" for _, took, again in rows))
    print()


# Many games at once.


async def play_game(url: str, game: str, agent: str, waits: list[float]) -> str:
    """Plays a game to its end; returns how it ended, or the error that ended it."""
    async with connect(url.replace("http", "ws") + "/api/socket", open_timeout=60) as page:
        moves: list[str] = []
        while True:
            view, _ = await ask(page, type="position", game=game, moves=moves)
            if view["type"] == "error" or view["outcome"]:
                return view.get("error") or view["outcome"]
            answer, took = await ask(page, type="think", game=game, moves=moves, agent=agent)
            if answer["type"] != "move":
                return answer.get("error", answer["type"])
            waits.append(took)
            moves.append(answer["move"])


def show_games(count: int, game: str, agent: str) -> None:
    waits: list[float] = []

    async def play_all(url: str) -> list[str | BaseException]:
        games = (play_game(url, game, agent, waits) for _ in range(count))
        return await asyncio.gather(*games, return_exceptions=True)

    with server() as url:
        began = perf_counter()
        ends = Counter(end if isinstance(end, str) else repr(end) for end in asyncio.run(play_all(url)))
        seconds = perf_counter() - began
    errors = sum(times for end, times in ends.items() if end not in ("first", "second", "draw"))
    cuts = statistics.quantiles(waits, n=100)
    print(f"{count} games of {game} at once, {agent}: {errors} errors, {seconds:.1f} s, {len(waits)} moves")
    print(
        f"a move took {1000 * cuts[49]:.0f} ms (median), {1000 * cuts[98]:.0f} ms (99%), {max(waits):.2f} s (longest)"
    )
    print("ended as", ", ".join(f"{end}: {times}" for end, times in ends.most_common(8)), "\n")


# Levels.


def show_levels(games: int) -> None:
    """Each level against the one below; the strongest has a fifth of a second."""
    for name in GAMES:
        specs = [level.spec.replace("time=1", "time=0.2") for level in levels_of(load_game(name))]
        for level, spec, below in zip(LEVELS[1:], specs[1:], specs, strict=False):
            command = ["match", name, spec, below, "--games", str(games), "--opening", "2", "--workers", "1", "--json"]
            said = subprocess.run([sys.executable, "-m", "tengen", *command], capture_output=True, text=True)
            score = json.loads(said.stdout)
            points = (score["wins"] + score["draws"] / 2) / games
            print(f"{name:12} {level:10} {spec:44} {points:6.1%} against {below}", flush=True)


# Frames.

WATCH = """
window.longTasks = []; window.frames_ = []; let last = performance.now();
new PerformanceObserver((list) => list.getEntries().forEach((entry) => window.longTasks.push(entry.duration)))
  .observe({type: "longtask", buffered: true});
const look = (now) => { window.frames_.push(now - last); last = now; requestAnimationFrame(look); };
requestAnimationFrame(look);
"""
THINKING = 10  # seconds


def show_frames() -> None:
    """Two agents play on the page; what is counted begins two seconds after it was opened."""
    from playwright.sync_api import sync_playwright

    arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    print(f"{'page':44} {'paint':>7} {'frames':>7} {'longest':>8} {'over 50 ms':>11} {'long tasks':>11}")
    with server() as url, sync_playwright() as driver:
        chrome = driver.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        for game in ("gomoku", "go:size=9", "reversi"):
            for width, height in ((360, 740), (1280, 800), (1920, 1080)):
                page = chrome.new_page(viewport={"width": width, "height": height})
                page.add_init_script(WATCH)
                page.goto(f"{url}/#/play?game={game}&first=strongest&second=strongest")
                page.wait_for_timeout(2000)
                paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1")
                page.evaluate("() => { window.longTasks.length = 0; window.frames_.length = 0; }")
                page.wait_for_timeout(1000 * THINKING)
                frames, tasks = page.evaluate("() => [window.frames_, window.longTasks]")
                late = sum(frame > 50 for frame in frames)
                name = f"{game}, {width}×{height}"
                print(
                    f"{name:44} {paint:4.0f} ms {len(frames):7} {max(frames):5.0f} ms {late:11} {len(tasks):11}",
                    flush=True,
                )
                page.close()
        chrome.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "what", nargs="*", default=["load", "replies", "games"], help="load, replies, games, frames, levels"
    )
    parser.add_argument("--count", type=int, default=100, help="of games at once")
    parser.add_argument("--game", default="connect4")
    parser.add_argument("--agent", default="uct:playouts=200")
    parser.add_argument("--games", type=int, default=40, help="of each pair of levels")
    options = parser.parse_args()
    parts = {
        "load": show_load,
        "replies": show_replies,
        "games": lambda: show_games(options.count, options.game, options.agent),
        "frames": show_frames,
        "levels": lambda: show_levels(options.games),
    }
    for what in options.what:
        if what not in parts:
            parser.error(f"there is no {what!r}; there is {', '.join(parts)}")
        parts[what]()


if __name__ == "__main__":
    main()
