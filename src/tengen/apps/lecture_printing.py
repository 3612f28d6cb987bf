"""What the labs of `lecture_labs` print and save."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from tengen.apps.lab_printing import print_table, save
from tengen.apps.options import print_json
from tengen.course import beyond, chance_trees, many_players, matrix_games, monte_carlo_pi, phantom, pig, taxonomy
from tengen.course import tictactoe_tree as tictactoe
from tengen.course.chance_trees import number_text
from tengen.rules.errors import BadParameter

SHOWN_ROUNDS = (1, 10, 100, 1000, 10_000, 100_000)


def plain(value: Any) -> Any:
    """A result as JSON has it: fractions are texts, sets are lists."""
    if isinstance(value, Fraction):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(each) for name, each in asdict(value).items()}
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(plain(each) for each in value)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def print_words(rows: Sequence[Sequence[str]]) -> None:
    """A table of words, all columns to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


# π


def show_pi(found: monte_carlo_pi.PiEstimates, is_square: bool, seed: int, out: Path | None, as_json: bool) -> None:
    if as_json:
        print_json(plain(found))
        return
    rows = [["points", "4 · inside / points", "error, root mean square", "√(π(4 − π)/n)"]]
    for n, estimate, error, law in zip(found.points, found.estimates, found.errors, found.law, strict=True):
        rows.append([f"{n:,}", f"{estimate:.5f}", f"{error:.5f}", f"{law:.5f}"])
    print_table(rows)
    print(f"\n{found.chart().text()}")
    save(monte_carlo_pi.draw_square(seed=seed) if is_square else found.chart(), out)


# Kinds of games


def show_taxonomy(as_json: bool) -> None:
    if as_json:
        print_json({"boxes": plain(taxonomy.boxes()), "sizes": plain(taxonomy.sizes())})
        return
    for box in taxonomy.boxes():
        print(f"{box.information} information, {box.chance}: {', '.join(box.lecture)}")
        print(f"    here: {', '.join(box.here)}")
        print(f"    in OpenSpiel: {', '.join(box.openspiel)}")
    print()
    print_words([("", "one kind", "", "the other", ""), *taxonomy.OTHER_KINDS])
    print()
    rows = [("", "", "size", "years at a billion a second", "source")]
    for size in taxonomy.sizes():
        years = f"10^{size.years:.1f}" if size.years > 0 else "less than one"
        rows.append((size.what, size.formula, taxonomy.power_text(size.power), years, size.source))
    print_words(rows)


# Tic-tac-toe's tree


def show_tree(plies: int, out: Path | None, as_json: bool) -> None:
    counts = tictactoe.count_tree()
    if as_json:
        print_json(plain(counts))
        return
    rows = [["ply", "nodes", "positions", "up to symmetry", "nodes up to symmetry"]]
    columns = (counts.sequences, counts.positions, counts.classes, counts.reduced)
    for ply, row in enumerate(zip(*columns, strict=True)):
        rows.append([str(ply), *(f"{count:,}" for count in row)])
    rows.append(["all", *(f"{sum(column):,}" for column in columns)])
    print_table(rows)
    print(f"\n{counts.games:,} games; {counts.reduced_games:,} where symmetric moves are one")
    print(f"the lecture's bound: 9! = {362_880:,} orders of nine cells, of which wins end many early")
    save(tictactoe.draw_reduced_tree(plies), out)


def show_boards(out: Path | None, as_json: bool) -> None:
    boards = tictactoe.e_boards()
    if as_json:
        print_json(plain(boards))
        return
    rows = [("after", "open to X", "open to O", "e(s)", "the lecture")]
    for board in boards:
        value = f"{board.value:g}".replace("-", "−")
        rows.append((board.moves or "no move", str(board.first), str(board.second), value, board.printed))
    print_table(rows)
    save(tictactoe.draw_e_boards(), out)


def show_cost(depth: int, as_json: bool) -> None:
    costs = [tictactoe.measure_minimax(plies) for plies in range(1, depth + 1)]
    if as_json:
        print_json(plain(costs))
        return
    rows = [["plies", "nodes visited", "most in memory, all moves made at once", "one at a time"]]
    rows += [[str(c.depth), f"{c.nodes:,}", str(c.at_once), str(c.one_by_one)] for c in costs]
    print_table(rows)
    print("\ntime grows as b^m, space as b·m, or as m if moves are made one at a time")


# Beyond the horizon


def show_extensions(found: list[beyond.ExtensionEffect], trees: int, as_json: bool) -> None:
    if as_json:
        print_json(plain(found))
        return
    print(f"{trees} random trees, {beyond.BRANCHING} moves at each node, the truth {beyond.HEIGHT} plies deep\n")
    rows = [["search", "nodes looked at", "the best move found", "lost by the choice"]]
    rows += [[each.name, f"{each.nodes:,.0f}", f"{each.right:.1%}", f"{each.loss:.2f}"] for each in found]
    print_table(rows)


