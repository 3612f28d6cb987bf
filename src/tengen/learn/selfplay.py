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

from tengen.rules.contract import DRAW, ONGOING, advance, below, encode, kernel, legal, outcome, play, start
from tengen.rules.game import Game
from tengen.rules.kernels import entry
from tengen.search.evaluators import Evaluator, Tempered, priors_of
from tengen.search.lockstep import (
    Plan,
    Rows,
    as_words,
    begin_searches,
    copy_words,
    expand_and_backup,
    follow_edge,
    new_rows,
    root_policy,
    row_of,
    select_leaf,
    select_root,
    selected_state,
)
from tengen.search.tree import ROOT

TRIES = 64  # at a random move that is near another; then any will do


class Opening(NamedTuple):
    """Random moves that begin a game, from which nothing is learned."""

    plies: int = 0  # the most; a game has 0 to this many
    near: int = 0  # rows and columns at most to a move before it; 0: anywhere
    columns: int = 1  # of the board


NO_OPENING = Opening()


class Trajectory(NamedTuple):
    """What was played so far in the game of each row."""

    moves: Any  # [rows, plies]
    policies: (
        Any  # [rows, plies, most_legal]: by action, or by legal action where few are; all zero where a move was random
    )
    plies: Any  # [rows]
    ended: Any  # [rows]: plies of a game that has ended, and waits to be read; else 0
    results: Any  # [rows]: and how it ended
    blank: Any  # [words]: a state of zeros


def new_trajectories(game: Game, count: int, longest: int) -> Trajectory:
    """Trajectories of `count` rows, of up to `longest` plies."""
    return Trajectory(
        moves=np.zeros((count, longest), np.int16),
        policies=np.zeros((count, longest, game.most_legal), np.float32),
        plies=np.zeros(count, np.int32),
        ended=np.zeros(count, np.int32),
        results=np.zeros(count, np.int8),
        blank=as_words(game.new_states(1))[0],
    )


@kernel
def record_move(row, trajectory, i, ply, edge):
    """Adds to the trajectory of row i: its policy, and the action that is played."""
    nodes, edges, weights = row.nodes, row.edges, row.weights
    first = np.int64(nodes[ROOT].first)
    policy = trajectory.policies[i, ply]
    policy[:] = 0
    for k in range(nodes[ROOT].count):
        action = edges[first + k].action
        place = np.int64(action)
        if len(policy) < len(row.scores):  # a place for each legal action
            place = 0
            for other in range(nodes[ROOT].count):
                place += edges[first + other].action < action
        policy[place] = weights[k]
    trajectory.moves[i, ply] = edges[edge].action
    trajectory.plies[i] = ply + 1


