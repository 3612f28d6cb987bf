"""Self-play by CUDA kernels is self-play by CPU threads: on a GPU, and in Numba's simulator where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from gpu_judge import PLANS, by_cpu

JUDGE = Path(__file__).with_name("gpu_judge.py")


def by_another_process(tmp_path: Path, spec: str, root: str, **environment: str) -> dict[str, np.ndarray]:
    out = tmp_path / "traces.npz"
    command = [sys.executable, "-W", "ignore", str(JUDGE), spec, root, str(out)]
    subprocess.run(command, check=True, timeout=500, env={**os.environ, **environment})
    with np.load(out) as arrays:
        return dict(arrays)


def check_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)
    assert one["visits"].sum() > 0
    assert one["plies"].any()


@pytest.mark.parametrize("root", PLANS)
def test_simulated_kernels_play_the_same_games(tmp_path, root):
    simulated = by_another_process(
        tmp_path, "tictactoe", root, NUMBA_ENABLE_CUDASIM="1", NUMBA_DISABLE_JIT="1", PYTHONWARNINGS="ignore"
    )
    check_same(by_cpu("tictactoe", PLANS[root]), simulated)
    assert simulated["results"].any()  # games have ended, and others begun


@pytest.mark.parametrize("root", PLANS)
@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "gomoku:size=9", "reversi", "go:size=5"])
def test_a_gpu_plays_the_same_games(tmp_path, spec, root):
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device here: the kernels were tested in Numba's simulator alone")
    check_same(by_cpu(spec, PLANS[root]), by_another_process(tmp_path, spec, root))
