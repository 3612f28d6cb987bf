"""python bench/fit_rollouts.py GAMES…: fits the weights of `tengen.knowledge.go_patterns.Patterns` to games of Go.

GAMES are SGF files or folders of them, all of one size of board; those that cannot be read are left out, and said to
be. A move is thought to have been drawn among all that rollouts may play, each as likely as the product of its factors:
a softmax whose logarithms are fitted by gradients, with a penalty on their squares that keeps what was rarely seen near
1. A pattern with chains in atari has the factor of that without, and one of its own.

One game of ten only measures: how often the move played is the likeliest, and how likely it is thought on average.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tengen.games.go import EMPTY, Go, cell_at, may_roll
from tengen.knowledge.go_patterns import (
    ATARIS,
    CODES,
    FEATURES,
    MARKED,
    SELF_ATARI,
    TABLES,
    Patterns,
    canonical,
    colours_changed,
    last_cell,
    mark_points,
    self_atari,
    take_notes_of,
)
from tengen.records.files import read_records
from tengen.records.record import Record
from tengen.rules.contract import kernel, play
from tengen.rules.errors import TengenError
from tengen.rules.game import Game
from tengen.rules.kernels import entry

WEIGHTS = Path(__file__).resolve().parent.parent / "src" / "tengen" / "knowledge" / "go_patterns.npz"
HELD_OUT = 10  # one game of so many
PENALTY = 2.0  # so many moves must agree before a weight is believed by half
STEPS, RATE = 400, 0.1
FEWEST = 3  # moves that must have had the choice of a pattern before it is kept
SLOTS = 10  # weights that one point adds up at most: two patterns, and features


def read_games(paths: list[Path]) -> Iterator[Record]:
    """The games of Go of all files, and of those in folders."""
    files = [file for path in paths for file in (sorted(path.rglob("*.sgf")) if path.is_dir() else [path])]
    for file in files:
        try:
            yield from (record for record in read_records(file) if isinstance(record.game.parameters, Go))
        except TengenError as reason:
            print(f"left out: {reason}")


@entry
def read_choices(game, tables, states, notes, moves, codes, marks, chosen, counts):
    """Plays a game, and writes all choices of each move that is no pass: patterns and marks [choices], and what was
    chosen of them [moves]; counts [moves] says how many there were. Returns the choices, and the moves."""
    total, number, state = 0, 0, states[0]
    for action in moves:
        if action < game.size * game.size:
            begin, place = total, -1
            take_notes_of(tables[0], game, state, notes[0])
            mark_points(game, state, notes[0], last_cell(game, state))
            for y in range(game.size):
                for x in range(game.size):
                    cell = cell_at(game, x, y)
                    if state.cells[cell] == EMPTY and may_roll(game, state, cell):
                        if y * game.size + x == action:
                            place = total - begin
                        codes[total] = notes[0].codes[cell]
                        marks[total] = np.int64(notes[0].marks[cell]) << 2 | self_atari(game, state, cell)
                        total += 1
            if place >= 0:  # who fills an own eye is not learned from
                for i in range(begin, total):
                    codes[i] |= np.int64(state.to_play) << 16
                chosen[number], counts[number] = place, total - begin
                number += 1
            else:
                total = begin
        play(game, state, action)
    return total, number


@dataclass
class Choices:
    """What could have been played at each move, and what was."""

    slots: np.ndarray  # [choices, SLOTS]: the numbers of their weights; 0 for none
    chosen: np.ndarray  # [moves]
    begins: np.ndarray  # [moves + 1]


def choices_of(game: Game, records: list[Record]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Patterns and marks of all choices of all games, what was chosen, and how many choices each move had."""
    found: list[tuple[np.ndarray, ...]] = []
    tables = np.zeros(1, TABLES).view(np.recarray)
    notes = np.zeros(1, Patterns(tables).record(game)).view(np.recarray)
    for record in records:
        moves = np.array(record.moves, np.int64)
        room = len(moves) * game.cells
        codes, marks = np.zeros(room, np.int64), np.zeros(room, np.int64)
        chosen, counts = np.zeros(len(moves), np.int64), np.zeros(len(moves), np.int64)
        states = game.start().states
        total, number = read_choices(game.parameters, tables, states, notes, moves, codes, marks, chosen, counts)
        found.append((codes[:total], marks[:total], chosen[:number], counts[:number]))
    codes, marks, chosen, counts = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return codes, marks, chosen, counts


