"""Whole runs, small ones: they learn, repeat themselves, and end the same however often they are killed."""

import contextlib
import errno
import io
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from silent import Silent

from tengen.games import load_game
from tengen.learn.ladder import truth_of
from tengen.learn.run import RunError, hash_of
from tengen.learn.settings import load_settings
from tengen.learn.start import say_end, stopped_gently
from tengen.learn.start import train as train_run
from tengen.learn.trainer import typical_planes
from tengen.learn.training import Training
from tengen.nets.runtime import load_net
from tengen.records import disk
from tengen.records.sgf import read_sgf
from tengen.rules.errors import BadParameter, TengenError
from tengen.search.evaluators import Uniform

SMALL = [
    "run.groups=2",
    "run.generations=12",
    "net.blocks=1",
    "net.channels=8",
    "selfplay.games=16",
    "selfplay.positions=300",
    "selfplay.simulations=8",
    "training.batch=128",
    "training.window=1500",
    "evaluation.every=6",
    "evaluation.games=2",
    "evaluation.simulations=4",
    "evaluation.opponent=uct:playouts=10",
    "evaluation.exact=false",
]
TIMES = ("seconds", "positions_per_second", "evaluations_per_second")


def train(folder, seconds=float("inf"), changes=()):
    settings = load_settings("tictactoe", [*SMALL, *changes])
    training = Training(folder, settings, load_game(settings.run.game), Silent())
    training.go_on(seconds)
    training.close()
    return training


