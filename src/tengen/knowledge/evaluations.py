"""Evaluations by name. A new one is one entry in EVALUATIONS; the first that knows a game is its default."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tengen.knowledge.chess import Classical
from tengen.knowledge.connect4 import OpenFours
from tengen.knowledge.draughts import Formation
from tengen.knowledge.go import Area
from tengen.knowledge.gobang import Gobang
from tengen.knowledge.gomoku import LinePatterns, tables_for
from tengen.knowledge.hex import circuit_for
from tengen.knowledge.margin import Margin
from tengen.knowledge.mnk import OpenLines
from tengen.knowledge.reversi import Mobility
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game
from tengen.search.evaluation import Plain


@dataclass(frozen=True)
class NamedEvaluation:
    """An evaluation that can be asked for."""

    about: str
    games: tuple[str, ...]  # the files whose games it knows; none for any game
    make: Callable[[Game, int, int], Any]  # of a game, region and width
    shape: tuple[int, int] | None = None  # of the only board that it knows; None for any

    def knows(self, game: Game) -> bool:
        """Whether it can evaluate a game's positions."""
        file = type(game.parameters).__module__.removeprefix("tengen.games.")
        return (not self.games or file in self.games) and self.shape in (None, game.shape)


EVALUATIONS = {
    "patterns": NamedEvaluation(
        "what a stone on each point would make",
        ("gomoku",),
        lambda game, region, width: LinePatterns(tables_for(game.parameters), region, width),
    ),
    "gobang": NamedEvaluation(
        "the Gobang paper's f",
        ("gomoku",),
        lambda game, region, width: Gobang(game.shape[1], game.shape[0], region),
    ),
    "gobang-graded": NamedEvaluation(
        "the same; less depth for points far from stones",
        ("gomoku",),
        lambda game, region, width: Gobang(game.shape[1], game.shape[0], region, graded=1),
    ),
    "rows": NamedEvaluation(
        "rows still open; a row's last stone is the only candidate",
        ("mnk",),
        lambda game, region, width: OpenLines(game.shape[1], game.shape[0], game.parameters.k, urgent=1),
    ),
    "lines": NamedEvaluation(
        "the lecture's e(s): rows open to one player less rows open to the other",
        ("mnk",),
        lambda game, region, width: OpenLines(game.shape[1], game.shape[0], game.parameters.k),
    ),
    "fours": NamedEvaluation("open lines of four", ("connect4",), lambda game, region, width: OpenFours()),
    "margin": NamedEvaluation(
        "the margin in discs that patterns foretell (8×8)",
        ("reversi",),
        lambda game, region, width: Margin.fitted(),
        shape=(8, 8),
    ),
    "mobility": NamedEvaluation("mobility, corners, stability", ("reversi",), lambda game, region, width: Mobility()),
    "formation": NamedEvaluation(
        "men, kings, and where they stand", ("draughts",), lambda game, region, width: Formation.of(game)
    ),
    "classical": NamedEvaluation(
        "material, squares, mobility, pawns, the king's shelter",
        ("chess",),
        lambda game, region, width: Classical.made(),
    ),
    "circuit": NamedEvaluation(
        "resistance between a player's sides; bridges", ("hex",), lambda game, region, width: circuit_for(width)
    ),
    "area": NamedEvaluation("points by the nearest stone", ("go",), lambda game, region, width: Area()),
    "none": NamedEvaluation("nothing but the end of the game", (), lambda game, region, width: Plain()),
}


def evaluation_for(game: Game, name: str | None = None, region: int = 2, width: int = 0) -> Any:
    """The evaluation of that name for a game; without a name, the game's own."""
    fitting = [key for key, named in EVALUATIONS.items() if named.knows(game)]
    if name is None:
        name = fitting[0]
    if name not in fitting:
        raise BadParameter(f"the evaluation {name!r} does not know {game.spec}; {', '.join(fitting)} would do")
    return EVALUATIONS[name].make(game, region, width)
