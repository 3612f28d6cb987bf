"""Other people's engines as agents, over real pipes: the Go Text Protocol, version 2.

Two layers. `GtpEngine` is a process that takes commands and answers them; it knows no game. `GtpAgent` keeps the
engine's board in step with a position, and asks it for moves. Whatever an engine does wrong becomes one EngineError.
"""

from __future__ import annotations

import contextlib
import queue
import re
import shlex
import shutil
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import IO

from tengen.agents.agent import NO_LIMIT, check_goes_on
from tengen.games.go import Go
from tengen.games.reversi import Reversi
from tengen.rules.errors import BadParameter, TengenError
from tengen.rules.game import Game, Position
from tengen.search.limits import Clock, Decision, Limit
from tengen.search.uct import moves_between

TIMEOUT = 120.0  # seconds that an engine may take for one command
START_UP = 60.0  # seconds until it answers at all
PATIENCE = 1.0  # seconds to wait before a process that should end is asked less kindly
LAST_WORDS = 8  # lines of each stream that an error quotes
LONGEST_LINE = 10_000  # bytes
MOST_LINES = 10_000  # of one answer, and of what was said without being asked
GAMES_OF_DEBIAN = "/usr/games"  # where Debian installs engines; not on every PATH

COLOURS = ("black", "white")
RESIGNED = "resigned"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # to be dropped, as the protocol says
ANSWER = re.compile(r"([=?])\d*[ \t]*(.*)", re.DOTALL)  # a mark, perhaps an id, the text


class EngineError(TengenError):
    """An engine that cannot be started, does not answer, dies, or says what makes no sense."""


def find_program(name: str) -> str | None:
    """The path of a program: on PATH, else where Debian puts games."""
    return shutil.which(name) or shutil.which(name, path=GAMES_OF_DEBIAN)


class Listener(threading.Thread):
    """Reads a pipe to its end, so that the engine never blocks on it, and remembers the last lines.

    It is a daemon and knows the pipe alone: an engine that nobody holds any more can be collected while it listens.
    """

    def __init__(self, pipe: IO[bytes], heard: queue.SimpleQueue[str | None] | None = None):
        super().__init__(daemon=True)
        self.pipe, self.heard = pipe, heard
        self.last_words: deque[str] = deque(maxlen=LAST_WORDS)
        self.start()

    def run(self) -> None:
        is_whole = True
        with self.pipe:
            while line := self.pipe.readline(LONGEST_LINE):
                is_new, is_whole = is_whole, line.endswith(b"\n")
                if not is_new:  # the rest of a line that is too long to mean anything
                    continue
                text = CONTROL.sub("", line.decode(errors="replace")).rstrip()
                if text:
                    self.last_words.append(text)
                if self.heard is not None:
                    if self.heard.qsize() > MOST_LINES:  # nobody asked for that much: memory is not endless
                        break
                    self.heard.put(text)
        if self.heard is not None:
            self.heard.put(None)


def stop(process: subprocess.Popen[bytes], listeners: Sequence[Listener]) -> None:
    """Quit, terminate, kill: afterwards the process is gone, and no zombie is left."""
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):
        process.stdin.write(b"quit\n")
        process.stdin.flush()
    with contextlib.suppress(OSError):
        process.stdin.close()
    for end in (process.terminate, process.kill, process.kill):
        try:
            process.wait(PATIENCE)
            break
        except subprocess.TimeoutExpired:
            end()
    for listener in listeners:
        listener.join(PATIENCE)


