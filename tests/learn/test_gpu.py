"""Self-play by CUDA kernels is self-play by CPU threads: on a GPU, and in Numba's simulator where there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from gpu_judge import LONGEST, OPENING, PLANS, by_cpu, stand_in

from tengen.games import load_game
from tengen.learn import selfplay
from tengen.learn.selfplay import Games, Group, Opening
from tengen.rules.errors import BadParameter, TengenError
from tengen.search.lockstep import Plan

JUDGE = Path(__file__).with_name("gpu_judge.py")
STEPS = 150  # of self-play on a GPU; the simulator is slow, and its games are short


def by_another_process(tmp_path: Path, spec: str, root: str, steps: int, **environment: str) -> dict[str, np.ndarray]:
    out = tmp_path / "traces.npz"
    command = [sys.executable, "-W", "ignore", str(JUDGE), spec, root, str(steps), str(out)]
    subprocess.run(command, check=True, timeout=500, env={**os.environ, **environment})
    with np.load(out) as arrays:
        return dict(arrays)


def check_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)
    assert one["visits"].sum() > 0
    assert one["plies"].any()


@pytest.mark.parametrize("root", ["gumbel", pytest.param("puct", marks=pytest.mark.long)])
def test_simulated_kernels_play_the_same_games(tmp_path, root):
    steps, simulator = 64, {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    simulated = by_another_process(tmp_path, "tictactoe", root, steps, **simulator)
    check_same(by_cpu("tictactoe", PLANS[root], steps), simulated)
    assert simulated["results"].any()  # games have ended, and others begun


@pytest.mark.parametrize("root", PLANS)
@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "gomoku:size=9", "reversi", "hex:size=7", "go:size=5"])
def test_a_gpu_plays_the_same_games(tmp_path, spec, root):
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device here: the kernels were tested in Numba's simulator alone")
    check_same(by_cpu(spec, PLANS[root], STEPS), by_another_process(tmp_path, spec, root, STEPS))


def test_a_kernel_is_known_by_its_constants():
    """One that was kept for another board or another plan is never taken for it."""
    from tengen.learn.gpu import kernels as gpu_kernels
    from tengen.rules.cuda import scratch_shapes

    games = [load_game(spec) for spec in ("gomoku:size=8", "gomoku:size=9")]
    constants = [(game.parameters, plan, *scratch_shapes(game)) for game in games for plan in PLANS.values()]
    kernels = [gpu_kernels.play_rows.clone(numbers) for numbers in constants]
    assert len({kernel.__name__ for kernel in kernels}) == 4
    assert [kernel.__globals__["game"].size for kernel in kernels] == [8, 8, 9, 9]
    assert gpu_kernels.game is None


def test_a_kernel_does_not_depend_on_what_else_was_loaded(tmp_path):
    """Another game's rules, and those of a file that does not run: a process that compiles ahead has loaded neither."""
    from tengen.learn.gpu import kernels as gpu_kernels
    from tengen.rules.fingerprint import fingerprint

    game = load_game("gomoku:size=8").parameters
    kinds = [type(game), type(PLANS["puct"])]
    entries = [value for value in vars(gpu_kernels).values() if hasattr(value, "clone")]
    before = [fingerprint(entry.function, *kinds) for entry in entries]
    load_game(str(Path(__file__).parents[2] / "examples/breakthrough.py"))
    own = (Path(__file__).parents[2] / "examples/breakthrough.py").read_text()
    (tmp_path / "half.py").write_text(own + "\nraise RuntimeError('half of it')\n")
    with pytest.raises(TengenError, match="half of it"):
        load_game(str(tmp_path / "half.py"))
    assert [fingerprint(entry.function, *kinds) for entry in entries] == before and len(before) >= 5


