"""Kinds of games, with one to try in each box, and how large their trees are."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tengen.games import load_game, offered_names

NODES_A_SECOND, SECONDS_A_YEAR = 1e9, 365.25 * 86400


@dataclass(frozen=True)
class GameBox:
    """A kind of games: the lecture's examples, and what can be tried here."""

    information: str  # perfect or imperfect
    chance: str  # deterministic or stochastic
    lecture: tuple[str, ...]
    here: tuple[str, ...]  # games of ours, or labs
    openspiel: tuple[str, ...]  # its names of others


def boxes() -> list[GameBox]:
    """The lecture's four boxes."""
    return [
        GameBox(
            "perfect",
            "deterministic",
            ("chess", "checkers", "Go", "Othello"),
            tuple(offered_names()),
            ("checkers", "hex", "breakthrough"),
        ),
        GameBox("perfect", "stochastic", ("backgammon", "Monopoly"), ("lab pig",), ("backgammon", "pig")),
        GameBox(
            "imperfect",
            "deterministic",
            ("Stratego", "Battleship"),
            ("lab belief",),
            ("phantom_ttt", "dark_chess", "battleship"),
        ),
        GameBox(
            "imperfect",
            "stochastic",
            ("bridge", "poker", "Scrabble"),
            ("lab matrix kuhn",),
            ("kuhn_poker", "leduc_poker", "bridge"),
        ),
    ]


OTHER_KINDS = (  # what the lecture distinguishes besides, with a lab for each side
    ("players", "two", "all games here", "three or more", "lab many"),
    ("moves", "in turn", "all games here", "at once", "lab matrix"),
    ("payoffs", "zero-sum", "lab matrix morra", "not zero-sum", "lab matrix prisoners"),
    ("goals", "competitive", "all games here", "cooperative", "lab many --teams ABC"),
)


@dataclass(frozen=True)
class GameSize:
    """A number that is too large to count to, as a power of ten."""

    what: str
    formula: str
    power: float  # of ten
    source: str = ""

    @property
    def years(self) -> float:
        """The power of ten of the years that a billion nodes a second take."""
        return self.power - math.log10(NODES_A_SECOND * SECONDS_A_YEAR)


def tree_power(branching: float, length: float) -> float:
    """b^d as a power of ten."""
    return length * math.log10(branching)


def sizes() -> list[GameSize]:
    """Sizes that the lecture names, and some that are known exactly."""
    return [
        GameSize("tic-tac-toe, orders of nine cells", "9!", math.log10(math.factorial(9)), "the lecture's bound"),
        GameSize("tic-tac-toe, games", "255,168", math.log10(255_168), "tengen lab tree"),
        GameSize("connect four, positions", "4,531,985,219,092", math.log10(4_531_985_219_092), "Tromp"),
        GameSize("chess, nodes", "35^100", tree_power(35, 100), "the lecture: 10^154"),
        GameSize("chess, games of 80 plies", "35^80", tree_power(35, 80), "the lecture: 10^120"),
        GameSize("Gomoku 15×15, boards at most", "3^225", tree_power(3, 225)),
        GameSize("Go 19×19, boards at most", "3^361", tree_power(3, 361)),
        GameSize("Go 19×19, legal positions", "2.08 · 10^170", math.log10(2.08) + 170, "Tromp and Farnebäck"),
        GameSize("Go 19×19, nodes", "250^150", tree_power(250, 150), "Silver et al., 2016"),
        GameSize("atoms in the universe that we see", "10^80", 80.0, "an estimate"),
    ]


def power_text(power: float) -> str:
    """A power of ten in words of its size: small ones in figures."""
    return f"{round(10**power):,}" if power < 9 else f"10^{power:.1f}"


def first_moves(spec: str) -> int:
    """How many moves a game offers at its start, counted by its rules."""
    return len(load_game(spec).start().legal_actions)
