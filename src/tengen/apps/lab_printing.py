"""What `tengen lab` prints and saves: each lab's numbers as tables, curves, boards and pictures."""

from __future__ import annotations

import random
import sys
import threading
import time
import webbrowser
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tengen.apps.options import print_json
from tengen.course import alphabeta, assignments, bandit, mcts, prior_bonus, pseudocode, queens, wumpus
from tengen.course import alphabeta_narration as narration
from tengen.course.alphabeta import Walk
from tengen.course.bandit import Contest
from tengen.course.mcts_narration import State, draw_trace, root_table, tell
from tengen.course.pictures import (
    BLUE,
    FAINT,
    GROUND,
    INK,
    MARGIN,
    ORANGE,
    PALE_BLUE,
    PALE_GREEN,
    PALE_ORANGE,
    SOFT,
    Chart,
    Picture,
)
from tengen.course.reproduce.slides import SIMULATIONS, played_example, record_rows
from tengen.course.traces import Trace
from tengen.games import load_game
from tengen.report.charts import Line, seconds
from tengen.rules.errors import BadParameter, nearest

NAMES = {
    "ucb1": "UCB1",
    "greedy": "greedy",
    "epsilon": "ε-greedy",
    "random": "random",
    "thompson": "Thompson",
    "pucb": "PUCB",
}
CELL = 60  # of a drawn cave
DRAWN_QUEENS = 40  # at most


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """The first column to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(widths[0]) if i == 0 else cell.rjust(widths[i]) for i, cell in enumerate(row)]
        print("  ".join(cells).rstrip())


def save(picture: Picture | Chart, out: Path | None) -> None:
    if out is not None:
        print(f"picture: {picture.save(out)}")


# Bandits


def regret_chart(contest: Contest) -> Chart:
    """Each policy's regret, the most that UCB1's may be, and the least that any may have in the long run."""
    points = [float(n) for n in contest.points]
    lines = [Line(NAMES[play.policy], list(zip(points, play.regret, strict=True))) for play in contest.plays]
    laws = {"UCB1 at most": contest.bound, "the least, for many n": bandit.least_regret(contest.means, contest.points)}
    most = max(max(play.regret) for play in contest.plays)
    for name, law in laws.items():
        known = [(n, y) for n, y in zip(points, law, strict=True) if y is not None and y <= 1.2 * most]
        if known:
            lines.append(Line(name, known))
    return Chart("Regret R(n), the mean over all runs", lines, "n, pulls")


def show_bandit(contest: Contest, out: Path | None, as_json: bool) -> None:
    if as_json:
        print_json(asdict(contest))
        return
    arms = range(len(contest.means))
    rows = [["policy", f"R({contest.points[-1]})", "±", "Rₙ of one run", *(f"n of arm {arm + 1}" for arm in arms)]]
    for play in contest.plays:
        pulls = [f"{count:.1f}" for count in play.pulls]
        regret = [f"{play.regret[-1]:.1f}", f"{play.spread[-1]:.1f}", f"{play.lecture_regret:g}"]
        rows.append([NAMES[play.policy], *regret, *pulls])
    print("arms pay 1 with the chances " + ", ".join(f"{mean:g}" for mean in contest.means) + "\n")
    print_table(rows)
    print(f"\n{regret_chart(contest).text()}\n")
    if contest.bound[-1] is not None:
        print(f"UCB1 regrets at most 8·Σ ln n/Δᵢ + (1 + π²/3)·ΣΔᵢ = {contest.bound[-1]:.0f} on average (proven)")
    else:
        print("no bound is proven for these arms and this C")
    if (least := bandit.least_regret(contest.means, contest.points)[-1]) is not None:
        print(f"in the long run nobody regrets less than ln n · Σ Δᵢ/KL(μᵢ, μ*) = {least:.1f}")
    if contest.predictor_gain is not None:
        print(f"PUCB's worst regret is bounded by (Σ √Pᵢ)² / b = {contest.predictor_gain:.2f} of that without priors")
    save(regret_chart(contest), out)


# Trees


def walk_of(tree: str, game: str, moves: str, depth: int, order: str, root: str) -> Walk:
    """The tree that was typed in, or that of a position; without either, the lecture's."""
    if root not in ("max", "min"):
        raise BadParameter(f"root={root!r}: max or min moves first")
    if tree and game:
        raise BadParameter("give a TREE or --game, not both")
    if game:
        return alphabeta.walk_position(load_game(game).from_moves(moves), depth, order)
    return alphabeta.walk_text(alphabeta.EXAMPLES.get(tree or "lecture", tree), order, root == "max")


def show_minimax(walk: Walk, out: Path | None, as_json: bool) -> None:
    if as_json:
        print_json(asdict(walk))
        return
    print("\n".join(narration.tree_text(walk, with_cuts=False)))
    print(
        f"\nthe value is {narration.number(walk.value)}, by move {walk.best}; {walk.nodes['minimax']} nodes looked at"
    )
    if out is not None:
        save(narration.draw_walk(walk, with_cuts=False), out)


def show_alphabeta(walk: Walk, has_steps: bool, out: Path | None, as_json: bool) -> None:
    if as_json:
        print_json(asdict(walk))
        return
    if has_steps:
        print("\n".join(narration.step_text(walk, step) for step in walk.steps) + "\n")
    print("\n".join(narration.tree_text(walk, with_cuts=True)))
    print(f"\nthe value is {narration.number(walk.value)}, by move {walk.best}\n")
    print_table(narration.counts_text(walk))
    if out is not None:
        save(narration.draw_walk(walk), out)


def show_orders(study: narration.Study, out: Path | None, as_json: bool) -> None:
    """Leaves looked at, order by order, beside the powers that the lecture names."""
    if as_json:
        print_json(asdict(study) | {"laws": study.laws()})
        return
    print(f"leaves that alpha-beta looks at: {study.branching} moves at each node, h plies\n")
    rows = [["", *(f"h = {h}" for h in study.heights)]]
    for name, counts in (study.laws() | study.leaves).items():
        rows.append([name, *(f"{count:,.0f}" for count in counts)])
    print_table(rows)
    print(f"\n{study.chart().text()}")
    save(study.chart(), out)


# Tree searches


def trace_of(search: str, game: str, moves: str, settings: dict[str, Any]) -> Trace:
    """A search of a position; without a game, the worked example of the lecture (uct) or of the slides (puct)."""
    if not game:
        if moves:
            raise BadParameter("--moves goes with --game")
        own = {} if settings["exploration"] is None else {"exploration": settings["exploration"]}
        return mcts.lecture_trace(**own) if search == "uct" else mcts.slides_trace(settings["simulations"], **own)
    usual = 0.7 if search == "uct" else 1.5
    settings = settings | {"exploration": usual if settings["exploration"] is None else settings["exploration"]}
    return mcts.trace(load_game(game).from_moves(moves), mcts.SearchSettings(search=search, **settings))


def show_trace(trace: Trace, told: int, cards: int, out: Path | None, as_json: bool) -> None:
    """The first simulations step by step, the root at the end, a picture of the tree."""
    if as_json:
        print_json(asdict(trace))
        return
    if trace.game:
        print(f"{load_game(trace.game).from_moves(' '.join(trace.moves))}\n")
    print("\n".join(tell(trace, told)))
    state = State(trace)
    count = len(trace.simulations)
    print(f"\nafter {count} simulation{'s' if count != 1 else ''}")
    print_table(root_table(state))
    if trace.best:
        proven = f", {trace.note}" if trace.note else ""
        value = "" if trace.value is None else f", worth {trace.value:+.3f} to {trace.players[trace.to_play]}{proven}"
        print(f"\nthe choice: {state_name(trace)}{value}")
    if out is not None:
        save(draw_trace(trace, most=cards), out)


def state_name(trace: Trace) -> str:
    """What the chosen move is called on its card."""
    return next((card.name for card in trace.cards if card.parent == 0 and card.move == trace.best), trace.best)


def show_missing_two() -> None:
    """What the lecture's example chooses at the root, and what its own formula does."""
    rows = [["C", "7/10", "5/8", "0/3", "the choice"]]
    for name, exploration in (("1/√2, as its numbers have it", mcts.WITHOUT_TWO), ("1, as its formula has it", 1.0)):
        terms = mcts.lecture_trace(exploration).terms[0]
        counts = [f"{mcts.LECTURE[card][1]}/{mcts.LECTURE[card][2]}" for card in terms.cards]
        choice = counts[terms.score.index(max(terms.score))]
        rows.append([name, *(f"{score:.3f}" for score in terms.score), choice])
    print("\nUCB1 = mean + C·√(2 ln 21 / nⱼ): the example leaves the 2 out, and so another move is chosen")
    print_table(rows)


def show_code(trace: Trace) -> None:
    """The first simulation in the lecture's pseudocode."""
    print("\n".join(pseudocode.panels(trace)) + "\n")


def show_bonus() -> None:
    """The lecture's bonus, P / (1 + N), beside the papers', on the slides' example."""
    found = prior_bonus.compare_bonuses()
    print("\nafter so many visits, both bonuses would have tried each action so often:")
    print_table(found)


def show_policy() -> None:
    """The slides' game to its end: 400 simulations, the most visited action, its subtree kept, and so on."""
    _, moves = played_example()
    print(f"\nthe game to its end, {SIMULATIONS} simulations before each move; the network learns from (s, π, z):")
    print_table(record_rows(moves))


