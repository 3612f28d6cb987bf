"""The command `tengen`. Every command imports what it needs when it runs, so that `--help` answers at once."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen import __version__
from tengen.apps import corpus, gamesdb, labs
from tengen.rules.errors import TengenError

if TYPE_CHECKING:
    from tengen.rules.game import Position

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(gamesdb.app, name="games-db")
app.add_typer(labs.app, name="lab")
app.add_typer(corpus.app, name="records")


def look_first(spec: str) -> str:
    """Checks a game's file for a moment if it is new or has changed; refuses it if that finds fault."""
    if ".py" in spec:
        from tengen.apps.checking import refuse_unsound

        refuse_unsound(spec)
    return spec


GAME_HELP = "A game or a file: tictactoe, gomoku:size=8,rule=renju, ./breakthrough.py"
AnyGame = Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP)]
SoundGame = Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP, callback=look_first)]
Json = Annotated[bool, typer.Option("--json", help="Print one machine-readable object.")]
Moves = Annotated[str, typer.Option(help="Moves that lead to the position: 'h8 i9', or run together.")]
Board = Annotated[str, typer.Option(help="A diagram: rows from the top joined by /, with X, O and a dot for empty.")]
Plies = Annotated[int, typer.Option("--opening", min=0, help="Random plies that begin each pair of games.")]
Openings = Annotated[Path | None, typer.Option(help="A file of openings instead: moves, one opening a line.")]
ArenaSeed = Annotated[int, typer.Option("--seed", help="Of openings and agents.")]
MoveTime = Annotated[float | None, typer.Option(min=0.001, help="Seconds; a move that takes longer loses the game.")]
Figures = Annotated[bool, typer.Option("--figures", help="Also draw the report's figures as PNG (needs matplotlib).")]
Workers = Annotated[int | None, typer.Option(min=0, help="Games at once; by default as many as there are cores.")]
Cluster = Annotated[
    str, typer.Option(help="A Ray cluster to use: auto (this machine's), local, or HOST:PORT; see docs/scaling.md.")
]
ToPlay = Annotated[str, typer.Option(help="Who moves on --board: X or O.")]


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
        print(f"tengen: there is not that much memory: {reason}", file=sys.stderr)
        sys.exit(2)


def show_version(is_asked: bool) -> None:
    if is_asked:
        print(f"tengen {__version__}")
        raise typer.Exit


