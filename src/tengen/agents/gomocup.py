"""Other people's engines as agents: the protocol of Gomocup, which Piskvork and most Gomoku programs speak.

A line is a command, and the answer is a line. A point is `x,y`: the column and the row from the top, both from zero.
`GomocupEngine` knows the lines, `GomocupAgent` keeps the engine's board in step with a position, and asks it for moves.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from time import monotonic

import numpy as np

from tengen.agents.agent import NO_LIMIT, check_can_choose
from tengen.agents.process import MOST_LINES, START_UP, EngineError, EngineProcess, decide
from tengen.rules.errors import BadParameter, TengenError
from tengen.rules.game import Game, Position
from tengen.search.limits import Clock, Decision, Limit
from tengen.search.uct import moves_between

AGAINST_AN_ENGINE = 1  # of INFO game_type
FOREVER = 2**31 - 1  # milliseconds: what INFO time_left says where the match has no limit
SECONDS = 1.0  # a move, unless a limit says otherwise
OWN, OTHER = 1, 2  # whose stone it is, in BOARD

POINT = re.compile(r"(\d{1,3}),(\d{1,3})", re.ASCII)
TALK = {"MESSAGE", "DEBUG", "INFO"}  # what an engine says to people while it thinks
REFUSALS = {"ERROR", "UNKNOWN"}


class GomocupEngine(EngineProcess):
    """A process that answers the commands of a Gomocup manager, each with a line.

    Every command has a time-out. After an EngineError of any kind but a refusal the process is gone.
    """

    example = "gomocup:pbrain-rapfi"
    farewell = "END"

    def ask(self, command: str, timeout: float | None = None) -> str:
        """The line that answers a command, which may be several lines; what is said to people before it is skipped.

        Raises EngineError if the engine refuses, is silent for `timeout` seconds, dies, or does not stop talking.
        """
        name, seconds = command.splitlines()[0], self.timeout if timeout is None else timeout
        self.say(command)
        deadline = monotonic() + seconds
        for _ in range(MOST_LINES):
            line = self.receive(name, seconds, deadline).strip()
            word = line.split(maxsplit=1)[0].upper() if line else ""
            if word in REFUSALS:
                raise EngineError(f"{self.name} refused {name!r}: {line}")
            if word and word not in TALK:
                return line
        raise self.failure(f"talks, and does not answer {name!r}: {MOST_LINES} lines so far")


class GomocupAgent:
    """An engine that plays Gomoku, by any of its rules.

    Its board follows the position: the opponent's move alone is sent if the position continues the one before, the
    whole board otherwise. A board on which the players did not take turns cannot be shown to it.

    A limit on time is passed on as the time for each move; other limits it cannot keep, and the decision's note says
    so. Without any it is given one second.
    """

    def __init__(self, game: Game, engine: GomocupEngine):
        if game.gomocup_rule is None:
            raise BadParameter(f"engines of Gomocup play gomoku, not {game.name}")
        self.name, self.game, self.engine = engine.command, game, engine
        self.shown: Position | None = None  # what the engine's board shows; None if nobody knows
        self.milliseconds: int | None = None  # a move, as the engine was told
        self._start()

    def choose(self, position: Position, limit: Limit = NO_LIMIT) -> Decision:
        check_can_choose(self, position, limit)
        clock = Clock(limit)
        seconds = SECONDS if limit.time is None else limit.time
        self._set_time(seconds)
        command = self._command_to_show(position)
        self.shown = None  # unless the answer makes sense
        self.shown = self._after(position, self._ask_for_move(command, self._patience(seconds)))
        unkept = [name for name in limit.given if name != "time"]
        note = f"{self.engine.name} takes no limit on {', '.join(unkept)}" if unkept else ""
        assert self.shown.action is not None
        return decide(self.shown.action, clock, note=note)

    def _start(self) -> None:
        """Sets the engine up; a size that it does not play is told now."""
        self._clear(f"START {self.game.shape[0]}")
        for key, value in {
            "rule": self.game.gomocup_rule,
            "game_type": AGAINST_AN_ENGINE,
            "timeout_match": 0,
            "max_memory": 0,
        }.items():
            self.engine.say(f"INFO {key} {value}")

    def _clear(self, command: str) -> None:
        """Empties the engine's board."""
        answer = self.engine.ask(command, START_UP)
        if answer.split()[0].upper() != "OK":
            raise self.engine.failure(f"answered {command!r} with {answer[:80]!r}, not with OK")
        self.shown = self.game.start()

    def _set_time(self, seconds: float) -> None:
        """Tells the engine how long a move may take, and that the match has no limit."""
        milliseconds = max(int(1000 * seconds), 1)  # 0 would mean as fast as it can
        if milliseconds != self.milliseconds:
            self.engine.say(f"INFO timeout_turn {milliseconds}")
            self.milliseconds = milliseconds
        self.engine.say(f"INFO time_left {FOREVER}")

    def _command_to_show(self, position: Position) -> str:
        """The command that brings the engine's board into step and asks for a move."""
        moves = None if self.shown is None else moves_between(self.shown, position)
        if moves is not None and len(moves) == 1:
            return f"TURN {self._point(moves[0])}"
        lines = self._stones(position)
        if self.shown != self.game.start():
            try:
                self._clear("RESTART")
            except EngineError:
                if not self.engine.is_open:
                    raise
                self._start()  # it is not obliged to know the word
        return "\n".join(["BOARD", *lines, "DONE"]) if lines else "BEGIN"

    def _stones(self, position: Position) -> list[str]:
        """The lines of BOARD: every stone in the order in which the players took turns."""
        root = position
        while root.previous is not None:
            root = root.previous
        first, second = (np.flatnonzero(root.board == player + 1).tolist() for player in (0, 1))
        if len(first) - len(second) != root.to_play:
            right = f"only boards of {self.game.spec} on which Black and White took turns"
            raise EngineError(f"{self.engine.name} can be shown {right}\n{position}")
        taken = [cell for pair in zip_longest(first, second) for cell in pair if cell is not None] + position.moves
        owners = (OWN, OTHER) if position.to_play == 0 else (OTHER, OWN)
        return [f"{self._point(cell)},{owners[ply % 2]}" for ply, cell in enumerate(taken)]

    def _patience(self, seconds: float) -> float:
        """How long to wait for a move that should take so long."""
        return 10 * seconds + 5

    def _ask_for_move(self, command: str, timeout: float) -> str:
        answer = self.engine.ask(command, timeout)
        if answer.split()[0].upper() == "SUGGEST":  # it waits to be told that it may
            return self.engine.ask(f"PLAY {answer[len('SUGGEST') :].strip()}", timeout)
        return answer

    def _after(self, position: Position, answer: str) -> Position:
        """The position after the engine's move."""
        point, size = POINT.fullmatch(answer.replace(" ", "")), self.game.shape[0]
        if point is None:
            raise self.engine.failure(f"answered {answer[:40]!r}, which is no move such as 7,7")
        x, y = map(int, point.groups())
        if x >= size or y >= size:
            raise EngineError(f"{self.name} played {answer!r}, off the board: x and y are 0 to {size - 1}\n{position}")
        try:
            return position.play(y * size + x)
        except TengenError as reason:
            raise EngineError(f"{self.name} played {answer!r}: {reason}\n{position}") from None

    def _point(self, cell: int) -> str:
        y, x = divmod(cell, self.game.shape[1])
        return f"{x},{y}"
