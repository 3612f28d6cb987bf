"""PUCT, Gumbel and UCT, one simulation at a time: the product's own searches, watched.

Nothing is searched here. A watched search is the search itself: each simulation is run by its own code, and what it
did is read off its tree afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tengen.course.numbers import count_result, weigh_children, weigh_edges, weigh_root
from tengen.course.slides import EXPLORATION, MOVES, NAMES, SlidesNet
from tengen.course.traces import PROOFS, ROOT_CARD, Card, Simulation, Terms, Trace, Update, Verdict, rounded
from tengen.games import load_game
from tengen.nets import runtime
from tengen.nets.metadata import NetError
from tengen.nets.runtime import Net, shipped_nets
from tengen.report.shapes import tints_of
from tengen.rules.contract import SECOND
from tengen.rules.errors import BadParameter, nearest
from tengen.rules.game import Game, Position
from tengen.search import uct
from tengen.search.evaluators import Evaluator, Uniform
from tengen.search.limits import Decision, Limit
from tengen.search.puct import Gumbel, Puct
from tengen.search.tree import NO_CHILD, NONE, ROOT
from tengen.search.uct import Tree, Uct

SEARCHES = ("puct", "gumbel", "uct")
LARGEST = 64  # actions of a game that can be drawn
MOST_SIMULATIONS, MOST_CARDS = 400, 12_000
MEMORY = 1  # megabytes, more than MOST_CARDS take
UCT_NODES = 2000  # a playout adds one at most
UCT_PROOFS = {uct.UNKNOWN: "", uct.LOST: "lost", uct.DRAWN: "drawn", uct.WON: "won"}


@dataclass(frozen=True)
class SearchSettings:
    """How a search is to be watched."""

    search: str = "puct"
    evaluator: str = "uniform"  # or `rollout`, `slides`, or a net that we ship
    exploration: float = 1.5  # c, or C
    urgency: float = 0.25  # PUCT: how much worse than its node an edge never visited is thought to be; −1: even
    considered: int = 16  # Gumbel: actions drawn
    noise: float = 1.0  # Gumbel: 0 for none
    simulations: int = 50
    seed: int = 1


def most_simulations(game: Game) -> int:
    """How many simulations of a game are told: what a page can draw."""
    return min(MOST_SIMULATIONS, MOST_CARDS // max(game.actions, 1))


def check(position: Position, settings: SearchSettings) -> None:
    """Refuses what cannot be shown, and says what can."""
    game = position.game
    if settings.search not in SEARCHES:
        raise BadParameter(f"no search is called {settings.search!r}{nearest(settings.search, SEARCHES)}")
    if game.actions > LARGEST:
        raise BadParameter(f"{game.spec} has {game.actions} actions; a tree that can be read has {LARGEST} at most")
    if position.outcome is not None:
        raise BadParameter("the game is over: there is nothing to search; take a move back")
    if not 1 <= settings.simulations <= most_simulations(game):
        most = most_simulations(game)
        raise BadParameter(f"simulations={settings.simulations}: 1 to {most} can be shown for {game.spec}")


def trace(
    position: Position,
    settings: SearchSettings,
    names: Mapping[str, str] | None = None,
    played: Sequence[str] = (),
) -> Trace:
    """A search of a position that is not over, told simulation by simulation. `names` are shown in place of moves.

    If moves are `played`, each of them after such a search, the search that is told goes on from what PUCT has kept.
    """
    check(position, settings)
    if played and settings.search != "puct":
        raise BadParameter(f"search={settings.search}: of the searches that are told, PUCT alone keeps its tree")
    if settings.search == "uct":
        return trace_uct(position, settings)
    return trace_puct(position, settings, names or {}, played)


def slides_trace(simulations: int = 3, played: Sequence[str] = (), exploration: float = EXPLORATION) -> Trace:
    """The slides' search on 3×3: c = 5, an edge never visited is thought even, cells by their numbers."""
    position = load_game("tictactoe").from_moves(MOVES)
    settings = SearchSettings("puct", "slides", exploration, urgency=-1, simulations=simulations)
    return replace(trace(position, settings, NAMES, played), players=("Black", "White"), drawing="lines")


