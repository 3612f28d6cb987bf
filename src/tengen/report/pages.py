"""Reports as one HTML file each: nothing from elsewhere, light and dark, on paper and on a phone."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from pathlib import Path

from tengen.records.disk import write_file
from tengen.report import charts, diagrams

STYLE = """
:root { color-scheme: light dark; --page: #fbfaf7; --card: #fff; --ink: #1d2329; --soft: #5c6670; --edge: #e3e0d8;
  --accent: #0068a8; }
@media (prefers-color-scheme: dark) {
  :root { --page: #12161b; --card: #1a2027; --ink: #e8ecf0; --soft: #a3aeba; --edge: #2b333d; --accent: #5db7f0; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
header p { margin: 0; color: var(--soft); }
h1 { margin: 0 0 .2rem; font-size: 2rem; line-height: 1.2; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { margin: 2.75rem 0 .9rem; font-size: 1.25rem; }
h3 { margin: 0; font-size: .95rem; overflow-wrap: anywhere; }
figure { margin: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem;
  margin: 1.75rem 0 0; }
.tiles div, .card, .chart { background: var(--card); border: 1px solid var(--edge); border-radius: 10px; }
.tiles div { padding: .7rem .9rem; }
.tiles dt { color: var(--soft); font-size: .8rem; }
.tiles dd { margin: 0; font-size: 1.3rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.tiles small { display: block; color: var(--soft); font-size: .75rem; font-weight: 400; overflow-wrap: anywhere; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); gap: 1rem; }
.chart { padding: .9rem 1rem .8rem; min-width: 0; }
.chart .legend { font-size: .8rem; color: var(--soft); margin-bottom: .5rem; overflow-wrap: anywhere; }
.chart .legend b { color: var(--ink); font-variant-numeric: tabular-nums; }
.games { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 15.5rem), 1fr)); gap: 1rem; }
.games .card { padding: .8rem; margin: 0; }
@media (min-width: 40rem) { .games .large { grid-column: span 2; } }
.games figcaption { margin-top: .4rem; font-size: .82rem; color: var(--soft); overflow-wrap: anywhere; }
.games figcaption b { color: var(--ink); }
.games h3 { margin-bottom: .5rem; }
.settings { columns: 20rem; column-gap: 1rem; }
.settings .card { display: inline-block; width: 100%; padding: .8rem 1rem; margin: 0 0 1rem; break-inside: avoid; }
.wide { align-self: start; overflow-x: auto; padding: .6rem 1rem; }
.charts > .wide:nth-child(odd) { grid-column: 1 / -1; }
.wide td { white-space: nowrap; padding-left: .6rem; }
table { width: 100%; border-collapse: collapse; font-size: .86rem; }
th { text-align: left; font-weight: 400; color: var(--soft); }
td { text-align: right; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
th, td { padding: .3rem .4rem .3rem 0; border-top: 1px solid var(--edge); vertical-align: top; }
tr:first-child > * { border-top: 0; }
.note { color: var(--soft); }
@media print {
  :root { --page: #fff; } body { font-size: 11px; } main { max-width: none; padding: 0; }
  .chart, .card, .tiles div { break-inside: avoid; } h2 { break-after: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def write_page(path: Path, title: str, body: str, style: str = "", scripts: Sequence[str] = ()) -> Path:
    """Writes a page whose `body` is HTML already; whoever opens it meanwhile sees the old page or the new one.

    `style` is what the page needs beside the style of all pages. Of the scripts in it a browser runs only `scripts`,
    whatever a record may have brought along, and it loads nothing.
    """
    page = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(scripts)}">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}{charts.STYLE}{diagrams.STYLE}{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
    write_file(path, page.encode("utf-8", "replace"))
    return path


def policy(scripts: Sequence[str]) -> str:
    """What a browser may do with a page: show it in its own style, and run these scripts."""
    allowed = " ".join(f"'{script_hash(script)}'" for script in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def script_hash(script: str) -> str:
    """How a Content-Security-Policy names a script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def section(title: str, body: str) -> str:
    """A part of a page under its heading; nothing if there is nothing to show."""
    return f"<section>\n<h2>{escape(title)}</h2>\n{body}\n</section>\n" if body else ""


def chart_grid(figures: Sequence[str]) -> str:
    """Charts beside each other as there is room; empty ones are left out."""
    body = "\n".join(filter(None, figures))
    return f'<div class="charts">\n{body}\n</div>' if body else ""


def tiles(figures: Sequence[tuple[str, str, str]]) -> str:
    """Figures in large print: each has a name, a value, and what else there is to say."""
    listed = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(more)}</small></dd></div>"
        for name, value, more in figures
    )
    return f'<dl class="tiles">{listed}</dl>'


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text, each with its name first."""
    lines = (
        f"<tr><th>{escape(first)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in rest)}</tr>"
        for first, *rest in rows
    )
    return f"<table>{''.join(lines)}</table>"
