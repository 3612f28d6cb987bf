"""What docs/documents/ publishes, from the folders of long runs: pictures, curves as CSV, games as SGF, tables.

    python bench/documents.py 8x8 RUN [RUN …]      runs of the preset gomoku8-paper; the first one's games are kept
    python bench/documents.py gobang FOLDER GAMES  the folder of `tengen reproduce gobang --full`, so many games a pair

Tables are printed in Markdown, for the page.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from tengen.agents.specs import PRESETS
from tengen.arena.match import score_of
from tengen.course.pictures import chart_svg
from tengen.course.reproduce import gobang
from tengen.course.reproduce.gomoku8 import MOMENTS, OPPONENT, PAPER_LOSS, PAPER_RATES, loss_claims, rate_claims
from tengen.course.reproduce.page import Claim, Options
from tengen.games import load_game
from tengen.learn.report import line_of, match_lines, read_metrics
from tengen.records.record import Record
from tengen.records.sgf import read_sgf, write_sgf
from tengen.records.store import Store
from tengen.report.charts import Line
from tengen.report.diagrams import drawing_of

DOCS = Path(__file__).resolve().parent.parent / "docs"
DATA, PICTURES = DOCS / "documents", DOCS / "images"


def write_table(name: str, rows: Iterable[Iterable[Any]]) -> None:
    """A CSV file beside the page."""
    with (DATA / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def tell(claims: Iterable[Claim]) -> None:
    """The document's figures beside ours."""
    print("\n| | the paper | here | |\n|---|---|---|---|")
    for claim in claims:
        print(f"| {claim.what} | {claim.printed} | {claim.ours} | {claim.verdict} |")


def publish_8x8(runs: list[Path]) -> None:
    """The curves of all runs in the paper's axes, and games of the first one's evaluations."""
    losses, rates, rows = list[Line](), list[Line](), [["run", "batch", "loss", "win rate", "low", "high"]]
    for number, run in enumerate(runs, 1):
        metrics = read_metrics(run / "metrics.jsonl")
        name = "here" if number == 1 else f"here, run {number}"
        loss, rate = line_of(metrics, "total", name, "loss"), match_lines(metrics)[0]
        matches = {x: (y, *edges) for (x, y), edges in zip(rate.points, rate.band, strict=True)}
        rows += [[number, int(x), f"{y:.4f}", *(f"{v:.4f}" for v in matches.get(x, ()))] for x, y in loss.points]
        losses.append(loss)
        rates.append(Line(name, rate.points, rate.band if number == 1 else ()))
        print(f"run {number}: {len(metrics)} batches, {metrics[-1]['games']} games, {metrics[-1]['seconds']:.0f} s")
        tell([*loss_claims(loss.points), *rate_claims(rate.points)])
        evaluated = [f"{x:.0f}: {y:.0%}" for x, y in rate.points]
        print(", ".join(evaluated))
    write_table("8x8-curves.csv", rows)
    (PICTURES / "documents-8x8-loss.svg").write_text(chart_svg("Loss", [*losses, PAPER_LOSS], "batch"))
    chart = chart_svg(f"Share of points against {OPPONENT}, 10 games", [*rates, *PAPER_RATES], "batch")
    (PICTURES / "documents-8x8-wins.svg").write_text(chart)
    kept, moments = list[Record](), sorted(int(path.stem) for path in (runs[0] / "games").glob("*.sgf"))
    chosen = [moment for moment in MOMENTS if moment in moments]
    for moment in [*chosen, *(moments[-1:] if moments[-1] not in chosen else [])]:
        records = read_sgf((runs[0] / "games" / f"{moment:06}.sgf").read_bytes())
        fought = [record for record in records if OPPONENT in record.players]
        kept += fought
        drawing = drawing_of(fought[0].game.from_actions(fought[0].moves))
        drawing = drawing.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
        (PICTURES / f"documents-8x8-game-{moment}.svg").write_text(drawing)
        print(moment, [(record.players, record.result, len(record.moves)) for record in fought])
    (DATA / "8x8-games.sgf").write_text(write_sgf(*kept), encoding="utf-8")


