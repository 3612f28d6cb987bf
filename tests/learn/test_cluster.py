"""Training on a cluster of small machines: what it leaves, what it survives, and that nothing is counted twice."""

import hashlib
import json
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
import ray
import ray.cloudpickle
from ray.exceptions import ObjectStoreFullError
from ray_cluster import machines
from safetensors.numpy import load_file
from silent import Silent

from tengen import __version__
from tengen.arena.cluster import ClusterError, connected
from tengen.games import load_game
from tengen.learn.cluster import driver
from tengen.learn.cluster.driver import ClusterTraining
from tengen.learn.cluster.pool import LEAST, WorkerPool
from tengen.learn.cluster.worker import Post, SelfPlayWorker, Slice, Weights
from tengen.learn.run import RunError
from tengen.learn.selfplay import Games
from tengen.learn.settings import load_settings
from tengen.learn.training import Training
from tengen.rules.errors import TengenError

ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a file of tests
PATIENCE = 120
SMALL = [
    "run.groups=2",
    "run.generations=6",
    "net.blocks=1",
    "net.channels=8",
    "selfplay.games=8",
    "selfplay.positions=200",
    "selfplay.simulations=8",
    "training.batch=64",
    "training.window=1500",
    "evaluation.every=6",
    "evaluation.games=2",
    "evaluation.simulations=4",
    "evaluation.opponent=uct:playouts=10",
    "evaluation.exact=false",
]


@pytest.fixture(scope="module")
def cluster():
    with machines() as found:
        yield found


def settings(*changes):
    return load_settings("tictactoe", [*SMALL, *changes])


@contextmanager
def opened(folder, *changes, **options):
    training = ClusterTraining(folder, settings(*changes), load_game("tictactoe"), Silent(), **options)
    try:
        yield training
    finally:
        training.close()


