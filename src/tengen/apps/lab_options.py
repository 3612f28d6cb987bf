"""Options that many labs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.apps.options import file_to_write, refuse_unused


def picture_to_write(out: Path | None) -> Path | None:
    """Refuses, before any work, what is no name of a picture, or cannot be written."""
    if out is not None:
        from tengen.course.pictures import suffix_of

        suffix_of(out)
    return file_to_write(out)


Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Save a picture there: .svg, or .png (needs matplotlib).", callback=picture_to_write
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**31, help="The seed of what is random.")]


def check_output(context: typer.Context, as_json: bool, out: Path | None, *printing: str) -> None:
    """Refuses what JSON leaves out (the picture, and options of what is printed) and --cards without a picture."""
    if as_json:
        refuse_unused(context, "--json prints all of the result, and draws nothing", "out", "cards", *printing)
    if out is None:
        refuse_unused(context, "it goes with --out", "cards")
