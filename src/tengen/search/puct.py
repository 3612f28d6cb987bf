"""PUCT, the search of AlphaZero, for one position: a batch of leaves of one tree is evaluated at once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tengen.rules.contract import encode
from tengen.rules.game import Game, Position
from tengen.rules.kernels import entry
from tengen.search.evaluators import Evaluator, Prover, priors_of
from tengen.search.gumbel import draw_edges, halving_edge, halving_schedule, improve
from tengen.search.limits import Clock, Decision, Limit, Opinion
from tengen.search.tree import (
    DRAWN,
    EDGE,
    LOST,
    NO_CHILD,
    NODE,
    NONE,
    ROOT,
    UNKNOWN,
    WON,
    begin_simulation,
    check_actions,
    clear_tree,
    finish_simulation,
    keep_subtree,
    lift_proof,
    open_node,
)
from tengen.search.uct import LONGEST_LINE, moves_between

LONGEST = 512  # plies of one simulation
LONGEST_SCHEDULE = 4096  # simulations that are shared by halving, where only time is limited
DEFAULT_SIMULATIONS = 400
BETWEEN_LOOKS = 16  # simulations after which what is expected is looked at more closely
MOST_EFFORT = 256  # of a prover, in looks at a leaf …
SECONDS_OF_LOOK = 0.002  # … and how long one takes, at most, or nearly so
MANY_LOST = 16  # edges: no hope is left in those that nobody has looked at
FOREVER = 2**60
NO_SCORES, NO_SCHEDULE = np.zeros(0, np.float32), np.zeros(0, np.int32)
NO_HALVING = NO_SCORES, NO_SCHEDULE, 1.0
Halving = tuple[np.ndarray, np.ndarray, float]  # scores, schedule and value_scale: see gumbel.py


class Batch(NamedTuple):
    """Leaves under way: their states, the paths to them, and what the network is shown."""

    leaves: Any
    paths: Any  # [leaves, plies, 2]
    lengths: Any  # [leaves]
    planes: Any  # [leaves, planes, cells]
    actions: Any  # scratch memory for `legal`


@entry
def select_leaves(game, root, nodes, edges, batch, most, exploration, urgency, scores, schedule, value_scale, encodes):
    """Begins up to `most` simulations; returns how many wait for the network, and how many ended without it.

    It stops early where a leaf would be evaluated twice, and when the root is proven. A `schedule` (see gumbel.py) says
    which edge of the root is next; it is as long as `most`, or empty. If `encodes`, the planes of the leaves are
    written.
    """
    waiting, finished = 0, 0
    while waiting + finished < most and waiting < len(batch.lengths) and nodes[ROOT].proven == UNKNOWN:
        batch.leaves[waiting] = root[0]
        first = NONE
        if len(schedule) > 0:
            first = halving_edge(nodes, edges, scores, schedule[waiting + finished], value_scale)
        leaf, path = batch.leaves[waiting], batch.paths[waiting]
        length = begin_simulation(game, nodes, edges, leaf, exploration, urgency, first, path)
        if length < 0:
            break
        if length == 0:
            finished += 1
        else:
            batch.lengths[waiting] = length
            if encodes:
                encode(game, leaf, batch.planes[waiting])
            waiting += 1
    return waiting, finished


@entry
def backup_leaves(game, nodes, edges, sizes, batch, waiting, priors, values, rollouts, seed):
    """Completes the simulations that waited; one whose value is NaN, not known, is taken back.

    Returns how many were completed, and the next seed.
    """
    completed = 0
    for i in range(waiting):
        leaf, path, length = batch.leaves[i], batch.paths[i], np.int64(batch.lengths[i])
        if np.isnan(values[i]):
            for k in range(length):
                nodes[path[k, 0]].visits -= 1
                edges[path[k, 1]].losses -= 1
        else:
            answer = priors[i], values[i]
            seed = finish_simulation(
                game, nodes, edges, sizes, leaf, path, length, *answer, batch.actions, rollouts, seed
            )
            completed += 1
    return completed, seed


@entry
def mark_proven(game, nodes, edges, batch, wins, values):
    """Where `wins` [leaves] says that the player to move wins, proves the edge to the leaf and sets its value."""
    for i in range(len(wins)):
        if wins[i]:
            node, edge = batch.paths[i, batch.lengths[i] - 1]
            edges[edge].proven = WON if nodes[node].to_play == batch.leaves[i].to_play else LOST
            values[i] = 1


@entry
def lift_proofs(game, nodes, edges, path, length):
    """Backs the proof at the last edge of `path` up as far as it holds."""
    for i in range(length - 1, -1, -1):
        if edges[path[i, 1]].proven != UNKNOWN:
            lift_proof(nodes, edges, path, i)


@entry
def expand_root(game, root, nodes, edges, sizes, batch, priors, values):
    """Makes a tree of nothing but its root."""
    clear_tree(nodes, edges, sizes)
    open_node(game, nodes, edges, sizes, root[0], priors[0], values[0], batch.actions)


@entry
def encode_root(game, root, batch):
    """The root as the network sees it: planes[0]."""
    encode(game, root[0], batch.planes[0])


@entry
def move_root(game, old_nodes, old_edges, nodes, edges, sizes, source):
    """Makes the subtree below the node `source` the tree."""
    keep_subtree(old_nodes, old_edges, nodes, edges, sizes, source)


def usual_batch(simulations: int | None, threads: int = 1) -> int:
    """The usual batch size: small where simulations are few, so that later ones know of earlier ones; threads get four
    leaves each."""
    most = max(8, min(4 * threads, 64))
    return most if simulations is None else min(max(simulations // 50, 1), most)


def new_tree(edges: int) -> tuple[np.ndarray, np.ndarray]:
    """Memory for `edges` edges and their nodes; pages that are never used cost nothing."""
    return np.zeros(edges // 4, NODE).view(np.recarray), np.zeros(edges, EDGE).view(np.recarray)


@dataclass
class Puct:
    """A search that keeps its tree between moves."""

    game: Game
    evaluator: Evaluator
    exploration: float = 1.5  # c
    urgency: float = 0.25  # how much worse than its node an edge never visited is thought to be; −1: it is thought even
    rollouts: float = 0.0  # λ: this share of a leaf's value is the result of random moves to the end
    batch: int = 8  # leaves that the network is asked about at once
    memory: int = 512  # megabytes, half of it for moving the tree
    seed: int = 1
    prover: Prover | None = None  # who knows some leaves exactly
    nodes: np.ndarray = field(init=False)
    edges: np.ndarray = field(init=False)
    sizes: np.ndarray = field(init=False)
    position: Position | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        check_actions(self.game.actions)
        edges = self.memory * 2**20 // (2 * (EDGE.itemsize + NODE.itemsize // 4))
        self.nodes, self.edges = new_tree(edges)
        self.spare = np.zeros(0, NODE), np.zeros(0, EDGE)
        self.sizes, self.chance = np.zeros(2, np.int64), np.uint64(self.seed)
        self.looked_at: dict[int, int] = {}  # the prover's effort when it looked last, by position
        self.work = Batch(
            leaves=self.game.new_states(self.batch),
            paths=np.zeros((self.batch, LONGEST, 2), np.int32),
            lengths=np.zeros(self.batch, np.int32),
            planes=np.zeros((self.batch, len(self.game.planes), self.game.cells), np.float32),
            actions=np.zeros(self.game.actions, np.int32),
        )
        self._compile()

    def _compile(self) -> None:
        """Compiling is no part of anybody's time to think. The evaluator is not asked."""
        game, start, trees = self.game.parameters, self.game.start().states, (self.nodes, self.edges)
        priors, values = np.ones((1, self.game.actions), np.float32), np.zeros(1, np.float32)
        encode_root(game, start, self.work)
        expand_root(game, start, *trees, self.sizes, self.work, priors, values)
        settings = self.exploration, self.urgency, *NO_HALVING, False
        select_leaves(game, start, *trees, self.work, 0, *settings)
        mark_proven(game, *trees, self.work, np.zeros(0, np.bool_), values)
        backup_leaves(game, *trees, self.sizes, self.work, 0, priors, values, self.rollouts, self.chance)
        lift_proofs(game, *trees, self.work.paths[0], 0)
        spare = np.zeros_like(self.nodes[:1]), np.zeros_like(self.edges[: self.game.actions])
        move_root(game, *trees, *spare, self.sizes, ROOT)

    def search(self, position: Position, limit: Limit) -> Decision:
        """Searches a position that is not over. A tree that is full goes on without growing."""
        clock = Clock(limit)
        most = limit.count or (FOREVER if limit.time is not None else DEFAULT_SIMULATIONS)
        self.move_to(position)
        done = 0
        while self.has_more(done, most, limit, clock):
            before, done = done, done + self.simulate(most - done)
            if self.prover is not None and done // BETWEEN_LOOKS > before // BETWEEN_LOOKS:
                self.look_closer(self.prover, clock)
        return self.decide(done, clock)

    def look_closer(self, prover: Prover, clock: Clock) -> None:
        """Has the prover look at the expected line, with effort by its visits, and again at twice the visits.

        A look takes at most a quarter of the time that is left.
        """
        assert self.position is not None
        position, node, path = self.position, ROOT, self.work.paths[0]
        for length in range(1, LONGEST):
            index = self.order(node)[0]
            edge, visits = self.edges[index], int(self.edges[index].visits)
            if edge.proven != UNKNOWN or visits < 2:
                return
            path[length - 1], mover = (node, index), position.to_play
            position, node = position.play(int(edge.action)), int(edge.child)
            effort = int(min(visits, MOST_EFFORT, clock.left / 4 / SECONDS_OF_LOOK))
            before = self.looked_at.get(position.key, 1)
            if effort > before and effort >= min(2 * before, MOST_EFFORT):
                self.looked_at[position.key] = effort
                if prover(position.states, effort)[0]:
                    del self.looked_at[position.key]  # by another way it comes up again
                    edge.proven = WON if position.to_play == mover else LOST
                    lift_proofs(self.game.parameters, self.nodes, self.edges, path, length)
                    return
            if node == NO_CHILD:
                return

    def has_more(self, done: int, most: int, limit: Limit, clock: Clock) -> bool:
        """Whether a search goes on that has made `done` simulations of at most `most`."""
        if done >= most or clock.left <= 0 or self.nodes[ROOT].proven != UNKNOWN:
            return False
        return not (limit.early and done and self.is_settled(min(most - done, clock.more(done))))

    def is_settled(self, left: float) -> bool:
        """Whether the favourite keeps the most visits, even if another edge gets all `left` simulations.

        A proof could still change the move.
        """
        edges = self.edges_of(ROOT)
        visits = np.sort(edges.visits[edges.proven != LOST])
        if len(visits) < 2:
            return bool(visits.any())
        return bool(visits[-1] - visits[-2] > left)

    def simulate(
        self, most: int, scores: np.ndarray = NO_SCORES, schedule: np.ndarray = NO_SCHEDULE, value_scale: float = 1.0
    ) -> int:
        """Makes one batch of at most `most` simulations; returns how many."""
        waiting, finished = self.select(most, (scores, schedule, value_scale))
        if waiting:
            logits, values = self.evaluator(self.work.planes[:waiting])
            if self.prover is not None:
                wins = self.prover(self.work.leaves[:waiting])
                mark_proven(self.game.parameters, self.nodes, self.edges, self.work, wins, values)
            self.backup(waiting, logits, values, self.rollouts)
        return waiting + finished

    def select(self, most: int, halving: Halving = NO_HALVING, encodes: bool = True) -> tuple[int, int]:
        """Begins up to `most` simulations: see `select_leaves`."""
        assert self.position is not None
        game, trees = self.game.parameters, (self.position.states, self.nodes, self.edges)
        settings = self.exploration, self.urgency, *halving, encodes
        waiting, finished = select_leaves(game, *trees, self.work, most, *settings)
        return waiting, finished

    def backup(self, waiting: int, logits: np.ndarray, values: np.ndarray, rollouts: float) -> int:
        """Completes the simulations that wait, by the answers about their leaves; returns how many."""
        game, trees, answers = self.game.parameters, (self.nodes, self.edges, self.sizes), (priors_of(logits), values)
        completed, seed = backup_leaves(game, *trees, self.work, waiting, *answers, rollouts, self.chance)
        self.chance = np.uint64(seed)
        return int(completed)

    def move_to(self, position: Position) -> None:
        """Makes `position` the root; its subtree is kept if it continues the last position."""
        moves = None if self.position is None else moves_between(self.position, position)
        source = ROOT if moves is not None else NONE
        for move in moves or ():
            found = (int(edge.child) for edge in self.edges_of(source) if edge.action == move)
            source = next(found, NO_CHILD) or NONE
            if source == NONE:
                break
        self.position, game = position, self.game.parameters
        if source == NONE:
            self.looked_at.clear()
            encode_root(game, position.states, self.work)
            logits, values = self.evaluator(self.work.planes[:1])
            expand_root(game, position.states, self.nodes, self.edges, self.sizes, self.work, priors_of(logits), values)
        elif source != ROOT:
            if len(self.spare[0]) == 0:
                self.spare = new_tree(len(self.edges))
            move_root(game, self.nodes, self.edges, *self.spare, self.sizes, source)
            (self.nodes, self.edges), self.spare = self.spare, (self.nodes, self.edges)

    def edges_of(self, node: int) -> Any:
        """The edges of a node."""
        first, count = int(self.nodes[node].first), int(self.nodes[node].count)
        return self.edges[first : first + count]

    def order(self, node: int) -> np.ndarray:
        """A node's edges, by index: proven wins first, proven losses last, then by visits, prior, the lower action.

        Where many have been tried and all are lost, so is the rest, most likely: then the most visited comes first.
        """
        edges = self.edges_of(node)
        is_lost = edges.proven == LOST
        if is_lost.sum() >= MANY_LOST:
            is_lost = is_lost | (edges.visits == 0)
        last_first = (-edges.action, edges.prior, edges.visits, ~is_lost, edges.proven == WON)
        return int(self.nodes[node].first) + np.lexsort(last_first)[::-1]

    def ranked(self, node: int) -> Any:
        """The edges of a node, in the order of `order`."""
        return self.edges[self.order(node)]

    def favourite(self, node: int) -> Any:
        """The edge to play."""
        return self.ranked(node)[0]

    def line_through(self, edge: Any) -> tuple[int, ...]:
        """The edge's action, and the expected line after it."""
        line = [int(edge.action)]
        while edge.visits and int(edge.child) != NO_CHILD and len(line) < LONGEST_LINE:
            edge = self.favourite(int(edge.child))
            line.append(int(edge.action))
        return tuple(line)

    def decide(self, done: int, clock: Clock, best: Any = None) -> Decision:
        """The favourite at the root (or what was found best by other means), and why."""
        edges, proven = self.edges_of(ROOT), int(self.nodes[ROOT].proven)
        best = self.favourite(ROOT) if best is None else best
        line, value = self.line_through(best), float(best.value) / max(int(best.visits), 1)
        total = max(int(edges.visits.sum()), 1)
        is_full = self.sizes[1] + self.game.most_legal > len(self.edges)
        return Decision(
            action=line[0],
            value={LOST: -1.0, DRAWN: 0.0, WON: 1.0}.get(proven, value),
            policy={int(edge.action): int(edge.visits) / total for edge in edges if edge.visits},
            principal_variation=line,
            nodes=done,
            depth=len(line),
            seconds=clock.seconds,
            note="; ".join(["proven"] * bool(proven) + ["the tree is full: give it more memory"] * bool(is_full)),
        )

    def opinions(self, lines: int | None = None) -> list[Opinion]:
        """An Opinion of each visited action, the best first; the first `lines` have a line, by default all."""
        edges = self.ranked(ROOT)
        return [
            Opinion(
                action=int(edge.action),
                visits=int(edge.visits),
                value=float(edge.value) / int(edge.visits),
                prior=float(edge.prior),
                line=self.line_through(edge) if lines is None or place < lines else (),
            )
            for place, edge in enumerate(edges[edges.visits > 0])
        ]


