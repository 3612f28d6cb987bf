"""What a query of KataGo's analysis protocol asks: a line of JSON as positions and what is wanted of each."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tengen.apps.gtp.session import turn_with_passes
from tengen.apps.gtp.vertices import Vertices
from tengen.games import load_game
from tengen.knowledge.go_counting import TERRITORY, CountingRules, counting_rules
from tengen.knowledge.ownership import before_passes
from tengen.rules.errors import TengenError
from tengen.rules.game import Position

BLACK, WHITE, MOVER = "BLACK", "WHITE", "SIDETOMOVE"
COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}
IGNORED = {"rootPolicyTemperature", "rootFpuReductionMax", "whiteHandicapBonus", "includeNoResultValue"}
IGNORED |= {"includeOwnershipStdev", "includeMovesOwnershipStdev", "includePVVisits"}
KNOWN = {"id", "moves", "initialStones", "initialPlayer", "rules", "komi", "boardXSize", "boardYSize", "analyzeTurns"}
KNOWN |= {"maxVisits", "includeOwnership", "includeMovesOwnership", "includePolicy", "avoidMoves", "allowMoves"}
KNOWN |= {"overrideSettings", "reportDuringSearchEvery", "priority", "priorities", "analysisPVLen"}
LONGEST_GAME = 1500  # moves of a query


class QueryError(TengenError):
    """What is wrong with a query, and in which of its fields."""

    def __init__(self, field: str, reason: str):
        super().__init__(reason)
        self.field = field


@dataclass(frozen=True)
class AnalysisQuery:
    """One query; every turn of it is answered by itself."""

    name: str  # its id
    positions: Mapping[int, Position]  # by turn
    priorities: Mapping[int, int]
    visits: int
    seconds: float | None
    every: float | None  # seconds between reports while the search goes on
    perspective: str
    with_ownership: bool
    with_moves_ownership: bool
    with_policy: bool
    longest_line: int
    avoided: Mapping[int, frozenset[str]]  # vertices that a player is not told of, by player
    allowed: Mapping[int, frozenset[str]]
    warnings: tuple[tuple[str, str], ...]  # a field, and what is not as it asks


def read_object(line: str) -> dict[str, Any]:
    """A line as an object with an id."""
    try:
        said = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as reason:
        raise QueryError("", f"Could not parse input line as json request: {reason}") from None
    if not isinstance(said, dict):
        raise QueryError("", "Input line is not a json object")
    if not isinstance(said.get("id"), str):
        raise QueryError("id", "Request must have a string 'id' field")
    return said


def read_query(said: dict[str, Any], usual_visits: int) -> AnalysisQuery:
    """The query of an object; raises QueryError."""
    warnings = [(field, "is not supported, and ignored") for field in said if field in IGNORED]
    warnings += [(field, "Unexpected or unused field") for field in said if field not in KNOWN | IGNORED]
    settings = said.get("overrideSettings", {})
    if not isinstance(settings, dict):
        raise QueryError("overrideSettings", "Must be an object")
    taken = ("reportAnalysisWinratesAs", "maxTime", "maxVisits")
    warnings += [("overrideSettings", f"{key} is ignored") for key in settings if key not in taken]
    rules = read_rules(said)
    if rules.counts == TERRITORY:
        warnings.append(("rules", "the search counts areas; territory is counted at the end of a game alone"))
    positions = read_positions(said, rules)
    turns = read_turns(said, len(positions) - 1)
    return AnalysisQuery(
        name=said["id"],
        positions={turn: before_passes(positions[turn]) for turn in turns},
        priorities=read_priorities(said, turns),
        visits=whole(said, "maxVisits", int(settings.get("maxVisits", usual_visits)), 1, 10**9),
        seconds=number(settings, "maxTime", None, 0.001, 1e6),
        every=number(said, "reportDuringSearchEvery", None, 0.001, 1e6),
        perspective=read_perspective(settings),
        with_ownership=truth(said, "includeOwnership"),
        with_moves_ownership=truth(said, "includeMovesOwnership"),
        with_policy=truth(said, "includePolicy"),
        longest_line=whole(said, "analysisPVLen", 15, 1, 1000) + 1,
        avoided=read_restrictions(said, "avoidMoves"),
        allowed=read_restrictions(said, "allowMoves"),
        warnings=tuple(warnings),
    )


def read_rules(said: dict[str, Any]) -> CountingRules:
    """Rules by their name, or as KataGo's object of single rules, of which scoring and suicide count here."""
    rules = said.get("rules")
    try:
        if isinstance(rules, dict):
            is_territory = str(rules.get("scoring", rules.get("scoringRule", "AREA"))).upper() == "TERRITORY"
            has_suicide = bool(rules.get("suicide", rules.get("multiStoneSuicideLegal", False)))
            return counting_rules("japanese" if is_territory else "tromp-taylor" if has_suicide else "chinese")
        if isinstance(rules, str):
            return counting_rules(rules)
    except TengenError as reason:
        raise QueryError("rules", f"Could not parse rules: {reason}") from reason
    raise QueryError("rules", "Must be specified, as a string or an object")


