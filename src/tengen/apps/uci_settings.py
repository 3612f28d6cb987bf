"""What a GUI says to a UCI engine: which search it wants, for how long, and which options it sets."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tengen.agents.specs import maker_of
from tengen.apps.timing import LATE, LEAST, LONGEST, for_one_move, seconds_for
from tengen.rules.board import Between, OneOf
from tengen.rules.errors import BadParameter, TengenError, nearest
from tengen.rules.game import Position
from tengen.rules.plugins import Option
from tengen.search.limits import Limit

NUMBERS = ("wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime")
FLAGS = ("infinite", "ponder")
MOVES = "searchmoves"
NUMBER = re.compile(r"[+-]?\d{1,15}", re.ASCII)
OFTEN = 0.8  # share of an increment that is spent at once
ALL_OF_IT = 0.5  # share of the clock that no move takes more of, unless it is the last for that time
UNTIMED = 1.0  # seconds after a hit, where no limit was given
DEEPEST = 126  # plies
OWN_NAMES = {"memory": "Hash", "threads": "Threads"}  # of agents' options that every GUI knows
LIMITS = ("time", "nodes", "depth", "playouts", "simulations")  # which `go` sets
WORDS = re.compile(r"name\s+(.*?)(?:\s+value(?:\s+(.*))?)?", re.DOTALL)


class BadUci(TengenError):
    """A command that cannot be understood, or not now."""


@dataclass
class GoRequest:
    """The words after `go`. Times are milliseconds."""

    numbers: dict[str, int] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    moves: list[str] = field(default_factory=list)  # to which the search is confined; none for all
    ignored: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, words: Sequence[str]) -> GoRequest:
        """What makes no sense is passed over, and kept as `ignored`."""
        request, rest = cls(), list(words)
        while rest:
            word = rest.pop(0)
            if word in FLAGS:
                request.flags.add(word)
            elif word == MOVES:
                while rest and rest[0] not in (*NUMBERS, *FLAGS, MOVES):
                    request.moves.append(rest.pop(0))
            elif word in NUMBERS and rest and NUMBER.fullmatch(rest[0]):
                request.numbers[word] = int(rest.pop(0))
            else:
                request.ignored.append(word)
        return request

    def seconds(self, position: Position, late: float) -> float | None:
        """How long to think about a move, where answers are late by so much; None if no time is given."""
        if "movetime" in self.numbers:
            whole = self.numbers["movetime"] / 1000
            return min(max(whole - late, whole / 4, LEAST), LONGEST)
        clock, increment = ("wtime", "winc") if position.to_play == 0 else ("btime", "binc")
        if clock not in self.numbers:
            return None
        left, more = (max(self.numbers.get(name, 0), 0) / 1000 for name in (clock, increment))
        moves = max(self.numbers.get("movestogo", 0), 0)
        share = seconds_for(position, left, moves)
        if share > LEAST:
            share += OFTEN * for_one_move(more) if more > 0 else 0
            share = min(share, for_one_move(left) if moves == 1 else ALL_OF_IT * left)
        return min(max(share, LEAST), LONGEST)

    def depth(self) -> int | None:
        """The most plies to look ahead: of a search for a mate, as many as it takes."""
        depths = [self.numbers["depth"]] if self.numbers.get("depth", 0) > 0 else []
        depths += [2 * self.numbers["mate"] - 1] if self.numbers.get("mate", 0) > 0 else []
        return min(*depths, DEEPEST, DEEPEST) if depths else None

    def nodes(self) -> int | None:
        return self.numbers["nodes"] if self.numbers.get("nodes", 0) > 0 else None

    @property
    def is_endless(self) -> bool:
        """Whether the answer has to wait until the GUI asks for it."""
        return bool(self.flags)


class Order:
    """A `go` that was heard: what it asks for, and how the thread that listens ends it.

    The search of an order ends when `stop` is set; its answer waits until `released` is set, too.
    """

    def __init__(self, request: GoRequest):
        self.request = request
        self.stop, self.released = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._ponders = "ponder" in request.flags
        self._seconds: float | None = None  # that the search may take, once it is known
        if not request.is_endless:
            self.released.set()

    def end(self) -> None:
        """The move is wanted now."""
        self.stop.set()
        self.released.set()

    def hit(self) -> None:
        """The move that was pondered on was played: from now on time counts."""
        with self._lock:
            if self._ponders and "infinite" not in self.request.flags:
                self._ponders = False
                self.released.set()
                if self._seconds is not None:
                    self._end_in(self._seconds)
                elif not (self.request.depth() or self.request.nodes()):
                    self._end_in(UNTIMED)

    def time_for(self, seconds: float | None) -> float | None:
        """The seconds that the search may take, None while it ponders: then they count from the hit on."""
        with self._lock:
            self._seconds = seconds
            return None if self._ponders else seconds

    def _end_in(self, seconds: float) -> None:
        timer = threading.Timer(seconds, self.stop.set)
        timer.daemon = True
        timer.start()

    def limit(self, position: Position, late: float, can_look_deep: bool) -> Limit:
        """When the search has to stop; empty if that is the agent's own affair."""
        request = self.request
        depth = request.depth() if can_look_deep else None
        time = self.time_for(request.seconds(position, late))
        if request.is_endless and time is None:
            time = LONGEST * 24
        return Limit(time=time, depth=depth, nodes=request.nodes(), stop=self.stop)


