"""Many games side by side in a GPU's memory, for training code of your own that works there, too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda
from numba.core import config

from tengen.envs.rows import (
    GameRows,
    TimeStep,
    check_actions,
    clear_row,
    draw_action,
    game_of,
    is_legal,
    longest_of,
    new_game_rows,
    refusal,
    reset_row,
    seeds_of,
    step_row,
    time_step,
)
from tengen.rules.cuda import gpu_entry, grid
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game
from tengen.search.lockstep import as_words

try:
    import torch
except ImportError:  # then arrays are Numba's own, without DLPack
    torch = None  # type: ignore[assignment]

game = None  # a constant: each kernel has its own
THREADS = 64  # of a block


@gpu_entry("game")
def reset_rows(rows):
    """All rows begin a game."""
    i = cuda.grid(1)
    if i < len(rows.counts):
        reset_row(game, rows, i)


@gpu_entry("game")
def step_rows(rows, refused, actions, longest):
    """Each row plays its action [rows]; a row whose action is illegal keeps it in `refused` [rows, 2], and stays."""
    i = cuda.grid(1)
    if i < len(rows.counts):
        if refused[i, 0] == 0 and is_legal(rows, i, actions[i]):
            step_row(game, rows, i, actions[i], longest)
        else:
            clear_row(rows, i)
            if refused[i, 0] == 0:
                refused[i, 0], refused[i, 1] = 1, actions[i]


@gpu_entry("game")
def draw_actions(rows, actions):
    """Writes a random legal action of each row into `actions` [rows]."""
    i = cuda.grid(1)
    if i < len(rows.counts):
        actions[i] = draw_action(rows, i)


class CudaVectorEnv:
    """A `VectorEnv` on a GPU: the same games by the same rules, and nothing leaves its memory.

    The arrays of a `TimeStep` are tensors of torch if that is installed, which jax and cupy take by DLPack; else they
    are Numba's, and have `__cuda_array_interface__`. Kernels run on torch's current stream.

    A GPU does not say at once that an action is illegal. Its row then stays where it is, with rewards of zero, until
    `check` raises; `reset` checks first.
    """

    def __init__(self, game: Game | str, count: int, seed: int = 1, longest: int | None = None):
        if not cuda.is_available():
            raise BadParameter("CudaVectorEnv needs an NVIDIA GPU, and pip install 'tengen[cuda]'; or use VectorEnv")
        self.game = game_of(game)
        self.count, self.longest = count, longest_of(self.game, longest)
        here = new_game_rows(self.game, count, seed)
        shown = {name: to_share(getattr(here, name)) for name in TimeStep._fields}
        own = {name: to_gpu(array) for name, array in here._asdict().items() if name not in shown}
        own["words"] = as_words(own["states"])
        self.rows = GameRows(**own, **{name: for_kernels(array) for name, array in shown.items()})
        self._shown = time_step(self.game, shown)
        self._refused = to_gpu(np.zeros((count, 2), np.int64))  # whether, and which action
        self._drawn = to_share(np.zeros(count, np.int64))
        self.reset()

    def reset(self, seed: int | None = None) -> TimeStep:
        """All games begin anew; random actions begin anew if there is a seed, else they go on."""
        self.check()
        if seed is not None:
            write(self.rows.seeds, seeds_of(seed, self.count))
        self._launch(reset_rows, self.rows)
        return self._shown

    def step(self, actions: Any) -> TimeStep:
        """As `VectorEnv.step`, but for illegal actions: integers [count], on the GPU or not."""
        chosen = for_kernels(actions) if hasattr(actions, "__cuda_array_interface__") else to_gpu(np.array(actions))
        check_actions(chosen, self.count)
        self._launch(step_rows, self.rows, self._refused, chosen, self.longest)
        return self._shown

    def random_actions(self) -> Any:
        """A legal action of each game [count], all with the same chance; the next call overwrites them."""
        self._launch(draw_actions, self.rows, for_kernels(self._drawn))
        return self._drawn

    def check(self) -> None:
        """Waits for the GPU, and raises IllegalMove or BadMove if an action was refused since the last check.

        Its row stands where it stood then, and goes on from there.
        """
        cuda.synchronize()
        refused = to_host(self._refused)
        if refused[:, 0].any():
            row = int(refused[:, 0].argmax())
            action = int(refused[row, 1])
            counts, actions, done = (to_host(array) for array in (self.rows.counts, self.rows.actions, self.rows.done))
            write(self._refused, np.zeros_like(refused))
            possible = actions[row, : counts[row]].tolist()
            raise refusal(self.game, row, action, possible, int(done[row]))

    def _launch(self, kernel: Any, *arguments: Any) -> None:
        shape: tuple[Any, ...] = grid(self.count, THREADS)
        if has_torch():
            shape = *shape, cuda.external_stream(torch.cuda.current_stream().cuda_stream)
        kernel[shape](self.game.parameters, *arguments)


# Arrays on the GPU. In Numba's simulator they are NumPy's.


def has_torch() -> bool:
    """Whether torch is there, and finds the GPU, too."""
    return torch is not None and not config.ENABLE_CUDASIM and torch.cuda.is_available()


def to_gpu(array: np.ndarray) -> Any:
    """A copy for kernels alone."""
    return array if config.ENABLE_CUDASIM else cuda.to_device(np.asarray(array))


def to_share(array: np.ndarray) -> Any:
    """A copy for others: a tensor if torch is there."""
    return torch.from_numpy(array).cuda() if has_torch() else to_gpu(array)


def for_kernels(array: Any) -> Any:
    """The same memory, as kernels take it."""
    return array if config.ENABLE_CUDASIM else cuda.as_cuda_array(array)


def to_host(array: Any) -> np.ndarray:
    return array if config.ENABLE_CUDASIM else array.copy_to_host()


def write(array: Any, values: np.ndarray) -> None:
    """In place: a CUDA graph that was recorded before goes on with this memory."""
    if config.ENABLE_CUDASIM:
        array[:] = values
    else:
        array.copy_to_device(values)