def metrics_of(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def kinds_of_files(folder):
    files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {(path.parts[0], "" if path.parts[0] == "events" else path.suffix) for path in files}


def until(is_so):
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


# Whole runs.


def test_a_run_leaves_the_folder_of_a_local_one_and_each_goes_on_with_the_others(cluster, tmp_path):
    cluster.set(2)
    folder, local = tmp_path / "cluster", tmp_path / "local"
    here = Training(local, settings(), load_game("tictactoe"), Silent())
    here.go_on()
    here.close()
    with opened(folder) as there:
        there.go_on(seconds=0.001)  # a generation
    then = Training(folder, settings(), load_game("tictactoe"), Silent())
    assert then.counters.generation == 1
    then.go_on(seconds=0.001)
    then.close()
    with opened(folder) as again:
        assert again.counters.generation == 2
        again.go_on()
        assert again.is_complete
    assert kinds_of_files(folder) == kinds_of_files(local)
    lines = metrics_of(folder)
    assert [line["generation"] for line in lines] == list(range(1, 7))
    assert set(lines[-1]) - set(metrics_of(local)[-1]) == {"cluster"}
    assert lines[-1]["cluster"]["workers"] == 2
    assert lines[-1]["cluster"]["weight_age"] > 0
    assert all(later["step"] > earlier["step"] for earlier, later in pairwise(lines))


class Accounts:
    """What workers say that they have played, beside what the learner was given."""

    def __init__(self, folder, training):
        self.folder, self.taken, self.training = folder, [], training
        harvest = training.pool.harvest

        def recorded(*arguments):
            found = harvest(*arguments)
            self.taken.append([(slice.worker, slice.number, *metadata_of(slice)) for slice in found.slices])
            return found

        training.pool.harvest = recorded

    def check(self):
        """Every slice that was taken was played, and taken once; every slice that was handed out is accounted for."""
        played = {}
        for path in self.folder.glob("*.jsonl"):
            for line in path.read_text().splitlines():
                worker, number, *facts = json.loads(line)
                assert (worker, number) not in played
                played[worker, number] = facts
        generations = self.taken[: self.training.counters.generation]
        taken = [entry for generation in generations for entry in generation]
        assert len({entry[:2] for entry in taken}) == len(taken)
        for worker, number, *facts in taken:
            assert played[worker, number] == facts
        assert self.training.counters.games == sum(games for _, _, games, _ in taken)
        for path in self.training.run.folder.glob("replay/*.safetensors"):
            saved = Games(**load_file(path))
            assert len(saved.lengths) == sum(games for _, _, games, _ in generations[int(path.stem) - 1])
        pool = self.training.pool
        under_way = pool.standing()["in_flight"] + len(pool.waiting)
        assert pool.ledger.handed == pool.ledger.taken + pool.ledger.lost + pool.ledger.late + under_way
        assert pool.ledger.taken == sum(map(len, self.taken))


def metadata_of(slice):
    return len(slice.games.lengths), hashlib.sha256(slice.games.moves.tobytes()).hexdigest()


def journalling(folder):
    """Workers that write down what they have played before they hand it in."""

    class Journalling(SelfPlayWorker):
        def play(self, number, weights, positions):
            found = super().play(number, weights, positions)
            with (folder / f"{self.name}.jsonl").open("a") as file:
                print(json.dumps([found.worker, found.number, *metadata_of(found)]), file=file)
            return found

    return Journalling


def run_with_kills(cluster, folder, kills, generations):
    """A run during which machines are killed at random moments, and others join."""
    cluster.set(2)
    (folder / "journal").mkdir()
    longer = f"run.generations={generations}", "evaluation.every=0", "selfplay.simulations=32", "training.samples=1"
    rng, done, killed = random.Random(7), threading.Event(), 0
    with opened(folder / "run", *longer, kind=journalling(folder / "journal")) as training:
        accounts = Accounts(folder / "journal", training)

        def play():
            training.go_on()
            done.set()

        player = threading.Thread(target=play)
        player.start()
        while killed < kills and not done.is_set():
            time.sleep(rng.random() * 2)
            cluster.kill(rng.choice(cluster.nodes))
            killed += 1
            cluster.add()
        player.join(1800)
        assert done.is_set()
        training.pool.close()
        accounts.check()
        assert training.is_complete
        assert killed == kills
        assert training.pool.ledger.lost > 0


def test_machines_are_killed_and_every_game_is_accounted_for(cluster, tmp_path):
    run_with_kills(cluster, tmp_path, kills=2, generations=40)


@pytest.mark.long
def test_machines_are_killed_twenty_times(cluster, tmp_path):
    run_with_kills(cluster, tmp_path, kills=20, generations=600)


@pytest.mark.long
def test_a_cluster_learns_what_a_local_run_learns(cluster, tmp_path):
    """The same budget, four seeds: in what share of all positions does it err? The difference may be chance."""
    cluster.set(2)
    found = {True: [], False: []}
    for seed in range(1, 5):
        own = load_settings(
            "tictactoe", ["run.generations=20", f"run.seed={seed}", "run.groups=2", "evaluation.every=1000"]
        )
        for is_there in (True, False):
            folder = tmp_path / f"{is_there}{seed}"
            training = (ClusterTraining if is_there else Training)(folder, own, load_game("tictactoe"), Silent())
            training.go_on()
            training.close()
            found[is_there].append(metrics_of(folder)[-1]["mistakes"])
    there, here = np.array(found[True]), np.array(found[False])
    difference = there.mean() - here.mean()
    reach = 3.7 * np.sqrt((there.var(ddof=1) + here.var(ddof=1)) / 4)  # Student, 6 degrees of freedom, 99%
    assert abs(difference) <= reach, found
    assert there.mean() < 2 * here.mean() + 0.02, found


def test_a_driver_that_is_killed_goes_on_where_it_had_saved(cluster, tmp_path):
    cluster.set(2)
    folder = tmp_path / "run"
    changes = [f"--set={change}" for change in [*SMALL, "run.generations=30", "evaluation.every=0"]]
    command = [sys.executable, "-m", "tengen", "train", "tictactoe", "--run", str(folder), "--cluster", cluster.address]
    process = subprocess.Popen([*command, *changes], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    until(lambda: len(list(folder.glob("checkpoints/*.json"))) >= 2 or process.poll() is not None)
    assert process.poll() is None
    process.kill()
    assert process.wait() == -signal.SIGKILL
    done = subprocess.run([*command, *changes], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert "going on after generation" in done.stdout
    assert "complete" in done.stdout
    lines = metrics_of(folder)
    assert [line["generation"] for line in lines] == list(range(1, 31))
    for before, line in pairwise(lines):
        saved = folder / f"replay/{line['generation']:06}.safetensors"
        if saved.exists():
            assert line["games"] - before["games"] == len(load_file(saved)["lengths"])
    assert not (folder / driver.STATUS_FILE).exists()


def test_learners_that_share_a_batch_hold_the_same_weights(cluster, tmp_path):
    cluster.set(1)
    with opened(tmp_path / "start", "run.generations=1", "evaluation.every=0") as training:
        training.go_on()
    start = f"training.start={tmp_path / 'start'}"
    with opened(tmp_path / "run", "run.generations=2", "evaluation.every=0", start, learners=2) as training:
        training.go_on()
        assert training.is_complete
        trainer, (other,) = training.trainer, training.learners.others
        first, then = (trainer.train(training.replay, 40, 0.003, [seed], lambda: False) for seed in (1, 2))
        assert then["total"] < first["total"]
        own, others = trainer.save(), ray.get(other.save.remote())
        assert own.keys() == others.keys()
        for name, array in own.items():
            if "norm.running" not in name:  # each sees its own half of a batch; the first one's are kept
                assert np.array_equal(array, others[name]), name
        ray.kill(other)
        with pytest.raises(RunError, match="a learner was lost"):
            trainer.train(training.replay, 1, 0.001, [1], lambda: False)


# What workers do wrong.


class Slow(SelfPlayWorker):
    """The first to begin is a machine that hardly gets anywhere."""

    def play(self, number, weights, positions):
        if self.name.endswith(" 1"):
            time.sleep(600)
        return super().play(number, weights, positions)


def test_nobody_waits_for_a_slow_machine(cluster, tmp_path):
    cluster.set(2)
    with opened(tmp_path / "run", "evaluation.every=0", kind=Slow) as training:
        training.go_on()
        assert training.is_complete
        games = {worker["name"].rpartition(" ")[2]: worker["games"] for worker in training.pool.standing()["workers"]}
    assert games["1"] == 0
    assert games["2"] > 0


class Full(SelfPlayWorker):
    """The first two find the object store full at their second slice: one of them must come to it."""

    def play(self, number, weights, positions):
        if self.name.endswith((" 1", " 2")) and number == 2:
            raise ObjectStoreFullError("there is no room")
        return super().play(number, weights, positions)


class AlwaysFull(SelfPlayWorker):
    def play(self, number, weights, positions):
        raise ObjectStoreFullError("there is no room")


class Unable(SelfPlayWorker):
    def __init__(self, name, post):
        super().__init__(name, post._replace(version="another"))


def test_a_full_store_costs_slices_not_the_run(cluster, tmp_path, monkeypatch):
    cluster.set(2)
    put, refused = ray.put, []

    def refuse(value):
        if isinstance(value, bytes) and len(refused) < 2:
            refused.append(len(value))
            raise ObjectStoreFullError("there is no room")
        return put(value)

    monkeypatch.setattr(driver.ray, "put", refuse)
    with opened(tmp_path / "run", "evaluation.every=0", "run.generations=4", kind=Full) as training:
        training.go_on()
        assert training.is_complete
    said = training.watcher.said
    assert sum("the object store does not take the net of generation 0" in line for line in said) == 1
    assert len(refused) == 2
    assert any("a worker on" in line and "there is no room" in line for line in said)


@pytest.mark.parametrize(("kind", "words"), [(AlwaysFull, "there is no room"), (Unable, "this machine has Tengen")])
def test_workers_that_only_fail_end_the_run_with_their_reason(cluster, tmp_path, monkeypatch, kind, words):
    cluster.set(2)
    monkeypatch.setattr("tengen.learn.cluster.pool.LOOK", 0.05)
    monkeypatch.setattr("tengen.learn.cluster.pool.MOST_FAILURES", 3)
    again = pytest.raises(ClusterError, match=f"workers fail again and again.*{words}")
    with opened(tmp_path / "run", kind=kind) as training, again:
        training.go_on()


# The pool by itself, with workers that sleep.


class Sleeper:
    """Hands in games of one move, after a nap."""

    def __init__(self, name, post):
        self.name = name

    def play(self, number, weights, positions):
        time.sleep(0.02)
        positions = min(positions, 500)
        games = Games(
            np.ones(positions, np.int32),
            np.zeros(positions, np.int8),
            np.zeros(positions, np.int16),
            np.ones((positions, 9), np.float16),
        )
        return Slice(self.name, number, weights.generation, weights.step, games, positions, 0.02)


@contextmanager
def sleeping_crew(positions=1000):
    own = settings()
    pool = WorkerPool(
        lambda device, number: Post(own, device, "cpu", number, __version__, "."), positions, kind=Sleeper
    )
    pool.announce(Weights(0, 0, {"cpu": [None]}), 0)
    pool.begin()
    try:
        yield pool
    finally:
        pool.close()


def test_workers_pause_when_the_learner_has_enough(cluster):
    cluster.set(2)
    with sleeping_crew() as pool:
        until(lambda: pool.waiting_positions >= pool.positions and pool.standing()["in_flight"] == 0)
        handed, most = pool.ledger.handed, pool.positions + 2 * max(pool.positions // 2, LEAST * 8)
        time.sleep(0.3)
        assert pool.ledger.handed == handed  # nothing more is handed out
        assert pool.waiting_positions <= most
        pool.harvest(1000, 0, lambda: False)
        until(lambda: pool.ledger.handed > handed)  # now they go on


def test_what_old_weights_played_is_dropped(cluster):
    cluster.set(1)
    with sleeping_crew() as pool:
        until(lambda: pool.waiting_positions >= pool.positions)
        pool.announce(Weights(5, 50, {"cpu": [None]}), 0)
        slices, _ = pool.harvest(500, 4, lambda: False)
        assert {slice.generation for slice in slices} == {5}
        assert pool.ledger.late > 0
        until(lambda: pool.waiting_positions >= pool.positions)
        slices, _ = pool.harvest(500, 6, lambda: False)  # the weights of 5 play generation 6
        assert {slice.generation for slice in slices} == {5}


def test_machines_that_join_play_along(cluster):
    cluster.set(1)
    with sleeping_crew(10**9) as pool:
        until(lambda: len(pool.members) == 1)
        node = cluster.add(cores=2)
        until(lambda: sum(worker["games"] > 0 for worker in pool.standing()["workers"]) == 3)
        cluster.kill(node)
        until(lambda: len(pool.members) == 1)
        assert pool.ledger.lost >= 2  # or more: one may begin on a machine that is not yet known to be dead


def test_a_cluster_that_does_not_answer(monkeypatch):
    monkeypatch.setattr(ray, "init", lambda **options: (_ for _ in ()).throw(ConnectionError("nobody is there")))
    words = r"no Ray cluster answers at 'auto' \(nobody is there\).*ray start --head"
    with pytest.raises(TengenError, match=words), connected("auto"):
        pass


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("nonsense", "is no address of a Ray cluster"),
        ("ray://here:10001", "is no address of a Ray cluster"),
        ("127.0.0.1:1", "no Ray cluster answers at .*Connection refused"),
        ("127.0.0.1:99999", "no Ray cluster answers"),
    ],
)
def test_a_wrong_address_is_told_at_once(address, words):
    with pytest.raises(TengenError, match=words), connected(address):
        pass
