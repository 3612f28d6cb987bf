"""UCT: Monte Carlo tree search by UCB1 and random rollouts, with proven wins and losses backed up.

A tree is one array of nodes; only visited nodes exist. The children of a node are a list (`first_child`, `sibling`)
that grows by one a visit, in a scrambled order of the legal actions: nothing is stored for actions not tried.

A node's wins are for its `mover`, the player whose action led to it: its parent compares children by their own means,
and no sign is ever turned, even where a player moves twice.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from tengen.rules.contract import (
    DRAW,
    ONGOING,
    advance,
    first_seed,
    kernel,
    legal,
    mix,
    outcome,
    play,
    rollout,
)
from tengen.rules.game import Game, Position
from tengen.rules.kernels import entry
from tengen.search.limits import Clock, Decision, Limit, Opinion, Pace

ROOT = 0
NONE = 0  # no child, no sibling: the root is neither
UNKNOWN, WON, DRAWN, LOST = 0, 1, 2, 3  # what is proven of a node, for its mover
DEEPEST = 1024  # plies that one simulation remembers
LONGEST_LINE = 24  # plies of a line that is shown

NODE = np.dtype(
    [
        ("visits", np.int32),
        ("wins", np.float32),  # of the mover; a draw is half a win
        ("first_child", np.int32),
        ("sibling", np.int32),
        ("action", np.int32),
        ("tried", np.int16),  # children there are
        ("count", np.int16),  # legal actions; 0 until they are counted
        ("mover", np.int8),
        ("proven", np.int8),
    ],
    align=True,
)


@kernel
def ucb1(mean, visits, parent_visits, exploration):
    """X̄ + C·√(2 ln n / nⱼ), with means in [0, 1]."""
    return mean + exploration * math.sqrt(2.0 * math.log(parent_visits) / visits)


@kernel
def best_child(nodes, parent, exploration):
    """The child with the highest UCB1 that is not proven lost; NONE if all are. A proven draw is worth just that."""
    scale = np.float32(exploration * math.sqrt(2.0 * math.log(nodes[parent].visits)))
    best, highest = NONE, np.float32(-1.0)
    child = nodes[parent].first_child
    while child != NONE:
        node = nodes[child]
        if node.proven != LOST:
            visits = np.float32(node.visits)
            bound = np.float32(0.5)
            if node.proven != DRAWN:
                bound = node.wins / visits + scale / np.float32(math.sqrt(visits))
            if bound > highest:
                best, highest = child, bound
        child = node.sibling
    return best


@kernel
def untried_action(nodes, node, actions):
    """The next action of the node's scrambled order: begin + tried · step; step and count have no common factor.

    The order depends on the node's action, not on its place: it must not change when the tree is moved.
    """
    count, bits = nodes[node].count, mix(np.uint64(nodes[node].action + 2))
    step = 1 + np.int64(bits >> np.uint64(33)) % count
    while greatest_divisor(step, count) != 1:
        step = step % count + 1
    begin = np.int64(bits & np.uint64(0xFFFFFF))
    return actions[(begin + nodes[node].tried * step) % count]


@kernel
def greatest_divisor(one, other):
    while other != 0:
        one, other = other, one % other
    return one


@kernel
def add_child(nodes, sizes, parent, action, mover):
    """A new node in front of the parent's other children."""
    child = sizes[0]
    sizes[0] += 1
    nodes[child].visits = nodes[child].tried = nodes[child].count = 0
    nodes[child].wins = 0
    nodes[child].first_child = NONE
    nodes[child].sibling = nodes[parent].first_child
    nodes[child].action = action
    nodes[child].mover = mover
    nodes[child].proven = UNKNOWN
    nodes[parent].first_child = child
    nodes[parent].tried += 1
    return child


@kernel
def select(game, nodes, state, actions, path, exploration):
    """Walks down to a node that is proven or has untried actions, playing on `state`; returns the path's length."""
    node, length = ROOT, 1
    path[0] = ROOT
    while length < len(path):
        if nodes[node].proven != UNKNOWN:
            break
        if nodes[node].count == 0:
            nodes[node].count = legal(game, state, actions)
        if nodes[node].tried < nodes[node].count:
            break
        child = best_child(nodes, node, exploration)
        if child == NONE:
            break
        play(game, state, nodes[child].action)
        node = child
        path[length] = node
        length += 1
    return length


@kernel
def expand(game, nodes, sizes, state, actions, path, length):
    """Adds one untried action of the path's last node, if there is one and memory for it; returns the path's length."""
    node = path[length - 1]
    is_full = sizes[0] == len(nodes) or length == len(path)
    if nodes[node].proven != UNKNOWN or nodes[node].tried >= nodes[node].count or is_full:
        return length
    legal(game, state, actions)
    action, mover = untried_action(nodes, node, actions), state.to_play
    play(game, state, action)
    child = add_child(nodes, sizes, node, action, mover)
    result = outcome(game, state)
    if result != ONGOING:
        nodes[child].proven = DRAWN if result == DRAW else WON if result == mover + 1 else LOST
    path[length] = child
    return length + 1


@kernel
def winner_at(nodes, node):
    """The outcome that is proven of a node."""
    if nodes[node].proven == DRAWN:
        return DRAW
    mover = nodes[node].mover
    return mover + 1 if nodes[node].proven == WON else 2 - mover


@kernel
def backup(nodes, path, length, result):
    """Counts a result, and passes proofs up, along the path."""
    for i in range(length - 1, -1, -1):
        node = path[i]
        nodes[node].visits += 1
        if result == DRAW:
            nodes[node].wins += np.float32(0.5)
        elif result == nodes[node].mover + 1:
            nodes[node].wins += np.float32(1.0)
        if i < length - 1 and nodes[path[i + 1]].proven != UNKNOWN and nodes[node].proven == UNKNOWN:
            prove(nodes, node)


@kernel
def prove(nodes, node):
    """Proves a node if a child wins for the player to move there, or if all its children are proven."""
    best, player = LOST, -1
    child = nodes[node].first_child
    while child != NONE:
        player = nodes[child].mover
        if nodes[child].proven == WON:
            best = WON
            break
        if nodes[child].proven == UNKNOWN:
            best = UNKNOWN
        elif nodes[child].proven == DRAWN and best == LOST:
            best = DRAWN
        child = nodes[child].sibling
    if best == UNKNOWN or (best != WON and nodes[node].tried < nodes[node].count):
        return
    if best == DRAWN or player == nodes[node].mover:
        nodes[node].proven = best
    else:
        nodes[node].proven = LOST if best == WON else WON


@entry
def run(game, root, states, actions, nodes, sizes, path, playouts, seed, exploration):
    """Simulations from root[0] until the root is proven; returns how many there were, and the next seed."""
    done = 0
    while done < playouts and nodes[ROOT].proven == UNKNOWN:
        states[0] = root[0]
        length = select(game, nodes, states[0], actions, path, exploration)
        length = expand(game, nodes, sizes, states[0], actions, path, length)
        leaf = path[length - 1]
        if nodes[leaf].proven != UNKNOWN:
            result = winner_at(nodes, leaf)
        else:
            seed = rollout(game, states[0], actions, advance(seed))
            result = outcome(game, states[0])
        backup(nodes, path, length, result)
        done += 1
    return done, seed


@kernel
def child_of(nodes, parent, action):
    """The child that an action leads to, or NONE."""
    child = nodes[parent].first_child
    while child != NONE and nodes[child].action != action:
        child = nodes[child].sibling
    return child


@entry
def keep_subtree(game, root, old, nodes, sizes, moves):
    """Copies what is below the node that `moves` lead to from `old` into `nodes`, breadth first; root[0] is there now.

    Without such a node, the tree is a bare root. Both arrays have room for the same number of nodes.
    """
    source = ROOT
    for move in moves:
        source = child_of(old, source, move)
        if source == NONE:
            break
    sizes[0] = 1
    if source != NONE or len(moves) == 0:
        nodes[ROOT] = old[source]
        nodes[ROOT].sibling = NONE
    else:
        clear_root(nodes, root[0])
    copied = 0
    while copied < sizes[0]:
        child = nodes[copied].first_child  # a node of `old`
        nodes[copied].first_child = sizes[0] if child != NONE else NONE
        while child != NONE:
            nodes[sizes[0]] = old[child]
            child = old[child].sibling
            nodes[sizes[0]].sibling = sizes[0] + 1 if child != NONE else NONE
            sizes[0] += 1
        copied += 1


@kernel
def clear_root(nodes, state):
    """A tree of nothing but its root."""
    nodes[ROOT].visits = nodes[ROOT].tried = nodes[ROOT].count = 0
    nodes[ROOT].wins = 0
    nodes[ROOT].first_child = nodes[ROOT].sibling = NONE
    nodes[ROOT].action = -1
    nodes[ROOT].mover = 1 - state.to_play
    nodes[ROOT].proven = UNKNOWN


