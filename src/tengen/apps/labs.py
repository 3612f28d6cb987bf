"""`tengen lab`: the lecture and the slides as something to try. What the labs print is in `lab_printing`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.apps import lecture_labs
from tengen.apps.lab_options import Out, Seed, check_output
from tengen.apps.options import Flag, Json, new_app, refuse_unused

app = new_app(no_args_is_help=False, invoke_without_command=True)


AnySeed = Annotated[int | None, typer.Option(min=0, max=2**31, help="The seed; by default another one each time.")]
Tree = Annotated[
    str,
    typer.Argument(
        metavar="TREE", help="Nested lists of MAX's values, such as '[[3, 12], [2, x=7]]', or lecture, or deep."
    ),
]
GameOption = Annotated[str, typer.Option("--game", help="A position of this game instead, such as tictactoe.")]
Moves = Annotated[str, typer.Option(help="With --game: moves that lead to the position, such as 'a1 b2'.")]
Depth = Annotated[int, typer.Option(min=1, max=12, help="With --game: how many plies deep.")]
Root = Annotated[str, typer.Option(help="Who moves at the root of TREE: max or min.")]
Explored = Annotated[str, typer.Option(help="The game; without one, the worked example of the course.")]
Simulations = Annotated[int, typer.Option(min=1, max=400, help="How many simulations.")]
Told = Annotated[int, typer.Option("--tell", min=0, help="How many simulations to tell step by step.")]
Cards = Annotated[int, typer.Option(min=2, max=400, help="With --out: how many nodes to draw, the most visited.")]
First = Annotated[str, typer.Option(help="Who begins: random, you or computer.")]
Browser = Annotated[bool, Flag("--browser", help="Play on the web app's board.")]
Port = Annotated[int, typer.Option(min=1, max=65535, help="With --browser: the port of the web app.")]
Pause = Annotated[float, typer.Option(min=0, max=60, help="Seconds between two steps.")]


def check_board(context: typer.Context, is_in_browser: bool) -> None:
    if not is_in_browser:
        refuse_unused(context, "it goes with --browser", "port")


def check_tree(context: typer.Context, game: str) -> None:
    """Refuses options of a position without a game, and of a tree with one."""
    if game:
        refuse_unused(context, "in a game, MAX is the player who moves", "root")
    else:
        refuse_unused(context, "it goes with --game", "moves", "depth")


@app.callback()
def list_labs(context: typer.Context) -> None:
    """Try what a course teaches: bandits, searches, games, queens.

    Without a command it lists the labs.
    """
    if context.invoked_subcommand is not None:
        return
    print("Start a lab with tengen lab NAME; tengen lab NAME --help explains it and suggests what to try.\n")
    for command in app.registered_commands:
        about = (command.callback.__doc__ or "").strip().splitlines()[0] if command.callback else ""
        print(f"  {command.name or getattr(command.callback, '__name__', ''):10} {about}")


app.command("pi")(lecture_labs.show_pi)
app.command("taxonomy")(lecture_labs.show_taxonomy)


@app.command("bandit")
def show_bandit(
    context: typer.Context,
    means: Annotated[
        str, typer.Argument(metavar="MEANS", help="The chance of each of 2 to 10 arms to pay 1.")
    ] = "0.3,0.5,0.7",
    steps: Annotated[int, typer.Option(help="Pulls in a run.")] = 500,
    runs: Annotated[int, typer.Option(help="Runs, each with other random numbers.")] = 100,
    exploration: Annotated[float, typer.Option("-C", "--exploration", min=0, max=100, help="UCB1's C.")] = 1.0,
    epsilon: Annotated[float, typer.Option(min=0, max=1, help="How often ε-greedy takes any arm.")] = 0.1,
    priors: Annotated[
        str, typer.Option(help="How likely it is that each arm is the best, for PUCB: 0.1,0.2,0.7.")
    ] = "",
    seed: Seed = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Compare bandit policies: greedy, UCB1, Thompson sampling.

    Arm i pays X(i,t), 1 or 0, at time t. Regret is Rₙ = max over i of Σ X(i,t), less what was earned: what one would
    have had from the best arm alone. UCB1 takes the arm with the greatest X̄ⱼ + C·√(2 ln n / nⱼ): its mean, and more the
    less it is known. Thompson's sampling draws each arm's chance from what is known of it and takes the best draw. With
    --priors PUCB plays, too: UCB1 with a predictor, whose worst regret is bounded by (Σ √Pᵢ)² / b of the bound without.

    Try: C = 0, which is greedy; two arms of 0.5 and 0.55; steps = 2000.
    """
    check_output(context, as_json, out)
    from tengen.apps import lab_printing
    from tengen.course import bandit
    from tengen.rules.errors import BadParameter

    def read(text: str) -> list[float]:
        try:
            return [float(chance) for chance in text.split(",")] if text else []
        except ValueError:
            raise BadParameter(f"{text!r} is not a list of chances; write one as 0.3,0.5,0.7") from None

    contest = bandit.contest(read(means), steps, runs, exploration, epsilon, seed, True, read(priors))
    lab_printing.show_bandit(contest, out, as_json)


