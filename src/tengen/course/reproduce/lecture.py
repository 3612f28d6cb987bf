"""The lecture on adversarial search: its alpha-beta tree, its bounds of UCB1, its assignments."""

from __future__ import annotations

import math
import random

from tengen.arena.match import score_of
from tengen.arena.tournament import Tournament, play_tournament
from tengen.course.reproduce.page import Claim, Options, claim, write_experiment
from tengen.games import load_game
from tengen.report.diagrams import draw_board
from tengen.report.pages import table
from tengen.search.gametree import Node, Tree, alphabeta, minimax
from tengen.search.uct import ucb1

TREE: Tree = [[3, 12, 8], [2, 7, 1], [14, 5, 2]]  # x and y, which are never looked at, are 7 and 1 here
BOUNDS = [  # who, wins, visits, what the lecture prints; the root was visited 21 times
    ("7/10", 7, 10, 1.252),
    ("5/8", 5, 8, 1.243),
    ("0/3", 0, 3, 1.007),
    ("2/4, White's turn", 2, 4, 1.372),
    ("5/6, White's turn", 1, 6, 0.879),
    ("1/3", 1, 3, 1.341),
    ("1/1", 1, 1, 2.745),
]
WITHOUT_TWO = 1 / math.sqrt(2)  # its example has √(ln n / nⱼ), without the 2
ROUNDED = 0.0012  # it prints 1.243 where the formula gives 1.2419


def reproduce_lecture(options: Options) -> None:
    claims, cuts = alphabeta_claims()
    claims += [
        claim(f"UCB1 of {who}", printed, float(ucb1(wins / visits, visits, 21, WITHOUT_TWO)), ROUNDED)
        for who, wins, visits, printed in BOUNDS
    ]
    claims += ordering_claims(options)
    players, boards = assignment_claims(options)
    write_experiment(
        options,
        "Adversarial search: the lecture",
        "Minimax, alpha-beta, bandits and Monte Carlo tree search: each number that the lecture works out, and its "
        "assignments played. Leaves are for MAX; x and y stand for leaves that are never looked at.",
        claims + players,
        [("Every node that alpha-beta looked at", f'<div class="card wide">{cuts}</div>'), ("Games", boards)],
    )


def alphabeta_claims() -> tuple[list[Claim], str]:
    """The example's value and cuts; and all its nodes as a table."""
    root = alphabeta(TREE)
    second = root.children[1]
    pruned = ", ".join("xy"[path[1] - 1] for path in second.pruned)
    claims = [
        claim("alpha-beta: the value of the tree", 3, root.value),
        Claim("leaves that are pruned", "x, y", pruned, pruned == "x, y"),
        Claim("by which cut", "alpha", second.cut, second.cut == "alpha"),
        Claim("cuts elsewhere", "none", "none" if is_only(root, second) else "some", is_only(root, second)),
    ]
    rows: list[tuple[str, ...]] = [("node", "moves", "alpha", "beta", "value", "cut")]
    for node in root.nodes():
        name = "root" if not node.path else " → ".join(str(i + 1) for i in node.path)
        mover = "leaf" if not node.children else "MAX" if node.is_max else "MIN"
        window = [f"{bound:g}".replace("inf", "∞").replace("-", "−") for bound in (node.alpha, node.beta)]
        rows.append((name, mover, *window, f"{node.value:g}", node.reason()))
    return claims, table(rows)


def is_only(root: Node, cut: Node) -> bool:
    return [node for node in root.nodes() if node.cut] == [cut]


def ordering_claims(options: Options) -> list[Claim]:
    """How many leaves alpha-beta looks at, as a power of all leaves: a half in the best order, ¾ in a random one."""
    branching, height, trees = (6, 6, 10) if options.is_full else (5, 6, 4)
    rng = random.Random(options.seed)
    exponents: dict[str, list[float]] = {"best": [], "random": []}
    for _ in range(trees):
        tree = random_tree(rng, branching, height)
        for order, found in exponents.items():
            looked_at = leaves(alphabeta(best_first(tree) if order == "best" else tree))
            found.append(math.log(looked_at) / math.log(branching**height))
    least = branching ** (height // 2) + branching ** ((height + 1) // 2) - 1
    best, drawn = (sum(found) / trees for found in exponents.values())
    words = f"of all leaves, looked at ({branching} moves, {height} plies)"
    return [
        Claim(f"best order: power {words}", "1/2", f"{best:.2f} (least: {math.log(least, branching**height):.2f})"),
        Claim(f"random order: power {words}", "3/4", f"{drawn:.2f}"),
    ]


def random_tree(rng: random.Random, branching: int, height: int) -> Tree:
    if height == 0:
        return rng.random()
    return [random_tree(rng, branching, height - 1) for _ in range(branching)]


def best_first(tree: Tree, is_max: bool = True) -> Tree:
    """The same tree with the best move of every node first."""
    if not isinstance(tree, list):
        return tree
    children = [best_first(child, not is_max) for child in tree]
    return sorted(children, key=lambda child: minimax(child, not is_max), reverse=is_max)


def leaves(root: Node) -> int:
    return sum(not node.children for node in root.nodes())


def assignment_claims(options: Options) -> tuple[list[Claim], str]:
    """Tic-tac-toe by alpha-beta, which never loses; Reversi by Monte Carlo tree search."""
    games = 200 if options.is_full else 40
    claims, boards = [], []
    for spec, agent, title in (
        ("tictactoe", "alphabeta:depth=9", "tic-tac-toe by alpha-beta"),
        ("reversi", "uct:playouts=1000", "Reversi by MCTS (1000 playouts)"),
    ):
        options.say(f"… {title}, {games} games against random moves")
        plan = Tournament.of(load_game(spec), (agent, "random"), plies=0, seed=options.seed)
        records = play_tournament(plan, games).in_order()
        score = score_of(agent, records)
        never = "never loses" if spec == "tictactoe" else "a good player"
        holds = score.losses == 0 if spec == "tictactoe" else None
        claims.append(Claim(f"{title}, {games} games", never, f"+{score.wins} ={score.draws} −{score.losses}", holds))
        longest = max(max(record.seconds, default=0.0) for record in records)
        if spec == "reversi":
            claims.append(Claim("longest move", "under 60 s", f"{longest:.2f} s", longest < 60))
        words = f"{title}: {records[0].players[0]} began; {records[0].result}"
        boards.append(f'<figure class="card">{draw_board(records[0].end())}<figcaption>{words}</figcaption></figure>')
    return claims, f'<div class="games">{"".join(boards)}</div>'
