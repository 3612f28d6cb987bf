"""Gomoku's tournament records: .psq, as Piskvork and the Gomocup write them, and the older .rec.

A .psq file begins with `Piskvorky 15x15, 11:11, 0`: the board, the levels of both players (0 a person), and who began.
Then every move, `column,row,milliseconds`, counted from one from the upper left; the names of both players; a number
that says how Piskvork ended the game; and, from the Gomocup, `1,Freestyle15`: who won (0 nobody) and by which rule. A
.rec file has the names first, counts from zero, and does not say how large the board is: it is 20×20.

Moves at the beginning that took no time, where later ones did, are the opening. A file without a rule is freestyle,
unless the reader gives the game. Comments and dates are not kept, and times only in milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tengen.records.record import COLOURS, DRAWN, NOT_KNOWN, Record, RecordError, recorded_game
from tengen.rules.errors import TengenError
from tengen.rules.game import Game, Position

HEADER = re.compile(r"Piskvorky\s+(\d{1,3})\s*x\s*(\d{1,3})\s*,\s*\d{1,3}\s*:\s*\d{1,3}\s*,\s*([01])\s*")
MOVE = re.compile(r"\s*(-?\d{1,3})\s*,\s*(-?\d{1,3})\s*(?:,\s*(-?\d{1,10})\s*)?")
CODE = re.compile(r"-?\d{1,9}")  # how Piskvork ended the game
VERDICT = re.compile(r"([012])\s*,\s*([^\W\d].*)")  # 0 nobody won; the rule, perhaps with a number of the tournament
RULES = {0: "freestyle", 1: "standard", 4: "renju"}  # by their numbers at the Gomocup
OLD_SIZE = 20  # of the board of a .rec file
TIMED_OUT = "15"  # the one code of Piskvork's that says who lost: who was to move
NOT_SAID = "-1"


# Writing.


def write_psq(record: Record) -> str:
    """The record of a game of Gomoku as a .psq file."""
    size, rule = _parameters(record)
    verdict = {None: 0, 0: 1, 1: 2}[record.outcome.winner] if record.outcome else None
    names = _name_lines(record) if any(record.players) else []
    lines = [f"Piskvorky {size}x{size}, 11:11, 0", *_move_lines(record, 1), *names, NOT_SAID]
    lines += [] if verdict is None else [f"{verdict},{rule.capitalize()}"]
    return "\n".join(lines) + "\n"


def write_rec(record: Record) -> str:
    """The record of a game of Gomoku on 20×20 as a .rec file."""
    size, _ = _parameters(record)
    if size != OLD_SIZE:
        raise RecordError(f"a .rec file is of a {OLD_SIZE}×{OLD_SIZE} board; write this {size}×{size} game as .psq")
    return "\n".join([*_name_lines(record), *_move_lines(record, 0), NOT_SAID]) + "\n"


def _parameters(record: Record) -> tuple[int, str]:
    """Size and rule of the record's game."""
    rule = record.game.gomocup_rule
    if rule not in RULES:
        raise RecordError(f"Piskvork plays Gomoku; write {record.game.spec} as .sgf")
    return record.game.shape[0], RULES[rule]


def _move_lines(record: Record, origin: int) -> list[str]:
    record.check()
    record.check_moves()
    size = record.game.shape[1]
    times = [0] * record.opening + [max(1, round(1000 * seconds)) for seconds in record.seconds]
    times += [0] * (len(record.moves) - len(times))
    return [
        f"{action % size + origin},{action // size + origin},{time}"
        for action, time in zip(record.moves, times, strict=False)
    ]


def _name_lines(record: Record) -> list[str]:
    """Both names, each one line that cannot be taken for anything else."""
    names = [" ".join(name.split()) for name in record.players]
    return [f"player {i}" if not name or _is_number_line(name) else name for i, name in enumerate(names, 1)]


def _is_number_line(line: str) -> bool:
    return any(pattern.fullmatch(line) for pattern in (MOVE, CODE, VERDICT))


# Reading.


@dataclass
class _File:
    """What a file says, before it is played."""

    size: int
    moves: list[tuple[int, int, int]]  # the line's number, the cell, the milliseconds
    players: tuple[str, str]
    code: str = NOT_SAID
    winner: str = ""  # 1, 2, or 0 for a draw
    rule: str = ""


def is_psq(text: str) -> bool:
    return text.lstrip().startswith("Piskvorky")


def is_rec(text: str) -> bool:
    """Whether two lines of names come first, then a move."""
    lines = text[:10_000].splitlines()
    return len(lines) > 2 and bool(MOVE.fullmatch(lines[2])) and not any(map(_is_number_line, lines[:2]))


