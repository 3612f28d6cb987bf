"""What a page may say over the socket, and how we tell what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, TypeAdapter, ValidationError

from tengen.apps.web.levels import LONGEST_AGENT
from tengen.apps.web.views import Place
from tengen.rules.errors import TengenError, nearest

EXAMPLE = '{"id": 1, "type": "position", "game": "gomoku", "moves": ["h8"]}'

Id = Annotated[str, Field(max_length=64)] | Annotated[StrictInt, Field(ge=-(2**63), lt=2**63)]


class BadMessage(TengenError):
    """A message that cannot be understood."""


class Limits(BaseModel):
    """When a search must stop."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    time: float | None = Field(default=None, ge=0.001, le=3600, description="seconds")
    nodes: int | None = Field(default=None, ge=1, le=10**12)
    depth: int | None = Field(default=None, ge=1, le=127)
    playouts: int | None = Field(default=None, ge=1, le=10**12)
    simulations: int | None = Field(default=None, ge=1, le=10**12)


class Think(Place):
    """Choose a move, or analyse until stopped."""

    id: Id
    type: Literal["think"]
    agent: str = Field(default="strongest", max_length=LONGEST_AGENT)
    limit: Limits = Limits()
    every: float = Field(default=0.2, ge=0.05, le=10, allow_inf_nan=False)  # seconds between two thoughts
    analyse: bool = False
    view: bool = False  # whether the answer begins with the view of the position
    slot: int = Field(default=0, ge=0)  # a page's searches in different slots go on side by side


class Stop(BaseModel):
    """End a search; it answers with its best."""

    model_config = ConfigDict(extra="forbid")

    id: Id
    type: Literal["stop"]
    of: Id


class Look(Place):
    """Show a position."""

    id: Id
    type: Literal["position"]


KINDS: dict[str, TypeAdapter[Any]] = {
    "think": TypeAdapter(Think),
    "stop": TypeAdapter(Stop),
    "position": TypeAdapter(Look),
}


def read_object(text: str | bytes) -> dict[str, Any]:
    """The JSON object of a message."""
    try:
        found = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as reason:
        raise BadMessage(f"the message is not JSON: {str(reason)[:100]}") from None
    if not isinstance(found, dict):
        raise BadMessage(f"a message is an object such as {EXAMPLE}")
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def read_message(found: dict[str, Any]) -> Think | Stop | Look:
    """What a page wants."""
    kind = str(found.get("type"))[:40]
    if kind not in KINDS:
        raise BadMessage(f"no message has the type {kind!r}{nearest(kind, KINDS)}")
    try:
        return KINDS[kind].validate_python(found)
    except ValidationError as reason:
        raise BadMessage(f"{kind}: {what_is_wrong(reason.errors(include_url=False))}") from None


def id_of(found: dict[str, Any]) -> str | int | None:
    """The id by which an answer can be given even to a message that is wrong elsewhere."""
    told = found.get("id")
    return told if isinstance(told, str | int) and len(str(told)) <= 64 else None


def what_is_wrong(errors: Sequence[Any]) -> str:
    """The first few of pydantic's complaints as a sentence, each with where it belongs."""
    told = []
    for error in errors[:3]:
        where = ".".join(str(part)[:40] for part in error["loc"])
        told.append(f"{where}: {error['msg']}" if where else str(error["msg"]))
    return "; ".join(told)
