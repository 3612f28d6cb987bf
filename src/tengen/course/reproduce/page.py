"""An experiment as a page: the document's claims beside ours, then whatever there is to see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tengen.report.pages import section, table, write_page


@dataclass(frozen=True)
class Options:
    """How an experiment is to be repeated."""

    folder: Path
    is_full: bool = False  # as the document had it; otherwise as much as takes minutes
    net: str = ""  # one to play with, instead of training one
    minutes: float | None = None  # of training
    seed: int = 1
    say: Callable[[str], None] = print


@dataclass(frozen=True)
class Claim:
    """A figure of the document, and ours."""

    what: str
    document: str
    ours: str
    holds: bool | None = None  # None: that is for the reader to judge

    @property
    def verdict(self) -> str:
        return {True: "as there", False: "not as there", None: ""}[self.holds]


def claim(what: str, document: float, ours: float, within: float = 0.0) -> Claim:
    """A number of the document, and ours, which should be the same within so much."""
    return Claim(what, f"{document:g}", f"{ours:.4g}", abs(document - ours) <= within)


def write_experiment(
    options: Options,
    title: str,
    about: str,
    claims: Sequence[Claim],
    parts: Sequence[tuple[str, str]] = (),
    style: str = "",
) -> Path:
    """Writes the page of an experiment, and says what it shows."""
    rows = [("", "the document", "here", "")]
    rows += [(claim.what, claim.document, claim.ours, claim.verdict) for claim in claims]
    for row in rows:
        options.say("{:<58} {:>16} {:>22}  {}".format(*row))
    body = f"<header>\n<p>Tengen: a document's experiment, repeated</p>\n<h1>{escape(title)}</h1>\n"
    body += f"<p>{escape(about)}</p>\n</header>\n"
    body += section("Beside the document", f'<div class="card wide">{table(rows)}</div>')
    body += "".join(section(name, part) for name, part in parts)
    options.folder.mkdir(parents=True, exist_ok=True)
    path = write_page(options.folder / "report.html", title, body, style)
    options.say(f"\nreport: {path}")
    return path
