"""Tournaments on a cluster of small machines: the games of a local one, whoever dies."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytest.importorskip("ray")
from ray_cluster import machines

from tengen import load_game
from tengen.arena.cluster import ClusterError, connected, play_on_cluster
from tengen.arena.tournament import Tournament, play_tournament
from tengen.arena.workers import Pairing
from tengen.records.store import Store

GAME = load_game("tictactoe")


@pytest.fixture(scope="module")
def cluster():
    with machines() as found:
        yield found


def moves_of(results):
    return {number: record.moves for number, record in results.games.items()}


def test_a_cluster_plays_the_games_of_one_machine(cluster):
    cluster.set(2)
    plan = Tournament.of(GAME, ("uct:playouts=30", "random", "random:seed=5"))
    there = play_tournament(plan, 6, play=play_on_cluster)
    assert moves_of(there) == moves_of(play_tournament(plan, 6, workers=0))


def test_a_machine_that_dies_costs_nobody_a_game(cluster, tmp_path):
    cluster.set(2)
    plan = Tournament.of(GAME, ("uct:time=0.05", "random"))
    seen, killed = [], threading.Event()

    def count(results, fresh):
        seen.append(len(results.games))
        if len(results.games) == 4:
            cluster.kill(cluster.nodes[0])
            cluster.add()
            killed.set()
        return True

    with Store(tmp_path / "games.db") as store:
        results = play_tournament(plan, 24, store, progress=count, play=play_on_cluster)
        stored = list(store.games())
    assert killed.is_set()
    assert seen == list(range(25))
    assert sorted(game.number for game in stored) == list(range(24))
    assert not any(record.ending for record in results.games.values())


def test_an_agent_that_hangs_loses_there_as_it_does_here(cluster, tmp_path):
    cluster.set(1)
    engine = tmp_path / "sleeper.py"
    engine.write_text("import time\nwhile True: time.sleep(1000)\n")
    pairing = Pairing(
        number=0,
        game="tictactoe",
        agents=(f"gtp:{sys.executable} {engine}", "random"),
        names=("sleeper", "random"),
        opening=(),
        seeds=(1, 2),
        move_time=0.5,
    )
    ((_, record),) = play_on_cluster(iter([pairing]))
    assert record.result == "W+F"
    assert "sleeper" in record.ending


def test_a_mistake_on_another_machine_is_told(cluster):
    pairing = Pairing(0, "no-such-game", ("random", "random"), ("random", "random"), (), (1, 2))
    with pytest.raises(ClusterError, match="game 0 failed on another machine"):
        list(play_on_cluster(iter([pairing])))


ALONE = """
import json, os, stat, subprocess, sys
import psutil
from tengen.arena.cluster import connected, play_on_cluster
from tengen.arena.workers import Pairing

with connected("local"):
    pairing = Pairing(0, "tictactoe", ("random", "random"), ("one", "other"), (), (1, 2))
    ((_, record),) = play_on_cluster(iter([pairing]), 1)
    own, token = psutil.Process(), os.environ["RAY_AUTH_TOKEN_PATH"]
    sockets = [one for each in [own, *own.children(recursive=True)] for one in each.net_connections("inet")]
    import ray
    program = f"import ray; ray.init({ray.get_runtime_context().gcs_address!r}); print('inside')"
    environment = os.environ | {"RAY_AUTH_MODE": "disabled", "RAY_NUM_REDIS_GET_RETRIES": "1"}
    stranger = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    print(json.dumps({
        "moves": record.moves,
        "listening": sorted({one.laddr.ip for one in sockets if one.status == psutil.CONN_LISTEN}),
        "modes": [stat.S_IMODE(os.stat(path).st_mode) for path in (token, os.path.dirname(token))],
        "token": token,
        "stranger": stranger.stdout + stranger.stderr,
    }))
"""


def test_a_cluster_of_one_machine_is_for_its_user_alone():
    """Nothing listens but on the loopback address, and who shows no token is refused."""
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found["moves"]) >= 5
    assert found["listening"]
    assert {ip.removeprefix("::ffff:") for ip in found["listening"]} == {"127.0.0.1"}
    assert found["modes"] == [0o600, 0o700]
    assert not Path(found["token"]).parent.exists()
    assert "inside" not in found["stranger"].splitlines()
    assert "token is missing or incorrect" in found["stranger"]
    with pytest.raises(ClusterError, match="begun before Ray is imported"), connected("local"):
        pass


def test_tournament_on_the_command_line(cluster, tmp_path):
    cluster.set(2)
    command = [sys.executable, "-m", "tengen", "tournament", "tictactoe", "uct:playouts=20", "random", "--games", "6"]
    command += ["--out", str(tmp_path / "out"), "--json", "--cluster", cluster.address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert sum(player["games"] for player in answer["players"]) == 12
    assert (tmp_path / "out" / "report.html").exists()
    again = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert json.loads(again.stdout.splitlines()[-1]) == answer  # nothing is played again
