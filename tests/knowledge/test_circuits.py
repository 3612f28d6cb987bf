"""Hex's evaluation: who is said to be linked wins indeed; circuits; the first moves of small boards."""

import json
import random
import subprocess
import sys

import pytest
from judges import PlainHex, assess_position, random_position

from tengen import load_game
from tengen.knowledge.evaluations import evaluation_for
from tengen.knowledge.hex import circuit_for, is_linked
from tengen.rules.kernels import entry
from tengen.search.alphabeta import AlphaBeta
from tengen.search.evaluation import Plain
from tengen.search.limits import Limit

WINNING = {  # without the swap: Red's first moves, rows from the top
    3: "..X/XXX/X..",
    4: "...X/..X./.X../X...",
    5: "....X/.XXXX/.XXX./XXXX./X....",
    # the solver of the University of Alberta says so, too: regression/dfs-solve-6x6.tst of Benzene
    6: ".....X/.XXXXX/XXXXXX/XXXXXX/XXXXX./X.....",
}


@entry
def linked(game, evaluation, states, player):
    return is_linked(evaluation.scratch[0], game.size, states[0], player)


def is_said_to_be_linked(position, player):
    return bool(linked(position.game.parameters, circuit_for(), position.states, player))


@pytest.mark.parametrize("size", [3, 4])
def test_who_is_linked_wins_though_the_other_is_to_move(size):
    game, rng = load_game(f"hex:size={size},swap=0"), random.Random(size)
    search, seen = AlphaBeta(game, Plain(), memory=16), [0, 0]
    for _ in range(300):
        position = random_position(game, rng, rng.randint(1, size * size - 4))
        other = 1 - position.to_play
        if is_said_to_be_linked(position, other):
            seen[other] += 1
            assert search.prove(position, Limit()).value == -1, position
    assert min(seen) > 5


@pytest.mark.parametrize(
    ("rows", "player", "expected"),
    [
        ("..../.X../..../....", 0, False),  # linked to the top alone
        ("..../..X./.X../....", 0, True),
        ("..../..X./...X/....", 0, True),
        ("..../...X/..../..X.", 0, False),  # at the right edge there is one way up
        ("..../X.../...X/....", 0, False),
        ("..../.O../..../..O.", 1, False),
        ("..../..O./.O../....", 1, True),
        ("...../..X../...../.X.../.....", 0, True),  # three bridges
        ("...../..X../..O../.X.../.....", 0, False),
        ("...../..X../.O.../X..../.....", 0, False),
        ("X..../X..../X..../X..../X....", 0, True),
    ],
)
def test_bridges(rows, player, expected):
    size = rows.count("/") + 1
    position = load_game(f"hex:size={size},swap=0").from_board(rows, 1)
    assert is_said_to_be_linked(position, player) == expected


def test_bridges_share_no_cell():
    """Two bridges to the bottom, one from each stone, need one cell both; that is a link to neither side more."""
    for seed in range(200):
        rng = random.Random(seed)
        position = random_position(load_game("hex:size=5,swap=0"), rng, rng.randint(4, 14))
        for player in (0, 1):
            if is_said_to_be_linked(position, player):
                assert survives_cutting(position, player, rng)


def survives_cutting(position, player, rng):
    """Whether a player still wins where the other plays at random, and any cell that keeps the link is an answer."""
    plain = PlainHex(position.game.parameters.size)
    plain.stones = {cell: int(stone) - 1 for cell, stone in enumerate(position.board.flat) if stone}
    while plain.winner() is None:
        free = [cell for cell in plain.legal() if cell not in plain.stones]
        plain.stones[rng.choice(free)] = 1 - player
        if plain.winner() is not None:
            break
        for cell in [cell for cell in free if cell not in plain.stones]:
            plain.stones[cell] = player
            text = "/".join("".join(".XO"[value] for value in row) for row in plain.board())
            if plain.winner() == player or is_said_to_be_linked(position.game.from_board(text, 1 - player), player):
                break
            del plain.stones[cell]
        else:
            return False
    return plain.winner() == player


