"""Self-play wholly on a GPU: states, trees and trajectories stay in its memory, with the network between them.

A step is one CUDA graph: the network evaluates the leaves of all rows, then each row backs its value up and plays on
until its next leaf waits. Only finished games come back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from numba import cuda

from tengen.learn.gpu.arrays import launch, shared, to_gpu, zeros
from tengen.learn.gpu.kernels import begin_rows, play_rows, search_rows, set_up_rows
from tengen.learn.selfplay import NO_OPENING, Games, Opening, Trajectory, new_trajectories
from tengen.nets.graph import GraphNet, recorded
from tengen.rules.cuda import THREADS, grid, scratch_shapes
from tengen.rules.game import Game
from tengen.search.lockstep import Plan, Rows, initial_values, row_shapes, views_of

FIELDS = ("moves", "policies", "plies", "ended", "results")  # of a trajectory, what torch reads and writes
ROOM = 16  # positions of finished games for each row: on average one of them is new at a look


class Finished(NamedTuple):
    """Games that had ended when a group was looked at, one after the other: copies, to be read while it plays on."""

    lengths: torch.Tensor  # [rows]: plies of a row's game; 0 where it goes on, or waits for the next look
    results: torch.Tensor  # [rows]
    moves: torch.Tensor  # [positions]; behind those of the last game stands whatever there is
    policies: torch.Tensor  # [positions, places]


def copy_finished(tensors: dict[str, torch.Tensor], room: int) -> Finished:
    """The games of trajectories that have ended, row by row, as long as there is room for all of a game's positions.

    Nothing waits for a GPU here: how many games there are is not known when it is told to copy them.
    """
    ended, (rows, longest) = tensors["ended"], tensors["moves"].shape
    ends = ended.cumsum(0)
    place = torch.arange(room, device=ended.device)
    row = torch.searchsorted(ends, place, right=True).clamp_(max=rows - 1)
    ply = (place - (ends - ended)[row]).clamp_(max=longest - 1)
    lengths = torch.where(ends <= room, ended, 0)
    return Finished(lengths, tensors["results"].clone(), tensors["moves"][row, ply], tensors["policies"][row, ply])


class GpuGroup:
    """Games that a GPU plays, as a `Group` does on a CPU: the same kernels, the same games under way."""

    def __init__(
        self,
        game: Game,
        plan: Plan,
        model: torch.nn.Module,
        count: int,
        longest: int,
        seed: int,
        opening: Opening = NO_OPENING,
        symmetry: bool = False,
    ):
        self.game, self.plan, self.count, self.opening, self.evaluations = game, plan, count, opening, 0
        self.search_steps = plan.simulations + (0 if plan.keep else 1)  # the root is asked about, too
        self.net = GraphNet(game, model, count, symmetry, plan.prior_temperature)
        self.rows, first = self._new_rows(seed)
        trajectory = new_trajectories(game, count, longest)
        self.tensors = {name: to_gpu(getattr(trajectory, name)) for name in FIELDS}
        blank = cuda.to_device(trajectory.blank)
        self.trajectory = Trajectory(blank=blank, **dict(zip(FIELDS, shared(*self.tensors.values()), strict=True)))
        self.room, self.unread = max(longest, ROOM * count), Games.none(game)
        self.answers = shared(self.net.priors.view(-1), self.net.values)
        self.stream, self.reading = torch.cuda.Stream(), torch.cuda.Stream(priority=-1)
        with torch.cuda.stream(self.stream):
            every = torch.ones(count, dtype=torch.int32, device="cuda")
            self._begin(every)
            self.graph = recorded(self._step, self.stream)
            self.rows.progress.copy_to_device(first)  # recording has played a little
            self._begin(every)

    def _new_rows(self, seed: int) -> tuple[Rows, np.ndarray]:
        """The rows on the GPU, and how they begin."""
        spare = self.count if self.plan.keep else 1
        shapes = row_shapes(self.game, self.plan, self.count, spare)
        shapes.pop("planes")
        values = initial_values(self.game, self.plan, self.count, seed)
        arrays = {name: zeros(*own) for name, own in shapes.items()}
        arrays |= {name: cuda.to_device(array) for name, array in values.items()}
        arrays["planes"] = cuda.as_cuda_array(self.net.planes)
        return Rows(**arrays, **views_of(arrays)), values["progress"]

    def _begin(self, which: torch.Tensor) -> None:
        """Rows begin a game where `which` [rows] is not zero."""
        constants = self.game.parameters, self.opening
        launch(begin_rows, grid(self.count), *constants, self.rows, self.trajectory, *shared(which))

    def _step(self) -> None:
        """The network evaluates all leaves; then every row goes on to its next."""
        self.net.answer()
        self._expand_and_backup()

    def _expand_and_backup(self) -> None:
        """Every row takes in its answer, and goes on until it waits for the next."""
        scratch = scratch_shapes(self.game)
        blocks, constants = grid(self.count, scratch[0][0])[0], (self.game.parameters, self.plan, *scratch)
        launch(play_rows, (blocks, THREADS), *constants, self.rows, self.trajectory, *self.answers)

    def play(self, model: torch.nn.Module, positions: int, is_stopped: Callable[[], bool]) -> Games:
        """As `Group.play`: games with `positions` positions, by a network with the present weights of `model`.

        The last search goes on after the games are returned; those that it ends are read the next time.
        """
        finished, done = [self.unread], len(self.unread.moves)
        self.unread = Games.none(self.game)
        torch.cuda.current_stream().synchronize()  # whoever trains the model is done
        with torch.cuda.stream(self.stream):
            self.net.load(model)
            launch(search_rows, grid(self.count), self.game.parameters, self.rows)
        while len(finished) == 1 or (done < positions and not is_stopped()):
            finished.append(self.play_a_move())
            done += len(finished[-1].moves)
        return Games.join(finished)

    def play_a_move(self) -> Games:
        """A search and a move in every row, begun here; meanwhile, the games that had ended before it.

        All searches begin together, and finished games are copied when most end: so new games begin in time with the
        others. A step is as long as its slowest row, and the slowest are those whose search ends or begins.
        """
        finished, is_copied = self._look()
        with torch.cuda.stream(self.stream):
            for _ in range(self.search_steps):
                self.graph.replay()
        self.evaluations += self.search_steps * self.count
        return self._read(finished, is_copied)

    def _look(self) -> tuple[Finished, torch.cuda.Event]:
        """Games that have ended are copied, and others begin in their rows; an event says when."""
        with torch.cuda.stream(self.stream):
            finished = copy_finished(self.tensors, self.room)
            self._begin(finished.lengths)
            return finished, self.stream.record_event()

    def _read(self, finished: Finished, is_copied: torch.cuda.Event) -> Games:
        """Brings games to the CPU, whatever the group does meanwhile."""
        with torch.cuda.stream(self.reading):
            self.reading.wait_event(is_copied)
            rows = finished.lengths.nonzero()[:, 0]
            lengths, results = finished.lengths[rows], finished.results[rows]
            size = int(lengths.sum())
            parts = lengths, results, finished.moves[:size], self._learned(finished.policies[:size])
            return Games(*(part.cpu().numpy() for part in parts))

    def _learned(self, policies: torch.Tensor) -> torch.Tensor:
        """As `learned` has it."""
        sharp = policies.half().float().pow(self.plan.prior_temperature)
        return (sharp / sharp.sum(1, keepdim=True).clamp_min(1e-30)).half()

    def save(self) -> dict[str, np.ndarray]:
        """The games under way, as arrays, but for their policies, which are many: what was played so far is only played
        on, not learned from, if the run goes on from here. Those that have ended are kept whole."""
        while len((games := self._read(*self._look())).lengths):  # what is over is no longer under way
            self.unread = Games.join([self.unread, games])
        with torch.cuda.stream(self.stream):
            plies = self.tensors["plies"].cpu().numpy()
            longest = int(plies.max())
            moves = self.tensors["moves"][:, :longest].cpu().numpy()
            seeds = self.rows.progress.copy_to_host()["seed"]
        played = np.arange(longest) < plies[:, np.newaxis]
        unread = {f"unread.{name}": array for name, array in self.unread._asdict().items()}
        return {"seeds": seeds, "plies": plies, "moves": moves * played, **unread}

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """Takes over what `save` returned, here or on a CPU."""
        if "unread.moves" in saved:
            self.unread = Games(*(saved[f"unread.{name}"] for name in Games._fields))
        rows, longest = self.rows.progress.copy_to_host(), saved["moves"].shape[1]
        rows["seed"] = saved["seeds"]
        tensors, begins = self.tensors, torch.arange(self.count, device="cuda") * self.tensors["moves"].shape[1]
        with torch.cuda.stream(self.stream):
            self.rows.progress.copy_to_device(rows)
            tensors["plies"].copy_(torch.from_numpy(saved["plies"]))
            tensors["moves"][:, :longest] = to_gpu(saved["moves"])
            if "policies" in saved:
                tensors["policies"][:, :longest] = to_gpu(saved["policies"]).float()
            else:
                tensors["policies"].zero_()
            movers = torch.zeros(self.count, dtype=torch.int8, device="cuda")
            sources = shared(tensors["moves"].view(-1), begins, begins + tensors["plies"])
            roots = self.rows.roots, self.rows.root_words, self.trajectory.blank
            places = self.rows.planes, cuda.as_cuda_array(movers)
            launch(set_up_rows, grid(self.count), self.game.parameters, *roots, *sources, *places)
