"""The Gobang paper: how long nine algorithms think on three boards (figure 7), and who beats whom (figure 8)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tengen.agents.specs import PRESETS, load_agent
from tengen.arena import report
from tengen.arena.folder import opened, play_in_folder
from tengen.arena.match import Score, score_of
from tengen.arena.openings import random_openings
from tengen.arena.tournament import Tournament
from tengen.course.reproduce.page import AS_THERE, DIFFERS, Claim, Options, share_claim, write_experiment
from tengen.course.reproduce.quotes import GOBANG
from tengen.games import load_game
from tengen.learn.start import train
from tengen.nets.runtime import shipped_nets
from tengen.records.record import Record
from tengen.report.charts import Line, draw_chart
from tengen.report.pages import chart_grid, table

CLASSICAL = [name for name in PRESETS if name.startswith("gobang")]
FAMILIES = {"minimax": CLASSICAL[:2], "alpha-beta": CLASSICAL[2:5], "UCT": CLASSICAL[5:]}
SIZES = (9, 11, 15)
OPENING = 2  # random plies that begin each game
QUICK_MINUTES = 10.0
SIMULATIONS = 400  # of the network search


@dataclass(frozen=True)
class GobangExtent:
    """How much is played."""

    size: int  # of the board on which every pair plays
    games: int  # of each pair
    timed_games: int  # of each algorithm against itself, on each board
    plies: int  # of those, at most
    preset: str  # what trains the ninth algorithm's net


QUICK = GobangExtent(size=9, games=4, timed_games=1, plies=16, preset="gomoku9")
FULL = GobangExtent(size=15, games=100, timed_games=4, plies=60, preset="gomoku15")


def reproduce_gobang(options: Options) -> None:
    extent = FULL if options.is_full else QUICK
    game = load_game(f"gomoku:size={extent.size}")
    net = find_net(options, extent)
    ninth = f"puct:net={net},simulations={SIMULATIONS}"
    players = (*CLASSICAL, ninth)
    with opened(options.folder / "games", Tournament(game, players, OPENING, seed=options.seed)):
        pass  # another experiment's folder is told now, not after the training
    if net == str(options.folder / "net"):
        train(extent.preset, options.folder / "net", "auto", minutes_of(options), [])
    plan = Tournament.of(game, players, plies=OPENING, seed=options.seed)
    times = {(name, size): move_times(name, size, extent, options) for name in CLASSICAL for size in SIZES}
    times[ninth, extent.size] = move_times(ninth, extent.size, extent, options)  # a net plays on one board alone
    options.say(f"… {len(players)} algorithms, {extent.games} games a pair, on {extent.size}×{extent.size}")
    records = play_in_folder(plan, extent.games, options.folder / "games")
    (options.folder / "move-times.md").write_text(times_table(times), encoding="utf-8")
    about = (
        f"Nine ways to play Gobang: {extent.games} games of every pair on {extent.size}×{extent.size}, each opening "
        "(two random moves) with both colours. The paper's figures are drawings without numbers; what its text says of "
        "them stands beside ours. Its minimax searches to the end of the game or says no depth: ours looks two plies "
        "ahead."
    )
    names = [(name, PRESETS.get(name, "the network search")) for name in players]
    write_experiment(
        options,
        "Gobang: nine algorithms",
        about,
        [*time_claims(times, ninth, extent.size), *strength_claims(records, ninth)],
        [
            ("The algorithms", f'<div class="card wide">{table(names)}</div>'),
            ("Figure 7: time a move against the move's number", chart_grid(time_charts(times))),
            ("Figure 8: wins, draws and losses", report.cross_table(report.Summary(records))),
            ("Every game", '<p><a href="games/report.html">Ratings, games, and a board to replay them</a></p>'),
        ],
        report.STYLE,
    )


def find_net(options: Options, extent: GobangExtent) -> str:
    """The ninth algorithm's net: the one that was given, one that comes along, or one that is trained here."""
    if options.net:
        return options.net
    return extent.preset if extent.preset in shipped_nets() else str(options.folder / "net")


def minutes_of(options: Options) -> float | None:
    """How long to train; None for the whole preset."""
    return options.minutes or (None if options.is_full else QUICK_MINUTES)


def move_times(name: str, size: int, extent: GobangExtent, options: Options) -> np.ndarray:
    """Seconds for each move of games that an agent plays against itself: [games, plies], NaN where one was over."""
    options.say(f"… move times of {name} on {size}×{size}")
    game = load_game(f"gomoku:size={size}")
    openings = random_openings(game, OPENING, options.seed)
    times = np.full((extent.timed_games, extent.plies), np.nan)
    for seconds in times:
        agent, position = load_agent(name, game, threads=1), game.from_actions(next(openings))
        for ply in range(extent.plies):
            if position.outcome is not None:
                break
            decision = agent.choose(position)
            seconds[ply] = decision.seconds
            position = position.play(decision.action)
    return times


