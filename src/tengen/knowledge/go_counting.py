"""The count of Go as players know it: Chinese, Japanese, AGA and other rules, with the dead stones that are agreed on.

The rules that are played by (games/go.py) end a game by two passes and count areas, all stones alive. How players count
is a matter after the game: a function of the last board, of what is dead and in seki on it, and of what was captured.
Whether suicide or repetition is legal stays with the rules of play; Japanese rules are a way to count here, no more.

Area: stones, and empty points that reach one colour alone. Territory: these points alone, and captured and dead stones;
eyes in a seki are nobody's. White's compensation for a handicap of n stones is n points by Chinese rules, n − 1 by AGA
rules, and none by Japanese ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tengen.knowledge.go import is_go
from tengen.knowledge.groups import connected, neighbours_of, owner_of
from tengen.knowledge.ownership import Outlook, estimate
from tengen.rules.errors import BadParameter, nearest
from tengen.rules.game import Position

AREA, TERRITORY = "area", "territory"
COMPENSATION = {"none": lambda stones: 0, "each": lambda stones: stones, "but one": lambda stones: max(stones - 1, 0)}


class CountingRules(NamedTuple):
    """How a game is counted when it is over."""

    name: str  # as files and protocols have it
    counts: str  # AREA or TERRITORY
    removes_dead: bool  # False: all stones on the board are alive
    compensation: str  # of COMPENSATION: what White gets for a handicap
    suicide: int = 0  # whether these rules allow it, for those who choose the rules of play by them


CHINESE = CountingRules("Chinese", AREA, True, "each")
JAPANESE = CountingRules("Japanese", TERRITORY, True, "none")
KOREAN = CountingRules("Korean", TERRITORY, True, "none")
AGA = CountingRules("AGA", AREA, True, "but one")
NEW_ZEALAND = CountingRules("New Zealand", AREA, True, "each", 1)
TROMP_TAYLOR = CountingRules("Tromp-Taylor", AREA, False, "each", 1)
RULES = {
    "".join(filter(str.isalpha, rules.name.lower())): rules
    for rules in (CHINESE, JAPANESE, KOREAN, AGA, NEW_ZEALAND, TROMP_TAYLOR)
}
OTHER_NAMES = {"cn": CHINESE, "jp": JAPANESE, "ko": KOREAN, "kr": KOREAN, "tt": TROMP_TAYLOR, "nz": NEW_ZEALAND}
OTHER_NAMES |= {"chineseogs": CHINESE, "chinesekgs": CHINESE, "bga": AGA, "french": AGA, "agabutton": AGA}
OTHER_NAMES |= {"goe": TROMP_TAYLOR, "ing": TROMP_TAYLOR}


def counting_rules(name: str) -> CountingRules:
    """The rules of a name, however it is written; raises BadParameter if nobody counts so here."""
    word = "".join(filter(str.isalpha, name.lower()))
    if word in RULES:
        return RULES[word]
    if word in OTHER_NAMES:
        return OTHER_NAMES[word]
    raise BadParameter(f"no rules are called {name[:40]!r}{nearest(word, RULES)}; known are {', '.join(sorted(RULES))}")


def usual_rules(position: Position) -> CountingRules:
    """The rules that a game's own suit: Chinese, or Tromp-Taylor where suicide is allowed."""
    return TROMP_TAYLOR if getattr(position.game.parameters, "suicide", 0) else CHINESE


@dataclass(frozen=True)
class Holding:
    """What one player has."""

    stones: int  # alive on the board
    territory: int
    captures: int  # the other's stones: taken in the game, and dead on the board


