"""A small manager of Gomoku engines, as Piskvork is: two processes, real pipes, its own clock and its own referee.

    python bench/gomocup.py "tengen gomocup" "tengen gomocup alphabeta" --games 100 --turn 200

It shares nothing with the engine that it tests: what it knows of the protocol and of the rules stands in this file.
(The points that Renju forbids are the exception; for these it asks our rules, which tests hold against other people's.)
Every error, illegal move and late answer is printed and counted; with any of them the exit status is 1.
"""

from __future__ import annotations

import argparse
import queue
import random
import shlex
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

RULES = {"freestyle": 0, "standard": 1, "renju": 4}
START_UP = 300.0  # seconds for START, which may have to compile
GRACE = 20.0  # seconds beyond its time after which an engine is given up
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


class Fault(Exception):
    """What an engine did wrong."""


class Brain:
    """An engine: a process that is told lines, whose lines are stamped with the time they came."""

    def __init__(self, command: str):
        self.command = command
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(shlex.split(command), stdin=pipe, stdout=pipe)
        self.heard: queue.SimpleQueue[tuple[float, str | None]] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in self.process.stdout:
            self.heard.put((time.perf_counter(), line.decode(errors="replace").strip()))
        self.heard.put((time.perf_counter(), None))

    def tell(self, *lines: str) -> float:
        """Says lines, and returns when the first was said."""
        began = time.perf_counter()
        try:
            self.process.stdin.write("".join(f"{line}\r\n" for line in lines).encode())
            self.process.stdin.flush()
        except OSError:
            raise Fault(f"is dead at {lines[0]!r}") from None
        return began

    def ask(self, *lines: str, patience: float = GRACE) -> tuple[str, float]:
        """The answer, without what is meant for people, and how long it took."""
        began = self.tell(*lines)
        while True:
            try:
                came, line = self.heard.get(timeout=patience)
            except queue.Empty:
                raise Fault(f"does not answer {lines[0]!r}") from None
            if line is None:
                raise Fault(f"died at {lines[0]!r}")
            if line and not line.startswith(("MESSAGE", "DEBUG")):
                return line, came - began

    def end(self) -> None:
        """Says END; an engine that is still there a second later is at fault."""
        self.tell("END")
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Fault("did not end at END") from None


def row_through(stones: dict[tuple[int, int], int], x: int, y: int) -> list[int]:
    """How long the rows through a stone are, in each direction."""
    lengths = []
    for dx, dy in DIRECTIONS:
        length = 1
        for sign in (1, -1):
            at = (x + sign * dx, y + sign * dy)
            while stones.get(at) == stones[x, y]:
                length += 1
                at = (at[0] + sign * dx, at[1] + sign * dy)
        lengths.append(length)
    return lengths


@dataclass
class Table:
    """A board and its referee."""

    size: int
    rule: str
    moves: list[tuple[int, int]] = field(default_factory=list)
    stones: dict[tuple[int, int], int] = field(default_factory=dict)

    def place(self, x: int, y: int) -> bool:
        """Places the next stone; whether it wins. Raises Fault if it may not be placed."""
        player = len(self.moves) % 2
        if not (0 <= x < self.size and 0 <= y < self.size) or (x, y) in self.stones:
            raise Fault(f"played {x},{y} at move {len(self.moves) + 1}, which is taken or off the board")
        if self.rule == "renju" and player == 0 and self._is_forbidden(x, y):
            raise Fault(f"played {x},{y} at move {len(self.moves) + 1}, which is forbidden")
        self.moves.append((x, y))
        self.stones[x, y] = player
        rows = row_through(self.stones, x, y)
        is_exact = self.rule == "standard" or (self.rule == "renju" and player == 0)
        return 5 in rows if is_exact else max(rows) >= 5

    def _is_forbidden(self, x: int, y: int) -> bool:
        from tengen import load_game

        rows = ("".join(".XO"[self.stones.get((i, j), -1) + 1] for i in range(self.size)) for j in range(self.size))
        position = load_game(f"gomoku:size={self.size},rule=renju").from_board("/".join(rows), 0)
        return y * self.size + x in position.forbidden()

    @property
    def is_full(self) -> bool:
        return len(self.moves) == self.size**2