Times = dict[tuple[str, int], np.ndarray]  # by algorithm and board


def mean_time(times: Times, names: Iterable[str], size: int) -> float:
    """Seconds a move, the mean of several algorithms."""
    return float(np.mean([np.nanmean(times[name, size]) for name in names]))


def times_table(times: Times) -> str:
    """Mean milliseconds a move, algorithm by board, in Markdown."""
    head = "| algorithm | is | " + " | ".join(f"{size}×{size}" for size in SIZES) + " |"
    rows = [head, "|---|---|" + "---:|" * len(SIZES)]
    for name in dict.fromkeys(name for name, _ in times):
        means = [f"{1000 * mean_time(times, [name], size):.1f} ms" if (name, size) in times else "" for size in SIZES]
        rows.append(f"| {name} | `{PRESETS.get(name, 'PUCT with a net')}` | {' | '.join(means)} |")
    return "\n".join(rows) + "\n"


def time_charts(times: Times) -> list[str]:
    """One chart a board."""
    charts = []
    for size in SIZES:
        lines = []
        for (name, board), seconds in times.items():
            if board == size:
                lasted = np.flatnonzero(~np.isnan(seconds).all(axis=0)).tolist()
                points = [(OPENING + 1 + ply, float(np.nanmean(seconds[:, ply]))) for ply in lasted]
                lines.append(Line(name, points))
        charts.append(draw_chart(f"{size}×{size}: seconds a move", lines, across="move", is_logarithmic=True))
    return charts


def time_claims(times: Times, ninth: str, size: int) -> list[Claim]:
    """How much less the network search thinks than the others."""
    own = mean_time(times, [ninth], size)
    said = {"minimax": "1/196", "alpha-beta": "1/55", "UCT": "1/28"}
    claims = []
    for family, names in FAMILIES.items():
        ratio = mean_time(times, names, size) / own
        ours = f"1/{ratio:.3g}" if ratio >= 1 else f"{1 / ratio:.3g} times"
        why = f"{1000 * own:.3g} ms a move beside {1000 * own * ratio:.3g} ms"
        if ratio < 1:
            why += ": here the classical searches are machine code, and the network is not slowed down by Python"
        verdict = DIFFERS if abs(math.log(ratio / float(said[family][2:]))) > math.log(2) else AS_THERE
        what = f"move time of the network search, of {family}'s"
        claims.append(Claim(what, GOBANG["time"], said[family], ours, verdict, why))
    return claims


def strength_claims(records: list[Record], ninth: str) -> list[Claim]:
    """What the paper's text says of its figure 8."""
    claims = []
    said = {"minimax": "75%", "alpha-beta": "84%", "UCT": "87%"}
    for family, names in FAMILIES.items():
        score = score_against([ninth], names, records)
        what = f"wins of the network search against {family}"
        claims.append(share_claim(what, GOBANG["wins"], said[family], score.wins, score.count))
    first = score_against(CLASSICAL[:1], CLASSICAL[1:], records)
    for what, printed, count in (
        ("minimax without evaluation: not lost", "97%", first.wins + first.draws),
        ("minimax without evaluation: won", "36%", first.wins),
    ):
        claims.append(share_claim(what, GOBANG["minimax"], printed, count, first.count))
    for what, quote, printed, weak, strong in (
        ("alpha-beta: gain of a fifth ply", GOBANG["depth"], "2%", "gobang3", "gobang4"),
        ("UCT: gain of 1000 more playouts than 1000", GOBANG["playouts"], "不到1%", "gobang6", "gobang7"),
        ("UCT: gain of 1000 more playouts than 2000", GOBANG["playouts"], "不到1%", "gobang7", "gobang8"),
    ):
        others = [name for name in CLASSICAL if name not in (weak, strong)]
        before, after = (score_against([name], others, records) for name in (weak, strong))
        claims.append(Claim(f"{what}, against the other classical ones", quote, printed, gain(before, after)))
    return claims


def gain(before: Score, after: Score) -> str:
    """The difference of two shares of won games, with its 95% interval."""
    shares = [score.wins / max(score.count, 1) for score in (before, after)]
    variance = sum(p * (1 - p) / max(score.count, 1) for p, score in zip(shares, (before, after), strict=True))
    difference, spread = shares[1] - shares[0], 1.96 * math.sqrt(variance)
    return f"{difference:+.1%} ({difference - spread:+.1%} to {difference + spread:+.1%})"


def score_against(players: list[str], others: list[str], records: list[Record]) -> Score:
    """The score of some players against others."""
    total = Score()
    for player in players:
        total.add(score_of(player, [r for r in records if player in r.players and set(r.players) & set(others)]))
    return total
