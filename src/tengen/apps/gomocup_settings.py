"""What a Gomocup manager tells by INFO: the rule, the time, the memory; and what follows from it for a search."""

from __future__ import annotations

import os
import re
import threading
from collections import deque
from dataclasses import dataclass, field, fields

from tengen.apps.timing import LEAST, seconds_for
from tengen.rules.errors import TengenError
from tengen.rules.game import Position
from tengen.search.limits import Limit

EXACT, CONTINUOUS, RENJU, CARO = 1, 2, 4, 8  # the bits of INFO rule
RENJU_OF_YIXIN = 2  # Yixin-Board knows no continuous games, and gives their number to Renju
RULES = "INFO rule is 0 (freestyle), 1 (exactly five) or 4 (renju)"
FOREVER = 2**31 - 1  # milliseconds: INFO time_left where the match has no limit
MOST_DEPTH, MOST_NODES = 100, 10**9  # from here on Yixin-Board means no limit
MEGABYTE = 2**20
PYTHON = 200  # megabytes that the process takes without any tables
NUMBER = re.compile(r"[+-]?\d{1,15}", re.ASCII)


class BadCommand(TengenError):
    """A command that cannot be understood, or not now."""


@dataclass
class GomocupSettings:
    """What INFO has told; times in milliseconds, None if nothing was said."""

    rule: int = 0
    timeout_turn: int | None = None  # 0: as fast as possible
    timeout_match: int | None = None  # 0: no limit
    time_left: int | None = None
    max_memory: int | None = None  # bytes, of the whole process; 0: no limit
    hash_size: int | None = None  # kilobytes, of tables alone
    thread_num: int | None = None
    max_depth: int | None = None
    max_node: int | None = None
    show_detail: int = 0
    spent: float = 0.0  # seconds of the match since `left` was last told
    troubles: deque[str] = field(default_factory=lambda: deque(maxlen=8))  # to be told before the next answer

    def tell(self, key: str, value: str) -> None:
        """Takes one INFO, which is never answered. What we have no use for (folder, game_type, …) is ignored."""
        if key not in KEYS_OF_INFO:
            return
        if not NUMBER.fullmatch(value):
            self.troubles.append(f"INFO {key} {value[:40]} is ignored: {key} is a whole number")
            return
        setattr(self, key, int(value))
        if key == "timeout_match":  # a new match
            self.time_left = None
        if key in ("timeout_match", "time_left"):
            self.spent = 0.0

    @property
    def left(self) -> float | None:
        """Seconds left for the match; None if it has no limit."""
        told = self.timeout_match if self.time_left is None else self.time_left
        if told is None or told == FOREVER or self.timeout_match == 0:
            return None
        return told / 1000 - self.spent

    def limit(self, position: Position, late: float, stop: threading.Event) -> Limit:
        """How long to think about a move, `late` seconds after it was asked for; nothing is given if nothing limits."""
        seconds = None
        if self.timeout_turn is not None and self.timeout_turn <= 0:
            seconds = LEAST
        elif self.left is not None:
            most = None if self.timeout_turn is None else self.timeout_turn / 1000
            seconds = seconds_for(position, self.left, most=most)
        elif self.timeout_turn is not None:
            seconds = seconds_for(position, self.timeout_turn / 1000, moves=1)
        return Limit(
            time=None if seconds is None else max(seconds - late, LEAST),
            depth=self.max_depth if self.max_depth is not None and 0 < self.max_depth < MOST_DEPTH else None,
            nodes=self.max_node if self.max_node is not None and 0 < self.max_node < MOST_NODES else None,
            stop=stop,
        )

    def memory(self) -> int | None:
        """How many megabytes an agent's tables may take; None if nothing limits them."""
        allowed = []
        if self.max_memory is not None and self.max_memory > 0:
            allowed.append(self.max_memory // MEGABYTE - PYTHON)
        if self.hash_size is not None and self.hash_size > 0:
            allowed.append(self.hash_size // 1024)
        return max(min(allowed), 1) if allowed else None

    def threads(self) -> int | None:
        """How many cores an agent may use; None if nothing was said."""
        return None if self.thread_num is None else max(1, min(self.thread_num, os.cpu_count() or 1))

    def rule_name(self, is_yixin: bool) -> str:
        """The rule as our Gomoku calls it; raises BadCommand for one that it does not have."""
        if is_yixin and self.rule == RENJU_OF_YIXIN:
            return "renju"
        if not 0 <= self.rule <= EXACT + CONTINUOUS + RENJU + CARO:
            raise BadCommand(f"there is no rule {self.rule}: {RULES}")
        for bit, name in ((CARO, "the caro rule is"), (CONTINUOUS, "continuous games are")):
            if self.rule & bit:
                raise BadCommand(f"{name} not supported: {RULES}")
        return "renju" if self.rule & RENJU else "standard" if self.rule & EXACT else "freestyle"


KEYS_OF_INFO = {part.name for part in fields(GomocupSettings)} - {"spent", "troubles"}
