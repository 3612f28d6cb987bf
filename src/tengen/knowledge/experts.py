"""Searches that ask an expert first: one who knows some positions exactly, and says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tengen.games.gomoku import Gomoku
from tengen.games.reversi import Reversi
from tengen.knowledge.endgame import EXACT, OUTCOME, Endgame
from tengen.knowledge.threats import ThreatSearch
from tengen.rules.game import Game, Position
from tengen.search.alphabeta import AlphaBeta
from tengen.search.limits import Clock, Decision, Limit, Opinion

THREATS_SHARE, ENDGAME_SHARE = 0.2, 0.5  # of the time, or of the nodes, that an expert may take each time
LEAST_TIME, LEAST_NODES = 0.002, 30  # less than this is no use to an expert
NODES_OF_THREATS = 20_000  # where the limit is on depth alone, or on simulations
NODES_OF_ENDGAME = 5_000_000  # where it is on simulations: half a second
EMPTIES_WITHOUT_CLOCK = 12  # where the limit is on depth alone: a moment's work
EMPTIES_FOR_SCORE = 20  # up to here the exact score is sought, beyond only who wins


def share_of(limit: Limit, part: float, otherwise: int | None) -> Limit | None:
    """An expert's part of a limit; `otherwise` nodes where the limit does not say. None: it is not worth asking."""
    time = None if limit.time is None else part * limit.time
    nodes = None if limit.count is None else int(part * limit.count)
    if (time is not None and time < LEAST_TIME) or (nodes is not None and nodes < LEAST_NODES):
        return None
    return Limit(time=time, nodes=nodes, stop=limit.stop).or_else(Limit(nodes=otherwise))


def parts_of(limit: Limit, count: int) -> Limit:
    """One of so many equal parts of a limit."""
    time = None if limit.time is None else limit.time / count
    nodes = None if limit.count is None else max(2, limit.count // count)
    return Limit(time=time, nodes=nodes, stop=limit.stop)


def rest_of(limit: Limit, clock: Clock, nodes: int) -> Limit:
    """What an expert has left of a limit."""
    time = None if limit.time is None else max(limit.time - clock.seconds, 0.001)
    count = None if limit.count is None else max(1, limit.count - nodes)
    return Limit(time=time, nodes=count, depth=limit.depth, stop=limit.stop, early=limit.early)


@dataclass
class Advised:
    """A search that an expert advises."""

    adviser: Any
    advised: Any
    is_searched: bool = field(default=False, init=False)  # whether the search was asked about the last position, too

    @property
    def is_alphabeta(self) -> bool:
        return isinstance(self.advised, AlphaBeta)

    def limit_of_nodes(self, limit: Limit) -> Limit:
        """The limit as the expert knows it: a net's simulations are no measure of nodes."""
        return limit if self.is_alphabeta else Limit(time=limit.time, stop=limit.stop)

    def opinions(self, lines: int | None = None) -> list[Opinion]:
        """What the search itself thinks of the last position; nothing if the expert decided."""
        return self.advised.opinions(lines) if self.is_searched and hasattr(self.advised, "opinions") else []


@dataclass
class ThreatsFirst(Advised):
    """Gomoku: a win by threats is played at once; what lets the other win by threats alpha-beta need not look at.

    A net's search asks at every leaf instead (`ThreatSearch.wins`).
    """

    adviser: ThreatSearch

    def search(self, position: Position, limit: Limit) -> Decision:
        clock, self.is_searched = Clock(limit), False
        share = share_of(self.limit_of_nodes(limit), THREATS_SHARE, NODES_OF_THREATS)
        nodes, losing = 0, list[int]()
        if share is not None:
            found = self.adviser.search(position, share)
            if found is not None:
                return found
            nodes = self.adviser.nodes
        self.is_searched = True
        if not self.is_alphabeta:
            return replace(self.advised.search(position, rest_of(limit, clock, 0)), seconds=clock.seconds)
        if share is not None:
            losing, looked_at = self._losing(position, share)
            nodes += looked_at
        decision = self.advised.search(position, rest_of(limit, clock, nodes), losing)
        return replace(decision, nodes=decision.nodes + nodes, seconds=clock.seconds)

    def _losing(self, position: Position, share: Limit) -> tuple[list[int], int]:
        """Actions that let the other win by threats, and how many nodes it took to find them."""
        losing, nodes = list[int](), 0
        candidates = self.advised.candidates(position)
        if len(candidates) > 1:
            each = parts_of(share, len(candidates))
            for action in candidates:
                if self._loses(position.play(action), each):
                    losing.append(action)
                nodes += self.adviser.nodes
        if len(losing) == len(candidates):
            losing = []  # all is lost, as far as is known: the search looks for the longest way
        return losing, nodes

    def _loses(self, position: Position, limit: Limit) -> bool:
        """Whether the player to move now wins by threats, as far as a short look can tell."""
        self.adviser.nodes = 0
        return position.outcome is None and self.adviser.search(position, limit) is not None


@dataclass
class EndgameLast(Advised):
    """Reversi: once few cells are empty, the game is played out exactly."""

    adviser: Endgame
    empties: int  # from which on the solver is asked

    def search(self, position: Position, limit: Limit) -> Decision:
        clock, nodes, self.is_searched = Clock(limit), 0, False
        empties = int((position.board == 0).sum())
        most = self.empties if limit.time or limit.count else min(self.empties, EMPTIES_WITHOUT_CLOCK)
        share = share_of(self.limit_of_nodes(limit), ENDGAME_SHARE, None if self.is_alphabeta else NODES_OF_ENDGAME)
        if empties <= most and share is not None:
            goal = EXACT if empties <= EMPTIES_FOR_SCORE else OUTCOME
            found = self.adviser.search(position, share, goal)
            if found.value is not None and (found.value >= 0 or goal == EXACT):
                return found  # where all is lost but the score is not known, the search looks for the hardest way
            nodes = found.nodes if self.is_alphabeta else 0
        self.is_searched = True
        decision = self.advised.search(position, rest_of(limit, clock, nodes))
        return replace(decision, nodes=decision.nodes + nodes, seconds=clock.seconds)


@dataclass(frozen=True)
class Expert:
    """Who knows some positions of a game exactly."""

    option: str  # of agents, that says whether it is asked, and when
    solver: Callable[[Game, int], Any]  # of a game and of megabytes for its tables
    advise: Callable[[Any, Any, int], Advised]  # of the solver, a search, and the option's value
    proves_leaves: bool = False  # whether the solver's `wins` can be a net search's prover


EXPERTS: dict[type, Expert] = {  # by the game's class
    Gomoku: Expert("threats", ThreatSearch, lambda solver, search, _: ThreatsFirst(solver, search), proves_leaves=True),
    Reversi: Expert("endgame", Endgame, EndgameLast),
}


def expert_for(game: Game) -> Expert | None:
    """The expert of a game; None if there is none."""
    return EXPERTS.get(type(game.parameters))
