"""Searches told step by step: the worked examples number by number, and that what is told is what the search did."""

import json
import math
import random
from dataclasses import asdict
from math import inf

import numpy as np
import pytest
from judges import plain_value, random_position

from tengen import load_game
from tengen.course import alphabeta, bandit
from tengen.course.alphabeta import BadTree, game_tree, read_tree, walk, walk_position, walk_text, write_tree
from tengen.course.mcts import (
    SearchSettings,
    evaluators_for,
    lecture_trace,
    most_simulations,
    slides_trace,
    trace,
    watched,
)
from tengen.course.slides import CELLS, MOVES
from tengen.course.traces import ROOT_CARD
from tengen.knowledge.evaluations import evaluation_for
from tengen.nets.export import export_onnx
from tengen.nets.metadata import Architecture, NetMetadata
from tengen.nets.networks import build_model
from tengen.nets.runtime import Net
from tengen.rules.errors import BadParameter, TengenError
from tengen.search.limits import Limit
from tengen.search.minimax import Minimax
from tengen.search.puct import Gumbel, Puct
from tengen.search.tree import LOST, best_edge
from tengen.search.uct import Uct, ucb1

SMALL = ["tictactoe", "connect4", "reversi:size=4"]


class Told:
    """A trace played back: the cards as they are after some simulations."""

    def __init__(self, found, simulations=None):
        self.cards = {card.id: asdict(card) | {"score": None} for card in found.cards}
        self.terms = {}
        for terms in found.terms:
            self.hear(terms)
        for simulation in found.simulations[:simulations]:
            for card in simulation.opened:
                self.cards[card.id] = asdict(card)
            for update in simulation.backup:
                self.cards[update.id] |= {"visits": update.visits, "value": update.value, "proven": update.proven}
            for terms in simulation.terms:
                self.hear(terms)

    def hear(self, terms):
        self.terms[terms.at] = terms
        for i, card in enumerate(terms.cards):
            self.cards[card] |= {name: values[i] for name, values in asdict(terms).items() if values and name in "qu"}
            self.cards[card]["score"] = terms.score[i]

    def card(self, *names):
        """The card that names lead to from the root."""
        at = ROOT_CARD
        for name in names:
            at = next(card["id"] for card in self.cards.values() if card["parent"] == at and card["name"] == name)
        return self.cards[at]

    def by_path(self):
        """The figures of all cards but the root's, by the names that lead there."""

        def path(card):
            return () if card["parent"] is None else (*path(self.cards[card["parent"]]), card["name"])

        names = ("visits", "value", "prior", "proven")
        return {
            path(card): [card[name] for name in names] for card in self.cards.values() if card["parent"] is not None
        }

    def figures(self, *names):
        card = self.card(*names)
        return card["visits"], pytest.approx(card["value"], abs=1e-6), pytest.approx(card["prior"], abs=1e-6)


# The slides


def test_the_slides_search_number_by_number():
    found = slides_trace(3)
    assert found.players[found.to_play] == "White"
    assert found.cards[0].board == [0, 0, 0, 2, 1, 0, 1, 0, 0]
    priors = {"2": 0.4, "3": 0.1, "6": 0.05, "7": 0.1, "8": 0.15, "9": 0.2}
    start = Told(found, 0)
    assert start.card()["visits"] == 1  # its own expansion
    assert {name: start.card(name)["prior"] for name in priors} == pytest.approx(priors)
    assert all(start.card(name)["u"] == start.card(name)["score"] == 0 for name in priors)

    first = found.simulations[0]
    assert [start.cards[card]["name"] for card in first.path] == ["", "2"]  # a tie: the highest prior
    assert (first.verdict.kind, first.verdict.value, found.players[first.verdict.player]) == ("net", -0.1, "Black")
    assert {card.name: card.prior for card in first.opened} == pytest.approx(
        {"3": 0.2, "6": 0.15, "7": 0.1, "8": 0.25, "9": 0.3}
    )
    one = Told(found, 1)
    assert one.figures("2") == (1, 0.1, 0.4)
    assert one.card("2")["q"] == pytest.approx(0.1)
    assert one.card("2")["score"] == pytest.approx(1.1)
    assert one.card("9")["score"] == pytest.approx(1.0)

    second = found.simulations[1]
    assert [one.cards[card]["name"] for card in second.path] == ["", "2", "9"]
    assert (second.verdict.kind, second.verdict.value, found.players[second.verdict.player]) == ("end", -1, "White")
    two = Told(found, 2)
    assert two.figures("2", "9") == (1, 1.0, 0.3)
    assert two.figures("2") == (2, -0.9, 0.4)
    assert two.card("2")["q"] == pytest.approx(-0.45)
    assert two.card("9")["score"] == pytest.approx(1.414, abs=5e-4)
    assert two.card("2")["score"] == pytest.approx(0.493, abs=5e-4)

    third = found.simulations[2]
    assert [two.cards[card]["name"] for card in third.path] == ["", "9"]
    assert third.verdict.value == -0.2
    assert Told(found, 3).figures("9") == (1, 0.2, 0.2)
    assert [update.id for update in third.backup] == [two.card("9")["id"]]


