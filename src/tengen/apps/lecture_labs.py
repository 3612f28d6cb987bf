"""`tengen lab`, the lecture's other games: chance, many players, hidden information, moves at once.

What these labs print is in `lecture_printing`.
"""

from __future__ import annotations

from typing import Annotated

import typer

from tengen.apps.lab_options import Out, Seed, check_output
from tengen.apps.options import Flag, Json, refuse_unused


def show_pi(
    context: typer.Context,
    points: Annotated[int, typer.Argument(metavar="[N]", help="Points in a run.")] = 100_000,
    runs: Annotated[int, typer.Option(min=1, max=1000, help="Runs, each with other random numbers.")] = 50,
    square: Annotated[bool, Flag("--square", help="With --out: draw a square with 400 points instead.")] = False,
    seed: Seed = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Find π by Monte Carlo, and how wrong it is.

    Points are drawn in a square; the share of them in its circle is about π/4. The error of n points is about
    √(π(4 − π)/n), so that one more digit takes a hundred times the points.

    Try: tengen lab pi 1000; tengen lab pi --out pi.svg; tengen lab pi --square --out square.svg
    """
    check_output(context, as_json, out, "square")
    if out is None:
        refuse_unused(context, "it goes with --out", "square")
    from tengen.apps import lecture_printing
    from tengen.course.monte_carlo_pi import estimate_pi

    lecture_printing.show_pi(estimate_pi(points, runs, seed), square, seed, out, as_json)


def show_taxonomy(as_json: Json = False) -> None:
    """See the kinds of games, and how large they are.

    Games differ by chance and by what players see. Each kind has a game to try here, and the names of OpenSpiel's
    where it has others. Sizes are computed as powers of ten: 35^100 is 10^154.
    """
    from tengen.apps import lecture_printing

    lecture_printing.show_taxonomy(as_json)


def show_tree(
    context: typer.Context,
    boards: Annotated[bool, Flag("--boards", help="Show the lecture's e(s) on its three boards instead.")] = False,
    cost: Annotated[bool, Flag("--cost", help="Measure minimax's time and space instead.")] = False,
    depth: Annotated[int, typer.Option(min=1, max=9, help="With --cost: how many plies, at most.")] = 6,
    plies: Annotated[int, typer.Option(min=1, max=2, help="With --out: how many plies of the tree to draw.")] = 2,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Count tic-tac-toe's tree, whole and up to symmetry.

    Boards that are equal up to the square's eight symmetries are one: 5,478 positions become 765, and of 255,168 games
    26,830 are left. --boards shows e(s), the rows open to X less those open to O. --cost counts the nodes that minimax
    visits, O(b^m), and those that wait in memory, O(bm) or O(m).

    Try: tengen lab tree --out tree.svg; tengen lab tree --boards --out boards.svg; tengen lab tree --cost --depth 5
    """
    check_output(context, as_json, out)
    if boards and cost:
        refuse_unused(context, "--cost measures", "boards")
    if not cost:
        refuse_unused(context, "it goes with --cost", "depth")
    else:
        refuse_unused(context, "--cost prints a table", "out")
    if out is None or boards:
        refuse_unused(context, "it goes with --out, and the tree", "plies")
    from tengen.apps import lecture_printing

    if boards:
        lecture_printing.show_boards(out, as_json)
    elif cost:
        lecture_printing.show_cost(depth, as_json)
    else:
        lecture_printing.show_tree(plies, out, as_json)


def show_beyond(
    context: typer.Context,
    trees: Annotated[int, typer.Option(min=1, max=5000, help="Random trees.")] = 200,
    narrow: Annotated[bool, Flag("--narrow", help="Cut where alpha is nearly beta instead.")] = False,
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """Look beyond the horizon: kept lines, extensions, narrow cuts.

    The lecture's other improvements, on random trees whose end is known. Keeping k lines searches the ends of the k
    best moves' lines deeper; singular extension follows a move that is clearly better than the others. With --narrow,
    alpha-beta also cuts where alpha is less than beta, but by no more than a margin.

    Try: tengen lab beyond; tengen lab beyond --narrow --trees 20
    """
    from tengen.apps import lecture_printing
    from tengen.course import beyond

    if narrow:
        lecture_printing.show_margins(beyond.study_margins(trees, seed), trees, as_json)
    else:
        lecture_printing.show_extensions(beyond.study_extensions(trees, seed), trees, as_json)


def show_matrix(
    context: typer.Context,
    payoffs: Annotated[
        str,
        typer.Argument(
            metavar="PAYOFFS",
            help="Rows of what the row player wins, such as '3,-1; 0,2'; pairs such as '-1:-1, -3:0; 0:-3, -2:-2'; "
            "or pennies, rps, morra, saddle, prisoners, kuhn.",
        ),
    ] = "morra",
    rounds: Annotated[int, typer.Option(min=1, max=100_000, help="Rounds of fictitious play.")] = 1000,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Solve a matrix game: equilibria, its value, the minimax theorem.

    Both players choose at once. In a zero-sum game the row player wins what the column player loses. Pure equilibria
    are cells that neither would leave alone. With mixed strategies the row player's max-min is always the column
    player's min-max: that is the minimax theorem, and the value is found exactly, in fractions, by the simplex method.
    Fictitious play answers what the other has done so far, and closes in on the value. Pairs of payoffs need not be
    zero-sum: prisoners is the prisoner's dilemma.

    Try: tengen lab matrix '3,-1; 0,2'; tengen lab matrix prisoners; tengen lab matrix kuhn --out play.svg
    """
    check_output(context, as_json, out)
    from tengen.apps import lecture_printing
    from tengen.course.matrix_games import read_game
    from tengen.rules.errors import BadParameter

    game = read_game(payoffs)
    if not game.is_zero_sum:
        refuse_unused(context, "the game is not zero-sum", "rounds")
        if out is not None:
            raise BadParameter("--out draws fictitious play, and the game is not zero-sum")
    lecture_printing.show_matrix(payoffs, game, rounds, out, as_json)


def show_expectimax(
    context: typer.Context,
    tree: Annotated[
        str,
        typer.Argument(
            metavar="TREE",
            help="Moves in [ ], chance in { }, each outcome with its probability, such as "
            "'[{0.9: 2, 0.1: 3}, {0.9: 1, 0.1: 4}]'; or dice, stretched, coins.",
        ),
    ] = "coins",
    alone: Annotated[bool, Flag("--alone", help="Nobody plays against MAX: expectimax.")] = False,
    root: Annotated[str, typer.Option(help="Who moves first: max or min.")] = "max",
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Find the value of a tree with dice, by expectiminimax.

    MAX takes the greatest value, MIN the least, and a node of chance is worth its outcomes' mean, each weighed by its
    probability. Players take turns, whatever chance does between; with --alone, MAX moves at every [ ]. Values are
    more than an order here: dice and stretched order their leaves alike, and the best move differs.

    Try: tengen lab expectimax dice; tengen lab expectimax stretched; tengen lab expectimax coins --alone
    """
    check_output(context, as_json, out)
    from tengen.apps import lecture_printing
    from tengen.rules.errors import BadParameter

    if root not in ("max", "min"):
        raise BadParameter(f"root={root!r}: max or min moves first")
    if alone:
        refuse_unused(context, "with --alone, MAX moves", "root")
    lecture_printing.show_expectimax(tree, root == "max", alone, out, as_json)


def show_pig(
    context: typer.Context,
    goal: Annotated[int, typer.Option(min=2, max=200, help="The points that win.")] = 100,
    own: Annotated[int, typer.Option(min=0, max=199, help="Your points.")] = 0,
    other: Annotated[int, typer.Option(min=0, max=199, help="The other's points.")] = 0,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Solve Pig, a dice game, exactly: when to roll, when to hold.

    Roll a die and add to your turn's total, until you hold or roll a 1 and lose the total. Two methods solve it: value
    iteration, and policy iteration in pairs of scores. The first player wins with a chance of 0.5306 (Neller and
    Presser, 2004) if both play best.

    Try: tengen lab pig --own 41 --other 49; tengen lab pig --out hold.svg
    """
    check_output(context, as_json, out)
    from tengen.apps import lecture_printing
    from tengen.course.pig import solve_pig
    from tengen.rules.errors import BadParameter

    if max(own, other) >= goal:
        raise BadParameter(f"own={own}, other={other}: both have fewer than {goal} points, or the game is over")
    lecture_printing.show_pig(solve_pig(goal), own, other, out, as_json)


def show_many(
    context: typer.Context,
    tree: Annotated[
        str,
        typer.Argument(
            metavar="TREE",
            help="Lists of leaves that say what each player gets, '[[(1,2,6), …], …]'; or three, afraid.",
        ),
    ] = "three",
    rule: Annotated[
        str, typer.Option(help="How values are backed up in the picture: max^n, paranoid or teams.")
    ] = "max^n",
    teams: Annotated[str, typer.Option(help="Who plays together, such as AC,B.")] = "",
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Back up a tree of three players or more: max^n, paranoid, teams.

    Players A, B, C take turns. With max^n each takes what gives itself most, and whole tuples are backed up. A paranoid
    A supposes that all others have joined against it, so that alpha-beta works again. In teams, each takes what gives
    its team most.

    Try: tengen lab many; tengen lab many afraid --rule paranoid --out afraid.svg; tengen lab many --teams AC,B
    """
    check_output(context, as_json, out)
    from tengen.apps import lecture_printing

    lecture_printing.show_many(tree, rule, teams, out, as_json)


def show_belief(
    context: typer.Context,
    first: Annotated[str, typer.Option(help="Who plays X: belief or random.")] = "belief",
    second: Annotated[str, typer.Option(help="Who plays O: belief or random.")] = "belief",
    games: Annotated[int, typer.Option(min=0, max=10_000, help="Play so many games, and count.")] = 0,
    seed: Seed = 1,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Watch what a player knows who sees only its own marks.

    In phantom tic-tac-toe (Kriegspiel's rules) you try a cell, and an umpire says whether it is taken. What you know is
    the set of worlds: all places where the other's marks may be. It grows when the other moves, and shrinks with each
    answer. The player `belief` weighs a cell by all its worlds.

    Try: tengen lab belief --seed 3 --out worlds.svg; tengen lab belief --second random --games 500
    """
    check_output(context, as_json, out)
    if games:
        refuse_unused(context, "--games counts, and shows none", "out")
    from tengen.apps import lecture_printing

    if games:
        lecture_printing.show_umpire_games((first, second), games, seed, as_json)
    else:
        lecture_printing.show_umpire_game((first, second), seed, out, as_json)