def patterns_of(codes: np.ndarray, marks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The patterns of choices as the player to move sees them, without chains in atari and with; 0 if there are none.

    Both stand for their images. A pattern without anything around it is 0, too: its factor is 1, for all are relative.
    """
    players, codes = codes >> 16, codes & CODES - 1
    own = np.where(players == 1, colours_changed(codes), codes)
    ataris = marks >> 2 + ATARIS
    return canonical(own), np.where(ataris > 0, canonical(own | ataris << 16), 0)


def number_slots(plain: np.ndarray, urgent: np.ndarray, marks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weights' numbers of each choice [choices, SLOTS], and the pattern of each number beyond the features."""
    slots = np.zeros((len(plain), SLOTS), np.int32)
    begin = 1 + len(FEATURES)
    values, counts = np.unique(np.concatenate([plain, urgent]), return_counts=True)
    known = values[(counts >= FEWEST) & (values > 0)]
    for column, patterns in enumerate((plain, urgent)):
        places = np.searchsorted(known, patterns).clip(max=len(known) - 1)
        slots[:, column] = np.where(known[places] == patterns, begin + places, 0)
    at, column = 1, 2
    for shift, most in MARKED:
        value = np.minimum(marks >> shift + 2 & (3 if most > 1 else 1), most)
        slots[:, column] = np.where(value > 0, at + value - 1, 0)
        at, column = at + most, column + 1
    captures = marks >> 2 + ATARIS  # nothing is said of self-atari there, see `self_atari`
    assert captures.max(initial=0) < 16
    value = marks & 3
    slots[:, column] = np.where(value > 0, 1 + SELF_ATARI + value - 1, 0)
    return slots, known


@kernel
def scores_of(slots, weights, scores):
    """The logarithm of each choice's weight, from the weights of its slots; weight 0 is 0."""
    for i in range(len(slots)):
        total = 0.0
        for slot in slots[i]:
            total += weights[slot]
        scores[i] = total


@entry
def slope(game, slots, chosen, begins, weights, scores, gradient):
    """Writes the gradient of the sum of the logarithms of what was chosen; returns that sum, and how often it was the
    likeliest choice."""
    scores_of(slots, weights, scores)
    gradient[:] = 0.0
    total, right = 0.0, 0
    for move in range(len(chosen)):
        begin, end = begins[move], begins[move + 1]
        best = begin
        for i in range(begin, end):
            if scores[i] > scores[best]:
                best = i
        highest, weight = scores[best], 0.0
        for i in range(begin, end):
            weight += np.exp(scores[i] - highest)
        for i in range(begin, end):
            share = np.exp(scores[i] - highest) / weight
            for slot in slots[i]:
                gradient[slot] -= share
        played = begin + chosen[move]
        for slot in slots[played]:
            gradient[slot] += 1.0
        total += scores[played] - highest - np.log(weight)
        right += best == played
    return total, right


def fit(game: Game, choices: Choices, held_out: Choices, size: int) -> np.ndarray:
    """The weights that make what was chosen likeliest, less a penalty: gradients with momentum, scaled one by one."""
    weights, gradient = np.zeros(size), np.zeros(size)
    mean, spread = np.zeros(size), np.zeros(size)
    scores, others = np.zeros(len(choices.slots)), np.zeros(len(held_out.slots))
    for step in range(1, STEPS + 1):
        total, right = slope(game.parameters, choices.slots, choices.chosen, choices.begins, weights, scores, gradient)
        gradient -= PENALTY * weights
        mean += 0.1 * (gradient - mean)
        spread += 0.01 * (gradient**2 - spread)
        rate = RATE * min(1.0, 2 * (1 - step / STEPS) + 0.02)
        weights += rate * (mean / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-3)
        weights[0] = 0.0
        sorry = slice(1 + SELF_ATARI, 1 + len(FEATURES))
        weights[sorry] = np.minimum(weights[sorry], 0.0)  # it is a chance that such a move is played
        if step % 100 == 0 or step == 1:
            arguments = held_out.slots, held_out.chosen, held_out.begins, weights, others, np.zeros(size)
            other, rightly = slope(game.parameters, *arguments)
            print(
                f"step {step}: {total / len(choices.chosen):.4f} a move, {right / len(choices.chosen):.1%} first; held "
                f"out {other / len(held_out.chosen):.4f}, {rightly / len(held_out.chosen):.1%} first",
                flush=True,
            )
    return weights


def split(slots: np.ndarray, chosen: np.ndarray, counts: np.ndarray, is_kept: np.ndarray) -> Choices:
    """The choices of some of the moves."""
    return Choices(slots[np.repeat(is_kept, counts)], chosen[is_kept], np.cumsum([0, *counts[is_kept]]))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("games", nargs="+", type=Path, help="SGF files, or folders of them")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="where the weights go")
    options = parser.parse_args()
    records = list(read_games(options.games))
    if not records:
        parser.error("there is no game of Go in these files")
    game = records[0].game
    records = [record for record in records if record.game.shape == game.shape and record.game.parameters.handicap == 0]
    arrays = [choices_of(game, records[part::HELD_OUT]) for part in range(HELD_OUT)]
    codes, marks, chosen, counts = (np.concatenate(parts) for parts in zip(*arrays, strict=True))
    is_held_out = np.arange(len(chosen)) >= len(chosen) - len(arrays[-1][2])
    plain, urgent = patterns_of(codes, marks)
    slots, known = number_slots(plain, urgent, marks)
    print(
        f"{len(records)} games, {len(chosen):,} moves of {len(codes) / len(chosen):.1f} choices, {len(known)} patterns"
    )
    size = 1 + len(FEATURES) + len(known)
    weights = fit(game, split(slots, chosen, counts, ~is_held_out), split(slots, chosen, counts, is_held_out), size)
    features, patterns = weights[1 : 1 + len(FEATURES)], weights[1 + len(FEATURES) :]
    for name, weight in zip(FEATURES, features, strict=True):
        print(f"{np.exp(weight):8.2f}  {name}")
    np.savez_compressed(
        options.out,
        patterns=known.astype(np.uint32),
        weights=patterns.astype(np.float16),
        features=features.astype(np.float32),
    )
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
