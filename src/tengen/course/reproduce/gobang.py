"""The Gobang paper: how long nine algorithms think on three boards (figure 7), and who beats whom (figure 8)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

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
from tengen.records.disk import write_file
from tengen.records.record import Record
from tengen.report.charts import Line, draw_chart
from tengen.report.pages import chart_grid, table
from tengen.search.limits import Limit

CLASSICAL = [name for name in PRESETS if name.startswith("gobang")]
FAMILIES = {"minimax": CLASSICAL[:2], "alpha-beta": CLASSICAL[2:5], "UCT": CLASSICAL[5:]}
SIZES = (9, 11, 15)
OPENING = 2  # random plies that begin each game
QUICK_MINUTES = 10.0
SIMULATIONS = 400  # of the network search


NINTH = "gobang9"  # what the ninth is called beside the others


@dataclass(frozen=True)
class GobangExtent:
    """How much is played."""

    size: int  # of the board on which every pair plays
    games: int  # of each pair
    timed_games: int  # of each algorithm against itself, on each board
    plies: int  # of those, at most


QUICK = GobangExtent(size=9, games=4, timed_games=1, plies=16)
FULL = GobangExtent(size=15, games=100, timed_games=2, plies=225)


def reproduce_gobang(options: Options) -> list[Claim]:
    extent = FULL if options.is_full else QUICK
    game = load_game(f"gomoku:size={extent.size}")
    nets = find_nets(options, extent)
    ninth = player_of(nets[extent.size])
    players = (*CLASSICAL, ninth)
    with opened(options.folder / "games", Tournament(game, players, OPENING, seed=options.seed)):
        pass  # another experiment's folder is told now, not after the training
    for size, net in nets.items():
        if net == str(folder_of_net(options, size)):
            train("gobang", net, "auto", minutes_of(options), [f"run.game=gomoku:size={size}"])
    plan = Tournament.of(game, players, plies=OPENING, seed=options.seed)
    times = {(name, size): move_times(name, name, size, extent, options) for name in CLASSICAL for size in SIZES}
    times |= {(NINTH, size): move_times(NINTH, player_of(net), size, extent, options) for size, net in nets.items()}
    options.say(f"… {len(players)} algorithms, {extent.games} games a pair, on {extent.size}×{extent.size}")
    records = play_in_folder(plan, extent.games, options.folder / "games")
    write_file(options.folder / "move-times.md", times_table(times).encode())
    about = (
        f"Nine ways to play Gobang: {extent.games} games of every pair on {extent.size}×{extent.size}, each opening "
        "(two random moves) with both colours. The paper's figures are drawings without numbers; what its text says of "
        "them stands beside ours. Its minimax searches to the end of the game or says no depth: ours looks two plies "
        "ahead."
    )
    names = [(name, PRESETS[name]) for name in CLASSICAL] + [(NINTH, ninth)]
    return write_experiment(
        options,
        "Gobang: nine algorithms",
        about,
        [*time_claims(times, extent.size), *strength_claims(records, ninth)],
        [
            ("The algorithms", f'<div class="card wide">{table(names)}</div>'),
            ("Figure 7: time a move against the move's number", chart_grid(time_charts(times))),
            ("Figure 8: wins, draws and losses", report.cross_table(report.Summary(records))),
            ("Every game", '<p><a href="games/report.html">Ratings, games, and a board to replay them</a></p>'),
        ],
        report.STYLE,
        is_chinese=True,
    )


def find_nets(options: Options, extent: GobangExtent) -> dict[int, str]:
    """The ninth algorithm's nets by board: the one that was given, those that come along, or some to train here.

    Whoever says how many minutes to train has them trained. A net plays on one board; the quick variant needs but one.
    """
    if options.net:
        return {extent.size: options.net}
    found, there = {}, shipped_nets() if options.minutes is None else []
    for size in SIZES:
        names = [name for name in (f"gobang{size}", f"gomoku{size}") if name in there]
        if names or options.is_full or size == extent.size:
            found[size] = names[0] if names else str(folder_of_net(options, size))
    return found


def folder_of_net(options: Options, size: int) -> Path:
    """Where a net for a board is trained."""
    return options.folder / f"net-{size}"


def player_of(net: str) -> str:
    return f"puct:net={net},simulations={SIMULATIONS}"


def minutes_of(options: Options) -> float | None:
    """How long to train; None for the whole preset."""
    return options.minutes or (None if options.is_full else QUICK_MINUTES)


def move_times(name: str, spec: str, size: int, extent: GobangExtent, options: Options) -> np.ndarray:
    """Seconds for each move of games that an agent plays against itself: [games, plies], NaN where one was over.

    They are kept in the experiment's folder, so that a second call does not measure them again.
    """
    path = options.folder / "times" / f"{name}-{size}.csv"
    if not path.is_file():
        options.say(f"… move times of {name} on {size}×{size}")
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [",".join(f"{seconds:.6f}" for seconds in game) for game in timed_games(spec, size, extent, options)]
        write_file(path, "\n".join(lines).encode())
    times = np.full((extent.timed_games, extent.plies), np.nan)
    for row, line in zip(times, path.read_text(encoding="utf-8").splitlines(), strict=False):
        seconds = [float(each) for each in line.split(",")]
        row[: len(seconds)] = seconds[: extent.plies]
    return times


def timed_games(spec: str, size: int, extent: GobangExtent, options: Options) -> Iterator[list[float]]:
    """For each game of an agent against itself the seconds of its moves."""
    game = load_game(f"gomoku:size={size}")
    openings = random_openings(game, OPENING, options.seed)
    load_agent(spec, game, threads=1).choose(game.start(), Limit(nodes=2))  # compiled
    for _ in range(extent.timed_games):
        agent, position, seconds = load_agent(spec, game, threads=1), game.from_actions(next(openings)), list[float]()
        while position.outcome is None and len(seconds) < extent.plies:
            decision = agent.choose(position)
            seconds.append(decision.seconds)
            position = position.play(decision.action)
        yield seconds


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
        rows.append(f"| {name} | `{PRESETS.get(name, 'puct with a net')}` | {' | '.join(means)} |")
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


def time_claims(times: Times, size: int) -> list[Claim]:
    """How much less the network search thinks than the others, and how its time grows with the board."""
    own = mean_time(times, [NINTH], size)
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
    boards = [board for board in SIZES if (NINTH, board) in times]
    if len(boards) > 1:
        means = [mean_time(times, [NINTH], board) for board in boards]
        ours = ", ".join(f"{1000 * mean:.3g} ms on {board}×{board}" for mean, board in zip(means, boards, strict=True))
        verdict = AS_THERE if max(means) < 1.5 * min(means) else DIFFERS
        why = "" if verdict == AS_THERE else "a larger board is more work for a network, and its search is mostly that"
        claims.append(Claim("network search, by board", GOBANG["boards"], "无明显变化", ours, verdict, why))
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
