"""The paper on AlphaZero for 8×8 Gomoku: trained, watched, and matched against pure Monte Carlo tree search."""

from __future__ import annotations

from typing import Any

from tengen.arena.match import score_of
from tengen.arena.tournament import Tournament, play_tournament
from tengen.course.reproduce.page import Claim, Options, write_experiment
from tengen.course.reproduce.quotes import GOMOKU8
from tengen.games import load_game
from tengen.learn.report import draw_game, line_of, match_lines, read_metrics
from tengen.learn.start import train
from tengen.report.charts import draw_chart, percent
from tengen.report.pages import chart_grid

OPPONENT = "uct:playouts=1000"
SIMULATIONS = 400
QUICK_MINUTES, QUICK_GAMES, FULL_GAMES = 10.0, 40, 200


def reproduce_8x8(options: Options) -> None:
    """Trains the paper's own settings to their end, or a quicker preset for minutes; then plays the match."""
    preset = "gomoku8-paper" if options.is_full else "gomoku8"
    net, metrics = options.net, list[dict[str, Any]]()
    if not net:
        run = options.folder / "run"
        train(preset, run, "auto", options.minutes or (None if options.is_full else QUICK_MINUTES), [])
        net, metrics = str(run), read_metrics(run / "metrics.jsonl")
    games = FULL_GAMES if options.is_full else QUICK_GAMES
    options.say(f"… {games} games against {OPPONENT}")
    player = f"puct:net={net},simulations={SIMULATIONS}"
    plan = Tournament.of(load_game("gomoku:size=8"), (player, OPPONENT), seed=options.seed)
    records = play_tournament(plan, games).in_order()
    score = score_of(player, records)
    low, high = score.interval()
    claims = [
        *loss_claims(metrics),
        *rate_claims(metrics),
        Claim(
            f"win rate at the end, {games} games",
            GOMOKU8["end"],
            "nearly 100%",
            f"{score.rate:.1%} ({low:.0%} to {high:.0%})",
        ),
    ]
    if metrics:
        minutes = float(metrics[-1].get("seconds", 0)) / 60
        claims.append(Claim("time of training", "", "", f"{minutes:.0f} min"))
    charts = [
        draw_chart("Loss", [line_of(metrics, "total", group="loss")], span=(0, 0)),
        draw_chart("Win rate with its 95% interval", match_lines(metrics), percent, span=(0, 1)),
    ]
    boards = "".join(draw_game(record, f"Game {number}") for number, record in enumerate(records[:4], 1))
    write_experiment(
        options,
        "AlphaZero for 8×8 Gomoku",
        f"Preset {preset}; the opponent, as in the paper, is pure Monte Carlo tree search with 1000 playouts a move, "
        "colours alternating; here two random moves begin each pair of games, so that none is repeated.",
        claims,
        [("Curves", chart_grid(charts)), ("Games of the match", f'<div class="games">{boards}</div>')],
    )


def loss_claims(metrics: list[dict[str, Any]]) -> list[Claim]:
    """The loss at the beginning and at the end."""
    losses = line_of(metrics, "total", group="loss").points
    if not losses:
        return []
    return [
        Claim("loss at the beginning", GOMOKU8["loss"], "4.5", f"{losses[0][1]:.2f}"),
        Claim("loss at the end", GOMOKU8["end of loss"], "2.75", f"{losses[-1][1]:.2f} (step {losses[-1][0]:,.0f})"),
    ]


def rate_claims(metrics: list[dict[str, Any]]) -> list[Claim]:
    """The first step from which the win rate stays above nine tenths."""
    first = next(iter(match_lines(metrics)), None)
    if first is None:
        return []
    above = next((x for i, (x, _) in enumerate(first.points) if all(y > 0.9 for _, y in first.points[i:])), None)
    return [
        Claim(
            "win rate above 0.9 for good, from batch",
            GOMOKU8["rise"],
            "from the 400th batch",
            "never" if above is None else f"{above:,.0f}",
        )
    ]
