"""A run of a stage as one page: RUN/report.html, from its settings and its metrics."""

from __future__ import annotations

from html import escape
from pathlib import Path

from tengen.learn.report import (
    Metrics,
    curve_of,
    draw_curves,
    effort,
    latest,
    matches_table,
    no_match,
    read_config,
    read_metrics,
    settings_table,
    win_rates,
)
from tengen.report.charts import percent
from tengen.report.pages import chart_grid, section, tiles, write_page


def write_report(run: Path) -> Path:
    """Writes RUN/report.html and returns its path."""
    config, metrics = read_config(run / "config.toml"), read_metrics(run / "metrics.jsonl")
    game = str(config.get("run", {}).get("game", run.name))
    strength = [*strength_charts(metrics), matches_table(metrics), no_match(config, metrics)]
    sections = [
        header(game, metrics),
        section("Strength", chart_grid(strength)),
        section("Learning", chart_grid(learning_charts(metrics))),
        section("Games", chart_grid(play_charts(metrics))),
        section("Settings", settings_table(config)),
    ]
    return write_page(run / "report.html", f"{game}: training report", "".join(sections))


def header(game: str, metrics: list[Metrics]) -> str:
    """What was trained, how long, and how well it does."""
    figures = effort(metrics)
    if (accuracy := latest(metrics, "top1")) is not None:
        figures.append(("Top-1", percent(accuracy), "of held-out moves"))
    if (error := latest(metrics, "held_out_error")) is not None:
        base = latest(metrics, "mean_error") or error
        figures.append(("Error", f"{error:.3f}", f"always saying the mean: {base:.3f}"))
    return f"<header>\n<p>Tengen training report</p>\n<h1>{escape(game)}</h1>\n{tiles(figures)}\n</header>\n"


def strength_charts(metrics: list[Metrics]) -> list[str]:
    accuracy = [curve_of(metrics, "top1", "top-1, held out"), curve_of(metrics, "top5", "top-5, held out")]
    accuracy.append(curve_of(metrics, "learned_top1", "top-1, learned from"))
    errors = [curve_of(metrics, "held_out_error", "the net"), curve_of(metrics, "mean_error", "always the mean")]
    return [
        draw_curves("Accuracy: how often the player's move is the net's first choice", accuracy, percent, span=(0, 1)),
        win_rates(metrics),
        draw_curves("Squared error on held-out games", errors, span=(0, 1)),
    ]


def learning_charts(metrics: list[Metrics]) -> list[str]:
    terms = dict.fromkeys(term for entry in metrics for term in entry.get("loss") or {})
    return [
        draw_curves("Loss", [curve_of(metrics, term, group="loss") for term in terms]),
        draw_curves("Distance from the supervised policy", [curve_of(metrics, "distance", "nats")], span=(0, 0)),
        draw_curves("Entropy", [curve_of(metrics, "entropy", "nats")], span=(0, 0)),
        draw_curves("Learning rate", [curve_of(metrics, "learning_rate")], span=(0, 0)),
    ]


def play_charts(metrics: list[Metrics]) -> list[str]:
    won = [curve_of(metrics, "score", "against the pool"), curve_of(metrics, "first_wins", "Black wins")]
    return [
        draw_curves("Length of a game", [curve_of(metrics, "plies", "plies, mean")], span=(0, 0)),
        draw_curves("Results", won, percent, span=(0, 1)),
        draw_curves("Positions a second", [curve_of(metrics, "positions_per_second")], span=(0, 0)),
    ]