@entry
def draw_considered(game, nodes, edges, scores, considered):
    """The actions that share the simulations."""
    draw_edges(nodes, edges, scores, considered)


@entry
def improved_policy(game, nodes, edges, scores, value_scale, policy):
    """Writes the root's improved policy; returns the edge to play."""
    return improve(nodes, edges, scores, value_scale, policy)


@dataclass
class Gumbel(Puct):
    """PUCT below the root; at the root, actions drawn by Gumbel numbers share the simulations by sequential halving."""

    considered: int = 16  # actions drawn
    noise: float = 1.0  # 0 for none: the actions most likely by the prior, the same every time
    value_scale: float = 1.0  # how much what was found weighs against the prior

    def __post_init__(self) -> None:
        super().__post_init__()
        self.random = np.random.default_rng(self.seed)

    def _compile(self) -> None:
        super()._compile()
        nothing = np.zeros(self.game.actions, np.float32)
        draw_considered(self.game.parameters, self.nodes, self.edges, nothing, self.considered)
        improved_policy(self.game.parameters, self.nodes, self.edges, nothing, self.value_scale, nothing)

    def search(self, position: Position, limit: Limit) -> Decision:
        """As PUCT's. Without a limit on simulations a long halving is begun, and what time is left goes on as PUCT."""
        clock = Clock(limit)
        most = limit.count or (FOREVER if limit.time is not None else DEFAULT_SIMULATIONS)
        self.position = None  # halving counts visits from zero
        self.move_to(position)
        count, done = int(self.nodes[ROOT].count), 0
        scores = (self.noise * self.random.gumbel(size=self.game.actions)).astype(np.float32)
        draw_considered(self.game.parameters, self.nodes, self.edges, scores, self.considered)
        schedule = halving_schedule(min(self.considered, count), min(most, LONGEST_SCHEDULE))
        while done < most and clock.left > 0 and self.nodes[ROOT].proven == UNKNOWN:
            if done < len(schedule):
                done += self.simulate(len(schedule) - done, scores, schedule[done:], self.value_scale)
            else:
                done += self.simulate(most - done)
        edges = self.edges_of(ROOT)
        policy, winner = np.zeros(count, np.float32), int(self.nodes[ROOT].first)
        winner = (
            improved_policy(self.game.parameters, self.nodes, self.edges, scores, self.value_scale, policy) - winner
        )
        decision = self.decide(done, clock, edges[winner])
        return replace(decision, policy={int(edges[i].action): float(policy[i]) for i in range(count)})