# What is kept of a tree


def test_a_search_goes_on_in_the_subtree_of_its_move():
    """Its first cards are those of the search before, as it left them; then their visits grow."""
    settings, position = SearchSettings(evaluator="rollout", simulations=60), load_game("gomoku:size=6").start()
    before = trace(position, settings)
    after = trace(position, settings, played=[before.best])
    told, first = Told(before), Told(after, 0)
    visits = told.card(before.best)["visits"]
    kept = {names[1:]: figures for names, figures in told.by_path().items() if names[:1] == (before.best,) != names}
    assert first.by_path() == kept and len(kept) > 40
    assert first.card()["visits"] == visits > 1  # the visit that opened it included
    assert len(after.simulations) == 60
    assert sum(card["visits"] for card in Told(after).cards.values() if card["parent"] == ROOT_CARD) == visits - 1 + 60


def test_the_slides_game_is_played_to_its_end_move_by_move():
    played, ends = [], False
    while not ends:
        found = slides_trace(60, played)
        played.append(found.best)
        ends = found.is_last
    assert played[0] == CELLS[9] and load_game("tictactoe").from_moves(MOVES + " " + " ".join(played)).outcome
    with pytest.raises(BadParameter, match="the game is over"):
        slides_trace(60, played)
    with pytest.raises(BadParameter, match="PUCT alone keeps its tree"):
        trace(load_game("tictactoe").start(), SearchSettings("uct"), played=["a1"])


# The lecture's UCB1


def test_the_lectures_bounds_path_and_backup():
    found = lecture_trace()
    scores = [terms.score for terms in found.terms]
    printed = [[1.252, 1.243, 1.007], [1.372, 0.879], [1.341, 2.745]]
    for ours, theirs in zip(scores, printed, strict=True):
        assert ours == pytest.approx(theirs, abs=0.0012)  # it prints 1.243 for 1.2419
    (simulation,) = found.simulations
    black_wins = {card.id: card.value if card.player == 0 else card.visits - card.value for card in found.cards}
    told = Told(found, 0)
    path = [f"{black_wins[card]:g}/{told.cards[card]['visits']}" for card in simulation.path[:-1]]
    assert path == ["12/21", "7/10", "2/4", "1/1"]
    after = Told(found)
    for card in simulation.path:  # lost for Black: every ancestor has one visit more and no win of Black's
        now = after.cards[card]
        wins = now["value"] if now["player"] == 0 else now["visits"] - now["value"]
        assert (wins, now["visits"]) == (black_wins.get(card, 0), told.cards.get(card, {"visits": 0})["visits"] + 1)


# What is told is what was done


@pytest.mark.parametrize("spec", SMALL)
@pytest.mark.parametrize(("name", "kind"), [("puct", Puct), ("gumbel", Gumbel)])
def test_a_watched_search_is_the_search(spec, name, kind):
    """The same decision, and the same counts as the search makes on its own."""
    game = load_game(spec)
    position = random_position(game, random.Random(3), 2)
    settings = SearchSettings(name, "rollout", simulations=60, considered=4, seed=5)
    found = trace(position, settings)
    own = {"considered": 4} if name == "gumbel" else {}
    evaluator = watched(game, settings).evaluator
    search = kind(game, evaluator, exploration=1.5, urgency=0.25, rollouts=1.0, batch=1, memory=1, seed=5, **own)
    decision = search.search(position, Limit(simulations=60))
    assert found.best == game.action_text(decision.action)
    assert len(found.simulations) == decision.nodes
    told = Told(found)
    for edge in search.edges_of(0):
        card = told.card(game.action_text(int(edge.action)))
        assert (card["visits"], card["value"]) == (edge.visits, pytest.approx(edge.value, abs=1e-5))


