"""The command `tengen`. Every command imports what it needs when it runs, so that `--help` answers at once."""

from __future__ import annotations

import signal
import sys
import time
from contextlib import nullcontext, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen import __version__
from tengen.apps import corpus, gamesdb, labs
from tengen.apps.options import (
    Cores,
    Flag,
    Json,
    file_to_write,
    folder_to_write,
    new_app,
    print_json,
    refuse_unused,
)
from tengen.rules.errors import BadParameter, TengenError

if TYPE_CHECKING:
    from tengen.rules.game import Position

app = new_app()
app.add_typer(gamesdb.app, name="games-db")
app.add_typer(labs.app, name="lab")
app.add_typer(corpus.app, name="records")


def look_first(spec: str) -> str:
    """Checks a game's file for a moment if it is new or has changed; refuses it if that finds fault."""
    if ".py" in spec:
        from tengen.apps.checking import refuse_unsound

        refuse_unsound(spec)
    return spec


GAME_HELP = "A game, such as tictactoe or gomoku:size=8,rule=renju, or a file, such as ./breakthrough.py."
AnyGame = Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP)]
SoundGame = Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP, callback=look_first)]
Thinker = Annotated[str, typer.Argument(metavar="AGENT", help="The agent that plays.")]
Moves = Annotated[str, typer.Option(help="Moves that lead to the position, such as 'h8 i9' or h8i9.")]
Board = Annotated[str, typer.Option(help="A diagram: rows from the top, joined by /, of X, O and a dot for empty.")]
ToPlay = Annotated[str, typer.Option(help="Who moves on --board: X or O.")]
Plies = Annotated[int, typer.Option("--opening", min=0, help="Random plies that begin each pair of games.")]
Openings = Annotated[Path | None, typer.Option(help="A file of openings instead, one line of moves each.")]
ArenaSeed = Annotated[int, typer.Option("--seed", help="The seed of openings and agents.")]
MoveTime = Annotated[
    float | None, typer.Option("--time", min=0.001, help="Seconds per move; whoever takes longer loses the game.")
]
ThinkingTime = Annotated[
    float | None, typer.Option("--time", min=0.001, help="Seconds per position; by default the agent's own limit.")
]
Figures = Annotated[bool, Flag("--figures", help="Also draw the report's figures as PNG (needs matplotlib).")]
Cluster = Annotated[
    str, typer.Option(help="A Ray cluster: auto (this machine's), local, or HOST:PORT; see docs/scaling.md.")
]


def main() -> None:
    """Runs the command line; what a user can put right is said in one line, with exit status 2."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler would wait for a kernel to return
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        app()
    except TengenError as reason:
        print(f"tengen: {reason}", file=sys.stderr)
        sys.exit(2)
    except MemoryError as reason:
        print(f"tengen: not enough memory: {reason}", file=sys.stderr)
        sys.exit(2)


def show_version(is_asked: bool) -> None:
    if is_asked:
        print(f"tengen {__version__}")
        raise typer.Exit


@app.callback()
def tengen(
    version: Annotated[
        bool, Flag("--version", is_eager=True, callback=show_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Board games that are plain Python and run at native speed.

    Try: tengen play tictactoe
    """


@app.command()
def games(as_json: Json = False) -> None:
    """List the games and their parameters."""
    from tengen.apps.listings import list_games

    list_games(as_json)


@app.command()
def agents(as_json: Json = False) -> None:
    """List the agents and their options."""
    from tengen.apps.listings import list_agents

    list_agents(as_json)


@app.command()
def presets(as_json: Json = False) -> None:
    """List the presets that `tengen train` can start from."""
    from tengen.apps.listings import list_presets

    list_presets(as_json)


