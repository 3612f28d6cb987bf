"""The kernels of self-play for a GPU: what CPU threads do for all rows of a group, one CUDA thread does for one row."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tengen.learn.gpu_code import gpu_entry, held
from tengen.learn.selfplay import begin_game, play_row
from tengen.rules.contract import encode, play, start, territory
from tengen.search.lockstep import ask_root, copy_words, row_of

game = plan = opening = ACTIONS = PLANES = None  # constants: each kernel has its own


@gpu_entry("game", "opening")
def begin_rows(rows, story, every):
    """Every row, or only those whose last game has ended, begins a game."""
    i = cuda.grid(1)
    if i < len(rows.rows) and (every or story.ended[i] > 0):
        begin_game(game, row_of(rows, i, rows.actions[i], rows.planes[i]), story, i, opening)


@gpu_entry("game")
def search_rows(rows):
    """Every row begins its search anew."""
    i = cuda.grid(1)
    if i < len(rows.rows):
        row = row_of(rows, i, rows.actions[i], rows.planes[i])
        ask_root(row)
        encode(game, row.leaf, row.planes)


@gpu_entry("game", "plan", "ACTIONS", "PLANES")
def play_rows(rows, story, priors, values):
    """Every row hears its answer, but for those whose game has ended: they wait until it is read.

    Actions and planes are written one by one, to memory that a block's threads share; then all of them copy the planes
    of all, side by side. (Of a row whose game has ended, whatever there is: nobody hears what the network says of it.)
    """
    actions = cuda.shared.array(ACTIONS, np.int32)
    planes = cuda.shared.array(PLANES, np.uint8)
    i, own = cuda.grid(1), cuda.threadIdx.x
    if i < len(rows.rows) and story.ended[i] == 0:
        play_row(game, plan, held(row_of(rows, i, actions[own], planes[own])), story, i, priors[i], values[i])
    cuda.syncthreads()
    first = i - own
    for other in range(min(PLANES[0], len(rows.rows) - first)):
        for plane in range(PLANES[1]):
            for cell in range(own, PLANES[2], PLANES[0]):
                rows.planes[first + other, plane, cell] = planes[other, plane, cell]


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
def settle_rows(states, words, blank, moves, begins, ends, owners):
    """Each state after moves[begins : ends], all moves of a game, and who owns each cell then."""
    i = cuda.grid(1)
    if i < len(begins):
        copy_words(blank, words[i])
        start(game, states[i])
        for index in range(begins[i], ends[i]):
            play(game, states[i], moves[index])
        territory(game, states[i], owners[i])
