"""Trees for searches that ask a network: PUCT over flat arrays, one row of nodes and one of edges a game.

Kernels here work on one game's rows, so that CPU threads or a CUDA thread a game can call them. N, W, Q, P are as in
the papers: an edge's visits N and value W are for the player who moves at its node, Q = W / N, P is its prior.

A simulation selects edges down to a leaf; the network is asked about it; its answer opens a node there and is backed
up. While a leaf waits for its answer, every edge on its path counts one loss more: other simulations go elsewhere.

A node's edges are ordered as far as they matter: first those that were tried, in that order, then the best of the rest
by prior. Whatever PUCT chooses is among these few, so a search does not look at the others.

What a tree does not use of its memory is zeros, but for old actions and priors, and so is an edge that nobody tried: a
new one is given its action and its prior alone. `clear_tree` leaves it that way. (On a GPU whole edges are written.)

Where a product is added to something, it is one of two float32 in float64, which is exact: CPUs and GPUs, which round
once or twice there, come to the same number.
"""

from __future__ import annotations

import math

import numpy as np

from tengen.rules.contract import DRAW, FIRST, ONGOING, kernel, legal, outcome, play, rollout
from tengen.rules.errors import BadParameter

ROOT = 0
NO_CHILD = 0  # nothing leads to the root
NONE = -1  # no edge
LEAST = 1e-30  # of the priors of all legal actions together; below, nothing is known of them
UNKNOWN, LOST, DRAWN, WON = 0, 1, 2, 3  # what is proven of an edge, for the player who moves at its node

NODE = np.dtype(
    [
        ("visits", np.int32),  # of all its edges
        ("finished", np.int32),  # those of them that are backed up …
        ("total", np.float32),  # … and the sum of their values, for the player to move
        ("value", np.float32),  # the network's, for the player to move
        ("first", np.int32),  # of its edges, which stand side by side
        ("count", np.int16),
        ("tried", np.int16),  # edges that a simulation has gone through, or may; they stand in front
        ("to_play", np.int8),
        ("proven", np.int8),  # for the player to move
    ],
    align=True,
)
EDGE = np.dtype(
    [
        ("visits", np.int32),  # N
        ("value", np.float32),  # W
        ("prior", np.float32),  # P
        ("child", np.int32),  # NO_CHILD until a node is opened
        ("action", np.int16),
        ("losses", np.int8),  # simulations under way
        ("proven", np.int8),
    ],
    align=True,
)


def offset_of(name: str) -> int:
    """Where a field of an edge begins, in bytes."""
    return int(EDGE.fields[name][1])  # type: ignore[index]


def check_actions(actions: int) -> None:
    """Refuses a game whose actions an edge has no room for."""
    if actions > np.iinfo(EDGE["action"].type).max:
        raise BadParameter(f"a game of {actions} actions is too large for a tree: 32767 is the most")


@kernel
def clear_tree(nodes, edges, sizes):
    """Takes a tree away. Only edges that were tried are more than an action and a prior."""
    for index in range(sizes[0]):
        node = nodes[np.uint32(index)]
        for i in range(node.first, node.first + node.tried):
            edge = edges[np.uint32(i)]
            edge.visits = edge.child = edge.losses = edge.proven = 0
            edge.value = 0
    sizes[0] = sizes[1] = 0


@kernel
def open_node(game, nodes, edges, sizes, state, priors, value, actions):
    """Adds a node for a state that goes on; returns it, or NO_CHILD if the tree is full.

    `priors` [actions] are those of all actions, up to a factor; those of the legal ones are scaled to a sum of 1.
    """
    node, count, scale, least = add_node(game, nodes, edges, sizes, state, priors, value, actions)
    first = np.uint32(nodes[np.uint32(node)].first)
    for i in range(count):
        edge, action = edges[np.uint32(first + i)], np.uint32(actions[np.uint32(i)])
        edge.action, edge.prior = action, priors[action] * scale + least
    return node


