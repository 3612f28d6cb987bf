"""The lecture on adversarial search: its alpha-beta tree, its bounds of UCB1, its assignments."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from tengen.arena.match import score_of
from tengen.arena.tournament import Tournament, play_tournament
from tengen.course.mcts import BLACK, WITHOUT_TWO, lecture_trace, lecture_tree
from tengen.course.mcts import LECTURE as LECTURE_TREE
from tengen.course.numbers import choose_child
from tengen.course.reproduce.page import AS_THERE, DIFFERS, ERRATUM, Claim, Options, claim, write_experiment
from tengen.course.reproduce.quotes import LECTURE
from tengen.games import load_game
from tengen.report.diagrams import draw_board
from tengen.report.pages import table
from tengen.search.gametree import Node, Tree, alphabeta, minimax

TREE: Tree = [[3, 12, 8], [2, 7, 1], [14, 5, 2]]  # x and y, which are never looked at, are 7 and 1 here


def reproduce_lecture(options: Options) -> list[Claim]:
    claims, cuts = alphabeta_claims()
    claims += [*ucb1_claims(), *ordering_claims(options)]
    players, boards = assignment_claims(options)
    return write_experiment(
        options,
        "Adversarial search: the lecture",
        "Minimax, alpha-beta, bandits and Monte Carlo tree search: each number that the lecture works out, and its "
        "assignments played. Leaves are for MAX; x and y stand for leaves that are never looked at.",
        claims + players,
        [("Every node that alpha-beta looked at", f'<div class="card wide">{cuts}</div>'), ("Games", boards)],
        is_chinese=True,
    )


def alphabeta_claims() -> tuple[list[Claim], str]:
    """The example's value and cuts; and all its nodes as a table."""
    root = alphabeta(TREE)
    second = root.children[1]
    pruned = ", ".join("xy"[path[1] - 1] for path in second.pruned)
    elsewhere = "" if is_only(root, second) else " and elsewhere"
    claims = [
        claim("alpha-beta: the value of the tree", LECTURE["value"], "3", root.value),
        Claim("leaves that are pruned", LECTURE["leaves"], "x, y", pruned, AS_THERE if pruned == "x, y" else DIFFERS),
        Claim(
            "where there are cuts",
            LECTURE["cut"],
            "C",
            f"{'ABCD'[second.path[0] + 1]}{elsewhere}",
            AS_THERE if second.cut and not elsewhere else DIFFERS,
        ),
        claim("the bound of the root at the end", LECTURE["root"], "2", root.value, 3, "its own max(3, z, 2) is 3"),
    ]
    rows: list[tuple[str, ...]] = [("node", "moves", "alpha", "beta", "value", "cut")]
    for node in root.nodes():
        name = "root" if not node.path else " → ".join(str(i + 1) for i in node.path)
        mover = "leaf" if not node.children else "MAX" if node.is_max else "MIN"
        window = [f"{bound:g}".replace("inf", "∞").replace("-", "−") for bound in (node.alpha, node.beta)]
        rows.append((name, mover, *window, f"{node.value:g}", node.reason()))
    return claims, table(rows)


def ucb1_claims() -> Iterator[Claim]:
    """The scores that UCT compares in the lecture's tree, and what it chooses with and without the factor 2."""
    trace = lecture_trace()
    for terms in trace.terms:
        for card, score in zip(terms.cards, terms.score, strict=True):
            _, won, visits = LECTURE_TREE[card]
            mean = won / visits if trace.cards[card].player == BLACK else 1 - won / visits
            exact = mean + math.sqrt(math.log(21) / visits)
            quote, why = LECTURE[f"{won}/{visits}"], f"{mean:.4g} + √(ln 21 / {visits}) = {exact:.4f}"
            yield claim(f"UCB1 of {won}/{visits}", quote, quote.rpartition("= ")[2], score, exact, why)
    without, with_two = (chosen(exploration) for exploration in (WITHOUT_TWO, 1.0))
    yield Claim("Black's choice", LECTURE["choice"], "7/10", without, AS_THERE if without == "7/10" else DIFFERS)
    verdict, why = (AS_THERE, "") if with_two == "7/10" else (ERRATUM, "the example leaves out the 2 of its formula")
    yield Claim("Black's choice by the lecture's own √(2 ln n / nⱼ)", LECTURE["choice"], "7/10", with_two, verdict, why)


def chosen(exploration: float) -> str:
    """The child of the root that UCT goes to in the lecture's tree."""
    tree, _ = lecture_tree()
    _, won, visits = LECTURE_TREE[int(choose_child(tree.game.parameters, tree.nodes, 0, exploration))]
    return f"{won}/{visits}"


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
        Claim(
            f"best order: power {words}",
            LECTURE["best order"],
            "h/2",
            f"{best:.2f} h (least: {math.log(least, branching**height):.2f})",
        ),
        Claim(f"random order: power {words}", LECTURE["random order"], "3h/4", f"{drawn:.2f} h"),
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
    """Tic-tac-toe by alpha-beta; Reversi by Monte Carlo tree search."""
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
        claims.append(Claim(f"{title}, {games} games", "", "", f"+{score.wins} ={score.draws} −{score.losses}"))
        longest = max(max(record.seconds, default=0.0) for record in records)
        if spec == "reversi":
            verdict = AS_THERE if longest < 60 else DIFFERS
            claims.append(
                Claim("the longest move (a minute loses)", LECTURE["minute"], "1分钟", f"{longest:.2f} s", verdict)
            )
        words = f"{title}: {records[0].players[0]} began; {records[0].result}"
        boards.append(f'<figure class="card">{draw_board(records[0].end())}<figcaption>{words}</figcaption></figure>')
    return claims, f'<div class="games">{"".join(boards)}</div>'
