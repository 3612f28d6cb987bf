"""`tengen records`: games to learn from, played by a teacher or read from files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.alphago.corpus import GAME, RIVALS, TEACHER, Bar, Corpus, is_file, make_corpus
from tengen.apps.options import Cores, Json, file_to_write, folder_to_write, new_app, print_json

app = new_app()


@app.callback()
def records() -> None:
    """Make and check records to learn from.

    Try: tengen records corpus --games 1000 --out corpus.sgf.gz
    """


def file_or_folder(out: Path) -> Path:
    """Refuses, before any work, what a corpus cannot be written to."""
    (file_to_write if is_file(out) else folder_to_write)(out)
    return out


@app.command()
def corpus(
    out: Annotated[
        Path,
        typer.Option(
            help="A file (.sgf, .sgf.gz) or a folder to write; the same command goes on.", callback=file_or_folder
        ),
    ],
    game: Annotated[str, typer.Option(help="The game: Go, of any size and komi.")] = GAME,
    count: Annotated[int, typer.Option("--games", min=1, help="How many games to play.")] = 1000,
    workers: Cores = None,
    engine: Annotated[
        str, typer.Option(help="The teacher, a GTP engine; {level} stands for its level, or --level is added.")
    ] = TEACHER,
    rivals: Annotated[
        list[str] | None, typer.Option("--rival", help="An agent that the teacher also plays; may be repeated.")
    ] = None,
    share: Annotated[
        float, typer.Option(min=0, max=1, help="The share of games that are played against rivals.")
    ] = 0.25,
    seed: Annotated[int, typer.Option(help="The seed of players and openings.")] = 1,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Stop after this many minutes, and write what there is.")
    ] = None,
) -> None:
    """Let GNU Go play games to learn from.

    It plays itself at levels 1 to 10, and our own agents.
    """
    from tengen.games import load_game

    plan = Corpus(load_game(game), engine, tuple(rivals or RIVALS), share, seed)
    plan.check()
    kept = make_corpus(plan, count, out, workers, Bar(count), 60 * minutes if minutes is not None else float("inf"))
    print(f"{out}: {kept.words()}")


@app.command()
def check(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A file or a folder of SGF, also .gz.")],
    game: Annotated[str, typer.Option(help="The game: Go, up to 9×9.")] = GAME,
    players: Annotated[str, typer.Option(help="Whose moves to learn from, such as gnugo*.")] = "*",
    as_json: Json = False,
) -> None:
    """Count the games and moves that records offer for learning.

    It also says what is left out, and why.
    """
    from tengen.alphago.dataset import is_chosen, read_records, record_files
    from tengen.arena.folder import progress_bar
    from tengen.games import load_game

    with progress_bar(len(record_files(source)), "files") as (bar, task):
        found = read_records(source, load_game(game), lambda done, total: bar.update(task, completed=done))
    learned = sum(sum(is_chosen(one, players)) for one in found.games)
    if as_json:
        print_json(
            {"files": found.files, "games": len(found.games), "moves_to_learn": learned, "left_out": found.left_out}
        )
        return
    print(f"{source}: {found.words()}; {learned:,} moves to learn from")
