"""A training run as one page: RUN/report.html, from the run's settings, its metrics and its sample games.

The page needs nothing else, neither network nor scripts. It is rewritten after each evaluation, so it is quick, and it
shows what there is: a file that is missing, or was cut off while it was written, leaves its part of the page empty.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from tengen.arena.report import signed
from tengen.records.record import Record, RecordError, result_words
from tengen.records.sgf import read_sgf
from tengen.report.charts import Line, draw_chart, percent
from tengen.report.diagrams import draw_board
from tengen.report.pages import chart_grid, section, table, tiles, write_page
from tengen.rules.game import Game

MOST_MOMENTS = 4  # generations whose games are shown
LARGE = 11  # boards with more columns than that get twice the width
Metrics = dict[str, Any]  # what one line of metrics.jsonl says: a generation


def write_report(run: Path, game: Game | None = None) -> Path:
    """Writes RUN/report.html and returns its path; whoever opens it meanwhile sees the old page or the new one.

    Sample games of a user's game are drawn only if that `game` is given: a record alone never makes us run a file.
    """
    config, metrics = read_config(run / "config.toml"), read_metrics(run / "metrics.jsonl")
    strength = [*_strength_charts(metrics), matches_table(metrics), no_match(config, metrics)]
    sections = [
        _header(config, metrics),
        section("Strength", chart_grid(strength)),
        section("Learning", chart_grid(_learning_charts(metrics))),
        section("Self-play", chart_grid(_play_charts(metrics))),
        section("Games along the way", _sample_games(run / "games", game)),
        section("Settings", settings_table(config)),
    ]
    title = f"{config.get('run', {}).get('game', run.name)}: training report"
    return write_page(run / "report.html", title, "".join(sections))


# What the folder holds.


def read_config(path: Path) -> dict[str, Any]:
    """The run's settings, table by table; empty if the file is missing or damaged."""
    with suppress(OSError, ValueError):
        return tomllib.loads(path.read_text(encoding="utf-8"))
    return {}