@entry
def new_tree(game, root, nodes, sizes, number):
    """Begins a tree at root[0]; returns the seed of the random sequence of a number of 64 bits."""
    clear_root(nodes, root[0])
    sizes[0] = 1
    return first_seed(number)


DEFAULT_PLAYOUTS, FOREVER = 1000, 2**60  # without a limit that ends a search; with one on time alone
WORTH_THREADS = 50_000  # playouts below which a second thread costs more than it brings


class Tree:
    """One thread's tree, kept from move to move."""

    def __init__(self, game: Game, capacity: int, seed: int):
        self.game = game
        self.nodes, self.spare = np.zeros(capacity, NODE), np.zeros(0, NODE)
        self.sizes, self.path = np.zeros(1, np.int64), np.zeros(DEEPEST, np.int32)
        self.states, self.actions = game.new_states(1), np.empty(game.actions, np.int32)
        self.number = seed
        self.seed: int | None = None  # where the random sequence of that number has got to
        self.position: Position | None = None

    def compile(self) -> None:
        """Has everything compiled: that is no part of anybody's time to think."""
        start = self.game.start()
        self.move_to(start)
        self.add_playouts(0, 1, Clock(Limit()), 1.0)
        copies = np.zeros_like(self.nodes), self.sizes, np.zeros(0, np.int64)
        keep_subtree(self.game.parameters, start.states, self.nodes, *copies)

    def move_to(self, position: Position) -> None:
        """Makes `position` the root; what is known of it is kept if it continues the last one."""
        moves = None if self.position is None else moves_between(self.position, position)
        if moves is None:
            number = np.uint64(self.number)  # the last tree of the largest seed has a number of 64 bits
            first = new_tree(self.game.parameters, position.states, self.nodes, self.sizes, number)
            self.seed = first if self.seed is None else self.seed
        elif moves:
            if len(self.spare) == 0:
                self.spare = np.zeros(len(self.nodes), NODE)
            path = np.array(moves, np.int64)
            keep_subtree(self.game.parameters, position.states, self.nodes, self.spare, self.sizes, path)
            self.nodes, self.spare = self.spare, self.nodes
        self.position = position

    def add_playouts(self, playouts: int, depth: int, clock: Clock, exploration: float) -> int:
        """Simulates until the playouts are made, time is up or the root is proven; returns how many it made."""
        assert self.position is not None and self.seed is not None
        root, total, pace = self.position.states, 0, Pace(clock, 16)
        shared = self.states, self.actions, self.nodes, self.sizes, self.path[: depth + 1]
        if playouts == 0:
            run(self.game.parameters, root, *shared, 0, np.uint64(self.seed), exploration)
        root_node = self.nodes[ROOT]
        while total < playouts and root_node["proven"] == UNKNOWN:
            if clock.left <= 0 and root_node["first_child"] != NONE:  # one action at least is looked at
                break
            size, seed = pace.next(playouts - total), np.uint64(self.seed)
            done, self.seed = run(self.game.parameters, root, *shared, size, seed, exploration)
            pace.did(done)
            total += done
        return total

    def children(self, parent: int = ROOT) -> list[int]:
        """The nodes below a node."""
        found, child = [], int(self.nodes[parent]["first_child"])
        while child != NONE:
            found.append(child)
            child = int(self.nodes[child]["sibling"])
        return found

    def preference(self, node: int) -> tuple[bool, bool, int]:
        """How much a child is liked: proven wins first, proven losses last, then by visits."""
        proven = self.nodes[node]["proven"]
        return bool(proven == WON), bool(proven != LOST), int(self.nodes[node]["visits"])

    def principal_variation(self, action: int | None = None) -> tuple[int, ...]:
        """The line of the children liked best; at the root, of the one by `action`."""
        line: list[int] = []
        children = [child for child in self.children() if action in (None, int(self.nodes[child]["action"]))]
        while children and len(line) < LONGEST_LINE:
            node = max(children, key=self.preference)
            line.append(int(self.nodes[node]["action"]))
            children = self.children(node)
        return tuple(line)


def moves_between(before: Position, after: Position) -> list[int] | None:
    """The actions from one position to a later one of the same game; None if there is no such way."""
    moves: list[int] = []
    position: Position | None = after
    while position is not None and position.ply >= before.ply:
        if position is before or (position == before and position.moves == before.moves):
            return moves[::-1]
        if position.action is not None:
            moves.append(position.action)
        position = position.previous
    return None


