"""The kernels of self-play for a GPU: what CPU threads do for all rows of a group, one CUDA thread does for one row."""

from __future__ import annotations

from numba import cuda

from tengen.learn.gpu_code import gpu_entry, held
from tengen.learn.selfplay import begin_game, play_row
from tengen.rules.contract import encode, play, start, territory
from tengen.search.lockstep import ask_root, copy_words, row_of

game = plan = opening = None  # constants: each kernel has its own


@gpu_entry("game", "opening")
def begin_rows(rows, story, every):
    """Every row, or only those whose last game has ended, begins a game."""
    i = cuda.grid(1)
    if i < len(rows.rows) and (every or story.ended[i] > 0):
        begin_game(game, row_of(rows, i), story, i, opening)


@gpu_entry("game")
def search_rows(rows):
    """Every row begins its search anew."""
    i = cuda.grid(1)
    if i < len(rows.rows):
        row = row_of(rows, i)
        ask_root(row)
        encode(game, row.leaf, row.planes)


@gpu_entry("game", "plan")
def play_rows(rows, story, priors, values):
    """Every row hears its answer, but for those whose game has ended: they wait until it is read."""
    i = cuda.grid(1)
    if i < len(rows.rows) and story.ended[i] == 0:
        play_row(game, plan, held(row_of(rows, i)), story, i, priors[i], values[i])


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
