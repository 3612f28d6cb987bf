"""`tengen records`: games to learn from, played by a teacher or read from files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.alphago.corpus import GAME, RIVALS, TEACHER, Bar, Corpus, make_corpus

app = typer.Typer(
    help="Records to learn from. Try: tengen records corpus --games 1000 --out corpus.sgf.gz",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def records() -> None:
    """Records to learn from."""


@app.command()
def corpus(
    out: Annotated[Path, typer.Option(help="A file (.sgf, .sgf.gz) or a folder; the same command goes on.")],
    game: Annotated[str, typer.Option(help="Go, of any size and komi.")] = GAME,
    count: Annotated[int, typer.Option("--games", min=1, help="How many games there shall be.")] = 1000,
    workers: Annotated[
        int | None, typer.Option(min=0, help="Games at once; by default as many as there are cores.")
    ] = None,
    engine: Annotated[
        str, typer.Option(help="The teacher, over GTP; {level} stands for its level, or --level is added.")
    ] = TEACHER,
    rivals: Annotated[
        list[str] | None, typer.Option("--rival", help="An agent that the teacher also plays; may be repeated.")
    ] = None,
    share: Annotated[float, typer.Option(min=0, max=1, help="Of the games that are played against rivals.")] = 0.25,
    seed: Annotated[int, typer.Option(help="Of players and openings.")] = 1,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Stop after so long and write what there is; the same command goes on.")
    ] = None,
) -> None:
    """Let GNU Go play games to learn from: against itself at levels 1 to 10, and against our own agents."""
    from tengen.games import load_game

    plan = Corpus(load_game(game), engine, tuple(rivals or RIVALS), share, seed)
    plan.check()
    kept = make_corpus(plan, count, out, workers, Bar(count), 60 * minutes if minutes is not None else float("inf"))
    print(f"{out}: {kept.words()}")


@app.command()
def check(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A file or a folder of SGF, perhaps .gz.")],
    game: Annotated[str, typer.Option(help="Go, up to 9×9.")] = GAME,
    players: Annotated[str, typer.Option(help="Whose moves would be learned from: gnugo*")] = "*",
) -> None:
    """Say what records would teach: how many games and moves, and what is left out and why."""
    from tengen.alphago.dataset import is_chosen, read_records, record_files
    from tengen.arena.folder import progress_bar
    from tengen.games import load_game

    with progress_bar(len(record_files(source)), "files") as (bar, task):
        found = read_records(source, load_game(game), lambda done, total: bar.update(task, completed=done))
    learned = sum(sum(is_chosen(one, players)) for one in found.games)
    print(f"{source}: {found.words()}; {learned:,} moves to learn from")
