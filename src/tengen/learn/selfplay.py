"""Self-play: groups of games in lockstep, one thread a group, every game at its own pace.

A step of a group shows the network one position of every game, and hands each game its answer: it searches on, and
when a search is done it plays, begins the next search or the next game, until it has another question. So every batch
is full, and a thread never waits for another.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from tengen.rules.contract import DRAW, ONGOING, advance, below, kernel, legal, outcome, play, start
from tengen.rules.game import Game
from tengen.rules.kernels import entry
from tengen.search.evaluators import Evaluator
from tengen.search.lockstep import (
    Plan,
    Rows,
    begin_search,
    begin_searches,
    conclude,
    follow_edge,
    go_on,
    new_rows,
)
from tengen.search.tree import ROOT


class Story(NamedTuple):
    """What was played so far in the game of each row."""

    moves: Any  # [rows, plies]
    policies: Any  # [rows, plies, actions]: all zero where a move was random
    plies: Any  # [rows]
    ended: Any  # [rows]: plies of the game that ended in the last step, else 0
    results: Any  # [rows]: and how it ended
    openings: Any  # [rows, plies]: random moves that began a new game; they come into the story once the old is read
    blank: Any  # one state of zeros


def new_story(game: Game, count: int, longest: int, opening: int) -> Story:
    """Stories of `count` rows, of up to `longest` plies, the first of them random ones, up to `opening`."""
    return Story(
        moves=np.zeros((count, longest), np.int16),
        policies=np.zeros((count, longest, game.actions), np.float32),
        plies=np.zeros(count, np.int32),
        ended=np.zeros(count, np.int32),
        results=np.zeros(count, np.int8),
        openings=np.zeros((count, opening), np.int16),
        blank=game.new_states(1),
    )


@kernel
def write_down(rows, story, i, ply, edge):
    """Adds to the story of row i: its policy, and the action that is played."""
    nodes, edges, weights = rows.nodes[i], rows.edges[i], rows.weights[i]
    first = np.int64(nodes[ROOT].first)
    policy = story.policies[i, ply]
    policy[:] = 0
    for k in range(nodes[ROOT].count):
        policy[edges[first + k].action] = weights[k]
    story.moves[i, ply] = edges[edge].action
    story.plies[i] = ply + 1


@kernel
def begin_game(game, plan, rows, story, i):
    """Row i begins another game, with some random moves if that is the plan, and asks about where they lead."""
    row, state = rows.rows[i], rows.roots[i]
    row.seed = advance(row.seed)
    plies = np.int64(below(row.seed, story.openings.shape[1] + 1))
    rows.roots[i] = story.blank[0]
    start(game, state)
    for ply in range(plies):
        count = legal(game, state, rows.actions[i])
        row.seed = advance(row.seed)
        story.openings[i, ply] = rows.actions[i, below(row.seed, count)]
        play(game, state, story.openings[i, ply])
        if outcome(game, state) != ONGOING:  # nothing is left to play: without random moves, then
            rows.roots[i] = story.blank[0]
            start(game, state)
            plies = 0
            break
    story.plies[i] = plies
    begin_search(game, rows, i)


@kernel
def open_story(story, i):
    """The story of row i is that of its new game: random moves so far, from which nothing is learned."""
    story.ended[i] = 0
    for ply in range(story.plies[i]):
        story.moves[i, ply] = story.openings[i, ply]
        story.policies[i, ply][:] = 0


@kernel
def play_row(game, plan, rows, story, i, logits, value):
    """Row i hears its answer, and plays until it has another question."""
    has_question = go_on(game, plan, rows, i, logits, value)
    while not has_question:
        ply = np.int64(story.plies[i])
        edge = conclude(plan, rows, i, ply)
        write_down(rows, story, i, ply, edge)
        play(game, rows.roots[i], rows.edges[i][edge].action)
        result = outcome(game, rows.roots[i])
        if result == ONGOING and ply + 1 < story.moves.shape[1]:
            has_question = follow_edge(game, plan, rows, i, edge)
        else:  # a game without an end is a draw
            story.ended[i], story.results[i] = ply + 1, DRAW if result == ONGOING else result
            begin_game(game, plan, rows, story, i)
            has_question = True


@entry
def begin_games(game, plan, rows, story):
    """Every row begins a game."""
    for i in range(len(rows.rows)):
        begin_game(game, plan, rows, story, i)


@entry
def open_stories(game, story, every):
    """Every row, or only those whose last game has ended and was read, opens its new story."""
    for i in range(len(story.ended)):
        if every or story.ended[i] > 0:
            open_story(story, i)


@entry
def play_on(game, plan, rows, story, logits, values):
    """Every row hears its answer."""
    for i in range(len(rows.rows)):
        play_row(game, plan, rows, story, i, logits[i], values[i])


@entry
def replay_moves(game, states, moves, plies):
    """Sets up each state after its first plies [states] of moves [states, plies]."""
    for i in range(len(states)):
        start(game, states[i])
        for ply in range(plies[i]):
            play(game, states[i], moves[i, ply])


class Games(NamedTuple):
    """Games that were played to their end, one after the other."""

    lengths: np.ndarray  # [games]: plies
    results: np.ndarray  # [games]: FIRST, SECOND or DRAW
    moves: np.ndarray  # [positions]
    policies: np.ndarray  # [positions, actions], float16; all zero where a move was random

    @staticmethod
    def none(actions: int) -> Games:
        kinds = np.int32, np.int8, np.int16, np.float16
        shapes = 0, 0, 0, (0, actions)
        return Games(*(np.zeros(shape, kind) for shape, kind in zip(shapes, kinds, strict=True)))

    @staticmethod
    def join(parts: list[Games]) -> Games:
        return Games(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class Group:
    """Games that one thread plays."""

    def __init__(self, game: Game, plan: Plan, count: int, longest: int, seed: int, opening: int = 0):
        self.game, self.plan = game, plan
        self.rows: Rows = new_rows(game, plan, count, seed)
        self.story = new_story(game, count, longest, opening)
        self.evaluations = 0
        begin_games(game.parameters, plan, self.rows, self.story)
        open_stories(game.parameters, self.story, True)

    def play(self, evaluator: Evaluator, positions: int, is_stopped: Callable[[], bool]) -> Games:
        """Plays until games with that many positions have ended; those under way go on the next time.

        Searches begin anew: what an earlier network found is no part of them.
        """
        game, finished, done = self.game.parameters, [Games.none(self.game.actions)], 0
        begin_searches(game, self.rows)
        while done < positions and not is_stopped():
            logits, values = evaluator(self.rows.planes)
            play_on(game, self.plan, self.rows, self.story, logits, values)
            self.evaluations += len(logits)
            if self.story.ended.any():
                for i in np.flatnonzero(self.story.ended).tolist():
                    finished.append(self._finished(i))
                    done += len(finished[-1].moves)
                open_stories(game, self.story, False)
        return Games.join(finished)

    def _finished(self, i: int) -> Games:
        """The game of row i that has just ended."""
        story, plies = self.story, int(self.story.ended[i])
        return Games(
            lengths=np.array([plies], np.int32),
            results=story.results[i : i + 1].copy(),
            moves=story.moves[i, :plies].copy(),
            policies=story.policies[i, :plies].astype(np.float16),
        )

    def save(self) -> dict[str, np.ndarray]:
        """The games under way, as arrays: all that must outlive the process."""
        story, longest = self.story, int(self.story.plies.max())
        played = np.arange(longest) < story.plies[:, np.newaxis]  # beyond that stand moves of games that are over
        return {
            "seeds": self.rows.rows.seed.copy(),
            "plies": story.plies.copy(),
            "moves": story.moves[:, :longest] * played,
            "policies": (story.policies[:, :longest] * played[..., np.newaxis]).astype(np.float16),
        }

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """Goes on where `save` was called."""
        self.rows.rows.seed[:] = saved["seeds"]
        self.story.plies[:] = saved["plies"]
        longest = saved["moves"].shape[1]
        for name in ("moves", "policies"):
            getattr(self.story, name)[:, :longest] = saved[name]
        self.rows.roots[:] = self.story.blank[0]
        replay_moves(self.game.parameters, self.rows.roots, self.story.moves, self.story.plies)


def play_groups(
    groups: list[Group], evaluators: list[Evaluator], positions: int, is_stopped: Callable[[], bool] = lambda: False
) -> Games:
    """All groups play, a thread each, until each has its share of positions; the same games, however threads run."""
    share = -(-positions // len(groups))
    with ThreadPoolExecutor(len(groups)) as pool:
        played = pool.map(lambda group, evaluator: group.play(evaluator, share, is_stopped), groups, evaluators)
    return Games.join(list(played))