def random_opening(size: int, stones: int, rng: random.Random) -> list[tuple[int, int]]:
    """Different points near the middle."""
    near = [(x, y) for x in range(size) for y in range(size) if max(abs(x - size // 2), abs(y - size // 2)) <= 3]
    return rng.sample(near, stones)


@dataclass
class Match:
    """What two engines did, and how late they were."""

    settings: argparse.Namespace
    wins: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    games: int = 0
    moves: int = 0
    slowest: float = 0.0  # seconds, the slowest answer

    def play(self, first: Brain, second: Brain, opening: list[tuple[int, int]]) -> str:
        """One game; returns how it ended."""
        table = Table(self.settings.size, self.settings.rule)
        left = [self.settings.match / 1000] * 2
        for x, y in opening:
            if table.place(x, y):
                return "the opening has won"
        shown = [False, False]
        while not table.is_full:
            player = len(table.moves) % 2
            brain = (first, second)[player]
            lines = [f"INFO time_left {int(1000 * left[player]) if self.settings.match else 2**31 - 1}"]
            if shown[player]:
                lines.append("TURN {},{}".format(*table.moves[-1]))
            elif table.moves:
                lines += ["BOARD"]
                lines += [f"{x},{y},{1 if i % 2 == player else 2}" for i, (x, y) in enumerate(table.moves)] + ["DONE"]
            else:
                lines.append("BEGIN")
            answer, took = brain.ask(*lines, patience=max(self.settings.turn, self.settings.match) / 1000 + GRACE)
            shown[player] = True
            self.moves += 1
            self.slowest = max(self.slowest, took)
            left[player] -= took
            self._check_time(took, left[player])
            try:
                x, y = map(int, answer.split(","))
            except ValueError:
                raise Fault(f"answered {answer!r}, not a move, to {lines[-1]!r}") from None
            if table.place(x, y):
                self.wins[brain.command] = self.wins.get(brain.command, 0) + 1
                return f"{('black', 'white')[player]} wins at move {len(table.moves)}"
        return "draw"

    def _check_time(self, took: float, left: float) -> None:
        if self.settings.turn and took > (self.settings.turn + self.settings.late) / 1000:
            raise Fault(f"took {1000 * took:.0f} ms of {self.settings.turn} for a move")
        if self.settings.match and left < -self.settings.late / 1000:
            raise Fault("lost on time")


def prepare(brain: Brain, settings: argparse.Namespace, is_first: bool) -> None:
    """START and then INFO, as Piskvork does; RESTART for every later game."""
    answer, _ = brain.ask(f"START {settings.size}" if is_first else "RESTART", patience=START_UP)
    if answer != "OK":
        raise Fault(f"answered {answer!r}, not OK")
    told = {"timeout_turn": settings.turn, "timeout_match": settings.match, "max_memory": settings.memory}
    told |= {"game_type": 2, "rule": RULES[settings.rule]}
    brain.tell(*(f"INFO {key} {value}" for key, value in told.items()))


def run(settings: argparse.Namespace, say=print) -> Match:
    """All games: each opening twice, with colours changed."""
    match, rng = Match(settings), random.Random(settings.seed)
    brains: list[Brain | None] = [None, None]
    opening: list[tuple[int, int]] = []
    for game in range(settings.games):
        if game % 2 == 0:
            opening = random_opening(settings.size, settings.opening, rng)
        order = (0, 1) if game % 2 == 0 else (1, 0)
        try:
            for i, command in enumerate((settings.first, settings.second)):
                is_first = brains[i] is None
                brain = brains[i] = brains[i] or Brain(command)
                prepare(brain, settings, is_first)
            how = match.play(brains[order[0]], brains[order[1]], opening)
        except Fault as fault:
            how = f"fault: {fault}"
            match.faults.append(how)
            for brain in filter(None, brains):
                brain.process.kill()
                brain.process.wait()
            brains = [None, None]
        match.games += 1
        say(f"game {match.games}: {how}; slowest answer so far {1000 * match.slowest:.0f} ms", flush=True)
    for brain in filter(None, brains):
        try:
            brain.end()
        except Fault as fault:
            match.faults.append(str(fault))
    return match


def read_settings(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", help="the command line of an engine")
    parser.add_argument("second", help="the command line of the other")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--size", type=int, default=15)
    parser.add_argument("--rule", choices=RULES, default="freestyle")
    parser.add_argument("--turn", type=int, default=200, help="milliseconds a move; 0: as fast as possible")
    parser.add_argument("--match", type=int, default=0, help="milliseconds a game; 0: no limit")
    parser.add_argument("--late", type=int, default=0, help="milliseconds that an answer may be late and no fault")
    parser.add_argument("--memory", type=int, default=350 * 2**20, help="bytes")
    parser.add_argument("--opening", type=int, default=4, help="random stones that begin each pair of games")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(words)


def main() -> None:
    settings = read_settings()
    match = run(settings)
    print(f"{match.games} games, {match.moves} moves, slowest answer {1000 * match.slowest:.0f} ms")
    for command in dict.fromkeys((settings.first, settings.second)):
        print(f"    {match.wins.get(command, 0)} won by {command}")
    print(f"{len(match.faults)} faults")
    for fault in match.faults:
        print(f"    {fault}")
    sys.exit(1 if match.faults else 0)


if __name__ == "__main__":
    main()