@kernel
def is_near(opening, moves, ply, action):
    """Whether an action is near one of the moves before this ply."""
    row, column = action // opening.columns, action % opening.columns
    for earlier in range(ply):
        rows = abs(np.int64(moves[earlier]) // opening.columns - row)
        columns = abs(np.int64(moves[earlier]) % opening.columns - column)
        if max(rows, columns) <= opening.near:
            return True
    return False


@kernel
def random_move(row, moves, ply, count, opening):
    """One of the row's first `count` actions, for its opening."""
    progress, action = row.progress, np.int64(0)
    for _ in range(TRIES):
        progress.seed = advance(progress.seed)
        action = np.int64(row.actions[below(progress.seed, count)])
        if opening.near == 0 or ply == 0 or is_near(opening, moves, ply, action):
            break
    return action


@kernel
def begin_game(game, row, trajectory, i, opening):
    """Row i begins a game with an opening; then its root waits for the network."""
    row.progress.seed = advance(row.progress.seed)
    plies = np.int64(below(row.progress.seed, opening.plies + 1))
    copy_words(trajectory.blank, row.root_words)
    start(game, row.root)
    for ply in range(plies):
        count = legal(game, row.root, row.actions)
        trajectory.moves[i, ply] = random_move(row, trajectory.moves[i], ply, count, opening)
        trajectory.policies[i, ply][:] = 0
        play(game, row.root, trajectory.moves[i, ply])
        if outcome(game, row.root) != ONGOING:  # nothing is left to play: without random moves, then
            copy_words(trajectory.blank, row.root_words)
            start(game, row.root)
            plies = 0
            break
    trajectory.plies[i], trajectory.ended[i] = plies, 0
    select_root(row)
    encode(game, row.root, row.planes)


@kernel
def play_row(game, plan, row, trajectory, i):
    """Row i, whose answer is backed up, plays until its next leaf waits for the network, or its game has ended."""
    while not select_leaf(game, plan, row):
        ply = np.int64(trajectory.plies[i])
        edge = root_policy(plan, row, ply)
        record_move(row, trajectory, i, ply, edge)
        play(game, row.root, row.edges[edge].action)
        result = outcome(game, row.root)
        if result != ONGOING or ply + 1 == trajectory.moves.shape[1]:  # a game without an end is a draw
            trajectory.ended[i], trajectory.results[i] = ply + 1, DRAW if result == ONGOING else result
            return
        if follow_edge(plan, row, edge):
            break
    encode(game, selected_state(row), row.planes)


@entry
def begin_games(game, rows, trajectory, opening, every):
    """Every row, or only those whose last game has ended, begins a game."""
    for i in range(len(rows.progress)):
        if every or trajectory.ended[i] > 0:
            begin_game(game, row_of(rows, i, rows.actions[i], rows.weights[i], rows.planes[i]), trajectory, i, opening)


@entry
def play_on(game, plan, rows, trajectory, priors, values):
    """Every row takes in its answer and goes on: priors [rows, actions], values [rows]."""
    for i in range(len(rows.progress)):
        row = row_of(rows, i, rows.actions[i], rows.weights[i], rows.planes[i])
        expand_and_backup(game, plan, row, priors[i], values[i])
        play_row(game, plan, row, trajectory, i)


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
    policies: np.ndarray  # [positions, most_legal], float16: as in Trajectory; all zero where a move was random

    @staticmethod
    def none(game: Game) -> Games:
        kinds = np.int32, np.int8, np.int16, np.float16
        shapes = 0, 0, 0, (0, game.most_legal)
        return Games(*(np.zeros(shape, kind) for shape, kind in zip(shapes, kinds, strict=True)))

    @staticmethod
    def join(parts: list[Games]) -> Games:
        return Games(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class Group:
    """Games that one thread plays."""

    def __init__(self, game: Game, plan: Plan, count: int, longest: int, seed: int, opening: Opening = NO_OPENING):
        self.game, self.plan, self.opening, self.evaluations = game, plan, opening, 0
        self.rows: Rows = new_rows(game, plan, count, seed)
        self.trajectory = new_trajectories(game, count, longest)
        begin_games(game.parameters, self.rows, self.trajectory, opening, True)

    def play(self, evaluator: Evaluator, positions: int, is_stopped: Callable[[], bool]) -> Games:
        """Plays until games with `positions` positions have ended; the games under way go on in the next call.

        Searches begin anew: none uses what an earlier network found.
        """
        game, finished, done = self.game.parameters, [Games.none(self.game)], 0
        begin_searches(game, self.rows)
        if self.plan.prior_temperature != 1:
            evaluator = Tempered(evaluator, self.plan.prior_temperature)
        while done < positions and not is_stopped():
            logits, values = evaluator(self.rows.planes)
            play_on(game, self.plan, self.rows, self.trajectory, priors_of(logits), values)
            self.evaluations += len(logits)
            if self.trajectory.ended.any():
                for i in np.flatnonzero(self.trajectory.ended).tolist():
                    finished.append(self._finished(i))
                    done += len(finished[-1].moves)
                begin_games(game, self.rows, self.trajectory, self.opening, False)
        return Games.join(finished)

    def _finished(self, i: int) -> Games:
        """The game of row i that has just ended."""
        trajectory, plies = self.trajectory, int(self.trajectory.ended[i])
        return Games(
            lengths=np.array([plies], np.int32),
            results=trajectory.results[i : i + 1].copy(),
            moves=trajectory.moves[i, :plies].copy(),
            policies=learned(trajectory.policies[i, :plies], self.plan.prior_temperature),
        )

    def save(self) -> dict[str, np.ndarray]:
        """The games under way, as arrays by name, for a checkpoint."""
        trajectory, longest = self.trajectory, int(self.trajectory.plies.max())
        played = np.arange(longest) < trajectory.plies[:, np.newaxis]  # beyond that stand moves of games that are over
        return {
            "seeds": self.rows.progress.seed.copy(),
            "plies": trajectory.plies.copy(),
            "moves": trajectory.moves[:, :longest] * played,
            "policies": (trajectory.policies[:, :longest] * played[..., np.newaxis]).astype(np.float16),
        }

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """Takes over the games under way that `save` returned, here or on a GPU, which keeps no policies: then what was
        played so far is only played on, not learned from."""
        self.rows.progress.seed[:] = saved["seeds"]
        self.trajectory.plies[:] = saved["plies"]
        longest = saved["moves"].shape[1]
        self.trajectory.moves[:, :longest] = saved["moves"]
        self.trajectory.policies[:, :longest] = saved.get("policies", 0)
        self.rows.root_words[:] = 0
        replay_moves(self.game.parameters, self.rows.roots, self.trajectory.moves, self.trajectory.plies)


def learned(policies: np.ndarray, temperature: float) -> np.ndarray:
    """The policies to learn from those that searches found with priors at `temperature`.

    softmax(logit / t + σ(q)), to the power of t, is softmax(logit + t · σ(q)). Learned as it is, a move that was never
    tried would lose some of its logit with each generation, until the net prefers nothing to anything.
    """
    sharp = policies.astype(np.float16).astype(np.float32) ** temperature  # `save` keeps no more of them
    return (sharp / np.maximum(sharp.sum(axis=1, keepdims=True), 1e-30)).astype(np.float16)


def play_groups(
    groups: list[Group], evaluators: list[Evaluator], positions: int, is_stopped: Callable[[], bool] = lambda: False
) -> Games:
    """Games with `positions` positions, played by all groups, a thread each. Threads do not change which games."""
    share = -(-positions // len(groups))
    with ThreadPoolExecutor(len(groups)) as pool:
        played = pool.map(lambda group, evaluator: group.play(evaluator, share, is_stopped), groups, evaluators)
    return Games.join(list(played))
