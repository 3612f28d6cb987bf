"""A batch shows positions of the games that were played, under symmetries, with the right targets."""

import numpy as np
import pytest

from tengen.games import load_game
from tengen.learn.replay import Replay
from tengen.learn.selfplay import Group, Opening
from tengen.learn.targets import load_targets
from tengen.search.evaluators import Uniform
from tengen.search.lockstep import Plan


def played(game, positions=300):
    return Group(game, Plan(simulations=6), 8, 4 * game.cells + 100, seed=4, opening=Opening(4)).play(
        Uniform(game), positions, lambda: False
    )


def expected(game, games):
    """Every sample there can be: the planes, turned each way, with policy and result."""
    samples, index = {}, 0
    for length, result in zip(games.lengths, games.results, strict=True):
        position = game.start()
        for _ in range(length):
            value = 0 if result == 3 else 1 if result == position.to_play + 1 else -1
            planes = position.encode().reshape(len(game.planes), -1)
            if games.policies[index].any():
                for cells, actions in zip(game.symmetries, game.action_symmetries, strict=True):
                    turned, policy = np.zeros_like(planes), np.zeros(game.actions, np.float32)
                    turned[:, cells] = planes
                    kept = games.policies[index]
                    places = np.arange(game.actions) if len(kept) == game.actions else position.legal_actions
                    policy[actions[places]] = kept[: len(places)]
                    samples.setdefault(turned.tobytes(), []).append((policy, value))
            position = position.play(int(games.moves[index]))
            index += 1
    return samples


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "reversi", "hex:size=5", "go:size=5", "chess"])
def test_samples(spec):
    game = load_game(spec)
    games = played(game)
    replay, wanted = Replay(game), expected(game, games)
    replay.add(1, games, 10**6)
    assert len(replay) == len(games.moves)
    samples = replay.sample(400, np.random.default_rng(1))
    for planes, policy, value in zip(samples.planes, samples.policies, samples.values, strict=True):
        assert any(np.allclose(policy, known) and value == result for known, result in wanted[planes.tobytes()])
    seen = {planes.tobytes() for planes in replay.sample(20_000, np.random.default_rng(2)).planes}
    assert len(seen) > 0.8 * len(wanted)  # every position, every way round


def test_the_window_forgets_whole_generations():
    game = load_game("tictactoe")
    replay, games = Replay(game), played(game, 200)
    for generation in range(1, 8):
        replay.add(generation, games, 500)
        assert len(replay) >= min(500, generation * len(games.moves))
    assert list(replay.generations) == [5, 6, 7]


@pytest.mark.parametrize(("spec", "komi"), [("reversi:size=6", 0), ("go:size=5", 7.5)])
def test_territories(spec, komi):
    """What each player owns at the end decides the game, whoever looks and however the board is turned."""
    game = load_game(spec)
    replay, games = Replay(game, load_targets("territory", game)), played(game)
    margins, index = [], 0
    for length in games.lengths:
        final = game.from_actions(games.moves[index : index + length].tolist())
        margins.append(final.outcome.score + komi)
        index += length
    replay.add(1, games, 10**6)
    samples = replay.sample(400, np.random.default_rng(1))
    first_moves = samples.planes[:, -1, 0] == 1
    found = np.where(first_moves, 1, -1) * samples.targets[0].sum(1)
    assert set(found) <= set(margins)
    assert len(set(found)) > 3


def test_territory_of_one_game():
    """The cells themselves, not only their number: Reversi's final board."""
    game = load_game("reversi:size=4")
    replay, games = Replay(game, load_targets("territory", game)), played(game, 20)
    replay.add(1, games, 10**6)
    replay.sample(1, np.random.default_rng(1))
    index = 0
    for number, length in enumerate(games.lengths):
        final = game.from_actions(games.moves[index : index + length].tolist())
        assert (replay.played.owners[number] == final.board.reshape(-1)).all()
        index += length