@dataclass
class Uct:
    """A search that keeps its trees between moves: one tree a thread, their root counts added up."""

    game: Game
    exploration: float = 0.25
    seed: int = 1
    threads: int = 1
    memory: int = 512  # megabytes, for all trees
    trees: list[Tree] = field(default_factory=list)
    searched: list[Tree] = field(default_factory=list)  # by the last search

    def __post_init__(self) -> None:
        Tree(self.game, capacity=2, seed=1).compile()

    def search(self, position: Position, limit: Limit) -> Decision:
        """Searches a position that is not over. A playout adds at most one node, so limits on either are the same."""
        playouts = limit.count or (FOREVER if limit.time is not None else DEFAULT_PLAYOUTS)
        depth = min(limit.depth or DEEPEST, DEEPEST - 1)
        is_long = limit.time is not None or playouts >= WORTH_THREADS
        threads = self.threads if is_long else 1
        self._make_trees(threads, playouts)
        clock = Clock(limit)
        self.searched = trees = self.trees[:threads]
        for tree in trees:
            tree.move_to(position)
        if threads == 1:
            made = trees[0].add_playouts(playouts, depth, clock, self.exploration)
        else:
            share = -(-playouts // threads)
            with ThreadPoolExecutor(threads) as pool:
                made = sum(pool.map(lambda tree: tree.add_playouts(share, depth, clock, self.exploration), trees))
        return decide(trees, made, clock)

    def opinions(self, lines: int | None = None) -> list[Opinion]:
        """What the trees say of each action visited, the best first; that many have a line, by default all."""
        visits, wins, hopeless = count_visits(self.searched)
        ranked = sorted(visits, key=lambda action: (hopeless[action], -visits[action], action))
        return [
            Opinion(
                action=action,
                visits=visits[action],
                value=2 * wins[action] / visits[action] - 1,
                line=self.line_through(action) if lines is None or place < lines else (),
            )
            for place, action in enumerate(ranked)
        ]

    def line_through(self, action: int) -> tuple[int, ...]:
        """The action, and what is expected after it."""
        return largest(self.searched).principal_variation(action) or (action,)

    def _make_trees(self, threads: int, playouts: int) -> None:
        """As many trees as threads, each half of its share of memory (the other half is for moving it)."""
        most = self.memory * 2**20 // (2 * NODE.itemsize * max(self.threads, 1))
        wanted = min(most, 4 * playouts + 1000)
        if self.trees and len(self.trees[0].nodes) < wanted:
            self.trees = []
        while len(self.trees) < threads:
            self.trees.append(Tree(self.game, wanted, self.seed + len(self.trees)))


def count_visits(trees: list[Tree]) -> tuple[dict[int, int], dict[int, float], dict[int, bool]]:
    """By action, in all trees together: its visits, its wins, whether some tree has proven it lost."""
    visits: dict[int, int] = {}
    wins: dict[int, float] = {}
    hopeless: dict[int, bool] = {}
    for tree in trees:
        for child in tree.nodes[tree.children()]:
            action = int(child["action"])
            visits[action] = visits.get(action, 0) + int(child["visits"])
            wins[action] = wins.get(action, 0.0) + float(child["wins"])
            hopeless[action] = hopeless.get(action, False) or bool(child["proven"] == LOST)
    return visits, wins, hopeless


def largest(trees: list[Tree]) -> Tree:
    return max(trees, key=lambda tree: int(tree.nodes[ROOT]["visits"]))


def decide(trees: list[Tree], made: int, clock: Clock) -> Decision:
    """The action that all trees together like best; a proof in one of them decides."""
    proven = next((tree for tree in trees if tree.nodes[ROOT]["proven"] != UNKNOWN), None)
    trees = trees if proven is None else [proven]
    visits, wins, hopeless = count_visits(trees)
    line = largest(trees).principal_variation()
    action = line[0] if proven else max(visits, key=lambda action: (not hopeless[action], visits[action], -action))
    value = 2 * wins[action] / visits[action] - 1
    if proven:
        value = {WON: -1.0, DRAWN: 0.0, LOST: 1.0}[int(proven.nodes[ROOT]["proven"])]  # it is for who moved before
    full = any(int(tree.sizes[0]) == len(tree.nodes) for tree in trees)
    notes = ["proven"] * bool(proven) + ["the tree is full: give it more memory"] * full
    return Decision(
        action=action,
        value=value,
        policy={action: count / sum(visits.values()) for action, count in sorted(visits.items())},
        principal_variation=line if line[0] == action else (action,),
        nodes=made,
        depth=len(line),
        seconds=clock.seconds,
        note="; ".join(notes),
    )