@app.command()
def check(
    game: AnyGame,
    count: Annotated[int, typer.Option("--games", min=1, help="How many random games to play.")] = 20,
    seconds: Annotated[
        float | None, typer.Option("--time", min=0.01, help="Stop playing games after this many seconds.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Test whether a game keeps the contract that rules must keep.

    It tests the rules, the symmetries, the planes that networks see, and the texts of moves and boards.
    """
    from tengen.apps.checking import check_and_tell

    raise typer.Exit(0 if check_and_tell(game, count, seconds, as_json) else 1)


@app.command()
def perft(
    game: AnyGame,
    depth: Annotated[int, typer.Argument(metavar="DEPTH", min=1, help="How many plies deep.")],
    moves: Moves = "",
    board: Board = "",
    to_play: ToPlay = "",
    as_json: Json = False,
) -> None:
    """Count the sequences of moves from a position, ply by ply.

    The counts of many games are known, so this is the first test of new rules.
    """
    from tengen.rules.playouts import perft as count_paths

    position = _position(game, moves, board, to_play)
    counts = []
    for ply in range(1, depth + 1):
        begin = time.perf_counter()
        counts.append(count_paths(position, ply))
        if counts[-1] == 0 and ply < depth:  # nothing comes after nothing
            counts += [0] * min(depth - ply, 1000)
            break
        seconds = time.perf_counter() - begin
        if not as_json:
            print(f"{ply:3}  {counts[-1]:>20,}  {seconds:8.3f} s  {counts[-1] / seconds / 1e6:8.1f} M/s", flush=True)
    if as_json:
        print_json({"counts": counts})


@app.command()
def play(
    context: typer.Context,
    game: SoundGame = "tictactoe",
    first: Annotated[str, typer.Option(help="Who plays first: human, or an agent.")] = "human",
    second: Annotated[str, typer.Option(help="Who plays second: human, or an agent such as random.")] = "strong",
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**63 - 1, help="The agents' seed; by default another one each time.")
    ] = None,
    moves: Moves = "",
    board: Board = "",
    to_play: ToPlay = "",
) -> None:
    """Play a game in the terminal, against an agent or another person."""
    import random

    from tengen.apps.terminal import HUMAN, play_game

    if first == second == HUMAN:
        refuse_unused(context, "no agent plays", "seed")
    chosen = random.randrange(2**31) if seed is None else seed
    play_game(_position(game, moves, board, to_play), (first, second), chosen)


@app.command()
def best(
    game: SoundGame,
    agent: Annotated[str, typer.Option(help="The agent that chooses.")] = "strong",
    seconds: ThinkingTime = None,
    moves: Moves = "",
    board: Board = "",
    to_play: ToPlay = "",
    as_json: Json = False,
) -> None:
    """Choose a move in one position, and explain it."""
    from tengen.apps.explain import explain

    explain(_position(game, moves, board, to_play), agent, seconds, as_json)


@app.command()
def analyze(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A record: .sgf, .pgn, .psq, .rec, or a line of moves.")],
    agent: Annotated[str, typer.Option(help="The agent that judges.")] = "strong",
    seconds: ThinkingTime = None,
    game: Annotated[str, typer.Option(help="The game, where the record does not name it.", callback=look_first)] = "",
    number: Annotated[int | None, typer.Option(min=1, help="Which game of a file that holds several.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.sgf", help="Write the record with comments there.", callback=file_to_write),
    ] = None,
    as_json: Json = False,
) -> None:
    """Judge every move of a recorded game, and mark the mistakes.

    For each move it shows the player's win rate before and after it, and the better move where one was missed. A move
    that loses 5, 10 or 20 percentage points is marked ?!, ? or ??.
    """
    from tengen.apps.analysis import analyze as judge_record

    judge_record(file, agent, seconds, game, number, out, as_json)


@app.command()
def solve(
    game: SoundGame,
    moves: Moves = "",
    board: Board = "",
    to_play: ToPlay = "",
    seconds: Annotated[float, typer.Option("--time", min=0.001, help="Give up after this many seconds.")] = 60.0,
    memory: Annotated[int, typer.Option(min=1, max=10**6, help="Megabytes for tables.")] = 256,
    as_json: Json = False,
) -> None:
    """Prove who wins a position.

    Gomoku is solved by threats, Reversi to the last disc, other games by searching to their end.
    """
    from tengen.apps.solve import solve as prove
    from tengen.search.limits import Limit

    is_proven = prove(_position(game, moves, board, to_play), Limit(time=seconds), memory, as_json)
    raise typer.Exit(0 if is_proven else 1)


@app.command()
def match(
    context: typer.Context,
    game: SoundGame,
    first: Annotated[str, typer.Argument(metavar="A", help="An agent, such as uct:playouts=1000.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Its opponent.")],
    count: Annotated[int, typer.Option("--games", min=1, help="How many games; colours alternate.")] = 100,
    opening: Plies = 2,
    openings: Openings = None,
    seed: ArenaSeed = 1,
    sprt: Annotated[
        str, typer.Option(help="Stop as soon as it is decided: elo0=0,elo1=20 (alpha=0.05,beta=0.05).")
    ] = "",
    move_time: MoveTime = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write games and report there; the same command resumes.", callback=folder_to_write
        ),
    ] = None,
    workers: Cores = None,
    as_json: Json = False,
) -> None:
    """Let two agents play a match, and say who is stronger."""
    from tengen.apps.arena import show_match

    beginning = _beginning(context, opening, openings, seed, move_time)
    show_match(game, (first, second), count, sprt, out, workers, as_json, **beginning)


@app.command()
def tournament(
    context: typer.Context,
    game: SoundGame,
    agents: Annotated[list[str], typer.Argument(metavar="A B C…", help="Agents, such as random strong alphabeta.")],
    count: Annotated[
        int, typer.Option("--games", min=1, help="How many games each pair plays; colours alternate.")
    ] = 20,
    opening: Plies = 2,
    openings: Openings = None,
    seed: ArenaSeed = 1,
    move_time: MoveTime = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write games and report there; by default tournaments/GAME.",
            callback=folder_to_write,
        ),
    ] = None,
    figures: Figures = False,
    workers: Cores = None,
    cluster: Cluster = "",
    as_json: Json = False,
) -> None:
    """Let every pair of agents play, and rate them in a report.

    The same command goes on with a tournament that was stopped, or plays more games.
    """
    from tengen.apps.arena import show_tournament

    beginning = _beginning(context, opening, openings, seed, move_time)
    show_tournament(game, tuple(agents), count, out, figures, workers, as_json, cluster, **beginning)


@app.command()
def gtp(
    context: typer.Context,
    game: SoundGame,
    agent: Thinker = "strong",
    ponder: Annotated[bool, Flag("--ponder", help="Think while the opponent does.")] = False,
    resign: Annotated[
        float | None, typer.Option(min=-1, max=1, help="Resign at this value, from -1 to 1; by default never.")
    ] = None,
    resign_moves: Annotated[
        int, typer.Option(min=1, help="With --resign: only after this many such moves in a row.")
    ] = 3,
) -> None:
    """Be an engine for GoGui, Sabaki and others that speak GTP."""
    from tengen.apps.gtp.engine import run

    if resign is None:
        refuse_unused(context, "it goes with --resign", "resign_moves")
    run(game, agent, resign, resign_moves, ponder)


@app.command()
def analysis(
    agent: Thinker = "strong",
    visits: Annotated[int, typer.Option(min=1, help="Visits of a turn, where a query has no maxVisits.")] = 500,
    workers: Annotated[int, typer.Option(min=1, max=64, help="How many turns are analysed side by side.")] = 1,
) -> None:
    """Analyse Go for KaTrain and others, by KataGo's protocol.

    Queries are lines of JSON on stdin, and answers lines on stdout.
    """
    from tengen.apps.kata.server import run

    run(agent, visits, workers)


@app.command()
def gomocup(agent: Thinker = "strong") -> None:
    """Be a Gomoku engine for Piskvork, Yixin-Board and other managers.

    It speaks the Gomocup protocol.
    """
    from tengen.apps.gomocup import serve

    serve(agent)


@app.command()
def uci(agent: Annotated[str, typer.Option(help="The agent that plays.")] = "strong") -> None:
    """Be a chess engine for Cute Chess and others that speak UCI."""
    from tengen.apps.uci import serve

    serve(agent)


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 picks a free one.")] = 8000,
    browser: Annotated[bool, Flag("--browser", help="Open the page in a browser.")] = False,
    names: Annotated[
        list[str] | None, typer.Option("--name", help="A host name of this server; may be repeated.")
    ] = None,
    password: Annotated[
        str,
        typer.Option(
            envvar="TENGEN_PASSWORD",
            help="Visitors' password. Without one, other machines need the link that is printed.",
        ),
    ] = "",
    is_open: Annotated[bool, Flag("--open", help="Let in everybody, without link or password.")] = False,
    jobs: Annotated[bool, Flag("--jobs", help="Let other machines start and stop runs and contests.")] = False,
    behind_proxy: Annotated[
        bool, Flag("--behind-proxy", help="Trust a proxy's X-Forwarded-For to say who asks.")
    ] = False,
    runs: Annotated[Path, typer.Option(help="The folder of training runs.")] = Path("runs"),
    own: Annotated[
        list[Path] | None, typer.Option("--game", help="A game's file to serve, too; may be repeated.")
    ] = None,
) -> None:
    """Play, analyse and learn in a browser, at http://127.0.0.1:8000."""
    from tengen.apps.web.server import serve as serve_pages
    from tengen.apps.web.settings import ServerSettings

    for path in own or ():
        look_first(str(path))
    settings = ServerSettings(
        host=host,
        port=port,
        names=tuple(names or ()),
        behind_proxy=behind_proxy,
        password=password,
        jobs=jobs,
        runs=runs,
        games=tuple(own or ()),
    )
    serve_pages(settings, browser, is_open)


@app.command()
def train(
    context: typer.Context,
    preset: Annotated[
        str,
        typer.Argument(
            metavar="PRESET", help="A preset (see tengen presets), a .toml file, or a game.", callback=look_first
        ),
    ],
    run: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The run's folder; by default runs/PRESET.", callback=folder_to_write),
    ] = None,
    device: Annotated[str, typer.Option(help="The device: auto, cpu or cuda.")] = "auto",
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Stop after this many minutes; by default when the run is complete.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="TABLE.KEY=VALUE", help="Change a setting of a new run; may be repeated."),
    ] = None,
    cluster: Cluster = "",
    learners: Annotated[int, typer.Option(min=1, max=64, help="With --cluster: how many GPUs learn together.")] = 1,
) -> None:
    """Train a net by self-play.

    The same command goes on with a run that was stopped or killed.
    """
    from tengen.alphago.start import STAGES, train_stage
    from tengen.learn.start import train as train_net

    if preset in STAGES:
        refuse_unused(context, f"{preset} is trained on one machine", "cluster", "learners")
        train_stage(preset, run, device, minutes, changes or [])
        return
    if not cluster:
        refuse_unused(context, "it goes with --cluster", "learners")
    train_net(preset, run, device, minutes, changes or [], cluster, learners)


