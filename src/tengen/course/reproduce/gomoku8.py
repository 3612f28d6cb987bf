"""The paper on AlphaZero for 8×8 Gomoku: trained, watched, and matched against pure Monte Carlo tree search."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from tengen.arena.match import score_of
from tengen.arena.tournament import Tournament, play_tournament
from tengen.course.reproduce.page import Claim, Options, kept_file, write_experiment
from tengen.course.reproduce.quotes import GOMOKU8
from tengen.games import load_game
from tengen.learn.report import draw_game, line_of, match_lines, read_metrics
from tengen.learn.start import train
from tengen.records.record import Record
from tengen.records.sgf import read_sgf, write_sgf
from tengen.report.charts import Line, draw_chart, percent
from tengen.report.pages import chart_grid

OPPONENT = "uct:playouts=1000"
SIMULATIONS = 400
QUICK_MINUTES, QUICK_GAMES, FULL_GAMES = 10.0, 40, 200
MOMENTS = 100, 700, 1300  # the batches of figures 5 to 7
AROUND = 5  # batches on each side of one whose loss is told: single batches jump
# Figures 3 and 4, as far as the text gives their points: by batch. Of the rise after the 400th it says no more than
# "rapidly", so it is drawn at the next evaluation, 450.
PAPER_LOSS = Line("the paper", [(0, 4.5), (200, 3.5), (1200, 2.75)])
PAPER_RATES = [
    Line("the paper, at least", [(0, 0.4), (400, 0.4), (450, 0.9), (1300, 0.9)]),
    Line("the paper, at most", [(0, 0.7), (400, 0.7), (450, 1.0), (1300, 1.0)]),
]


def reproduce_8x8(options: Options) -> list[Claim]:
    """Trains the paper's own settings to their end, or a quicker preset for minutes; then plays the match."""
    preset = "gomoku8-paper" if options.is_full else "gomoku8"
    net = options.net
    if not net:
        net = str(options.folder / "run")
        train(preset, net, "auto", options.minutes or (None if options.is_full else QUICK_MINUTES), [])
    metrics = read_metrics(Path(net) / "metrics.jsonl")
    games = FULL_GAMES if options.is_full else QUICK_GAMES
    options.say(f"… {games} games against {OPPONENT}")
    player = f"puct:net={net},simulations={SIMULATIONS}"
    plan = Tournament.of(load_game("gomoku:size=8"), (player, OPPONENT), seed=options.seed)
    records = play_tournament(plan, games).in_order()
    score = score_of(player, records)
    low, high = score.interval()
    loss, rates = line_of(metrics, "total", "here", "loss"), match_lines(metrics)[:1]
    claims = [
        *loss_claims(loss.points),
        *(claim for line in rates for claim in rate_claims(line.points)),
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
    data = kept_file(options, "curves.csv", curves_csv(loss, rates)) if metrics else ""
    games_file = kept_file(options, "match.sgf", write_sgf(*records))
    boards = "".join(draw_game(record, f"Game {number}") for number, record in enumerate(records[:4], 1))
    return write_experiment(
        options,
        "AlphaZero for 8×8 Gomoku",
        f"Preset {preset}; the opponent, as in the paper, is pure Monte Carlo tree search with 1000 playouts a move, "
        "colours alternating; here two random moves begin each pair of games of the last match, so that none is "
        "repeated. A batch is one step of training.",
        claims,
        [
            ("Curves", chart_grid(draw_curves(loss, rates, options.is_full)) + data),
            ("Games along the way", f'<div class="games">{games_along(Path(net), metrics)}</div>'),
            ("Games of the match", f'<div class="games">{boards}</div>{games_file}'),
        ],
    )


def draw_curves(loss: Line, rates: Sequence[Line], has_paper: bool) -> list[str]:
    """Loss and win rate; with the paper's own points in the same axes where a batch here is one of the paper's."""
    return [
        draw_chart("Loss", [loss, *([PAPER_LOSS] if has_paper else [])], across="batch", span=(0, 0)),
        draw_chart(
            "Win rate with its 95% interval",
            [*rates, *(PAPER_RATES if has_paper else [])],
            percent,
            across="batch",
            span=(0, 1),
        ),
    ]


def curves_csv(loss: Line, rates: Sequence[Line]) -> str:
    """What was measured, batch by batch."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["batch", "loss", "win rate", "low", "high"])
    matches = {x: (y, *edges) for line in rates for (x, y), edges in zip(line.points, line.band, strict=True)}
    for batch, value in loss.points:
        table.writerow([f"{batch:.0f}", f"{value:.4f}", *(f"{share:.4f}" for share in matches.get(batch, ()))])
    return text.getvalue()


def loss_claims(points: Sequence[tuple[float, float]]) -> list[Claim]:
    """The loss at the batches of which the paper tells; each is the mean of the batches around it."""
    told = [("loss at the beginning", "loss", "4.5", 0), ("loss at batch 200", "loss", "3.5", 200)]
    told.append(("loss at batch 1200", "end of loss", "2.75", 1200))
    claims = []
    for what, quote, printed, batch in told:
        near = [loss for x, loss in points if abs(x - batch) <= AROUND]
        if near:
            claims.append(Claim(what, GOMOKU8[quote], printed, f"{mean(near):.2f}"))
    return claims


def rate_claims(points: Sequence[tuple[float, float]]) -> list[Claim]:
    """The win rate until batch 400, when it rises above nine tenths for good, and from batch 700 on."""
    early, late = [y for x, y in points if x <= 400], [y for x, y in points if x >= 700]
    above = next((x for i, (x, _) in enumerate(points) if all(y > 0.9 for _, y in points[i:])), None)
    since = "never" if above is None else f"{above:,.0f}"
    claims = [Claim("win rate above 0.9 for good, from batch", GOMOKU8["rise"], "400th", since)]
    if early:
        ours = f"{min(early):.2f} to {max(early):.2f}"
        claims.insert(0, Claim("win rate until batch 400", GOMOKU8["even"], "0.4, 0.7", ours))
    if late:
        claims.append(Claim("win rate from batch 700 on, mean", GOMOKU8["end"], "nearly 100%", f"{mean(late):.1%}"))
    return claims


def games_along(run: Path, metrics: Sequence[dict[str, Any]]) -> str:
    """Games of the run's own evaluations, at the paper's batches where there are such, as figures 5 to 7."""
    moments = [int(entry["generation"]) for entry in metrics if entry.get("matches")]
    chosen = [moment for moment in MOMENTS if moment in moments] or [*moments[:1], *moments[1:][-1:]]
    drawn = []
    for moment in chosen:
        path = run / "games" / f"{moment:06}.sgf"
        records: list[Record] = [one for one in read_sgf(path.read_bytes()) if OPPONENT in one.players]
        drawn += [draw_game(record, f"Batch {moment:,}") for record in records]
    return "".join(drawn)