@app.command("minimax")
def show_minimax(
    context: typer.Context,
    tree: Tree = "",
    game: GameOption = "",
    moves: Moves = "",
    depth: Depth = 2,
    root: Root = "max",
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Find the value of a tree from its leaves up, by minimax.

    MAX takes the greatest value, MIN the least.

    MINIMAX(s) is UTILITY(s) if the game is over; else the greatest value of RESULT(s, a) over ACTIONS(s) if MAX moves,
    the least if MIN does. With --game it looks so many plies ahead and asks e(s) there: for tic-tac-toe, lines still
    open to MAX less lines still open to MIN.

    Try: tengen lab minimax --game tictactoe --depth 1; then --depth 2. Without a tree it is the lecture's.
    """
    check_output(context, as_json, out)
    check_tree(context, game)
    from tengen.apps import lab_printing

    lab_printing.show_minimax(lab_printing.walk_of(tree, game, moves, depth, "written", root), out, as_json)


@app.command("alphabeta")
def show_alphabeta(
    context: typer.Context,
    tree: Tree = "",
    game: GameOption = "",
    moves: Moves = "",
    depth: Depth = 2,
    root: Root = "max",
    order: Annotated[str, typer.Option(help="The order of children: written, best, worst, or guess (with --game).")] = (
        "written"
    ),
    has_steps: Annotated[bool, Flag("--steps", help="Tell all steps, in order.")] = False,
    orders: Annotated[bool, Flag("--orders", help="Count what each order of children saves, on random trees.")] = (
        False
    ),
    branching: Annotated[int, typer.Option(min=2, max=40, help="With --orders: moves at each node.")] = 4,
    height: Annotated[int, typer.Option(min=1, max=12, help="With --orders: how many plies deep.")] = 6,
    seed: Seed = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Find the same value from fewer leaves, by alpha-beta.

    Every window and every cut is shown, with its kind and its reason.

    α is the best that MAX has so far on the way here, β the best that MIN has. A MIN node worth no more than α is left
    (an alpha cut), a MAX node worth no less than β (a beta cut). In the best order about b^(h/2) leaves of b^h are
    looked at, in a random order about b^(3h/4): --orders counts them.

    Try: tengen lab alphabeta --steps; tengen lab alphabeta '[[1, 2], [3, 4]]' --order best; --orders --branching 6
    """
    check_output(context, as_json, out, "has_steps")
    from tengen.apps import lab_printing
    from tengen.course import alphabeta_narration

    if orders:
        unused = ("tree", "game", "moves", "depth", "root", "order", "has_steps")
        refuse_unused(context, "--orders counts on random trees", *unused)
        lab_printing.show_orders(alphabeta_narration.study_orders(branching, height, seed=seed), out, as_json)
        return
    refuse_unused(context, "it goes with --orders", "branching", "height", "seed")
    check_tree(context, game)
    lab_printing.show_alphabeta(lab_printing.walk_of(tree, game, moves, depth, order, root), has_steps, out, as_json)


app.command("tree")(lecture_labs.show_tree)
app.command("beyond")(lecture_labs.show_beyond)
app.command("matrix")(lecture_labs.show_matrix)
app.command("expectimax")(lecture_labs.show_expectimax)
app.command("pig")(lecture_labs.show_pig)
app.command("many")(lecture_labs.show_many)
app.command("belief")(lecture_labs.show_belief)


@app.command("mcts")
def show_mcts(
    context: typer.Context,
    game: Explored = "",
    moves: Moves = "",
    simulations: Simulations = 50,
    exploration: Annotated[
        float | None,
        typer.Option("-C", "--exploration", min=0, max=100, help="UCB1's C: 0.7, and in the example 1/√2."),
    ] = None,
    is_code: Annotated[bool, Flag("--code", help="Tell the first simulation in the lecture's pseudocode.")] = False,
    told: Told = 3,
    cards: Cards = 40,
    seed: Seed = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Watch Monte Carlo tree search, one simulation at a time.

    Each node counts visits and wins. The way down goes to the child with the greatest Q/N + C·√(2 ln n / N); a new node
    is added, a random game is played from it, and its result is counted in every node on the way. The lecture's
    example has 7/10, 5/8 and 0/3 below a root of 21: 1.252, 1.243, 1.007. It leaves out the 2 of its formula: with -C 1
    another move is chosen.

    Try: tengen lab mcts --out tree.svg; tengen lab mcts -C 1; tengen lab mcts --code; tengen lab mcts --game tictactoe
    --moves "a1 b2" --simulations 200
    """
    check_output(context, as_json, out, "told", "is_code")
    if not game:
        refuse_unused(context, "it goes with --game", "moves", "simulations", "seed")
    from tengen.apps import lab_printing

    settings = {"simulations": simulations, "exploration": exploration, "seed": seed}
    trace = lab_printing.trace_of("uct", game, moves, settings)
    if is_code:
        lab_printing.show_code(trace)
    lab_printing.show_trace(trace, told, cards, out, as_json)
    if not game and not as_json:
        lab_printing.show_missing_two()


@app.command("puct")
def show_puct(
    context: typer.Context,
    game: Explored = "",
    moves: Moves = "",
    simulations: Simulations = 3,
    evaluator: Annotated[
        str, typer.Option(help="Who judges leaves: uniform, rollout, slides, or the name of a shipped net.")
    ] = "uniform",
    search: Annotated[str, typer.Option(help="The search: puct or gumbel.")] = "puct",
    exploration: Annotated[
        float | None,
        typer.Option("-c", "--exploration", min=0, max=100, help="PUCT's c: 1.5, and in the slides' example 5."),
    ] = None,
    is_bonus: Annotated[
        bool, Flag("--bonus", help="Compare the bonus with the lecture's P / (1 + N), without √ΣN.")
    ] = False,
    told: Told = 3,
    cards: Cards = 40,
    seed: Seed = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Watch AlphaZero's search, one simulation at a time.

    A network judges leaves and says where to look first.

    Each action has N, W, Q = W/N and P, the network's prior. The way down goes to the greatest Q + U with
    U = c·P·√ΣN / (1 + N). The network's value of the new leaf is added to W all the way up, its sign turned at each
    level. In the end actions are played with chances π = N^(1/τ) / Σ N^(1/τ). The slides' example is 3×3 with c = 5.

    Try: tengen lab puct --out tree.svg; tengen lab puct --game connect4 --evaluator connect4 --simulations 100
    """
    check_output(context, as_json, out, "told", "is_bonus")
    from tengen.apps import lab_printing
    from tengen.rules.errors import BadParameter

    if search not in ("puct", "gumbel"):
        raise BadParameter(f"search={search!r}: it is puct or gumbel; UCT is tengen lab mcts")
    if not game:
        refuse_unused(context, "it goes with --game", "moves", "evaluator", "search", "seed")
    else:
        refuse_unused(context, "it is shown for the example", "is_bonus")
    settings = {"simulations": simulations, "evaluator": evaluator, "exploration": exploration, "seed": seed}
    lab_printing.show_trace(lab_printing.trace_of(search, game, moves, settings), told, cards, out, as_json)
    if is_bonus:
        lab_printing.show_bonus()
    elif not game and not as_json and exploration is None:
        lab_printing.show_policy()


@app.command("tictactoe")
def show_tictactoe(
    context: typer.Context,
    first: First = "random",
    is_in_browser: Browser = False,
    is_proof: Annotated[bool, Flag("--prove", help="Play every game that an opponent can make of it.")] = False,
    seed: AnySeed = None,
    port: Port = 8000,
) -> None:
    """Play tic-tac-toe against alpha-beta, which never loses.

    This is the first assignment. Alpha-beta looks at every game to its end. Who begins is drawn, unless --first says
    it. --prove plays all games that any opponent can make of it, as the first player and as the second, and counts.
    """
    if is_proof:
        refuse_unused(context, "--prove plays all games", "first", "is_in_browser", "seed", "port")
    check_board(context, is_in_browser)
    if first != "random":
        refuse_unused(context, "--first says who begins", "seed")
    from tengen.apps import lab_printing

    lab_printing.show_tictactoe(first, is_in_browser, is_proof, seed, port)


@app.command("reversi")
def show_reversi(
    context: typer.Context,
    first: Annotated[
        str, typer.Option(help="Who plays Black: random, you or computer; nobody lets it play itself.")
    ] = "random",
    agent: Annotated[str, typer.Option(help="The computer's agent (see tengen agents).")] = "uct:time=2",
    seconds: Annotated[
        float, typer.Option("--time", min=0.001, max=86400, help="Seconds per move; whoever takes longer loses.")
    ] = 60.0,
    size: Annotated[int, typer.Option(min=4, max=8, help="The board's size: 4, 6 or 8.")] = 8,
    is_in_browser: Browser = False,
    seed: AnySeed = None,
    port: Port = 8000,
) -> None:
    """Play Reversi against Monte Carlo tree search and the clock.

    This is the second assignment, MiniAlphaGo for Reversi. A move must flip a disc at least, and flips all that it
    encloses; only who cannot flip passes. Black begins. Who takes longer than a minute for a move has lost: --time
    changes that. The clock is shown, yours while it runs. (The board in the browser has the same clock, for 1 to 3600
    seconds.)
    """
    check_board(context, is_in_browser)
    from tengen.apps import lab_printing

    if is_in_browser:
        if first != "random":
            refuse_unused(context, "--first says who begins", "seed")
        lab_printing.open_board(f"reversi:size={size}", lab_printing.seats(first, agent, seed), port, clock=seconds)
        return
    lab_printing.show_reversi(first, agent, seconds, size, seed)


@app.command("queens")
def show_queens(
    context: typer.Context,
    size: Annotated[int, typer.Argument(metavar="N", help="How many queens; up to 40 are shown step by step.")] = 8,
    start: Annotated[str, typer.Option(help="How they are placed at first: greedy or random.")] = "greedy",
    growth: Annotated[bool, Flag("--growth", help="Show how steps and time grow, from 10 queens up to N.")] = False,
    runs: Annotated[int, typer.Option(min=1, max=1000, help="With --growth: boards of each size.")] = 5,
    seed: Seed = 1,
    pause: Pause = 0.15,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Place n queens by min-conflicts.

    Every column has its queen. While some attack each other, one of these, drawn at random, moves in its column to
    where it is attacked least. Counts of queens in rows and on diagonals say what attacks a square without a look at
    the board. Placed greedily, a board of any size needs about 50 steps; placed at random, about 0.45 n.

    Try: tengen lab queens 20; tengen lab queens 1000000; tengen lab queens 1000000 --growth
    """
    check_output(context, as_json, out, "pause")
    if growth:
        refuse_unused(context, "--growth shows no steps", "pause")
    else:
        refuse_unused(context, "it goes with --growth", "runs")
    from tengen.apps import lab_printing

    if (most := lab_printing.DRAWN_QUEENS) < size and not growth:
        refuse_unused(context, f"up to {most} queens are drawn; --growth draws curves", "out", "pause")
    if growth:
        lab_printing.show_growth(size, runs, seed, start, out, as_json)
    else:
        lab_printing.show_queens(size, seed, start, pause, out, as_json)


@app.command("wumpus")
def show_wumpus(
    context: typer.Context,
    worlds: Annotated[int, typer.Option(min=0, max=10**6, help="Compare agents in this many random worlds.")] = 0,
    size: Annotated[int, typer.Option(min=2, max=8, help="The width of the cave.")] = 4,
    pits: Annotated[float, typer.Option(min=0, max=1, help="The chance of a pit in a square.")] = 0.2,
    nerve: Annotated[
        float, typer.Option(min=0, max=1, help="The greatest chance of death that the agent risks.")
    ] = 0.25,
    seed: Seed = 1,
    pause: Pause = 0.0,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Explore the Wumpus world, where it is proven safe.

    Squares beside a pit are breezy, beside the wumpus smelly; gold glitters; walls bump; a wumpus that is hit screams.
    Gold carried out +1000, death −1000, an action −1, the arrow −10. The agent draws a map of what it knows: exact
    chances from all caves that agree with what it felt. It enters proven squares first, shoots where that opens a way,
    takes a risk up to its nerve, and climbs out otherwise.

    Try: tengen lab wumpus --seed 118; tengen lab wumpus --nerve 1; tengen lab wumpus --worlds 10000
    """
    check_output(context, as_json, out, "pause")
    if worlds:
        refuse_unused(context, "--worlds compares agents, and shows none", "nerve", "pause", "out")
    from tengen.apps import lab_printing

    if worlds:
        lab_printing.show_worlds(worlds, size, pits, seed, as_json)
    else:
        lab_printing.show_wumpus(size, pits, nerve, seed, pause, out, as_json)


@app.command("figure")
def show_figure(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Which figure; without one, they are listed.")] = "",
    out: Out = None,
) -> None:
    """Draw a figure of the documents again.

    There are networks, tree search, planes, zones, and filters that were learned. Each is read off the code that runs:
    layers off the network, steps off a watched search. It is written to NAME.svg, unless --out says otherwise.

    Try: tengen lab figure; tengen lab figure puct-cycle --out cycle.svg
    """
    from tengen.apps import lab_printing
    from tengen.course.figures import FIGURES, draw_figure

    if name:
        print(draw_figure(name).save(out or Path(f"{name}.svg")))
        return
    refuse_unused(context, "it goes with the name of a figure", "out")
    lab_printing.print_table([(key, figure.document, figure.about) for key, figure in FIGURES.items()])
