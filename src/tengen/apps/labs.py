"""`tengen lab`: the lecture and the slides as something to try. What labs share with the web app is in `apps/lab`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Try what a course teaches: bandits, searches, games, queens, the Wumpus world. `tengen lab` lists the labs.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Out = Annotated[Path | None, typer.Option(help="Save a picture: a file .svg, or .png (needs matplotlib).")]
Json = Annotated[bool, typer.Option("--json", help="Print one machine-readable object.")]
Seed = Annotated[int, typer.Option(min=0, max=2**31, help="Other luck.")]
AnySeed = Annotated[int | None, typer.Option(min=0, max=2**31, help="Makes luck repeat itself.")]
Tree = Annotated[str, typer.Argument(help="Nested lists of MAX's values, as '[[3, 12], [2, x=7]]'; or lecture, deep.")]
GameOption = Annotated[str, typer.Option("--game", help="A position of a game instead: tictactoe, connect4.")]
Moves = Annotated[str, typer.Option(help="With --game: moves that lead to the position: 'a1 b2'.")]
Depth = Annotated[int, typer.Option(min=1, max=12, help="With --game: plies.")]
Root = Annotated[str, typer.Option(help="Who moves at the root of a tree: max or min.")]
Simulations = Annotated[int, typer.Option(min=1, max=400, help="How many.")]
Told = Annotated[int, typer.Option("--tell", min=0, help="How many are told step by step.")]
Cards = Annotated[int, typer.Option(min=2, max=400, help="Cards in the picture: those visited most.")]
First = Annotated[str, typer.Option(help="Who begins: random, you or computer.")]
Browser = Annotated[bool, typer.Option("--browser", help="On the web app's board instead of in the terminal.")]
Port = Annotated[int, typer.Option(min=1, max=65535, help="With --browser: where the board is served.")]
Pause = Annotated[float, typer.Option(min=0, max=60, help="Seconds between two steps.")]


@app.callback()
def list_labs(context: typer.Context) -> None:
    if context.invoked_subcommand is not None:
        return
    print("labs, each with `tengen lab NAME`; `tengen lab NAME --help` says what there is to try\n")
    for command in app.registered_commands:
        about = (command.callback.__doc__ or "").strip().splitlines()[0] if command.callback else ""
        print(f"  {command.name or getattr(command.callback, '__name__', ''):10} {about}")


@app.command("bandit")
def show_bandit(
    means: Annotated[str, typer.Argument(help="The chance of each arm to pay 1, 2 to 10 of them.")] = "0.3,0.5,0.7",
    steps: Annotated[int, typer.Option(help="Pulls in a run.")] = 500,
    runs: Annotated[int, typer.Option(help="Runs, each with its own luck.")] = 100,
    exploration: Annotated[float, typer.Option("-C", "--exploration", min=0, max=100, help="UCB1's C.")] = 1.0,
    epsilon: Annotated[float, typer.Option(min=0, max=1, help="How often ε-greedy takes any arm.")] = 0.1,
    seed: Seed = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Which arm next? Greedy, ε-greedy, UCB1 and Thompson's sampling, and what each comes to regret.

    Arm i pays X(i,t), 1 or 0, at time t. Regret is Rₙ = max over i of Σ X(i,t), less what was earned: what one would
    have had from the best arm alone. UCB1 takes the arm with the greatest X̄ⱼ + C·√(2 ln n / nⱼ): its mean, and more the
    less it is known. Thompson's sampling draws each arm's chance from what is known of it and takes the best draw.

    Try: C = 0, which is greedy; two arms of 0.5 and 0.55; steps = 2000.
    """
    from tengen.apps import lab_printing
    from tengen.course import bandit
    from tengen.rules.errors import BadParameter

    try:
        chances = [float(mean) for mean in means.split(",")]
    except ValueError:
        raise BadParameter(f"{means!r} is no list of chances; write one as 0.3,0.5,0.7") from None
    contest = bandit.contest(chances, steps, runs, exploration, epsilon, seed, has_thompson=True)
    lab_printing.show_bandit(contest, out, as_json)


@app.command("minimax")
def show_minimax(
    tree: Tree = "",
    game: GameOption = "",
    moves: Moves = "",
    depth: Depth = 2,
    root: Root = "max",
    out: Out = None,
    as_json: Json = False,
) -> None:
    """The value of a tree, from its leaves up: MAX takes the greatest, MIN the least.

    MINIMAX(s) is UTILITY(s) if the game is over; else the greatest value of RESULT(s, a) over ACTIONS(s) if MAX moves,
    the least if MIN does. With --game it looks so many plies ahead and asks e(s) there: for tic-tac-toe, lines still
    open to MAX less lines still open to MIN.

    Try: tengen lab minimax --game tictactoe --depth 1; then --depth 2. Without a tree it is the lecture's.
    """
    from tengen.apps import lab_printing

    lab_printing.show_minimax(lab_printing.walk_of(tree, game, moves, depth, "written", root), out, as_json)


