"""Tengen: learn, search and play perfect-information board games. Games are plain Python, run at native speed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tengen.agents.agent import Agent
    from tengen.rules.check import Report
    from tengen.rules.game import Game

__version__ = "0.2.0"
__all__ = ["check", "load_agent", "load_game"]


def load_game(spec: str) -> Game:
    """The game of a spec: a name or a file, then its parameters: `gomoku:size=8`, `./breakthrough.py:size=6`."""
    from tengen.games import load_game

    return load_game(spec)


def load_agent(spec: str, game: Game) -> Agent:
    """The agent of a spec, for one game: `random`, `uct:playouts=1000`, `uct:time=0.5`."""
    from tengen.agents.specs import load_agent

    return load_agent(spec, game)


def check(game: Game | str, **options: Any) -> Report:
    """Tests a game, or the game of a spec, against every law of the contract."""
    from tengen.rules.check import check

    return check(load_game(game) if isinstance(game, str) else game, **options)
