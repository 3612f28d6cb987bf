"""The paper on 9×9 Go the AlphaGo way: records, a policy, a better policy, a value, and ten games against GNU Go."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tengen.agents.learned import ALPHAGO_POLICY, ALPHAGO_VALUE
from tengen.agents.process import find_program
from tengen.alphago.corpus import Bar, Corpus, make_corpus
from tengen.alphago.start import train_stage
from tengen.arena.match import score_of
from tengen.arena.tournament import Tournament, play_tournament
from tengen.course.reproduce.page import Claim, Options, kept_file, write_experiment
from tengen.course.reproduce.quotes import GO9
from tengen.course.reproduce.tactics import Try, try_tactics
from tengen.games import load_game
from tengen.knowledge.go_tactics import POSITIONS
from tengen.learn.report import draw_game, line_of, read_metrics
from tengen.records.record import Record
from tengen.records.sgf import write_sgf
from tengen.report.charts import Line, draw_chart, percent
from tengen.report.pages import chart_grid, table
from tengen.rules.errors import TengenError
from tengen.search.limits import Limit

GAME = "go:size=9,komi=5.5"
GNU_GO = "gtp:gnugo --mode gtp --level 10 --chinese-rules --capture-all-dead"
OPPONENTS = {"GNU Go 3.8": "", "GNU Go 3.8 --monte-carlo": " --monte-carlo"}  # and what the command says more
STAGES = ("sl9", "rl9", "value9")
QUICK_MINUTES = 5.0  # of each stage of training


@dataclass(frozen=True)
class Go9Extent:
    """How much is done."""

    records: int  # games that teach
    games: int  # of the match
    seconds: float  # a move
    changes: dict[str, list[str]]  # of each stage's settings
    player: str = ""  # options of the agent beside its nets and its time


QUICK = Go9Extent(
    records=40,
    games=2,
    seconds=1.0,
    changes={
        "sl9": [
            *("run.generations=4", "data.held_out=0.2", "training.batch=128", "training.steps=40"),
            *("net.channels=32", "net.layers=4"),
        ],
        "rl9": ["run.generations=2", "play.games=16", "evaluation.every=1", "evaluation.games=16"],
        "value9": [
            *("run.generations=4", "samples.generations=2", "samples.games=64", "samples.at_once=64"),
            *("training.batch=32", "training.steps=20", "net.channels=32", "net.layers=4"),
        ],
    },
)
WIDE = ["net.channels=128", "net.layers=6"]  # the 5×5 convolution and five of 3×3
FULL = Go9Extent(
    records=4000,
    games=10,
    seconds=60.0,
    changes={
        "sl9": [*WIDE, "training.batch=128", "training.learning_rate=0.001", "training.steps=2000"],
        "rl9": [
            *("training.method=plain", "play.games=16", "play.rounds=512", "run.generations=50"),
            *("training.batch=1000000", "training.epochs=1", "training.learning_rate=0.00002"),
            *("pool.every=1", "pool.most=50", "evaluation.every=1"),
        ],
        "value9": [
            *(*WIDE, "training.batch=64", "training.learning_rate=0.001", "training.steps=2000"),
            *("samples.generations=50", "run.generations=75"),
        ],
    },
    player=",rollouts=policy",
)


def reproduce_go9(options: Options) -> list[Claim]:
    """Trains what is not given, plays the match, and puts the paper's figures beside ours.

    With a net (`--net`: a folder with policy.onnx and value.onnx, or `none` to do without) nothing is trained. The
    quick variant trains small nets to show how, and plays with those that come along.
    """
    extent = FULL if options.is_full else QUICK
    gnugo = find_program("gnugo")
    if gnugo is None:
        raise TengenError("the paper's match is against GNU Go, which is not installed: apt-get install gnugo")
    nets, metrics = find_nets(options, extent)
    player = f"alphago:{nets},time={extent.seconds:g}{extent.player}"
    matches: dict[str, list[Record]] = {}
    for name, more in OPPONENTS.items():
        options.say(f"… {extent.games} games against {name}, {extent.seconds:g} s a move")
        players = player, GNU_GO.replace("gnugo", gnugo, 1) + more
        plan = Tournament.of(load_game(GAME), players, plies=0, seed=options.seed)
        matches[name] = play_tournament(plan, extent.games, workers=1).in_order()  # one at a time: all cores think
    options.say(f"… {len(POSITIONS)} tactical positions")
    judged = try_tactics(f"alphago:{nets}{extent.player}", Limit(time=min(extent.seconds, 5.0)))
    return write_experiment(
        options,
        "9×9 Go, the AlphaGo way",
        "A policy from records, made better by playing earlier versions of itself, a value of its own games, and PUCT "
        "that mixes values with games played to their end (c = 4, λ = ½). The paper learned from 63,000 games of "
        "amateurs; ours are GNU Go's. Chinese rules, komi 5.5; superko is kept.",
        [*stage_claims(metrics), *match_claims(player, matches), *tactics_claims(judged)],
        [
            ("Curves", chart_grid(stage_charts(metrics))),
            ("Tactical positions", f'<div class="card wide">{table(tactics_rows(judged))}</div>'),
            *(
                (
                    f"Games against {name}",
                    f'<div class="games">{boards_of(records)}</div>{kept_games(options, name, records)}',
                )
                for name, records in matches.items()
            ),
        ],
    )


def find_nets(options: Options, extent: Go9Extent) -> tuple[str, dict[str, list[dict[str, Any]]]]:
    """The options that name the nets, and what was measured while they were trained, by stage."""
    if options.net == "none":
        return "policy=patterns,value=none,lambda=1", {}
    if options.net:
        folder = Path(options.net)
        return f"policy={folder / 'policy.onnx'},value={folder / 'value.onnx'}", {}
    folders = {stage: options.folder / stage for stage in STAGES}
    corpus = options.folder / "corpus.sgf.gz"
    if not corpus.exists():
        options.say(f"… {extent.records} games of GNU Go's to learn from")
        plan = Corpus(load_game(GAME), seed=options.seed)
        plan.check()
        make_corpus(plan, extent.records, corpus, None, Bar(extent.records))
    sources = {
        "sl9": f"data.records={corpus}",
        "rl9": f"policy.start={folders['sl9']}",
        "value9": f"policy.net={folders['rl9']}",
    }
    minutes = options.minutes or (None if options.is_full else QUICK_MINUTES)
    for stage in STAGES:
        train_stage(stage, folders[stage], "auto", minutes, [*extent.changes[stage], sources[stage]])
    metrics = {stage: read_metrics(folder / "metrics.jsonl") for stage, folder in folders.items()}
    if not options.is_full:
        return f"policy={ALPHAGO_POLICY},value={ALPHAGO_VALUE}", metrics
    return f"policy={folders['rl9']},value={folders['value9']}", metrics


def last_of(metrics: list[dict[str, Any]], name: str) -> Any:
    """The newest figure of that name; None if there is none."""
    return next((line[name] for line in reversed(metrics) if name in line), None)


def stage_claims(metrics: dict[str, list[dict[str, Any]]]) -> list[Claim]:
    """What the stages of training came to; nothing where nothing was trained."""
    claims: list[Claim] = []
    if (top := last_of(metrics.get("sl9", []), "top1")) is not None:
        claims.append(Claim("supervised policy: held-out moves foreseen", "", "", f"{top:.1%}"))
    rates = [match["rate"] for line in metrics.get("rl9", []) for match in line.get("matches", [])]
    if rates:
        claims.append(
            Claim("reinforced policy against the supervised one", GO9["reinforced"], "80%", f"{rates[-1]:.1%}")
        )
        claims.append(Claim("the lowest on the way", GO9["lowest"], "< 10", f"{min(rates):.1%}"))
    error, mean = (last_of(metrics.get("value9", []), name) for name in ("held_out_error", "mean_error"))
    if error is not None and mean is not None:
        claims.append(Claim("value: held-out error, of the mean's", "", "", f"{error / mean:.0%}"))
    return claims


def match_claims(player: str, matches: dict[str, list[Record]]) -> list[Claim]:
    """The ten games, and ten against GNU Go's own tree search. The paper does not say which of the two it played."""
    claims = []
    for name, records in matches.items():
        score = score_of(player, records)
        low, high = score.interval()
        ours = f"{score.wins}–{score.losses} ({low:.0%} to {high:.0%})"
        claims.append(Claim(f"match against {name}, {len(records)} games", GO9["match"], "won all ten games", ours))
    longest = max(max(record.seconds, default=0.0) for records in matches.values() for record in records)
    return [*claims, Claim("longest move", GO9["time"], "60 seconds", f"{longest:.1f} s")]


