"""Games that a page saves and loads: SGF, and whatever else we read, as text or as the bytes of a file."""

from __future__ import annotations

import base64
import binascii
import re

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from tengen.apps.web.own_games import game_of_file
from tengen.apps.web.views import MOST_MOVES, Spec, known_game, page_spec, position_of
from tengen.records.files import is_sgf, read_records
from tengen.records.record import Record, RecordError, file_name
from tengen.records.sgf import Variation, read_variations, write_variations
from tengen.rules.errors import BadMove
from tengen.rules.game import Game

LONGEST_TEXT = 500_000  # characters of a record
LONGEST_NAME, LONGEST_COMMENT = 200, 10_000
RESULT = r"^(\?|0|[BW]\+([RTF]|\d{1,6}(\.\d{1,3})?)?)$"
MOST_BRANCHES, MOST_BRANCHED = 1000, 10_000  # variations of a game; moves of theirs
MOST_PROBLEMS = 5  # that are told
MOST_SOUGHT = 2000  # bytes in which a record names its game
FILE = re.compile(r"TG\[([^\]:]{1,500}\.py)(?::([A-Za-z0-9_.+=,-]{0,100}))?\]")  # the game of an SGF, if it is a file's

router = APIRouter(prefix="/api/records", tags=["records"])


class Source(BaseModel):
    """A record to be read: its text, or the bytes of its file, which may name their own charset."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(default="", max_length=LONGEST_TEXT, examples=["h8 i9 g7"])
    data: str = Field(default="", max_length=LONGEST_TEXT, description="the file's bytes as base64, instead of text")
    game: str = Field(default="", max_length=100, description="whose moves these are, where the record does not say")


class VariationLine(BaseModel):
    """A variation. Line 0 is the main one, line n the n-th variation, which leaves one with a lower number."""

    model_config = ConfigDict(extra="forbid")

    of: int = Field(ge=0, le=MOST_BRANCHES, description="the line that it leaves …")
    ply: int = Field(ge=0, le=MOST_MOVES, description="… after so many moves of the game")
    moves: list[str] = Field(max_length=MOST_MOVES, description="its own")
    comments: dict[int, str] = Field(default={}, max_length=MOST_MOVES + 1, description="by ply")


class Reading(BaseModel):
    """A game that was read."""

    game: str
    moves: list[str]
    players: tuple[str, str]
    result: str
    comments: dict[int, str] = Field(description="by ply; 0 is before the first move")
    date: str
    variations: list[VariationLine]
    problems: list[str] = Field(description="what the record has beyond this")


class Writing(BaseModel):
    """A game to be written."""

    model_config = ConfigDict(extra="forbid")

    game: str = Spec
    moves: list[str] = Field(max_length=MOST_MOVES)
    players: tuple[
        str,
        str,
    ] = Field(default=("", ""), description="who moved first, who second")
    result: str = Field(default="", pattern=r"^$|" + RESULT, description="by default what the rules say")
    comments: dict[int, str] = Field(default={}, max_length=MOST_MOVES + 1)
    variations: list[VariationLine] = Field(default=[], max_length=MOST_BRANCHES)


class Sgf(BaseModel):
    sgf: str


@router.post("/read")
def read(source: Source) -> Reading:
    """Read a game: SGF, Piskvork's files, or moves run together or apart."""
    data = content_of(source)
    records = read_records(data, game_for(source, data))
    if not records:
        raise RecordError("the record holds no game")
    record = records[0]
    known_game(page_spec(record.game))
    problems = [f"the record holds {len(records):,} games; this is the first"] * (len(records) > 1)
    variations: list[Variation] = []
    left_out: list[str] = []
    if is_sgf(data):
        variations, left_out = read_variations(data, record.game, MOST_BRANCHES, MOST_BRANCHED)
    longest = max(len(record.moves), *(line.ply + len(line.moves) for line in variations), 0)
    if longest > MOST_MOVES:
        raise BadMove(f"the game has {longest:,} moves; up to {MOST_MOVES:,} are shown")
    text = record.game.action_text
    return Reading(
        game=page_spec(record.game),
        moves=[text(action) for action in record.moves],
        players=record.players,
        result=record.result,
        comments=dict(record.comments),
        date=record.date,
        variations=[
            VariationLine(
                of=line.of, ply=line.ply, moves=[text(move) for move in line.moves], comments=dict(line.comments)
            )
            for line in variations
        ],
        problems=problems + left_out[:MOST_PROBLEMS],
    )


def game_for(source: Source, data: bytes) -> Game | None:
    """Whose moves these are: the game of a file that the record names and that is served, else what the page says."""
    if is_sgf(data) and (found := FILE.search(data[:MOST_SOUGHT].decode("utf-8", "replace"))):
        game = game_of_file(file_name(found[1]), found[2] or "")
        if game is not None:
            return game
    return known_game(source.game) if source.game else None


def content_of(source: Source) -> bytes:
    """The bytes of a record."""
    if bool(source.text) == bool(source.data):
        raise RecordError("a record is given as text or as data, as one of them")
    if source.text:
        return source.text.encode("utf-8", "replace")
    try:
        return base64.b64decode(source.data, validate=True)
    except (binascii.Error, ValueError):
        raise RecordError("data is not base64") from None


@router.post("/write")
def write(game: Writing) -> Sgf:
    """Write a game as SGF."""
    comments = [*game.comments.values(), *(text for branch in game.variations for text in branch.comments.values())]
    for texts, longest in ((game.players, LONGEST_NAME), (comments, LONGEST_COMMENT)):
        if too_long := [text for text in texts if len(text) > longest]:
            text = too_long[0]
            raise RecordError(f"{text[:20]!r}… has {len(text):,} characters; up to {longest:,} are written")
    if (moves := sum(len(branch.moves) for branch in game.variations)) > MOST_BRANCHED:
        raise RecordError(f"the variations have {moves:,} moves; up to {MOST_BRANCHED:,} are written")
    facts = {"result": game.result} if game.result else {}
    position = position_of(game.game, game.moves)
    record = Record.of(position, game.players, game.comments, **facts)
    return Sgf(sgf=write_variations(record, [variation_of(branch, position.game) for branch in game.variations]))


def variation_of(branch: VariationLine, game: Game) -> Variation:
    """A client's variation, with moves that the game knows; whether they are legal is seen when they are played."""
    moves = tuple(game.parse_action(text) for text in branch.moves)
    return Variation(branch.of, branch.ply, moves, branch.comments)