@app.command()
def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a training run.")],
    out: Annotated[
        Path,
        typer.Option("--out", "--parquet", metavar="FILE", help="The Parquet file to write.", callback=file_to_write),
    ],
    game: Annotated[str, typer.Option(help="The run's game, if that is a file.")] = "",
    as_json: Json = False,
) -> None:
    """Write the positions that a run learns from as a data set.

    Each position is a row of a Parquet file.
    """
    from tengen.learn.dataset import export_positions

    def show(count: int) -> None:
        print(f"\r{count:,} positions", end="", file=sys.stderr, flush=True)

    count = export_positions(run, out, game, show if sys.stderr.isatty() else lambda count: None)
    if as_json:
        print_json({"file": str(out), "positions": count})
        return
    print(f"\r{out}: {count:,} positions")


@app.command()
def bench(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="What to measure: rules, search or limits.")] = "rules",
    seconds: Annotated[float, typer.Option("--time", min=0.01, max=3600, help="Seconds for each measurement.")] = 1.0,
    as_json: Json = False,
) -> None:
    """Measure speed, beside OpenSpiel's in the same run."""
    from tengen.apps.bench import BENCHES
    from tengen.rules.errors import nearest

    if what not in BENCHES:
        raise TengenError(f"there is no bench {what!r}{nearest(what, BENCHES)}")
    BENCHES[what](seconds, as_json)