def test_a_kernel_that_another_could_have_written_is_not_loaded(monkeypatch, tmp_path, capsys):
    """It is compiled each time instead, and it is said why."""
    from tengen.learn.gpu import kernels as gpu_kernels
    from tengen.rules import cuda as gpu_code
    from tengen.rules.kernel_cache import Untrusted

    if not hasattr(os, "getuid"):
        pytest.skip("this system has no owners of files")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    game, kernel, loading = load_game("tictactoe"), gpu_kernels.begin_rows, []
    constants = game.parameters, OPENING
    assert not kernel.is_kept(constants)
    path = gpu_code.cache_folder() / f"{kernel.clone(constants).__name__}.nbi"
    path.write_bytes(b"")
    path.chmod(0o600)
    assert kernel.is_kept(constants)
    path.chmod(0o666)
    with pytest.raises(Untrusted, match="others may write to"):
        kernel.is_kept(constants)
    native = SimpleNamespace(enable_caching=lambda: loading.append(native))
    numbas = SimpleNamespace(config=SimpleNamespace(CACHE_DIR=""))
    monkeypatch.setattr(gpu_code, "cuda", SimpleNamespace(jit=lambda clone, **options: native, core=numbas))
    assert kernel.compiled(constants) is native
    assert loading == []
    assert "others may write to" in capsys.readouterr().err
    path.chmod(0o600)
    assert kernel.compiled(constants) is native
    assert loading == [native]


def test_kernels_are_compiled_and_launched_by_one_thread_at_a_time(monkeypatch):
    """Numba's driver fails where two groups launch a kernel that is not loaded yet."""
    from tengen.rules.cuda import GpuEntry

    compiled, under_way, most = [], [], []

    def launched(*arguments):
        under_way.append(arguments)
        most.append(len(under_way))
        time.sleep(0.002)
        under_way.pop()

    def compile_slowly(entry, constants):
        time.sleep(0.01)
        compiled.append(constants)
        return {(1, 8): launched}

    monkeypatch.setattr(GpuEntry, "compiled", compile_slowly)
    kernel = GpuEntry(lambda rows: None, ("game",))[1, 8]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: kernel("go", number), range(16)))
    assert compiled == [("go",)] and len(most) == 16 and max(most) == 1


def test_kernels_that_are_not_on_disk_are_compiled_ahead(monkeypatch):
    from tengen.learn.gpu import ahead as gpu_ahead
    from tengen.learn.gpu import kernels as gpu_kernels
    from tengen.rules.cuda import GpuEntry

    begun, waits = [], []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **how: begun.append(command) or "a process")
    monkeypatch.setattr(GpuEntry, "is_kept", lambda kernel, constants: kernel is gpu_kernels.search_rows)
    monkeypatch.setattr(GpuEntry, "wait_for", lambda kernel, process, constants: waits.append((kernel, constants)))
    game, plan = load_game("reversi:size=6"), PLANS["puct"]
    gpu_ahead.compile_ahead(game, plan, OPENING, False)
    (command,) = begun
    spec, *texts = command[3:6]
    assert load_game(spec).parameters == game.parameters
    assert [kind(*json.loads(text)) for kind, text in zip((Plan, Opening), texts, strict=True)] == [plan, OPENING]
    assert command[6:] == ["play_rows", "begin_rows", "set_up_rows"]
    assert waits[1] == (gpu_kernels.begin_rows, (game.parameters, OPENING)) and len(waits) == 3
    monkeypatch.setattr(GpuEntry, "is_kept", lambda kernel, constants: True)
    gpu_ahead.compile_ahead(game, plan, OPENING, True)

    def forbidden(kernel, constants):
        raise PermissionError

    monkeypatch.setattr(GpuEntry, "is_kept", forbidden)  # a process could leave nothing on disk
    gpu_ahead.compile_ahead(game, plan, OPENING, True)
    assert len(begun) == 1


def test_a_group_launches_kernels_that_were_compiled_ahead(monkeypatch, tmp_path):
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device here: no kernel was compiled ahead")
    from tengen.learn.gpu import ahead as gpu_ahead
    from tengen.learn.gpu import selfplay as gpu_selfplay

    monkeypatch.setattr(gpu_selfplay, "GraphNet", ExactNet)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    game, plan = load_game("tictactoe"), Plan(simulations=5)
    gpu_ahead.compile_ahead(game, plan, OPENING, True)
    group = gpu_selfplay.GpuGroup(game, plan, None, 64, 9, 1, OPENING)
    group.play(None, 400, lambda: False)
    saved, unread = group.save(), group.unread
    group.unread = Games.none(game)
    group.restore(saved)
    assert len(unread.moves) > 0 and lines_of(group.unread) == lines_of(unread)
    for name in gpu_ahead.KERNELS:
        native = gpu_ahead.kernel_of(name)._native
        constants = gpu_ahead.constants_of(name, game, plan, OPENING)
        stats = native[tuple((type(constant), constant) for constant in constants)].stats
        assert stats.cache_hits and not stats.cache_misses, name


