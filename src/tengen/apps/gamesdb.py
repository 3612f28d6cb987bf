"""`tengen games-db`: the games of a store, listed, shown, imported, exported, deleted, counted.

Names and comments in a store are anybody's: they reach the terminal without anything that could move its cursor.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.apps.options import Flag, Json, file_to_write, new_app, print_json
from tengen.rules.errors import BadParameter, TengenError

if TYPE_CHECKING:
    from tengen.records.store import Store, Tally
    from tengen.rules.game import Game

ALL = 0  # as a limit

app = new_app()

StorePath = Annotated[Path, typer.Argument(metavar="STORE", help="The store's file, such as games.db.")]
Files = Annotated[
    list[Path], typer.Argument(metavar="FILE…", help="Files of games: .sgf, .pgn, .psq, .rec, or lines of moves.")
]
Ids = Annotated[list[int] | None, typer.Argument(metavar="ID…", help="Games, by their ids (see games-db list).")]
Match = Annotated[int | None, typer.Option(help="Only this match, by its number (see games-db matches).")]
OfGame = Annotated[
    str | None,
    typer.Option("--game", help="Only this game, such as gomoku (any size), gomoku:size=8 or ./breakthrough.py."),
]
Player = Annotated[str | None, typer.Option(help="Only games of this player, such as uct for uct:… or 'rapfi*'.")]
Winner = Annotated[str | None, typer.Option(help="Only games that this player won.")]
Result = Annotated[
    str | None, typer.Option(help="Only results that begin like this: B+, W+T; 0 for draws, ? for unknown.")
]
Since = Annotated[str | None, typer.Option(help="Only from this day, month or year on, such as 2026-07-29.")]
Until = Annotated[str | None, typer.Option(help="Only up to this day, month or year.")]
OwnFile = Annotated[str | None, typer.Option("--game", help="The file of a game of your own.")]


def takes_filters(command: Any) -> Any:
    """Gives a command the options that choose games, in place of its parameter `filters`."""

    def options(
        match: Match = None,
        game: OfGame = None,
        player: Player = None,
        winner: Winner = None,
        result: Result = None,
        since: Since = None,
        until: Until = None,
    ) -> None: ...

    chosen = inspect.signature(options, eval_str=True).parameters
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    place = [each.name for each in own].index("filters")

    def run(**given: Any) -> None:
        filters = {name: given.pop(name) for name in chosen}
        command(filters=filters | {"game": _given(filters["game"]) or filters["game"]}, **given)

    parameters = [each.replace(kind=each.KEYWORD_ONLY) for each in (*own[:place], *chosen.values(), *own[place + 1 :])]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


@app.callback()
def games_db() -> None:
    """Keep games in a store.

    Try: tengen games-db import games.db some.sgf; then: tengen games-db list games.db
    """


@app.command("list")
@takes_filters
def list_games(
    store: StorePath,
    filters: dict[str, Any],
    limit: Annotated[int, typer.Option(min=0, help="How many at most; 0 shows all.")] = 20,
    as_json: Json = False,
) -> None:
    """List games, ordered by match and number.

    Try: tengen games-db list games.db --game gomoku --player uct --limit 20
    """
    with _open(store) as opened:
        found = opened.headings(limit=None if limit == ALL else limit, **filters)
        total = sum(tally.games for tally in opened.tally(**filters))
    if as_json:
        print_json([asdict(heading) for heading in found])
        return
    titles = ["id", "match", "game", "first", "second", "result", "plies", "date", "ending"]
    rows = []
    for one in found:
        place = "" if one.match is None else f"{one.match}" + ("" if one.number is None else f"/{one.number}")
        rows.append([one.id, place, one.game, one.first, one.second, one.result, one.plies, one.date, one.ending])
    _print_table(titles, rows)
    print(f"{total:,} games" if len(found) == total else f"{len(found):,} of {total:,} games; --limit 0 shows all")


@app.command()
def matches(store: StorePath, as_json: Json = False) -> None:
    """List the matches with their settings."""
    with _open(store) as opened:
        found = opened.matches()
    if as_json:
        print_json([asdict(match) for match in found])
        return
    rows = [[match.id, match.games, match.date, _settings_text(match.settings)] for match in found]
    _print_table(["match", "games", "begun", "settings"], rows)


@app.command()
def show(
    store: StorePath,
    id: Annotated[int, typer.Argument(metavar="ID", help="The game, by its id (see games-db list).")],
    game: OwnFile = None,
    as_json: Json = False,
) -> None:
    """Show one game: its players, its moves, and the board at its end."""
    from tengen.records.record import printable

    if game and _given(game) is None:
        raise BadParameter(f"--game {game} has no effect: it is for the file of a game of your own, ./mine.py")
    with _open(store) as opened:
        stored = opened.get(id, _given(game))
    record = stored.record
    moves = [record.game.action_text(action) for action in record.moves]
    facts = {
        "id": stored.id,
        "match": stored.match,
        "number": stored.number,
        "game": record.game.spec,
        "players": list(record.players),
        "result": record.result,
        "ending": record.ending,
        "date": record.date,
        "opening": record.opening,
        "moves": moves,
        "seconds": list(record.seconds),
        "comments": {str(ply): text for ply, text in record.comments.items()},
    }
    if as_json:
        print_json(facts)
        return
    seconds = f"{sum(record.seconds):.1f} in all" if record.seconds else ""
    names = " – ".join(record.players)
    shown = facts | {"players": names, "moves": " ".join(moves), "seconds": seconds, "comments": ""}
    for name, value in shown.items():
        if value not in ("", None, 0):
            print(f"{name:<8}  {printable(str(value))}")
    for ply, comment in sorted(record.comments.items()):
        print(f"at {ply:<5}  {printable(' / '.join(comment.splitlines()))}")
    print(f"\n{record.end()}")


@app.command("import")
def import_files(
    store: StorePath,
    files: Files,
    game: Annotated[str | None, typer.Option("--game", help="The game, where a file does not name it.")] = None,
    as_json: Json = False,
) -> None:
    """Read games from files into a store, all of them or none.

    The store is created if it is not there.
    """
    from tengen.records.files import read_records
    from tengen.records.store import Store

    given = _loaded(game)
    records = [record for path in files for record in read_records(path, given)]
    with Store(store) as opened:
        ids = opened.add_all(records)
    if as_json:
        print_json({"imported": len(ids), "ids": ids})
    else:
        print(f"{_count(len(ids), 'game')} from {_count(len(files), 'file')}")


@app.command()
@takes_filters
def export(
    store: StorePath,
    out: Annotated[
        Path,
        typer.Option(
            help="The file to write: .sgf, .txt (moves), .pgn (chess), or .psq and .rec for one game of Gomoku.",
            callback=file_to_write,
        ),
    ],
    filters: dict[str, Any],
    limit: Annotated[int, typer.Option(min=0, help="How many at most; 0 exports all.")] = ALL,
    as_json: Json = False,
) -> None:
    """Write games to a file, in the format that its ending names.

    Try: tengen games-db export games.db --game reversi --out games.sgf
    """
    from tengen.records.files import write_records

    with _open(store) as opened:
        records = [stored.record for stored in opened.games(limit=None if limit == ALL else limit, **filters)]
    if not records:
        raise TengenError("no game matches: nothing was written")
    write_records(out, records)
    print_json({"exported": len(records)}) if as_json else print(f"{_count(len(records), 'game')} to {out}")


@app.command()
def delete(
    store: StorePath,
    ids: Ids = None,
    match: Annotated[int | None, typer.Option(help="A match, with all its games.")] = None,
    yes: Annotated[bool, Flag("--yes", help="Delete without asking.")] = False,
    as_json: Json = False,
) -> None:
    """Delete games by their ids, or a match.

    Try: tengen games-db delete games.db 12 13
    """
    if not ids and match is None:
        raise TengenError("say what to delete: games by their ids, or --match")
    games = [_count(len(ids), "game")] if ids else []
    what = " and ".join([*games, *([f"match {match}"] if match is not None else [])])
    if not yes:
        typer.confirm(f"Delete {what} from {store.name}?", abort=True, err=True)
    with _open(store) as opened:
        count = opened.remove(match=match, games=ids or [])
    print_json({"deleted": count}) if as_json else print(f"{_count(count, 'game')} deleted")


@app.command()
@takes_filters
def stats(
    store: StorePath,
    filters: dict[str, Any],
    as_json: Json = False,
) -> None:
    """Count games and results, by game and by player."""
    with _open(store) as opened:
        tallies = opened.tally(**filters)
    by_game, by_player = _by_game(tallies), _by_player(tallies)
    if as_json:
        print_json({"games": by_game, "players": by_player})
        return
    titles = ["games", "first wins", "draws", "second wins", "not known"]
    _print_table(["game", *titles], [[name, *counts.values()] for name, counts in by_game.items()])
    rows = [[name, *counts.values(), _rate(counts)] for name, counts in by_player.items()]
    _print_table(["player", "games", "wins", "draws", "losses", "not known", "points"], rows)


Counts = dict[str, int]


def _by_game(tallies: Iterable[Tally]) -> dict[str, Counts]:
    found: dict[str, Counts] = {}
    for tally in tallies:
        counts = found.setdefault(tally.game, dict.fromkeys(("games", "first", "draw", "second", "unknown"), 0))
        counts["games"] += tally.games
        counts[tally.winner or "unknown"] += tally.games
    return found


def _by_player(tallies: Iterable[Tally]) -> dict[str, Counts]:
    """What each player made of its games, those with the most first."""
    found: dict[str, Counts] = defaultdict(lambda: dict.fromkeys(("games", "wins", "draws", "losses", "unknown"), 0))
    for tally in tallies:
        for side, name in (("first", tally.first), ("second", tally.second)):
            won = "wins" if tally.winner == side else "losses"
            found[name]["games"] += tally.games
            found[name][{None: "unknown", "draw": "draws"}.get(tally.winner, won)] += tally.games
    return dict(sorted(found.items(), key=lambda item: (-item[1]["games"], item[0])))


def _rate(counts: Counts) -> str:
    """Points of the games whose result is known: a draw is half a win."""
    known = counts["games"] - counts["unknown"]
    return f"{(counts['wins'] + counts['draws'] / 2) / known:.1%}" if known else ""


# What the commands share.


def _open(path: Path) -> Store:
    """A store that is there: to look at one does not make one."""
    from tengen.records.store import Store

    if not path.exists():
        raise TengenError(f"there is no store {path}; this makes one: tengen games-db import {path} FILE…")
    return Store(path)


def _given(spec: str | None) -> Game | None:
    """The game of a user's file, which is loaded because the user names it here."""
    return _loaded(spec) if spec and ".py" in spec else None


def _loaded(spec: str | None) -> Game | None:
    from tengen.games import load_game

    return load_game(spec) if spec else None


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _settings_text(settings: Any) -> str:
    if not isinstance(settings, dict):
        return str(settings)
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def _print_table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table without the columns that are empty; numbers stand at the right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tengen.records.record import printable

    kept = [i for i in range(len(titles)) if any(row[i] not in ("", None) for row in rows)]
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for i in kept:
        numeric = all(isinstance(row[i], int) for row in rows)
        table.add_column(titles[i], justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(str(row[i]))) for i in kept))  # Text: a name in [brackets] is no style
    if kept:
        Console().print(table)
