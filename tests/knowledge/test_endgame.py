"""Exact endgames: published positions, a plain search as judge, every window, every refinement on and off."""

import os
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tengen import load_game
from tengen.knowledge import endgame
from tengen.knowledge.endgame import (
    AGE,
    ENTRY,
    EXACT,
    OUTCOME,
    VALUE,
    BoardMasks,
    Endgame,
    Thresholds,
    begin,
    find,
    proceed,
    remember,
    stable_discs,
)
from tengen.rules.errors import BadParameter
from tengen.search import limits
from tengen.search.limits import Limit

GOLDEN = Path(__file__).parent.parent / "golden"
NEVER = 99  # more empty cells than there are: a refinement is off
WITHOUT = {name: Thresholds(**{name: NEVER}) for name in Thresholds._fields}
PLAIN = Thresholds(*[NEVER] * len(Thresholds._fields))
DIRECTIONS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]


def plain_flips(board, cell, player):
    """The cells that a disc on `cell` flips: walk in every direction until a disc of one's own."""
    size, flips = len(board), []
    for down, right in DIRECTIONS:
        y, x, run = cell[0] + down, cell[1] + right, []
        while 0 <= y < size and 0 <= x < size and board[y][x] == 3 - player:
            run.append((y, x))
            y, x = y + down, x + right
        if 0 <= y < size and 0 <= x < size and board[y][x] == player:
            flips += run
    return flips


def plain_score(board, player, award, has_passed=False):
    """The score for `player` (1 or 2), who is to move: all moves, to the end, no cuts."""
    size, best = len(board), None
    empty = [(y, x) for y in range(size) for x in range(size) if board[y][x] == 0]
    for cell in empty:
        if flips := plain_flips(board, cell, player):
            after = [row[:] for row in board]
            for y, x in [*flips, cell]:
                after[y][x] = player
            score = -plain_score(after, 3 - player, award)
            best = score if best is None else max(best, score)
    if best is not None:
        return best
    if not has_passed:
        return -plain_score(board, 3 - player, award, True)
    margin = sum(row.count(player) - row.count(3 - player) for row in board)
    return margin + award * len(empty) * ((margin > 0) - (margin < 0))


def played_position(game, empties, chance):
    """A position with so many empty cells at most, from a random game."""
    position = game.start()
    while (position.board == 0).sum() > empties and position.outcome is None:
        position = position.play(chance.choice(position.legal_actions))
    return position


def scattered_position(game, empties, chance):
    """Discs at random, one side perhaps with few of them: passes and early ends are common."""
    share, cells = chance.choice([0.1, 0.3, 0.5, 0.7, 0.9]), game.cells
    discs = ["X" if chance.random() < share else "O" for _ in range(cells)]
    for cell in chance.sample(range(cells), empties):
        discs[cell] = "."
    size = game.shape[0]
    rows = ["".join(discs[i : i + size]) for i in range(0, cells, size)]
    return game.from_board("/".join(rows), chance.choice("XO"))


def random_positions(game, count, empties, seed):
    """Positions that are not over, of both kinds in turn."""
    chance = random.Random(seed)
    while count > 0:
        make = played_position if count % 2 else scattered_position
        position = make(game, chance.randint(*empties), chance)
        if position.outcome is None:
            count -= 1
            yield position


def search(solver, position, goal=EXACT, moves_at_once=2**40):
    """The kernels as an agent uses them: the value of a window."""
    game, arrays = solver.game.parameters, solver.arrays
    begin(game, position.states, arrays, *goal)
    while not proceed(game, arrays, solver.board, solver.refinements, moves_at_once):
        pass
    return int(arrays.status[VALUE])


def published(name):
    """The problems of a file: position, and the score of every legal move."""
    game = load_game("reversi")
    for line in (GOLDEN / name).read_text().splitlines():
        board, rest = line.split(" ", 1)
        side, *scores = [part.strip() for part in rest.split(";") if part.strip()]
        diagram = "/".join(board[i : i + 8] for i in range(0, 64, 8)).replace("-", ".")
        pairs = [score.split(":") for score in scores]
        yield game.from_board(diagram, side), {game.parse_action(move): int(score) for move, score in pairs}


@pytest.fixture(scope="module")
def solver():
    return Endgame(load_game("reversi"), memory=64, award=True)


@pytest.mark.parametrize("award", [False, True])
@pytest.mark.parametrize("size", [4, 6, 8])
def test_the_plain_search_agrees(size, award):
    """Exact if alpha < v < beta; v <= alpha is an upper bound, v >= beta a lower bound."""
    game, chance = load_game(f"reversi:size={size}"), random.Random(size)
    solver = Endgame(game, memory=1, award=award)
    for position in random_positions(game, 400, (1, 6), seed=size):
        truth = plain_score(position.board.tolist(), position.to_play + 1, award)
        windows = [EXACT, OUTCOME, (truth - 1, truth), (truth, truth + 1), (truth - 1, truth + 1)]
        windows += [tuple(sorted(chance.sample(range(-65, 66), 2))) for _ in range(5)]
        chance.shuffle(windows)
        for alpha, beta in windows:
            value = search(solver, position, (alpha, beta))
            if alpha < value < beta:
                assert value == truth, (position, alpha, beta)
            elif value <= alpha:
                assert truth <= value, (position, alpha, beta)
            else:
                assert truth >= value, (position, alpha, beta)