# Assignments


def show_tictactoe(first: str, is_in_browser: bool, is_proof: bool, seed: int | None, port: int) -> None:
    from tengen.apps.terminal import play_game

    if is_proof:
        show_proof()
        return
    players = seats(first, assignments.TICTACTOE, seed)
    if is_in_browser:
        open_board("tictactoe", players, port)
        return
    who = "you begin" if players[0] == assignments.PERSON else "the computer begins"
    print(f"alpha-beta looks at every game to its end; {who}")
    play_game(load_game("tictactoe").start(), players, seed or 1)


def show_proof() -> None:
    rows = [["alpha-beta plays", "games", "won", "drawn", "lost"]]
    for name, score in zip(("first", "second"), assignments.prove_never_lost(), strict=True):
        rows.append([name, *(str(n) for n in (score.count, score.wins, score.draws, score.losses))])
    print("all games that an opponent can make of it\n")
    print_table(rows)


def seats(first: str, computer: str, seed: int | None) -> tuple[str, str]:
    """Who plays first: `you`, `computer`, or either, at random."""
    choices = ("random", "you", "computer")
    if first not in choices:
        raise BadParameter(f"first={first!r}{nearest(first, choices)}")
    if first == "random":
        first = random.Random(seed).choice(choices[1:])
    players = (assignments.PERSON, computer)
    return players if first == "you" else players[::-1]


def open_board(game: str, players: tuple[str, str], port: int, clock: float | None = None) -> None:
    """The web app's board with these players, and a clock of so many seconds a move; serves until Ctrl-C."""
    from tengen.apps.web.server import serve
    from tengen.apps.web.settings import ServerSettings

    first, second = ("person" if name == assignments.PERSON else name for name in players)
    facts = {"game": game, "first": first, "second": second} | ({} if clock is None else {"clock": f"{clock:g}"})
    address = f"http://127.0.0.1:{port}/#/play?{urlencode(facts)}"
    print(f"the board is at {address}", flush=True)
    opens = threading.Timer(1.0, webbrowser.open, (address,))
    opens.daemon = True
    opens.start()
    serve(ServerSettings(port=port))


def show_reversi(first: str, agent: str, allowed: float, size: int, seed: int | None) -> None:
    players = (agent, agent) if first == "nobody" else seats(first, agent, seed)
    print(f"Reversi, {size}×{size}: a move must flip a disc; you pass only if none does.")
    print(f"A move that takes longer than {allowed:g} s loses the game. Type a square such as d3, or resign.")
    assignments.play_reversi(players, allowed, size, seed or 1)


# Queens


def show_queens(size: int, seed: int, start: str, pause: float, out: Path | None, as_json: bool) -> None:
    """Small boards are shown step by step, in place where there is a cursor; large ones by their numbers."""
    if size <= DRAWN_QUEENS and not as_json:
        show_steps(size, seed, start, pause, out)
        return
    found = queens.solve(size, seed, start)
    if as_json:
        facts = {"size": size, "conflicts": found.conflicts, "steps": found.steps, "starts": found.starts}
        print_json(facts | {"seconds": found.seconds, "is_right": found.is_right()})
        return
    print(f"{size:,} queens, {start} start: {found.conflicts:,} pairs attack each other")
    print(f"{found.steps:,} steps later none does: {'checked' if found.is_right() else 'WRONG'}")
    print(f"{seconds(found.seconds)} of one core (process time, compiling left out)")


def show_steps(size: int, seed: int, start: str, pause: float, out: Path | None) -> None:
    is_live = sys.stdout.isatty()
    for board in queens.watch(size, seed, start):
        if is_live and board.steps:
            print(f"\x1b[{size + 1}A", end="")
        if is_live or board.steps == 0 or not board.attacked().any():
            print(queens.picture(board))
        erased = "\x1b[K" if is_live else ""  # what was longer before
        print(f"step {board.steps}: {board.conflicts} conflicts, {board.attacked().sum()} queens attacked{erased}")
        time.sleep(pause if is_live else 0)
    if out is not None:
        save(draw_queens(board), out)


def draw_queens(board: queens.QueensBoard) -> Picture:
    size, side, attacked = board.queens.size, 26, board.attacked()
    picture = Picture(f"{size} queens", size * side + 2 * MARGIN, size * side + 2 * MARGIN)
    for row in range(size):
        for column in range(size):
            fill = GROUND if (row + column) % 2 else PALE_BLUE
            picture.box(MARGIN + column * side, MARGIN + row * side, side, side, fill=fill, edge=FAINT, thickness=0.5)
    for column, row in enumerate(board.queen_rows.tolist()):
        colour = ORANGE if attacked[column] else BLUE
        x, y = MARGIN + (column + 0.5) * side, MARGIN + (row + 0.5) * side
        picture.write(x, y, "♛", size=0.8 * side, colour=colour)
    return picture


