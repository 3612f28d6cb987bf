"""A model and its optimiser as arrays by name, and back; and which weights an optimiser shrinks."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from tengen.learn.run import Arrays


def kinds_of_weights(model: nn.Module, decay: float) -> list[dict[str, Any]]:
    """The optimiser's groups: weight decay `decay` for weights of several dimensions, none for biases and norms."""
    return [
        {"params": [weight for weight in model.parameters() if weight.ndim > 1], "weight_decay": decay},
        {"params": [weight for weight in model.parameters() if weight.ndim <= 1], "weight_decay": 0.0},
    ]


def saved(model: nn.Module, optimiser: torch.optim.Optimizer, prefix: str = "") -> Arrays:
    """The weights and the optimiser's state, as arrays whose names begin with `prefix`."""
    tensors = {f"{prefix}model.{key}": value for key, value in model.state_dict().items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"{prefix}optimiser.{number}.{key}": torch.as_tensor(value) for key, value in state.items()}
    return {key: value.detach().cpu().numpy() for key, value in tensors.items()}


def restore(model: nn.Module, optimiser: torch.optim.Optimizer, arrays: Arrays, prefix: str = "") -> None:
    """Takes over what `saved` returned for the same `prefix`."""
    tensors = {key: torch.from_numpy(array.copy()) for key, array in arrays.items()}
    model.load_state_dict({key: tensors[f"{prefix}model.{key}"] for key in model.state_dict()})
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, tensor in tensors.items():
        if key.startswith(f"{prefix}optimiser."):
            number, what = key.removeprefix(f"{prefix}optimiser.").split(".")
            state.setdefault(int(number), {})[what] = tensor
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
    for weight, own in optimiser.state.items():  # a GPU's optimiser wants them to lie in memory as the weights do
        for what, tensor in own.items():
            if tensor.shape == weight.shape:
                own[what] = torch.empty_like(weight, requires_grad=False).copy_(tensor)
