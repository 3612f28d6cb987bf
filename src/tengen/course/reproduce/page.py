"""An experiment as a page: the document's claims beside ours, then whatever there is to see."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import tengen
from tengen.arena.match import Score
from tengen.course.reproduce.chinese import translated_page
from tengen.learn.report import duration
from tengen.records.disk import write_file
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
    began: float = field(default_factory=time.monotonic)

    @property
    def report(self) -> Path:
        """Where the page is written."""
        return self.folder / "report.html"


CHINESE = "report.zh.html"
AS_THERE, DIFFERS, ERRATUM = "as there", "differs", "erratum"


@dataclass(frozen=True)
class Claim:
    """A figure that the document prints, and what was found here. `printed` stands in `quote`, the document's words.

    Where the document prints nothing of the kind, both are empty.
    """

    what: str
    quote: str
    printed: str
    ours: str
    verdict: str = ""  # AS_THERE, DIFFERS, ERRATUM; or nothing, where the reader judges
    why: str = ""  # it differs, or is an erratum: the arithmetic

    def __post_init__(self) -> None:
        missing = [part for part in self.printed.split(", ") if part not in self.quote]
        if missing:
            raise ValueError(f"{self.what}: the document does not say {missing[0]!r} in {self.quote!r}")


def agrees(printed: str, ours: float) -> bool:
    """Whether our number, rounded as the document rounds, is the one it prints: `1.25` has two decimals."""
    decimals = len(printed.partition(".")[2])
    return abs(float(printed) - ours) <= 0.5 * 10**-decimals + 1e-6


def claim(what: str, quote: str, printed: str, ours: float, correct: float | None = None, why: str = "") -> Claim:
    """A number that the document prints, and ours. Where the document's own arithmetic comes to another number,
    `correct`, and ours to that, it is an erratum."""
    decimals = len(printed.partition(".")[2])
    is_erratum = correct is not None and not agrees(printed, correct) and agrees(f"{correct:.{decimals}f}", ours)
    verdict = AS_THERE if agrees(printed, ours) else ERRATUM if is_erratum else DIFFERS
    return Claim(what, quote, printed, f"{ours:.4g}", verdict, why if verdict != AS_THERE else "")


def share_claim(what: str, quote: str, printed: str, count: int, games: int) -> Claim:
    """A percentage that the document prints, and how many of our games; it is as there if our 95% interval holds it."""
    low, high = Score(count, 0, games - count).interval()
    share = float(re.sub(r"[^\d.]", "", printed)) / 100
    ours = f"{count / max(games, 1):.0%} of {games} ({low:.0%} to {high:.0%})"
    return Claim(what, quote, printed, ours, AS_THERE if low <= share <= high else DIFFERS)


def kept_file(options: Options, name: str, content: str) -> str:
    """Keeps data beside the page; returns a link to it."""
    options.folder.mkdir(parents=True, exist_ok=True)
    write_file(options.folder / name, content.encode())
    return f'<p><a href="{escape(name)}">{escape(name)}</a></p>'


def circumstances(options: Options) -> str:
    """With what, on what machine, when, and in how long."""
    version, day = f"Tengen {tengen.__version__}, seed {options.seed}", time.strftime("%Y-%m-%d")
    machine = f"{os.cpu_count() or 1} cores, {platform.machine()}, Python {platform.python_version()}"
    return f"{version} · {machine} · {day} · {duration(time.monotonic() - options.began)}"


def write_experiment(
    options: Options,
    title: str,
    about: str,
    claims: Sequence[Claim],
    parts: Sequence[tuple[str, str]] = (),
    style: str = "",
    is_chinese: bool = False,
) -> list[Claim]:
    """Writes the page of an experiment, says what it shows, and returns the claims.

    A document that `is_chinese` has its page in Chinese, too.
    """
    rows = [("", "the document", "here", "", "")]
    rows += [(claim.what, claim.printed, claim.ours, claim.verdict, claim.why) for claim in claims]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for what, printed, ours, verdict, why in rows:
        told = ": ".join(filter(None, (verdict, why)))
        options.say(f"{what:<{widths[0]}}  {printed:>{widths[1]}}  {ours:>{widths[2]}}  {told}".rstrip())
    body = f"<header>\n<p>Tengen: a document's experiment, repeated</p>\n<h1>{escape(title)}</h1>\n"
    body += f'<p>{escape(about)}</p>\n<p class="note">{escape(circumstances(options))}</p>\n'
    body += f'<p><a href="{CHINESE}">中文</a></p>\n</header>\n' if is_chinese else "</header>\n"
    body += section("Beside the document", f'<div class="card wide">{table(rows)}</div>')
    body += "".join(section(name, part) for name, part in parts)
    options.folder.mkdir(parents=True, exist_ok=True)
    path = write_page(options.report, title, body, style)
    options.say(f"\nreport: {path}")
    if is_chinese:
        page = path.read_text(encoding="utf-8").replace(f'href="{CHINESE}"', f'href="{path.name}"')
        write_file(path.with_name(CHINESE), translated_page(page).encode())
        options.say(f"报告：{path.with_name(CHINESE)}")
    return list(claims)