@app.command()
def reproduce(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(metavar="WHAT", help="One of lecture and 3x3 (seconds), 8x8, gobang and go9 (minutes)."),
    ],
    is_full: Annotated[
        bool, Flag("--full", help="As the document has it; 8x8 takes an hour then, gobang and go9 far longer.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write the report there; by default reproduced/WHAT.", callback=folder_to_write
        ),
    ] = None,
    net: Annotated[str, typer.Option(help="With 8x8, gobang or go9: play with this net instead of training one.")] = "",
    minutes: Annotated[
        float | None, typer.Option(min=0, help="With 8x8, gobang or go9: train for this many minutes.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of openings and games.")] = 1,
    as_json: Json = False,
) -> None:
    """Repeat a document's experiment, and compare the figures."""
    from tengen.course.reproduce import EXPERIMENTS, SETTINGS
    from tengen.course.reproduce.page import Options
    from tengen.rules.errors import nearest

    if what not in EXPERIMENTS:
        raise TengenError(f"there is no experiment {what!r}{nearest(what, EXPERIMENTS)}")
    refuse_unused(context, f"{what} has no such setting", *({"is_full", "net", "minutes", "seed"} - SETTINGS[what]))
    if net:
        refuse_unused(context, "with --net nothing is trained", "minutes")
    options = Options(out or Path("reproduced") / what, is_full, net, minutes, seed)
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        claims = EXPERIMENTS[what](options)
    if as_json:
        print_json({"report": str(options.report), "claims": [asdict(claim) for claim in claims]})


