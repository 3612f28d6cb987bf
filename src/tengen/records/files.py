"""Files of games: a file's content says how it is read, its ending how it is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from tengen.records.disk import write_file
from tengen.records.movetext import is_moves, read_moves, write_moves
from tengen.records.pgn import is_pgn, read_pgn, write_pgn
from tengen.records.piskvork import is_psq, is_rec, read_psq, read_rec, write_psq, write_rec
from tengen.records.record import LONGEST, MOST_GAMES, Record, RecordError
from tengen.records.sgf import read_sgf, write_sgf
from tengen.rules.errors import TengenError, nearest
from tengen.rules.game import Game

SGF_BEGIN = re.compile(rb"\(\s*;")
KNOWN = (
    'SGF begins with (;, PGN with a tag such as [Event "?"], .psq with Piskvorky, .rec with two names and a move, '
    "moves with a line such as h8i9"
)

Writer = Callable[..., str]
WRITERS: dict[str, Writer] = {
    ".sgf": write_sgf,
    ".pgn": write_pgn,
    ".psq": write_psq,
    ".rec": write_rec,
    ".txt": write_moves,
}
OF_ONE_GAME = (".psq", ".rec")


def read_records(source: Path | str | bytes, game: Game | None = None, with_setup: bool = False) -> list[Record]:
    """The games of a file, or of a file's content; raises RecordError, and reads all of it or nothing.

    `game` is needed where a file does not say which game it holds, or where that is a user's file. Games that begin
    from a diagram are refused, unless they are asked for `with_setup`.
    """
    if isinstance(source, bytes):
        return _read(source, game, with_setup)
    path = Path(source)
    try:
        return _read(_content(path), game, with_setup)
    except TengenError as reason:
        raise RecordError(f"{path.name}: {reason}") from reason


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:  # a pipe or a device has no size: read no more than we take
            return file.read(LONGEST + 1)
    except OSError as reason:
        raise RecordError(f"the file cannot be read: {reason.strerror}") from None


def _text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def is_sgf(data: bytes) -> bool:
    """Whether a content is read as SGF: it may begin with words of another kind, but not as a file of another kind."""
    text = _text_of(data)
    if text.lstrip().startswith("("):
        return True
    return SGF_BEGIN.search(data) is not None and not (is_pgn(text) or is_psq(text) or is_rec(text))


def _read(data: bytes, game: Game | None, with_setup: bool = False) -> list[Record]:
    """The games of a content, whichever format it has."""
    if len(data) > LONGEST:
        raise RecordError(f"the file is too large; up to {LONGEST:,} bytes are read")
    text = _text_of(data)
    if is_sgf(data):
        return read_sgf(data, game, with_setup)  # from the bytes: it may name its charset
    if is_pgn(text):
        return read_pgn(text, game)
    if is_psq(text):
        return [read_psq(text, game)]
    if is_rec(text):
        return [read_rec(text, game)]
    if is_moves(text):
        return read_moves(text, game)
    raise RecordError(f"the file is no record that we know: {KNOWN}")


def write_records(path: Path | str, records: Sequence[Record]) -> None:
    """Writes games as the file's ending says; the file is there whole or not at all."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in WRITERS:
        raise RecordError(f"{path.name}: the ending says how a game is written{nearest(ending, WRITERS)}")
    if ending in OF_ONE_GAME and len(records) != 1:
        raise RecordError(f"{path.name}: a {ending} file holds one game, not {len(records)}; write them as .sgf")
    if len(records) > MOST_GAMES:
        raise RecordError(f"{path.name}: {len(records):,} games; write no more than {MOST_GAMES:,} into one file")
    if ending != ".sgf" and any(record.diagram for record in records):
        raise RecordError(f"{path.name}: a game that began from a diagram is kept in a file .sgf alone")
    text = WRITERS[ending](*records)
    try:
        write_file(path, text.encode("utf-8", "replace"))
    except OSError as reason:
        raise RecordError(f"{path} cannot be written: {reason.strerror}") from None
