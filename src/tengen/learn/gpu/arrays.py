"""Arrays that torch and Numba's CUDA kernels share, and how a kernel is launched on torch's stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import cuda


def to_gpu(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.array(array, order="C")).cuda()


def shared(*tensors: torch.Tensor) -> list[Any]:
    """Tensors as kernels take them."""
    return [cuda.as_cuda_array(tensor) for tensor in tensors]


def launch(kernel: Any, shape: tuple[int, int], *arguments: Any) -> None:
    """Launches a kernel on torch's current stream; `shape` is the number of blocks and of threads in each."""
    kernel[(*shape, cuda.external_stream(torch.cuda.current_stream().cuda_stream))](*arguments)


def zeros(shape: tuple[int, ...], kind: Any) -> Any:
    """An array of zeros on the GPU, of any kind that kernels take."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    return cuda.as_cuda_array(torch.zeros(size, dtype=torch.uint8, device="cuda")).view(kind).reshape(shape)
