"""Tengen: learn, search and play perfect-information board games. Games are plain Python, run at native speed.

The names in `__all__` are for you to use, and keep their meaning within a minor version (0.2.x). What is not among them
may change with any release. Nothing heavy is imported before a name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tengen.agents.agent import Agent
    from tengen.arena.folder import tournament
    from tengen.arena.match import play_game
    from tengen.learn.start import train
    from tengen.nets.runtime import Net, load_net
    from tengen.records.record import Record
    from tengen.rules.check import Report
    from tengen.rules.errors import TengenError
    from tengen.rules.game import Game, Outcome, Position
    from tengen.search.limits import Decision, Limit

__version__ = "0.2.0"
__all__ = [
    "Agent",
    "Decision",
    "Game",
    "Limit",
    "Net",
    "Outcome",
    "Position",
    "Record",
    "TengenError",
    "check",
    "load_agent",
    "load_game",
    "load_net",
    "play_game",
    "tournament",
    "train",
]
_HOMES = {  # the modules of those that are imported when they are first used
    "Agent": "tengen.agents.agent",
    "Decision": "tengen.search.limits",
    "Game": "tengen.rules.game",
    "Limit": "tengen.search.limits",
    "Net": "tengen.nets.runtime",
    "Outcome": "tengen.rules.game",
    "Position": "tengen.rules.game",
    "Record": "tengen.records.record",
    "TengenError": "tengen.rules.errors",
    "load_net": "tengen.nets.runtime",
    "play_game": "tengen.arena.match",
    "tournament": "tengen.arena.folder",
    "train": "tengen.learn.start",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tengen' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def load_game(spec: str) -> Game:
    """The game of a spec: a name or a file, then its parameters: `gomoku:size=8`, `./breakthrough.py:size=6`."""
    from tengen.games import load_game

    return load_game(spec)


def load_agent(spec: str, game: Game) -> Agent:
    """The agent of a spec, for one game: `random`, `uct:playouts=1000`, `./mine.py:Flat,playouts=50`."""
    from tengen.agents.specs import load_agent

    return load_agent(spec, game)


def check(game: Game | str, **options: Any) -> Report:
    """Tests a game, or the game of a spec, against every law of the contract."""
    from tengen.rules.check import check

    return check(load_game(game) if isinstance(game, str) else game, **options)