@pytest.mark.parametrize("size", [4, 6, 8])
def test_all_refinements_give_the_same_values(size):
    """Each left out in turn, all left out, and a table of four entries that are always being replaced."""
    game = load_game(f"reversi:size={size}")
    solvers = [Endgame(game, memory=1, refinements=kept) for kept in (Thresholds(), PLAIN, *WITHOUT.values())]
    solvers += [Endgame(game, memory=1e-6), Endgame(game, memory=0.01)]
    assert len(solvers[-2].arrays.table) == 4
    for position in random_positions(game, 60, (8, 12), seed=size):
        for goal in (EXACT, OUTCOME, (3, 8)):
            values = [search(solver, position, goal) for solver in solvers]
            inside = {min(max(value, goal[0]), goal[1]) for value in values}
            assert len(inside) == 1, (position, goal, values)


def test_slices_do_not_change_a_search():
    game = load_game("reversi")
    for position in random_positions(game, 20, (8, 12), seed=3):
        whole, sliced = Endgame(game, memory=1), Endgame(game, memory=1)
        assert search(whole, position) == search(sliced, position, moves_at_once=1)
        assert whole.arrays.counts[0] == sliced.arrays.counts[0]
        assert whole.arrays.frames[0]["best_move"] == sliced.arrays.frames[0]["best_move"]


def test_bounds_in_the_table_are_true():
    """Of every entry that a search has left, by a solver without a table."""
    game = load_game("reversi:size=6")
    solver, judge = Endgame(game, memory=0.1), Endgame(game, memory=1e-6, refinements=WITHOUT["table"])
    position = next(random_positions(game, 1, (13, 13), seed=5))
    search(solver, position)
    entries = solver.arrays.table[solver.arrays.table["empties"] > 0]
    assert len(entries) > 100
    for entry in entries[:500]:
        frame = judge.arrays.frames[0]
        begin(game.parameters, position.states, judge.arrays, *EXACT)
        frame["own"], frame["other"] = entry["own"], entry["other"]
        assert proceed(game.parameters, judge.arrays, judge.board, judge.refinements, 2**40)
        assert entry["lower"] <= judge.arrays.status[VALUE] <= entry["upper"]


def test_the_table_keeps_what_is_worth_more():
    """Bounds of one position get narrower; a full bucket loses old entries first, then those nearest to the end."""
    table = np.zeros(4, ENTRY).view(np.recarray)
    words = np.arange(10, dtype=np.uint64)
    for word, empties, age in [(1, 20, 1), (2, 9, 2), (3, 12, 2), (4, 10, 2)]:
        remember(table, words[word], words[0], empties, -4, 6, 7, age)
    remember(table, words[3], words[0], 12, 0, 20, 8, 2)
    entry = table[find(table, words[3], words[0])]
    assert (entry.lower, entry.upper, entry.move) == (0, 6, 8)
    for word, lost in [(5, 1), (6, 2)]:
        remember(table, words[word], words[0], 11, -4, 6, 7, 2)
        assert find(table, words[lost], words[0]) == -1
        assert find(table, words[word], words[0]) >= 0


@pytest.mark.parametrize("size", [4, 6, 8])
def test_stable_discs_stay(size):
    """No random game from a position flips one; corners are always stable."""
    game, board, chance = load_game(f"reversi:size={size}"), BoardMasks.of_size(size, False), random.Random(size)
    solver, seen = Endgame(game, memory=1e-6), 0
    for position in random_positions(game, 60, (2, size * 2), seed=size):
        begin(game.parameters, position.states, solver.arrays, *EXACT)
        frame = solver.arrays.frames[0]
        own, other = frame["own"], frame["other"]
        stable = int(stable_discs(own, board.playable & ~(own | other), board))
        assert stable & ~int(own) == 0
        assert int(own & board.sides & board.ends) & ~stable == 0
        seen += stable.bit_count()
        player, after = position.to_play, position
        while after.outcome is None:
            after = after.play(chance.choice(after.legal_actions))
        begin(game.parameters, after.states, solver.arrays, *EXACT)
        end = solver.arrays.frames[0]["own" if after.to_play == player else "other"]
        assert stable & ~int(end) == 0
    assert seen > 60


def test_ffo_1_to_19(solver):
    """Every legal move's score, with the empty cells for the winner; then the best of them."""
    for position, scores in published("fforum-1-19.obf"):
        for action, score in scores.items():
            after = position.play(action)
            sign = -1 if after.to_play != position.to_play else 1
            assert search(solver, after) == sign * score
        decision = solver.search(position, Limit())
        assert decision.note == f"exact score {max(scores.values()):+d}"
        assert scores[decision.action] == max(scores.values())