@pytest.mark.parametrize("spec", SMALL)
def test_watched_playouts_are_ucts(spec):
    game = load_game(spec)
    position = random_position(game, random.Random(3), 2)
    found = trace(position, SearchSettings("uct", exploration=0.7, simulations=80, seed=5))
    search = Uct(game, 0.7, seed=5)
    decision = search.search(position, Limit(playouts=80))
    assert found.best == game.action_text(decision.action)
    assert len(found.simulations) == decision.nodes
    told, tree = Told(found), search.trees[0]
    assert len(told.cards) == tree.sizes[0]
    for number, card in told.cards.items():
        node = tree.nodes[number]
        assert (card["visits"], card["value"]) == (node["visits"], node["wins"])
    for terms in found.simulations[-1].terms:
        for i, child in enumerate(terms.cards):
            node, mean = tree.nodes[child], float(tree.nodes[child]["wins"]) / int(tree.nodes[child]["visits"])
            assert terms.score[i] == pytest.approx(ucb1(mean, int(node["visits"]), terms.visits, 0.7), abs=1e-5)


@pytest.mark.parametrize("urgency", [-1, 0.25])
def test_the_scores_told_are_those_that_are_compared(urgency):
    """The card with the highest score is the search's choice at every node of the tree; what is lost is left out."""
    game = load_game("connect4")
    search = watched(game, SearchSettings("puct", "rollout", simulations=150, urgency=urgency))
    search.names = {}
    search.watch(game.start(), 150)
    checked = 0
    for node in range(int(search.sizes[0])):
        terms, edges = search.terms_of(node, 0), search.edges_of(node)
        scores = dict(zip(sorted(edges.action.tolist()), terms.score, strict=True))
        allowed = [int(edge.action) for edge in edges if edge.proven != LOST]
        if allowed:
            best = best_edge(search.nodes, search.edges, node, search.exploration, search.urgency)
            chosen = int(search.edges[int(best)].action)
            assert scores[chosen] == pytest.approx(max(scores[action] for action in allowed), abs=2e-6)
            checked += 1
    assert checked > 100


def test_gumbel_goes_on_with_the_better_half():
    found = trace(load_game("tictactoe").start(), SearchSettings("gumbel", "rollout", simulations=16, considered=4))
    assert [simulation.wanted for simulation in found.simulations] == [0] * 4 + [1] * 4 + [2, 2, 3, 3, 4, 4, 5, 5]
    told = Told(found, 0)
    for simulation in found.simulations:  # the best sum of those with that many visits is taken
        terms = told.terms[ROOT_CARD]
        ready = [i for i, card in enumerate(terms.cards) if told.cards[card]["visits"] == simulation.wanted]
        best = max(ready, key=lambda i: terms.score[i])
        assert terms.cards[best] == simulation.path[1]
        for i in range(len(terms.cards)):
            assert terms.score[i] == pytest.approx(terms.g[i] + terms.logit[i] + terms.sigma[i], abs=1e-4)
        told = Told(found, simulation.number)
    assert sum(found.policy.values()) == pytest.approx(1, abs=1e-4)


def test_a_net_of_ours_is_asked(tmp_path, monkeypatch):
    """By its name, for its own game alone; its priors are the root's, and what it says of a leaf is told."""
    game = load_game("tictactoe")
    small = Architecture(blocks=1, channels=4)
    (tmp_path / "little.onnx").write_bytes(export_onnx(build_model(game, small), NetMetadata.of(game, small)))
    monkeypatch.setattr("tengen.nets.runtime.SHIPPED", tmp_path)
    assert "little" in evaluators_for(game)
    assert "little" not in evaluators_for(load_game("connect4"))
    found = trace(game.start(), SearchSettings("puct", "little", simulations=20))
    logits, _ = Net(tmp_path / "little.onnx")(game.start().encode().reshape(1, -1, game.cells))
    priors = np.exp(logits[0]) / np.exp(logits[0]).sum()
    assert [card.prior for card in found.cards[1:]] == pytest.approx(priors.tolist(), abs=1e-5)
    assert {simulation.verdict.kind for simulation in found.simulations} <= {"net", "end", "proof"}
    assert any(simulation.verdict.value for simulation in found.simulations)


def test_a_proven_root_ends_the_trace():
    position = load_game("tictactoe").from_moves("a1 a2 b1 b2")  # c1 wins
    for search in ("puct", "gumbel", "uct"):
        found = trace(position, SearchSettings(search, simulations=300))
        assert (found.note, found.value, found.best) == ("proven", 1, "c1")
        assert len(found.simulations) < 300


def test_a_trace_is_small_and_plain():
    found = trace(load_game("mnk:m=6,n=6,k=4").start(), SearchSettings(simulations=100))
    text = json.dumps(asdict(found), allow_nan=False)
    assert len(text) < 2_000_000