def growth_chart(rows: Sequence[dict[str, Any]]) -> Chart:
    """Steps, and milliseconds, against the number of queens, both axes by powers of ten."""
    from math import log10

    steps = Line("steps", [(log10(row["size"]), row["steps"]) for row in rows])
    times = Line("milliseconds", [(log10(row["size"]), 1000 * row["seconds"]) for row in rows])
    return Chart("n queens by min-conflicts", [steps, times], "log₁₀ n", is_logarithmic=True)


def show_growth(largest: int, runs: int, seed: int, start: str, out: Path | None, as_json: bool) -> None:
    sizes = [10**power for power in range(1, 8) if 10**power <= largest] or [largest]
    rows = queens.growth(sizes, runs, seed, start)
    if as_json:
        print_json(rows)
        return
    table = [["queens", "pairs at first", "steps", "least", "most", "time"]]
    for row in rows:
        steps = [f"{row['steps']:,.0f}", f"{row['steps_least']:,}", f"{row['steps_most']:,}"]
        table.append([f"{row['size']:,}", f"{row['conflicts']:,.0f}", *steps, seconds(row["seconds"])])
    print(f"means of {runs} boards each, {start} start; process time of one core\n")
    print_table(table)
    print(f"\n{growth_chart(rows).text()}")
    save(growth_chart(rows), out)


# The Wumpus world


def show_wumpus(size: int, pits: float, nerve: float, seed: int, pause: float, out: Path | None, as_json: bool) -> None:
    """One world, explored step by step; at the end the truth stands beside the map."""
    wumpus.check(size, pits)
    world = wumpus.random_world(random.Random(seed), size, pits)
    agent, thought = wumpus.Explorer(size, pits, nerve), ""
    if as_json:
        cave = wumpus.final(world, agent)
        print_json({"score": cave.score, "actions": cave.actions, "is_dead": cave.is_dead})
        return
    for cave, action, percept in wumpus.explore(world, agent):
        if cave.actions == 0:
            print(f"a cave of {size}×{size}; · visited, b breeze, s stench, ok proven safe, else the chance of death\n")
        if agent.thought != thought:
            thought = agent.thought
            print(f"    … {thought}")
        print(f"{cave.actions:3} {action or 'begins':8} feels {percept}; score {cave.score}")
        if not cave.is_over and (action == "shoot" or agent.square not in agent.knows.visited):
            agent.notice(percept)  # it will feel the same again, and learn nothing new
            print(wumpus.draw_map(agent))
        time.sleep(pause)
    print("\n" + wumpus.draw_map(agent, world))
    print("[P] pit, [W] wumpus, [G] gold; " + ("it died" if cave.is_dead else f"it came out with {cave.score}"))
    if out is not None:
        save(draw_cave(agent, world), out)


def draw_cave(agent: wumpus.Explorer, truth: wumpus.World | None = None) -> Picture:
    """What an agent knows; with the truth, small, in the corners."""
    size, risks = agent.size, agent.knows.risks()
    picture = Picture("What the agent knows", size * CELL + 2 * MARGIN, size * CELL + 2 * MARGIN)
    for square in wumpus.squares(size):
        x, y = MARGIN + square[0] * CELL, MARGIN + (size - 1 - square[1]) * CELL
        risk = wumpus.danger(risks[square]) if square in risks else 0.0
        fill = PALE_GREEN if square not in risks else GROUND if risk == 0 else PALE_ORANGE
        picture.box(x, y, CELL, CELL, fill=fill, edge=FAINT)
        text = wumpus.cell_text(agent, square, risks)
        picture.write(x + CELL / 2, y + CELL / 2, text, size=16, colour=ORANGE if risk else INK, is_bold=True)
        if truth is not None and (marks := wumpus.truth_text(truth, square).strip()):
            picture.write(x + 6, y + CELL - 10, marks, size=11, colour=SOFT, anchor="start")
    return picture


def show_worlds(worlds: int, size: int, pits: float, seed: int, as_json: bool) -> None:
    found = wumpus.compare(worlds, size, pits, seed)
    if as_json:
        print_json([asdict(each) for each in found])
        return
    print(
        f"{worlds:,} random worlds of {size}×{size}, pits with a chance of {pits:g}; every agent meets the same ones\n"
    )
    rows = [["agent", "mean score", "95% interval", "gold", "deaths", "actions"]]
    for each in found:
        interval = f"{each.mean - each.error:.1f} to {each.mean + each.error:.1f}"
        rows.append(
            [each.name, f"{each.mean:.1f}", interval, f"{each.gold:.1%}", f"{each.deaths:.1%}", f"{each.actions:.1f}"]
        )
    print_table(rows)
