"""PGN, in which the games of chess are kept: tags, moves in algebraic notation with numbers, comments, a result.

A game whose class says `record_format = "pgn"` is written and read so; its own `move_text` and `read_move` are the
notation. What PGN has no tag for stands in ours: TengenGame is the spec of a game that is not plain chess,
TengenOpening how many plies were given, TengenEnding why the game ended, if not by its rules. The seconds of a move are
in its comment as `[%emt 0:00:01.5]`, which other programs read, too.

Only the main line is read: variations are passed over, as in SGF, and so are the marks of annotators ($1, !?). A game
that begins from a diagram (FEN, SetUp) is refused, since no record of ours does. What is wrong is told with its line
and column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from tengen.games import class_of, file_names
from tengen.records.grammar import place_text
from tengen.records.record import (
    DRAWN,
    LONGEST,
    MOST_GAMES,
    NOT_KNOWN,
    Record,
    RecordError,
    recorded_game,
    result_text,
)
from tengen.rules.errors import TengenError
from tengen.rules.game import Game, Position

FORMAT = "pgn"
WIDTH = 80  # of the lines of moves that we write
MOST_TOKENS = 100_000  # of one game
OPEN = "*"
RESULTS = {"1-0": "B+", "0-1": "W+", "1/2-1/2": DRAWN, OPEN: NOT_KNOWN}  # the first player is Black to a record
MARKS = {"R": "resignation", "T": "time forfeit", "F": "rules infraction"}  # how a game ended, by the mark of a result
TOKEN = re.compile(
    r"""
    \[ \s* (?P<tag> [A-Za-z0-9_+\#=:-]{1,255} ) \s* "(?P<value> (?: [^"\\\n] | \\. )* )" \s* \]
    | \{ (?P<comment> [^}]* ) \}
    | ; (?P<remark> [^\n]* )
    | (?P<result> 1-0 | 0-1 | 1/2-1/2 | \* )
    | (?P<move> [a-h]x[a-h][36][ ]?e\.p\. | [A-Za-z][A-Za-z0-9+\#=:-]{0,15} | 0-0(?:-0)?[+\#]? )
    | (?P<number> \d{1,6} \.* | \.+ )
    | (?P<nag> \$\d{1,3} | [!?]{1,2} )
    | (?P<bracket> [()] )
    """,
    re.VERBOSE,
)
BEGIN = re.compile(r'\s*(?:%[^\n]*\n\s*)*(?:\[\s*[A-Za-z0-9_]{1,255}\s*"|1\.(?!\d))')
ESCAPED = re.compile(r"^%[^\n]*", re.MULTILINE)  # a line for one program alone
BLANK = re.compile(r"[\s\0\x1a]*")
EMT = re.compile(r"\[%emt\s+(\d{1,6}):(\d{1,2}):(\d{1,2}(?:\.\d{1,30})?)\]", re.ASCII)
SPENT = re.compile(r"\d{1,9}(?:\.\d{1,30})?", re.ASCII)


# Writing.


def write_pgn(*records: Record) -> str:
    """The records as one file; raises if a move is illegal, or if their game is kept in other files."""
    return "\n".join(_game_text(record) for record in records)


def _game_text(record: Record) -> str:
    if record.game.record_format != FORMAT:
        raise RecordError(f"PGN is for chess; write {record.game.spec} as .sgf")
    record.check()
    tags = "".join(f'[{name} "{escape(value)}"]\n' for name, value in _tags(record).items())
    return tags + "\n" + "\n".join(_lines([*_words(record), pgn_result(record)])) + "\n"


def _tags(record: Record) -> dict[str, str]:
    """What a file says of a game before its moves."""
    game = record.game
    mark = record.result[2:3] if record.result[1:2] == "+" else ""
    tags = {
        "Event": "?",
        "Site": "?",
        "Date": (date := _pgn_date(record.date)),
        "Round": "?",
        "White": record.players[0] or "?",
        "Black": record.players[1] or "?",
        "Result": pgn_result(record),
    }
    if mark in MARKS:
        tags["Termination"] = MARKS[mark]
    own = {
        "TengenGame": game.spec if game != recorded_game(game.name) else "",
        "TengenOpening": str(record.opening or ""),
        "TengenEnding": record.ending,
        "TengenDate": "" if _read_date(date) == record.date else record.date,
        "TengenSpent": decimal_text(record.seconds[-1]) if _has_one_more(record) else "",
    }
    return tags | {name: value for name, value in own.items() if value}


def _has_one_more(record: Record) -> bool:
    """Whether the last time is that of a move which was not played."""
    return record.opening + len(record.seconds) > len(record.moves)


def pgn_result(record: Record) -> str:
    """A record's result as PGN has it."""
    outcome = record.outcome
    if outcome is None:
        return OPEN
    return "1/2-1/2" if outcome.winner is None else ("1-0", "0-1")[outcome.winner]


def _words(record: Record) -> Iterator[str]:
    """The moves with their numbers and comments."""
    is_fresh = True  # whether a number has to stand before Black's move
    if comment := _comment(record, 0):
        yield comment
    for ply, (before, action) in enumerate(zip(record.positions(), record.moves, strict=False), 1):
        number = (ply + 1) // 2
        if ply % 2:
            yield f"{number}."
        elif is_fresh:
            yield f"{number}..."
        yield before.move_text(action)
        comment = _comment(record, ply)
        is_fresh = bool(comment)
        if is_fresh:
            yield comment


def _comment(record: Record, ply: int) -> str:
    """What stands in braces after a ply; nothing if there is neither a comment nor a time."""
    at = ply - record.opening - 1
    text = record.comments.get(ply, "")
    time = f"[%emt {clock_text(record.seconds[at])}]" if 0 <= at < len(record.seconds) else ""
    return "{" + clean(" ".join(filter(None, [time, text.replace("}", ")")]))) + "}" if time or text else ""


def _lines(words: list[str]) -> Iterator[str]:
    """Words in lines that are not too long; a comment is one word, whatever stands in it."""
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word.partition("\n")[0]) > WIDTH:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def clock_text(seconds: float) -> str:
    """Seconds as h:mm:ss, with all their figures."""
    whole, dot, rest = decimal_text(seconds).partition(".")
    minutes, left = divmod(int(whole), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{left:02}{dot}{rest}"


def decimal_text(number: float) -> str:
    """A number without an exponent, so that reading it gives the same again."""
    text = format(Decimal(repr(float(number))), "f")
    return text.removesuffix(".0")


def escape(text: str) -> str:
    """A text as it stands between the quotation marks of a tag."""
    return re.sub(r'[\\"]', r"\\\g<0>", " ".join(clean(text).split()))


def clean(text: str) -> str:
    """A text without halves of characters, and without a line that begins with %, which would not be read."""
    return re.sub(r"^%", " %", text, flags=re.MULTILINE).encode("utf-8", "replace").decode()


def _pgn_date(date: str) -> str:
    """A date as PGN has it, with question marks for what is not known."""
    match = re.fullmatch(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?", date, re.ASCII)
    return ".".join(part or "??" for part in match.groups()) if match else "????.??.??"


def _read_date(text: str) -> str:
    known = [part for part in text.split(".") if "?" not in part]
    return "-".join(known)


# Reading.


def is_pgn(text: str) -> bool:
    """Whether a content begins with a tag, as every file of PGN does."""
    return BEGIN.match(text) is not None


@dataclass
class _Game:
    """What a file says of one game, before it is played."""

    place: int
    tags: dict[str, str] = field(default_factory=dict)
    moves: list[tuple[int, str]] = field(default_factory=list)  # place and text
    comments: dict[int, list[str]] = field(default_factory=dict)  # by ply
    result: str = ""


def read_pgn(text: str, game: Game | None = None) -> list[Record]:
    """The games of a text; raises RecordError, with line and column, if one cannot be read."""
    if len(text) > LONGEST:
        raise RecordError(f"the file has {len(text):,} characters; up to {LONGEST:,} are read")
    text = ESCAPED.sub(lambda match: " " * len(match[0]), text)
    records: list[Record] = []
    for read in _games(text):
        player = _Player(read, game)
        try:
            records.append(player.record())
        except TengenError as reason:
            where = f"game {len(records) + 1}: " if records else ""
            raise RecordError(f"{where}{reason} ({place_text(text, player.place)})") from reason
        if len(records) > MOST_GAMES:
            raise RecordError(f"the file has more than {MOST_GAMES:,} games; divide it")
    return records


def _games(text: str) -> Iterator[_Game]:
    """The games of a text as they stand there."""
    game, depth, count = _Game(0), 0, 0
    for token in _tokens(text):
        kind, place = str(token.lastgroup), token.start()
        kind = "tag" if kind == "value" else kind
        begins_next = game.result or (kind == "tag" and game.moves)
        if begins_next and depth == 0 and kind not in ("comment", "remark", "nag"):
            yield game
            game, count = _Game(place), 0
        count += 1
        if count > MOST_TOKENS:
            raise _error(text, place, f"more than {MOST_TOKENS:,} words, which is more than any game has")
        if kind == "bracket":
            depth += 1 if token["bracket"] == "(" else -1
            if depth < 0:
                raise _error(text, place, "a ) without its (")
            if depth and not game.moves:
                raise _error(text, place, "a variation stands before the first move")
        elif depth == 0:
            _take(text, game, kind, token)
        elif kind == "tag":
            raise _error(text, place, "a variation that never ends; a ) is missing")
    if depth:
        raise _error(text, len(text), "a variation that never ends; a ) is missing")
    if game.tags or game.moves or game.result:
        yield game


def _take(text: str, game: _Game, kind: str, token: re.Match[str]) -> None:
    """Puts a word to the game where it stands."""
    if kind == "tag":
        if token["tag"] in game.tags:
            raise _error(text, token.start(), f"the tag {token['tag']} stands twice")
        game.tags[token["tag"]] = re.sub(r"\\(.)", r"\1", token["value"])
    elif kind in ("comment", "remark"):
        game.comments.setdefault(len(game.moves), []).append(token[kind].strip())
    elif kind == "move":
        game.moves.append((token.start(), token["move"]))
    elif kind == "result":
        game.result = token["result"]


def _tokens(text: str) -> Iterator[re.Match[str]]:
    place = _skip(text, 0)
    while place < len(text):
        if (token := TOKEN.match(text, place)) is None:
            raise _error(text, place, _what_is_wrong(text, place))
        yield token
        place = _skip(text, token.end())


def _skip(text: str, place: int) -> int:
    match = BLANK.match(text, place)
    assert match is not None
    return match.end()


def _what_is_wrong(text: str, place: int) -> str:
    if text[place] == "{":
        return "a comment that never ends; a } is missing"
    if text[place] == "[":
        return 'a tag is written as [White "Ann"]'
    return f"{text[place : place + 12]!r} has no meaning here"


def _error(text: str, place: int, reason: str) -> RecordError:
    return RecordError(f"the file is not PGN from {place_text(text, place)} on: {reason}")


class _Player:
    """Plays a game that was read. `place` is where it has come to: what is wrong is wrong there."""

    def __init__(self, read: _Game, given: Game | None):
        self.read, self.given, self.place = read, given, read.place

    def record(self) -> Record:
        tags = self.read.tags
        position = self._game().start()
        for place, text in self.read.moves:
            self.place = place
            if position.outcome is not None:
                raise RecordError(f"the game is over by our rules: {text} cannot be played")
            position = position.play(position.read_move(text.removesuffix("e.p.").strip()))
        self.place = self.read.place
        seconds, comments = self._times_and_comments()
        record = Record.of(
            position,
            (_name(tags.get("White", "")), _name(tags.get("Black", ""))),
            comments,
            result=self._result(position),
            date=tags.get("TengenDate", _read_date(tags.get("Date", ""))),
            opening=self._opening(),
            seconds=seconds,
            ending=tags.get("TengenEnding", ""),
        )
        record.check()
        return record

    def _game(self) -> Game:
        """The game: what the file says, else what was given, else the one whose files are PGN."""
        tags = self.read.tags
        if "FEN" in tags or tags.get("SetUp", "0") == "1":
            raise RecordError("the game begins from a diagram (FEN): that is not supported")
        if tags.get("Variant", "Standard").lower() not in ("standard", "chess", "normal"):
            raise RecordError(f"the game is {tags['Variant']}, which is no game of ours")
        if "TengenGame" in tags:
            game = recorded_game(tags["TengenGame"], self.given)
        else:
            game = self.given if self.given is not None else recorded_game(plain_name())
        if game.record_format != FORMAT:
            raise RecordError(f"the file is of {plain_name()}; the game that was given is {game.spec}")
        return game

    def _opening(self) -> int:
        text = self.read.tags.get("TengenOpening", "0")
        if not re.fullmatch(r"[0-9]{1,6}", text):
            raise RecordError(f"TengenOpening is {text!r}; it is a whole number")
        return int(text)

    def _times_and_comments(self) -> tuple[tuple[float, ...], dict[int, str]]:
        """The seconds of moves, as far as all after the opening have them; and what else stands in comments."""
        times: dict[int, float] = {}
        comments: dict[int, str] = {}
        for ply, texts in self.read.comments.items():
            text = "\n".join(texts)
            if ply and (match := EMT.search(text)):
                times[ply] = float(3600 * int(match[1]) + 60 * int(match[2]) + Decimal(match[3]))
                text = (text[: match.start()] + text[match.end() :].removeprefix(" ")).strip()
            if text:
                comments[ply] = text
        opening, seconds = self._opening(), list[float]()
        while opening + len(seconds) + 1 in times:
            seconds.append(times[opening + len(seconds) + 1])
        spent = self.read.tags.get("TengenSpent", "")
        if SPENT.fullmatch(spent) and opening + len(seconds) == len(self.read.moves):
            seconds.append(float(spent))
        return tuple(seconds), comments

    def _result(self, position: Position) -> str:
        """What the file says; where it is silent, what the rules say. A winner whom the rules refute is no result."""
        told, known = (
            self.read.result or self.read.tags.get("Result", OPEN),
            result_text(position.game, position.outcome),
        )
        if position.outcome is None:
            return RESULTS.get(told, NOT_KNOWN) + self._mark(told)
        winner = {"1-0": 0, "0-1": 1, "1/2-1/2": None}.get(told, position.outcome.winner)
        if winner != position.outcome.winner:
            raise RecordError(f"the file says {told}, but by the moves it is {'won' if known != DRAWN else 'a draw'}")
        return known

    def _mark(self, told: str) -> str:
        """How the loser lost: by resigning, on time, by breaking a rule."""
        if told not in ("1-0", "0-1"):
            return ""
        words = self.read.tags.get("Termination", "").lower()
        return next((mark for mark, name in MARKS.items() if name in words), "")


def _name(text: str) -> str:
    return "" if text == "?" else text


def plain_name() -> str:
    """The game that is kept in these files."""
    return next(name for name in file_names() if getattr(class_of(name), "record_format", None) == FORMAT)
