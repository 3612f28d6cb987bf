"""What an agent can be told: options with their kinds and ranges, and how an agent is made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tengen.agents.agent import Agent
from tengen.nets.runtime import shipped_nets
from tengen.rules.board import Between
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game
from tengen.rules.plugins import Option

# Kinds of options, beside numbers whose whole range is cheap to have (Between) and words of a list (OneOf). Whoever
# loads agents for others decides by kind what those may ask for.


class Seconds(Between):
    """How long an agent may think."""


class Threads(Between):
    """How many it may think with."""


class Megabytes(Between):
    """How much memory it may have."""


class Answers(Between):
    """How many answers of a net it may remember."""


@dataclass(frozen=True)
class NetName:
    """A net, taken as it stands: a file, a run folder, one that we ship, or a word that stands for another judge."""

    shipped: Callable[[], list[str]] = shipped_nets  # by which those are known that come with us
    words: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Those that mean the same everywhere, and name no file."""
        return [*self.words, *self.shipped()]

    def read(self, name: str, value: object, kind: type) -> str:
        if not value:
            raise BadParameter(f"{name}= is empty")
        return str(value)


@dataclass(frozen=True)
class Maker:
    """How an agent is made of its options."""

    about: str
    options: dict[str, Option]
    make: Callable[[str, Game, dict[str, Any]], Agent]
    is_command: bool = False  # what follows the colon is a command line, not options: it may hold commas and colons
