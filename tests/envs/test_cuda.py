"""Games on a GPU are those on a CPU: on a GPU, and in Numba's simulator where there is none."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from env_judge import COUNT, LONGEST, check_same, steps_of

from tengen.envs import TimeStep, VectorEnv
from tengen.rules.errors import BadParameter

HERE = Path(__file__).parent
PILE = str(HERE / "pile.py")
SIMULATOR = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}


def check_same_games(tmp_path: Path, spec: str, steps: int, **environment: str) -> None:
    """Another process plays on a GPU, or in the simulator; this one on its CPU."""
    out = tmp_path / "steps.npz"
    command = [sys.executable, "-W", "ignore", str(HERE / "env_judge.py"), spec, str(steps), str(out)]
    subprocess.run(command, check=True, timeout=500, env={**os.environ, **environment})
    with np.load(out) as arrays:
        there = dict(arrays)
    stopped = 0
    for k, (actions, step) in enumerate(steps_of(VectorEnv(spec, COUNT, seed=5, longest=LONGEST), steps)):
        np.testing.assert_array_equal(there[f"{k} actions"], actions)
        check_same(TimeStep(*(there[f"{k} {name}"] for name in TimeStep._fields)), step)
        stopped += int((step.ended | step.truncated).sum())
    assert stopped >= COUNT
    assert there["refused"].tolist() == [
        str([1] * (COUNT - 1) + [0]),
        str([2] * (COUNT - 1) + [0]),  # a row whose action was refused waits until that is told
        f"row {COUNT - 1}: action {step.masks.shape[1]} does not exist; {name_of(spec)} has actions 0 to "
        f"{step.masks.shape[1] - 1}",
        str([3] * (COUNT - 1) + [1]),
    ]


def name_of(spec: str) -> str:
    return spec if spec.endswith(".py") else spec.partition(":")[0]


@pytest.mark.parametrize("spec", ["connect4", "reversi:size=4", "hex:size=4", PILE], ids=lambda spec: Path(spec).name)
def test_simulated_kernels_play_the_same_games(tmp_path, spec):
    check_same_games(tmp_path, spec, 25, **SIMULATOR)


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "gomoku:size=9", "reversi", "hex", "go:size=5", PILE])
def test_a_gpu_plays_the_same_games(tmp_path, spec):
    if not has_gpu():
        pytest.skip("there is no CUDA device here: the kernels were tested in Numba's simulator alone")
    check_same_games(tmp_path, spec, 150)


def test_torch_takes_what_a_gpu_shows():
    if not has_gpu():
        pytest.skip("there is no CUDA device here: no array was shared")
    import torch

    from tengen.envs import CudaVectorEnv

    env = CudaVectorEnv("connect4", 100, seed=1)
    step = env.step(env.random_actions())
    for array in step:
        assert array.is_cuda and torch.from_dlpack(array).data_ptr() == array.data_ptr()
    assert step.masks.dtype == torch.bool and step.planes.shape == (100, 4, 6, 7)
    chosen = (torch.rand(100, 7, device="cuda") * step.masks).argmax(1)  # as a policy does
    assert env.step(chosen).plies.tolist() == [2] * 100


def test_without_a_gpu_it_says_what_is_needed():
    if has_gpu():
        pytest.skip("there is a CUDA device here")
    from tengen.envs import CudaVectorEnv

    with pytest.raises(BadParameter, match=r"needs an NVIDIA GPU, and pip install 'tengen\[cuda\]'"):
        CudaVectorEnv("tictactoe", 1)


def has_gpu() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return torch.cuda.is_available()
