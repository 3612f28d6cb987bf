"""The clocks of a game as the Go Text Protocol sets them: absolute time, Canadian overtime, byo-yomi, or none."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.apps.timing import seconds_for
from tengen.rules.game import Position

NONE, ABSOLUTE, CANADIAN, BYOYOMI = "none", "absolute", "canadian", "byoyomi"


@dataclass
class Side:
    """One player's clock. In overtime `count` is more than zero: moves to make (Canadian), or periods (byo-yomi)."""

    left: float
    count: int


class GameClock:
    """Both players' clocks. They run by what was spent here; a controller that says what is left knows better."""

    def __init__(self) -> None:
        self.set(NONE)
        self.was_told = False  # whether the controller has set the clocks, if only to say that there are none

    def set(self, system: str, main: float = 0.0, overtime: float = 0.0, count: int = 0) -> None:
        """Other settings: `main` seconds, then `overtime` seconds for `count` moves, or `count` times for one move."""
        self.was_told = True
        self.system, self.main, self.overtime, self.count = system, main, overtime, count
        if system in (CANADIAN, BYOYOMI) and (count < 1 or overtime <= 0):
            self.system = ABSOLUTE
        self.restart()

    def restart(self) -> None:
        """Both clocks are full again."""
        self.sides = [Side(self.main, 0), Side(self.main, 0)]
        for side in self.sides:
            self._enter_overtime(side)

    def tell(self, player: int, left: float, count: int) -> None:
        """What the controller says: `left` seconds of main time, or for `count` moves (or periods) of overtime."""
        if self.system == NONE and self.was_told:
            return
        if self.system == NONE:
            self.set(CANADIAN if count > 0 else ABSOLUTE, left, left, count)
        self.sides[player] = Side(left, max(count, 0))

    def seconds(self, position: Position) -> float | None:
        """How long the player to move should think; None if nobody limits that."""
        if self.system == NONE:
            return None
        side = self.sides[position.to_play]
        if side.count > 0:
            return seconds_for(position, side.left, self._moves(side.count))
        share = seconds_for(position, side.left)
        if self._has_overtime:  # if the main time runs out, the rest of this is still there
            share = max(share, seconds_for(position, self.overtime, self._moves(self.count)))
        return share

    def spend(self, player: int, seconds: float) -> None:
        """A move took so long. The move that ends the main time is one of those that Canadian overtime asks for."""
        side = self.sides[player]
        side.left -= seconds
        was_in_overtime = side.count > 0
        if not was_in_overtime:
            self._enter_overtime(side)
        if side.count == 0:
            return
        if self.system == BYOYOMI:
            if was_in_overtime:
                side.count = max(side.count - (side.left <= 0), 1)
                side.left = self.overtime
        elif side.count > 1:
            side.count -= 1
        else:
            side.left, side.count = self.overtime, self.count

    @property
    def _has_overtime(self) -> bool:
        return self.system in (CANADIAN, BYOYOMI)

    def _enter_overtime(self, side: Side) -> None:
        if self._has_overtime and side.left <= 0:
            side.left, side.count = self.overtime + side.left, self.count

    def _moves(self, count: int) -> int:
        """For how many moves the time of an overtime is."""
        return count if self.system == CANADIAN else 1
