"""A Ray cluster for tests: machines are processes of this one, small, and gone afterwards."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psutil
import ray
from processes import await_so
from ray.cluster_utils import Cluster

STORE = 100 * 2**20  # bytes of each machine's object store
PATIENCE = 60.0
QUICK = {
    "health_check_period_ms": 500,  # it is soon seen that a machine has died, which refuses to be asked
    "health_check_failure_threshold": 4,
    "health_check_timeout_ms": 60_000,  # one that is busy may take its time to answer
    "worker_niceness": 0,  # and workers get on while others work on this machine
}


class Machines:
    """A head without cores, and machines that come and go."""

    def __init__(self) -> None:
        head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False, "_system_config": QUICK}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.nodes: list[Any] = []

    @property
    def address(self) -> str:
        return self.cluster.address

    def add(self, cores: int = 1, **more: Any) -> Any:
        self.nodes.append(self.cluster.add_node(num_cpus=cores, object_store_memory=STORE, **more))
        return self.nodes[-1]

    def kill(self, node: Any) -> None:
        """As a power failure would."""
        self.nodes.remove(node)
        self.cluster.remove_node(node, allow_graceful=False)

    def set(self, count: int) -> None:
        """Exactly so many machines, of one core each; Ray knows of all that have died."""
        while len(self.nodes) > count:
            self.kill(self.nodes[-1])
        while len(self.nodes) < count:
            self.add()
        await_so(lambda: sum(node["Alive"] for node in ray.nodes()) == count + 1)


@contextmanager
def machines() -> Iterator[Machines]:
    """A cluster to which this process is connected; nothing of it is left behind."""
    before = ray_processes()
    found = Machines()
    ray.init(address=found.address, log_to_driver=False, logging_level="ERROR")
    try:
        yield found
    finally:
        ray.shutdown()
        found.cluster.shutdown()
        end = time.monotonic() + PATIENCE
        while (left := ray_processes() - before) and time.monotonic() < end:
            time.sleep(0.2)
        assert not left, f"Ray left processes behind: {left}"


def ray_processes() -> set[int]:
    """Processes below this one that are Ray's."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "ray" in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                found.add(process.pid)
    return found