# Evaluators


def evaluators_for(game: Game) -> list[str]:
    """The names of what can be asked about a game's leaves."""
    own = ["slides"] if game == load_game("tictactoe") else []
    return ["uniform", "rollout", *own, *(name for name in shipped_nets() if is_for(name, game))]


def is_for(name: str, game: Game) -> bool:
    try:
        shipped_net(runtime.SHIPPED / f"{name}.onnx").metadata.check_for(game, name)
    except NetError:
        return False
    return True


@lru_cache(maxsize=16)
def shipped_net(path: Path) -> Net:
    """A net of ours, loaded once: it may be asked by several threads."""
    return Net(path)


def evaluator_of(name: str, game: Game) -> Evaluator:
    """The evaluator of a name; of nets, only those we ship: a name is never a path."""
    if name in ("uniform", "rollout"):
        return Uniform(game)
    if name not in evaluators_for(game):
        raise BadParameter(f"no evaluator for {game.spec} is called {name!r}{nearest(name, evaluators_for(game))}")
    return SlidesNet(game) if name == "slides" else shipped_net(runtime.SHIPPED / f"{name}.onnx")


class Overheard:
    """An evaluator that remembers its last answer."""

    def __init__(self, evaluator: Evaluator):
        self.evaluator = evaluator
        self.value: float | None = None

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits, values = self.evaluator(planes)
        self.value = float(values[0])
        return logits, values


# PUCT and Gumbel


