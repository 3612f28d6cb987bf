"""Environments of any game for your own training code: many games side by side, PettingZoo, OpenSpiel."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tengen.envs.cuda import CudaVectorEnv
    from tengen.envs.rows import TimeStep
    from tengen.envs.vector import VectorEnv

__all__ = ["CudaVectorEnv", "TimeStep", "VectorEnv"]
_HOMES = {"CudaVectorEnv": "cuda", "TimeStep": "rows", "VectorEnv": "vector"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tengen.envs' has no attribute {name!r}")
    return getattr(import_module(f"tengen.envs.{_HOMES[name]}"), name)
