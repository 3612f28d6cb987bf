"""The labs' part of the server: n queens and the Wumpus world, each answer made of nothing but the question."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from tengen.apps.web.explorers import Bounded, a_turn
from tengen.course import queens, wumpus, wumpus_trace
from tengen.course.queens import QueensStep
from tengen.course.wumpus import WorldsSummary
from tengen.course.wumpus_trace import Expedition
from tengen.rules.errors import BadParameter

router = APIRouter(prefix="/api/explore", tags=["explore"])

LARGEST_DRAWN = 64
MOST_STEPS = 2000  # that are told of a board; few need as many as 200
LARGEST_GROWN = {"greedy": 100_000, "random": 30_000}  # a random start takes steps without end
SIZES = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
MOST_SQUARES = 8000  # in all worlds of a comparison
Start = Literal["greedy", "random"]
LARGEST_SEED = 2**31


class Puzzle(BaseModel):
    """A board of queens to be watched."""

    model_config = Bounded

    size: int = Field(8, ge=1, le=LARGEST_DRAWN)
    start: Start = Field("random", description="how the queens are put up")
    seed: int = Field(1, ge=0, le=LARGEST_SEED)


class Growth(BaseModel):
    """Boards of 10, 30, 100 … queens to be solved, up to the largest."""

    model_config = Bounded

    largest: int = Field(10_000, ge=SIZES[0], le=SIZES[-1], description="at most 30000 for a random start")
    start: Start = Field("greedy", description="how the queens are put up")
    runs: int = Field(5, ge=1, le=10, description="boards of each size")
    seed: int = Field(1, ge=0, le=LARGEST_SEED)


class CaveQuestion(BaseModel):
    """Caves, drawn at random."""

    model_config = Bounded

    size: int = Field(4, ge=wumpus.SIZES[0], le=wumpus.SIZES[-1])
    pits: float = Field(wumpus.PIT_CHANCE, ge=0, le=1, description="the chance of a pit in a square")
    seed: int = Field(1, ge=0, le=LARGEST_SEED)


class Journey(CaveQuestion):
    """Somebody in a cave, to be watched."""

    agent: Literal["reasoning", "reasoning, never daring", "reckless", "random"] = "reasoning"
    nerve: float = Field(wumpus.NERVE, ge=0, le=1, description="the greatest chance of death that `reasoning` takes")


class Comparison(CaveQuestion):
    """All agents in the same caves."""

    worlds: int = Field(300, ge=2, le=MOST_SQUARES // 16, description="times the squares of a cave, at most 8000")


@dataclass(frozen=True)
class Solving:
    """A board from its first step to its last."""

    size: int
    steps: list[QueensStep]
    is_solved: bool


@dataclass(frozen=True)
class Grown:
    """What boards of one size took: means over some boards, and the extremes."""

    size: int
    conflicts: float
    steps: float
    steps_least: int
    steps_most: int
    seconds: float
    seconds_most: float


@router.post("/queens")
def watch_queens(question: Puzzle) -> Solving:
    """Min-conflicts on a board, step by step, with what each step compared."""
    with a_turn():
        steps = list(islice(queens.told_steps(question.size, question.seed, question.start), MOST_STEPS))
    return Solving(question.size, steps, not steps[-1].attacked)


@router.post("/queens/growth")
def grow_queens(question: Growth) -> list[Grown]:
    """How many steps boards take as they grow, and how many seconds of one core."""
    most = LARGEST_GROWN[question.start]
    if question.largest > most:
        raise BadParameter(f"{question.largest} queens, put up {question.start}: here at most {most}")
    sizes = [size for size in SIZES if size <= question.largest]
    with a_turn():
        return [Grown(**row) for row in queens.growth(sizes, question.runs, question.seed, question.start)]


@router.post("/wumpus")
def watch_wumpus(question: Journey) -> Expedition:
    """An agent in a cave, moment by moment, with what can be known then; and the truth."""
    with a_turn():
        return expedition(question.size, question.pits, question.seed, question.agent, question.nerve)


@lru_cache(maxsize=8)
def expedition(size: int, pits: float, seed: int, name: str, nerve: float) -> Expedition:
    world = wumpus.random_world(random.Random(seed), size, pits)
    is_brave = name == "reasoning"
    agent = wumpus.Explorer(size, pits, nerve) if is_brave else wumpus.AGENTS[name](size, pits, seed)
    return wumpus_trace.tell(world, agent, pits)


@router.post("/wumpus/scores")
def compare_agents(question: Comparison) -> list[WorldsSummary]:
    """The mean scores of all agents in the same caves, with half of their 95% intervals."""
    most = MOST_SQUARES // question.size**2
    if question.worlds > most:
        raise BadParameter(f"{question.worlds} worlds of {question.size}×{question.size}: here at most {most}")
    with a_turn():
        return wumpus.compare(question.worlds, question.size, question.pits, question.seed)
