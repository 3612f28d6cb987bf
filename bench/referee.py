"""Do other people's programs agree with our engine? Whole games over the Go Text Protocol, by a controller of its own.

    python bench/referee.py go --games 100       # against GNU Go; a second GNU Go follows every move and scores
    python bench/referee.py reversi --games 20   # the same with GRhino, which is never sent a pass
    python bench/referee.py clock --games 200    # fast games by this controller's clock: is a game ever lost on time?

Nothing here is shared with the engine: the controller is a pipe, a clock and the protocol's text, and it is strict. It
stops at the first reply that is not as the protocol says, the first move that somebody refuses, and the first score
that two programs count differently.
"""

from __future__ import annotations

import argparse
import queue
import re
import shlex
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

TENGEN = [str(Path(sys.executable).parent / "tengen"), "gtp"]
GNUGO = "gnugo --mode gtp --chinese-rules --positional-superko --capture-all-dead --never-resign"
RHINO = "gtp-rhino -l 1 -r 10"
KOMI = 7.5
SIGN = {"black": 1, "white": -1}
MOST_MOVES = 1000
REPLY = re.compile(r"([=?])(\d+)(?:[ \n](.*))?", re.DOTALL)

CLOCKS = [  # game, agent, what both sides are told, seconds of main time, seconds and moves of overtime
    ("connect4", "uct:threads=1", "time_settings 1 0 0", 1.0, 0.0, 0),
    ("reversi:size=6", "alphabeta", "time_settings 2 0 0", 2.0, 0.0, 0),
    ("gomoku:size=7", "alphabeta", "kgs-time_settings byoyomi 0 0.1 1", 0.0, 0.1, 1),
    ("go:size=5,komi=0.5", "uct:threads=1", "time_settings 0.5 1 10", 0.5, 1.0, 10),
]


class Dispute(Exception):
    """Something that must not happen."""


