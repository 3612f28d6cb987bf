"""UCT: the lecture's numbers, proofs that are true, trees that are kept whole, limits that are kept."""

import math
import random
from types import SimpleNamespace

import numpy as np
import pytest
from judges import plain_value

from tengen import load_game
from tengen.rules.errors import BadParameter
from tengen.search import limits, uct
from tengen.search.limits import Limit
from tengen.search.uct import NODE, ROOT, Uct, backup, best_child, ucb1

LECTURE = 1 / math.sqrt(2)  # its example has √(ln n / nⱼ), without the 2


@pytest.mark.parametrize(
    ("wins", "visits", "bound"),
    [(7, 10, 1.252), (5, 8, 1.243), (0, 3, 1.007), (4 - 2, 4, 1.372), (6 - 5, 6, 0.879), (1, 3, 1.341), (1, 1, 2.745)],
)
def test_bounds_of_the_lecture(wins, visits, bound):
    """All with the root's 21 visits; White's wins are what Black did not win. (It prints 1.243 for 1.2419.)"""
    assert ucb1(wins / visits, visits, 21, LECTURE) == pytest.approx(bound, abs=0.0012)


def lecture_tree():
    """The example's path: root, Black's 7/10, White's answer 2/4, Black's 1/1, and a new leaf of White's."""
    nodes = np.zeros(5, NODE).view(np.recarray)
    for node, (mover, wins, visits) in enumerate([(1, 0, 21), (0, 7, 10), (1, 2, 4), (0, 1, 1), (1, 0, 0)]):
        nodes[node].mover, nodes[node].wins, nodes[node].visits = mover, wins, visits
    return nodes


def test_backup_of_the_lecture():
    """The simulated game is lost for Black: every ancestor has one visit more, and Black's nodes no win more."""
    nodes = lecture_tree()
    backup(nodes, np.arange(5, dtype=np.int32), 5, 2)
    assert nodes.visits.tolist() == [22, 11, 5, 2, 1]
    assert nodes.wins.tolist() == [1, 7, 3, 1, 1]


def test_selection_of_the_lecture():
    """Of 7/10, 5/8 and 0/3 the first is chosen."""
    nodes = np.zeros(4, NODE).view(np.recarray)
    nodes[ROOT].visits, nodes[ROOT].first_child = 21, 1
    for node, (wins, visits) in enumerate([(7, 10), (5, 8), (0, 3)], start=1):
        nodes[node].wins, nodes[node].visits, nodes[node].sibling = wins, visits, (node + 1) % 4
    assert best_child(nodes, ROOT, LECTURE) == 1


def test_choices_and_proofs_are_true():
    """On random tic-tac-toe positions UCT plays perfectly, proves every win and loss, and no proof is wrong."""
    game, rng, known = load_game("tictactoe"), random.Random(1), {}
    for _ in range(60):
        position = game.start()
        for _ in range(rng.randrange(7)):
            if position.outcome is None:
                position = position.play(rng.choice(position.legal_actions))
        if position.outcome is not None:
            continue
        value = plain_value(position, known)
        decision = Uct(game).search(position, Limit(playouts=20_000))
        assert -plain_value(position.play(decision.action), known) == value
        assert decision.note == "proven" or value == 0
        assert decision.value == pytest.approx(value, abs=0 if decision.note else 0.3)


@pytest.mark.parametrize(
    ("spec", "value"),
    [("mnk:m=4,n=3,k=3", 1), ("mnk:m=4,n=4,k=3", 1), ("reversi:size=4", -1)],
)
def test_small_games_are_solved(spec, value):
    start = load_game(spec).start()
    decision = Uct(start.game).search(start, Limit(playouts=3_000_000))
    assert decision.note == "proven"
    assert decision.value == value


def test_wins_and_blocks():
    game = load_game("gomoku:size=9")
    win = game.from_moves("e5 a1 e6 a2 e7 a3 e8 a4")
    assert game.action_text(Uct(game).search(win, Limit(playouts=5000)).action) in ("e9", "e4", "a5")
    block = game.from_moves("e5 a1 e6 a2 e7 c3 e8")
    decision = Uct(game).search(block, Limit(playouts=20_000))
    assert decision.value < -0.2  # two open ends: lost, and known to be