def test_a_block_has_as_many_rows_as_its_memory_bears(monkeypatch):
    from tengen.rules import cuda as gpu_code

    assert gpu_code.scratch_shapes(load_game("go:size=9")) == ((8, 82), (8, 7, 81), (8 * 142,))
    assert gpu_code.scratch_shapes(load_game("connect4")) == ((8, 7), (8, 4, 42), (8 * 42,))
    monkeypatch.setattr(gpu_code, "SHARED_BYTES", 9000)
    assert gpu_code.scratch_shapes(load_game("go:size=19")) == ((2, 362), (2, 7, 361), (2 * 632,))
    monkeypatch.setattr(gpu_code, "SHARED_BYTES", 3000)
    with pytest.raises(BadParameter, match="take 3,992 bytes, and on a GPU there is room for 3,000"):
        gpu_code.scratch_shapes(load_game("go:size=19"))


class ExactNet:
    """The stand-in, where a GPU's network stands."""

    def __init__(self, game, model, rows, symmetry, temperature):
        self.planes = torch.zeros((rows, len(game.planes), game.cells), dtype=torch.uint8, device="cuda")
        self.priors, self.values = torch.zeros((rows, game.actions), device="cuda"), torch.zeros(rows, device="cuda")
        self.weights = 1 + torch.arange(self.planes[0].numel(), device="cuda") * 37 % 101
        self.actions = torch.arange(game.actions, device="cuda") * 17

    def load(self, model):
        pass

    def answer(self):
        number = (self.planes.flatten(1).long() * self.weights).sum(1)
        self.priors.copy_((1 + (number[:, None] * 31 + self.actions) % 23) / 8)
        self.values.copy_((number % 9 - 4) / 8)


def lines_of(games: Games) -> Counter:
    """How often each game was played."""
    return Counter(tuple(moves) for moves in np.split(games.moves, np.cumsum(games.lengths)[:-1]))


@pytest.mark.parametrize("room", [300, 40])
def test_finished_games_are_copied_as_long_as_there_is_room(room):
    from tengen.learn.gpu.selfplay import copy_finished

    random, rows, longest = np.random.default_rng(1), 30, 20
    tensors = {
        "moves": random.integers(99, size=(rows, longest), dtype=np.int16),
        "policies": random.random((rows, longest, 3), np.float32),
        "ended": random.integers(1, longest, size=rows, dtype=np.int32) * random.integers(2, size=rows, dtype=np.int32),
        "results": random.integers(3, size=rows, dtype=np.int8),
    }
    tensors["ended"][-1] = 0
    finished = copy_finished({name: torch.from_numpy(array) for name, array in tensors.items()}, room)
    place, waits = 0, 0
    for i, length in enumerate(tensors["ended"].tolist()):
        waits |= place + length > room
        assert finished.lengths[i] == (0 if waits else length)
        if not waits:
            assert finished.moves[place : place + length].tolist() == tensors["moves"][i, :length].tolist()
            np.testing.assert_array_equal(finished.policies[place : place + length], tensors["policies"][i, :length])
            place += length
    assert waits == (room == 40) and (finished.lengths > 0).sum() > 1
    np.testing.assert_array_equal(finished.results, tensors["results"])


def test_a_group_on_a_gpu_plays_the_games_of_one_on_a_cpu(monkeypatch):
    """Each row hears what it asked, and no other answer, whenever games are read and others begun."""
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device here: a group's graph was not tested")
    from tengen.learn.gpu import selfplay as gpu_selfplay

    monkeypatch.setattr(gpu_selfplay, "GraphNet", ExactNet)
    monkeypatch.setattr(selfplay, "priors_of", lambda priors: priors)  # as the stand-in has them
    game, plan, common = load_game("connect4"), PLANS["gumbel"], (51, LONGEST, 1, OPENING)
    there, here = gpu_selfplay.GpuGroup(game, plan, None, *common), Group(game, plan, *common)
    played, longer = Counter(), Counter()
    for _ in range(2):  # the second time searches begin anew, in games under way
        played += lines_of(there.play(None, 4000, lambda: False))
        longer += lines_of(here.play(lambda planes: stand_in(planes, game.actions), 8000, lambda: False))
        assert played.total() > 100
        assert not played - longer
        saved = there.save()
        here.restore({**saved, "policies": np.zeros((*saved["moves"].shape, game.actions), np.float16)})
