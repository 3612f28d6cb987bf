"""Any game is an environment as PettingZoo wants it."""

from __future__ import annotations

import builtins
import importlib
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from tengen.rules.errors import BadMove, BadParameter, IllegalMove

HERE = Path(__file__).parent
BREAKTHROUGH = HERE.parent.parent / "examples" / "breakthrough.py"
test = pytest.importorskip("pettingzoo.test", reason="PettingZoo is not installed")


def env_of(spec, **options):
    from tengen.envs.pettingzoo import PettingZooEnv

    return PettingZooEnv(str(spec), **options)


@pytest.mark.parametrize(
    "spec",
    ["tictactoe", "connect4", "go:size=5", f"{BREAKTHROUGH}:size=5", HERE / "pile.py"],
    ids=lambda spec: Path(spec).name,
)
@pytest.mark.filterwarnings("ignore:Observation:UserWarning")  # it is a Dict, as in PettingZoo's own board games
def test_pettingzoo_finds_no_fault(spec, capsys):
    test.api_test(env_of(spec, longest=60), num_cycles=200)
    assert "Passed API test" in capsys.readouterr().out


def test_a_game_to_its_end():
    env = env_of("tictactoe", render_mode="ansi")
    for move in (0, 3, 1, 4):
        env.step(move)
    observation, reward, terminated, truncated, _ = env.last()
    assert env.agent_selection == "player_0" and (reward, terminated, truncated) == (0, False, False)
    np.testing.assert_array_equal(observation["observation"], env.position.encode())
    assert np.flatnonzero(observation["action_mask"]).tolist() == env.position.legal_actions
    assert not env.observe("player_1")["action_mask"].any()
    env.step(2)
    assert env.rewards == {"player_0": 1, "player_1": -1} and all(env.terminations.values())
    assert env.render() == str(env.position)
    totals = {}
    for agent in env.agent_iter():
        totals[agent] = env.last()[1]
        env.step(None)
    assert totals == {"player_0": 1, "player_1": -1} and env.agents == []
    env.reset()
    assert env.position.ply == 0 and env.agents == ["player_0", "player_1"] and env_of("tictactoe").render() is None


def test_a_long_game_is_truncated():
    env, numbers = env_of("go:size=5", longest=3), random.Random(1)
    for _ in range(3):
        assert not any(env.truncations.values())
        env.step(numbers.choice(env.position.legal_actions))
    assert all(env.truncations.values()) and not any(env.terminations.values())
    assert not env.observe(env.agent_selection)["action_mask"].any()


def test_who_moves_twice_is_selected_twice():
    env = env_of(HERE / "pile.py")
    env.step(0)
    assert env.agent_selection == "player_0"
    env.step(1)
    assert env.agent_selection == "player_1"


def test_wrong_calls_get_a_sentence():
    env = env_of("tictactoe")
    env.step(4)
    with pytest.raises(IllegalMove, match="b2 is occupied at move 2"):
        env.step(4)
    with pytest.raises(BadMove, match="None is not a move"):
        env.step(None)
    assert env.position.ply == 1
    with pytest.raises(BadParameter, match="render_mode='human'"):
        env_of("tictactoe", render_mode="human")


@pytest.mark.parametrize("package", ["pettingzoo", "openspiel"])
def test_a_missing_package_is_named(monkeypatch, package):
    missing, real = {"pettingzoo": "pettingzoo", "openspiel": "pyspiel"}[package], builtins.__import__

    def without(name, *arguments, **options):
        if name == missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *arguments, **options)

    monkeypatch.delitem(sys.modules, f"tengen.envs.{package}", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"needs (pettingzoo|OpenSpiel): pip install 'tengen\[envs\]'"):
        importlib.import_module(f"tengen.envs.{package}")