class Engine:
    """A process that is asked in the protocol's way, with numbered commands."""

    def __init__(self, name: str, command: list[str]):
        self.name, self.number, self.lines = name, 0, queue.SimpleQueue()
        program = command[0] if Path(command[0]).exists() else find(command[0])
        self.process = subprocess.Popen(
            [program, *command[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def ask(self, command: str, patience: float = 300.0) -> str:
        """The text of a good reply to a command; raises Dispute for any other."""
        self.number += 1
        if not self.lines.empty():
            raise Dispute(f"{self.name} said more than it was asked, before {command!r}: {self.lines.get()!r}")
        self.process.stdin.write(f"{self.number} {command}\n")
        self.process.stdin.flush()
        lines = []
        while True:
            try:
                line = self.lines.get(timeout=patience)
            except queue.Empty:
                raise Dispute(f"{self.name} is silent after {command!r}") from None
            if line is None:
                raise Dispute(f"{self.name} died at {command!r}")
            if not line.strip():
                break
            lines.append(line)
        match = REPLY.fullmatch("\n".join(lines))
        if match is None or int(match[2]) != self.number:
            raise Dispute(f"{self.name} replied to {self.number} {command!r} with {lines}")
        if match[1] == "?":
            raise Dispute(f"{self.name} refused {command!r}: {match[3]}")
        return (match[3] or "").strip()

    def close(self) -> None:
        self.ask("quit")
        if self.process.wait(timeout=20) != 0:
            raise Dispute(f"{self.name} ended with status {self.process.returncode}")


def find(program: str) -> str:
    """The path of a program, which may stand where Debian puts games."""
    found = subprocess.run(["which", program], capture_output=True, text=True).stdout.strip()
    return found or f"/usr/games/{program}"


def play_go(ours: Engine, theirs: Engine, referee: Engine, size: int, is_black: bool) -> str:
    """One game; returns our score, which the others agree on, but for eyes in a seki."""
    everybody = (ours, theirs, referee)
    for engine in everybody:
        for command in (f"boardsize {size}", "clear_board", f"komi {KOMI}"):
            engine.ask(command)
    passes, moves = 0, 0
    while passes < 2:
        colour = "bw"[moves % 2]
        mover = ours if (colour == "b") == is_black else theirs
        vertex = mover.ask(f"genmove {colour}").lower()
        for engine in everybody:
            if engine is not mover:
                engine.ask(f"play {colour} {vertex}")
        passes = passes + 1 if vertex == "pass" else 0
        moves += 1
        if moves > MOST_MOVES:
            raise Dispute("the game does not end")
    scores = {engine.name: engine.ask("final_score") for engine in everybody}
    if len(set(scores.values())) > 1:
        if not is_seki(referee, scores):
            boards = "\n".join(engine.ask("showboard") for engine in (ours, referee))
            raise Dispute(f"the scores differ: {scores}\n{boards}\n{ours.ask('printsgf')}")
        print(f"a seki, in which GNU Go counts no eyes: {scores}")
    return scores[ours.name]


def is_seki(referee: Engine, scores: dict[str, str]) -> bool:
    """Whether a seki explains that scores differ: area scoring counts eyes in it, GNU Go does not.

    The area is counted here, on the referee's board, both ways; each program must have the score of its way.
    """
    stones = {point: colour for colour in ("black", "white") for point in referee.ask(f"list_stones {colour}").split()}
    seki = set(referee.ask("final_status_list seki").split())
    size = int(referee.ask("query_boardsize"))
    points = {f"{letter}{row}" for letter in "ABCDEFGHJKLMNOPQRST"[:size] for row in range(1, size + 1)}
    whole, without = -KOMI, -KOMI
    for colour in stones.values():
        whole, without = whole + SIGN[colour], without + SIGN[colour]
    empty = points - stones.keys()
    while empty:
        region, border = [empty.pop()], set()
        for point in region:  # grows while it is read
            near = set(beside(point)) & points
            border |= near & stones.keys()
            region += near & empty
            empty -= near
        owners = {stones[point] for point in border}
        if len(owners) == 1:
            points_of_region = SIGN[owners.pop()] * len(region)
            whole, without = whole + points_of_region, without + (0 if border & seki else points_of_region)
    said = {text(without) if name != "tengen" else text(whole) for name in scores}
    return bool(seki) and said == {*scores.values()} and scores["tengen"] == text(whole)


def beside(point: str) -> list[str]:
    """The points beside a point; some may be off the board."""
    letters, column, row = "ABCDEFGHJKLMNOPQRST", point[0], int(point[1:])
    at = letters.index(column)
    return [f"{letter}{row}" for letter in letters[max(at - 1, 0) : at] + letters[at + 1 : at + 2]] + [
        f"{column}{row + 1}",
        f"{column}{row - 1}",
    ]


def text(score: float) -> str:
    return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"


def referee_go(games: int, agent: str, size: int, level: int) -> None:
    """Games against GNU Go, each colour in turn."""
    tally: Counter[str] = Counter()
    ours = Engine("tengen", [*TENGEN, f"go:size={size}", agent])
    for number in range(games):
        theirs, referee = (
            Engine(name, shlex.split(f"{GNUGO} --level {level} --seed {number + 1}")) for name in ("gnugo", "referee")
        )
        score = play_go(ours, theirs, referee, size, is_black=number % 2 == 0)
        tally["won" if (score[0] == "B") == (number % 2 == 0) else "lost"] += 1
        print(f"game {number + 1}: {score}", flush=True)
        theirs.close()
        referee.close()
    ours.close()
    print(f"{games} games of Go on {size}×{size}, every move accepted, every score agreed on: {dict(tally)}")


def play_reversi(ours: Engine, theirs: Engine, referee: Engine, is_black: bool) -> str:
    """One game; who is to move is what the referee says, and passes are never sent."""
    everybody = (ours, theirs, referee)
    for engine in everybody:
        engine.ask("boardsize 8")
        engine.ask("clear_board")
    for _ in range(61):
        board = referee.ask("showboard")
        if not (turn := re.search(r"Next move: (Black|White)", board)):
            break
        colour = turn[1].lower()
        mover = ours if (colour == "black") == is_black else theirs
        vertex = mover.ask(f"genmove {colour}").lower()
        if vertex == "pass":
            raise Dispute(f"{mover.name} passed for {colour}, which has a move:\n{board}")
        for engine in everybody:
            if engine is not mover:
                engine.ask(f"play {colour} {vertex}")
        if ours.ask("gogui-rules_final_result") != "unknown":
            break
    scores = {engine.name: engine.ask("final_score") for engine in everybody}
    if len(set(scores.values())) > 1:
        raise Dispute(f"the scores differ: {scores}\n{ours.ask('showboard')}\n{referee.ask('showboard')}")
    return scores[ours.name]


def referee_reversi(games: int, agent: str) -> None:
    """Games against GRhino, each colour in turn."""
    tally: Counter[str] = Counter()
    ours = Engine("tengen", [*TENGEN, "reversi", agent])
    theirs, referee = (Engine(name, shlex.split(RHINO)) for name in ("rhino", "referee"))
    for number in range(games):
        score = play_reversi(ours, theirs, referee, is_black=number % 2 == 0)
        won = (score[0] == "B") == (number % 2 == 0)
        tally["drawn" if score == "0" else "won" if won else "lost"] += 1
        print(f"game {number + 1}: {score}", flush=True)
    for engine in (ours, theirs, referee):
        engine.close()
    print(f"{games} games of Reversi, every move accepted, every score agreed on: {dict(tally)}")


class Clock:
    """A side's time as this controller measures it."""

    def __init__(self, main: float, overtime: float, count: int):
        self.left, self.overtime, self.count, self.moves = main, overtime, count, 0
        if main == 0:
            self.left, self.moves = overtime, count

    def spend(self, seconds: float) -> bool:
        """Whether there was that much."""
        self.left -= seconds
        if self.left < 0 and self.moves == 0 and self.count:
            self.left, self.moves = self.left + self.overtime, self.count
        if self.left < 0:
            return False
        if self.moves:
            self.moves -= 1
            if self.moves == 0:
                self.left, self.moves = self.overtime, self.count
        return True


def play_by_clock(players: tuple[Engine, Engine], settings: tuple, tells: bool) -> tuple[int, float]:
    """One game against the clock; returns its moves, and the least time that was left after one of them."""
    _, _, command, main, overtime, count = settings
    clocks, least, moves = [Clock(main, overtime, count) for _ in players], float("inf"), 0
    for engine in players:
        engine.ask("clear_board")
        engine.ask(command)
    while players[0].ask("gogui-rules_final_result") == "unknown":
        side = ["black", "white"].index(players[0].ask("gogui-rules_side_to_move"))
        colour, clock = "bw"[side], clocks[side]
        if tells:
            players[side].ask(f"time_left {colour} {clock.left:.3f} {clock.moves}")
        began = time.perf_counter()
        vertex = players[side].ask(f"genmove {colour}")
        took, moves = time.perf_counter() - began, moves + 1
        before = clock.left
        if not clock.spend(took):
            raise Dispute(f"{colour} lost on time: move {moves} took {took:.3f} s, and {before:.3f} s were left")
        least = min(least, before - took if overtime == 0 or before > took else least)
        players[1 - side].ask(f"play {colour} {vertex}")
    return moves, least


def referee_clock(games: int) -> None:
    """Our engine against itself, with little time; with and without being told how much is left."""
    for first, settings in enumerate(CLOCKS):
        count = len(range(first, games, len(CLOCKS)))
        if count == 0:
            continue
        players = tuple(Engine(name, [*TENGEN, *settings[:2]]) for name in ("black", "white"))
        moves, least = 0, float("inf")
        for number in range(count):
            played, left = play_by_clock(players, settings, tells=number % 2 == 0)
            moves, least = moves + played, min(least, left)
        for engine in players:
            engine.close()
        print(f"{settings[0]}, {settings[2]}: {count} games, {moves} moves, never late; {least:.3f} s left at least")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["go", "reversi", "clock"])
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--agent", default="", help="by default a quick one")
    parser.add_argument("--size", type=int, default=9, help="of the board of Go")
    parser.add_argument("--level", type=int, default=1, help="of GNU Go")
    options = parser.parse_args()
    try:
        if options.what == "go":
            referee_go(options.games, options.agent or "uct:playouts=300", options.size, options.level)
        elif options.what == "reversi":
            referee_reversi(options.games, options.agent or "alphabeta:nodes=2000")
        else:
            referee_clock(options.games)
    except Dispute as reason:
        sys.exit(f"referee: {reason}")


if __name__ == "__main__":
    main()