class Watched:
    """Mixed into Puct or Gumbel: simulations come one at a time, and what each did is written down.

    The tree may change the order of a node's edges, so that a card is known by its node and its action.
    """

    names: Mapping[str, str]
    numbers: dict[tuple[int, int], int]  # of cards
    positions: dict[int, Position]  # by card
    simulations: list[Simulation]
    first_cards: list[Card]
    first_terms: list[Terms]

    def watch(self: Any, position: Position, simulations: int) -> Decision:
        self.simulations, self.numbers, self.positions = [], {}, {ROOT_CARD: position}
        decision: Decision = self.search(position, Limit(simulations=simulations))
        if not self.simulations:  # what was kept is proven
            self.halving = ()
            self.first_cards, self.first_terms = self.cards_there()
        return decision

    def simulate(self: Any, most: int, *halving: Any) -> int:
        """One simulation. `halving` is Gumbel's: its scores by action, its schedule, and how much values weigh."""
        self.halving = halving
        if not self.simulations:
            self.first_cards, self.first_terms = self.cards_there()
        known, before = int(self.sizes[0]), self.edges[: self.sizes[1]].copy()
        self.work.paths[0], self.evaluator.value = NONE, None
        done = super().simulate(1, *halving)  # type: ignore[misc]
        wanted = int(halving[1][0]) if halving else None
        self.simulations.append(self.describe(before, is_new=self.sizes[0] > known, wanted=wanted))
        return done

    def describe(self: Any, before: Any, is_new: bool, wanted: int | None) -> Simulation:
        """The simulation that has just been run; `before` are the edges as they were."""
        path = [(int(node), int(edge)) for node, edge in self.work.paths[0] if edge != NONE]
        cards = [ROOT_CARD, *(self.numbers[node, int(self.edges[edge].action)] for node, edge in path)]
        for (above, card), (_, edge) in zip(pairwise(cards), path, strict=True):
            if card not in self.positions:
                self.positions[card] = self.positions[above].play(int(self.edges[edge].action))
        leaf, child = self.positions[cards[-1]], int(self.edges[path[-1][1]].child)
        updates = [self.update(card, edge, before) for card, (_, edge) in zip(cards[1:], path, strict=True)][::-1]
        nodes = [(node, card) for (node, _), card in zip(path, cards, strict=False)]
        opened = self.cards_of(child, cards[-1]) if is_new else []
        if is_new:
            nodes.append((child, cards[-1]))
        return Simulation(
            number=len(self.simulations) + 1,
            path=cards,
            wanted=wanted,
            opened=opened,
            verdict=self.verdict(leaf, updates[0], self.nodes[path[-1][0]].to_play),
            board=board_of(leaf),
            backup=updates,
            terms=[self.terms_of(node, card) for node, card in nodes],
        )

    def verdict(self: Any, leaf: Position, update: Update, mover: int) -> Verdict:
        """What was backed up, seen by the player to move at the leaf."""
        value = update.added if leaf.to_play == mover else -update.added
        if self.evaluator.value is not None and self.rollouts == 0:
            return Verdict("net", rounded(self.evaluator.value), leaf.to_play)
        kind = "end" if leaf.outcome is not None else "proof" if self.evaluator.value is None else "rollout"
        return Verdict(kind, rounded(value), leaf.to_play)

    def update(self: Any, card: int, edge: int, before: Any) -> Update:
        now = self.edges[edge]
        added = float(now.value) - float(before[edge].value)
        return Update(card, int(now.visits), rounded(now.value), rounded(added), PROOFS[int(now.proven)])

    def cards_there(self: Any) -> tuple[list[Card], list[Terms]]:
        """Every card of the tree as it is, and what they are compared by: a new root's, or those of a kept subtree."""
        cards, terms, waiting = [], [], [(ROOT, ROOT_CARD)]
        for node, card in waiting:
            cards += self.cards_of(node, card)
            terms.append(self.terms_of(node, card))
            edges = [edge for edge in self.edges_of(node) if edge.child != NO_CHILD]
            waiting += [(int(edge.child), self.numbers[node, int(edge.action)]) for edge in edges]
        return cards, terms

    def cards_of(self: Any, node: int, parent: int) -> list[Card]:
        """The cards below a card, numbered from here on."""
        player, cards = int(self.nodes[node].to_play), []
        for edge in sorted(self.edges_of(node), key=lambda edge: int(edge.action)):
            number, move = len(self.numbers) + 1, self.game.action_text(int(edge.action))
            self.numbers[node, int(edge.action)] = number
            card = Card(number, parent, move, self.names.get(move, move), player, rounded(edge.prior))
            if edge.visits:
                self.positions[number] = self.positions[parent].play(int(edge.action))
                there, proven = board_of(self.positions[number]), PROOFS[int(edge.proven)]
                card = replace(card, visits=int(edge.visits), value=rounded(edge.value), proven=proven, board=there)
            cards.append(card)
        return cards

    def terms_of(self: Any, node: int, card: int) -> Terms:
        """What the edges of a node are compared by, in the order of their actions."""
        actions, visits = self.edges_of(node).action, int(self.nodes[node].visits)
        order = np.argsort(actions)
        cards = [self.numbers[node, int(action)] for action in actions[order]]
        if node == ROOT and self.halving:
            scores, _, value_scale = self.halving
            sums = np.zeros((len(order), 4), np.float32)
            weigh_root(self.game.parameters, self.nodes, self.edges, scores, value_scale, sums)
            g, logit, sigma, score = ([rounded(x) for x in column] for column in sums[order].T)
            return Terms(card, "gumbel", visits, cards, score, g=g, logit=logit, sigma=sigma)
        parts = np.zeros((len(order), 2), np.float32)
        weigh_edges(self.game.parameters, self.nodes, self.edges, node, self.exploration, self.urgency, parts)
        score, q, u = ([rounded(x) for x in column[order]] for column in (parts.sum(axis=1), *parts.T))
        return Terms(card, "puct", visits, cards, score, q, u)


class WatchedPuct(Watched, Puct):
    """PUCT, written down."""


class WatchedGumbel(Watched, Gumbel):
    """Gumbel, written down."""


def watched(game: Game, settings: SearchSettings) -> Any:
    """The search of some settings, ready to be watched: one leaf at a time."""
    evaluator = Overheard(evaluator_of(settings.evaluator, game))
    own = {"considered": settings.considered, "noise": settings.noise} if settings.search == "gumbel" else {}
    make: Callable[..., Any] = WatchedGumbel if settings.search == "gumbel" else WatchedPuct
    return make(
        game,
        evaluator,
        exploration=settings.exploration,
        urgency=settings.urgency,
        rollouts=1.0 if settings.evaluator == "rollout" else 0.0,
        batch=1,
        memory=MEMORY,
        seed=settings.seed,
        **own,
    )


