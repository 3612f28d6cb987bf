"""Matches and tournaments on the command line: a bar while they are played, then what they show."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tengen.apps.options import print_json
from tengen.arena.folder import REPORT, opened, play_in_folder, progress_bar, write_report
from tengen.arena.match import Score, repeated, result_for, score_of
from tengen.arena.ratings import Ratings, match_superiority
from tengen.arena.report import Summary, figures, new_figure, signed
from tengen.arena.sprt import Sprt, read_sprt
from tengen.arena.tournament import Results, Tournament, play_tournament
from tengen.games import load_game
from tengen.records.record import Record

MOST_FORFEITS = 5  # that are printed


def show_match(
    spec: str,
    agents: tuple[str, str],
    games: int,
    sprt: str,
    out: Path | None,
    workers: int | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Plays a match and prints who is stronger, and how sure that is."""
    game = load_game(spec)
    tournament, test = Tournament.of(game, agents, **settings), read_sprt(sprt) if sprt else None
    first, score = tournament.names[0], Score()
    with progress_bar(games, "+0 =0 −0") as (bar, task), opened(out, tournament) as store:

        def progress(results: Results, fresh: list[Record]) -> bool:
            score.add(score_of(first, fresh))
            words = f"+{score.wins} ={score.draws} −{score.losses}"
            if test is not None:
                for one, other in results.pairs(begin=test.games // 2):
                    test.add((result_for(first, one), result_for(first, other)))
                words += f"  LLR {test.llr:+.2f}"
            bar.update(task, completed=score.count, description=words)
            return test is None or test.verdict is None

        results = play_tournament(tournament, games, store, workers, progress)
    records = results.in_order()
    written = write_report(out, tournament, records)
    if as_json:
        print_json(match_json(score, test, records))
        return
    print(f"{first} against {tournament.names[1]}, {score.count} games of {game.spec}, {beginning(tournament)}")
    low, high = score.interval()
    print(f"+{score.wins} ={score.draws} −{score.losses}: {score.rate:.1%} of the points ({low:.1%} to {high:.1%})")
    elo = [signed(value) if math.isfinite(value) else "beyond measure" for value in score.elo()]
    sure = match_superiority(score.wins, score.draws, score.losses)
    print(f"Elo {elo[0]} ({elo[1]} to {elo[2]}, 95%); stronger with a likelihood of {sure:.1%}")
    if test is not None:
        print(test.words())
    print_doubts(records)
    if written is not None:
        print(f"games and report: {written}")


def match_json(score: Score, test: Sprt | None, records: list[Record]) -> dict[str, Any]:
    elo, low, high = (round(value, 1) if math.isfinite(value) else None for value in score.elo())
    answer: dict[str, Any] = {**counts(score), "elo": elo, "elo_low": low, "elo_high": high}
    answer["superiority"] = match_superiority(score.wins, score.draws, score.losses)
    answer["repeated"] = repeated(records)
    answer["forfeits"] = [record.ending for record in records if record.ending]
    if test is not None:
        answer["sprt"] = {"llr": test.llr, "verdict": test.verdict, "words": test.words()}
    return answer


def show_tournament(
    spec: str,
    agents: tuple[str, ...],
    games: int,
    out: Path | None,
    with_figures: bool,
    workers: int | None,
    as_json: bool,
    cluster: str = "",
    **settings: Any,
) -> None:
    """Plays a tournament and prints the ratings, the cross table, and where the report is."""
    game = load_game(spec)
    tournament = Tournament.of(game, agents, **settings)
    folder = out or Path("tournaments") / re.sub(r"[^\w.=-]+", "-", Path(game.spec).name)
    if with_figures:
        new_figure(1, 1)  # if there is nothing to draw with, that is said before the work begins
    records = play_in_folder(tournament, games, folder, workers, cluster)
    if with_figures:
        figures(folder, records)
    summary = Summary(records)
    if as_json:
        print_json(tournament_json(summary))
        return
    print(f"{len(records)} games of {game.spec}, {games} a pair, {beginning(tournament)}\n")
    console = Console(highlight=False)
    console.print(standings(summary.ratings))
    console.print(cross_table(summary))
    print_doubts(records)
    print(f"games and report: {folder / REPORT}")


def tournament_json(summary: Summary) -> dict[str, Any]:
    """Players, the best first, and every pair from the side of its better-rated player."""
    players = []
    for row in summary.ratings.table:
        played = [record for record in summary.records if row.name in record.players]
        players.append({"name": row.name, "elo": row.elo, "elo_low": row.low, "elo_high": row.high, "games": row.games})
        players[-1] |= counts(score_of(row.name, played))
    names = summary.names
    pairs = [
        {"players": [one, other], **counts(summary.pairs[one, other])}
        for i, one in enumerate(names)
        for other in names[i + 1 :]
        if (one, other) in summary.pairs
    ]
    return {"players": players, "pairs": pairs, "forfeits": [record.ending for _, record in summary.forfeits]}


def counts(score: Score) -> dict[str, int]:
    return {"wins": score.wins, "draws": score.draws, "losses": score.losses}


def standings(ratings: Ratings) -> Table:
    table = Table("", "agent", "Elo", "95%", "games", "points", "draws", box=None)
    for column in (2, 3, 4, 5, 6):
        table.columns[column].justify = "right"
    for place, row in enumerate(ratings.table, 1):
        interval = f"{signed(row.low)} to {signed(row.high)}"
        points = f"{row.points / max(row.games, 1):.1%}"
        table.add_row(str(place), plain(row.name), signed(row.elo), interval, str(row.games), points, str(row.draws))
    return table


def cross_table(summary: Summary) -> Table:
    """Wins, draws and losses of each against each, the best first."""
    names = summary.names
    table = Table("", "+ = −", *(str(place) for place in range(1, len(names) + 1)), box=None)
    for place, name in enumerate(names, 1):
        scores = [summary.pairs.get((name, other), Score()) for other in names]
        cells = (f"{score.wins} {score.draws} {score.losses}" if score.count else "" for score in scores)
        table.add_row(str(place), plain(name), *cells)
    return table


def print_doubts(records: list[Record]) -> None:
    """Games that repeat others; and those that an agent lost by what it did, the first few with the reason."""
    if count := repeated(records):
        print(f"{count} of {len(records)} games repeat another, so intervals are too narrow: give --opening more plies")
    forfeits = [record.ending for record in records if record.ending]
    for words in forfeits[:MOST_FORFEITS]:
        print(f"  {words.splitlines()[0]}")
    if len(forfeits) > MOST_FORFEITS:
        print(f"  … {len(forfeits)} games ended like this")


def beginning(tournament: Tournament) -> str:
    """How its games began, in words."""
    if tournament.openings:
        return f"{len(tournament.openings)} openings from a file"
    return f"{tournament.plies} random plies first, seed {tournament.seed}"


def plain(text: str) -> str:
    """A text that rich does not take for markup."""
    return text.replace("[", r"\[")
