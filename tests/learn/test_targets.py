"""Targets: what is wanted of a position, judged by playing the games again; and how they are learned."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tengen.games import load_game
from tengen.learn.replay import Replay
from tengen.learn.selfplay import Group, Opening
from tengen.learn.settings import load_settings
from tengen.learn.targets import PlayedGames, Target, load_targets, one_hot, size_of
from tengen.learn.trainer import Trainer
from tengen.rules.errors import BadParameter
from tengen.search.evaluators import Uniform
from tengen.search.lockstep import Plan

LAST_MOVE = Path(__file__).parent.parent.parent / "examples" / "last_move.py"
TWO = Path(__file__).parent / "two_targets.py"
ALL = f"territory,{TWO}:Reply,{TWO}:PliesLeft,{LAST_MOVE}:LastMove"


def played(game, positions=200):
    group = Group(game, Plan(simulations=6), 8, 4 * game.cells + 100, seed=4, opening=Opening(4))
    return group.play(Uniform(game), positions, lambda: False)


def judged(game, games):
    """What each target wants of each position, slowly: by planes as they are shown."""
    found, index = {}, 0
    for length in games.lengths.tolist():
        moves = games.moves[index : index + length].tolist()
        final, position = game.from_actions(moves), game.start()
        owners = final.board.reshape(-1)  # Reversi's
        for ply, move in enumerate(moves):
            own, other = position.to_play + 1, 2 - position.to_play
            wanted = {
                "territory": 1.0 * (owners == own) - 1.0 * (owners == other),
                "reply": games.policies[index + ply + 1] if ply + 1 < length else np.zeros(game.actions),
                "pliesleft": np.array([(length - ply) / game.cells]),
                "lastmove": np.eye(game.actions)[moves[-1]],
            }
            if games.policies[index + ply].any():
                found.setdefault(position.encode().tobytes(), []).append(wanted)
            position = position.play(move)
        index += length
    return found


def test_what_targets_want():
    game = load_game("reversi:size=4")
    games, targets = played(game), load_targets(ALL, game)
    assert [one.name for one in targets] == ["territory", "reply", "pliesleft", "lastmove"]
    replay, wanted = Replay(game, targets), judged(game, games)
    replay.add(1, games, 10**6)
    replay.add(2, games, 10**6)  # numbers of games and places go on
    samples = replay.sample(300, np.random.default_rng(1))
    for b, planes in enumerate(samples.planes):
        assert any(
            all(
                np.allclose(samples.targets[place][b], turned(game, target, row[name], which), atol=1e-3)
                for place, (name, target) in enumerate(targets)
            )
            for which in range(len(game.symmetries))
            for row in wanted.get(planes[:, game.symmetries[which]].tobytes(), [])
        )
    assert [part.shape[1] for part in samples.targets] == [size_of(one.target, game) for one in targets]


def turned(game, target, numbers, which):
    """Numbers of a board as it lies, where a symmetry sends them."""
    if target.per == "position":
        return numbers
    images = (game.symmetries if target.per == "cells" else game.action_symmetries)[which]
    result = np.zeros(len(images))
    result[images] = numbers
    return result


def test_numpy_and_torch_want_the_same():
    """`wanted` is written once, for a CPU and for a GPU."""
    game = load_game("go:size=5")
    replay = Replay(game, load_targets(ALL, game))
    replay.add(1, played(game), 10**6)
    arrays, chosen = replay.join(), np.arange(0, 100, 3)
    movers = (chosen % 2).astype(np.int8)
    tensors = PlayedGames(*(torch.from_numpy(np.array(array)) for array in arrays))
    for target in replay.targets:
        on_cpu = target.wanted(arrays, chosen, movers)
        as_torch = target.wanted(tensors, torch.from_numpy(chosen), torch.from_numpy(movers))
        np.testing.assert_allclose(np.asarray(on_cpu, np.float32), as_torch.float().numpy())
    np.testing.assert_array_equal(one_hot(np.array([2, 0]), 3), [[0, 0, 1], [1, 0, 0]])


def test_scores_and_owners_are_those_of_the_end():
    game = load_game("reversi:size=4")
    games = played(game, 60)
    replay = Replay(game, load_targets("territory", game))
    replay.add(1, games, 10**6)
    arrays, index = replay.join(), 0
    for number, length in enumerate(games.lengths.tolist()):
        final = game.from_actions(games.moves[index : index + length].tolist())
        assert arrays.scores[number] == final.outcome.score
        assert (arrays.owners[number] == final.board.reshape(-1)).all()
        index += length


def test_every_loss_falls():
    """A network that sees the same few games again and again foresees them better and better."""
    game = load_game("reversi:size=4")
    settings = load_settings("reversi:size=4", [f"net.targets={ALL}", "training.batch=64", "net.channels=16"])
    trainer = Trainer(game, settings)
    replay = Replay(game, trainer.targets)
    replay.add(1, played(game), 10**6)
    losses = [trainer.train(replay, steps, 3e-3, [1], lambda: False) for steps in (5, 80, 20)]
    for name in ("value", "policy", "territory", "reply", "pliesleft", "lastmove"):
        assert losses[2][name] < losses[0][name], name
    assert list(losses[0]) == [
        "total",
        "value",
        "policy",
        "territory",
        "reply",
        "pliesleft",
        "lastmove",
        "entropy",
        "weights",
    ]
    saved = trainer.save()
    again = Trainer(game, settings)
    again.restore(saved)
    assert all((saved[name] == array).all() for name, array in again.save().items())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("teritory", "no target is called 'teritory'; did you mean 'territory'?"),
        (f"{LAST_MOVE}:LastMove,{LAST_MOVE}:LastMove", "lastmove stands there twice"),
        ("territory", "territory is for games that say who owns each cell at the end; connect4 does not"),
        (f"{LAST_MOVE}:Last", "has no target 'Last'"),
        ("./nothing.py:X", "there is no file"),
    ],
)
def test_what_is_wrong_is_said(text, reason):
    with pytest.raises(Exception, match=r"(?s).*") as caught:
        load_targets(text, load_game("connect4"))
    assert reason in str(caught.value)


def test_a_target_of_a_strange_shape():
    class Odd(Target):
        per = "rows"

    from tengen.learn import targets

    targets.TARGETS["odd"] = Odd
    try:
        with pytest.raises(BadParameter, match="per is 'rows'; it is 'cells', 'actions' or 'position'"):
            load_targets("odd", load_game("connect4"))
    finally:
        del targets.TARGETS["odd"]


def test_runs_of_the_first_edition_are_read():
    """Their `territory = true` is the target of today."""
    settings = load_settings("go9", ["net.territory=true"])
    assert settings.net.targets == "territory"
    assert "territory" in settings.text()
