"""What is told of a tree search: its cards, and what each simulation did to them.

A card is an action at a node and what is known of it: N, W, Q, P as in the papers, all for the player who takes the
action. The root has a card too; its N counts its own expansion, as each other card's N counts the visit that opened it.
Numbers are told when they change: after a simulation only the cards on its path, and what their siblings compare by.
"""

from __future__ import annotations

from dataclasses import dataclass, field

ROOT_CARD = 0
PROOFS = ("", "lost", "drawn", "won")  # what is proven of a card, for the player who takes the action


@dataclass(frozen=True)
class Card:
    """An action that a node offers."""

    id: int
    parent: int | None
    move: str  # as Position.play takes it; the root has none
    name: str  # what it is called where it is shown
    player: int | None  # who takes the action
    prior: float | None = None  # P
    visits: int = 0  # N
    value: float = 0.0  # W
    board: list[int] | None = None  # after the action, row by row; told once the node is there
    proven: str = ""


@dataclass(frozen=True)
class Terms:
    """What the cards below one card are compared by, in the order of `cards`: the score's summands, and the score."""

    at: int
    rule: str  # "ucb1": q + u · "puct": q + u · "gumbel": g + logit + sigma
    visits: int  # n or ΣN, as the formula has it
    cards: list[int]
    score: list[float]
    q: list[float] = field(default_factory=list)
    u: list[float] = field(default_factory=list)
    g: list[float] = field(default_factory=list)
    logit: list[float] = field(default_factory=list)
    sigma: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Verdict:
    """What a leaf was found to be worth, and by whom: `net`, `rollout`, `end` of the game, or an earlier `proof`."""

    kind: str
    value: float  # for `player`
    player: int  # to move at the leaf


@dataclass(frozen=True)
class Update:
    """A card after the backup; `added` came to its W."""

    id: int
    visits: int
    value: float
    added: float
    proven: str


@dataclass(frozen=True)
class Simulation:
    """Select the path, open the leaf, judge it, back the verdict up."""

    number: int  # from 1
    path: list[int]  # cards, the root first
    wanted: int | None  # Gumbel: the next card has been visited that often
    opened: list[Card]  # new cards
    verdict: Verdict
    board: list[int] | None  # at the leaf
    backup: list[Update]  # the leaf first
    terms: list[Terms]  # of every card on the path that has cards below it, after the backup


@dataclass(frozen=True)
class Trace:
    """A search told from its root on. `policy` and `best` are its decision after the last simulation."""

    search: str
    game: str
    moves: list[str]
    shape: tuple[int, int]
    players: tuple[str, str]
    to_play: int
    cards: list[Card]  # there before the first simulation, parents before their children
    terms: list[Terms]
    simulations: list[Simulation]
    best: str
    policy: dict[str, float]  # by move
    value: float | None  # of the root, for the player to move
    note: str  # "proven", if it is
    drawing: str = "cells"  # what the board looks like, as the game says
    tints: tuple[str, str] = ("black", "white")  # the colours of the players' pieces
    is_last: bool = False  # whether `best` ends the game


def rounded(value: float) -> float:
    """A number as it is told: six digits say all that a float32 knows."""
    return round(float(value), 6) + 0.0  # no minus zero
