"""Evaluators around evaluators: nothing is asked twice, turned boards are turned back, threads share a batch."""

import threading
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest

from tengen import load_game
from tengen.knowledge.threats import ThreatSearch
from tengen.nets.metadata import NetError
from tengen.search.evaluators import Cached, RandomSymmetry, Shared, SharedProver, Tempered
from tengen.search.limits import Limit
from tengen.search.puct import Puct

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
    assert (cached.asked, cached.hits) == (15, 9)


def test_a_cache_forgets_the_oldest():
    game = load_game("gomoku:size=6")
    recorder = Recorder(game)
    cached = Cached(recorder, 2)
    planes = np.random.default_rng(1).random((3, len(game.planes), game.cells), np.float32)
    for row in (0, 1, 1, 2, 1, 0):
        cached(planes[[row]])
    assert len(cached.answers) == 2
    assert len(recorder.shown) == 4  # 0, 1, 2, and 0 again


class Hashing:
    """Answers by what a state looks like; remembers which threads have asked, and how many states each time."""

    def __init__(self, game):
        self.actions, self.asked = game.actions, []

    def __call__(self, planes):
        self.asked.append((threading.get_ident(), len(planes)))
        seeds = [int.from_bytes(blake2b(row.tobytes(), digest_size=4).digest()) for row in planes]
        logits = np.stack([np.random.default_rng(seed).normal(size=self.actions) for seed in seeds])
        return logits.astype(np.float32), np.tanh(logits[:, 0]).astype(np.float32)


@pytest.mark.parametrize("states", [1, 2, 3, 7, 16])
def test_threads_share_a_batch_and_answer_in_order(states):
    game = load_game("gomoku:size=6")
    planes = np.random.default_rng(1).random((states, len(game.planes), game.cells), np.float32)
    alone, helped = Hashing(game), Hashing(game)
    for one, other in zip(alone(planes), Shared(helped, 3)(planes), strict=True):
        assert np.array_equal(one, other)
    assert sorted(size for _, size in helped.asked) == {1: [1], 2: [2], 3: [3], 7: [2, 2, 3], 16: [5, 5, 6]}[states]
    assert threading.get_ident() in {thread for thread, _ in helped.asked}


def test_a_search_with_threads_is_the_search_without():
    """Visit for visit, with a net and with provers that know some leaves."""
    game = load_game("gomoku:size=8")
    found = []
    for threads in (1, 2, 3):
        evaluator = Hashing(game) if threads == 1 else Shared(Hashing(game), threads)
        prover = SharedProver([ThreatSearch(game, 4).wins for _ in range(threads)])
        search = Puct(game, evaluator, batch=8, memory=16, prover=prover)
        decision = search.search(game.from_moves("d4 d5 e4 e5"), Limit(simulations=600))
        found.append((decision.action, decision.policy, search.opinions()))
    assert found[0] == found[1] == found[2]


def test_what_fails_in_a_thread_is_said():
    game = load_game("tictactoe")

    def fail_elsewhere(planes):
        if threading.current_thread().name.startswith("tengen-search"):
            raise NetError("no answer")
        return Hashing(game)(planes)

    with pytest.raises(NetError, match="no answer"):
        Shared(fail_elsewhere, 2)(np.zeros((8, len(game.planes), game.cells), np.float32))
