"""A training run whose games are played all over a cluster: the driver learns, evaluates, and keeps the run's folder.

The folder is that of a local run, and either command goes on with the other's. Two things are different. Games come in
as they end, so a run does not repeat itself to the bit; and games under way live with the workers, so those of a worker
or a driver that dies are lost. What was counted, was saved: a driver that was killed goes on from its last checkpoint.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import ray
from ray.exceptions import ObjectStoreFullError, RayError

from tengen import __version__
from tengen.learn.cluster.learners import Learners, hold_gpu
from tengen.learn.cluster.pool import WorkerPool
from tengen.learn.cluster.worker import NetParts, Post, SelfPlayWorker, Slice, Weights
from tengen.learn.loop import Watcher
from tengen.learn.replay import Replay
from tengen.learn.run import net_name
from tengen.learn.selfplay import Games
from tengen.learn.settings import Settings
from tengen.learn.trainer import Trainer
from tengen.learn.training import GenerationGames, Training, on_cpu, on_gpu
from tengen.rules.game import Game

STATUS_FILE = "cluster.json"  # in the run's folder, while the run goes on: how the cluster stands
STATUS_PERIOD = 2.0  # seconds between two times that it is written


class ClusterTraining(Training):
    """A run that is open; a cluster is connected."""

    def __init__(
        self,
        folder: Path,
        settings: Settings,
        game: Game,
        watcher: Watcher,
        device: str = "cpu",
        learners: int = 1,
        kind: type = SelfPlayWorker,
    ):
        """`learners` are the GPUs that learn, or without GPUs processes; `kind` is what plays."""
        self.learners = Learners(learners)
        self.held = hold_gpu() if device == "cuda" else None
        # Whoever was gated out must not play, and a net for GPUs is not kept: with a gate, cores alone play.
        devices = ("cpu",) if settings.evaluation.gating else ("cpu", "cuda")
        self.pool = WorkerPool(self._post, settings.selfplay.positions, watcher.say, devices, kind)
        self.announced: tuple[int, int] | None = None  # the generation and the step of the net that plays
        self.refused: int | None = None  # the generation of a net that did not fit into the object store
        super().__init__(folder, settings, game, watcher, device)
        self.pool.reserved.update(self.learners.gpus() if device == "cuda" else ())
        self.pool.reserved.update([self.held.node] if self.held else ())
        self.learners.show(self.replay)
        self._closing = threading.Event()
        self._status_thread = threading.Thread(target=self._write_status, name="status", daemon=True)
        self.pool.begin()
        self._status_thread.start()

    def close(self) -> None:
        self._closing.set()
        self._status_thread.join()
        self.pool.close()
        self.learners.close()
        (self.run.folder / STATUS_FILE).unlink(missing_ok=True)
        super().close()

    def _post(self, device: str, number: int) -> Post:
        """The settings of worker `number`; no two workers of a run share a seed, even after a restart."""
        sequence = np.random.SeedSequence([self.settings.run.seed, self.counters.generation, number])
        seed = int(sequence.generate_state(1)[0] >> 1)
        return Post(self.settings, device, self.device, seed, __version__, str(Path.cwd()))

    def _team(self) -> tuple[Trainer, Replay, list[Any]]:
        if self.learners.count > 1:
            return *self.learners.begin(self.game, self.settings, self.device), []
        return (on_gpu if self.device == "cuda" else on_cpu)(self.game, self.settings, plays=False)

    # A generation.

    def _play(self, generation: int) -> GenerationGames:
        gated = self.settings.evaluation.gating > 0
        oldest = 0 if gated else min(self.replay.generations, default=0)
        slices, seconds = self.pool.harvest(self.settings.selfplay.positions, oldest, self._waiting)
        games = Games.join([Games.none(self.game), *(slice.games for slice in slices)])
        more = {"cluster": self._measured(slices)}
        return GenerationGames(games, sum(slice.evaluations for slice in slices), seconds, more)

    def _waiting(self) -> bool:
        """Whether to wait for games no longer. Meanwhile a net that the object store did not take is offered again."""
        self._announce()
        return self.is_stopped

    def _measured(self, slices: list[Slice]) -> dict[str, Any]:
        """The metrics of the cluster in a generation."""
        ages = [(self.trainer.steps - slice.step, slice.positions) for slice in slices]
        ledger, standing = self.pool.ledger, self.pool.standing()
        return {
            "workers": len(standing["workers"]),
            "machines": standing["machines"],
            "slices": len(slices),
            "weight_age": sum(age * count for age, count in ages) / max(1, sum(count for _, count in ages)),
            "oldest_weights": max((age for age, _ in ages), default=0),
            **{name: getattr(ledger, name) for name in ("lost", "late", "received", "sent")},
        }

    def _write_net(self, generation: int) -> None:
        super()._write_net(generation)
        if not self.settings.evaluation.gating:
            self._announce()

    def _announce(self) -> None:
        """Sends workers the newest net, or with a gate the best; until then they play with the last."""
        gated = self.settings.evaluation.gating > 0
        generation = self.counters.best if gated else self.counters.generation
        if self.announced == (generation, self.trainer.steps):
            return
        self._net(generation)
        generation = self.counters.best if gated else self.counters.generation  # another, if that one was damaged
        content = self.run.read(net_name(generation))
        try:
            parts: NetParts = {"cpu": [ray.put(content)]}
            if not gated and ray.cluster_resources().get("GPU", 0):
                parts["cuda"] = [ray.put(self._arrays())]
        except (ObjectStoreFullError, RayError) as reason:
            if self.refused != generation:
                self.watcher.say(f"the object store does not take the net of generation {generation} yet: {reason}")
            self.refused = generation
            return
        self.announced = generation, self.trainer.steps
        self.pool.announce(Weights(generation, self.trainer.steps, parts), len(content))

    def _arrays(self) -> dict[str, np.ndarray]:
        """The model's weights, as a worker on a GPU takes them."""
        return {name: value.cpu().numpy() for name, value in self.trainer.model.state_dict().items()}

    # Telling.

    def _write_status(self) -> None:
        """Writes the cluster's status every STATUS_PERIOD seconds, for the web page."""
        path = self.run.folder / STATUS_FILE
        part = path.with_name(f".{path.name}.part")
        while not self._closing.wait(STATUS_PERIOD):
            standing = self.pool.standing()
            standing["generation"] = self.counters.generation
            with suppress(OSError):  # a full disk is told where it matters
                part.write_text(json.dumps(standing), encoding="utf-8")
                os.replace(part, path)
