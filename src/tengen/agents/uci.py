"""Other people's engines as agents: UCI, the protocol of chess engines, for games with a `uci_variant`.

A line is a command. `UciEngine` knows the lines, and which options an engine has; `UciAgent` shows it a position, which
UCI does whole each time, and asks for a move. A spec is a command line, then options, with commas between them:
`uci:stockfish,skill level=0,time=1`. An option is the engine's own, in any case, perhaps shortened and without blanks;
or it is a limit that holds where none is given: `time`, `nodes` or `depth`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from tengen.agents.agent import NO_LIMIT, check_can_choose
from tengen.agents.process import MOST_LINES, START_UP, TIMEOUT, EngineError, EngineProcess
from tengen.games import class_of, file_names
from tengen.rules.board import Between
from tengen.rules.errors import BadParameter, TengenError, nearest
from tengen.rules.game import Game, Position
from tengen.search.limits import Clock, Decision, Limit

SECONDS = 1.0  # a move, unless a limit says otherwise
SCALE = 200.0  # hundredths of a pawn that are a clear advantage, a value of 0.76
LOOK = 0.02  # seconds between two looks at whether a search has to stop
LONGEST_LINE = 24  # moves that are kept of what an engine expects
LIMITS = {
    "time": (float, Between(0.001, 86400)),
    "nodes": (int, Between(1, 10**12)),
    "depth": (int, Between(1, 1000)),
}
OPTION = re.compile(r"name (.+?) type (check|spin|combo|button|string)\b(.*)")
PART = re.compile(r"(?: (default|min|max|var)\b)")
INFO = re.compile(r"\b(depth|nodes|multipv|cp|mate) (-?\d{1,18})\b", re.ASCII)
PIECE = re.compile(r"""((?:[^,'"\\]|\\.|"(?:\\.|[^"\\])*"|'[^']*'|["'].*|\\$)*)(?:,|$)""", re.DOTALL)


@dataclass(frozen=True)
class UciOption:
    """An option that an engine says it has."""

    name: str
    kind: str
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()

    @classmethod
    def read(cls, line: str) -> UciOption | None:
        """The option of a line `option name … type …`; None if it is not understood."""
        if not (match := OPTION.match(line.removeprefix("option ").strip())):
            return None
        words = PART.split(match[3])
        parts = [(key, value.strip()) for key, value in zip(words[1::2], words[2::2], strict=True)]
        told = dict(parts)
        least, most = (int(told[key]) if re.fullmatch(r"-?\d+", told.get(key, "")) else None for key in ("min", "max"))
        return cls(match[1], match[2], least, most, tuple(value for key, value in parts if key == "var"))

    def checked(self, value: str) -> str:
        """A value that the option takes; raises BadParameter for any other."""
        if self.kind == "check":
            told = {"1": "true", "0": "false"}.get(value, value.lower())
            if told not in ("true", "false"):
                raise BadParameter(f"{self.name}={value}: it is true or false")
            return told
        if self.kind == "spin":
            least = -math.inf if self.least is None else self.least
            most = math.inf if self.most is None else self.most
            if not re.fullmatch(r"-?\d{1,18}", value, re.ASCII) or not least <= int(value) <= most:
                raise BadParameter(f"{self.name}={value}: it is a whole number from {least} to {most}")
        if self.kind == "combo":
            known = {choice.lower(): choice for choice in self.choices}
            if value.lower() not in known:
                raise BadParameter(f"{self.name}={value} is unknown{nearest(value, self.choices)}")
            return known[value.lower()]
        return value


@dataclass
class Thought:
    """What an engine has said of its search so far, and its move."""

    value: float | None = None
    depth: int = 0
    nodes: int = 0
    line: tuple[str, ...] = ()
    move: str = ""

    def hear(self, line: str) -> None:
        """Takes a line that begins with `info`; of several lines of play the first one counts."""
        head, _, moves = line.partition(" pv ")
        told = {key: int(number) for key, number in INFO.findall(head.partition(" string ")[0])}
        if told.get("multipv", 1) != 1:
            return
        self.depth, self.nodes = told.get("depth", self.depth), told.get("nodes", self.nodes)
        if "mate" in told:
            self.value = 1.0 if told["mate"] > 0 else -1.0
        elif "cp" in told:
            self.value = 0.999 * math.tanh(told["cp"] / SCALE)
        if moves:
            self.line = tuple(moves.split()[:LONGEST_LINE])


class UciEngine(EngineProcess):
    """A process that speaks UCI.

    Every command has a time-out. After an EngineError the process is gone.
    """

    example = "uci:stockfish"

    def __init__(self, command: str | Sequence[str], timeout: float = TIMEOUT):
        super().__init__(command, timeout)
        self.options: dict[str, UciOption] = {}
        hint = "; does it speak UCI only with an option, as lc0 uci or tengen uci?"
        for line in self._answer("uci", "uciok", min(timeout, START_UP), hint):
            if line.startswith("option ") and (option := UciOption.read(line)) is not None:
                self.options[plain(option.name)] = option

    def set_option(self, name: str, value: str) -> None:
        """Sets an option by its name, or by how that begins if no other begins so."""
        option = self._option(name)
        told = f"setoption name {option.name}"
        self.say(told if option.kind == "button" else f"{told} value {option.checked(value)}")

    def _option(self, name: str) -> UciOption:
        if (wanted := plain(name)) in self.options:
            return self.options[wanted]
        found = [option for key, option in self.options.items() if wanted and key.startswith(wanted)]
        if len(found) > 1:
            raise BadParameter(f"{self.name} has several options {name!r}: {', '.join(each.name for each in found)}")
        if not found:
            names = [*LIMITS, *(option.name for option in self.options.values())]
            raise BadParameter(f"{self.name} has no option {name!r}{nearest(name, names)}")
        return found[0]

    def await_ready(self) -> None:
        """Waits until all that was said is done."""
        self._answer("isready", "readyok", self.timeout)

    def think(self, command: str, timeout: float, limit: Limit) -> Thought:
        """What comes of a search that `command` begins; it is told to stop when the limit's event is set."""
        thought, deadline, is_stopped = Thought(), monotonic() + timeout, False
        self.say(command)
        for _ in range(MOST_LINES):
            while limit.stop is not None and not is_stopped and self.heard.empty() and monotonic() < deadline:
                if is_stopped := limit.stop.wait(LOOK):
                    self.say("stop")
                    deadline = min(deadline, monotonic() + START_UP)
            line = self.receive(command, timeout, deadline).strip()
            if line.startswith("info"):
                thought.hear(line)
            elif line.split(maxsplit=1)[:1] == ["bestmove"]:
                thought.move = [*line.split(), ""][1]
                return thought
        raise self.failure(f"talks, and does not answer {command!r}: {MOST_LINES} lines so far")

    def _answer(self, command: str, last: str, timeout: float, hint: str = "") -> list[str]:
        """The lines that answer a command, up to the last one."""
        self.say(command)
        lines: list[str] = []
        deadline = monotonic() + timeout
        while len(lines) < MOST_LINES:
            line = self.receive(command, timeout, deadline, hint).strip()
            if line == last:
                return lines
            lines.append(line)
        raise self.failure(f"talks, and does not answer {command!r}: {MOST_LINES} lines so far{hint}")


class UciAgent:
    """An engine that plays a game with a `uci_variant`, as chess has.

    Any position can be shown to it, with the moves that led to it. Limits on time, nodes and depth are passed on;
    others it cannot keep, and the decision's note says so. Without any, its own hold, which are one second by default.
    """

    def __init__(self, game: Game, engine: UciEngine, options: Mapping[str, str] = {}):
        if game.uci_variant is None:
            able = " and ".join(name for name in file_names() if hasattr(class_of(name), "uci_variant"))
            raise BadParameter(f"engines over UCI play {able} here, not {game.name}")
        self.game, self.engine = game, engine
        self.name = ",".join([engine.command, *(f"{key}={value}" for key, value in options.items())])
        given: dict[str, Any] = {
            key: LIMITS[key][1].read(key, options[key], LIMITS[key][0]) for key in LIMITS if key in options
        }
        self.limit = Limit(**given).or_else(Limit(time=SECONDS))
        for key, value in options.items():
            if key not in LIMITS:
                engine.set_option(key, value)
        self._set_variant(game.uci_variant)
        self.shown: Position | None = None  # the position that it thought about last, to know when a game begins
        engine.await_ready()

    def choose(self, position: Position, limit: Limit = NO_LIMIT) -> Decision:
        check_can_choose(self, position, limit)
        clock, limit = Clock(limit), replace(limit.or_else(self.limit), stop=limit.stop)
        self._begin_if_new(position)
        self.engine.say(self._command_to_show(position))
        timeout = self.engine.timeout if limit.time is None else 10 * limit.time + 5
        thought = self.engine.think(go_command(limit), timeout, limit)
        after = self._after(position, thought.move)
        assert after.action is not None
        unkept = [name for name in limit.given if name not in LIMITS]
        return Decision(
            after.action,
            thought.value,
            policy={after.action: 1.0},
            principal_variation=self._line(position, after, thought),
            nodes=thought.nodes,
            depth=thought.depth,
            seconds=clock.seconds,
            note=f"{self.engine.name} takes no limit on {', '.join(unkept)}" if unkept else "",
        )

    def _set_variant(self, variant: str) -> None:
        """Tells an engine which game it is, if it has the choice; chess is what the others play."""
        if "ucivariant" in self.engine.options:
            self.engine.set_option("UCI_Variant", variant)
        elif variant != "chess":
            raise EngineError(f"{self.engine.name} plays chess, and has no UCI_Variant for {variant}")

    def _begin_if_new(self, position: Position) -> None:
        """Tells the engine that another game has begun, unless the position comes after the last one."""
        before: Position | None = position
        while before is not None and before is not self.shown:
            before = before.previous
        if before is None:
            self.engine.say("ucinewgame")
            self.engine.await_ready()
        self.shown = position

    def _command_to_show(self, position: Position) -> str:
        """The command that sets up a position: where it began, and its moves since then."""
        steps: list[str] = []
        while position.previous is not None and position.action is not None:
            steps.append(position.previous.uci_text(position.action))
            position = position.previous
        is_usual = position.diagram() == self.game.start().diagram()
        start = "startpos" if is_usual else f"fen {position.diagram()}"
        return " ".join(["position", start, *(["moves"] if steps else []), *reversed(steps)])

    def _after(self, position: Position, move: str) -> Position:
        """The position after the engine's move."""
        try:
            return position.play(position.read_uci(move))
        except TengenError as reason:
            said = f"played {move[:40]!r}: {reason}" if move else "named no move"
            raise EngineError(f"{self.name} {said}\n{position}") from None

    def _line(self, position: Position, after: Position, thought: Thought) -> tuple[int, ...]:
        """What the engine expects, as far as that makes sense; its move first."""
        assert after.action is not None
        actions = [after.action]
        if thought.line[:1] == (thought.move,):
            for word in thought.line[1:]:
                try:
                    after = after.play(after.read_uci(word))
                except TengenError:
                    break
                assert after.action is not None
                actions.append(after.action)
        return tuple(actions)


def plain(name: str) -> str:
    """An option's name as it is compared: in small letters, without blanks and lines."""
    return re.sub(r"[\s_-]", "", name).lower()


def go_command(limit: Limit) -> str:
    """The command that begins a search."""
    words = ["go"]
    if limit.time is not None:
        words += ["movetime", str(max(round(1000 * limit.time), 1))]
    for name in ("nodes", "depth"):
        if (most := getattr(limit, name)) is not None:
            words += [name, str(most)]
    return " ".join(words if len(words) > 1 else [*words, "movetime", str(round(1000 * SECONDS))])


def read_spec(text: str) -> tuple[str, dict[str, str]]:
    """A command line, and the options that follow it, of a spec; commas in quotes belong to the command."""
    command, *rest = pieces_of(text)
    options: dict[str, str] = {}
    for piece in filter(None, (piece.strip() for piece in rest)):
        name, equals, value = (part.strip() for part in piece.partition("="))
        if not equals or not name:
            raise BadParameter(
                f"{piece!r} is not an option of an engine; write name=value, or quote the comma before it"
            )
        options[name.lower() if name.lower() in LIMITS else name] = value
    return command, options


def pieces_of(text: str) -> list[str]:
    """A text cut at its commas, but not within quotes."""
    pieces, place = [], 0
    while place <= len(text):
        match = PIECE.match(text, place)
        assert match is not None
        pieces.append(match[1])
        place = match.end() if match.end() > match.end(1) else len(text) + 1
    return pieces


def load_uci(text: str, game: Game) -> UciAgent:
    """The agent of a spec without its `uci:`; an engine that cannot play as it says is not left behind."""
    command, options = read_spec(text)
    engine = UciEngine(command)
    try:
        return UciAgent(game, engine, options)
    except BaseException:
        engine.close()
        raise
