"""Games as strings of moves, one a line: Renju's `h8i9g9`, Othello's `f5d6c3`, connect four's `4453`.

Moves run together or stand apart, by spaces or commas. A line may begin with the spec of its game, and those we write
do: `renju h8i9g9`. A line without one is of the game that the reader gives. Without that, too, it is Othello if all of
it is legal there, and otherwise freestyle Gomoku on 15×15, where every game of Renju is legal as well.

A pass of Othello may be `pass`, `pa`, `ps` or `--`, or be left out where it is forced; it always comes back. Empty
lines and lines that begin with # are passed over. Only the moves are kept: no names, no times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from tengen.games import file_names, other_names
from tengen.records.record import MOST_GAMES, Record, RecordError, must_pass, plays_points, recorded_game
from tengen.rules.errors import TengenError
from tengen.rules.game import Game, Position

PASSES = ("pass", "--", "pa", "ps")
SPEC = re.compile(r"(?:.*\.py(?::\S*)?|\S+)(?=\s|$)")  # the path of a user's game may hold spaces
MOVE = re.compile(r"[a-z]\d|\d|--|pa|ps", re.IGNORECASE)  # how one begins, roughly
BLANK = re.compile(r"[\s,]*")
GUESSES = ("reversi", "gomoku")


def write_moves(*records: Record) -> str:
    """The records, one a line; raises if a move is illegal. Forced passes are left out where a move follows."""
    return "".join(f"{record.game.spec} {_moves_text(record)}".rstrip() + "\n" for record in records)


def _moves_text(record: Record) -> str:
    game, positions, words = record.game, list(record.positions()), []
    for before, action, following in zip(positions, record.moves, (*record.moves[1:], None), strict=False):
        if following in (None, game.cells) or not must_pass(before):
            words.append(game.action_text(action))
    return ("" if plays_points(game) else " ").join(words)


def is_moves(text: str) -> bool:
    """Whether the first line that counts begins like one of ours: with the name of a game, or with a move."""
    line = next(_lines(text), (0, ""))[1].strip()
    return bool(MOVE.match(line)) or _spec(line, 0) is not None


def read_moves(text: str, game: Game | None = None) -> list[Record]:
    """The games of a text; raises RecordError, with line and column, if one cannot be read."""
    records: list[Record] = []
    for number, line in _lines(text):
        try:
            records.append(Record.of(_read_line(line, game)))
        except _Misplaced as reason:
            raise RecordError(f"{reason} (line {number}, column {reason.place + 1})") from reason
        except TengenError as reason:
            raise RecordError(f"{reason} (line {number})") from reason
        if len(records) > MOST_GAMES:
            raise RecordError(f"the file has more than {MOST_GAMES:,} games; divide it")
    return records


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that count, each with its number."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


def _spec(line: str, begin: int) -> re.Match[str] | None:
    """The spec that a line begins with, if it does."""
    match = SPEC.match(line, begin)
    return match if match and (".py" in match[0] or match[0].partition(":")[0] in _names()) else None


@cache
def _names() -> frozenset[str]:
    return frozenset([*file_names(), *other_names()])


class _Misplaced(RecordError):
    """What is wrong in a line, and at which of its characters."""

    def __init__(self, reason: str, place: int):
        super().__init__(reason)
        self.place = place


def _read_line(line: str, given: Game | None) -> Position:
    """The end of the game in a line."""
    begin = len(line) - len(line.lstrip())
    if spec := _spec(line, begin):
        return _play_line(recorded_game(spec[0], given), line, spec.end())
    if given is not None:
        return _play_line(given, line, begin)
    failures = []
    for name in GUESSES:
        try:
            return _play_line(recorded_game(name), line, begin)
        except _Misplaced as reason:
            failures.append(reason)
    raise max(failures, key=lambda reason: reason.place)  # that of the game which explains more of the line


def _play_line(game: Game, line: str, begin: int) -> Position:
    """Plays the moves of a line from character `begin` on."""
    position = game.start()
    for place, word in _words(game, line, begin):
        try:
            action = game.parse_action("pass" if word.lower() in PASSES else word)
            if must_pass(position) and action != game.cells:
                position = position.play(game.cells)
            position = position.play(action)
        except TengenError as reason:
            raise _Misplaced(str(reason), place) from reason
    return position


def _words(game: Game, line: str, begin: int) -> Iterator[tuple[int, str]]:
    """The moves of a line, each with its place."""
    own = getattr(game.parameters, "move_pattern", r"[a-z]\d+")
    passes = f"{'|'.join(PASSES)}|" if plays_points(game) and game.actions > game.cells else ""
    pattern = re.compile(passes + own, re.IGNORECASE)
    place = _skip(line, begin)
    while place < len(line):
        if not (match := pattern.match(line, place)):
            raise _Misplaced(f"{line[place : place + 12]!r} is not a move; write one as {game.action_text(0)}", place)
        yield place, match[0]
        place = _skip(line, match.end())


def _skip(line: str, place: int) -> int:
    match = BLANK.match(line, place)
    assert match is not None
    return match.end()
