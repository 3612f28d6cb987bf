"""The kernels of self-play for a GPU: what CPU threads do for all rows of a group, one CUDA thread does for one row."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tengen.learn.selfplay import begin_game, play_row
from tengen.rules.contract import encode, kernel, legal, play, score, start, territory
from tengen.rules.cuda import gpu_entry
from tengen.rules.cuda_intrinsics import bits_of, held, shaped
from tengen.search.lockstep import attach_and_backup, copy_words, row_of, select_root, selected_state
from tengen.search.tree import EDGE, add_node, offset_of

game = plan = opening = ACTIONS = PLANES = SPACE = None  # constants: each kernel has its own
EDGE_WORDS, PRIOR, ACTION = (place // 4 for place in (EDGE.itemsize, offset_of("prior"), offset_of("action")))


@gpu_entry("game", "opening")
def begin_rows(rows, trajectory, which):
    """Rows begin a game where `which` [rows] is not zero."""
    i = cuda.grid(1)
    if i < len(rows.progress) and which[i] != 0:
        begin_game(game, row_of(rows, i, rows.actions[i], rows.weights[i], rows.planes[i]), trajectory, i, opening)


@gpu_entry("game")
def search_rows(rows):
    """Every row begins its search anew."""
    i = cuda.grid(1)
    if i < len(rows.progress):
        row = row_of(rows, i, rows.actions[i], rows.weights[i], rows.planes[i])
        select_root(row)
        encode(game, row.root, row.planes)


@gpu_entry("game", "plan", "ACTIONS", "PLANES", "SPACE")
def play_rows(rows, trajectory, priors, values):
    """Every row takes in its answer and goes on, but for those whose game has ended: they wait until it is read.

    A block has more threads than rows: the first ones take a row each, and all of them together fetch, write and copy,
    side by side. What a row writes one by one lies in memory that they share: actions and, when these are no longer
    needed, weights; where its priors were, its planes. (Those of a row whose game has ended are whatever there is:
    nobody hears what the network says of it.)
    """
    actions = cuda.shared.array(ACTIONS, np.int32)
    received = cuda.shared.array(SPACE, np.float32)
    numbers = cuda.shared.array((ACTIONS[0], 2), np.int32)  # of each new node: its first edge, and how many there are
    scales = cuda.shared.array((ACTIONS[0], 2), np.float32)
    painted, planes = received.view(np.uint8), shaped(received, PLANES)
    thread, threads, first = cuda.threadIdx.x, cuda.blockDim.x, cuda.blockIdx.x * ACTIONS[0]
    count, each = min(ACTIONS[0], len(rows.progress) - first), len(priors) // len(rows.progress)
    own = min(thread, count - 1)
    i, size, node, value = first + own, PLANES[1] * PLANES[2], np.int64(0), np.float32(0)
    plays = thread < count and trajectory.ended[i] == 0
    row = held(row_of(rows, i, actions[own], actions.view(np.float32)[own], planes[own]))
    copy_together(priors[first * each : (first + count) * each], received, thread, threads)
    if thread < count:
        numbers[own, 1] = 0
    cuda.syncthreads()
    if plays:
        state = selected_state(row)
        if row.progress.length == 0:
            row.sizes[0] = row.sizes[1] = 0
        numbers[own, 0] = row.sizes[1]
        likely = received[own * each : (own + 1) * each]
        node, edges, scale, least = add_node(
            game, row.nodes, row.edges, row.sizes, state, likely, values[i], row.actions
        )
        numbers[own, 1], scales[own, 0], scales[own, 1] = edges, scale, least
        value = values[i] if state.to_play == 0 else -values[i]
    cuda.syncthreads()
    for k in range(count):
        likely = received[k * each : (k + 1) * each]
        write_edges(rows.edge_words[first + k], numbers[k], actions[k], likely, scales[k], thread, threads)
    cuda.syncthreads()
    if plays:
        attach_and_backup(plan, row, node, value)
    for k in range(count):
        copy_together(rows.root_words[first + k], rows.leaf_words[first + k], thread, threads)
    cuda.syncthreads()
    if plays:
        play_row(game, plan, row, trajectory, i)
    cuda.syncthreads()
    copy_together(painted[: count * size], rows.shown[first * size : (first + count) * size], thread, threads)


@kernel
def write_edges(words, numbers, actions, priors, scales, thread, threads):
    """Writes the edges of a new node, word by word, as all threads of a block do at the same time."""
    first, scale, least = np.uint32(numbers[0] * EDGE_WORDS), scales[0], scales[1]
    for k in range(thread, numbers[1] * EDGE_WORDS, threads):
        place = np.uint32(np.uint32(k) // np.uint32(EDGE_WORDS))
        field, action = np.uint32(k) - place * np.uint32(EDGE_WORDS), np.uint32(actions[place])
        prior = bits_of(np.float32(priors[action] * scale + least))
        words[first + np.uint32(k)] = prior if field == PRIOR else action if field == ACTION else np.uint32(0)


@kernel
def copy_together(source, target, thread, threads):
    """Copies an array, as all threads of a block do at the same time: each reads eight elements before it writes one.

    Beyond the end it is the last element that is copied, again.
    """
    last, step = np.uint32(len(source) - 1), np.uint32(threads)
    for k in range(thread, len(source), 8 * threads):
        a = np.uint32(k)
        b = min(np.uint32(a + step), last)
        c = min(np.uint32(b + step), last)
        d = min(np.uint32(c + step), last)
        e = min(np.uint32(d + step), last)
        f = min(np.uint32(e + step), last)
        g = min(np.uint32(f + step), last)
        h = min(np.uint32(g + step), last)
        p, q, r, s = source[a], source[b], source[c], source[d]
        t, u, v, w = source[e], source[f], source[g], source[h]
        target[a], target[b], target[c], target[d] = p, q, r, s
        target[e], target[f], target[g], target[h] = t, u, v, w


@gpu_entry("game")
def set_up_rows(states, words, blank, moves, begins, ends, planes, movers):
    """Each state after moves[begins : ends], what the network is shown of it, and who is to move."""
    i = cuda.grid(1)
    if i < len(states):
        copy_words(blank, words[i])
        start(game, states[i])
        for index in range(begins[i], ends[i]):
            play(game, states[i], moves[index])
        encode(game, states[i], planes[i])
        movers[i] = states[i].to_play


@gpu_entry("game")
def list_legal(states, words, blank, moves, begins, ends, actions):
    """The legal actions of each state after moves[begins : ends], with zeros behind them."""
    i = cuda.grid(1)
    if i < len(states):
        copy_words(blank, words[i])
        start(game, states[i])
        for index in range(begins[i], ends[i]):
            play(game, states[i], moves[index])
        for k in range(legal(game, states[i], actions[i]), actions.shape[1]):
            actions[i, k] = 0


@gpu_entry("game")
def end_rows(states, words, blank, moves, begins, ends, owners, scores):
    """Each state after moves[begins : ends], all moves of a game, who owns each cell then, and the score."""
    i = cuda.grid(1)
    if i < len(begins):
        copy_words(blank, words[i])
        start(game, states[i])
        for index in range(begins[i], ends[i]):
            play(game, states[i], moves[index])
        territory(game, states[i], owners[i])
        scores[i] = score(game, states[i])