class GtpEngine:
    """A process that answers commands of the Go Text Protocol.

    Every command has a time-out. After an EngineError of any kind but a refusal the process is gone, since nobody could
    tell which command its next answer belongs to. The process ends with `close`, with the `with` block, when the engine
    is garbage collected, and at exit.
    """

    def __init__(self, command: str | Sequence[str], timeout: float = TIMEOUT):
        words = read_command(command) if isinstance(command, str) else list(command)
        self.name = Path(words[0]).name
        self.command = shlex.join([self.name, *words[1:]])  # for people: which engine, and how strong
        self.timeout = timeout
        self.has_answered = False
        program = find_program(words[0])
        if program is None:
            raise EngineError(f"there is no program {words[0]!r}, neither on PATH nor in {GAMES_OF_DEBIAN}")
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen([program, *words[1:]], stdin=pipe, stdout=pipe, stderr=pipe)
        except OSError as reason:
            raise EngineError(f"{program} cannot be started: {reason.strerror}") from None
        assert self.process.stdout is not None and self.process.stderr is not None
        self.heard: queue.SimpleQueue[str | None] = queue.SimpleQueue()  # None: there will be no more
        self.output = Listener(self.process.stdout, self.heard)
        self.errors = Listener(self.process.stderr)
        self._stop = weakref.finalize(self, stop, self.process, (self.output, self.errors))

    def close(self) -> None:
        """Ends the process, if it has not ended yet."""
        self._stop()

    def __enter__(self) -> GtpEngine:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    @cached_property
    def commands(self) -> frozenset[str]:
        """The commands that the engine knows."""
        return frozenset(self.ask("list_commands", min(self.timeout, START_UP)).split())

    def ask(self, command: str, timeout: float | None = None) -> str:
        """The answer to a command, without its mark; lines of a longer one are kept apart.

        Raises EngineError if the engine refuses, is silent for `timeout` seconds, dies, or does not speak GTP.
        """
        if not self._stop.alive:
            raise EngineError(f"{self.name} cannot be asked {command!r}: it was stopped before")
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # a broken pipe: the engine is dead, and reading will tell
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()
        answer = ANSWER.fullmatch(self._hear(command, self.timeout if timeout is None else timeout))
        assert answer is not None
        self.has_answered = True
        mark, text = answer.groups()
        if mark == "?":
            raise EngineError(f"{self.name} refused {command!r}: {text}")
        return text.strip("\n")

    def _hear(self, command: str, timeout: float) -> str:
        """One answer, up to the empty line that ends it. Empty lines and comments before it are skipped."""
        deadline = monotonic() + timeout
        lines: list[str] = []
        while True:
            try:
                line = self.heard.get(timeout=max(deadline - monotonic(), 0))
            except queue.Empty:
                hint = "" if self.has_answered else "; does it speak GTP only with an option, as gnugo --mode gtp?"
                raise self._failure(f"did not answer {command!r} within {timeout:g} s{hint}") from None
            if line is None:
                raise self._failure(f"died at {command!r}{self._exit_status()}")
            if lines and not line:
                return "\n".join(lines)
            if not lines and line and line[0] not in "=?#":
                raise self._failure(f"answered {command!r} with {line[:80]!r}, which is not GTP")
            if lines or line[:1] in ("=", "?"):
                lines.append(line)
            if len(lines) > MOST_LINES or monotonic() > deadline:
                raise self._failure(f"gave an answer to {command!r} that does not end: {len(lines)} lines so far")

    def _exit_status(self) -> str:
        """How a process ended whose output has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self.process.wait(PATIENCE)
            return f" (exit status {status})" if status >= 0 else f" (signal {-status})"
        return " (it closed its output, and lives)"

    def _failure(self, what: str) -> EngineError:
        """Ends the engine and says what it did, with its last words."""
        self.process.kill()
        self.close()
        report = [f"{self.name} {what}", f"command: {self.command}"]
        for stream, listener in (("stdout", self.output), ("stderr", self.errors)):
            report += [f"{stream}: {line[:200]}" for line in list(listener.last_words)]
        return EngineError("\n    ".join(report))


def read_command(text: str) -> list[str]:
    """The words of a command line, as a shell would split it."""
    try:
        words = shlex.split(text)
    except ValueError as reason:
        raise BadParameter(f"{text!r} is not a command line: {str(reason).lower()}") from None
    if not words:
        raise BadParameter("an engine needs a command line: gtp:gnugo --mode gtp")
    return words


@dataclass(frozen=True)
class Dialect:
    """How a game is spoken."""

    name: str  # what `set_game` calls it
    new_game: Callable[[Game], list[str]]  # the commands that make an engine's board ready for the first move
    sends_passes: bool


def new_game_of_go(game: Game) -> list[str]:
    board = game.parameters
    handicap = [f"fixed_handicap {board.handicap}"] if board.handicap else []
    return [f"boardsize {board.size}", "clear_board", f"komi {board.komi:g}", *handicap]


def new_game_of_reversi(game: Game) -> list[str]:
    return [f"boardsize {game.parameters.size}", "clear_board"]


# GRhino counts rows from the top, as we do. It has no word for a pass: who cannot move is skipped.
DIALECTS: dict[type, Dialect] = {
    Go: Dialect("Go", new_game_of_go, sends_passes=True),
    Reversi: Dialect("Othello", new_game_of_reversi, sends_passes=False),
}


class GtpAgent:
    """An engine that plays Go or Reversi.

    Its board follows the position: new moves alone are sent if the position continues the one before, all of them on a
    clear board otherwise. A position from a diagram cannot be shown to it. The rules that it plays by are its own
    affair: give GNU Go `--chinese-rules`, and `--capture-all-dead`, since here dead stones count as if they lived.

    A limit on time is passed on in whole seconds, at least one, if the engine takes it; other limits it cannot keep,
    and the decision's note says so. An engine that resigns passes (in Reversi: plays the last legal move) with the
    value −1 and a note that begins with RESIGNED; whether the game ends there is for others to decide.
    """

    def __init__(self, game: Game, engine: GtpEngine):
        if type(game.parameters) not in DIALECTS:
            able = " and ".join(kind.__name__.lower() for kind in DIALECTS)
            raise BadParameter(f"engines over GTP play {able} here, not {game.name}")
        self.name, self.game, self.engine = engine.command, game, engine
        self.dialect = DIALECTS[type(game.parameters)]
        self.shown: Position | None = None  # what the engine's board shows; None if nobody knows
        self.seconds: int | None = None  # a move, as the engine was told
        if "genmove" not in engine.commands:
            raise EngineError(f"{engine.name} does not know the command 'genmove': it cannot play")
        if "set_game" in engine.commands:
            engine.ask(f"set_game {self.dialect.name}")
        self._begin()  # so that a size that it does not play is told now

    def choose(self, position: Position, limit: Limit = NO_LIMIT) -> Decision:
        check_goes_on(position)
        clock = Clock(limit)
        if not self.dialect.sends_passes and position.legal_actions == [self.game.cells]:
            return decide(self.game.cells, clock)
        self._show(position)
        note = self._set_time(position.to_play, limit)
        timeout = self.engine.timeout if limit.time is None else 10 * limit.time + 5
        answer = self.engine.ask(f"genmove {COLOURS[position.to_play]}", timeout).strip()
        if answer.lower() == "resign":
            return decide(position.legal_actions[-1], clock, value=-1.0, note="; ".join(filter(None, (RESIGNED, note))))
        self.shown = None  # unless the answer makes sense
        self.shown = self._after(position, answer)
        assert self.shown.action is not None
        return decide(self.shown.action, clock, note=note)

    def _after(self, position: Position, answer: str) -> Position:
        """The position after the engine's move."""
        try:
            return position.play(answer)
        except TengenError as reason:
            raise EngineError(f"{self.name} played {answer[:40]!r}: {reason}\n{position}") from None

    def _show(self, position: Position) -> None:
        """Brings the engine's board into step."""
        moves = None if self.shown is None else moves_between(self.shown, position)
        self.shown = None  # if a command fails, nobody knows
        if moves is None:
            self._check_comes_from_the_start(position)
            self._begin()
            moves = position.moves
        for back, action in zip(range(len(moves), 0, -1), moves, strict=True):
            if self.dialect.sends_passes or action != self.game.cells:
                colour = COLOURS[(position.to_play - back) % 2]  # a pass is a move here, so the colours alternate
                self.engine.ask(f"play {colour} {self.game.action_text(action)}")
        self.shown = position

    def _check_comes_from_the_start(self, position: Position) -> None:
        root = position
        while root.previous is not None:
            root = root.previous
        if root != self.game.start():
            what = "one from a diagram" if position.game == self.game else f"one of {position.game.spec}"
            start = f"only positions that moves lead to from the start of {self.game.spec}"
            raise EngineError(f"{self.engine.name} can be shown {start}, not {what}")

    def _begin(self) -> None:
        for command in self.dialect.new_game(self.game):
            self.engine.ask(command)

    def _set_time(self, player: int, limit: Limit) -> str:
        """Tells the engine how long it may think; returns what a person should know about limits it does not keep."""
        unkept = [name for name in limit.given if name != "time"]
        seconds = None if limit.time is None else max(int(limit.time), 1)
        if "time_settings" in self.engine.commands:
            if seconds != self.seconds:  # byo-yomi of one move; of no move at all, the protocol says, is no limit
                self.engine.ask("time_settings 0 1 0" if seconds is None else f"time_settings 0 {seconds} 1")
                self.seconds = seconds
            if seconds is not None and "time_left" in self.engine.commands:
                self.engine.ask(f"time_left {COLOURS[player]} {seconds} 1")
        elif seconds is not None:
            unkept.insert(0, "time")
        return f"{self.engine.name} takes no limit on {', '.join(unkept)}" if unkept else ""


def decide(action: int, clock: Clock, value: float | None = None, note: str = "") -> Decision:
    """A decision of which nothing but the action is known."""
    return Decision(
        action, value, policy={action: 1.0}, principal_variation=(action,), seconds=clock.seconds, note=note
    )