def check_tree(tree, position, node=ROOT, depth=0):
    """Children are legal, each once; visits and wins add up."""
    children = tree.children(node)
    actions = [int(tree.nodes[child]["action"]) for child in children]
    assert sorted(set(actions)) == sorted(actions)
    assert set(actions) <= set(position.legal_actions)
    assert len(children) == tree.nodes[node]["tried"] <= max(tree.nodes[node]["count"], 0)
    below = sum(int(tree.nodes[child]["visits"]) for child in children)
    assert below <= tree.nodes[node]["visits"]
    if depth < 3:
        for child, action in zip(children, actions, strict=True):
            assert tree.nodes[child]["mover"] == position.to_play
            check_tree(tree, position.play(action), child, depth + 1)


@pytest.mark.parametrize("spec", ["tictactoe", "gomoku:size=7", "reversi", "go:size=5"])
def test_the_tree_is_kept_between_moves(spec):
    game = load_game(spec)
    search, position = Uct(game), game.start()
    for _ in range(4):
        decision = search.search(position, Limit(playouts=3000))
        check_tree(search.trees[0], position)
        if decision.note == "proven":
            break
        reply = search.trees[0].principal_variation()[1]
        expected = [int(search.trees[0].nodes[n]["visits"]) for n in search.trees[0].children()]
        position = position.play(decision.action).play(reply)
        if position.outcome is not None:
            break
        search.trees[0].move_to(position)
        kept = int(search.trees[0].nodes[ROOT]["visits"])
        assert 0 < kept < max(expected)
        check_tree(search.trees[0], position)


def test_another_game_starts_anew():
    game = load_game("gomoku:size=7")
    search = Uct(game)
    search.search(game.from_moves("a1"), Limit(playouts=500))
    search.search(game.from_moves("b1"), Limit(playouts=500))
    assert search.trees[0].nodes[ROOT]["visits"] == 500


def test_same_seed_same_decision():
    start = load_game("gomoku:size=9").start()
    one, other = (Uct(start.game, seed=5).search(start, Limit(playouts=2000)) for _ in range(2))
    assert one.policy == other.policy
    assert one.policy != Uct(start.game, seed=6).search(start, Limit(playouts=2000)).policy


def test_limits():
    start = load_game("gomoku").start()
    assert Uct(start.game).search(start, Limit(playouts=777)).nodes == 777
    assert Uct(start.game).search(start, Limit(nodes=555, simulations=600)).nodes == 555
    shallow = Uct(load_game("tictactoe")).search(load_game("tictactoe").start(), Limit(depth=2))
    assert shallow.nodes == 1000
    assert shallow.depth == 2
    with pytest.raises(BadParameter, match="time=-1: a limit is more than zero"):
        Limit(time=-1)


def test_the_limit_of_time_is_kept_and_used(monkeypatch):
    """On a machine that makes 50,000 playouts a second, whatever else this one has to do."""
    start, made, run = load_game("gomoku").start(), [], uct.run
    search = Uct(start.game, threads=2)

    def work(*arguments):
        done, seed = run(*arguments)
        made.append(done)
        return done, seed

    monkeypatch.setattr(uct, "run", work)
    monkeypatch.setattr(limits, "clock", SimpleNamespace(perf_counter=lambda: sum(made) / 50_000))
    timed = search.search(start, Limit(time=0.3))
    assert 0.3 <= timed.seconds < 0.32
    assert 15_000 <= timed.nodes < 16_000


def test_a_full_tree_keeps_playing_and_says_so():
    start = load_game("gomoku").start()
    search = Uct(start.game, memory=1)
    decision = search.search(start, Limit(playouts=60_000))
    assert decision.nodes == 60_000
    assert "the tree is full" in decision.note
    assert sum(tree.nodes.nbytes + tree.spare.nbytes for tree in search.trees) <= 2**20
    assert decision.action in start.legal_actions


def test_threads_agree_on_a_win():
    position = load_game("gomoku:size=9").from_moves("e5 a1 e6 a2 e7 c3")
    decision = Uct(position.game, threads=2).search(position, Limit(time=2))
    assert decision.value > 0.8
