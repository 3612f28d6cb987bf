"""Other people's engines as agents: the Go Text Protocol, version 2.

Two layers. `GtpEngine` is a process that takes commands and answers them; it knows no game. `GtpAgent` keeps the
engine's board in step with a position, and asks it for moves. Whatever an engine does wrong becomes one EngineError.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from time import monotonic

from tengen.agents.agent import NO_LIMIT, check_can_choose
from tengen.agents.process import MOST_LINES, START_UP, TIMEOUT, EngineError, EngineProcess, decide
from tengen.games import class_of, file_names
from tengen.rules.errors import BadParameter, TengenError
from tengen.rules.game import Game, Position
from tengen.search.limits import Clock, Decision, Limit
from tengen.search.uct import moves_between

COLOURS = ("black", "white")
RESIGNED = "resigned"
ANSWER = re.compile(r"([=?])\d*[ \t]*(.*)", re.DOTALL)  # a mark, perhaps an id, the text


class GtpEngine(EngineProcess):
    """A process that answers commands of the Go Text Protocol.

    Every command has a time-out. After an EngineError of any kind but a refusal the process is gone.
    """

    def __init__(self, command: str | Sequence[str], timeout: float = TIMEOUT):
        super().__init__(command, timeout)
        self.has_answered = False

    @cached_property
    def commands(self) -> frozenset[str]:
        """The commands that the engine knows."""
        return frozenset(self.ask("list_commands", min(self.timeout, START_UP)).split())

    def ask(self, command: str, timeout: float | None = None) -> str:
        """The answer to a command, without its mark; lines of a longer one are kept apart.

        Raises EngineError if the engine refuses, is silent for `timeout` seconds, dies, or does not speak GTP.
        """
        self.say(command)
        answer = ANSWER.fullmatch(self._answer(command, self.timeout if timeout is None else timeout))
        assert answer is not None
        self.has_answered = True
        mark, text = answer.groups()
        if mark == "?":
            raise EngineError(f"{self.name} refused {command!r}: {text}")
        return text.strip("\n")

    def _answer(self, command: str, timeout: float) -> str:
        """One answer, up to the empty line that ends it. Empty lines and comments before it are skipped."""
        deadline = monotonic() + timeout
        hint = "" if self.has_answered else "; does it speak GTP only with an option, as gnugo --mode gtp?"
        lines: list[str] = []
        while True:
            line = self.receive(command, timeout, deadline, hint)
            if lines and not line:
                return "\n".join(lines)
            if not lines and line and line[0] not in "=?#":
                raise self.failure(f"answered {command!r} with {line[:80]!r}, which is not GTP")
            if lines or line[:1] in ("=", "?"):
                lines.append(line)
            if len(lines) > MOST_LINES or monotonic() > deadline:
                raise self.failure(f"gave an answer to {command!r} that does not end: {len(lines)} lines so far")


def new_game(game: Game) -> list[str]:
    """The commands that make an engine's board ready for the first move."""
    given = game.parameters._asdict()
    komi = [f"komi {given['komi']:g}"] if "komi" in given else []
    handicap = [f"fixed_handicap {given['handicap']}"] if given.get("handicap") else []
    rows, columns = game.shape
    size = f"boardsize {rows}" if rows == columns else f"rectangular_boardsize {columns} {rows}"
    return [size, "clear_board", *komi, *handicap]


class GtpAgent:
    """An engine that plays a game with a `gtp_name`, as Go and Reversi have.

    Its board follows the position: new moves alone are sent if the position continues the one before, all of them on a
    clear board otherwise. A position from a diagram cannot be shown to it. The rules that it plays by are its own
    affair: give GNU Go `--chinese-rules`, and `--capture-all-dead`, since here dead stones count as if they lived.

    A limit on time is passed on in whole seconds, at least one, if the engine takes it; other limits it cannot keep,
    and the decision's note says so. An engine that resigns plays the last legal action (in Go: passes) with the value
     −1 and a note that begins with RESIGNED; whether the game ends there is for others to decide.
    """

    def __init__(self, game: Game, engine: GtpEngine):
        if game.gtp_name is None:
            able = ", ".join(name for name in file_names() if hasattr(class_of(name), "gtp_name"))
            raise BadParameter(f"engines over GTP play {able} here, not {game.name}")
        self.name, self.game, self.engine = engine.command, game, engine
        self.shown: Position | None = None  # what the engine's board shows; None if nobody knows
        self.seconds: int | None = None  # a move, as the engine was told
        if "genmove" not in engine.commands:
            raise EngineError(f"{engine.name} does not know the command 'genmove': it cannot play")
        if "set_game" in engine.commands:
            engine.ask(f"set_game {game.gtp_name}")
        self._begin()  # so that a size that it does not play is told now

    def choose(self, position: Position, limit: Limit = NO_LIMIT) -> Decision:
        check_can_choose(self, position, limit)
        clock = Clock(limit)
        if not self.game.gtp_passes and position.legal_actions == [self.game.cells]:
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
            if self.game.gtp_passes or action != self.game.cells:
                colour = COLOURS[(position.to_play - back) % 2]  # a pass is a move here, so the colours alternate
                self.engine.ask(f"play {colour} {self.game.action_text(action)}")
        self.shown = position

    def _check_comes_from_the_start(self, position: Position) -> None:
        root = position
        while root.previous is not None:
            root = root.previous
        if root != self.game.start():
            start = f"only positions that moves lead to from the start of {self.game.spec}"
            raise EngineError(f"{self.engine.name} can be shown {start}, not one from a diagram")

    def _begin(self) -> None:
        for command in new_game(self.game):
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
