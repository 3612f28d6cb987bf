"""Self-play and replay wholly on a GPU: states, trees and stories stay in its memory, with the network between them.

A step is one CUDA graph: the network answers all rows, then each row hears its answer and plays until it has another
question. Only finished games come back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numba import cuda

from tengen.learn.gpu_code import THREADS, grid, scratch_shapes
from tengen.learn.gpu_rows import begin_rows, play_rows, search_rows, set_up_rows, settle_rows
from tengen.learn.replay import Replay
from tengen.learn.selfplay import NO_OPENING, Games, Opening, Story, new_story
from tengen.nets.graph import GraphNet, recorded
from tengen.nets.models import Network
from tengen.rules.contract import DRAW
from tengen.rules.game import Game
from tengen.search.lockstep import Plan, Rows, as_words, first_values, row_shapes, views_of

TOLD = ("moves", "policies", "plies", "ended", "results")  # of a story, what torch reads and writes
ROOM = 16  # positions of finished games for each row: on average one of them is new at a look


def to_gpu(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.array(array, order="C")).cuda()


def shared(*tensors: torch.Tensor) -> list[Any]:
    """Tensors as kernels take them."""
    return [cuda.as_cuda_array(tensor) for tensor in tensors]


def launch(kernel: Any, shape: tuple[int, int], *arguments: Any) -> None:
    """A kernel on torch's current stream, with so many blocks of so many threads."""
    kernel[(*shape, cuda.external_stream(torch.cuda.current_stream().cuda_stream))](*arguments)