@kernel
def add_node(game, nodes, edges, sizes, state, priors, value, actions):
    """As `open_node`, but its edges are not written. Returns the node, how many edges it has, a scale and a least: they
    are those of `actions`, in this order, and have priors of priors[action] · scale + least."""
    count = legal(game, state, actions)
    if sizes[0] == len(nodes) or sizes[1] + count > len(edges):
        return np.int64(NO_CHILD), np.int64(0), np.float32(0), np.float32(0)
    node, first = np.int64(sizes[0]), np.int64(sizes[1])
    sizes[0] += 1
    sizes[1] += count
    new = nodes[np.uint32(node)]
    new.visits = new.finished = new.tried = new.proven = 0
    new.total, new.value = 0, value
    new.first, new.count, new.to_play = first, count, state.to_play
    highest, best, total = np.float32(-1), np.uint32(0), np.float64(0)
    for i in range(count):
        prior = priors[np.uint32(actions[np.uint32(i)])]
        total += prior
        if prior > highest:
            highest, best = prior, np.uint32(i)
    actions[np.uint32(0)], actions[best] = actions[best], actions[np.uint32(0)]
    is_known = total >= LEAST
    scale, least = np.float32(1 / total if is_known else 0), np.float32(0 if is_known else 1 / count)
    return node, np.int64(count), scale, least


@kernel
def swap_untried(edges, one, other):
    """Two edges that no simulation has gone through change places."""
    action, prior = edges[one].action, edges[one].prior
    edges[one].action, edges[one].prior = edges[other].action, edges[other].prior
    edges[other].action, edges[other].prior = action, prior


@kernel
def bring_forward(nodes, edges, node):
    """Of the edges that were not tried, the one with the highest prior (of these, the lowest action) comes first."""
    first, tried, count = np.uint32(nodes[node].first), np.uint32(nodes[node].tried), np.uint32(nodes[node].count)
    if tried == count:
        return
    place = np.uint32(first + tried)
    best, prior, action = place, edges[place].prior, edges[place].action
    for i in range(place + 1, first + count):
        edge = edges[np.uint32(i)]
        if comes_before(edge, prior, action):
            best, prior, action = np.uint32(i), edge.prior, edge.action
    swap_untried(edges, place, best)


@kernel
def best_edge(nodes, edges, node, exploration, urgency):
    """The edge with the highest Q + U, U = c · P · √ΣN / (1 + N); among equals the higher prior, then the lower action.

    An edge never visited has a Q of `urgency` less than its node's mean (0, if urgency is negative). What is proven
    lost is left out, unless all is.
    """
    own = nodes[node]
    first, count = np.int64(own.first), min(np.int64(own.tried) + 1, np.int64(own.count))
    scale = np.float32(exploration * math.sqrt(own.visits))
    unseen = np.float32(0)
    if urgency >= 0 and own.visits > 0:
        unseen = mean_of(own) - np.float32(urgency)
    best, highest = np.uint32(first), np.float32(-1e30)
    for i in range(first, first + count):
        edge = edges[np.uint32(i)]
        tried = np.float32(edge.visits + edge.losses)
        score = unseen if tried == 0 else (edge.value - np.float32(edge.losses)) / tried
        score += scale * edge.prior / (np.float32(1) + tried)
        if edge.proven == LOST:
            score -= np.float32(1e20)
        if score > highest or (score == highest and comes_before(edge, edges[best].prior, edges[best].action)):
            best, highest = np.uint32(i), score
    return best


@kernel
def comes_before(edge, prior, action):
    """Whether an edge is taken rather than one that is as good, with that prior and action.

    There is no branch: so a GPU can read several edges before it looks at the first.
    """
    return (edge.prior > prior) | ((edge.prior == prior) & (edge.action < action))


@kernel
def mean_of(node):
    """The mean value of a node's visits, for its player to move."""
    return node.total / np.float32(max(node.finished, 1))


@kernel
def select(game, nodes, edges, state, exploration, urgency, first, path):
    """Walks down from the root, playing on `state`, to an edge without a node or with a proof.

    The root's edge is `first`, or the best if that is NONE. The path is pairs of a node and its edge, each counting one
    loss more; returns how many there are.
    """
    node, length = np.uint32(ROOT), 0
    while True:
        own = nodes[node]
        has_first = length == 0 and first != NONE
        index = np.uint32(first) if has_first else best_edge(nodes, edges, node, exploration, urgency)
        if index == np.int64(own.first) + own.tried:
            own.tried += 1
            bring_forward(nodes, edges, node)
        edge = edges[index]
        path[length, 0], path[length, 1] = node, index
        length += 1
        edge.losses += 1
        own.visits += 1
        play(game, state, edge.action)
        if edge.child == NO_CHILD and edge.proven == UNKNOWN:
            result = outcome(game, state)
            if result != ONGOING:
                edge.proven = DRAWN if result == DRAW else WON if result == own.to_play + 1 else LOST
        if edge.child == NO_CHILD or edge.proven != UNKNOWN or length == len(path):
            return length
        node = np.uint32(edge.child)


