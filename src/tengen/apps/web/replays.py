"""A game as a page plays it through: its moves, and the cells that each of them changed."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise

from pydantic import BaseModel, Field

from tengen.agents.specs import is_external
from tengen.apps.web.views import View, shown_text, view_of
from tengen.records.record import Record, result_words
from tengen.report.replays import changed_cells, stones_of
from tengen.report.steps import last_step

NET_OPTION = re.compile(r"(?<=net=)[^,]+")


class ReplayView(BaseModel):
    """Whoever applies `start` and then the first n entries of `changes` has the board after n moves."""

    end: View = Field(description="the last position")
    players: tuple[str, str]
    result: str = Field(description="as SGF has it: B+, W+3.5, 0 for a draw, ? if there is none")
    words: str = Field(description="the same for people")
    opening: int = Field(description="moves that were given, not chosen")
    moves: list[str]
    shown: list[str] = Field(description="the same as players write them")
    movers: list[int] = Field(description="who made them")
    origins: list[int | None] = Field(description="the cells that their pieces came from")
    start: list[int] = Field(description="what stands before the first move, each (pieces + 1) · cell + piece")
    changes: list[list[int]] = Field(description="for each move the cells it changed, likewise; the new piece first")


def replay_of(record: Record) -> ReplayView:
    """A record for a page; raises TengenError if a move is illegal."""
    game, positions = record.game, list(record.positions())
    return ReplayView(
        end=view_of(positions[-1]),
        players=record.players,
        result=record.result,
        words=result_words(record)[:300],
        opening=record.opening,
        moves=[game.action_text(action) for action in record.moves],
        shown=[shown_text(before, action) for before, action in zip(positions, record.moves, strict=False)],
        movers=[before.to_play for before in positions[:-1]],
        origins=[last_step(after).origin for after in positions[1:]],
        start=stones_of(game),
        changes=[changed_cells(before, after) for before, after in pairwise(positions)],
    )


def label_of(name: str) -> str:
    """What a page calls a player from a terminal: its spec without folders; of somebody's engine the program alone."""
    if is_external(name):
        kind, _, command = name.partition(":")
        return f"{kind}:{program_of(command.partition(',')[0])}"  # options may follow a comma
    head, dot_py, tail = name.rpartition(".py")  # an agent of a file
    name = last_part(head) + dot_py + tail
    return NET_OPTION.sub(lambda match: last_part(match[0]), name) or "unknown"


def program_of(command: str) -> str:
    """The name of the program that a command line starts."""
    try:
        words = shlex.split(command)
    except ValueError:  # a quotation mark is open
        words = command.split()
    return last_part(words[0]) if words else "unknown"


def last_part(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]
