"""The game that a controller plays with us: which game and agent, what was played, and what may be taken back.

In Go the protocol lets a colour play twice in a row, and go on after two passes; the rules do not. So a pass of the
other colour is put in between where that is needed, and passes that ended the game are taken back. The same goes for
every game that counts areas.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from tengen.agents.agent import Agent
from tengen.agents.passing import compile_for
from tengen.agents.specs import load_agent
from tengen.apps.gtp.vertices import PASS, Vertices
from tengen.apps.preparation import Preparation
from tengen.knowledge.go import is_go
from tengen.knowledge.go_counting import Count, CountingRules, count, counting_rules, usual_rules
from tengen.knowledge.ownership import estimate
from tengen.records.record import Record, must_pass, plays_points
from tengen.rules.errors import BadMove, BadParameter, IllegalMove, TengenError
from tengen.rules.game import Game, Position
from tengen.rules.kernels import at_once


class Session:
    """A game under way. Whatever is refused leaves it as it was."""

    def __init__(self, game: Game, agent: str, **defaults: Any):
        self.agent_spec, self.defaults = agent, defaults
        self.plain = self.game = game  # plain is without the handicap that the controller asks for
        self.told_rules: CountingRules | None = None  # how to count, if the controller has said so
        self._agent = self._prepared_agent(game)
        self._adopt(game)

    @property
    def agent(self) -> Agent:
        """The agent; waits for what is still being compiled for it."""
        return self._agent.result()

    @property
    def is_ready(self) -> bool:
        """Whether the agent need not be waited for."""
        return self._agent.is_done

    def _prepared_agent(self, game: Game) -> Preparation[Agent]:
        """The agent for a game, with everything loaded: later a clock may run. Only a compiler is not waited for."""
        found = Preparation(lambda: self._load_agent(game))
        found.begin()
        return found

    def _load_agent(self, game: Game) -> Agent:
        agent = load_agent(self.agent_spec, game, **self.defaults)
        compile_for(game)
        return agent

    @at_once()
    def _adopt(self, game: Game, position: Position | None = None) -> None:
        """Begins another game, or the same one again, with an agent that can play it."""
        vertices = Vertices(game)
        if game != self.game:
            self._agent = self._prepared_agent(game)
        self.game, self.vertices = game, vertices
        self.position = game.start() if position is None else position
        self.history: list[Position] = []  # what `undo` goes back to, the last one last
        self.loaded: Record | None = None  # the file that the game came from

    # What is played.

    @property
    def counts_area(self) -> bool:
        return self.game.scoring == "area"

    @property
    def takes_handicap(self) -> bool:
        return self.counts_area and "handicap" in self.game.parameters._fields

    @property
    def is_over(self) -> bool:
        return self.position.outcome is not None

    def clear(self) -> None:
        """The game begins again, without a handicap that was given before."""
        self._adopt(self.plain)

    def change_game(self, game: Game) -> None:
        """Another game, if the agent can play it."""
        self._adopt(game)
        self.plain = game

    def resize(self, columns: int, rows: int) -> None:
        """The same game on a board of that size, cleared."""
        if self.plain.shape == (rows, columns) or (rows == columns == max(self.plain.shape)):
            return self.clear()
        fields = self.plain.parameters._fields
        for names, sizes in (
            (("size",), {"size": columns} if rows == columns else {}),
            (("m", "n"), {"m": columns, "n": rows}),
            (("columns", "rows"), {"columns": columns, "rows": rows}),
        ):
            if set(names) <= set(fields) and sizes:
                return self.change_game(remake(self.plain, **sizes))
        raise BadParameter(f"{self.plain.spec} has {self.plain.shape[1]} columns and {self.plain.shape[0]} rows")

    def change_komi(self, komi: float) -> None:
        """Another komi; what was played stays. Games without komi take any."""
        if "komi" not in self.plain.parameters._fields or komi == self.plain.parameters.komi:
            return
        plain = remake(self.plain, komi=komi)
        free = self.game.parameters.komi - self.plain.parameters.komi  # what a free handicap adds for White
        game = remake(self.game, komi=komi + free)
        history = [replay(game, position) for position in self.history]
        self._adopt(game, replay(game, self.position))
        self.plain, self.history = plain, history

    def change_rules(self, **rules: int) -> None:
        """Other rules on the same board, cleared."""
        self.change_game(remake(self.plain, **rules))

    # How it is counted.

    @property
    def counting(self) -> CountingRules | None:
        """The rules that the game is counted by; None where it is not Go."""
        if not is_go(self.game):
            return None
        return self.told_rules or usual_rules(self.position)

    def count_by(self, rules: CountingRules) -> None:
        """Other rules; where they differ in suicide, the board is cleared."""
        if not is_go(self.game):
            raise BadParameter(f"{self.game.name} is not counted by {rules.name} rules")
        if rules.suicide != self.plain.parameters.suicide:
            self.change_rules(suicide=rules.suicide)
        self.told_rules = rules

    def count(self) -> Count:
        """The count of the board, with what is dead taken off if the rules have it so."""
        assert self.counting is not None
        plain, played = self.plain.parameters, self.game.parameters
        free = played.handicap + round(played.komi - plain.komi)
        return count(estimate(self.position), self.counting, plain.komi, free)

    def dead_and_seki(self) -> tuple[frozenset[int], frozenset[int]]:
        """The stones that are dead, and those that are in seki; none by rules to which all stones are alive."""
        if self.counting is None or not self.counting.removes_dead:
            return frozenset(), frozenset()
        view = estimate(self.position)
        return view.dead, view.seki

    def load(self, record: Record, plies: int) -> None:
        """The first plies of a record."""
        positions = list(record.positions())[: plies + 1]
        plain = remake(record.game, handicap=0) if "handicap" in record.game.parameters._fields else record.game
        self._adopt(record.game, positions[-1])
        self.plain, self.history, self.loaded = plain, positions[:-1], record
        self.told_rules = rules_of(record)

    def record(self) -> Record:
        """The game so far, with what the file that it came from says of the moves that are still the same."""
        record, file = Record.of(self.position), self.loaded
        if file is None or file.game != self.game:
            return record
        pairs = zip(record.moves, file.moves, strict=False)
        same = next((ply for ply, (ours, theirs) in enumerate(pairs) if ours != theirs), len(record.moves))
        same = min(same, len(file.moves))
        return replace(
            record,
            players=file.players,
            date=file.date,
            comments={ply: text for ply, text in file.comments.items() if ply <= same},
            properties={ply: kept for ply, kept in file.properties.items() if ply <= same},
        )

    # Moves.

    def turn_of(self, player: int) -> Position:
        """The position in which it is the player's turn: this one, or the one after the other player's pass."""
        position = self.position
        if self.counts_area:
            return turn_with_passes(position, player)
        if position.to_play == player or position.outcome is not None:
            return position
        if must_pass(position):
            return position.play(self.game.cells)
        raise IllegalMove(f"it is {self.game.players[position.to_play]}'s turn at move {position.ply + 1}")

    def play(self, player: int, vertex: str) -> None:
        """A move of either player."""
        if self.counts_area and self.is_over and vertex.lower() == PASS:
            return self.history.append(self.position)
        position = self.turn_of(player)
        return self.commit(position.play(self.vertices.action(position, vertex)))

    def commit(self, after: Position) -> None:
        """What was played is played."""
        self.history.append(self.position)
        self.position = after

    def undo(self, count: int = 1) -> None:
        """Takes moves back."""
        if not 0 < count <= len(self.history):
            raise IllegalMove(f"{len(self.history)} moves can be taken back, not {count}")
        self.position = self.history[-count]
        del self.history[-count:]

    # Handicaps.

    def give_handicap(self, stones: int) -> list[int]:
        """Stones on the points where the protocol puts them; returns these."""
        self._adopt(remake(self.plain, handicap=stones))
        return np.flatnonzero(self.position.board == 1).tolist()

    def most_stones(self) -> int:
        """The largest handicap that has fixed points on this board."""
        for stones in range(9, 1, -1):
            try:
                remake(self.plain, handicap=stones)
            except TengenError:
                continue
            return stones
        return 0

    def place_handicap(self, cells: Sequence[int]) -> None:
        """Stones on any points: Black's moves, with White passing in between. White gets a point for each."""
        count = len(cells)
        if count <= self.most_stones():
            fixed = remake(self.plain, handicap=count)
            if set(np.flatnonzero(fixed.start().board == 1).tolist()) == set(cells):
                return self._adopt(fixed)
        game = remake(self.plain, handicap=0, komi=self.plain.parameters.komi + count)
        position = game.start()
        for cell in cells:
            position = turn_with_passes(position, 0).play(cell)
        return self._adopt(game, position)


