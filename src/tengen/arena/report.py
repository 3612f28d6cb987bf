"""A tournament as one page, made of its records alone: who is stronger and how sure that is, times, games to replay.

The page needs nothing else; its one script plays games through. `figures` draws the same as pictures for a paper.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from tengen.arena.match import Score, repeated
from tengen.arena.ratings import Ratings, count_results, rate
from tengen.records.record import Record
from tengen.report import replays
from tengen.report.charts import (
    Interval,
    Line,
    draw_bars,
    draw_chart,
    draw_intervals,
    percent,
    plain,
    seconds,
    spans_decades,
)
from tengen.report.pages import chart_grid, section, table, tiles, write_page
from tengen.report.replays import choose_replays, draw_replays, ranges_text
from tengen.rules.errors import TengenError

MOST_BOARDS = 1000  # games that can be played through
MOST_FORFEITS = 200  # that are listed
LONGEST_REASON = 1000  # characters

STYLE = """
.cross td, .cross tr:first-child th { text-align: center; padding: .35rem .3rem; }
.cross th { max-width: min(22rem, 36vw); overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  color: var(--ink); }
.cross tr:first-child th { color: var(--soft); }
.cross td { min-width: 5.6rem; border-left: 1px solid var(--edge); }
.cross .self { color: var(--soft); }
.share { display: flex; height: 5px; gap: 1px; margin-top: .25rem; border-radius: 3px; overflow: hidden; }
i.won { background: #0068a8; } i.drawn { background: #9aa3ad; }
i.lost { background: #c24a00; }
@media (prefers-color-scheme: dark) { i.won { background: #5db7f0; } i.drawn { background: #66717d; }
  i.lost { background: #ff9a57; } }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .6rem 0 .3rem; font-size: .8rem; color: var(--soft); }
.key i { display: inline-block; width: .8em; height: .45em; margin-right: .4em; border-radius: 2px; }
.balance { padding: .9rem 1rem; align-self: start; }
.balance .share { height: 14px; margin: .7rem 0; border-radius: 4px; }
.balance p { margin: .3rem 0 0; font-size: .86rem; }
.reasons td { text-align: left; white-space: normal; }
.reasons td:nth-child(2) { min-width: 12rem; } .reasons td:nth-child(3) { white-space: nowrap; overflow-wrap: normal; }
.reasons td:last-child { min-width: 16rem; }
.ranking th { overflow-wrap: anywhere; min-width: 11rem; color: var(--ink); }
.ranking tr:first-child th { color: var(--soft); }
.full { margin-top: 1rem; }
details { margin-top: .6rem; font-size: .84rem; color: var(--soft); } details p { overflow-wrap: anywhere; }
"""


def write_tournament_report(
    path: Path,
    records: Sequence[Record],
    title: str,
    notes: Sequence[str] = (),
    anchor: str | None = None,
    most_boards: int = MOST_BOARDS,
) -> Path:
    """Writes the page and returns its path. `notes` are lines for its head; the anchor, if there is one, has rating 0.

    At most `most_boards` games can be played through: those that ended early, and of all pairs equally many.
    """
    summary = Summary(records, anchor)
    sections = [
        _header(summary, title, notes),
        section("Ratings", _ratings(summary)),
        section("Who beat whom", cross_table(summary)),
        section("Times and lengths", chart_grid(_charts(summary)) + _times_table(summary)),
        section("Games that ended early", _forfeits(summary)),
        section("Games", _games(records, most_boards)),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_page(path, title, "".join(sections), STYLE + replays.STYLE, [replays.SCRIPT])


class Summary:
    """The figures of a tournament, from its records."""

    def __init__(self, records: Sequence[Record], anchor: str | None = None):
        self.records, self.anchor = records, anchor

    @cached_property
    def ratings(self) -> Ratings:
        return rate(count_results(self.records), self.anchor, first_move=True)

    @property
    def names(self) -> list[str]:
        """The players, the strongest first, then those without a result."""
        rated = self.ratings.names
        others = dict.fromkeys(name for record in self.records for name in record.players if name not in rated)
        return [*rated, *others]

    @cached_property
    def pairs(self) -> dict[tuple[str, str], Score]:
        """How each player fared against each other, whoever moved first."""
        added: Counter[tuple[str, str, int]] = Counter()
        for first, second, *counts in count_results(self.records):
            for i, count in enumerate(counts):
                added[first, second, i] += count
                if first != second:
                    added[second, first, 2 - i] += count
        return {(one, other): Score(*(added[one, other, i] for i in range(3))) for one, other, _ in list(added)}

    @cached_property
    def first_player(self) -> Score:
        """The score of the players who moved first."""
        counted = count_results(self.records)
        return Score(
            sum(result.wins for result in counted),
            sum(result.draws for result in counted),
            sum(result.losses for result in counted),
        )

    @cached_property
    def times(self) -> dict[str, dict[int, list[float]]]:
        """Of each player, by the number of the move: how many such moves there were, and their seconds in all."""
        found: dict[str, dict[int, list[float]]] = {name: {} for name in self.names}
        begins = {game: game.start().to_play for game in {record.game for record in self.records}}
        for record in self.records:
            for number, taken in enumerate(record.seconds, record.opening + 1):
                if not 0 <= taken < math.inf:
                    continue
                player = record.players[(begins[record.game] + number - 1) % 2]
                entry = found[player].setdefault(number, [0, 0.0])
                entry[0] += 1
                entry[1] += taken
        return {name: dict(sorted(moves.items())) for name, moves in found.items() if moves}

    def time_lines(self) -> list[Line]:
        """Mean seconds a move against the number of the move; a line for each player."""
        lines = []
        for name, moves in self.times.items():
            mean = sum(total for _, total in moves.values()) / sum(count for count, _ in moves.values())
            points = [(number, total / count) for number, (count, total) in moves.items()]
            lines.append(Line(shown(name), points, summary=mean))
        return lines

    @property
    def forfeits(self) -> list[tuple[int, Record]]:
        """The games that did not end by their rules, with their numbers."""
        return [(number, record) for number, record in enumerate(self.records, 1) if record.ending]


def shown(name: str) -> str:
    return name or "unknown"


def signed(elo: float) -> str:
    """A rating: +31, 0, −1,204."""
    return f"{round(elo):+,}".replace("-", "−").replace("+0", "0")


def _header(summary: Summary, title: str, notes: Sequence[str]) -> str:
    """The head of the page: the game, the number of games, and the overall results."""
    records, first = summary.records, summary.first_player
    games = ", ".join(dict.fromkeys(record.game.spec for record in records))
    dates = sorted({record.date for record in records if record.date})
    about = " · ".join(filter(None, [games, " to ".join(dict.fromkeys([dates[0], dates[-1]])) if dates else ""]))
    figures = [("Games", f"{len(records):,}", ""), ("Players", f"{len(summary.names):,}", "")]
    if unfinished := len(records) - first.count:
        figures.append(("Without result", f"{unfinished:,}", "not rated"))
    if first.count:
        figures += [
            ("First player wins", percent(first.wins / first.count), f"{first.wins:,} of {first.count:,}"),
            ("Draws", percent(first.draws / first.count), f"{first.draws:,} of {first.count:,}"),
        ]
    if records:
        lengths = [len(record.moves) for record in records]
        span = f"{min(lengths)} to {max(lengths)} plies"
        figures.append(("Mean length", f"{sum(lengths) / len(lengths):.1f}", span))
    figures.append(("Repeated", f"{repeated(records):,}", "another game, move by move"))
    figures.append(("Ended early", f"{len(summary.forfeits):,}", "not by the rules of the game"))
    lines = "".join(f"<p>{escape(line)}</p>\n" for line in [about, *notes] if line)
    return f"<header>\n<p>Tengen tournament report</p>\n<h1>{escape(title)}</h1>\n{lines}{tiles(figures)}\n</header>\n"


def _ratings(summary: Summary) -> str:
    """The ratings with their intervals, as a chart and as a table."""
    ratings = summary.ratings
    if not ratings.table:
        return '<p class="note">No game has a result yet.</p>'
    share = percent(ratings.confidence)
    zero = f"{ratings.anchor} is 0" if ratings.anchor is not None else "the mean of all players is 0"
    intervals = [Interval(shown(row.name), row.elo, row.low, row.high) for row in ratings.table]
    chart = draw_intervals(f"Elo with {share} intervals", intervals, signed, zero)
    rows: list[Sequence[str]] = [("", "Elo", f"{share} interval", "points", "games", "above the next")]
    for place, row in enumerate(ratings.table):
        below = ratings.table[place + 1].name if place + 1 < len(ratings.table) else None
        better = percent(ratings.superiority(row.name, below)) if below is not None else ""
        points = percent(row.points / row.games) if row.games else "–"
        interval = f"{signed(row.low)} to {signed(row.high)}"
        rows.append((f"{place + 1}. {shown(row.name)}", signed(row.elo), interval, points, f"{row.games:,}", better))
    warnings = "".join(f'<p class="note">Note: {escape(warning)}.</p>' for warning in ratings.warnings)
    meaning = (
        f"A rating is a difference, here to where {zero}, and its interval that of this difference. "
        "“Above the next” is how likely it is that a player is stronger than the one below. "
        "Games count as independent: agents that repeat a game move by move make intervals too narrow."
    )
    listed = f'<div class="card wide ranking">{table(rows)}</div>'
    grid = chart_grid([chart, _balance(summary)])
    return f'{warnings}{listed}\n<p class="note">{escape(meaning)}</p>\n{grid}'


def _share_bar(score: Score) -> str:
    parts = zip(("won", "drawn", "lost"), (score.wins, score.draws, score.losses), strict=True)
    return (
        f'<div class="share">{"".join(f"""<i class="{kind}" style="flex:{n}"></i>""" for kind, n in parts if n)}</div>'
    )


def cross_table(summary: Summary) -> str:
    """Wins, losses and draws of every pair, seen from the player of the row."""
    names = summary.names
    if not summary.pairs:
        return ""
    head = "".join(f'<th title="{escape(shown(name))}">{i}</th>' for i, name in enumerate(names, 1))
    rows = [f"<tr><th></th>{head}</tr>"]
    for i, name in enumerate(names, 1):
        label = escape(f"{i}. {shown(name)}")
        cells = "".join(_cross_cell(summary, name, other) for other in names)
        rows.append(f'<tr><th title="{label}">{label}</th>{cells}</tr>')
    key = "".join(
        f'<span><i class="{kind}"></i>{text}</span>'
        for kind, text in (("won", "wins"), ("lost", "losses"), ("drawn", "draws"))
    )
    return (
        f'<div class="card wide cross"><table>{"".join(rows)}</table></div>'
        f'<p class="note key">Wins / losses / draws of the player on the left.{key}</p>'
    )


def _cross_cell(summary: Summary, name: str, other: str) -> str:
    score = summary.pairs.get((name, other))
    if score is None or not score.count:
        return f'<td class="self">{"·" if name == other else ""}</td>'
    said = escape(f"{shown(name)} against {shown(other)}: {percent(score.rate)} of the points")
    return f'<td title="{said}">{score.wins} / {score.losses} / {score.draws}{_share_bar(score)}</td>'


def _charts(summary: Summary) -> list[str]:
    lines, lengths = summary.time_lines(), Counter(len(record.moves) for record in summary.records)
    return [
        draw_chart(
            "Mean time of a move", lines, seconds, across="move", is_logarithmic=spans_decades(lines), span=None
        ),
        draw_bars("Lengths of games", lengths, "plies"),
    ]


def _balance(summary: Summary) -> str:
    """The advantage of moving first."""
    score, ratings = summary.first_player, summary.ratings
    if not score.count:
        return ""
    shares = ", ".join(
        f"{name} {percent(count / score.count)}"
        for name, count in (("first player", score.wins), ("draws", score.draws), ("second player", score.losses))
    )
    words = "What moving first is worth cannot be told from these games."
    if ratings.first_move is not None and ratings.first_move_interval is not None:
        low, high = ratings.first_move_interval
        words = (
            f"Moving first is worth {signed(ratings.first_move)} Elo ({signed(low)} to {signed(high)}). "
            f"Of games between equals {percent(ratings.draw_rate)} would be drawn."
        )
    body = f"{_share_bar(score)}<p>{escape(shares)}</p><p>{escape(words)}</p>"
    return f'<div class="card balance"><h3>The first move</h3>{body}</div>'


def _times_table(summary: Summary) -> str:
    rows: list[Sequence[str]] = [("Time of a move", "moves", "mean", "all")]
    for name, moves in summary.times.items():
        count, total = (sum(entry[i] for entry in moves.values()) for i in (0, 1))
        rows.append((shown(name), plain(count), seconds(total / count), seconds(total)))
    return f'<div class="card wide full ranking">{table(rows)}</div>' if len(rows) > 1 else ""


def _forfeits(summary: Summary) -> str:
    """The games lost by a crash, on time, by an illegal move or by giving up, with what happened."""
    found = summary.forfeits
    if not found:
        return ""
    rows: list[Sequence[str]] = [("Game", "players", "result", "reason")]
    for number, record in found[:MOST_FORFEITS]:
        players = " – ".join(shown(name) for name in record.players)
        rows.append((f"{number}", players, record.result, record.ending[:LONGEST_REASON]))
    more = f'<p class="note">and {len(found) - MOST_FORFEITS:,} more</p>' if len(found) > MOST_FORFEITS else ""
    return f'<div class="card wide reasons">{table(rows)}</div>{more}'


def _games(records: Sequence[Record], most: int) -> str:
    """The list of games and the board; and which games are not there."""
    chosen, left_out = choose_replays(records, most)
    reasons: dict[str, list[int]] = {}
    for number, reason in left_out.items():
        reasons.setdefault(reason, []).append(number)
    listed = "".join(f"<p>{escape(reason)}: {ranges_text(numbers)}</p>" for reason, numbers in reasons.items())
    words = f"{len(left_out):,} of {len(records):,} games are not shown here"
    missing = f"<details><summary>{words}</summary>{listed}</details>\n" if left_out else ""
    return draw_replays(chosen) + missing


# The same as pictures.


def figures(folder: Path, records: Sequence[Record], anchor: str | None = None) -> list[Path]:
    """Writes ratings.png, cross-table.png and, if moves were timed, move-times.png; returns their paths."""
    summary = Summary(records, anchor)
    if not summary.ratings.table:
        raise TengenError("there is nothing to draw: no game has a result")
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {"ratings": _ratings_figure(summary), "cross-table": _cross_figure(summary)}
    if summary.times:
        drawn["move-times"] = _times_figure(summary)
    paths = []
    for name, figure in drawn.items():
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=160, metadata={"Software": None})
    return paths


def new_figure(width: float, height: float) -> tuple[Any, Any]:
    """A figure and its axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise TengenError("figures need matplotlib: pip install matplotlib") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def as_plain_text(names: Iterable[str]) -> list[str]:
    """Names that matplotlib does not read as formulas, and not too long."""
    return [(name if len(name) <= 40 else f"{name[:39]}…").replace("$", r"\$") for name in map(shown, names)]


def _ratings_figure(summary: Summary) -> Any:
    rows = summary.ratings.table
    figure, axes = new_figure(7, 1 + 0.35 * len(rows))
    for i, row in enumerate(rows):
        axes.plot([row.low, row.high], [i, i], color="#0068a8", linewidth=2, marker="|", markersize=8)
        axes.plot(row.elo, i, "o", color="#0068a8")
    axes.set_yticks(range(len(rows)), as_plain_text(row.name for row in rows))
    axes.set(xlabel=f"Elo, with {percent(summary.ratings.confidence)} intervals", ylim=(len(rows) - 0.5, -0.5))
    axes.axvline(0, color="#9aa3ad", linewidth=1, linestyle=":")
    axes.grid(axis="x", alpha=0.3)
    return figure


def _cross_figure(summary: Summary) -> Any:
    names = summary.names
    figure, axes = new_figure(3 + 0.95 * len(names), 1 + 0.5 * len(names))
    rates = [
        [score.rate if (score := summary.pairs.get((one, other))) else float("nan") for other in names] for one in names
    ]
    axes.imshow(rates, vmin=-0.5, vmax=1.5, cmap="RdBu", aspect="auto")  # pale, so that figures can be read
    for i, one in enumerate(names):
        for j, other in enumerate(names):
            if score := summary.pairs.get((one, other)):
                words = f"{score.wins} / {score.losses} / {score.draws}"
                axes.text(j, i, words, ha="center", va="center", fontsize=8)
    axes.set_yticks(range(len(names)), [f"{i}. {name}" for i, name in enumerate(as_plain_text(names), 1)])
    axes.set_xticks(range(len(names)), [str(i) for i in range(1, len(names) + 1)])
    axes.set_title("wins / losses / draws of the player on the left", fontsize=9)
    return figure


def _times_figure(summary: Summary) -> Any:
    figure, axes = new_figure(8, 4.5)
    lines = summary.time_lines()
    for line, name in zip(lines, as_plain_text(summary.times), strict=True):
        points = [(number, taken) for number, taken in line.points if taken > 0]
        axes.plot([number for number, _ in points], [taken for _, taken in points], label=name, linewidth=1.3)
    axes.set(xlabel="move", ylabel="mean seconds of a move", yscale="log" if spans_decades(lines) else "linear")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure
