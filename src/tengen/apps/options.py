"""What the commands share: kinds of options, checks before any work starts, one way to print JSON."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from tengen.rules.errors import BadParameter

WRITABLE = os.W_OK | os.X_OK  # of a folder

new_app = partial(
    typer.Typer,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # a paragraph's lines are joined, and wrapped again
    context_settings={"help_option_names": ["-h", "--help"]},
)
Flag = partial(typer.Option, metavar="")  # an option without a value: none is shown in its help

Json = Annotated[bool, Flag("--json", help="Print one JSON object.")]
Cores = Annotated[int | None, typer.Option("--workers", min=0, help="Games at once; by default one per core.")]


def print_json(answer: Any) -> None:
    """Prints a command's result for programs: one line, the only one on stdout."""
    print(json.dumps(answer))


def refuse_unused(context: typer.Context, reason: str, *parameters: str) -> None:
    """Refuses options that would have no effect here. `parameters` are names in the command's function."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in parameters and source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP"):
            raise BadParameter(f"{max(parameter.opts, key=len)} has no effect here: {reason}")


def file_to_write(path: Path | None) -> Path | None:
    """Refuses, before any work, a file that could not be written after it."""
    if path is None:
        return None
    if path.is_dir():
        raise BadParameter(f"{path} is a folder: give the name of a file to write")
    if not path.parent.is_dir():
        raise BadParameter(f"{path} cannot be written: there is no folder {path.parent}")
    if not os.access(path.parent, WRITABLE):
        raise BadParameter(f"{path} cannot be written: the folder {path.parent} is read-only")
    return path


def folder_to_write(path: Path | None) -> Path | None:
    """Refuses, before any work, a folder that could not be made or written to."""
    if path is None:
        return None
    there = next(parent for parent in (path, *path.absolute().parents) if parent.exists())
    if not there.is_dir():
        raise BadParameter(f"{there} is a file: give the name of a folder")
    if not os.access(there, WRITABLE):
        raise BadParameter(f"{path} cannot be written: the folder {there} is read-only")
    return path