def test_what_cannot_be_watched_is_refused_with_the_reason():
    game = load_game("tictactoe")
    for position, settings, words in [
        (load_game("gomoku").start(), SearchSettings(), "64 at most"),
        (game.start(), SearchSettings(simulations=401), "1 to 400"),
        (game.start(), SearchSettings(search="mcts"), "no search is called 'mcts'"),
        (game.start(), SearchSettings(evaluator="../net.onnx"), "no evaluator"),
        (game.from_moves("a1 a2 b1 b2 c1"), SearchSettings(), "the game is over"),
        (load_game("connect4").start(), SearchSettings(evaluator="slides"), "no evaluator"),
    ]:
        with pytest.raises(BadParameter, match=words):
            trace(position, settings)
    assert most_simulations(load_game("gomoku:size=7")) == 12_000 // 49
    assert "slides" in evaluators_for(game)


# Alpha-beta


def test_the_lectures_tree():
    """3; C stops after its first leaf, by an alpha cut that leaves x and y out; windows as it writes them."""
    found = walk_text(alphabeta.LECTURE)
    assert (found.value, found.best) == (3, "1")
    assert found.nodes == {"minimax": 13, "written": 11, "best": 9, "worst": 13}
    assert found.leaves == {"minimax": 9, "written": 7, "best": 5, "worst": 9}
    middle = found.spots[5]
    assert (middle.cut, middle.alpha, middle.beta, middle.value, middle.is_max) == ("alpha", 3, None, 2, False)
    assert [spot.name for spot in found.spots if not spot.is_seen] == ["x", "y"]
    (cut,) = [step for step in found.steps if step.kind == "cut"]
    assert (cut.at, cut.cut, cut.alpha, cut.beta, cut.pruned) == (5, "alpha", 3, 2, [7, 8])
    betas = [step.beta for step in found.steps if step.at == 1 and step.child is not None]
    assert betas == [3, 3, 3]  # B[β=3] after each of 3, 12 and 8
    assert [step.beta for step in found.steps if step.at == 9 and step.child is not None] == [14, 5, 2]


def test_both_cuts_have_their_names():
    turned = walk_text("[[-3, -12, -8], [-2, -7, -1]]", is_max=False)
    assert [spot.cut for spot in turned.spots if spot.cut] == ["beta"]
    deep = walk_text(alphabeta.SEVEN_LEVELS)
    assert {spot.cut for spot in deep.spots} == {"", "alpha", "beta"}
    assert deep.nodes["best"] < deep.nodes["written"] < deep.nodes["minimax"]
    for spot in deep.spots:
        if spot.cut == "alpha":
            assert not spot.is_max and spot.value <= spot.alpha
        if spot.cut == "beta":
            assert spot.is_max and spot.value >= spot.beta


def test_any_tree_has_its_minimax_value_in_any_order():
    rng = random.Random(8)

    def random_text(depth):
        if depth == 0 or rng.random() < 0.1:
            return str(rng.randrange(-9, 10))
        return f"[{', '.join(random_text(depth - 1) for _ in range(rng.randrange(1, 4)))}]"

    for _ in range(60):
        tree, is_max = read_tree(f"[{random_text(4)}]"), rng.random() < 0.5
        assert read_tree(write_tree(tree)) == tree
        for order in ("written", "best", "worst"):
            found = walk(tree, order, is_max)
            root = found.spots[0]
            assert found.value == root.minimax == root.value
            assert found.nodes[order] == sum(spot.is_seen for spot in found.spots) <= found.nodes["minimax"]
            entered = [step.at for step in found.steps if step.kind == "enter"]
            assert entered == [spot.id for spot in found.spots if spot.is_seen]
            pruned = {spot.id for spot in found.spots if not spot.is_seen}
            tops = {top for step in found.steps for top in step.pruned}
            assert tops == {spot for spot in pruned if found.spots[spot].parent not in pruned}


def test_positions_of_tic_tac_toe():
    """To the end of the game, the value is the exact one and minimax looks at what the product's minimax looks at."""
    game, rng, known = load_game("tictactoe"), random.Random(4), {}
    for _ in range(10):
        position = random_position(game, rng, 4)
        if position.outcome is not None:
            continue
        found = walk_position(position, 5)
        assert found.value == plain_value(position, known)
        decision = Minimax(game, evaluation_for(game, "lines")).search(position, Limit(depth=5))
        assert found.nodes["minimax"] == decision.nodes + 1  # the root
        assert max(found.nodes.values()) == found.nodes["minimax"]