def show_margins(found: list[beyond.NarrowCut], trees: int, as_json: bool) -> None:
    if as_json:
        print_json(plain(found))
        return
    moves, plies = beyond.NARROW
    print(f"{trees} random trees, {moves} moves at each node, {plies} plies, values from 0 to 1\n")
    rows = [
        ["a cut if β − α is at most", "leaves looked at", "the best move found", "error of the value", "the greatest"]
    ]
    for each in found:
        row = [f"{each.margin:g}", f"{each.leaves:,.0f}", f"{each.right:.1%}", f"{each.error:.4f}", f"{each.worst:.4f}"]
        rows.append(row)
    print_table(rows)


# Matrix games


def show_matrix(text: str, game: matrix_games.PayoffGame, rounds: int, out: Path | None, as_json: bool) -> None:
    equilibria = matrix_games.pure_equilibria(game)
    solution = matrix_games.solve(game.first) if game.is_zero_sum else None
    play = matrix_games.play_fictitiously(game.first, rounds) if game.is_zero_sum else None
    if as_json:
        facts = {"is_zero_sum": game.is_zero_sum, "pure_equilibria": plain(equilibria), "game": plain(game)}
        print_json(facts | {"solution": plain(solution), "fictitious_play": plain(play)})
        return
    show_payoffs(game)
    cells = ", ".join(f"row {i + 1}, column {j + 1}" for i, j in equilibria[:12]) or "none"
    print(f"\npure equilibria: {cells}" + (f" and {len(equilibria) - 12} more" if len(equilibria) > 12 else ""))
    if solution is None or play is None:
        show_dilemma(game, equilibria, is_lecture=text == "prisoners")
        return
    show_theorem(game, solution)
    show_play(play, solution.value)
    save(play.chart(float(solution.value)), out)


def show_payoffs(game: matrix_games.PayoffGame) -> None:
    """The matrix, if it fits."""
    rows, columns = len(game.first), len(game.first[0])
    if columns > 12 or rows > 30:
        print(f"{rows} rows, {columns} columns: too many to print")
        return
    head = ["", *(f"column {j + 1}" for j in range(columns))]
    table = [head]
    for i, (ours, theirs) in enumerate(zip(game.first, game.second, strict=True)):
        cells = zip(ours, theirs, strict=True)
        told = [number_text(a) if game.is_zero_sum else f"{number_text(a)} : {number_text(b)}" for a, b in cells]
        table.append([f"row {i + 1}", *told])
    print_table(table)


def mixture_text(shares: list[Fraction]) -> str:
    return ", ".join(f"{i + 1}: {share}" for i, share in enumerate(shares) if share)


def show_theorem(game: matrix_games.PayoffGame, solution: matrix_games.MatrixSolution) -> None:
    """Max-min and min-max, pure and mixed."""
    low, high = matrix_games.pure_guarantees(game.first)
    assured = matrix_games.row_assures(game.first, solution.rows)
    conceded = matrix_games.column_concedes(game.first, solution.columns)
    print(f"without mixing: max-min = {number_text(low)}, min-max = {number_text(high)}")
    print(f"the row player mixes {mixture_text(solution.rows)}, and gets {assured} at least")
    print(f"the column player mixes {mixture_text(solution.columns)}, and gives {conceded} at most")
    print(f"the minimax theorem: max-min = min-max = {solution.value}, the value ({float(solution.value):.6f})\n")


def show_play(play: matrix_games.FictitiousPlay, value: Fraction) -> None:
    rows = [["rounds", "the row player gets at least", "the column player gives at most"]]
    for count in sorted({*(n for n in SHOWN_ROUNDS if n < play.rounds[-1]), play.rounds[-1]}):
        rows.append([f"{count:,}", f"{play.assured[count - 1]:.4f}", f"{play.conceded[count - 1]:.4f}"])
    print("fictitious play: each answers what the other has chosen so far")
    print_table(rows)
    print(f"\n{play.chart(float(value)).text()}")


def show_dilemma(game: matrix_games.PayoffGame, equilibria: list[tuple[int, int]], is_lecture: bool) -> None:
    """Why a game is not zero-sum, and what the players lose by it."""
    sums = ", ".join(number_text(each) for each in game.sums())
    print(f"both get together: {sums}. It is not zero-sum: one's gain is not the other's loss.")
    for name, choices in zip(("row", "column"), matrix_games.dominant_choices(game), strict=True):
        if choices:
            print(f"the {name} player is better off with {name} {choices[0] + 1}, whatever the other does")
    for i, j in equilibria:
        better = [
            f"row {a + 1}, column {b + 1}"
            for a in range(len(game.first))
            for b in range(len(game.first[0]))
            if game.first[a][b] > game.first[i][j] and game.second[a][b] > game.second[i][j]
        ]
        if better:
            print(f"but both would have more than at row {i + 1}, column {j + 1} with {'; '.join(better)}")
    if is_lecture:
        print("(1 is to keep silent, 2 to betray; a year in prison counts −1)")