def table_games(folder: Path, games: int) -> dict[tuple[str, str], list[Record]]:
    """The first `games` games of every pair; none may be missing."""
    with Store(folder / "games" / "games.db") as store:
        (match,) = store.matches()
        found = list(store.games(match=match.id, game=load_game("gomoku")))
    agents = match.settings["agents"]
    pairs = {}
    for index, pair in enumerate(combinations(agents, 2)):
        first = index * 1_000_000
        own = {one.number: one.record for one in found if one.number is not None}
        missing = [number for number in range(first, first + games) if number not in own]
        if missing:
            raise SystemExit(f"{pair}: {len(missing)} of {games} games are missing")
        pairs[pair] = [own[number] for number in range(first, first + games)]
    return pairs


def publish_gobang(folder: Path, games: int) -> None:
    """Figure 8's table with intervals, and figure 7's curves."""
    pairs = table_games(folder, games)
    records = [record for pair in pairs.values() for record in pair]
    ninth = next(iter(reversed(pairs)))[1]
    names = {**{name: name for name in gobang.CLASSICAL}, ninth: gobang.NINTH}
    rows = [["player", "opponent", "wins", "draws", "losses", "share of points", "low", "high"]]
    for (one, other), own in pairs.items():
        score = score_of(one, own)
        edges = [f"{share:.4f}" for share in (score.rate, *score.interval())]
        rows.append([names[one], names[other], score.wins, score.draws, score.losses, *edges])
    write_table("gobang-table.csv", rows)
    (DATA / "gobang-games.sgf").write_text(write_sgf(*records), encoding="utf-8")
    print("| | is | " + " | ".join(name.removeprefix("gobang") for name in [*gobang.CLASSICAL, "gobang9"]) + " | all |")
    print("|---|---|" + "---:|" * 10)
    for name in names:
        cells = []
        for other in names:
            pair = pairs.get((name, other)) or pairs.get((other, name))
            score = score_of(name, pair) if pair else None
            cells.append(f"{score.wins}–{score.draws}–{score.losses}" if score else "")
        total = score_of(name, [record for record in records if name in record.players])
        low, high = total.interval()
        known = PRESETS.get(name, ninth)
        share = f"{total.rate:.1%} ({low:.0%} to {high:.0%})"
        print(f"| {names[name]} | `{known}` | {' | '.join(cells)} | {share} |")
    options = Options(folder, is_full=True)
    times = {
        (name, size): gobang.move_times(name, name, size, gobang.FULL, options)
        for name in (*gobang.CLASSICAL, gobang.NINTH)
        for size in gobang.SIZES
    }
    tell([*gobang.time_claims(times, 15), *gobang.strength_claims(records, ninth)])
    print(gobang.times_table(times))
    publish_times(times)


def publish_times(times: gobang.Times) -> None:
    """Every move of every timed game, and a chart for each board."""
    rows: list[list[Any]] = [["algorithm", "board", "game", "move", "seconds"]]
    for (name, size), seconds in times.items():
        for game, own in enumerate(seconds, 1):
            lasted = [(ply, taken) for ply, taken in enumerate(own) if taken == taken]
            rows += [[name, size, game, gobang.OPENING + 1 + ply, f"{taken:.6f}"] for ply, taken in lasted]
    write_table("gobang-times.csv", rows)
    for size in gobang.SIZES:
        lines = []
        for name in (*gobang.CLASSICAL, gobang.NINTH):
            own = times[name, size]
            plies = [ply for ply in range(own.shape[1]) if (own[:, ply] == own[:, ply]).any()]
            points = [(gobang.OPENING + 1.0 + ply, max(mean_of(own[:, ply]), 1e-6)) for ply in plies]
            lines.append(Line(name, points))
        chart = chart_svg(f"{size}×{size}: seconds a move", lines, "move", is_logarithmic=True)
        (PICTURES / f"documents-gobang-times-{size}.svg").write_text(chart)


def mean_of(seconds: Iterable[float]) -> float:
    """Of those games that were not over."""
    known = [taken for taken in seconds if taken == taken]
    return sum(known) / len(known)


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    if what == "8x8":
        publish_8x8([Path(run) for run in given])
    else:
        publish_gobang(Path(given[0]), int(given[1]))