def test_circuits_are_fair():
    """Nobody is ahead on an empty board; mirrored, with colours changed, a position is as good for the other."""
    game, rng = load_game("hex:size=7,swap=0"), random.Random(5)
    evaluation = evaluation_for(game)
    assert assess_position(game.start(), evaluation)[0] == 0
    for _ in range(40):
        position = random_position(game, rng, rng.randint(1, 20))
        board = (position.board.T * 2) % 3
        text = "/".join("".join(".XO"[value] for value in row) for row in board)
        mirrored = game.from_board(text, 1 - position.to_play)
        here, there = (assess_position(one, evaluation)[0] for one in (position, mirrored))
        assert abs(here - there) <= 2 + abs(here) // 50  # a short circuit is never told exactly


def test_a_stone_in_the_middle_is_worth_more_than_one_in_the_corner():
    game = load_game("hex:size=9,swap=0")
    middle, corner = (assess_position(game.from_moves(move), evaluation_for(game))[0] for move in ("e5", "a1"))
    assert middle < corner < 0  # for Blue


def test_a_threat_must_be_answered():
    """Red threatens to link in several ways: only what answers all of them is looked at."""
    game = load_game("hex:size=5,swap=0")
    position = game.from_board("...../..X../...../...../.....", "O")
    _, actions, _ = assess_position(position, evaluation_for(game))
    assert 0 < len(actions) < len(position.legal_actions)
    winning = game.from_board("...../..X../...../.X.../.....", "X")
    assert len(assess_position(winning, evaluation_for(game))[1]) <= len(winning.legal_actions)


def first_moves(size, search):
    """Which first moves win, without the swap."""
    game = search.game
    marks = []
    for cell in range(game.cells):
        value = search.prove(game.start().play(cell), Limit()).value
        assert value in (-1, 1)
        marks.append(".X"[value == -1])
    return "/".join("".join(marks[row : row + size]) for row in range(0, game.cells, size))


@pytest.mark.parametrize("size", [3, 4])
def test_first_moves_by_brute_force(size):
    """A search that knows the rules alone agrees with the table."""
    search = AlphaBeta(load_game(f"hex:size={size},swap=0"), Plain(), memory=64)
    assert first_moves(size, search) == WINNING[size]


@pytest.mark.parametrize("size", [3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_first_moves(size):
    game = load_game(f"hex:size={size},swap=0")
    assert first_moves(size, AlphaBeta(game, evaluation_for(game, width=0), memory=64)) == WINNING[size]


@pytest.mark.long
def test_first_moves_on_6x6():
    """Those that a few million positions are enough for."""
    game = load_game("hex:size=6,swap=0")
    search, solved = AlphaBeta(game, evaluation_for(game, width=0), memory=512), 0
    for cell in range(18):  # the others are these, upside down
        value = search.prove(game.start().play(cell), Limit(nodes=5_000_000)).value
        expected = -1 if WINNING[6].replace("/", "")[cell] == "X" else 1
        assert value in (None, expected), game.action_text(cell)
        solved += value is not None
    print(f"{solved} of 18 solved")


@pytest.mark.parametrize("size", WINNING)
def test_what_is_published_of_all_sizes(size):
    """a1 and b1 lose (HexWiki, Swap rule); the middle of an odd board wins; upside down the board is the same."""
    rows = WINNING[size].split("/")
    assert rows[0][0] == rows[0][1] == "."
    assert size % 2 == 0 or rows[size // 2][size // 2] == "X"
    assert WINNING[size] == WINNING[size][::-1]


def test_solve():
    command = [sys.executable, "-m", "tengen", "solve", "hex:size=4,swap=0", "--json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert answer["proven"] and answer["value"] == 1 and answer["action"] in ("d1", "c2", "b3", "a4")
    swapped = [*command[:4], "hex:size=4", "--json"]
    answer = json.loads(subprocess.run(swapped, check=True, capture_output=True, text=True).stdout)
    assert answer["proven"] and answer["value"] == -1  # whatever Red plays, Blue takes it or leaves it