@app.callback()
def tengen(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=show_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Board games that are plain Python and run at native speed. Try: tengen play tictactoe"""


@app.command()
def games(as_json: Json = False) -> None:
    """List the games and their parameters."""
    from tengen.games import file_names, load_game, other_names
    from tengen.rules.game import parameter_kinds

    rows: list[dict[str, Any]] = []
    for name in file_names():
        game = load_game(name)
        kinds = parameter_kinds(type(game.parameters))
        defaults = game.parameters._asdict()
        parameters = {
            field: {"values": str(allowed), "default": allowed.text(defaults[field])}
            for field, (_, allowed) in kinds.items()
        }
        others = [other for other, (owner, _) in other_names().items() if owner == name]
        about = (type(game.parameters).__doc__ or "").splitlines()[0]
        rows.append({"name": name, "about": about, "parameters": parameters, "other_names": others})
    if as_json:
        print(json.dumps(rows))
        return
    for row in rows:
        also = f" (also: {', '.join(row['other_names'])})" if row["other_names"] else ""
        print(f"{row['name']}{also}: {row['about']}")
        for field, facts in row["parameters"].items():
            print(f"    {field}={facts['default']}  ({facts['values']})")
    print("\nA game of your own is one file: tengen check ./yours.py, tengen play ./yours.py")


@app.command()
def check(
    game: AnyGame,
    count: Annotated[int, typer.Option("--games", min=1)] = 20,
    seconds: Annotated[float | None, typer.Option(min=0.01, help="Stop playing games after so long.")] = None,
    as_json: Json = False,
) -> None:
    """Test whether a game is sound: its rules, its symmetries, its network planes, its texts."""
    from tengen.apps.checking import check_and_tell

    raise typer.Exit(0 if check_and_tell(game, count, seconds, as_json) else 1)


@app.command()
def perft(
    game: AnyGame,
    depth: Annotated[int, typer.Argument(min=1, help="How many plies deep.")],
    moves: Moves = "",
    board: Board = "",
    to_play: ToPlay = "",
    as_json: Json = False,
) -> None:
    """Count the sequences of moves from a position, ply by ply: the first proof that rules are right."""
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
        print(json.dumps({"counts": counts}))


@app.command()
def play(
    game: SoundGame = "tictactoe",
    first: Annotated[str, typer.Option(help="Who plays first: human, or an agent.")] = "human",
    second: Annotated[str, typer.Option(help="Who plays second: human, or an agent such as random.")] = "strong",
    seed: Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Makes agents repeat themselves.")] = None,
    moves: Moves = "",
    board: Board = "",
    to_play: ToPlay = "",
) -> None:
    """Play a game in the terminal, against an agent or another person."""
    import random

    from tengen.apps.terminal import play_game

    chosen = random.randrange(2**31) if seed is None else seed
    play_game(_position(game, moves, board, to_play), (first, second), chosen)


@app.command()
def best(
    game: SoundGame,
    agent: Annotated[str, typer.Option(help="Who thinks.")] = "strong",
    moves: Moves = "",
    board: Board = "",
    to_play: ToPlay = "",
    as_json: Json = False,
) -> None:
    """Choose a move in one position, and explain it."""
    from tengen.apps.explain import explain

    explain(_position(game, moves, board, to_play), agent, as_json)


@app.command()
def solve(
    game: SoundGame,
    moves: Moves = "",
    board: Board = "",
    to_play: ToPlay = "",
    seconds: Annotated[float, typer.Option("--time", min=0.001, help="Seconds to try for.")] = 60.0,
    memory: Annotated[int, typer.Option(min=1, max=10**6, help="Megabytes for tables.")] = 256,
    as_json: Json = False,
) -> None:
    """Prove who wins: Gomoku by threats, Reversi to the last disc, other games by searching to their end."""
    from tengen.apps.solve import solve as prove
    from tengen.search.limits import Limit

    is_proven = prove(_position(game, moves, board, to_play), Limit(time=seconds), memory, as_json)
    raise typer.Exit(0 if is_proven else 1)


@app.command()
def match(
    game: SoundGame,
    first: Annotated[str, typer.Argument(metavar="A", help="An agent: uct:playouts=1000")],
    second: Annotated[str, typer.Argument(metavar="B", help="Its opponent.")],
    count: Annotated[int, typer.Option("--games", min=1, help="How many; colours alternate.")] = 100,
    opening: Plies = 2,
    openings: Openings = None,
    seed: ArenaSeed = 1,
    sprt: Annotated[
        str, typer.Option(help="Stop as soon as it is decided: elo0=0,elo1=20 (alpha=0.05,beta=0.05)")
    ] = "",
    move_time: MoveTime = None,
    out: Annotated[Path | None, typer.Option(help="A folder for games and report; the same command resumes.")] = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Let two agents play a match, and say who is stronger and how sure that is."""
    from tengen.apps.arena import show_match

    beginning = {"plies": opening, "openings": openings, "seed": seed, "move_time": move_time}
    show_match(game, (first, second), count, sprt, out, workers, as_json, **beginning)


@app.command()
def tournament(
    game: SoundGame,
    agents: Annotated[list[str], typer.Argument(metavar="A B C…", help="Agents: random uct:playouts=1000 alphabeta")],
    count: Annotated[int, typer.Option("--games", min=1, help="How many each pair plays; colours alternate.")] = 20,
    opening: Plies = 2,
    openings: Openings = None,
    seed: ArenaSeed = 1,
    move_time: MoveTime = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder of games and report; by default tournaments/GAME.")
    ] = None,
    figures: Figures = False,
    workers: Workers = None,
    cluster: Cluster = "",
    as_json: Json = False,
) -> None:
    """Let every pair of agents play, rate them, and write a report. The same command resumes, or plays more games."""
    from tengen.apps.arena import show_tournament

    beginning = {"plies": opening, "openings": openings, "seed": seed, "move_time": move_time}
    show_tournament(game, tuple(agents), count, out, figures, workers, as_json, cluster, **beginning)


