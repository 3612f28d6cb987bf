"""python bench/gpu_code.py [--loops] [GAME]…: how long the code of a self-play step is on a GPU. No GPU is needed.

    pip install "numba-cuda[cu13]" nvidia-cuda-nvcc nvidia-cuda-nvdisasm        # the compilers, or NVIDIA's toolkit

Instructions of the kernel `play_rows` for compute capability 9.0, loops (with --loops how long each is), registers a
thread, and what compiling takes. 32 simulations, Gumbel, as in bench/gpu_search.py.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from numba import cuda, typeof, types

from tengen.games import load_game
from tengen.learn.gpu.ahead import arguments_of, constants_of
from tengen.learn.gpu.kernels import play_rows
from tengen.learn.selfplay import NO_OPENING
from tengen.rules.cuda import REGISTERS, count_plainly
from tengen.search.lockstep import Plan

GAMES = ["gomoku:size=9", "reversi", "connect4", "go:size=9"]
CAPABILITY = (9, 0)


class NoDevice:
    """Numba asks the GPU what it can do; there may be none."""

    compute_capability = CAPABILITY


def tool(name: str) -> str:
    """A program of the toolkit's Python packages, or of the toolkit."""
    package = find_spec("nvidia")
    folders = [f"{folder}/cu13/bin" for folder in package.submodule_search_locations or []] if package else []
    found = next((path for folder in folders if (path := shutil.which(name, path=folder))), None)
    return found or shutil.which(name) or sys.exit(f"{name} is missing: see the first lines of this file")


def assembly(spec: str) -> str:
    """The kernel for a game, in PTX."""
    game, plan = load_game(spec), Plan(simulations=32, value_scale=0.25, chance_plies=1000)
    kinds = (typeof(argument) for argument in arguments_of("play_rows", game, plan))
    constants = constants_of("play_rows", game, plan, NO_OPENING)
    count_plainly()
    return cuda.compile_ptx(play_rows.clone(constants), types.void(*kinds), cc=CAPABILITY)[0]


def instructions(code: str) -> tuple[list[str], dict[str, int]]:
    """What nvdisasm lists: instructions, and the place of each label."""
    listed: list[str] = []
    labels: dict[str, int] = {}
    for line in code.splitlines():
        if label := re.match(r"(\.L_x?\w+):", line):
            labels[label[1]] = len(listed)
        elif instruction := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(.*?);", line):
            listed.append(instruction[1])
    return listed, labels


def loops(code: str) -> list[tuple[int, int]]:
    """The first and the last instruction of each loop."""
    listed, labels = instructions(code)
    jumps = ((place, re.search(r"\bBRA\b.*`\((\.L_x?\w+)\)", line)) for place, line in enumerate(listed))
    return sorted((labels[jump[1]], place) for place, jump in jumps if jump and labels.get(jump[1], place + 1) <= place)


def measure(spec: str) -> None:
    began = time.perf_counter()
    text = assembly(spec)
    numba, began = time.perf_counter() - began, time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(text)
        command: list[Any] = [tool("ptxas"), "-arch=sm_90", f"-maxrregcount={REGISTERS}", "-v", source, "-o", binary]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        ptxas = time.perf_counter() - began
        code = subprocess.run([tool("nvdisasm"), "-c", binary], capture_output=True, text=True, check=True).stdout
    registers = max(int(number) for number in re.findall(r"Used (\d+) registers", told))
    print(
        f"{spec:14} {len(instructions(code)[0]):6} instructions, {len(loops(code)):3} loops, {registers:3} registers; "
        f"compiled in {numba:.1f} + {ptxas:.1f} s",
        flush=True,
    )
    if "--loops" in sys.argv:
        for first, last in loops(code):
            print(f"    {first:6} to {last:6}: {last - first + 1}")


if __name__ == "__main__":
    if find_spec("numba_cuda") is None:
        sys.exit("numba-cuda is missing: see the first lines of this file")
    cuda.dispatcher.get_current_device = lambda: NoDevice
    for given in [argument for argument in sys.argv[1:] if argument != "--loops"] or GAMES:
        measure(given)