def test_the_lectures_evaluation_is_asked_at_the_horizon():
    """e(s) = lines open to MAX less lines open to MIN: after X in a corner, the centre and an edge."""
    tree = game_tree(load_game("tictactoe").start(), 1)
    values = {branch.name: branch.value for branch in tree.branches}
    assert (values["a1"], values["b2"], values["b1"]) == (3, 4, 2)
    assert walk_position(load_game("tictactoe").start(), 2).value == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "there is no tree"),
        ("[1, 2", "1 brackets are open"),
        ("1]", "closes nothing"),
        ("[[], 1]", "are empty"),
        ("[1, x]", "no part of a tree"),
        ("[1e9]", "no part of a tree"),
        ("[99999999]", "too large"),
        ("[" * 5000, "12 levels"),
        ("[" + "1," * 3000 + "1]", "2000 nodes"),
        ("1 " * 9000, "10000 is the most"),
        ("<script>", "no part of a tree"),
    ],
)
def test_bad_trees_are_refused_with_the_place(text, words):
    with pytest.raises(BadTree, match=words):
        walk_text(text)


def test_what_is_too_large_to_draw_is_refused():
    with pytest.raises(BadParameter, match="over 2000 nodes"):
        walk_position(load_game("tictactoe").start(), 9)
    with pytest.raises(BadParameter, match="use best"):
        walk_text("[1, 2]", "guess")
    with pytest.raises(TengenError):
        walk_position(load_game("tictactoe").start(), 0)


# Bandits


def test_each_policy_does_what_its_name_says():
    rng = np.random.default_rng(2)
    rewards = (rng.random((200, 3)) < [0.2, 0.5, 0.8]).astype(float)
    luck = rng.random((200, 2))
    for kind, name in enumerate(bandit.POLICIES):
        chosen, bounds = np.zeros(200, np.int64), np.zeros((200, 3))
        bandit.pull(bandit.Policy(kind, 1.0, 0.3), rewards, luck, chosen, bounds)
        for step in range(200):
            pulls = [int((chosen[:step] == arm).sum()) for arm in range(3)]
            means = [rewards[:step][chosen[:step] == arm, arm].mean() if pulls[arm] else inf for arm in range(3)]
            scores = means
            if name == "ucb1" and step > 0:
                doubts = [math.sqrt(2 * math.log(step) / n) if n else inf for n in pulls]
                scores = [mean + doubt for mean, doubt in zip(means, doubts, strict=True)]
            assert bounds[step] == pytest.approx(scores)
            any_arm = int(luck[step, 1] * 3)
            best = scores.index(max(scores))
            is_any = name == "random" or (name == "epsilon" and luck[step, 0] < 0.3)
            assert chosen[step] == (any_arm if is_any else best)


def test_ucb1_regrets_least_in_the_end_and_keeps_its_bound():
    found = bandit.contest([0.2, 0.4, 0.9], steps=1000, runs=50, seed=3)
    regret = {play.policy: play.regret[-1] for play in found.plays}
    assert regret["ucb1"] < regret["random"] / 5
    assert all(have <= most for have, most in zip(found.plays[0].regret, found.bound, strict=True))
    gaps = [0.7, 0.5]
    bound = 8 * sum(math.log(1000) / gap for gap in gaps) + (1 + math.pi**2 / 3) * sum(gaps)
    assert found.bound[-1] == pytest.approx(bound)
    assert found.plays[3].regret[-1] == pytest.approx(1000 * (0.7 + 0.5) / 3, rel=0.05)  # at random: Σ Δ / 3 a pull
    for play in found.plays:
        assert sum(play.pulls) == pytest.approx(1000)
        paid = [found.would_pay[step][arm] for step, arm in enumerate(play.arms)]
        assert paid == play.rewards
        best = max(sum(row[arm] for row in found.would_pay) for arm in range(3))
        assert play.lecture_regret == best - sum(paid)  # as the lecture defines it


def test_no_bound_where_none_is_proven():
    assert bandit.contest([0.5, 0.5], steps=10, runs=2).bound == [None] * 10
    assert set(bandit.contest([0.5, 0.6], steps=10, runs=2, exploration=0.5).bound) == {None}


@pytest.mark.parametrize(
    ("means", "steps", "runs"), [([0.5], 10, 1), ([0.5, 1.5], 10, 1), ([0.5, 0.6], 2001, 1), ([0.5, 0.6], 2000, 500)]
)
def test_bandits_are_bounded(means, steps, runs):
    with pytest.raises(BadParameter):
        bandit.contest(means, steps, runs)