@app.command()
def gtp(
    game: SoundGame,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Who thinks.")] = "strong",
    ponder: Annotated[bool, typer.Option("--ponder", help="Think while the opponent does.")] = False,
    resign: Annotated[
        float | None, typer.Option(min=-1, max=1, help="Give up when moves are worth so little; by default never.")
    ] = None,
    resign_moves: Annotated[int, typer.Option(min=1, help="So many of them in a row.")] = 3,
) -> None:
    """Be an engine that speaks the Go Text Protocol: for GoGui, Sabaki and other controllers."""
    from tengen.apps.gtp.engine import run

    run(game, agent, resign, resign_moves, ponder)


@app.command()
def gomocup(agent: Annotated[str, typer.Argument(metavar="AGENT", help="Who thinks.")] = "strong") -> None:
    """Be a Gomoku engine for Piskvork, Yixin-Board and other managers that speak the protocol of Gomocup."""
    from tengen.apps.gomocup import serve

    serve(agent)


@app.command()
def serve(
    host: Annotated[
        str, typer.Option(help="Where to listen; 0.0.0.0 for others than this machine, too.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 8000,
    browser: Annotated[bool, typer.Option("--browser", help="Open the page in a browser.")] = False,
    names: Annotated[
        list[str] | None, typer.Option("--name", help="A name under which browsers may reach us; may be repeated.")
    ] = None,
    password: Annotated[
        str,
        typer.Option(
            envvar="TENGEN_PASSWORD",
            help="What visitors must know. Without it, others than this machine need the link that is printed.",
        ),
    ] = "",
    is_open: Annotated[
        bool, typer.Option("--open", help="Let everybody in who can reach us, without link or password.")
    ] = False,
    jobs: Annotated[
        bool, typer.Option("--jobs", help="Let others than this machine start and stop runs and contests.")
    ] = False,
    behind_proxy: Annotated[
        bool,
        typer.Option(
            "--behind-proxy",
            help="A proxy on this machine or in its network passes visitors on, and says in X-Forwarded-For who asks.",
        ),
    ] = False,
    runs: Annotated[Path, typer.Option(help="The folder of training runs.")] = Path("runs"),
    own: Annotated[
        list[Path] | None, typer.Option("--game", help="A file of a game of your own to serve, too; may be repeated.")
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
    preset: Annotated[
        str,
        typer.Argument(
            metavar="PRESET",
            help="A preset (tictactoe, gomoku8, sl9, …), a .toml file, or a game.",
            callback=look_first,
        ),
    ],
    run: Annotated[Path | None, typer.Option(help="The folder of the run; by default runs/PRESET.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    minutes: Annotated[float | None, typer.Option(min=0, help="Stop after so long; by default when complete.")] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="TABLE.KEY=VALUE", help="Change a setting of a new run.")
    ] = None,
    cluster: Cluster = "",
    learners: Annotated[int, typer.Option(min=1, max=64, help="With --cluster: GPUs that learn together.")] = 1,
) -> None:
    """Train a net by self-play. The same command goes on with a run that was stopped or killed."""
    from tengen.alphago.start import STAGES, train_stage
    from tengen.learn.start import train as train_net

    if preset in STAGES:
        train_stage(preset, run, device, minutes, changes or [])
    else:
        train_net(preset, run, device, minutes, changes or [], cluster, learners)


@app.command()
def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a training run.")],
    parquet: Annotated[Path, typer.Option(metavar="FILE", help="The file to write, a row for each position.")],
    game: Annotated[str, typer.Option(help="The run's game, if that is a file.")] = "",
) -> None:
    """Write the positions that a run learns from as a data set."""
    from tengen.learn.dataset import export_positions

    def show(count: int) -> None:
        print(f"\r{count:,} positions", end="", file=sys.stderr, flush=True)

    count = export_positions(run, parquet, game, show if sys.stderr.isatty() else lambda count: None)
    print(f"\r{parquet}: {count:,} positions")


@app.command()
def agents() -> None:
    """List the agents and their options."""
    from tengen.agents.own import packaged_makers
    from tengen.agents.specs import AGENTS, PRESETS
    from tengen.knowledge.evaluations import EVALUATIONS

    for name, maker in {**AGENTS, **packaged_makers()}.items():
        print(f"{name}: {maker.about}")
        for key, option in maker.options.items():
            default = "" if option.default is None else f"={option.default}"
            print(f"    {key}{default}  ({option.about})")
    print("evaluations, for evaluation=…")
    for name, named in EVALUATIONS.items():
        print(f"    {name}  ({', '.join(named.games) or 'any game'}: {named.about})")
    print("presets")
    for name, spec in PRESETS.items():
        print(f"    {name}  = {spec}")


@app.command()
def bench(
    what: Annotated[str, typer.Argument(help="What to measure: rules, search or limits.")] = "rules",
    seconds: Annotated[float, typer.Option(min=0.01, max=3600, help="Time for each measurement.")] = 1.0,
    as_json: Json = False,
) -> None:
    """Measure speed, beside a peer in the same run."""
    from tengen.apps.bench import BENCHES
    from tengen.rules.errors import nearest

    if what not in BENCHES:
        raise TengenError(f"there is no bench {what!r}{nearest(what, BENCHES)}")
    BENCHES[what](seconds, as_json)


@app.command()
def reproduce(
    what: Annotated[str, typer.Argument(help="lecture (seconds), 3x3 (seconds), 8x8, gobang or go9 (minutes).")],
    is_full: Annotated[
        bool, typer.Option("--full", help="As the document had it: 8x8 and gobang then take days.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="The folder of the report; by default reproduced/WHAT.")] = None,
    net: Annotated[str, typer.Option(help="8x8, gobang: a net to play with, instead of training one.")] = "",
    minutes: Annotated[float | None, typer.Option(min=0, help="8x8, gobang: how long to train one.")] = None,
    seed: Annotated[int, typer.Option(help="Of openings and games.")] = 1,
) -> None:
    """Repeat a document's experiment: its figures beside ours, in a report."""
    from tengen.course.reproduce import EXPERIMENTS
    from tengen.course.reproduce.page import Options
    from tengen.rules.errors import nearest

    if what not in EXPERIMENTS:
        raise TengenError(f"there is no experiment {what!r}{nearest(what, EXPERIMENTS)}")
    EXPERIMENTS[what](Options(out or Path("reproduced") / what, is_full, net, minutes, seed))


@app.command("compile")
def compile_games(
    specs: Annotated[
        list[str] | None, typer.Argument(metavar="GAME…", help="Games; by default all that come along.")
    ] = None,
) -> None:
    """Compile games ahead of time, as you will play them: go:size=9 and go:size=19 are compiled apart."""
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
    is_cleared: Annotated[bool, typer.Option("--clear", help="Delete them.")] = False, as_json: Json = False
) -> None:
    """Show where compiled kernels are kept, how many there are, and how large they are."""
    from tengen.rules.kernel_cache import cache_folder, kept_in, tidy

    try:
        folder = cache_folder()
    except OSError as reason:
        raise TengenError(f"compiled kernels cannot be kept: {reason}; set XDG_CACHE_HOME") from None
    deleted = tidy(folder, most=-1) if is_cleared else 0
    kept = kept_in(folder)
    size = sum(size for _, size, _ in kept)
    if as_json:
        print(json.dumps({"folder": str(folder), "kernels": len(kept), "bytes": size, "deleted": deleted}))
        return
    print(f"{folder}: {len(kept):,} kernels, {size / 1e6:,.1f} MB" + (f"; {deleted:,} deleted" if is_cleared else ""))


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
