"""How strong a net has become: matches against fixed opponents and earlier nets; in small games, the exact truth."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from tengen.agents.agent import Agent, SearchAgent
from tengen.agents.specs import load_agent
from tengen.arena.match import play_game
from tengen.arena.tournament import Tournament
from tengen.arena.workers import Pairing
from tengen.nets.runtime import Net
from tengen.records.record import Record
from tengen.rules.errors import TengenError
from tengen.rules.game import Game, Position
from tengen.search.evaluators import Evaluator
from tengen.search.limits import Limit
from tengen.search.lockstep import PUCT, Plan, search_all
from tengen.search.puct import Puct, usual_batch

MOST_POSITIONS = 20_000  # of a game that is judged exactly
MEMORY = 64  # megabytes for a tree
AT_ONCE = 1024  # positions that are searched side by side

Maker = Callable[[int], Agent]  # makes a player for one game, from a seed


def net_player(game: Game, net: Net, simulations: int, exploration: float) -> Maker:
    """PUCT with a net, as the agent `puct` is by default. It has no use for a seed."""
    batch = usual_batch(simulations)

    def make(seed: int) -> Agent:
        search = Puct(game, net, exploration=exploration, batch=batch, memory=MEMORY)
        return SearchAgent("net", game, search, Limit(simulations=simulations))

    return make


def named_player(game: Game, spec: str) -> Maker:
    return lambda seed: load_agent(spec, game, threads=1, seed=seed)


def play_ladder_match(game: Game, players: dict[str, Maker], games: int, opening: int, seed: int) -> list[Record]:
    """The records of a match between two players, on all cores; the games do not depend on how threads run."""

    def play(pairing: Pairing) -> Record:
        agents = [players[name](own) for name, own in zip(pairing.names, pairing.seeds, strict=True)]
        record = play_game(game, agents, pairing.opening, pairing.names)
        if record.ending:  # here nobody may fail
            raise TengenError(record.ending)
        return record

    plan = Tournament(game, tuple(players), opening, seed=seed)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(play, plan.pairings(games)))


@dataclass
class Truth:
    """Every position of a small game, with what its moves are worth."""

    positions: list[Position]  # that go on
    values: dict[int, int]  # by key: for the player to move

    def mistakes(self, game: Game, evaluator: Evaluator, simulations: int, exploration: float) -> tuple[int, int]:
        """In how many positions PUCT plays a move worse than the best, and in how many of those it loses by it."""
        plan = Plan(root=PUCT, simulations=simulations, noise=0.0, temperature=0.0, exploration=exploration)
        worse = losing = 0
        for begin in range(0, len(self.positions), AT_ONCE):
            positions = self.positions[begin : begin + AT_ONCE]
            states = np.concatenate([position.states for position in positions])
            for position, action in zip(positions, search_all(game, plan, states, evaluator), strict=True):
                best, reached = self.values[position.key], self.worth(position, int(action))
                worse += reached < best
                losing += reached < best and reached == -1
        return worse, losing

    def worth(self, position: Position, action: int) -> int:
        """The value of an action for the player who takes it."""
        after = position.play(action)
        if after.outcome is not None:
            return after.outcome.value_for(position.to_play)
        value = self.values[after.key]
        return value if after.to_play == position.to_play else -value


def truth_of(game: Game) -> Truth | None:
    """The exact values of all positions; None if there are too many, or if one can come back."""
    truth, waiting, opened = Truth([], {}), [game.start()], set[int]()
    while waiting:
        position = waiting[-1]
        if position.key in truth.values:
            waiting.pop()
        elif position.key not in opened:
            opened.add(position.key)
            after = [position.play(action) for action in position.legal_actions]
            after = [child for child in after if child.outcome is None and child.key not in truth.values]
            if len(opened) > MOST_POSITIONS or any(child.key in opened for child in after):
                return None
            waiting += after
        else:  # all that follows is known by now
            truth.values[position.key] = max(truth.worth(position, action) for action in position.legal_actions)
            truth.positions.append(waiting.pop())
    return truth