def trace_puct(position: Position, settings: SearchSettings, names: Mapping[str, str], played: Sequence[str]) -> Trace:
    search = watched(position.game, settings)
    search.names = names
    for move in played:
        search.watch(position, settings.simulations)
        position = position.play(move)
        check(position, settings)
    search.move_to(position)
    kept = int(search.nodes[ROOT].visits)
    decision = search.watch(position, settings.simulations)
    root = Card(ROOT_CARD, None, "", "", None, visits=1 + kept, board=board_of(position))
    return finished(
        settings.search, position, [root, *search.first_cards], search.first_terms, search.simulations, decision
    )


def finished(
    search: str,
    position: Position,
    cards: list[Card],
    terms: list[Terms],
    simulations: list[Simulation],
    decision: Decision,
) -> Trace:
    """The trace of a search that has decided."""
    text = position.game.action_text
    return Trace(
        search=search,
        game=position.game.spec,
        moves=[text(action) for action in position.moves],
        shape=position.game.shape,
        players=position.game.players,
        to_play=position.to_play,
        cards=cards,
        terms=terms,
        simulations=simulations,
        best=text(decision.action),
        policy={text(action): rounded(share) for action, share in decision.policy.items()},
        value=None if decision.value is None else rounded(decision.value),
        note=decision.note,
        drawing=position.game.drawing,
        tints=tints_of(position.game),
        is_last=position.play(decision.action).outcome is not None,
    )


def board_of(position: Position) -> list[int]:
    """Whose pieces stand where: more cannot be seen on a board as small as a stamp."""
    return position.owners.ravel().tolist()


# UCT


def trace_uct(position: Position, settings: SearchSettings) -> Trace:
    """UCT keeps its tree from search to search: here each search is one playout. A card's number is its node's."""
    search = Uct(position.game, settings.exploration, settings.seed)
    search.trees = [tree := Tree(position.game, UCT_NODES, settings.seed)]
    told: list[Simulation] = []
    positions = {ROOT_CARD: position}
    for number in range(1, settings.simulations + 1):
        before = tree.nodes.copy()
        tree.path[:] = -1
        decision = search.search(position, Limit(playouts=1))
        if decision.nodes == 0:
            break
        path = [int(node) for node in tree.path if node >= 0]
        told.append(tell_playout(search, number, path, before, positions))
    root = Card(ROOT_CARD, None, "", "", None, board=board_of(position))
    return finished("uct", position, [root], [], told, decision)


def tell_playout(
    search: Uct, number: int, path: list[int], before: np.ndarray, positions: dict[int, Position]
) -> Simulation:
    """The playout that has just been made; `before` are the nodes as they were."""
    tree, game = search.trees[0], search.game
    for above, node in pairwise(path):
        if node not in positions:
            positions[node] = positions[above].play(int(tree.nodes[node]["action"]))
    last, leaf = path[-1], positions[path[-1]]
    is_new = tree.nodes[last]["visits"] == 1
    opened = []
    if is_new and last != ROOT_CARD:
        move, mover = game.action_text(int(tree.nodes[last]["action"])), int(tree.nodes[last]["mover"])
        opened = [Card(last, path[-2], move, move, mover, board=board_of(leaf))]
    updates = [playout_update(tree.nodes[node], before, node) for node in reversed(path)]
    mover_value = 2 * updates[0].added - 1
    is_mover = leaf.to_play == int(tree.nodes[last]["mover"])
    proven = "end" if leaf.outcome is not None else "proof" if updates[0].proven and not is_new else "rollout"
    return Simulation(
        number=number,
        path=path,
        wanted=None,
        opened=opened,
        verdict=Verdict(proven, rounded(mover_value if is_mover else -mover_value), leaf.to_play),
        board=board_of(leaf),
        backup=updates,
        terms=[uct_terms(tree, node, search.exploration) for node in path if tree.children(node)],
    )


