"""A model and its optimiser as arrays, and back."""

from __future__ import annotations

import numpy as np
import torch
from safetensors.numpy import load
from torch import nn

from tengen.learn import weights
from tengen.learn.run import packed


def learner() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(1)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).to(memory_format=torch.channels_last)
    return model, torch.optim.AdamW(weights.kinds_of_weights(model, 1e-4))


def step(model: nn.Module, optimiser: torch.optim.Optimizer) -> None:
    optimiser.zero_grad()
    model(torch.arange(96.0).view(2, 3, 4, 4)).square().sum().backward()
    optimiser.step()


def test_a_learner_goes_on_from_its_arrays() -> None:
    """What its optimiser remembers also lies in memory as the weights do: a GPU's refuses anything else."""
    model, optimiser = learner()
    step(model, optimiser)
    arrays = load(packed(weights.saved(model, optimiser)))
    other, others_optimiser = learner()
    weights.restore(other, others_optimiser, arrays)
    for weight, remembered in others_optimiser.state.items():
        assert remembered["exp_avg"].stride() == remembered["exp_avg_sq"].stride() == weight.stride()
    step(model, optimiser)
    step(other, others_optimiser)
    for name, array in weights.saved(model, optimiser).items():
        np.testing.assert_array_equal(array, weights.saved(other, others_optimiser)[name], err_msg=name)