def test_the_line_leads_to_the_score():
    for size, empties in ((4, 11), (6, 14), (8, 14)):
        game = load_game(f"reversi:size={size}")
        solver = Endgame(game, memory=0.05)
        for position in random_positions(game, 25, (3, empties), seed=size):
            decision, after = solver.search(position, Limit()), position
            for action in decision.principal_variation:
                after = after.play(action)
            score = after.outcome.score if position.to_play == 0 else -after.outcome.score
            assert decision.note == f"exact score {int(score):+d}"
            assert decision.value == after.outcome.value_for(position.to_play)
            assert decision.action == decision.principal_variation[0]


def test_4x4_from_the_start():
    game = load_game("reversi:size=4")
    decision = Endgame(game, memory=1).search(game.start(), Limit())
    assert (decision.value, decision.note, decision.depth) == (-1.0, "exact score -8", 12)
    assert Endgame(game, memory=1, award=True).search(game.start(), Limit()).note == "exact score -10"


def test_goals(solver):
    """The first problem is +18: bounds say what they show, and no more."""
    position, _ = next(published("fforum-1-19.obf"))
    win = solver.search(position, Limit(), goal=OUTCOME)
    assert win.value == 1.0 and win.note.startswith("score at least +")
    low = solver.search(position, Limit(), goal=(20, 30))
    assert low.value is None and low.note.startswith("score at most +")
    assert solver.search(position, Limit(), goal=(17, 19)).note == "exact score +18"


@pytest.fixture
def clocked(monkeypatch):
    """A machine that makes a million moves a second, whatever else this one has to do."""
    now = [0.0]

    def work(game, arrays, *rest):
        is_finished = proceed(game, arrays, *rest)
        now[0] += int(arrays.counts[0]) / 1e6
        return is_finished

    monkeypatch.setattr(endgame, "proceed", work)
    monkeypatch.setattr(limits, "clock", SimpleNamespace(perf_counter=lambda: now[0]))


def test_limits_are_kept(clocked):
    *_, (position, scores) = published("fforum-40-49.obf")
    solver = Endgame(position.game, memory=64, award=True)
    solver.search(position, Limit(nodes=1))
    for limit in (Limit(time=0.02), Limit(time=0.2), Limit(nodes=10_000), Limit(depth=12)):
        decision = solver.search(position, limit)
        assert decision.action in scores
        assert decision.note.startswith("not proven") and decision.value in (None, 1.0)
        assert (limit.time or 0) <= decision.seconds < (limit.time or 0.2) + 0.015
        assert decision.nodes < (limit.nodes or 10**9) + 15_000
    assert solver.arrays.status[AGE] == 6
    decision = solver.search(position.game.start(), Limit(time=0.1))  # sixty empty cells
    assert 0.1 <= decision.seconds < 0.115 and decision.note == "not proven"


def test_what_cannot_be_solved_is_refused():
    with pytest.raises(BadParameter, match="no exact endgames"):
        Endgame(load_game("connect4"))
    with pytest.raises(BadParameter, match="more than zero"):
        Endgame(load_game("reversi"), memory=0)
    solver = Endgame(load_game("reversi"), memory=1)
    with pytest.raises(BadParameter, match="not over"):
        solver.search(load_game("reversi:size=4").start(), Limit())
    with pytest.raises(BadParameter, match="window"):
        solver.search(load_game("reversi").start(), Limit(), goal=(3, 3))


def test_without_the_compiler():
    """The same kernels as plain Python."""
    code = """
from tengen import load_game
from tengen.knowledge.endgame import Endgame
from tengen.search.limits import Limit
game = load_game("reversi:size=4")
position = game.from_moves("b1 a1 a2 c1")
print(Endgame(game, memory=0.1).search(position, Limit()).note)
"""
    game = load_game("reversi:size=4")
    compiled = Endgame(game, memory=0.1).search(game.from_moves("b1 a1 a2 c1"), Limit()).note
    settings = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    answer = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == compiled == "exact score -8"


@pytest.mark.long
def test_6x6_from_the_start():
    """The second player wins by four. All first moves are alike by symmetry, so one of them stands for all."""
    game = load_game("reversi:size=6")
    solver, position = Endgame(game), game.start().play("c2")
    for goal, value in ((OUTCOME, "at least"), (EXACT, "exact score +4")):
        decision = solver.search(position, Limit(), goal=goal)
        print(f"6×6: {decision.note}, {decision.nodes:,} nodes, {decision.seconds:.0f} s")
        assert value in decision.note and decision.value == 1.0


@pytest.mark.long
def test_ffo_40_to_44():
    """Twenty to twenty-three empty cells: each within a minute on one core."""
    for number, (position, scores) in enumerate(list(published("fforum-40-49.obf"))[:5], start=40):
        solver = Endgame(position.game, award=True)
        decision = solver.search(position, Limit())
        speed = decision.nodes / decision.seconds / 1e6
        print(f"FFO {number}: {decision.depth} empty, {decision.note}, {decision.nodes:,} nodes, ", end="")
        print(f"{decision.seconds:.1f} s, {speed:.1f} million nodes a second")
        assert decision.note == f"exact score {max(scores.values()):+d}"
        assert scores[decision.action] == max(scores.values())
        assert decision.seconds < 60
