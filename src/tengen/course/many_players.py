"""More than two players on a tree written down: max^n, the paranoid reduction, and teams.

A leaf is what each player gets, as (1, 2, 6); a tree is a list of trees in [ ]. Players A, B, C … take turns from the
root on. max^n (Luckhardt and Irani, 1986) backs whole tuples up: each player takes what gives itself most. A paranoid
player (Sturtevant and Korf, 2000) supposes that all others have joined against it. In teams, each player takes what
gives its team most.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tengen.course.alphabeta import BadTree
from tengen.course.chance_trees import number_text
from tengen.course.pictures import GREEN, INK, MARGIN, SOFT, Picture, check_count, places
from tengen.rules.errors import BadParameter

Payoffs = tuple[float, ...]
MOST_NODES, DEEPEST, LONGEST_TEXT, MOST_DRAWN, MOST_PLAYERS = 2000, 12, 10_000, 60, 6
NAMES = "ABCDEF"
RULES = ("max^n", "paranoid", "teams")
EXAMPLES = {
    "three": "[[[(1,2,6), (4,2,3)], [(6,1,2), (7,4,1)]], [[(5,1,1), (1,5,2)], [(7,7,1), (5,4,5)]]]",
    "afraid": "[[[(3,3,3), (2,4,4)], [(4,1,4), (3,2,2)]], [[(9,6,5), (0,5,4)], [(8,4,3), (7,3,1)]]]",
}
PALES = ("#e3f0f9", "#fbe8da", "#dff3ea", "#f3e6ef", "#f5f0d9", "#eceff1")
TOKEN = re.compile(r"\s*(?:(\[)|(\])|(,)|\(([^()]*)\)|(\S))")


@dataclass(frozen=True)
class PayoffTree:
    """A written tree: what each player gets, or the trees that the player to move may go to."""

    payoffs: Payoffs = ()
    below: tuple[PayoffTree, ...] = ()

    def leaves(self) -> Iterator[Payoffs]:
        if not self.below:
            yield self.payoffs
        for each in self.below:
            yield from each.leaves()


@dataclass(frozen=True)
class PayoffNode:
    """A node with the tuple that is backed up to it."""

    player: int | None  # to move; None at a leaf
    payoffs: Payoffs
    chosen: int  # which child the player takes
    below: tuple[PayoffNode, ...] = ()


# Values


def back_up(tree: PayoffTree, players: int, likes: Callable[[int, Payoffs], float], player: int = 0) -> PayoffNode:
    """Each player takes the first child whose tuple it likes most."""
    if not tree.below:
        return PayoffNode(None, tree.payoffs, 0)
    below = tuple(back_up(each, players, likes, (player + 1) % players) for each in tree.below)
    liked = [likes(player, each.payoffs) for each in below]
    chosen = liked.index(max(liked))
    return PayoffNode(player, below[chosen].payoffs, chosen, below)


def max_n(tree: PayoffTree) -> PayoffNode:
    """Each player takes what gives itself most."""
    return back_up(tree, players_of(tree), lambda player, payoffs: payoffs[player])


def paranoid(tree: PayoffTree, afraid: int = 0) -> PayoffNode:
    """One player takes what gives itself most; all others what gives that player least. Two sides: alpha-beta works."""

    def likes(player: int, payoffs: Payoffs) -> float:
        return payoffs[afraid] if player == afraid else -payoffs[afraid]

    return back_up(tree, players_of(tree), likes)


def in_teams(tree: PayoffTree, teams: Sequence[Sequence[int]]) -> PayoffNode:
    """Each player takes what gives its team most together."""
    team_of = {player: team for team in teams for player in team}
    return back_up(tree, players_of(tree), lambda player, payoffs: sum(payoffs[each] for each in team_of[player]))


def players_of(tree: PayoffTree) -> int:
    return len(next(tree.leaves()))


def read_teams(text: str, players: int) -> list[list[int]]:
    """Teams such as `AC,B`: each player is in one."""
    teams = [[NAMES.find(name) for name in team.strip().upper()] for team in text.split(",")]
    if sorted(player for team in teams for player in team) != list(range(players)):
        raise BadParameter(f"teams={text!r}: each of {', '.join(NAMES[:players])} is in one team, as in AC,B")
    return teams


# Reading


def read_payoff_tree(text: str) -> PayoffTree:
    """The tree of a text, or of the name of an example."""
    text = EXAMPLES.get(text, text)
    if len(text) > LONGEST_TEXT:
        raise BadTree(f"the tree has {len(text)} characters; {LONGEST_TEXT} is the most")
    open_nodes: list[list[PayoffTree]] = [[]]
    count = 0
    for match in TOKEN.finditer(text):
        opens, closes, _, leaf, wrong = match.groups()
        if wrong:
            raise BadTree(f"{wrong!r} at character {match.end()} is no part of a tree; a leaf is written (1, 2, 6)")
        if opens:
            open_nodes.append([])
        elif closes:
            if len(open_nodes) == 1 or not open_nodes[-1]:
                raise BadTree(f"the bracket at character {match.end()} closes nothing")
            below = open_nodes.pop()
            open_nodes[-1].append(PayoffTree(below=tuple(below)))
        elif leaf is not None:
            open_nodes[-1].append(PayoffTree(read_payoffs(leaf)))
        count += bool(opens or leaf)
        if len(open_nodes) > DEEPEST + 1 or count > MOST_NODES:
            raise BadTree(f"a tree has {MOST_NODES} nodes and {DEEPEST} levels at most")
    if len(open_nodes) > 1 or len(open_nodes[0]) != 1:
        raise BadTree(f"write one tree, its brackets closed, as {EXAMPLES['three']}")
    tree = open_nodes[0][0]
    lengths = {len(payoffs) for payoffs in tree.leaves()}
    if len(lengths) > 1 or not 2 <= max(lengths) <= MOST_PLAYERS:
        raise BadTree(f"every leaf says what each player gets; 2 to {MOST_PLAYERS} play")
    return tree


def read_payoffs(text: str) -> Payoffs:
    try:
        payoffs = tuple(float(each.strip().replace("−", "-")) for each in text.split(","))
    except ValueError:
        raise BadTree(f"({text}) is no leaf; write one as (1, 2, 6)") from None
    if not all(abs(each) <= 1e6 for each in payoffs):
        raise BadTree(f"({text}): a payoff is 1,000,000 at most")
    return payoffs


# In words, and as a picture


def payoffs_text(payoffs: Payoffs) -> str:
    from fractions import Fraction

    return f"({', '.join(number_text(Fraction(each)) for each in payoffs)})"


def payoff_lines(node: PayoffNode, lead: str = "", branch: str = "") -> Iterator[str]:
    """The tree, a line for each node: who moves, and the tuple backed up."""
    yield f"{lead}{branch}{'' if node.player is None else NAMES[node.player] + ' '}{payoffs_text(node.payoffs)}"
    deeper = lead + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
    for child in node.below:
        yield from payoff_lines(child, deeper, "└─ " if child is node.below[-1] else "├─ ")


def value_text(rule: str, root: PayoffNode) -> str:
    """What the player at the root, or its team, is sure of by that rule."""
    sure = payoffs_text(root.payoffs)
    return f"{sure[1:].split(',')[0]} at least, for {NAMES[root.player or 0]}" if rule == "paranoid" else sure


def way_text(root: PayoffNode) -> str:
    """The children that are taken from the root on, by their numbers."""
    moves, node = [], root
    while node.below:
        moves.append(f"{NAMES[node.player or 0]}{node.chosen + 1}")
        node = node.below[node.chosen]
    return " ".join(moves)


COLUMN, LEVEL, WIDTH, HEIGHT = 84, 78, 74, 40


def draw_payoffs(root: PayoffNode, title: str = "max^n") -> Picture:
    """Each node with its player and its tuple; green lines are the choices."""
    nodes, children = [root], {}
    parents: dict[int, tuple[int, int]] = {}
    for at, node in enumerate(nodes):
        children[at] = list(range(len(nodes), len(nodes) + len(node.below)))
        parents |= {child: (at, i) for i, child in enumerate(children[at])}
        nodes += node.below
        check_count(len(nodes), MOST_DRAWN, "nodes")
    spots = {
        at: (MARGIN + (column + 0.5) * COLUMN, MARGIN + HEIGHT / 2 + level * LEVEL)
        for at, (column, level) in places(children).items()
    }
    picture = Picture(title)
    picture.width = max(x for x, _ in spots.values()) + COLUMN / 2 + MARGIN
    picture.height = max(y for _, y in spots.values()) + HEIGHT / 2 + MARGIN
    for at, (above, i) in parents.items():
        is_chosen = nodes[above].chosen == i
        (x, y), (above_x, above_y) = spots[at], spots[above]
        picture.line(above_x, above_y, x, y, edge=GREEN if is_chosen else SOFT, thickness=2.4 if is_chosen else 1.2)
    for at, (x, y) in spots.items():
        node = nodes[at]
        fill = "#ffffff" if node.player is None else PALES[node.player]
        picture.box(x - WIDTH / 2, y - HEIGHT / 2, WIDTH, HEIGHT, fill=fill, edge=INK)
        is_leaf = node.player is None
        if node.player is not None:
            picture.write(x, y - 9, NAMES[node.player], is_bold=True)
        picture.write(x, y if is_leaf else y + 9, payoffs_text(node.payoffs), size=12)
    return picture
