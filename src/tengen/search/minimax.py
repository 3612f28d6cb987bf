"""Minimax, plain: every candidate of every position to the end of the game, or to a depth and then the evaluation.

It prunes nothing and remembers nothing: the referee of every cleverer search.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import numpy as np

from tengen.rules.contract import ONGOING, outcome, play
from tengen.rules.game import Game, Position
from tengen.rules.kernels import entry
from tengen.search.alphabeta import DEEPEST, INFINITE, Found, assess, decision_of, end_score
from tengen.search.evaluation import Plain, candidates, follow, new_notes, take_notes
from tengen.search.limits import Clock, Decision, Limit, Pace

PLY, NODES, HORIZON = 0, 1, 2  # what `progress` holds
BEST, COUNT, NEXT = 0, 1, 2  # what is kept of each ply


@entry
def begin(game, evaluation, root, states, notes, actions, scores, frames, progress):
    """Opens the root."""
    states[0] = root[0]
    take_notes(evaluation, game, states[0], notes[0])
    frames[0, BEST], frames[0, NEXT] = -INFINITE, 0
    frames[0, COUNT] = candidates(evaluation, game, states[0], notes[0], actions[0], scores)
    progress[PLY] = progress[NODES] = progress[HORIZON] = 0


@entry
def run(game, evaluation, states, notes, actions, scores, frames, lines, shares, progress, depth, nodes):
    """Searches `nodes` more nodes; returns whether all is searched: the value is then frames[0, BEST]."""
    ply, stop = progress[PLY], progress[NODES] + nodes
    while progress[NODES] < stop:
        if frames[ply, NEXT] < frames[ply, COUNT]:
            action = actions[ply, frames[ply, NEXT]]
            frames[ply, NEXT] += 1
            ply += 1
            progress[NODES] += 1
            shares[actions[0, frames[0, NEXT] - 1]] += 1
            states[ply], notes[ply] = states[ply - 1], notes[ply - 1]
            play(game, states[ply], action)
            lines[ply, 0] = -1
            frames[ply, NEXT] = frames[ply, COUNT] = 0
            result = outcome(game, states[ply])
            if result != ONGOING:
                frames[ply, BEST] = end_score(result, states[ply].to_play, ply)
                continue
            follow(evaluation, game, states[ply - 1], states[ply], action, notes[ply])
            if ply == depth:
                progress[HORIZON] = 1
                frames[ply, BEST] = assess(evaluation, game, states[ply], notes[ply])
            else:
                frames[ply, BEST] = -INFINITE
                frames[ply, COUNT] = candidates(evaluation, game, states[ply], notes[ply], actions[ply], scores)
        elif ply == 0:
            break
        else:
            value = frames[ply, BEST]
            ply -= 1
            if states[ply].to_play != states[ply + 1].to_play:
                value = -value
            if value > frames[ply, BEST]:
                frames[ply, BEST] = value
                lines[ply, 0] = actions[ply, frames[ply, NEXT] - 1]
                lines[ply, 1:] = lines[ply + 1, :-1]
    progress[PLY] = ply
    return ply == 0 and frames[0, NEXT] == frames[0, COUNT]


@dataclass
class Minimax:
    """Searches to a depth; without one, deeper and deeper until a limit or the end of the game."""

    game: Game
    evaluation: Any = field(default_factory=Plain)

    def __post_init__(self) -> None:
        self.search(self.game.start(), Limit(nodes=1))  # compiling is no part of anybody's time to think

    def search(self, position: Position, limit: Limit) -> Decision:
        """Searches a position that is not over."""
        evaluation, parameters, found = self.evaluation, self.game.parameters, Found(int(position.legal_actions[0]))
        deepest = min(limit.depth or DEEPEST, DEEPEST)
        states, notes = self.game.new_states(deepest + 1), new_notes(evaluation, self.game, deepest + 1)
        actions = np.zeros((deepest + 1, self.game.actions), np.int32)
        scores, shares = np.zeros(self.game.actions, np.int64), np.zeros(self.game.actions, np.int64)
        frames, lines = np.zeros((deepest + 1, 3), np.int64), np.full((deepest + 1, deepest + 1), -1, np.int32)
        progress, total = np.zeros(3, np.int64), 0
        memory = states, notes, actions, scores, frames
        begin(parameters, evaluation, position.states, *memory, progress)
        run(parameters, evaluation, *memory, lines, shares, progress, 1, 0)  # compiled before the clock starts
        clock, nodes = Clock(limit), limit.count or 2**60
        pace = Pace(clock, 64)
        for depth in range(min(limit.depth or 1, deepest), deepest + 1):
            shares[:], notes[0], done = 0, np.zeros((), notes.dtype), False
            begin(parameters, evaluation, position.states, *memory, progress)
            while not done and total + progress[NODES] < nodes and clock.left > 0:
                before = int(progress[NODES])
                size = pace.next(nodes - total - before)
                done = run(parameters, evaluation, *memory, lines, shares, progress, depth, size)
                pace.did(int(progress[NODES]) - before)
            total += int(progress[NODES])
            if frames[0, BEST] > -INFINITE and (done or found.depth == 0):
                line = list(takewhile(lambda action: action >= 0, lines[0].tolist()))
                found.take(depth, int(frames[0, BEST]), line)
            found.is_exact = bool(done and not progress[HORIZON])
            if not done or found.is_exact:
                break
        return decision_of(found, self.evaluation, shares, total, clock)