@kernel
def backup(nodes, edges, path, length, value):
    """Takes back the virtual losses and adds the first player's value along the path; backs proofs up."""
    for i in range(length - 1, -1, -1):
        node, edge = nodes[np.uint32(path[i, 0])], edges[np.uint32(path[i, 1])]
        edge.losses -= 1
        edge.visits += 1
        node.finished += 1
        edge.value += value if node.to_play == 0 else -value
        node.total += value if node.to_play == 0 else -value
        if edge.proven != UNKNOWN:
            lift_proof(nodes, edges, path, i)


@kernel
def lift_proof(nodes, edges, path, i):
    """What is proven of edge `i` of a path may prove its node, and with it the edge that leads there."""
    node = nodes[path[i, 0]]
    if node.proven == UNKNOWN:
        node.proven = proof_of(edges, node)
        if node.proven != UNKNOWN and i > 0:
            above = nodes[path[i - 1, 0]]
            is_same = above.to_play == node.to_play
            edges[path[i - 1, 1]].proven = node.proven if is_same else LOST + WON - node.proven


@kernel
def proof_of(edges, node):
    """A node is won if an edge is; else it is worth its best edge, once all are proven. What is proven was tried."""
    best = LOST if node.tried == node.count else UNKNOWN
    for i in range(node.first, node.first + node.tried):
        if edges[i].proven == WON:
            return WON
        if edges[i].proven == UNKNOWN:
            best = UNKNOWN
        elif edges[i].proven == DRAWN and best == LOST:
            best = DRAWN
    return best


@kernel
def proven_value(edge, to_play):
    """The first player's value of an edge that is proven."""
    value = np.float32(edge.proven - DRAWN)
    return value if to_play == 0 else -value


@kernel
def begin_simulation(game, nodes, edges, state, exploration, urgency, first, path):
    """Selects a leaf on `state`; returns the path's length if the network must be asked, else 0: all is done.

    A leaf that waits for an answer already cannot be asked about twice: the path is taken back, and −1 returned. Where
    the path is full, what the network said of its last node is backed up again.
    """
    length = select(game, nodes, edges, state, exploration, urgency, first, path)
    edge = edges[path[length - 1, 1]]
    if edge.proven != UNKNOWN:
        backup(nodes, edges, path, length, proven_value(edge, nodes[path[length - 1, 0]].to_play))
        return 0
    if edge.child != NO_CHILD:
        child = nodes[edge.child]
        backup(nodes, edges, path, length, child.value if child.to_play == 0 else -child.value)
        return 0
    if edge.losses > 1:
        for i in range(length):
            edges[path[i, 1]].losses -= 1
            nodes[path[i, 0]].visits -= 1
        return -1
    return length


@kernel
def finish_simulation(game, nodes, edges, sizes, state, path, length, priors, value, actions, rollouts, seed):
    """The network has answered, for the player to move at the leaf: a node is opened there, and the value backed up.

    A share `rollouts` of the value is the result of random moves from there to the end. Returns the next seed.
    """
    child = open_node(game, nodes, edges, sizes, state, priors, value, actions)
    edges[path[length - 1, 1]].child = child
    first_value = np.float32(value if state.to_play == 0 else -value)
    if rollouts > 0:
        seed = rollout(game, state, actions, seed)
        result = outcome(game, state)
        played = np.float32(0) if result == DRAW else np.float32(1) if result == FIRST else np.float32(-1)
        first_value = np.float32(first_value + np.float64(np.float32(rollouts)) * np.float64(played - first_value))
    backup(nodes, edges, path, length, first_value)
    return seed


@kernel
def keep_subtree(old_nodes, old_edges, nodes, edges, sizes, source):
    """Copies what is below node `source`, breadth first, so that it becomes the root; the old tree is taken away."""
    nodes[ROOT] = old_nodes[source]
    known, used, copied = 1, 0, 0
    while copied < known:
        node = nodes[copied]
        first = np.int64(node.first)
        node.first = used
        for i in range(node.count):
            edge = edges[used]
            edges[used] = old_edges[first + i]
            if edge.child != NO_CHILD:
                nodes[known] = old_nodes[edge.child]
                edge.child = known
                known += 1
            used += 1
        copied += 1
    clear_tree(old_nodes, old_edges, sizes)
    sizes[0], sizes[1] = known, used