@dataclass(frozen=True)
class Count:
    """A game as it was counted."""

    rules: CountingRules
    sides: tuple[Holding, Holding]
    komi: float
    compensation: int  # for a handicap
    players: tuple[str, str]

    def points(self, player: int) -> float:
        """What a player has in all."""
        side = self.sides[player]
        extra = self.komi + self.compensation if player == 1 else 0.0
        return side.territory + extra + (side.stones if self.rules.counts == AREA else side.captures)

    @property
    def margin(self) -> float:
        """The first player's."""
        return self.points(0) - self.points(1)

    @property
    def result(self) -> str:
        """As SGF has it."""
        return "0" if self.margin == 0 else f"{'B' if self.margin > 0 else 'W'}+{abs(self.margin):g}"

    def told(self) -> list[str]:
        """A line for each player, and one for the result."""
        return [*(self._line(player) for player in (0, 1)), f"{self.rules.name} rules: {self.result}"]

    def _line(self, player: int) -> str:
        side = self.sides[player]
        parts = [(side.stones, "stones")] if self.rules.counts == AREA else [(side.captures, "captures")]
        parts.insert(0, (side.territory, "territory"))
        words = [f"{number} {word}" for number, word in parts]
        taken = f" ({side.captures} captured)" if self.rules.counts == AREA and side.captures else ""
        if player == 1:
            words += [f"{self.komi:g} komi"] + [f"{self.compensation} for the handicap"] * bool(self.compensation)
        return f"{self.players[player]}: {' + '.join(words)} = {self.points(player):g}{taken}"

    def as_object(self) -> dict[str, Any]:
        """For JSON."""
        sides = [
            {"player": name, "points": self.points(player), **vars(self.sides[player])}
            for player, name in enumerate(self.players)
        ]
        return {"rules": self.rules.name, "result": self.result, "komi": self.komi, "players": sides} | (
            {"handicap": self.compensation} if self.compensation else {}
        )


def count(
    view: Outlook, rules: CountingRules, komi: float | None = None, handicap: int | None = None, agreed: bool = True
) -> Count:
    """The count of an estimated position; komi and handicap are the game's, unless others are given."""
    own = view.position.game.parameters
    komi = float(getattr(own, "komi", 0)) if komi is None else komi
    handicap = int(getattr(own, "handicap", 0)) if handicap is None else handicap
    is_agreed = rules.removes_dead and agreed
    dead, seki = (view.dead, view.seki) if is_agreed else (frozenset(), frozenset())
    sides = count_sides(view.position, dead, seki if rules.counts == TERRITORY else frozenset())
    return Count(rules, sides, komi, COMPENSATION[rules.compensation](handicap), view.position.game.players)


def told_in_full(position: Position) -> list[str]:
    """The score of a game of Go that is over, line by line; no lines for any other."""
    if position.outcome is None or not is_go(position.game):
        return []
    view, rules = estimate(position), usual_rules(position)
    played, agreed = count(view, rules, agreed=False), count(view, rules)
    differs = [f"without dead stones: {agreed.result}"] if agreed.result != played.result else []
    return played.told() + differs


def lead_text(lead: float) -> str:
    """A lead of the first player as players write it: B+3.5."""
    return "0" if lead == 0 else f"{'B' if lead > 0 else 'W'}+{abs(lead):.1f}"


def count_sides(
    position: Position, dead: frozenset[int], seki: frozenset[int] = frozenset()
) -> tuple[Holding, Holding]:
    """What both players have when dead stones are taken off; eyes of the chains in `seki` are nobody's."""
    before = position.board
    board = before.copy()
    board.flat[sorted(dead)] = 0
    territory = [0, 0, 0]
    for group in connected(board):
        if board.flat[group[0]] == 0 and not seki.intersection(neighbours_of(board, group)):
            territory[owner_of(board, group)] += len(group)
    lost = captured(position)
    sides = []
    for player in (0, 1):
        removed = int((before == 2 - player).sum() - (board == 2 - player).sum())
        sides.append(Holding(int((board == player + 1).sum()), territory[player + 1], lost[1 - player] + removed))
    return sides[0], sides[1]


def captured(position: Position) -> tuple[int, int]:
    """How many stones each player has lost since the start, or since the diagram that the game began from."""
    placed = np.zeros(2, np.int64)
    current = position
    while current.previous is not None:
        if current.action != position.game.cells:
            placed[current.previous.to_play] += 1
        current = current.previous
    for player in (0, 1):
        placed[player] += int((current.board == player + 1).sum()) - int((position.board == player + 1).sum())
    return int(placed[0]), int(placed[1])