@app.command("alphabeta")
def show_alphabeta(
    tree: Tree = "",
    game: GameOption = "",
    moves: Moves = "",
    depth: Depth = 2,
    root: Root = "max",
    order: Annotated[str, typer.Option(help="Children as written, best or worst first, or (--game) by guess.")] = (
        "written"
    ),
    has_steps: Annotated[bool, typer.Option("--steps", help="Tell all that it does, in order.")] = False,
    orders: Annotated[bool, typer.Option("--orders", help="How much each order of moves saves, on random trees.")] = (
        False
    ),
    branching: Annotated[int, typer.Option(min=2, max=40, help="With --orders: moves at each node.")] = 4,
    height: Annotated[int, typer.Option(min=1, max=12, help="With --orders: plies.")] = 6,
    seed: Seed = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """The same value with fewer leaves: every window, every cut, its kind and its reason.

    α is the best that MAX has so far on the way here, β the best that MIN has. A MIN node worth no more than α is left
    (an alpha cut), a MAX node worth no less than β (a beta cut). In the best order about b^(h/2) leaves of b^h are
    looked at, in a random order about b^(3h/4): --orders counts them.

    Try: tengen lab alphabeta --steps; tengen lab alphabeta '[[1, 2], [3, 4]]' --order best; --orders --branching 6
    """
    from tengen.apps import lab_printing
    from tengen.course import alphabeta_narration

    if orders:
        lab_printing.show_orders(alphabeta_narration.study_orders(branching, height, seed=seed), out, as_json)
        return
    lab_printing.show_alphabeta(lab_printing.walk_of(tree, game, moves, depth, order, root), has_steps, out, as_json)


@app.command("mcts")
def show_mcts(
    game: Annotated[str, typer.Option(help="A game; without one, the lecture's worked example.")] = "",
    moves: Moves = "",
    simulations: Simulations = 50,
    exploration: Annotated[float, typer.Option("-C", "--exploration", min=0, max=100, help="UCB1's C.")] = 0.7,
    told: Told = 3,
    cards: Cards = 40,
    seed: Seed = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Monte Carlo tree search: select, expand, simulate, back up, one step at a time.

    Each node counts visits and wins. The way down goes to the child with the greatest Q/N + C·√(2 ln n / N); a new node
    is added, a random game is played from it, and its result is counted in every node on the way. The lecture's
    example has 7/10, 5/8 and 0/3 below a root of 21: 1.252, 1.243, 1.007.

    Try: tengen lab mcts --out tree.svg; tengen lab mcts --game tictactoe --moves "a1 b2" --simulations 200
    """
    from tengen.apps import lab_printing

    settings = {"simulations": simulations, "exploration": exploration, "seed": seed}
    lab_printing.show_trace(lab_printing.trace_of("uct", game, moves, settings), told, cards, out, as_json)


@app.command("puct")
def show_puct(
    game: Annotated[str, typer.Option(help="A game; without one, the slides' worked example.")] = "",
    moves: Moves = "",
    simulations: Simulations = 3,
    evaluator: Annotated[str, typer.Option(help="Who judges leaves: uniform, rollout, slides, or a net of ours.")] = (
        "uniform"
    ),
    search: Annotated[str, typer.Option(help="puct, or gumbel.")] = "puct",
    exploration: Annotated[float, typer.Option("-c", "--exploration", min=0, max=100, help="c of PUCT.")] = 1.5,
    told: Told = 3,
    cards: Cards = 40,
    seed: Seed = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """AlphaZero's search: a network judges leaves and says where to look first.

    Each action has N, W, Q = W/N and P, the network's prior. The way down goes to the greatest Q + U with
    U = c·P·√ΣN / (1 + N). The network's value of the new leaf is added to W all the way up, its sign turned at each
    level. In the end actions are played with chances π = N^(1/τ) / Σ N^(1/τ). The slides' example is 3×3 with c = 5.

    Try: tengen lab puct --out tree.svg; tengen lab puct --game connect4 --evaluator connect4 --simulations 100
    """
    from tengen.apps import lab_printing
    from tengen.rules.errors import BadParameter

    if search not in ("puct", "gumbel"):
        raise BadParameter(f"search={search!r}: it is puct or gumbel; UCT is tengen lab mcts")
    settings = {"simulations": simulations, "evaluator": evaluator, "exploration": exploration, "seed": seed}
    lab_printing.show_trace(lab_printing.trace_of(search, game, moves, settings), told, cards, out, as_json)
    if not game and not as_json:
        lab_printing.show_policy()


@app.command("tictactoe")
def show_tictactoe(
    first: First = "random",
    is_in_browser: Browser = False,
    is_proof: Annotated[bool, typer.Option("--prove", help="Play every game that an opponent can make of it.")] = False,
    seed: AnySeed = None,
    port: Port = 8000,
) -> None:
    """The assignment: tic-tac-toe by alpha-beta, whoever begins, and it never loses.

    Alpha-beta looks at every game to its end. Who begins is drawn; --first decides it. --prove plays all games that any
    opponent can make of it, as the first player and as the second, and counts.
    """
    from tengen.apps import lab_printing

    lab_printing.show_tictactoe(first, is_in_browser, is_proof, seed, port)


@app.command("reversi")
def show_reversi(
    first: Annotated[str, typer.Option(help="Who plays Black: random, you, computer; nobody: it plays itself.")] = (
        "random"
    ),
    agent: Annotated[str, typer.Option(help="The computer: any agent of `tengen agents`.")] = "uct:time=2",
    seconds: Annotated[
        float, typer.Option("--time", min=0.001, max=86400, help="Seconds a move; longer loses.")
    ] = 60.0,
    size: Annotated[int, typer.Option(min=4, max=8, help="4, 6 or 8.")] = 8,
    is_in_browser: Browser = False,
    seed: AnySeed = None,
    port: Port = 8000,
) -> None:
    """The assignment: MiniAlphaGo for Reversi, by Monte Carlo tree search and against the clock.

    A move must flip a disc at least, and flips all that it encloses; only who cannot flip passes. Black begins. Who
    takes longer than a minute for a move has lost: --time changes that. The clock is shown, yours while it runs. (The
    board in the browser has the same clock, for 1 to 3600 seconds.)
    """
    from tengen.apps import lab_printing

    if is_in_browser:
        lab_printing.open_board(f"reversi:size={size}", lab_printing.seats(first, agent, seed), port, clock=seconds)
        return
    lab_printing.show_reversi(first, agent, seconds, size, seed)


@app.command("queens")
def show_queens(
    size: Annotated[int, typer.Argument(metavar="N", help="How many; up to 40 are shown step by step.")] = 8,
    start: Annotated[str, typer.Option(help="How they are put up: greedy or random.")] = "greedy",
    growth: Annotated[bool, typer.Option("--growth", help="10, 100, 1000 … up to N: how steps and time grow.")] = False,
    runs: Annotated[int, typer.Option(min=1, max=1000, help="With --growth: boards of each size.")] = 5,
    seed: Seed = 1,
    pause: Pause = 0.15,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """n queens by min-conflicts: a million in about a second.

    Every column has its queen. While some attack each other, one of these, drawn at random, moves in its column to
    where it is attacked least. Counts of queens in rows and on diagonals say what attacks a square without a look at
    the board. Put up greedily, a board of any size needs about 50 steps; put up at random, about 0.45 n.

    Try: tengen lab queens 20; tengen lab queens 1000000; tengen lab queens 1000000 --growth
    """
    from tengen.apps import lab_printing

    if growth:
        lab_printing.show_growth(size, runs, seed, start, out, as_json)
    else:
        lab_printing.show_queens(size, seed, start, pause, out, as_json)


@app.command("wumpus")
def show_wumpus(
    worlds: Annotated[int, typer.Option(min=0, max=10**6, help="Compare agents in so many random worlds.")] = 0,
    size: Annotated[int, typer.Option(min=2, max=8, help="The cave's width.")] = 4,
    pits: Annotated[float, typer.Option(min=0, max=1, help="The chance of a pit in a square.")] = 0.2,
    nerve: Annotated[float, typer.Option(min=0, max=1, help="The greatest chance of death that it takes.")] = 0.25,
    seed: Seed = 1,
    pause: Pause = 0.0,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """The Wumpus world: go where it is proven safe, in the dark.

    Squares beside a pit are breezy, beside the wumpus smelly; gold glitters; walls bump; a wumpus that is hit screams.
    Gold carried out +1000, death −1000, an action −1, the arrow −10. The agent draws a map of what it knows: exact
    chances from all caves that agree with what it felt. It enters proven squares first, shoots where that opens a way,
    takes a risk up to its nerve, and climbs out otherwise.

    Try: tengen lab wumpus --seed 118; tengen lab wumpus --nerve 1; tengen lab wumpus --worlds 10000
    """
    from tengen.apps import lab_printing

    if worlds:
        lab_printing.show_worlds(worlds, size, pits, seed, as_json)
    else:
        lab_printing.show_wumpus(size, pits, nerve, seed, pause, out, as_json)


@app.command("figures")
def show_figures(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME…", help="Which; all, if none is named.")] = None,
    out: Annotated[Path, typer.Option(help="The folder to write them to.")] = Path("figures"),
) -> None:
    """Draw the documents' figures anew: networks, tree search, planes, zones, filters that were learned.

    Each is read off the code that runs: layers off the network, steps off a watched search.

    Try: tengen lab figures puct-cycle --out .
    """
    from tengen.course.figures import FIGURES, draw_figure

    pictures = {name: draw_figure(name) for name in names or FIGURES}
    out.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        print(f"{picture.save(out / f'{name}.svg')}: {FIGURES[name].document}, {FIGURES[name].about}")