def zeros(shape: tuple[int, ...], kind: Any) -> Any:
    """An array of zeros on the GPU, of any kind that kernels take."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    return cuda.as_cuda_array(torch.zeros(size, dtype=torch.uint8, device="cuda")).view(kind).reshape(shape)


class Finished(NamedTuple):
    """Games that had ended when a group was looked at, one after the other: copies, to be read while it plays on."""

    lengths: torch.Tensor  # [rows]: plies of a row's game; 0 where it goes on, or waits for the next look
    results: torch.Tensor  # [rows]
    moves: torch.Tensor  # [positions]; behind those of the last game stands whatever there is
    policies: torch.Tensor  # [positions, actions]


def copy_finished(told: dict[str, torch.Tensor], room: int) -> Finished:
    """The games of stories that have ended, row by row, as long as there is room for all of a game's positions.

    Nothing waits for a GPU here: how many games there are is not known when it is told to copy them.
    """
    ended, (rows, longest) = told["ended"], told["moves"].shape
    ends = ended.cumsum(0)
    place = torch.arange(room, device=ended.device)
    row = torch.searchsorted(ends, place, right=True).clamp_(max=rows - 1)
    ply = (place - (ends - ended)[row]).clamp_(max=longest - 1)
    lengths = torch.where(ends <= room, ended, 0)
    return Finished(lengths, told["results"].clone(), told["moves"][row, ply], told["policies"][row, ply])


class GpuGroup:
    """Games that a GPU plays, as a `Group` does on a CPU: the same kernels, the same games under way."""

    def __init__(
        self,
        game: Game,
        plan: Plan,
        model: Network,
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
        story = new_story(game, count, longest)
        self.told = {name: to_gpu(getattr(story, name)) for name in TOLD}
        blank = cuda.to_device(story.blank)
        self.story = Story(blank=blank, **dict(zip(TOLD, shared(*self.told.values()), strict=True)))
        self.room, self.unread = max(longest, ROOM * count), Games.none(game.actions)
        self.answers = shared(self.net.priors.view(-1), self.net.values)
        self.stream, self.reading = torch.cuda.Stream(), torch.cuda.Stream(priority=-1)
        with torch.cuda.stream(self.stream):
            every = torch.ones(count, dtype=torch.int32, device="cuda")
            self._begin(every)
            self.graph = recorded(self._step, self.stream)
            self.rows.rows.copy_to_device(first)  # recording has played a little
            self._begin(every)

    def _new_rows(self, seed: int) -> tuple[Rows, np.ndarray]:
        """The rows on the GPU, and how they begin."""
        spare = self.count if self.plan.keep else 1
        shapes = row_shapes(self.game, self.plan, self.count, spare)
        shapes.pop("planes")
        values = first_values(self.game, self.plan, self.count, seed)
        arrays = {name: zeros(*own) for name, own in shapes.items()}
        arrays |= {name: cuda.to_device(array) for name, array in values.items()}
        arrays["planes"] = cuda.as_cuda_array(self.net.planes)
        return Rows(**arrays, **views_of(arrays)), values["rows"]

    def _begin(self, which: torch.Tensor) -> None:
        """Rows begin a game where `which` [rows] is not zero."""
        constants = self.game.parameters, self.opening
        launch(begin_rows, grid(self.count), *constants, self.rows, self.story, *shared(which))

    def _step(self) -> None:
        """The network answers all rows; they hear it, and go on."""
        self.net.answer()
        self._hear()

    def _hear(self) -> None:
        """Rows hear what the network said."""
        scratch = scratch_shapes(self.game)
        blocks, constants = grid(self.count, scratch[0][0])[0], (self.game.parameters, self.plan, *scratch)
        launch(play_rows, (blocks, THREADS), *constants, self.rows, self.story, *self.answers)

    def play(self, model: Network, positions: int, is_stopped: Callable[[], bool]) -> Games:
        """As `Group.play`: games with so many positions, by a network with the weights that the model has now.

        The last search goes on after the games are returned; those that it ends are read the next time.
        """
        finished, done = [self.unread], len(self.unread.moves)
        self.unread = Games.none(self.game.actions)
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
            finished = copy_finished(self.told, self.room)
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
            plies = self.told["plies"].cpu().numpy()
            longest = int(plies.max())
            moves = self.told["moves"][:, :longest].cpu().numpy()
            seeds = self.rows.rows.copy_to_host()["seed"]
        played = np.arange(longest) < plies[:, np.newaxis]
        unread = {f"unread.{name}": array for name, array in self.unread._asdict().items()}
        return {"seeds": seeds, "plies": plies, "moves": moves * played, **unread}

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """Goes on where `save` was called, here or on a CPU."""
        if "unread.moves" in saved:
            self.unread = Games(*(saved[f"unread.{name}"] for name in Games._fields))
        rows, longest = self.rows.rows.copy_to_host(), saved["moves"].shape[1]
        rows["seed"] = saved["seeds"]
        told, begins = self.told, torch.arange(self.count, device="cuda") * self.told["moves"].shape[1]
        with torch.cuda.stream(self.stream):
            self.rows.rows.copy_to_device(rows)
            told["plies"].copy_(torch.from_numpy(saved["plies"]))
            told["moves"][:, :longest] = to_gpu(saved["moves"])
            if "policies" in saved:
                told["policies"][:, :longest] = to_gpu(saved["policies"]).float()
            else:
                told["policies"].zero_()
            movers = torch.zeros(self.count, dtype=torch.int8, device="cuda")
            sources = shared(told["moves"].view(-1), begins, begins + told["plies"])
            roots = self.rows.roots, self.rows.root_words, self.story.blank
            places = self.rows.planes, cuda.as_cuda_array(movers)
            launch(set_up_rows, grid(self.count), self.game.parameters, *roots, *sources, *places)


class GpuReplay(Replay):
    """A replay whose games lie on the GPU, and whose batches are made there."""

    def __init__(self, game: Game, territory: bool = False):
        super().__init__(game, territory)
        self._held: dict[int, dict[str, torch.Tensor]] = {}
        self.blank = cuda.to_device(as_words(game.new_states(1))[0])
        self.states = cuda.device_array(1, game.parameters.record())
        self.cells, self.actions = (
            torch.as_tensor(turns).cuda() for turns in (game.symmetries, game.action_symmetries)
        )

    def _join(self) -> None:
        """Brings new generations to the GPU, and lays all of them side by side there."""
        self._held = {number: self._held.get(number) or self._hold(games) for number, games in self.generations.items()}
        parts = self._held.values()
        columns = {name: [part[name] for part in parts] for name in next(iter(parts))}
        offset, games = 0, 0
        for place, part in enumerate(parts):
            for name in ("begins", "useful"):
                columns[name][place] = part[name] + offset
            columns["numbers"][place] = part["numbers"] + games
            offset, games = offset + len(part["moves"]), games + len(part["owners"])
        self._joined = Games.none(self.game.actions)
        self.columns = {name: torch.cat(column) for name, column in columns.items()}

    def _hold(self, games: Games) -> dict[str, torch.Tensor]:
        """One generation's games on the GPU, with what a batch asks of each position."""
        ends, count = np.cumsum(games.lengths, dtype=np.int64), len(games.lengths)
        own = {
            "moves": to_gpu(games.moves),
            "policies": to_gpu(games.policies),
            "begins": to_gpu(np.repeat(ends - games.lengths, games.lengths)),
            "results": to_gpu(np.repeat(games.results, games.lengths)),
            "useful": to_gpu(np.flatnonzero(games.policies.any(axis=1))),
            "numbers": to_gpu(np.repeat(np.arange(count), games.lengths)),
            "owners": torch.zeros((count, self.game.cells), dtype=torch.int8, device="cuda"),
        }
        if self.has_territory:
            states = self._states(count)
            sources = shared(own["moves"], to_gpu(ends - games.lengths), to_gpu(ends), own["owners"])
            launch(settle_rows, grid(count), self.game.parameters, *states, *sources)
        return own

    def _states(self, count: int) -> tuple[Any, Any, Any]:
        """States to play on, the same as words, and what a blank one is."""
        if len(self.states) < count:
            self.states = cuda.device_array(count, self.game.parameters.record())
        states = self.states[:count]
        return states, as_words(states), self.blank

    def tensors(self, count: int, random: torch.Generator) -> tuple[torch.Tensor, ...]:
        """Planes [batch, planes, cells], policies [batch, actions], values [batch] and territories [batch, cells], as
        `sample` has them."""
        if self._joined is None:
            self._join()
        game, held = self.game, self.columns
        chosen = held["useful"][torch.randint(len(held["useful"]), (count,), device="cuda", generator=random)]
        planes = torch.zeros((count, len(game.planes), game.cells), dtype=torch.uint8, device="cuda")
        movers = torch.zeros(count, dtype=torch.int8, device="cuda")
        sources = shared(held["moves"], held["begins"][chosen], chosen, planes, movers)
        launch(set_up_rows, grid(count), game.parameters, *self._states(count), *sources)
        results = held["results"][chosen]
        values = torch.where(results == movers + 1, 1.0, torch.where(results == DRAW, 0.0, -1.0))
        turns = torch.randint(len(self.cells), (count,), device="cuda", generator=random)
        cells = self.cells[turns][:, None, :].expand_as(planes)
        policies = held["policies"][chosen].float()
        turned = torch.zeros_like(policies).scatter_(1, self.actions[turns], policies)
        owners = held["owners"][held["numbers"][chosen]]
        lands = torch.where(owners == 0, 0.0, torch.where(owners == movers[:, None] + 1, 1.0, -1.0))
        territories = torch.zeros_like(lands).scatter_(1, self.cells[turns], lands)
        return torch.zeros_like(planes).scatter_(2, cells, planes).float(), turned, values, territories