def playout_update(node: Any, before: np.ndarray, number: int) -> Update:
    had = float(before[number]["wins"]) if node["visits"] > 1 else 0.0
    wins = float(node["wins"])
    return Update(number, int(node["visits"]), rounded(wins), rounded(wins - had), UCT_PROOFS[int(node["proven"])])


def uct_terms(tree: Tree, node: int, exploration: float, parent_visits: int | None = None) -> Terms:
    """What UCT compares the children of a node by, in the order of their actions."""
    nodes, n = tree.nodes, parent_visits or int(tree.nodes[node]["visits"])
    children = sorted(tree.children(node), key=lambda child: int(nodes[child]["action"]))
    visits = nodes["visits"][children].astype(np.float64)
    means = nodes["wins"][children] / visits
    scores = np.zeros(len(children))
    weigh_children(tree.game.parameters, means, visits, n, exploration, scores)
    score, q, u = ([rounded(x) for x in column] for column in (scores, means, scores - means))
    return Terms(node, "ucb1", n, children, score, q, u)


# The lecture's example

LECTURE = [  # parent, Black's wins, visits: as it prints them; a node's number is its row
    (None, 12, 21),
    (0, 7, 10),
    (0, 5, 8),
    (0, 0, 3),
    (1, 2, 4),
    (1, 5, 6),
    (4, 1, 3),
    (4, 1, 1),
]
WITHOUT_TWO = 1 / math.sqrt(2)  # its numbers are mean + √(ln n / nⱼ), with the root's n on every level
BLACK, WHITE = 0, 1


def lecture_tree() -> tuple[Tree, list[Card]]:
    """The tree that the example begins with, with wins for the player who moved there."""
    tree, cards = Tree(load_game("tictactoe"), len(LECTURE) + 1, seed=1), []
    tree.sizes[0] = len(LECTURE)
    for number, (parent, won, visits) in enumerate(LECTURE):
        player = WHITE if parent is None else 1 - int(tree.nodes[parent]["mover"])
        node = tree.nodes[number]
        node["mover"], node["visits"], node["action"] = player, visits, number
        node["wins"] = won if player == BLACK else visits - won
        if parent is not None:
            node["sibling"], tree.nodes[parent]["first_child"] = tree.nodes[parent]["first_child"], number
        cards.append(Card(number, parent, "", "", player, visits=visits, value=float(node["wins"])))
    return tree, cards


def lecture_trace(exploration: float = WITHOUT_TWO) -> Trace:
    """The lecture's example of the four steps: down to 1/1, a new node, a random game that White wins, and back.

    With another C than the lecture's numbers have, the way down may be another: with C = 1, the lecture's own formula,
    it goes to 5/8.
    """
    tree, cards = lecture_tree()
    game, n = tree.game.parameters, int(tree.nodes[0]["visits"])
    inner = [number for number in range(len(LECTURE)) if tree.children(number)]
    before, path = {number: uct_terms(tree, number, exploration, n) for number in inner}, [0]
    while (terms := before.get(path[-1])) is not None:
        path.append(terms.cards[terms.score.index(max(terms.score))])
    new = len(LECTURE)
    path.append(new)
    player = 1 - int(tree.nodes[path[-2]]["mover"])
    tree.nodes[new]["mover"], tree.nodes[path[-2]]["first_child"] = player, new
    had = tree.nodes.copy()
    count_result(game, tree.nodes, np.array(path, np.int32), SECOND)
    simulation = Simulation(
        number=1,
        path=path,
        wanted=None,
        opened=[Card(new, path[-2], "", "", player)],
        verdict=Verdict("rollout", -1.0 if player == WHITE else 1.0, 1 - player),
        board=None,
        backup=[playout_update(tree.nodes[number], had, number) for number in reversed(path)],
        terms=[uct_terms(tree, number, exploration, n + 1) for number in path[:-1]],
    )
    return Trace(
        "lecture", "", [], (0, 0), ("Black", "White"), BLACK, cards, [*before.values()], [simulation], "", {}, None, ""
    )