def metrics_of(folder):
    """What was measured, but for times."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in TIMES} for line in lines]


def newest(folder):
    return load_file(sorted(folder.glob("checkpoints/*.safetensors"))[-1])


def same(one, other):
    """Whether two runs ended with the very same weights, optimiser, games under way and metrics."""
    first, second = newest(one), newest(other)
    assert first.keys() == second.keys()
    return metrics_of(one) == metrics_of(other) and all(np.array_equal(first[name], second[name]) for name in first)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "undisturbed"
    train(folder)
    return folder


def test_a_run_leaves_what_it_should(undisturbed):
    metrics = metrics_of(undisturbed)
    assert [line["generation"] for line in metrics] == list(range(1, 13))
    assert metrics[-1]["loss"]["total"] < metrics[0]["loss"]["total"]
    assert [line["generation"] for line in metrics if "matches" in line] == [6, 12]
    game = load_game("tictactoe")
    net = load_net(str(undisturbed), game)
    assert (net.metadata.run, net.metadata.step) == ("undisturbed", metrics[-1]["step"])
    assert net.metadata.rating == pytest.approx(metrics[-1]["rating"])
    assert {"000006.onnx", "000012.onnx"} <= {path.name for path in (undisturbed / "nets").iterdir()}
    records = read_sgf((undisturbed / "games/000012.sgf").read_text())
    assert all(record.end().outcome is not None for record in records)
    assert "<svg" in (undisturbed / "report.html").read_text()
    assert list((undisturbed / "events").iterdir())


def test_the_same_seed_gives_the_same_run(undisturbed, tmp_path):
    train(tmp_path / "again")
    assert same(undisturbed, tmp_path / "again")


def test_another_seed_gives_another(undisturbed, tmp_path):
    train(tmp_path / "other", changes=["run.seed=2"])
    assert metrics_of(tmp_path / "other")[0]["loss"] != metrics_of(undisturbed)[0]["loss"]


def test_a_run_that_stops_now_and_then_ends_the_same(undisturbed, tmp_path):
    folder = tmp_path / "undisturbed"
    while not train(folder, seconds=0.2).is_complete:
        pass
    assert same(undisturbed, folder)


@pytest.mark.parametrize("wanted", [2, pytest.param(20, marks=pytest.mark.long)])
def test_kills(tmp_path, wanted):
    """A real run is killed at random moments, and ends where one that never was does, to the last bit."""
    rng, longer, kills = random.Random(7), [f"run.generations={20 + 3 * wanted}", f"evaluation.every={wanted}"], 0
    folder, other = tmp_path / "killed" / "run", tmp_path / "undisturbed" / "run"
    changes = [word for change in [*SMALL, *longer] for word in ("--set", change)]
    program = [sys.executable, "-c", "from tengen.apps.cli import main; main()"]
    while True:
        process = subprocess.Popen(
            [*program, "train", "tictactoe", "--run", str(folder), *changes], stdout=subprocess.PIPE
        )
        before = newest_change(folder)
        while kills < wanted and process.poll() is None and newest_change(folder) == before:
            time.sleep(0.01)
        if kills < wanted:
            time.sleep(rng.random())
            kills += process.poll() is None
            process.kill()
        process.communicate(timeout=300)
        if process.returncode != -signal.SIGKILL:
            break
    assert process.returncode == 0
    assert kills == wanted
    train(other, changes=longer)
    assert same(folder, other)


def newest_change(folder):
    """When something in the folder last changed: after a start, that is when the run begins to write."""
    times = []
    for path in folder.glob("*/*"):
        with contextlib.suppress(FileNotFoundError):
            times.append(path.stat().st_mtime_ns)
    return max(times, default=0)


def damaged(path, how):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes({"flip": content, "cut": content[:-99]}[how])


@pytest.mark.parametrize("how", ["flip", "cut", "cut, and written by an older version"])
def test_a_damaged_net_is_written_again_and_the_run_ends_the_same(undisturbed, tmp_path, how):
    folder = tmp_path / "undisturbed"
    train(folder, seconds=0.001)
    net = folder / "nets/000001.onnx"
    whole = net.read_bytes()
    damaged(net, how[:4].strip(","))
    if how.endswith("version"):
        forget_hashes(folder / "checkpoints/000001.json")
    settings = load_settings("tictactoe", SMALL)
    training = Training(folder, settings, load_game("tictactoe"), Silent())
    assert net.read_bytes() == whole
    assert "000001.onnx" in training.watcher.said[0] or how.endswith("version")
    assert "written again" in training.watcher.said[0]
    training.go_on()
    training.close()
    assert same(undisturbed, folder)


def forget_hashes(path):
    """A checkpoint as older versions wrote it."""
    facts = json.loads(path.read_bytes())
    del facts["files"], facts["hash"]
    path.write_text(json.dumps({**facts, "hash": hash_of(json.dumps(facts).encode())}))


@pytest.mark.parametrize("gating", [0.0, 0.55])
@pytest.mark.parametrize("how", ["flip", "cut"])
def test_a_damaged_best_net_is_replaced_by_the_newest(tmp_path, how, gating):
    changes = [*SMALL, "evaluation.every=2", "run.generations=2", f"evaluation.gating={gating}"]
    folder, game = tmp_path / "run", load_game("tictactoe")
    first = Training(folder, load_settings("tictactoe", changes), game, Silent())
    first.go_on(0.001)
    first.close()
    damaged(folder / "nets/000000.onnx", how)
    then = Training(folder, load_settings("tictactoe", changes), game, Silent())
    then.go_on()
    then.close()
    assert then.is_complete
    assert any("000000.onnx is damaged: generation" in line for line in then.watcher.said)
    assert then.counters.best > 0


FILES = ["config.toml", "lock", "metrics.jsonl", "metrics.lost.jsonl", "report.html", "cluster.json"]
FILES += ["checkpoints/000001.json", "checkpoints/000001.safetensors"]
FILES += ["replay/000001.safetensors", "nets/000001.onnx", "games/000001.sgf"]
FOLDERS = ["checkpoints", "replay", "nets", "games", "events"]


def test_a_damaged_net_of_a_run_does_not_play(undisturbed, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(undisturbed, folder)
    game, path = load_game("tictactoe"), max(folder.glob("nets/*.onnx"))
    load_net(str(folder), game)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1  # within the weights: ONNX Runtime takes it as it is
    path.write_bytes(content)
    with pytest.raises(TengenError, match="is damaged: it is not what its run has written"):
        load_net(str(folder), game)


def spoil(path, how, monkeypatch):
    """Puts something else in the place of a file or a folder of a run, or takes the rights to it away."""
    if how == "forbidden":
        return forbid(path, monkeypatch)
    if path.exists():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if how == "a folder":
        return path.mkdir()
    if how == "a named pipe":
        return os.mkfifo(path)
    if how == "a link to itself":
        return path.symlink_to(path)
    return path.write_bytes(b"\xff\xfe\x80 is no text\n")


def forbid(denied, monkeypatch):
    """Nobody may read or write it, nor what is in it: tests may be run by somebody to whom nothing is forbidden."""

    def guarded(function):
        def call(path, *more, **options):
            if isinstance(path, str | os.PathLike) and denied in (Path(path), *Path(path).parents):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return function(path, *more, **options)

        return call

    places = [(io, "open"), *((os, name) for name in ("open", "listdir", "scandir", "mkdir", "unlink", "truncate"))]
    for module, name in places:
        monkeypatch.setattr(module, name, guarded(getattr(module, name)))


@pytest.fixture(scope="module")
def one_generation(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "one"
    train(folder, changes=["run.generations=2", "evaluation.every=1"], seconds=0.001)
    return folder


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *product(FILES, ("a folder", "a named pipe", "a link to itself", "forbidden", "no text")),
        *product(FOLDERS, ("no text", "a named pipe", "a link to itself", "forbidden")),
    ],
)
def test_what_is_wrong_in_a_folder_is_said_in_a_sentence(one_generation, tmp_path, monkeypatch, name, how):
    """The run goes on without it, or ends with a sentence that names it, and nothing of it is lost."""
    folder = tmp_path / "run"
    shutil.copytree(one_generation, folder)
    monkeypatch.setattr("tengen.learn.start.stopped_gently", lambda training, say: contextlib.nullcontext())
    spoil(folder / name, how, monkeypatch)
    signal.signal(signal.SIGALRM, lambda number, frame: pytest.fail("it hangs"))
    signal.alarm(60)
    try:
        train_run("tictactoe", folder, "cpu", None, [*SMALL, "run.generations=2", "evaluation.every=1"])
    except TengenError as reason:
        assert "\n" not in str(reason)
        assert str(folder) in str(reason)
        assert "no generation is saved" not in str(reason)
    else:
        assert (folder / "checkpoints/000002.json").is_file()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def test_a_disk_that_is_full_from_the_beginning_leaves_a_run_that_begins(tmp_path, monkeypatch):
    monkeypatch.setattr("tengen.learn.start.stopped_gently", lambda training, say: contextlib.nullcontext())
    command = "tictactoe", tmp_path / "run", "cpu", 0.0001, SMALL

    def full(path, content):
        if path.suffix == ".onnx":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_file(path, content)

    write_file = disk.write_file
    with monkeypatch.context() as patch:
        patch.setattr(disk, "write_file", full)
        words = r"000000.onnx: No space left on device\. .*no generation is saved yet, and the same command begins anew"
        with pytest.raises(RunError, match=words):
            train_run(*command)
    train_run(*command)
    assert (tmp_path / "run/checkpoints/000001.json").is_file()


def test_a_folder_that_is_deleted_meanwhile_is_not_gone_on_with(tmp_path, monkeypatch):
    folder, learn = tmp_path / "run", Training._learn

    def delete(training, generation, games):
        if generation == 2:
            shutil.rmtree(folder)
        return learn(training, generation, games)

    monkeypatch.setattr(Training, "_learn", delete)
    with pytest.raises(RunError, match="run was moved or deleted while its run went on"):
        train(folder)
    assert not folder.exists()


def test_who_stops_a_run_is_told_what_is_saved(tmp_path):
    settings = load_settings("tictactoe", SMALL)
    training = Training(tmp_path / "run", settings, load_game("tictactoe"), Silent())
    before, told = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}, []
    for seconds in (0.0, 0.001):
        training.go_on(seconds)
        with stopped_gently(training, told.append):
            signal.raise_signal(signal.SIGTERM)
        assert training.is_stopped
        training.is_stopped = False
    training.close()
    assert before == {number: signal.getsignal(number) for number in before}  # a notebook goes on as it was
    assert "no generation is saved yet" in told[0]
    assert "generation 1 is saved, and the same command goes on" in told[1]


def test_a_wrong_opponent_is_told_before_any_work(tmp_path):
    with pytest.raises(BadParameter, match="no agent is called 'utc'; did you mean 'uct'"):
        train(tmp_path / "run", changes=["evaluation.opponent=utc:playouts=10"])
    assert not (tmp_path / "run").exists()


def test_stopping_at_once_keeps_what_was_saved(tmp_path):
    settings = load_settings("tictactoe", SMALL)
    training = Training(tmp_path / "run", settings, load_game("tictactoe"), Silent())
    training.is_stopped = True
    training._generation()
    assert training.counters.generation == 0
    training.close()


def test_a_loss_that_is_no_number_is_not_saved(tmp_path, monkeypatch):
    nan = {"total": math.nan, "value": math.nan, "policy": 1.0, "weights": 0.0, "entropy": 1.0}
    monkeypatch.setattr(Training, "_learn", lambda *arguments: nan)
    with pytest.raises(RunError, match=r"the loss is nan in generation 1.*training.learning_rate"):
        train(tmp_path / "run")
    assert not list(tmp_path.glob("run/checkpoints/*"))


def test_a_run_begins_with_the_weights_of_another_board(tmp_path):
    local = ["net.heads=local", "evaluation.every=0", "run.generations=1"]
    train(tmp_path / "small", changes=local)
    larger = [*SMALL, *local, "run.game=mnk:m=4,n=4,k=3", f"training.start={tmp_path / 'small'}"]
    settings = load_settings("tictactoe", larger)
    started = Training(tmp_path / "large", settings, load_game(settings.run.game), Silent())
    learned = newest(tmp_path / "small")
    for name, weight in started.trainer.model.state_dict().items():
        assert np.array_equal(weight.numpy(), learned[f"model.{name}"])
    started.go_on()
    started.close()
    assert started.counters.generation == 1


@pytest.mark.parametrize("game", ["tictactoe", "mnk:m=4,n=4,k=3"])
def test_a_run_begins_with_a_net(tmp_path, game):
    """It answers as the net does, and nearly so while it learns, where each batch has norms of its own."""
    changes = [*SMALL, "net.heads=local", "evaluation.every=0", "run.generations=4"]
    train(tmp_path / "first", changes=changes)
    net = max(tmp_path.glob("first/nets/*.onnx"))
    settings = load_settings("tictactoe", [*changes, f"run.game={game}", f"training.start={net}"])
    started = Training(tmp_path / "second", settings, load_game(game), Silent())
    model = started.trainer.model.eval()
    planes = typical_planes(started.game, model, seed=2)
    with torch.no_grad():
        logits, values = model(planes)
        learning = model.train()(planes)[0]
    assert (learning - logits).abs().mean() < 0.1 * logits.std()
    if game == "tictactoe":
        asked = load_net(str(net), started.game)(planes.flatten(2).numpy())
        assert np.allclose(asked[0], logits, atol=1e-4)
        assert np.allclose(asked[1], values, atol=1e-4)
    started.go_on(0.001)
    started.close()


def test_a_run_begins_with_a_net_that_comes_along(tmp_path):
    """Its weights are kept as float16."""
    settings = load_settings("tictactoe", [*SMALL[5:], "training.start=tictactoe", "run.generations=1"])
    started = Training(tmp_path / "run", settings, load_game("tictactoe"), Silent())
    planes = typical_planes(started.game, started.trainer.model.eval())
    with torch.no_grad():
        logits, values = started.trainer.model(planes)
    asked = load_net("tictactoe", started.game)(planes.flatten(2).numpy())
    assert np.allclose(asked[0], logits, atol=1e-3)
    assert np.allclose(asked[1], values, atol=1e-3)
    started.close()


@pytest.mark.parametrize("start", ["go9", "gomoku9"])
def test_a_run_cannot_begin_with_a_net_that_does_not_fit(tmp_path, start):
    with pytest.raises(BadParameter, match="it was shown" if start == "go9" else "not of this form"):
        train(tmp_path / "run", changes=[f"training.start={start}"])


@pytest.mark.parametrize("where", ["nowhere", "dense"])
def test_a_run_cannot_begin_with_weights_of_another_form(tmp_path, where):
    changes = ["evaluation.every=0", "run.generations=1"]
    train(tmp_path / "dense", changes=changes)
    with pytest.raises(TengenError, match="nor a file or a run folder" if where == "nowhere" else "not of this form"):
        train(tmp_path / "run", changes=[*changes, "net.heads=local", f"training.start={tmp_path / where}"])
    train(tmp_path / "run", changes=changes)  # what could not begin binds nobody


def test_truth():
    game = load_game("tictactoe")
    truth = truth_of(game)
    assert len(truth.positions) == 4520
    assert truth.values[game.start().key] == 0
    assert truth_of(load_game("connect4")) is None
    assert truth_of(load_game("go:size=3")) is None

    class Blind:
        """Likes the last cell best, whatever stands on the board."""

        def __call__(self, planes):
            logits = np.tile(np.arange(9, dtype=np.float32), (len(planes), 1))
            return logits, np.zeros(len(planes), np.float32)

    worse, losing = truth.mistakes(game, Blind(), 1, 1.5)
    assert worse > losing > 100
    assert truth.mistakes(game, Uniform(game), 2000, 1.5) == (0, 0)


def test_an_end_names_the_report_only_if_there_is_one(tmp_path):
    settings = load_settings("tictactoe", SMALL)
    training = Training(tmp_path / "run", settings, load_game(settings.run.game), Silent())
    told: list[str] = []
    say_end(training, tmp_path / "run", told.append)
    training.go_on(0.01)
    say_end(training, tmp_path / "run", told.append)
    training.close()
    assert told[0].endswith("of 12; no generation is saved yet, and the same command begins anew.")
    assert "of 12; generation 1 is saved, and the same command goes on from there. Report: " in told[1]
    shutil.rmtree(tmp_path / "run")
    say_end(training, tmp_path / "run", told.append)
    assert told[2].endswith("run was moved or deleted, and what was saved with it.")