def table_of(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A table of the settings; empty if there is none by that name."""
    found = config.get(name)
    return found if isinstance(found, dict) else {}


def read_metrics(path: Path) -> list[Metrics]:
    """What was measured, generation by generation; of one that was done twice (a resumed run) the last is taken.

    Lines that are no JSON objects are left out: a run that was killed may have been writing one.
    """
    found: dict[str, Metrics] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n") if path.is_file() else []:
        with suppress(ValueError, RecursionError):
            entry = json.loads(line)
            if isinstance(entry, dict):
                found[json.dumps(entry.get("generation", f"line {len(found)}"))] = entry
    return list(found.values())


def number_of(entry: Mapping[str, Any], name: str) -> float | None:
    """A finite number of an entry, if it has one by that name."""
    value = entry.get(name)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def latest(metrics: Sequence[Metrics], name: str) -> float | None:
    """The newest figure by that name."""
    return next((value for entry in reversed(metrics) if (value := number_of(entry, name)) is not None), None)


def line_of(metrics: Sequence[Metrics], name: str, label: str = "", group: str = "", by: str = "step") -> Line:
    """A figure by step or generation, from the entries that have it (in their `group`, where one is named)."""
    points = []
    for entry in metrics:
        holder = entry.get(group) or {} if group else entry
        x, y = place_of(entry, by), number_of(holder, name)
        if x is not None and y is not None:
            points.append((x, y))
    return Line(label or name.replace("_", " "), points)


def place_of(entry: Metrics, by: str) -> float | None:
    """Where an entry stands on the axis; one that does not say its step stands at its generation."""
    place = number_of(entry, by)
    return number_of(entry, "generation") if place is None else place


AXIS = "generation"  # what a report draws its curves over, as the page Learn does
curve_of = partial(line_of, by=AXIS)
draw_curves = partial(draw_chart, across=AXIS)


@dataclass(frozen=True)
class Match:
    """How the network fared against one opponent: its points a game, and their interval."""

    opponent: str
    counts: tuple[str, ...]  # wins, draws, losses
    rate: float
    low: float
    high: float

    @property
    def interval(self) -> str:
        return f"{percent(self.low)} to {percent(self.high)}"


def matches_of(entry: Metrics) -> list[Match]:
    """The matches of a generation; one that says no rate is left out, one that says no interval has none."""
    found = []
    for match in entry.get("matches") or []:
        if (rate := number_of(match, "rate")) is None:
            continue
        low, high = (rate if (edge := number_of(match, name)) is None else edge for name in ("low", "high"))
        counts = tuple(str(match.get(name, "–")) for name in ("wins", "draws", "losses"))
        found.append(Match(str(match.get("opponent", "?")), counts, rate, low, high))
    return found


def latest_matches(metrics: list[Metrics]) -> list[Match]:
    return next((found for entry in reversed(metrics) if (found := matches_of(entry))), [])


def match_lines(metrics: list[Metrics], by: str = "step") -> list[Line]:
    """The win rate by step or generation, one line an opponent."""
    found: dict[str, list[tuple[float, Match]]] = {}
    for entry in metrics:
        if (place := place_of(entry, by)) is not None:
            for match in matches_of(entry):
                found.setdefault(match.opponent, []).append((place, match))
    return [
        Line(
            f"against {opponent}",
            [(place, match.rate) for place, match in made],
            [(match.low, match.high) for _, match in made],
        )
        for opponent, made in found.items()
    ]


@dataclass(frozen=True)
class FirstMatch:
    """When a run plays its first match, and against whom; generation 0 if it never does."""

    generation: int
    opponent: str

    @property
    def sooner(self) -> int | None:
        """What `evaluation.every` would bring it sooner; None if nothing would."""
        return max(1, self.generation // 4) if self.generation > 1 else None


def first_match(config: Mapping[str, Any]) -> FirstMatch | None:
    """What the settings say of the first match; None if they say nothing."""
    own = table_of(config, "evaluation")
    every, last = number_of(own, "every"), number_of(table_of(config, "run"), "generations")
    return None if every is None else FirstMatch(int(min(every, last or every)), str(own.get("opponent", "")))


# The parts of the page.


def _header(config: dict[str, Any], metrics: list[Metrics]) -> str:
    """What was trained, how long, and how well it plays."""
    about = config.get("run", {})
    named = [f"{name} {about[name]}" for name in ("preset", "seed", "version") if name in about]
    figures = [
        (name, f"{value:,.0f}", "")
        for name, key in (("Generations", "generation"), ("Games", "games"), ("Positions", "positions"))
        if (value := latest(metrics, key)) is not None
    ]
    if (seconds := latest(metrics, "seconds")) is not None:
        figures.append(("Time", duration(seconds), ""))
    figures += [
        ("Win rate", percent(match.rate), f"{match.interval} against {match.opponent}")
        for match in latest_matches(metrics)[:1]
    ]
    if (rating := latest(metrics, "rating")) is not None:
        figures.append(("Rating", signed(rating), "Elo"))
    if (accuracy := latest(metrics, "top1")) is not None:
        figures.append(("Top-1", percent(accuracy), "of held-out moves"))
    if (error := latest(metrics, "held_out_error")) is not None:
        base = latest(metrics, "mean_error") or error
        figures.append(("Error", f"{error:.3f}", f"always saying the mean: {base:.3f}"))
    empty = "" if metrics else '<p class="note">Nothing has been measured yet.</p>'
    return (
        f"<header>\n<p>Tengen training report</p>\n<h1>{escape(str(about.get('game', 'A training run')))}</h1>\n"
        f"<p>{escape(' · '.join(named))}</p>\n{tiles(figures)}\n{empty}</header>\n"
    )


def duration(seconds: float) -> str:
    """A time as people say it: 83 s, 12 min, 3 h 20 min."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def win_rates(metrics: list[Metrics]) -> str:
    """The curve of strength, one line an opponent."""
    title = "Win rate with its 95% interval (a draw is half)"
    return draw_curves(title, match_lines(metrics, AXIS), percent, span=(0, 1))


def _strength_charts(metrics: list[Metrics]) -> list[str]:
    accuracy = [curve_of(metrics, "top1", "top-1, held out"), curve_of(metrics, "top5", "top-5, held out")]
    accuracy.append(curve_of(metrics, "learned_top1", "top-1, learned from"))
    errors = [curve_of(metrics, "held_out_error", "the net"), curve_of(metrics, "mean_error", "always the mean")]
    return [
        draw_curves("Accuracy: how often the player's move is the net's first choice", accuracy, percent, span=(0, 1)),
        draw_curves("Squared error on held-out games", errors, span=(0, 1)),
        win_rates(metrics),
        draw_curves("Rating", [curve_of(metrics, "rating", "Elo")]),
        draw_curves("Mistakes", [curve_of(metrics, "mistakes", "moves worse than the best")], percent, span=(0, 0)),
    ]


def _learning_charts(metrics: list[Metrics]) -> list[str]:
    terms = dict.fromkeys(term for entry in metrics for term in entry.get("loss") or {})
    return [
        draw_curves("Loss", [curve_of(metrics, term, group="loss") for term in terms], span=(0, 0)),
        draw_curves("Distance from the supervised policy", [curve_of(metrics, "distance", "nats")], span=(0, 0)),
        draw_curves("Entropy", [curve_of(metrics, "entropy", "nats")], span=(0, 0)),
        draw_curves("Learning rate", [curve_of(metrics, "learning_rate")], span=(0, 0)),
    ]


def _play_charts(metrics: list[Metrics]) -> list[str]:
    shares = [curve_of(metrics, "first_wins", "first player wins"), curve_of(metrics, "draws")]
    shares.append(curve_of(metrics, "score", "against the pool"))
    asked = curve_of(metrics, "evaluations_per_second", "by the network")
    return [
        draw_curves("Length of a game", [curve_of(metrics, "plies", "plies, mean")], span=(0, 0)),
        draw_curves("Results", shares, percent, span=(0, 1)),
        draw_curves("Positions a second", [curve_of(metrics, "positions_per_second", "new positions")], span=(0, 0)),
        draw_curves("Evaluations a second", [asked], span=(0, 0)),
    ]


def no_match(config: Mapping[str, Any], metrics: list[Metrics]) -> str:
    """As long as no match was played: when the first one comes, and how a run has it sooner."""
    first = first_match(config)
    if first is None or not metrics or latest_matches(metrics):
        return ""
    against = f" against {first.opponent}" if first.opponent else ""
    said = f"No match yet: the first{against} comes with generation {first.generation:,}; the curve begins there."
    if not first.generation:
        said = (
            "This run plays no matches, so it has no curve of strength; a new run has with --set evaluation.every=10."
        )
    if first.sooner:
        said += f" A new run has one sooner with --set evaluation.every={first.sooner}."
    return f'<p class="card wide note">{escape(said)}</p>'


def matches_table(metrics: list[Metrics]) -> str:
    """The latest evaluation, opponent by opponent."""
    rows: list[tuple[str, ...]] = [("Latest evaluation against", "wins", "draws", "losses", "win rate", "95% interval")]
    for match in latest_matches(metrics):
        rows.append((match.opponent, *match.counts, percent(match.rate), match.interval))
    return f'<div class="card wide">{table(rows)}</div>' if len(rows) > 1 else ""


def _sample_games(folder: Path, game: Game | None) -> str:
    """Diagrams of games from the beginning of the run to its end: the first and the last of each file chosen."""
    files = sorted(folder.glob("*.sgf"))
    last, count = len(files) - 1, min(MOST_MOMENTS, len(files))
    chosen = sorted({round(i * last / max(count - 1, 1)) for i in range(count)})
    figures = [drawn for i in chosen for drawn in _games_of(files[i], game)]
    return f'<div class="games">{"".join(figures)}</div>' if figures else ""


def _games_of(path: Path, game: Game | None) -> Iterator[str]:
    """One or two games of a file; or why it cannot be read."""
    name = f"Generation {int(path.stem):,}" if path.stem.isdecimal() else path.stem
    try:
        records = read_sgf(path.read_bytes(), game)
    except (OSError, RecordError) as reason:
        yield f'<p class="card note">{escape(f"{name}: {reason}")}</p>'
        return
    for record in [records[0], *records[1:][-1:]]:
        yield draw_game(record, name)


def draw_game(record: Record, name: str) -> str:
    """A game's last position, with who played whom, how it ended, and what the record says of it."""
    sides = zip(record.game.players, record.players, strict=True)
    players = " · ".join(f"{side}: {player or 'unknown'}" for side, player in sides)
    comment = record.comments.get(0, "")
    large = " large" if record.game.shape[1] > LARGE else ""
    return (
        f'<figure class="card{large}"><h3>{escape(name)}</h3>{draw_board(record.end())}<figcaption>'
        f"<b>{escape(result_words(record))}</b> after {len(record.moves)} moves<br>{escape(players)}"
        f"{'<br>' if comment else ''}{escape(comment)}</figcaption></figure>"
    )


def settings_table(config: dict[str, Any]) -> str:
    """Every table of the settings, whatever its keys."""
    loose = {name: value for name, value in config.items() if not isinstance(value, dict)}
    groups = {"general": loose} if loose else {}
    groups |= {name: value for name, value in config.items() if isinstance(value, dict)}
    cards = [
        f'<div class="card"><h3>{escape(name)}</h3>{table([(key, str(value)) for key, value in flat(group)])}</div>'
        for name, group in groups.items()
    ]
    return f'<div class="settings">{"".join(cards)}</div>' if cards else ""


def flat(group: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Keys and values; those of tables within tables with a dot between."""
    for key, value in group.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
