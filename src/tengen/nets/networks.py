"""Networks by name: ours, a class in a file of yours (`./mynet.py:MyNet`), or one that an installed package offers.

A network is a torch module whose constructor takes the game, then options by name; it answers planes
[n, planes, rows, columns] with logits [n, actions] and values [n] in (−1, 1). Options with the name of a setting
(`net.blocks`, `net.channels`, …) are taken from there, others from `net.options`.
"""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from typing import Any

from torch import nn

from tengen.nets.metadata import GROUP, NETWORKS, Architecture, check_kind
from tengen.rules.errors import BadParameter, TengenError, nearest
from tengen.rules.game import Game
from tengen.rules.plugins import (
    Option,
    class_of_file,
    describe,
    file_spec,
    load_packaged,
    options_of,
    packaged,
    read_options,
)

SHARED = {part.name: part.default for part in fields(Architecture) if part.name not in ("kind", "options", "targets")}


def network_class(kind: str) -> Any:
    """The class of the network `kind`: one of NETWORKS, a class in a file, or a package's."""
    if (found := file_spec(kind)) is not None:
        path, name, options = found
        if options:
            raise BadParameter(f"net.kind={kind}: write its options as net.options={options!r}")
        return class_of_file(path, name, "network", "forward")
    if kind in NETWORKS:
        module, _, name = NETWORKS[kind].partition(":")
        return getattr(import_module(module), name)
    check_kind(kind)
    return load_packaged(packaged(GROUP)[kind])


def build_model(game: Game, architecture: Architecture) -> Any:
    """A network for a game, with fresh weights (torch.manual_seed decides on them)."""
    kind = network_class(architecture.kind)
    options = options_of(kind, f"net.kind={architecture.kind}")
    given = {**shared_options(architecture, options), **own_options(architecture, options)}
    try:
        model = kind(game, **given)
    except TengenError:
        raise
    except Exception as reason:
        found = file_spec(architecture.kind)
        why = describe(reason, found[0].resolve()) if found else f"{type(reason).__name__}: {reason}"
        raise BadParameter(f"net.kind={architecture.kind} cannot be made for {game.spec}: {why}") from reason
    if not isinstance(model, nn.Module):
        raise BadParameter(f"net.kind={architecture.kind} is no torch.nn.Module")
    return model


def shared_options(architecture: Architecture, options: dict[str, Option]) -> dict[str, Any]:
    """The options that are settings, if they differ from the default; refuses one that this network does not have."""
    for name, default in SHARED.items():
        if name not in options and getattr(architecture, name) != default:
            raise BadParameter(f"net.{name} is nothing that net.kind={architecture.kind} knows{nearest(name, options)}")
    given = {name: getattr(architecture, name) for name in SHARED if name in options}
    return {name: value for name, value in given.items() if value != SHARED[name]}  # its own defaults hold


def own_options(architecture: Architecture, options: dict[str, Option]) -> dict[str, Any]:
    """The options of a network that are no settings, from `net.options`."""
    own = {name: option for name, option in options.items() if name not in SHARED}
    values = read_options(architecture.options, own, architecture.kind, "net.options")
    for name, option in own.items():
        if option.is_required and name not in values:
            raise BadParameter(f"net.kind={architecture.kind} needs net.options={name}=… ({option.about})")
    return values