@app.command("grade")
def grade_assignment(
    context: typer.Context,
    assignment: Annotated[
        str, typer.Argument(metavar="[ASSIGNMENT]", help="Which; without one, they are listed.")
    ] = "",
    file: Annotated[Path | None, typer.Argument(metavar="[FILE.py]", help="The student's file.")] = None,
    starter: Annotated[
        Path | None,
        typer.Option(metavar="FILE.py", help="Write the file to start from there.", callback=file_to_write),
    ] = None,
    gradescope: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write Gradescope's results.json there.", callback=file_to_write)
    ] = None,
    seconds: Annotated[float, typer.Option("--time", min=1, max=600, help="Seconds for all of it.")] = 60.0,
    as_json: Json = False,
) -> None:
    """Grade a student's file for an assignment of the course.

    Each question gives its points or says why not. The file runs in a process of its own, with limits on time, memory,
    files and processes; what it prints is dropped. The limits stop mistakes and simple tricks: grade strangers' files
    in a container. --json prints what --gradescope writes.

    Try: tengen grade; tengen grade minimax --starter mine.py; tengen grade minimax mine.py
    """
    from tengen.apps import grading

    if not assignment or file is None:
        refuse_unused(context, "it goes with a FILE.py to grade", "gradescope", "seconds", "as_json")
    if not assignment:
        refuse_unused(context, "it goes with the name of an assignment", "starter")
        grading.list_assignments()
    elif starter is not None:
        if file is not None:
            raise BadParameter("give a FILE.py to grade or --starter, not both")
        grading.write_starter(assignment, starter)
    elif file is None:
        grading.show_questions(assignment)
    else:
        grading.show_grade(assignment, file, seconds, gradescope, as_json)


@app.command("compile")
def compile_games(
    specs: Annotated[
        list[str] | None, typer.Argument(metavar="GAME…", help="The games; by default all that are included.")
    ] = None,
) -> None:
    """Compile games ahead of time.

    Name them as you will play them: go:size=9 and go:size=19 are compiled separately.
    """
    from tengen.agents.specs import load_agent
    from tengen.games import file_names, load_game
    from tengen.rules.playouts import compile_rules
    from tengen.search.limits import Limit

    for spec in specs or file_names():
        loaded = load_game(spec)
        compile_rules(loaded)
        for name in ("uct", "strong"):
            agent, position = load_agent(name, loaded), loaded.start()
            for _ in range(2):  # the second move keeps the tree of the first
                if position.outcome is None:
                    position = position.play(agent.choose(position, Limit(nodes=2)).action)
    print("ready")


@app.command()
def cache(
    is_cleared: Annotated[bool, Flag("--clear", help="Delete the compiled kernels.")] = False, as_json: Json = False
) -> None:
    """Show where compiled kernels are kept, and how large they are."""
    from tengen.rules.kernel_cache import cache_folder, kept_in, tidy

    try:
        folder = cache_folder()
    except OSError as reason:
        raise TengenError(f"compiled kernels cannot be kept: {reason}; set XDG_CACHE_HOME") from None
    deleted = tidy(folder, most=-1) if is_cleared else 0
    kept = kept_in(folder)
    size = sum(size for _, size, _ in kept)
    if as_json:
        print_json({"folder": str(folder), "kernels": len(kept), "bytes": size, "deleted": deleted})
        return
    print(f"{folder}: {len(kept):,} kernels, {size / 1e6:,.1f} MB" + (f"; {deleted:,} deleted" if is_cleared else ""))


def _beginning(
    context: typer.Context, opening: int, openings: Path | None, seed: int, move_time: float | None
) -> dict[str, Any]:
    """How the games of a match or tournament begin, and how long a move may take."""
    if openings is not None:
        refuse_unused(context, "--openings says how games begin", "opening")
    return {"plies": opening, "openings": openings, "seed": seed, "move_time": move_time}


def _position(game: str, moves: str, board: str, to_play: str) -> Position:
    """The position of the options that name one."""
    from tengen.games import load_game

    loaded = load_game(game)
    if to_play and not board:
        raise TengenError("--to-play goes with --board")
    if not board:
        return loaded.from_moves(moves)
    position = loaded.from_board(board, to_play or None)
    for action in loaded.read_moves(moves):
        position = position.play(action)
    return position