# Chance


def show_expectimax(text: str, is_max: bool, is_alone: bool, out: Path | None, as_json: bool) -> None:
    root = chance_trees.expectiminimax(chance_trees.read_dice_tree(text), is_max, is_alone)
    if as_json:
        print_json(plain(root))
        return
    print("\n".join(chance_trees.dice_lines(root)))
    print(f"\n{chance_trees.choice_text(root)}")
    if out is not None:
        save(chance_trees.draw_dice(root), out)


def show_pig(found: pig.PigSolution, own: int, other: int, out: Path | None, as_json: bool) -> None:
    goal, rolls = found.goal, found.rolls
    holding = pig.hold_at(pig.HOLD_AT_20, goal)
    rivals = {
        "both play best": found.first_wins,
        "the first plays best, the second holds at 20": pig.first_wins(rolls, holding),
        "the first holds at 20, the second plays best": pig.first_wins(holding, rolls),
        "both hold at 20": pig.first_wins(holding, holding),
    }
    holds = found.hold_totals(own, other)
    if as_json:
        facts = {"goal": goal, "first_wins": rivals, "by_value_iteration": found.first_wins_iterated}
        print_json(facts | {"own": own, "other": other, "hold": holds})
        return
    print(f"Pig to {goal}: the first player's chance to win\n")
    print_table([(name, f"{chance:.6f}") for name, chance in rivals.items()])
    print(f"\nboth play best, by value iteration ({found.sweeps} sweeps): {found.first_wins_iterated:.6f}")
    if goal == pig.GOAL:
        print(f"published (Neller and Presser, 2004): {pig.PUBLISHED}")
    print(f"\nwith {own} points against {other}, hold at a turn total of {pig.ranges(holds)}")
    print(f"\n{found.chart().text()}")
    save(found.chart(), out)


# Many players


def show_many(text: str, rule: str, teams_text: str, out: Path | None, as_json: bool) -> None:
    tree = many_players.read_payoff_tree(text)
    players = many_players.players_of(tree)
    if rule not in many_players.RULES:
        raise BadParameter(f"rule={rule!r}: {', '.join(many_players.RULES)}")
    if rule == "teams" and not teams_text:
        raise BadParameter("--rule teams needs --teams, such as AC,B")
    found = {"max^n": many_players.max_n(tree), "paranoid": many_players.paranoid(tree)}
    if teams_text:
        found["teams"] = many_players.in_teams(tree, many_players.read_teams(teams_text, players))
    if as_json:
        print_json({name: plain(node) for name, node in found.items()})
        return
    chosen = "teams" if teams_text and rule == "max^n" else rule
    print(f"{chosen}\n" + "\n".join(many_players.payoff_lines(found[chosen])) + "\n")
    rows = [("backed up by", "the way", "leads to", "the root's value")]
    for name, node in found.items():
        real = many_players.payoffs_text(node.payoffs)
        rows.append((name, many_players.way_text(node), real, many_players.value_text(name, node)))
    print_words(rows)
    if out is not None:
        save(many_players.draw_payoffs(found[chosen], chosen), out)


# Belief states


def show_umpire_game(players: tuple[str, str], seed: int, out: Path | None, as_json: bool) -> None:
    phantom.check_players(players)
    answers = list(phantom.umpire_game(players, random.Random(seed)))
    if as_json:
        print_json(plain(answers))
        return
    names = phantom.phantom_rules().players
    for answer in answers:
        print(phantom.answer_text(answer))
        if not answer.end:
            boards = [phantom.belief_rows(answer.beliefs[player], player) for player in (0, 1)]
            print(*(f"    {left}      {right}" for left, right in zip(*boards, strict=True)), sep="\n")
    print(f"\nwhat {names[0]} (left) and {names[1]} know: own marks, and the chance in % that the other is there")
    if out is not None:
        save(phantom.draw_beliefs(answers), out)


def show_umpire_games(players: tuple[str, str], games: int, seed: int, as_json: bool) -> None:
    counts = phantom.count_games(players, games, seed)
    if as_json:
        print_json({"first": players[0], "second": players[1], "games": games} | counts)
        return
    print(f"{players[0]} (X) against {players[1]} (O), {games:,} games of phantom tic-tac-toe\n")
    print_table([(f"X {name}", f"{count:,}", f"{count / games:.1%}") for name, count in counts.items()])
