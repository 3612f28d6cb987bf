"""What an engine knows in a conversation over the Go Text Protocol, and how it finds its moves."""

from __future__ import annotations

import math
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass

from tengen.agents.passing import pass_in_time
from tengen.agents.thinking import keeps_its_tree, think
from tengen.apps.gtp.clock import GameClock
from tengen.apps.gtp.session import Session
from tengen.apps.gtp.vertices import PASS
from tengen.records.record import plays_points
from tengen.rules.game import Game, Position
from tengen.search.limits import Decision, Limit

PONDER = 3600.0  # seconds of a slice of pondering; the next command ends it


@dataclass(frozen=True)
class Resignation:
    """When to give up: after `moves` own moves in a row that were thought to be worth `value` or less."""

    value: float
    moves: int = 3


NEVER = Resignation(-math.inf)


class Conversation:
    """The game, its clock, and what else lasts from line to line.

    `interrupt` ends an analysis and a pondering; it is set when another line has come. `end` ends every search; it is
    set when nobody waits for what comes of it.
    """

    def __init__(self, game: Game, agent: str, resignation: Resignation = NEVER, ponders: bool = False):
        self.session, self.clock = Session(game, agent), GameClock()
        self.resignation, self.ponders = resignation, ponders
        self.interrupt, self.end = threading.Event(), threading.Event()
        self.is_done = False
        self.forget()

    def forget(self) -> None:
        """Drops what belongs to one game alone."""
        self.has_moved = False  # the last move is ours, so there is something to ponder
        self.bad_moves = [0, 0]  # in a row, for each player
        self.clock.restart()

    def move(self, player: int, goes_on: bool = False) -> str:
        """Chooses a move and plays it; `goes_on` if passes have not ended the game."""
        may_move = not self.session.is_over or (goes_on and self.session.counts_area)
        position = self.session.turn_of(player) if may_move else self.session.position
        if position.outcome is not None:
            answer = self.nothing_left(player)
            if answer == PASS:
                self.session.commit(self.session.position)  # a move all the same: the controller may take it back
            return answer
        began = time.perf_counter()
        decision = self.choose(position)
        self.clock.spend(player, time.perf_counter() - began)
        return self.commit(position, decision)

    def choose(self, position: Position) -> Decision:
        """What the agent plays, with the time that the clock leaves it, or by its own limit."""
        if len(position.legal_actions) == 1:
            return Decision(position.legal_actions[0])
        agent = self.session.agent
        return pass_in_time(position, agent, agent.choose(position, self.limit(position)))

    def limit(self, position: Position) -> Limit:
        return Limit(time=self.clock.seconds(position), stop=self.end)

    def commit(self, position: Position, decision: Decision) -> str:
        """Plays a decision, unless it is time to give up."""
        player = position.to_play
        is_bad = decision.value is not None and decision.value <= self.resignation.value
        self.bad_moves[player] = self.bad_moves[player] + 1 if is_bad else 0
        if is_bad and self.bad_moves[player] >= self.resignation.moves:
            return "resign"
        vertex = self.session.vertices.text(position, decision.action)
        self.session.commit(position.play(decision.action))
        self.has_moved = True
        return vertex

    def nothing_left(self, player: int) -> str:
        """The answer where the game is over: a pass in games that have one; else who has lost resigns."""
        outcome, game = self.session.position.outcome, self.session.game
        assert outcome is not None
        has_pass = plays_points(game) and game.actions > game.cells
        return "resign" if not has_pass and outcome.value_for(player) < 0 else PASS

    def decisions(self, position: Position, every: float) -> Iterator[Decision]:
        """Decisions on a move that is to be played: no others wait, and a search that begins again is asked once."""
        agent = self.session.agent
        limit = self.limit(position).or_else(getattr(agent, "limit", Limit()))
        if keeps_its_tree(agent) and limit.given:
            yield from think(agent, position, every, self.end, limit)
        else:
            yield agent.choose(position, limit)

    def ponder(self) -> None:
        """Thinks about the opponent's move until the next line comes, if that was asked for and makes sense."""
        session = self.session
        if not (self.ponders and self.has_moved and hasattr(session.agent, "search")) or session.is_over:
            return
        try:
            for _ in think(session.agent, session.position, PONDER, self.interrupt):
                pass
        except Exception:  # nobody asked for it, so nobody is answered
            traceback.print_exc(file=sys.stderr)
            self.has_moved = False
