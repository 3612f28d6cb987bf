"""Games side by side are what positions played one by one are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from env_judge import Judge, check_same, shown, steps_of

from tengen import load_game
from tengen.envs import VectorEnv
from tengen.rules.errors import BadMove, BadParameter, IllegalMove

HERE = Path(__file__).parent
BREAKTHROUGH = HERE.parent.parent / "examples" / "breakthrough.py"
GAMES = [
    "tictactoe",
    "mnk:m=5,n=4,k=4",
    "connect4",
    "gomoku:size=7",
    "gomoku:size=7,rule=renju",
    "reversi:size=4",
    "reversi:size=6",
    "go:size=5",
    f"{BREAKTHROUGH}:size=5",
    f"{HERE / 'pile.py'}",
]


@pytest.mark.parametrize("spec", GAMES, ids=lambda spec: Path(spec).name)
def test_every_step_is_what_positions_show(spec):
    game, longest = load_game(spec), 40
    env, judge = VectorEnv(game, 7, seed=2, longest=longest), Judge(game, 7, longest)
    first = shown(env.reset())
    assert not first.plies.any() and not first.rewards.any() and not first.ended.any()
    np.testing.assert_array_equal(first.planes, [game.start().encode()] * 7)
    stopped = 0
    for actions, step in steps_of(env, 120):
        check_same(step, judge.step(actions))
        stopped += int((step.ended | step.truncated).sum())
    assert stopped >= 7


def test_a_won_game_pays_its_winner_and_the_next_begins():
    env = VectorEnv("tictactoe", 2)
    moves = [[0, 0], [3, 1], [1, 2], [4, 3], [2, 5]]  # row 0: the first player has a row
    for actions in moves:
        step = env.step(np.array(actions))
    assert step.ended.tolist() == [True, False] and not step.truncated.any()
    assert step.rewards.tolist() == [[1, -1], [0, 0]]
    assert step.plies.tolist() == [5, 5] and step.to_play.tolist() == [0, 1]
    assert step.last_to_play[0] == 1 and step.last_planes[0, 1].sum() == 3  # as the loser sees it
    assert step.planes[0, :2].sum() == 0 and step.masks[0].all()
    step = env.step([4, 4])
    assert step.plies.tolist() == [1, 6] and not step.ended.any() and not step.rewards.any()


def test_who_must_pass_has_a_pass_alone():
    game, passes = load_game("reversi:size=4"), 0
    env, judge = VectorEnv(game, 16, seed=3), Judge(game, 16, 1000)
    step = shown(env.reset())
    for _ in range(40):
        must_pass = step.masks[:, 16] & (step.masks.sum(1) == 1)
        actions = env.random_actions().copy()
        assert (actions[must_pass] == 16).all()
        step = shown(env.step(actions))
        check_same(step, judge.step(actions))
        passes += int(must_pass.sum())
    assert passes > 10


def test_a_player_can_move_twice():
    env = VectorEnv(f"{HERE / 'pile.py'}", 1)
    assert env.step([0]).to_play[0] == 0 and env.step([1]).to_play[0] == 1
    assert env.step([2]).planes[0, 0, 0, 0] == np.float32(3 / 9)
    step = env.step([2])
    assert step.rewards.tolist() == [[1, -1]] and step.plies[0] == 4


def test_long_games_are_broken_off():
    env = VectorEnv("go:size=5", 3, longest=3)
    for actions in ([25, 0, 1], [2, 3, 4], [5, 6, 7]):
        step = env.step(actions)
        assert step.truncated.all() == (actions[0] == 5) and not step.ended.any() and not step.rewards.any()
    assert step.plies.tolist() == [3, 3, 3] and step.masks.all() and step.last_planes.any()
    assert VectorEnv("go:size=5", 1).longest == 200


def test_a_game_that_ends_with_the_last_ply_there_is_has_ended():
    env = VectorEnv("tictactoe", 1, longest=5)
    for action in (0, 3, 1, 4, 2):
        step = env.step([action])
    assert step.ended[0] and not step.truncated[0] and step.rewards.tolist() == [[1, -1]]


@pytest.mark.parametrize(
    ("actions", "kind", "message"),
    [
        ([0, 4, 3], IllegalMove, r"row 1: 4 \(b2\) is not legal at move 2; legal are 0 \(a3\), 1 \(b3\), 2 \(c3\)"),
        ([0, 0, 9], BadMove, "row 2: action 9 does not exist; tictactoe has actions 0 to 8"),
        ([-1, 0, 0], BadMove, "row 0: action -1 does not exist"),
        ([2**32, 0, 0], BadMove, "row 0: action 4294967296 does not exist"),
        ([0, 0], BadMove, r"step takes integers \[3\], not int64 \[2\]"),
        ([0.0, 1.0, 2.0], BadMove, r"step takes integers \[3\], not float64 \[3\]"),
        ([True, False, True], BadMove, "not bool"),
    ],
)
def test_nothing_is_played_with_an_illegal_action(actions, kind, message):
    env = VectorEnv("tictactoe", 3)
    before = shown(env.step([4, 4, 4]))
    with pytest.raises(kind, match=message):
        env.step(actions)
    check_same(shown(env._shown), before)
    assert env.step(np.array([0, 1, 2], np.uint8)).plies.tolist() == [2, 2, 2]


def test_what_is_written_into_a_mask_allows_nothing():
    env = VectorEnv("tictactoe", 1)
    env.step([4]).masks[:] = True
    with pytest.raises(IllegalMove):
        env.step([4])


def test_the_same_seed_gives_the_same_games():
    def played(env, count=60):
        return [actions.tolist() for actions, _ in steps_of(env, count)]

    env = VectorEnv("connect4", 8, seed=7)
    games = played(env)
    assert played(VectorEnv("connect4", 8, seed=7)) == games != played(VectorEnv("connect4", 8, seed=8))
    env.reset()
    assert played(env) != games
    env.reset(seed=7)
    assert played(env) == games
    assert len({tuple(column) for column in np.array(games).T.tolist()}) == 8  # and rows play games of their own


def test_random_actions_are_legal_and_even():
    env = VectorEnv("connect4", 7000, seed=1)
    counts = np.bincount(env.random_actions(), minlength=7)
    assert counts.min() > 900 and counts.sum() == 7000


def test_arrays_are_written_over():
    env = VectorEnv("connect4", 4)
    before = [array.ctypes.data for array in env.reset()]
    assert [array.ctypes.data for array in env.step(env.random_actions())] == before


def test_what_cannot_be_made_is_said():
    with pytest.raises(BadParameter, match="count=0: an environment has one game or more"):
        VectorEnv("tictactoe", 0)
    with pytest.raises(BadParameter, match="longest=0"):
        VectorEnv("tictactoe", 1, longest=0)


def test_the_example_learns(monkeypatch):
    monkeypatch.syspath_prepend(BREAKTHROUGH.parent)
    import vector_env

    assert vector_env.share_of_wins(vector_env.learn(300)) > vector_env.share_of_wins(vector_env.learn(0)) + 0.1


def test_tengen_alone_does_not_load_them():
    program = "import sys, tengen; assert not [name for name in sys.modules if name.startswith('tengen.envs')]"
    subprocess.run([sys.executable, "-c", program], check=True)
