"""A store of games and matches: one SQLite file that several programs may use at once.

Whatever a call has written is on the disk when it returns, and a program that is killed at any moment leaves the store
as it was before the call or after it. Writers wait for each other; readers never see half of what is written. The
journal is SQLite's oldest, the one that is rolled back: the store stays one file, which can be copied and read from a
folder where nothing may be written. A reader holds no lock while its caller looks at a game.

Moves stand in the store as text, and are played by the rules when they come in and when they come out. A game that is a
user's file is never loaded because a store names it: who has it gives it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack

from tengen.records.record import DRAWN, Record, RecordError, printable, recorded_game
from tengen.rules.errors import TengenError
from tengen.rules.game import Game

VERSION = 1  # of the tables below; a store of a newer one is not touched
MARK = 0x54656E67  # SQLite's application_id: this file is ours
PATIENCE = 60.0  # seconds that a writer waits for another one
AT_ONCE = 500  # games that a reader fetches at once

TABLES = f"""
    CREATE TABLE matches (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        settings TEXT NOT NULL UNIQUE,  -- as JSON, its keys sorted
        date TEXT NOT NULL              -- when it was begun, in UTC
    );
    CREATE TABLE games (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        match INTEGER REFERENCES matches (id),
        number INTEGER,                 -- within the match
        game TEXT NOT NULL,             -- the spec
        first TEXT NOT NULL,
        second TEXT NOT NULL,
        result TEXT NOT NULL,           -- as SGF has it
        winner TEXT,                    -- first, second, draw, or NULL if not known
        date TEXT NOT NULL,
        moves TEXT NOT NULL,            -- as people write them, a space between
        opening INTEGER NOT NULL,
        seconds TEXT NOT NULL,          -- as JSON, a list
        comments TEXT NOT NULL,         -- as JSON, by ply
        ending TEXT NOT NULL,
        UNIQUE (match, number)
    );
    CREATE INDEX games_by_game ON games (game);
    CREATE INDEX games_by_first ON games (first);
    CREATE INDEX games_by_second ON games (second);
    PRAGMA application_id = {MARK};
    PRAGMA user_version = {VERSION};
