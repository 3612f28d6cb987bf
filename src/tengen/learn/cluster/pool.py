"""The workers of a cluster as the driver sees them: who is there, what each plays, and what has come in.

A thread of its own looks after them, so that self-play goes on while the driver learns. Every slice that is handed out
ends in one of three ways, and is counted once: it comes in, it is lost with its worker, or it comes too late for the
replay and is dropped. Nobody waits for a slow worker: a generation takes whatever comes in first.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from tengen.arena.cluster import ClusterError
from tengen.learn.cluster.worker import Post, SelfPlayWorker, Slice, Weights

LOOK = 1.0  # seconds between two looks at which machines are there
GLANCE = 0.1  # seconds that the thread waits for slices at a time
PARTS = 2  # slices of each worker in a generation: so many chances to take newer weights
LEAST = 4  # positions for each game side by side in a slice: a search that new weights cut off is wasted
MOST_FAILURES = 8  # in a row, and twice at every place where workers fail: then it is no accident
PATIENCE = 120.0  # seconds without a slice, until that is told
LONGEST_PAUSE = 64.0  # seconds before a place where workers fail is tried again

Place = tuple[str, str, int]  # a machine, a device, and which core or GPU of it


@dataclass
class Member:
    """A worker: where it is, what it plays now, what it has done."""

    name: str
    host: str
    place: Place
    rows: int
    actor: Any
    task: Any = None  # the slice that it plays
    handed: int = 0  # slices
    games: int = 0
    positions: int = 0
    seconds: float = 0.0  # of playing
    generation: int = 0  # of the weights of its last slice
    step: int = 0
    last_seen: float = field(default_factory=time.monotonic)


@dataclass
class Ledger:
    """What became of every slice: handed = in flight + taken + waiting + lost + late."""

    handed: int = 0
    taken: int = 0  # by the learner
    lost: int = 0  # with a worker
    late: int = 0  # too old for the replay
    received: int = 0  # bytes of slices that came in
    sent: int = 0  # bytes of weights, a copy for each machine


class Harvest(NamedTuple):
    """Slices that a generation is made of."""

    slices: list[Slice]
    seconds: float  # since the last harvest


class WorkerPool:
    """All workers of a cluster."""

    def __init__(
        self,
        posts: Callable[[str, int], Post],
        positions: int,
        say: Callable[[str], None] = print,
        devices: tuple[str, ...] = ("cpu", "cuda"),
        kind: type = SelfPlayWorker,
    ):
        """`posts(device, number)` is the post of a new worker; `positions` are those of a generation."""
        self.posts, self.positions, self.say, self.devices, self.kind = posts, positions, say, devices, kind
        self.members: dict[Place, Member] = {}
        self.waiting: deque[Slice] = deque()  # for the learner
        self.waiting_positions = 0
        self.ledger = Ledger()
        self.weights: Weights | None = None
        self.oldest = 0  # generation whose games the replay holds: what older weights played is late
        self.reserved: Counter[str] = Counter()  # GPUs of each machine that learn
        self.change = threading.Condition(threading.RLock())
        self._begun = self._failures = 0
        self._problem = ""
        self._pauses: dict[Place, tuple[float, float]] = {}  # where workers fail: how long to wait, and until when
        self._looked = self._harvested = 0.0
        self._is_alone = self._is_quiet = self._is_closing = False
        self._broken: BaseException | None = None
        self._thread = threading.Thread(target=self._tend, name="pool", daemon=True)

    def begin(self) -> None:
        self._harvested = time.monotonic()
        self._thread.start()

    def close(self) -> None:
        """Ends all workers; what they were playing is lost."""
        with self.change:
            self._is_closing = True
        if self._thread.ident is not None:
            self._thread.join()
        for member in list(self.members.values()):
            self._dismiss(member)

    def announce(self, weights: Weights, size: int) -> None:
        """From now on slices are played with these weights."""
        with self.change:
            self.weights = weights
            self.ledger.sent += size * len({member.place[0] for member in self.members.values()})

    def harvest(self, positions: int, oldest: int, is_stopped: Callable[[], bool]) -> Harvest:
        """Waits for `positions` positions and returns the slices that came first; fewer if `is_stopped()`.

        What weights before generation `oldest` − 1 played would be out of the replay by now, and is dropped.
        """
        with self.change:
            self.oldest = oldest
            self._drop_late()
            while not is_stopped() and self.waiting_positions < positions:
                if self._broken is not None:
                    raise self._broken
                self.change.wait(GLANCE)
            slices, count = list[Slice](), 0
            while self.waiting and count < positions:
                slices.append(self.waiting.popleft())
                count += slices[-1].positions
            self.waiting_positions -= count
            self.ledger.taken += len(slices)
            self._hand_out()
            began, self._harvested = self._harvested, time.monotonic()
            return Harvest(slices, self._harvested - began)

    # The thread.

    def _tend(self) -> None:
        try:
            while not self._is_closing:
                if time.monotonic() - self._looked > LOOK:
                    self._recruit()
                    self._looked = time.monotonic()
                with self.change:
                    self._hand_out()
                self._gather()
        except Exception as reason:
            with self.change:
                is_told = isinstance(reason, ClusterError)
                self._broken = reason if is_told else ClusterError(f"the cluster failed: {reason}")
                self.change.notify_all()

    def _recruit(self) -> None:
        """A worker for every core and every GPU that has none; those of machines that have left are let go."""
        nodes = {node["NodeID"]: node for node in ray.nodes() if node["Alive"]}
        with self.change:
            for place in self._places(nodes):
                if place not in self.members and self._pauses.get(place, (0.0, 0.0))[1] <= time.monotonic():
                    self.members[place] = self._employ(place, nodes[place[0]])
            if not self.members and not self._is_alone and not self._problem:
                self.say("no machine of the cluster has a core or a GPU to play on: waiting for one to join")
            self._is_alone = not self.members
            self._listen()

    def _listen(self) -> None:
        """Says so, once, if all who play have been silent for long."""
        playing = [member.last_seen for member in self.members.values() if member.task is not None]
        if playing and time.monotonic() - max(playing) > PATIENCE and not self._is_quiet:
            self.say(f"no worker was heard of for {PATIENCE:g} s: are the cluster's cores taken by other work?")
            self._is_quiet = True

    def _places(self, nodes: dict[str, Any]) -> list[Place]:
        places: list[Place] = []
        for number, node in nodes.items():
            cores, gpus = (int(node["Resources"].get(kind, 0)) for kind in ("CPU", "GPU"))
            gpus = gpus - self.reserved[number] if "cuda" in self.devices else 0
            places += [(number, "cuda", i) for i in range(gpus)]
            places += [(number, "cpu", i) for i in range(cores - gpus) if "cpu" in self.devices]
        return places

    def _employ(self, place: Place, node: dict[str, Any]) -> Member:
        """Begins a worker. Ray holds its first slice back until there is room for it."""
        number, device, _ = place
        self._begun += 1
        post, host = self.posts(device, self._begun), str(node["NodeManagerHostname"])
        has_core = device == "cpu" or node["Resources"].get("CPU", 0) >= node["Resources"].get("GPU", 0)
        actor: Any = ray.remote(self.kind).options(
            num_cpus=1 if has_core else 0,
            num_gpus=1 if device == "cuda" else 0,
            max_restarts=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(number, soft=False),
        )
        name = f"{host} {device} {self._begun}"
        return Member(name, host, place, post.rows, actor.remote(name, post))

    def _hand_out(self) -> None:
        """Every idle worker is handed a slice, unless the learner has as much waiting as it will take next."""
        if self.weights is None or self._is_closing or self.waiting_positions >= self.positions:
            return
        share = self.positions // (PARTS * max(1, len(self.members)))
        for member in self.members.values():
            if member.task is None and member.place[1] in self.weights.parts:
                member.last_seen = time.monotonic()
                member.handed += 1
                self.ledger.handed += 1
                member.task = member.actor.play.remote(member.handed, self.weights, max(share, LEAST * member.rows, 1))

    def _gather(self) -> None:
        """Takes in what has come, or waits a moment."""
        with self.change:
            tasks = {member.task: member for member in self.members.values() if member.task is not None}
        if not tasks:
            time.sleep(GLANCE)
            return
        ready, rest = ray.wait(list(tasks), timeout=GLANCE)
        if ready and rest:
            ready += ray.wait(rest, num_returns=len(rest), timeout=0)[0]
        for task in ready:
            member = tasks[task]
            try:
                slice = ray.get(task)
            except RayError as reason:
                self._lose(member, reason)
            else:
                self._take_in(member, slice)

    def _take_in(self, member: Member, slice: Slice) -> None:
        with self.change:
            assert (slice.worker, slice.number) == (member.name, member.handed)  # so no slice comes in twice
            member.task, member.last_seen = None, time.monotonic()
            member.games += len(slice.games.lengths)
            member.positions += slice.positions
            member.seconds += slice.seconds
            member.generation, member.step = slice.generation, slice.step
            self._failures, self._problem, self._is_quiet = 0, "", False
            self._pauses.pop(member.place, None)
            self.ledger.received += slice.size
            self.waiting.append(slice)
            self.waiting_positions += slice.positions
            if slice.generation < self.oldest - 1:
                self._drop_late()
            self.change.notify_all()

    def _lose(self, member: Member, reason: RayError) -> None:
        """Counts a slice as lost, with its machine or because the worker failed; reports repeated failures."""
        with self.change:
            self._forget_task(member)
            if isinstance(reason, RayActorError):
                self._dismiss(member)
            if isinstance(reason, RayTaskError) or getattr(reason, "actor_init_failed", False):
                self._fail(member, reason)

    def _fail(self, member: Member, reason: RayError) -> None:
        words = words_of(reason)
        if words != self._problem:
            self.say(f"a worker on {member.host} failed: {words}")
        self._problem = words
        self._failures += 1
        pause = min(LONGEST_PAUSE, 2 * self._pauses.get(member.place, (LOOK / 2, 0.0))[0])
        self._pauses[member.place] = pause, time.monotonic() + pause
        self._dismiss(member)
        if self._failures >= MOST_FAILURES and self._failures >= 2 * len(self._pauses):
            raise ClusterError(f"workers fail again and again, the last on {member.host}: {words}")

    def _forget_task(self, member: Member) -> None:
        self.ledger.lost += member.task is not None
        member.task = None

    def _dismiss(self, member: Member) -> None:
        """The worker ends, and what it plays is lost."""
        self._forget_task(member)
        self.members.pop(member.place, None)
        ray.kill(member.actor)

    # Counting.

    def _drop_late(self) -> None:
        """A generation is played by the weights of the one before; what still older ones played is late."""
        kept = deque(slice for slice in self.waiting if slice.generation >= self.oldest - 1)
        self.ledger.late += len(self.waiting) - len(kept)
        self.waiting, self.waiting_positions = kept, sum(slice.positions for slice in kept)

    def standing(self) -> dict[str, Any]:
        """The pool's status for people: its workers, the slices that wait, and those lost."""
        with self.change:
            now, newest = time.monotonic(), self.weights
            workers = [
                {
                    "name": member.name,
                    "host": member.host,
                    "device": member.place[1],
                    "games": member.games,
                    "games_per_second": member.games / member.seconds if member.seconds else 0.0,
                    "positions_per_second": member.positions / member.seconds if member.seconds else 0.0,
                    "weight_age": newest.generation - member.generation if newest and member.games else 0,
                    "silent_seconds": now - member.last_seen,
                }
                for member in self.members.values()
            ]
            return {
                "workers": workers,
                "machines": len({member.place[0] for member in self.members.values()}),
                "in_flight": sum(member.task is not None for member in self.members.values()),
                "waiting_slices": len(self.waiting),
                "waiting_positions": self.waiting_positions,
                "wanted_positions": self.positions,
                **vars(self.ledger),
            }


def words_of(reason: RayError) -> str:
    """The message of an exception from another machine, without its traceback."""
    cause = getattr(reason, "cause", None)
    if cause is not None:
        return f"{type(cause).__name__}: {cause}".splitlines()[0]
    return (str(reason).strip().splitlines() or [type(reason).__name__])[-1].strip()