def read_positions(said: dict[str, Any], rules: CountingRules) -> list[Position]:
    """The position before the first move, then after each."""
    columns, rows = (whole(said, field, None, 2, 19) for field in ("boardXSize", "boardYSize"))
    if columns != rows:
        raise QueryError("boardYSize", f"Boards are square here, not {columns}×{rows}")
    komi = number(said, "komi", 7.5 if rules.counts != TERRITORY else 6.5, -150, 150)
    assert komi is not None
    game = load_game(f"go:size={columns},komi={komi:g},suicide={rules.suicide}")
    vertices, moves = Vertices(game), pairs(said, "moves", is_required=True)
    first = COLOURS.get(str(said.get("initialPlayer", moves[0][0] if moves else "b")).lower())
    if first is None:
        raise QueryError("initialPlayer", "Must be 'B' or 'W'")
    board = np.full(game.cells, ".", "U1")
    for player, vertex in pairs(said, "initialStones"):
        try:
            board[vertices.coordinates.cell(vertex)] = "XO"[COLOURS[player.lower()]]
        except TengenError as reason:
            raise QueryError("initialStones", f"Could not parse: {reason}") from reason
    try:
        diagram = "/".join("".join(row) for row in board.reshape(game.shape))
        positions = [game.from_board(diagram, first) if (board != ".").any() or first else game.start()]
    except TengenError as reason:
        raise QueryError("initialStones", f"Illegal stones: {reason}") from reason
    if len(moves) > LONGEST_GAME:
        raise QueryError("moves", f"More than {LONGEST_GAME} moves")
    for number_, (player, vertex) in enumerate(moves):
        try:
            before = turn_with_passes(positions[-1], COLOURS[player.lower()])
            positions.append(before.play(vertices.action(before, vertex)))
        except TengenError as reason:
            raise QueryError("moves", f"Illegal move {number_}: {vertex} ({reason})") from reason
    return positions


def pairs(said: dict[str, Any], field: str, is_required: bool = False) -> list[tuple[str, str]]:
    """Pairs of a player and a vertex."""
    value = said.get(field, None if is_required else [])
    wrong = QueryError(field, "Must be an array of pairs of the form ['B', 'Q4'] or ['W', 'pass']")
    if not isinstance(value, list):
        raise wrong
    for pair in value:
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(word, str) for word in pair)):
            raise wrong
        if pair[0].lower() not in COLOURS:
            raise wrong
    return [(player, vertex) for player, vertex in value]


def read_turns(said: dict[str, Any], last: int) -> list[int]:
    """The turns that are asked about; by default the last."""
    turns = said.get("analyzeTurns", [last])
    if not isinstance(turns, list) or not all(type(turn) is int and 0 <= turn <= last for turn in turns):
        raise QueryError("analyzeTurns", f"Must be an array of integers from 0 to {last}")
    return sorted(set(turns))


def read_priorities(said: dict[str, Any], turns: list[int]) -> dict[int, int]:
    """How urgent each turn is."""
    one = whole(said, "priority", 0, -(10**9), 10**9)
    many = said.get("priorities")
    if many is None:
        return dict.fromkeys(turns, one)
    asked = said.get("analyzeTurns", [])
    if not isinstance(many, list) or len(many) != len(asked) or not all(type(each) is int for each in many):
        raise QueryError("priorities", "Must be an array of integers, as many as analyzeTurns has")
    return dict(zip(asked, many, strict=True))


def read_perspective(settings: dict[str, Any]) -> str:
    """Whose win rates and leads are reported."""
    asked = str(settings.get("reportAnalysisWinratesAs", BLACK)).upper()
    if asked not in (BLACK, WHITE, MOVER):
        raise QueryError("overrideSettings", f"reportAnalysisWinratesAs must be {BLACK}, {WHITE} or {MOVER}")
    return asked


def read_restrictions(said: dict[str, Any], field: str) -> dict[int, frozenset[str]]:
    """Moves that are not to be told of, or the only ones that are, by player."""
    found: dict[int, frozenset[str]] = {}
    value = said.get(field, [])
    if not isinstance(value, list):
        raise QueryError(field, "Must be an array of objects")
    for each in value:
        if not isinstance(each, dict) or str(each.get("player", "")).lower() not in COLOURS:
            raise QueryError(field, "Must be objects with 'player', 'moves' and 'untilDepth'")
        player, moves = COLOURS[str(each["player"]).lower()], each.get("moves")
        if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
            raise QueryError(field, "'moves' must be an array of strings")
        found[player] = found.get(player, frozenset()) | {move.upper() for move in moves}
    return found


def whole(said: dict[str, Any], field: str, default: int | None, least: int, most: int) -> int:
    """A whole number of a field."""
    value = said.get(field, default)
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not least <= value <= most:
        raise QueryError(field, f"Must be an integer from {least} to {most}")
    return value


def number(said: dict[str, Any], field: str, default: float | None, least: float, most: float) -> float | None:
    """A number of a field; None, if there is none and there is no default."""
    value = said.get(field, default)
    if value is None:
        return None
    if type(value) not in (int, float) or not math.isfinite(value) or not least <= value <= most:
        raise QueryError(field, f"Must be a number from {least:g} to {most:g}")
    return float(value)


def truth(said: dict[str, Any], field: str) -> bool:
    """A yes or no of a field; no by default."""
    value = said.get(field, False)
    if type(value) is not bool:
        raise QueryError(field, "Must be a boolean")
    return value
