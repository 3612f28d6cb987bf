"""The words of the Go Text Protocol: lines that are read, replies that are written, and which commands there are."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tengen.records.record import LONGEST
from tengen.rules.errors import TengenError

if TYPE_CHECKING:
    from tengen.apps.gtp.conversation import Conversation

LONGEST_LINE = 2**16  # bytes
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
LINE = re.compile(r"(?:([0-9]+)(?:\s+|$))?(\S*)\s*(.*)", re.DOTALL)  # perhaps an id, the command, its arguments
COLOURS = ("black", "white")

Said = str | Iterator[str]  # a text, or the lines of one that goes on
Command = Callable[["Conversation", list[str]], Said]
COMMANDS: dict[str, Command] = {}


class GtpError(TengenError):
    """What is answered with a question mark. It begins with the protocol's own words, where there are some."""


def command(*names: str, words: Sequence[int] | None = None) -> Callable[[Callable], Callable]:
    """Makes a function the answer to commands; `words` are the numbers of arguments that it takes, if it says."""

    def register(function: Callable) -> Callable:
        def checked(talk: Conversation, arguments: list[str]) -> Said:
            if words is not None and len(arguments) not in words:
                takes = " or ".join(map(str, words))
                raise GtpError(f"syntax error: {names[0]} takes {takes} arguments, not {len(arguments)}")
            return function(talk, arguments)

        for name in names:
            COMMANDS[name] = checked
        return function

    return register


@contextmanager
def refused_as(words: str) -> Iterator[None]:
    """What is refused inside is answered with the protocol's words for that, and the reason."""
    try:
        yield
    except TengenError as reason:
        raise GtpError(f"{words}: {reason}") from reason


def read_line(line: str) -> tuple[str, str, list[str]] | None:
    """The id (it may be empty), the command and its arguments; None for a line that says nothing."""
    text = CONTROL.sub("", line).replace("\t", " ").partition("#")[0].strip()
    if not text:
        return None
    match = LINE.fullmatch(text)
    assert match is not None
    return match[1] or "", match[2], match[3].split()


def reply(mark: str, number: str, text: str) -> str:
    """A whole reply: no line of it is empty but the last."""
    body = "\n".join(line for line in text.splitlines() if line.strip())
    gap = "\n" if text.startswith("\n") else " " if body else ""
    return f"{mark}{number}{gap}{body}\n\n"


def read_player(word: str) -> int:
    """The player of a colour."""
    for player, colour in enumerate(COLOURS):
        if word.lower() in (colour, colour[0]):
            return player
    raise GtpError(f"syntax error: {word[:40]!r} is no colour; they are b and w, black and white")


def read_whole(word: str) -> int:
    """A whole number from zero on; beyond a thousand million all are alike."""
    if not (word.isascii() and word.isdecimal()):
        raise GtpError(f"syntax error: {word[:40]!r} is not a whole number")
    return min(int(word[:20]), 10**9)


def read_float(word: str) -> float:
    """A number that is one."""
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise GtpError(f"syntax error: {word[:40]!r} is not a number")
    return number


def read_seconds(word: str) -> float:
    """A time from zero on."""
    number = read_float(word)
    if number < 0:
        raise GtpError(f"syntax error: {word[:40]} seconds are less than none")
    return number


def read_file(name: str) -> bytes:
    """A file's content; what is no plain file is refused, for a pipe could make us wait forever."""
    try:
        if not Path(name).is_file():
            raise GtpError(f"there is no file {name[:200]!r}")
        with Path(name).open("rb") as file:
            return file.read(LONGEST + 1)
    except OSError as reason:
        raise GtpError(f"{name[:200]!r} cannot be read: {reason.strerror}") from reason


def read_lines(source: IO[bytes], longest: int = LONGEST_LINE) -> Iterator[str]:
    """The lines of a stream. Of one that is too long for any command only the beginning is left, and marked so."""
    is_whole = True
    while raw := source.readline(longest):
        is_new, is_whole = is_whole, raw.endswith(b"\n")
        if is_new:
            yield raw.decode(errors="replace") + ("" if is_whole or len(raw) < longest else " …")