# OfferedOptions.


@dataclass
class UciOffer:
    """An option of ours, as a GUI is told of it."""

    name: str
    kind: str  # check, spin, combo, string, button
    default: str = ""
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()

    def line(self) -> str:
        words = ["option name", self.name, "type", self.kind]
        if self.kind != "button":
            words += ["default", self.default or "<empty>"]
        if self.kind == "spin":
            words += ["min", str(self.least), "max", str(self.most)]
        return " ".join([*words, *(f"var {choice}" for choice in self.choices)])

    def read(self, value: str) -> str:
        """A value that it may have; raises BadUci for any other."""
        if self.kind == "spin":
            if not NUMBER.fullmatch(value) or not self.least <= int(value) <= self.most:
                raise BadUci(f"{self.name} is a whole number from {self.least} to {self.most}, not {value[:40]!r}")
        elif self.kind == "check" and value.lower() not in ("true", "false"):
            raise BadUci(f"{self.name} is true or false, not {value[:40]!r}")
        elif self.kind == "combo" and value not in self.choices:
            raise BadUci(f"{self.name} is no {value[:40]!r}{nearest(value, self.choices)}")
        return value.lower() if self.kind == "check" else value


def offer_of(name: str, option: Option) -> UciOffer:
    """An agent's option as UCI has them."""
    allowed, default = option.allowed, option.default
    if isinstance(allowed, OneOf) and default is not None:
        text = default if isinstance(default, str) else allowed.text(default)
        return UciOffer(name, "combo", text, choices=allowed.names)
    if isinstance(allowed, Between) and option.kind is int and default is not None:
        return UciOffer(name, "spin", str(default), int(allowed.low), int(allowed.high))
    return UciOffer(name, "string", "" if default is None else str(default))


class OfferedOptions:
    """What a GUI may set: what every chess engine has, and the options of the agent that its spec leaves open."""

    def __init__(self, spec: str):
        maker, _, rest = maker_of(spec)
        given = {piece.partition("=")[0].strip() for piece in rest.split(",")}
        self.of_agent: dict[str, tuple[str, Option]] = {}  # by the name that a GUI sees
        if not maker.is_command:
            for key, option in maker.options.items():
                if key not in given and key not in LIMITS:
                    self.of_agent[OWN_NAMES.get(key, key)] = key, option
        self.offers = [offer_of(name, option) for name, (_, option) in self.of_agent.items()]
        self.offers += [
            UciOffer("Clear Hash", "button"),
            UciOffer("Ponder", "check", "false"),
            UciOffer("MultiPV", "spin", "1", 1, 1),
            UciOffer("Move Overhead", "spin", str(round(1000 * LATE)), 0, 5000),
            UciOffer("UCI_AnalyseMode", "check", "false"),
        ]
        self.values = {offer.name: offer.default for offer in self.offers}

    @property
    def late(self) -> float:
        """By how many seconds an answer may be late."""
        return int(self.values["Move Overhead"]) / 1000

    def set(self, text: str) -> str:
        """Sets the option of the words after `setoption`, and returns its name."""
        if not (match := WORDS.fullmatch(text.strip())):
            raise BadUci("setoption needs a name: setoption name Hash value 128")
        wanted, value = " ".join(match[1].split()), (match[2] or "").strip()
        for offer in self.offers:
            if offer.name.lower() == wanted.lower():
                if offer.kind != "button":
                    self.values[offer.name] = self._checked(offer, "" if value == "<empty>" else value)
                return offer.name
        raise BadUci(f"there is no option {wanted[:40]!r}{nearest(wanted, [offer.name for offer in self.offers])}")

    def _checked(self, offer: UciOffer, value: str) -> str:
        value = offer.read(value)
        if offer.name in self.of_agent and value:
            key, option = self.of_agent[offer.name]
            try:
                option.read(key, value)
            except BadParameter as reason:
                raise BadUci(str(reason)) from reason
        return value

    def for_agent(self) -> dict[str, Any]:
        """What the agent is told beside its spec."""
        defaults = {offer.name: offer.default for offer in self.offers}
        chosen = {name: self.values[name] for name in self.of_agent if self.values[name] != defaults[name]}
        return {self.of_agent[name][0]: value for name, value in chosen.items()}