def tactics_claims(judged: list[Try]) -> list[Claim]:
    """Races and the like, which the paper's engine lost."""
    kinds: dict[str, list[bool]] = {}
    for kind, _, _, is_solved in judged:
        kinds.setdefault(kind, []).append(is_solved)
    return [
        Claim(
            f"tactics: {kind}",
            GO9["races"] if kind == "race" else "",
            "weak" if kind == "race" else "",
            f"{sum(right)} of {len(right)}",
        )
        for kind, right in kinds.items()
    ]


def tactics_rows(judged: list[Try]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("kind", "position", "played", "")]
    return rows + [(one.kind, one.title, one.played, "solved" if one.is_solved else "") for one in judged]


def stage_charts(metrics: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Cross-entropy, accuracy, win rate and error as they grew."""
    losses = line_of(metrics.get("sl9", []), "policy", "games learned from", "loss", by="generation")
    held_out = line_of(metrics.get("sl9", []), "held_out_loss", "games held out", by="generation")
    charts = [draw_chart("Supervised: cross-entropy, figure 3", [losses, held_out], across="generation", span=(0, 0))]
    for title, stage, names in (
        ("Supervised: held-out accuracy", "sl9", ("top1", "top5")),
        ("Value: held-out error", "value9", ("held_out_error", "mean_error")),
    ):
        lines = [
            Line(name, [(line["generation"], line[name]) for line in metrics.get(stage, []) if name in line])
            for name in names
        ]
        if any(line.points for line in lines):
            charts.append(draw_chart(title, lines, across="generation"))
    rates = [
        (line["generation"], line["matches"][-1]["rate"]) for line in metrics.get("rl9", []) if line.get("matches")
    ]
    if rates:
        charts.append(draw_chart("Reinforced against supervised", [Line("wins", rates)], percent, across="generation"))
    return [chart for chart in charts if chart]


def kept_games(options: Options, opponent: str, records: list[Record]) -> str:
    """The games as a file beside the page; returns a link to it."""
    name = "-".join(re.findall(r"\w+", opponent.lower()))
    return kept_file(options, f"{name}.sgf", write_sgf(*records))


def boards_of(records: list[Record]) -> str:
    return "".join(draw_game(record, f"Game {number}") for number, record in enumerate(records[:4], 1))
