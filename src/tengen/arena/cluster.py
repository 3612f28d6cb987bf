"""Games on many machines: a game is a task of a Ray cluster, and what a machine that dies was playing is played again.

A task hands its game to a process of our own (workers.py), which stays for the next one: so an agent that dies or hangs
loses its game here as it does on one machine, and a machine that dies costs nobody anything.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tengen import __version__
from tengen.arena.workers import Pairing, Worker
from tengen.records.record import Record
from tengen.rules.errors import TengenError

LOSSES = 20  # of machines, in one and the same game: then it is the game that kills them
GLANCE = 1.0  # seconds between two looks for machines that have joined
PATIENCE = 5.0  # seconds for a cluster to answer
LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"  # 0: Ray uses the loopback address, as on those two it always does
TOKENS = (2, 52)  # the first version of Ray that asks for tokens


class ClusterError(TengenError):
    """A cluster that cannot be used, or not any more."""


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Connected to a Ray cluster: `auto` is the one that this machine belongs to, `local` one of this machine alone."""
    check_reachable(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
    with secluded() if address == "local" else nullcontext():
        ray = imported()
        mine = {"include_dashboard": False} if address == "local" else {}
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", **mine)
        except (ConnectionError, ValueError, RuntimeError) as reason:
            raise unanswered(address, str(reason).strip().partition("\n")[0]) from reason
        try:
            yield
        finally:
            ray.shutdown()


@contextmanager
def secluded() -> Iterator[None]:
    """What Ray begins inside listens on 127.0.0.1 alone, and answers those who show a token of this user's.

    By itself it listens on all addresses. What is set here it reads when it is imported, and its workers inherit it.
    """
    if "ray" in sys.modules:
        raise ClusterError("a cluster of this machine alone is begun before Ray is imported: by the command line")
    with TemporaryDirectory(prefix="tengen-cluster-") as folder:  # nobody else may look inside
        token = Path(folder) / "token"
        token.touch(0o600)
        token.write_text(secrets.token_hex(32), encoding="ascii")
        os.environ.pop("RAY_AUTH_TOKEN", None)  # it would be taken instead
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token), LOOPBACK: "0"}
        there = imported().__version__
        if tuple(map(int, there.split(".")[:2])) < TOKENS:
            raise ClusterError(f"a cluster of this machine alone needs Ray 2.52, which knows tokens; this is {there}")
        yield


def check_reachable(address: str) -> None:
    """Refuses an address where nothing answers; Ray itself would try for minutes."""
    if address in ("auto", "local"):
        return
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or "/" in host:
        raise ClusterError(f"{address!r} is no address of a Ray cluster: write auto, local, or HOST:6379")
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except (OSError, OverflowError) as reason:
        raise unanswered(address, str(reason)) from reason


def unanswered(address: str, reason: str) -> ClusterError:
    return ClusterError(
        f"no Ray cluster answers at {address!r} ({reason}). Begin one with `ray start --head`, join it from others "
        "with `ray start --address HOST:6379`; if it asks for a token, RAY_AUTH_MODE and the token are needed here, "
        "too. See docs/scaling.md"
    )


def imported() -> Any:
    """The module ray; raises ClusterError if it is not installed."""
    try:
        import ray
    except ModuleNotFoundError as reason:
        raise ClusterError(f"a cluster needs {reason.name}: pip install 'tengen[distributed]'") from reason
    return ray


def check_version(wanted: str, folder: str) -> None:
    """Refuses another version than the driver's; changes to the driver's folder if there is one of that name."""
    own = __version__
    if own != wanted:
        raise ClusterError(f"this machine has Tengen {own}, and the command runs with {wanted}: install the same")
    with suppress(OSError):
        os.chdir(folder)


@cache
def process() -> Worker:
    """The worker process for a core of this machine; it ends with this process."""
    return Worker()


def play_here(pairing: Pairing, wanted: str, folder: str) -> Record:
    """The body of a task: plays one game."""
    check_version(wanted, folder)
    return process().play(pairing)


def play_on_cluster(todo: Iterator[Pairing], workers: int | None = None) -> Iterator[tuple[Pairing, Record]]:
    """Plays games on all cores of the cluster, or `workers` at once, and yields them as they end.

    Machines may join and leave. A game is yielded once, whatever happens to those who play it.
    """
    ray = imported()
    task = ray.remote(num_cpus=1, max_retries=LOSSES)(play_here)
    playing: dict[Any, Pairing] = {}
    try:
        while True:
            room = (workers or max(1, int(ray.cluster_resources().get("CPU", 0)))) - len(playing)
            for _, pairing in zip(range(room), todo, strict=False):
                playing[task.remote(pairing, __version__, str(Path.cwd()))] = pairing
            if not playing:
                return
            ready, _ = ray.wait(list(playing), timeout=GLANCE)
            for reference in ready:
                pairing = playing.pop(reference)
                yield pairing, record_of(reference, pairing)
    finally:
        for reference in playing:
            ray.cancel(reference, force=True)


def record_of(reference: Any, pairing: Pairing) -> Record:
    """The record of a game that has ended; raises ClusterError if machines die with it again and again."""
    ray = imported()
    try:
        record: Record = ray.get(reference)
    except ray.exceptions.RayTaskError as reason:
        raise ClusterError(f"game {pairing.number} failed on another machine: {reason.cause or reason}") from reason
    except ray.exceptions.RayError as reason:
        raise ClusterError(
            f"game {pairing.number} ({pairing.names[0]} – {pairing.names[1]}) was lost with its machine {LOSSES} times"
        ) from reason
    return record