def read_psq(text: str, game: Game | None = None) -> Record:
    """The record of a .psq file; raises RecordError with the line that cannot be read."""
    lines = text.splitlines()
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if not lines or not (header := HEADER.fullmatch(lines[first].strip())):
        raise RecordError(f"a .psq file begins with a line like 'Piskvorky 15x15, 11:11, 0' (line {first + 1})")
    if header[1] != header[2]:
        raise RecordError(f"the board is {header[1]}×{header[2]}; ours are square (line {first + 1})")
    size = int(header[1])
    moves, rest = _read_moves(lines, first + 1, size, 1)
    file = _File(size, moves, ("", ""))
    _read_rest(file, lines, rest)
    if header[3] == "1":  # the second of those named began
        file.players = file.players[1], file.players[0]
        file.winner = {"1": "2", "2": "1"}.get(file.winner, file.winner)
    return _record(file, game)


def read_rec(text: str, game: Game | None = None) -> Record:
    """The record of a .rec file; raises RecordError with the line that cannot be read."""
    lines = text.splitlines()
    if len(lines) < 2:
        raise RecordError("a .rec file begins with the names of the players, a line each (line 1)")
    size = game.shape[0] if game is not None else OLD_SIZE
    moves, rest = _read_moves(lines, 2, size, 0)
    file = _File(size, moves, (lines[0].strip(), lines[1].strip()))
    _read_rest(file, lines, rest)
    return _record(file, game)


def _read_moves(lines: list[str], begin: int, size: int, origin: int) -> tuple[list[tuple[int, int, int]], int]:
    """The moves from line `begin` on, and the number of the first line that is none."""
    moves: list[tuple[int, int, int]] = []
    for index in range(begin, len(lines)):
        if not (match := MOVE.fullmatch(lines[index])):
            return moves, index
        x, y, time = int(match[1]) - origin, int(match[2]) - origin, int(match[3] or 0)
        where = f"(line {index + 1})"
        if not (0 <= x < size and 0 <= y < size):
            raise RecordError(f"{lines[index].strip()} is off the board, which has {size}×{size} points {where}")
        if time < 0:
            raise RecordError(f"{lines[index].strip()}: a move takes 0 milliseconds or more {where}")
        moves.append((index + 1, y * size + x, time))
    return moves, len(lines)


def _read_rest(file: _File, lines: list[str], begin: int) -> None:
    """What follows the moves: perhaps two names, a code, a verdict; anything else is damage."""
    rest = [(index + 1, lines[index].strip()) for index in range(begin, len(lines)) if lines[index].strip()]
    if len(rest) > 1 and not any(_is_number_line(text) for _, text in rest[:2]):
        file.players = rest[0][1], rest[1][1]
        rest = rest[2:]
    if rest and CODE.fullmatch(rest[0][1]):
        file.code = rest.pop(0)[1]
    if rest and (match := VERDICT.fullmatch(rest[0][1])):
        file.winner, file.rule = match[1], match[2].lower()
        rest.pop(0)
    if rest:
        number, text = rest[0]
        raise RecordError(f"{text[:40]!r} is neither a move nor a name nor a result (line {number})")


def _record(file: _File, given: Game | None) -> Record:
    """Plays the moves. The rules decide who won; where they do not, the file may."""
    game = _game(file, given)
    position = game.start()
    ending = ""
    for number, cell, _ in file.moves:
        try:
            position = position.play(cell)
        except TengenError as reason:
            if cell not in position.forbidden() or number != file.moves[-1][0]:
                is_guess = given is None and not file.rule and position.outcome is not None
                hint = "; give the game if its rule was not freestyle" if is_guess else ""
                raise RecordError(f"{reason}{hint} (line {number})") from reason
            ending = str(reason)  # who plays a forbidden point loses, and so does not play it in our records
    opening, seconds = _times([time for _, _, time in file.moves])
    facts: dict[str, Any] = {"opening": opening, "seconds": seconds}
    if position.outcome is None:
        facts["result"], facts["ending"] = _result(file, position, ending)
    record = Record.of(position, file.players, **facts)
    record.check()
    return record


def _result(file: _File, position: Position, ending: str) -> tuple[str, str]:
    """Result and ending of a game that its rules did not end."""
    other = COLOURS[1 - position.to_play]
    if ending:
        return f"{other}+F", ending
    if file.code == TIMED_OUT:
        return f"{other}+T", "out of time"
    return {"0": DRAWN, "1": "B+", "2": "W+"}.get(file.winner, NOT_KNOWN), ""


def _times(milliseconds: Sequence[int]) -> tuple[int, tuple[float, ...]]:
    """How many plies the opening has, and the seconds of those after it; nothing if nothing took time."""
    opening = next((ply for ply, time in enumerate(milliseconds) if time), None)
    if opening is None:
        return 0, ()
    return opening, tuple(time / 1000 for time in milliseconds[opening:])


def _game(file: _File, given: Game | None) -> Game:
    """The game: what was given, if it fits, else what the file says."""
    if given is not None:
        if given.gomocup_rule in RULES and given.shape == (file.size, file.size):
            return given
        raise RecordError(f"the file is of Gomoku on {file.size}×{file.size}; the game that was given is {given.spec}")
    if "caro" in file.rule:
        raise RecordError("the file is of Caro, which is no game of ours")
    rule = next((rule for rule in RULES.values() if rule in file.rule), RULES[0])
    return recorded_game(f"gomoku:size={file.size},rule={rule}")
