"""Evaluators around evaluators: nothing is asked twice, and a turned board's answer is turned back."""

from pathlib import Path

import numpy as np
import pytest

from tengen import load_game
from tengen.search.evaluators import Cached, RandomSymmetry, Tempered

BREAKTHROUGH = Path(__file__).parent.parent.parent / "examples" / "breakthrough.py"


class Recorder:
    """Answers by what stands on each cell, or in each column, and keeps what it was shown.

    It is equivariant: a board that is turned gets the same answer, turned.
    """

    def __init__(self, game):
        self.game, self.shown = game, []

    def __call__(self, planes):
        self.shown.append(planes.copy())
        cells = planes[:, 0] + 2 * planes[:, 1]  # [states, cells]
        value = np.tanh(planes[:, 0].mean(1) - planes[:, 1].mean(1))
        return self.logits(cells), value

    def logits(self, cells):
        if self.game.actions == self.game.shape[1]:  # connect four: the weighted sum of a column
            rows = np.arange(1, self.game.shape[0] + 1, dtype=np.float32)
            return np.einsum("nrc,r->nc", cells.reshape(-1, *self.game.shape), rows)
        if self.game.actions == self.game.cells**2:  # Breakthrough: from one cell to another
            return (cells[:, :, np.newaxis] - 3 * cells[:, np.newaxis]).reshape(len(cells), -1)
        return np.concatenate([cells, cells.sum(1, keepdims=True)], 1)[:, : self.game.actions]


def test_a_temperature_flattens_the_policy_and_leaves_the_value():
    game = load_game("gomoku:size=6")
    recorder, planes = Recorder(game), np.random.default_rng(1).random((3, 2, game.cells), np.float32)
    (logits, values), (tempered, same) = recorder(planes), Tempered(recorder, 2.0)(planes)
    ratio = np.exp(logits[:, 0] - logits[:, 1])
    assert np.allclose(np.exp(tempered[:, 0] - tempered[:, 1]), np.sqrt(ratio))  # a chance of 16 to 1 becomes 4 to 1
    assert (values == same).all()


@pytest.mark.parametrize(
    ("spec", "symmetries"),
    [("gomoku:size=6", 8), ("go:size=5", 8), ("mnk:m=4,n=3,k=3", 4), ("connect4", 2), (f"{BREAKTHROUGH}:size=4", 2)],
)
def test_an_equivariant_evaluator_answers_the_same(spec, symmetries):
    game = load_game(spec)
    assert len(game.symmetries) == symmetries
    recorder = Recorder(game)
    planes = np.random.default_rng(1).random((64, len(game.planes), game.cells), np.float32)
    for plain, turned in zip(recorder(planes), RandomSymmetry(recorder, game)(planes), strict=True):
        np.testing.assert_allclose(turned, plain, atol=1e-5)
    RandomSymmetry(recorder, game)(planes[:1].repeat(64, axis=0))
    assert len({board.tobytes() for board in recorder.shown[-1]}) == symmetries


def play_all(game, actions):
    position = game.start()
    for action in actions:
        position = position.play(action)
    return position


@pytest.mark.parametrize("spec", ["gomoku:size=6", "connect4"])
def test_turned_boards_are_boards_of_the_turned_game(spec):
    game = load_game(spec)
    moves = np.array([1, 2, 0, 5, 3])
    boards = [play_all(game, images[moves]).encode() for images in game.action_symmetries]
    recorder = Recorder(game)
    RandomSymmetry(recorder, game)(boards[0].reshape(1, -1, game.cells).repeat(64, axis=0))
    assert {board.tobytes() for board in recorder.shown[0]} == {board.tobytes() for board in boards}


def test_symmetries_repeat_with_their_seed():
    game = load_game("gomoku:size=6")
    planes = np.random.default_rng(1).random((8, len(game.planes), game.cells), np.float32)
    shown = []
    for seed in (1, 1, 2):
        recorder = Recorder(game)
        RandomSymmetry(recorder, game, seed)(planes)
        shown.append(recorder.shown[0])
    assert np.array_equal(shown[0], shown[1])
    assert not np.array_equal(shown[0], shown[2])


def test_a_cache_asks_nothing_twice():
    game = load_game("gomoku:size=6")
    recorder = Recorder(game)
    cached = Cached(recorder, 100)
    planes = np.random.default_rng(1).random((6, len(game.planes), game.cells), np.float32)
    for rows in ([0, 1, 0, 2], [2, 3, 1], [0, 1, 2, 3], [5, 0, 5, 4]):
        for kept, fresh in zip(cached(planes[rows]), Recorder(game)(planes[rows]), strict=True):
            assert kept.dtype == np.float32
            assert np.array_equal(kept, fresh)
    assert [len(shown) for shown in recorder.shown] == [3, 1, 2]
    assert (cached.lookups, cached.hits) == (15, 9)


def test_a_cache_forgets_the_oldest():
    game = load_game("gomoku:size=6")
    recorder = Recorder(game)
    cached = Cached(recorder, 2)
    planes = np.random.default_rng(1).random((3, len(game.planes), game.cells), np.float32)
    for row in (0, 1, 1, 2, 1, 0):
        cached(planes[[row]])
    assert len(cached.answers) == 2
    assert len(recorder.shown) == 4  # 0, 1, 2, and 0 again