def turn_with_passes(position: Position, player: int) -> Position:
    """The position with that player to move: after a pass of the other, or with the last passes taken back."""
    a_pass = position.game.cells
    if position.outcome is not None and position.action == a_pass and position.previous is not None:
        before = position.previous  # the passes that ended it did not happen
        return before if before.to_play == player or before.previous is None else before.previous
    if position.to_play == player or position.outcome is not None:
        return position
    if position.action == a_pass and position.previous is not None:
        return position.previous  # the player passed, and moves after all
    return position.play(a_pass)


def remake(game: Game, **changes: float) -> Game:
    """The game with other parameters; raises BadParameter if it has none such, or cannot have them."""
    for name, value in changes.items():
        if name in game.fixed and getattr(game.parameters, name) != value:
            raise BadParameter(f"{game.name} has {name}={getattr(game.parameters, name)}, always")
    parameters = {**game.parameters._asdict(), **changes}
    own = {name: value for name, value in parameters.items() if name not in game.fixed}
    return Game(game.name, type(game.parameters), own, game.fixed)


def replay(game: Game, position: Position) -> Position:
    """The same moves in a game with the same board."""
    replayed = game.start()
    for action in position.moves:
        replayed = replayed.play(action)
    return replayed


def rules_of(record: Record) -> CountingRules | None:
    """The rules that a file names, if they are known here and fit those that its game is played by."""
    named = record.properties.get(0, {}).get("RU", ("",))[0]
    with suppress(BadParameter):
        rules = counting_rules(named)
        return rules if rules.suicide == getattr(record.game.parameters, "suicide", None) else None
    return None


def points_of(session: Session, words: Sequence[str]) -> list[int]:
    """The cells of vertices; raises BadMove if one is no empty point, or named twice."""
    if not plays_points(session.game):
        raise BadMove(f"{session.game.name} has no points to put stones on")
    cells = [session.vertices.coordinates.cell(word) for word in words]
    if len(set(cells)) < len(cells):
        raise BadMove("a point is named twice")
    return cells