"""
COLUMNS = "game, moves, first, second, result, comments, date, opening, seconds, ending"
PLIES = "length(moves) - length(replace(moves, ' ', '')) + (moves <> '')"
HEADING = f"id, match, number, game, first, second, result, date, {PLIES}, ending"
WINNERS = {None: "draw", 0: "first", 1: "second"}

REASONS = {  # SQLite's codes for what a person can put right
    sqlite3.SQLITE_FULL: "the disk is full; nothing was changed",
    sqlite3.SQLITE_READONLY: "it may only be read: the file, or its folder, is not ours to write",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: is its folder there, and may we write there?",
    sqlite3.SQLITE_PERM: "it cannot be opened: we may not read it",
    sqlite3.SQLITE_BUSY: f"another program has been writing for more than {PATIENCE:g} seconds; try again",
    sqlite3.SQLITE_NOTADB: "it is no store of games, nor any SQLite file",
    sqlite3.SQLITE_CORRUPT: "it is damaged; take a copy, or what `sqlite3 FILE .recover` can save",
}


class StoreError(TengenError):
    """A store that cannot be opened, read or written, or a question that makes no sense to it."""


@dataclass(frozen=True)
class Stored:
    """A game of the store."""

    id: int
    match: int | None
    number: int | None  # within the match
    record: Record


@dataclass(frozen=True)
class Heading:
    """What a list shows of a game, whose moves nobody has played for that."""

    id: int
    match: int | None
    number: int | None
    game: str  # the spec
    first: str
    second: str
    result: str
    date: str
    plies: int
    ending: str


@dataclass(frozen=True)
class StoredMatch:
    """A match of the store."""

    id: int
    settings: Mapping[str, Any]
    games: int  # so far
    date: str  # when it was begun, in UTC


@dataclass(frozen=True)
class Tally:
    """How many games of one kind ended alike."""

    game: str
    first: str
    second: str
    winner: str | None  # first, second, draw; None if not known
    games: int


class Filters(TypedDict, total=False):
    """Which games are meant. All filters that are given must fit; None is as good as not given."""

    match: int | None
    game: str | Game | None  # a name, with any parameters; a spec with its own; a Game, to read those of a user's file
    player: str | None  # a whole name, or what stands before its colon (uct), or a pattern with * in it
    winner: str | None  # likewise
    result: str | None  # how it begins: B+, W+T, 0 for a draw
    since: str | None  # a day, a month or a year: 2026-07
    until: str | None  # likewise, the whole of it included


class Store:
    """Games and matches in one file. A context manager; it belongs to the thread that opened it."""

    def __init__(self, path: Path | str):
        """Opens a store, and creates it if it is not there."""
        self.path = Path(path)
        if self.path.is_dir():
            raise StoreError(f"{self.path} is a folder; a store is a file in one")
        with self._explained():
            self._connection = self._connect()
        try:
            with self._explained():
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file. What was written is safe before that."""
        self._connection.close()

    # Writing.

    def match(self, settings: Mapping[str, Any]) -> int:
        """The id of the match with exactly these settings; it is begun if there is none."""
        try:
            text = json.dumps(settings, sort_keys=True, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError) as reason:
            raise StoreError(f"a match's settings must be what JSON can say: {reason}") from None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._writing():
            self._run("INSERT INTO matches (settings, date) VALUES (?, ?) ON CONFLICT DO NOTHING", text, now)
            return self._run("SELECT id FROM matches WHERE settings = ?", text).fetchone()[0]

    def add(self, record: Record, match: int | None = None, number: int | None = None) -> int:
        """Stores a game and returns its id; it is on the disk then. A match has only one game of each number."""
        if number is not None and match is None:
            raise StoreError("a game has a number only within a match; say which")
        row = _row(record)
        with self._writing():
            return self._insert(row, match, number)

    def add_all(self, records: Iterable[Record], match: int | None = None) -> list[int]:
        """Stores many games at once, all of them or none, and returns their ids."""
        rows = [_row(record) for record in records]
        with self._writing():
            return [self._insert(row, match, None) for row in rows]

    def remove(self, *, match: int | None = None, games: Iterable[int] = ()) -> int:
        """Deletes a match with its games, or games by their ids; returns how many games are gone. All, or none."""
        ids = sorted(set(games))
        with self._writing():
            for game in ids:
                if self._run("DELETE FROM games WHERE id = ?", game).rowcount == 0:
                    raise StoreError(f"{self._name} has no game {game}")
            if match is None:
                return len(ids)
            count = self._run("DELETE FROM games WHERE match = ?", match).rowcount
            if self._run("DELETE FROM matches WHERE id = ?", match).rowcount == 0:
                raise StoreError(f"{self._name} has no match {match}")
            return len(ids) + count

    # Reading.

    def games(self, *, limit: int | None = None, **filters: Unpack[Filters]) -> Iterator[Stored]:
        """The games that all filters let through, ordered by match, number and id."""
        game = filters.get("game")
        ids = [row[0] for row in self._select("id", limit, filters)]
        return self._in_turn(ids, game if isinstance(game, Game) else None)

    def headings(self, *, limit: int | None = None, **filters: Unpack[Filters]) -> list[Heading]:
        """The same games in short; those of a user's file, too."""
        return [Heading(*row) for row in self._select(HEADING, limit, filters)]

    def get(self, id: int, given: Game | None = None) -> Stored:
        """The game of an id."""
        for stored in self._in_turn([id], given):
            return stored
        raise StoreError(f"{self._name} has no game {id}")

    def matches(self) -> list[StoredMatch]:
        """All matches, the oldest first."""
        count = "(SELECT count(*) FROM games WHERE match = matches.id)"
        rows = self._all(f"SELECT id, settings, {count}, date FROM matches ORDER BY id")
        return [StoredMatch(id, self._json(settings, f"match {id}"), games, date) for id, settings, games, date in rows]

    def tally(self, **filters: Unpack[Filters]) -> list[Tally]:
        """How often who won against whom, by the filters of `games`. No game is played for it."""
        where, values = _where(filters)
        groups = "game, first, second, winner"
        rows = self._all(f"SELECT {groups}, count(*) FROM games {where} GROUP BY {groups} ORDER BY {groups}", *values)
        return [Tally(*row) for row in rows]

    # Inside.

    @property
    def _name(self) -> str:
        return printable(self.path.name)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path.absolute(), timeout=PATIENCE, isolation_level=None)

    def _prepare(self) -> None:
        """Checks that the file is a store that we can read, and makes it one if it is empty."""
        self._run("PRAGMA foreign_keys = ON")
        self._run("PRAGMA synchronous = EXTRA")  # a commit survives a power cut, too
        self._run("PRAGMA trusted_schema = OFF")  # the file may be anybody's
        if self._is_empty():
            with self._writing():
                if self._is_empty():  # another program may have been quicker
                    for statement in TABLES.split(";"):
                        self._run(statement)
        mark, version = self._pragma("application_id"), self._pragma("user_version")
        if mark != MARK:
            raise StoreError(f"{self._name} is no store of games, but another program's SQLite file")
        if version > VERSION:
            raise StoreError(
                f"{self._name} is a store of version {version}; this Tengen reads up to {VERSION}: use a newer one"
            )

    def _is_empty(self) -> bool:
        """Whether nobody has written anything to the file."""
        tables = self._run("SELECT count(*) FROM sqlite_master").fetchone()[0]
        return tables == 0 and self._pragma("application_id") == 0

    def _pragma(self, name: str) -> int:
        return self._run(f"PRAGMA {name}").fetchone()[0]

    def _run(self, statement: str, *values: object) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)

    def _select(self, columns: str, limit: int | None, filters: Filters) -> list[tuple[Any, ...]]:
        """Columns of the games that the filters let through, in their order."""
        where, values = _where(filters)
        count = -1 if limit is None else limit  # SQLite's word for all
        return self._all(f"SELECT {columns} FROM games {where} ORDER BY match, number, id LIMIT ?", *values, count)

    def _all(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """All rows at once, so that no lock is held while they are looked at."""
        with self._explained():
            return self._run(statement, *values).fetchall()

    def _insert(self, row: tuple[object, ...], match: int | None, number: int | None) -> int:
        if match is not None and not self._run("SELECT 1 FROM matches WHERE id = ?", match).fetchone():
            raise StoreError(f"{self._name} has no match {match}")
        if number is not None:
            twin = self._run("SELECT id FROM games WHERE match = ? AND number = ?", match, number).fetchone()
            if twin:
                raise StoreError(f"{self._name} has game {number} of match {match} already: it is game {twin[0]}")
        places = ", ".join("?" * (2 + len(row)))
        cursor = self._run(
            f"INSERT INTO games (match, number, winner, {COLUMNS}) VALUES ({places})", match, number, *row
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def _in_turn(self, ids: list[int], given: Game | None) -> Iterator[Stored]:
        """The games of these ids, in their order; those that were deleted meanwhile are left out."""
        for begin in range(0, len(ids), AT_ONCE):
            some = ids[begin : begin + AT_ONCE]
            places = ", ".join("?" * len(some))
            found = self._all(f"SELECT id, match, number, {COLUMNS} FROM games WHERE id IN ({places})", *some)
            rows = {row[0]: row[1:] for row in found}
            for id in filter(rows.__contains__, some):
                match, number, *values = rows[id]
                yield Stored(id, match, number, self._record(id, values, given))

    def _record(self, id: int, values: list[Any], given: Game | None) -> Record:
        """The record of a row, its moves played by the rules."""
        spec, moves, first, second, result, comments, date, opening, seconds, ending = values
        try:
            if not all(isinstance(value, int if value is opening else str) for value in values):
                raise StoreError("a text or a number is missing")  # somebody else's hand: SQLite takes anything
            game = recorded_game(spec, given)
            record = Record(
                game,
                tuple(game.parse_action(word) for word in moves.split()),
                players=(first, second),
                result=result,
                comments={int(ply): str(text) for ply, text in self._json(comments, "its comments").items()},
                date=date,
                opening=opening,
                seconds=tuple(self._json(seconds, "its times")),
                ending=ending,
            )
            record.check()
            record.check_moves()
        except (TengenError, TypeError, ValueError, AttributeError) as reason:
            raise RecordError(f"game {id} of {self._name} cannot be read: {reason}") from reason
        return record

    def _json(self, text: str, what: str) -> Any:
        try:
            return json.loads(text)
        except (TypeError, ValueError, RecursionError):
            raise StoreError(f"{self._name} is damaged: {what} cannot be read") from None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction that waits for other writers; it is undone if anything goes wrong within."""
        with self._explained():
            self._run("BEGIN IMMEDIATE")
            try:
                yield
                self._run("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk has ended it already
                    self._run("ROLLBACK")
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """SQLite's errors in our words."""
        try:
            yield
        except sqlite3.Error as reason:
            code = getattr(reason, "sqlite_errorcode", 0) & 0xFF  # the rest of it are details
            raise StoreError(f"{printable(str(self.path))}: {REASONS.get(code, printable(str(reason)))}") from reason
        except UnicodeDecodeError as reason:  # even SQLite's own message quotes the damage
            raise StoreError(f"{printable(str(self.path))}: {REASONS[sqlite3.SQLITE_CORRUPT]}") from reason
        except OverflowError:
            raise StoreError("a number has more than 64 bits; no game or match has such a one") from None


def _row(record: Record) -> tuple[object, ...]:
    """A record as winner and COLUMNS, once its moves have been played by the rules."""
    record.check()
    record.check_moves()
    outcome = record.outcome
    texts = [*record.players, record.result, record.date, record.ending]
    first, second, result, date, ending = (text.encode("utf-8", "replace").decode() for text in texts)
    return (
        WINNERS[outcome.winner] if outcome else None,
        record.game.spec,
        " ".join(_words(record)),
        first,
        second,
        result,
        json.dumps({str(ply): text for ply, text in sorted(record.comments.items())}),
        date,
        record.opening,
        json.dumps([float(seconds) for seconds in record.seconds]),
        ending,
    )


def _words(record: Record) -> list[str]:
    """The moves as words, each of which says again which action it was."""
    words = [record.game.action_text(action) for action in record.moves]
    for action, word in set(zip(record.moves, words, strict=True)):
        if word.split() != [word] or record.game.parse_action(word) != action:
            raise RecordError(f"{record.game.name} writes action {action} as {word!r}, which cannot be read again")
    return words


# Filters: each a condition in SQL, and the values of its question marks.

Condition = tuple[str, list[object]]


def _where(filters: Filters) -> Condition:
    """The WHERE clause of the filters; one that is None lets everything through."""
    if unknown := filters.keys() - Filters.__annotations__:
        raise TypeError(f"there is no filter {', '.join(sorted(unknown))}")
    conditions: list[Condition] = []
    if (match := filters.get("match")) is not None:
        conditions.append(("match = ?", [match]))
    if (game := filters.get("game")) is not None:
        conditions.append(_is_game(game))
    if (player := filters.get("player")) is not None:
        (one, values), (other, _) = _is_name("first", player), _is_name("second", player)
        conditions.append((f"({one} OR {other})", values * 2))
    if (winner := filters.get("winner")) is not None:
        conditions.append(_is_name("CASE winner WHEN 'first' THEN first WHEN 'second' THEN second END", winner))
    if (result := filters.get("result")) is not None:
        is_draw = result.lower() in (DRAWN, "draw")
        conditions.append(("winner = 'draw'", []) if is_draw else ("substr(result, 1, length(?)) = ?", [result] * 2))
    if (since := filters.get("since")) is not None:
        conditions.append(("date >= ?", [_day(since)]))
    if (until := filters.get("until")) is not None:
        conditions.append(("date <> '' AND substr(date, 1, length(?)) <= ?", [_day(until)] * 2))
    clauses = " AND ".join(clause for clause, _ in conditions)
    return f"WHERE {clauses}" if clauses else "", [value for _, values in conditions for value in values]


def _is_game(game: str | Game) -> Condition:
    if isinstance(game, Game):
        return "game = ?", [game.spec]
    if ".py" not in game:
        spec = recorded_game(game).spec  # its parameters in our order; and a wrong name is told here
        if ":" in game:
            return "game = ?", [spec]
    return "(game = ? OR substr(game, 1, length(?) + 1) = ? || ':')", [game] * 3


def _is_name(column: str, name: str) -> Condition:
    if "*" in name:
        return f"{column} GLOB ?", [name]
    return f"({column} = ? OR substr({column}, 1, length(?) + 1) = ? || ':')", [name] * 3


def _day(text: str) -> str:
    if not re.fullmatch(r"\d{4}(-\d\d(-\d\d)?)?", text, re.ASCII):
        raise StoreError(f"{text!r} is no day; write it as 2026-07-29, or a month as 2026-07, or a year as 2026")
    return text
