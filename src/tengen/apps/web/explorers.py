"""The explorers' part of the server: searches told step by step, each answer made of nothing but the question.

A page goes back and forth in what it was told; the server keeps the last few traces only because the next question is
most often for more of the same one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import BoundedSemaphore
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from tengen.apps.web.own_games import served_names
from tengen.apps.web.views import LONGEST_MOVE, known_game, page_spec, position_after, position_of
from tengen.course import alphabeta, bandit, mcts
from tengen.course.alphabeta import Walk
from tengen.course.bandit import Contest
from tengen.course.mcts import SearchSettings
from tengen.course.traces import Trace
from tengen.rules.game import Game

router = APIRouter(prefix="/api/explore", tags=["explore"])

OFFERED = ("tictactoe", "mnk:m=4,n=4,k=3", "connect4", "reversi:size=4", "gomoku:size=6", "go:size=5")
ALTERNATING = ("tictactoe", "mnk:m=4,n=3,k=3", "mnk:m=4,n=4,k=3", "connect4")  # for alpha-beta
AT_ONCE = 2  # explorers that are answered at the same time; others wait
PATIENCE = 20.0  # seconds that a question waits
PART, LARGEST_PART = 2000, 100  # in one answer: simulations times actions, and simulations
MOST_MOVES, MOST_PLAYED = 400, 12

Bounded = ConfigDict(extra="forbid", allow_inf_nan=False)
Moves: Any = Field(default=[], max_length=MOST_MOVES, description="as people write them", examples=[["a1", "a2", "b2"]])
Move = Annotated[str, Field(max_length=LONGEST_MOVE)]

free = BoundedSemaphore(AT_ONCE)


class TreeSearch(BaseModel):
    """A search to be watched: of a position, or an `example` whose settings are its own."""

    model_config = Bounded

    game: str = Field(default="tictactoe", max_length=100, description="a game and its parameters")
    moves: list[Move] = Moves
    example: Literal["slides", "lecture"] | None = None
    search: Literal["puct", "gumbel", "uct"] = "puct"
    evaluator: str = Field("uniform", max_length=60, description="uniform, rollout, slides, or a net that we ship")
    exploration: float = Field(1.5, ge=0, le=100)
    urgency: float = Field(0.25, ge=-1, le=2)
    considered: int = Field(4, ge=1, le=64)
    noise: float = Field(1.0, ge=0, le=10)
    simulations: int = Field(50, ge=1, le=mcts.MOST_SIMULATIONS)
    seed: int = Field(1, ge=0, le=2**31)
    played: list[Move] = Field(
        default=[], max_length=MOST_PLAYED, description="moves after these, each after such a search; its tree is kept"
    )
    begin: int = Field(0, ge=0, le=mcts.MOST_SIMULATIONS, description="simulations that are known already")


class WrittenTree(BaseModel):
    """A tree for alpha-beta: typed in as `tree`, or what can happen from a position in `depth` plies."""

    model_config = Bounded

    tree: str | None = Field(None, max_length=alphabeta.LONGEST_TEXT, examples=[alphabeta.LECTURE])
    game: str = Field(default="tictactoe", max_length=100, description="a game and its parameters")
    moves: list[Move] = Moves
    depth: int = Field(2, ge=1, le=alphabeta.DEEPEST)
    order: Literal["written", "best", "worst", "guess"] = "written"
    root: Literal["max", "min"] = Field("max", description="who moves at the root of a tree that is typed in")


class Arms(BaseModel):
    """Bandits: arms that pay 1 with these chances, else 0."""

    model_config = Bounded

    means: list[Annotated[float, Field(ge=0, le=1)]] = Field(
        [0.3, 0.5, 0.7], min_length=2, max_length=bandit.MOST_ARMS, description="the chance of each arm"
    )
    steps: int = Field(500, ge=1, le=bandit.MOST_STEPS)
    runs: int = Field(100, ge=1, le=bandit.MOST_RUNS)
    exploration: float = Field(1.0, ge=0, le=100)
    epsilon: float = Field(0.1, ge=0, le=1)
    seed: int = Field(1, ge=0, le=2**31)


@dataclass(frozen=True)
class Offer:
    """A game that can be watched."""

    game: str
    simulations: int  # at most
    evaluators: list[str]


@dataclass(frozen=True)
class Offers:
    """What the explorers' pages may ask for."""

    games: list[Offer]
    trees: dict[str, str]  # for alpha-beta, by name
    positions: list[str]  # games whose positions alpha-beta can be shown on …
    own: list[str]  # … and those of them that are files that the operator serves


@dataclass(frozen=True)
class Part:
    """Some of a trace's simulations, from `begin` on; `total` is how many there are."""

    trace: Trace
    begin: int
    total: int


@contextmanager
def a_turn() -> Iterator[None]:
    """Waits until few others are being answered."""
    if not free.acquire(timeout=PATIENCE):
        raise HTTPException(429, "the explorers are busy; ask again in a moment")
    try:
        yield
    finally:
        free.release()


@router.get("")
def offers() -> Offers:
    """Games, trees and evaluators to choose from."""
    own = served_names()
    games = [offer_of(spec) for spec in (*OFFERED, *own) if known_game(spec).actions <= mcts.LARGEST]
    return Offers(games=games, trees=alphabeta.EXAMPLES, positions=[*ALTERNATING, *own], own=own)


def offer_of(spec: str) -> Offer:
    game = known_game(spec)
    return Offer(spec, mcts.most_simulations(game), mcts.evaluators_for(game))


@router.post("/mcts")
def tree_search(question: TreeSearch) -> Part:
    """A tree search, simulation by simulation, up to 100 in one answer."""
    game = known_game(question.game)
    with a_turn():
        trace = traced(
            game,
            tuple(question.moves),
            tuple(question.played),
            question.example,
            SearchSettings(**question.model_dump(include=set(SearchSettings.__dataclass_fields__))),
        )
    size = min(LARGEST_PART, max(1, PART // max(1, len(trace.cards))))
    told = trace.simulations[question.begin : question.begin + size]
    if question.example is None:
        trace = replace(trace, game=page_spec(game))
    return Part(replace(trace, simulations=told), question.begin, len(trace.simulations))


@lru_cache(maxsize=8)
def traced(
    game: Game, moves: tuple[str, ...], played: tuple[str, ...], example: str | None, settings: SearchSettings
) -> Trace:
    if example == "lecture":
        return mcts.lecture_trace()
    if example == "slides":
        return mcts.slides_trace(settings.simulations, played)
    return mcts.trace(position_after(game, moves), settings, played=played)


@router.post("/alphabeta")
def alpha_beta(question: WrittenTree) -> Walk:
    """Alpha-beta on a tree, step by step, with minimax beside it."""
    with a_turn():
        if question.tree is not None:
            return alphabeta.walk_text(question.tree, question.order, question.root == "max")
        return alphabeta.walk_position(position_of(question.game, question.moves), question.depth, question.order)


@router.post("/bandits")
def bandits(question: Arms) -> Contest:
    """UCB1, greedy, ε-greedy, random choice and Thompson's sampling on the same arms with the same luck."""
    with a_turn():
        return bandit.contest(**question.model_dump(), has_thompson=True)
