"""The example of Ataxx beside published counts and a slow judge."""

import random
from pathlib import Path

import numpy as np
import pytest

import tengen
from tengen.rules.errors import BadMove, IllegalMove
from tengen.rules.playouts import perft

ATAXX = str(Path(__file__).parent.parent.parent / "examples" / "ataxx.py")
COUNTS = [  # Fairy-Stockfish, `UCI_Variant ataxx`; X is White there
    ("X.....O/......./......./......./......./......./O.....X", [16, 256, 6460, 155888, 4752668]),
    ("XOO..../OOO..../OOO..../......./......./......./.......", [1, 55, 55, 1961]),
    ("X.....O/......./......./...X.../......./......./O.....X", [40, 618, 25026]),
    ("...O.../......./......./...X.../......./......./...O...", [24, 574, 13590, 386878]),
    ("XOXOXOX/OXOXOXO/......./......./......./......./...X...", [54, 1943, 104864]),
]


@pytest.mark.parametrize(("diagram", "counts"), COUNTS)
def test_published_counts(diagram, counts):
    position = tengen.load_game(ATAXX).from_board(diagram, "X")
    assert [perft(position, depth + 1) for depth in range(len(counts))] == counts


@pytest.mark.parametrize("size", [4, 7])
def test_it_is_sound(size):
    report = tengen.check(f"{ATAXX}:size={size}", games=4)
    assert report.ok, report.problems


def plain_moves(stones, size, player):
    """What leads where: {(origin or None, target): stones after it}, with a board of {cell: player}."""
    cells, found = [(y, x) for y in range(size) for x in range(size)], {}
    for target in cells:
        for origin in [cell for cell in cells if stones.get(cell) == player and target not in stones]:
            distance = max(abs(origin[0] - target[0]), abs(origin[1] - target[1]))
            if distance > 2:
                continue
            after = {**stones, target: player}
            if distance == 2:
                del after[origin]
            for cell in after:
                if max(abs(cell[0] - target[0]), abs(cell[1] - target[1])) == 1:
                    after[cell] = player
            found[origin if distance == 2 else None, target] = after
    return found


@pytest.mark.parametrize(("size", "games"), [(5, 6), (7, 2)])
def test_the_same_games_as_the_judge(size, games):
    game, rng = tengen.load_game(f"{ATAXX}:size={size}"), random.Random(size)
    for _ in range(games):
        position = game.start()
        stones = {(int(y), int(x)): int(position.board[y, x]) - 1 for y, x in np.argwhere(position.board)}
        while position.outcome is None:
            theirs = plain_moves(stones, size, position.to_play)
            ours = [game.parameters.from_to(action) for action in position.legal_actions]
            cells = [cells and tuple(None if cell is None else divmod(cell, size) for cell in cells) for cells in ours]
            assert set(cells) == (set(theirs) or {None}), position
            pick = rng.randrange(len(ours))
            stones = theirs.get(cells[pick], stones)
            position = position.play(position.legal_actions[pick])
            board = np.zeros((size, size), np.int8)
            for cell, player in stones.items():
                board[cell] = player + 1
            assert np.array_equal(position.board, board)
        margin = sum(1 - 2 * player for player in stones.values())
        if position.state.jumps < 100:
            assert position.outcome.score == margin


def test_a_stone_turns_its_neighbours():
    game = tengen.load_game(f"{ATAXX}:size=4")
    position = game.from_board("XO../.O../..../...O", "X")
    after = position.play("a3")
    assert after.diagram() == "XX../XX../..../...O"
    after = position.play("a4-c4")
    assert after.diagram() == ".XX./.X../..../...O"


def test_names_of_moves():
    game = tengen.load_game(ATAXX)
    position = game.from_moves("b7 g7-e5")
    assert [position.game.action_text(action) for action in position.moves] == ["b7", "g7-e5"]
    with pytest.raises(BadMove, match="'a1-d4' is not a move; write c3 to grow into c3, a1-c3 to jump there"):
        game.parse_action("a1-d4")
    with pytest.raises(IllegalMove):
        game.start().play("d4")


def test_jumps_alone_are_a_draw():
    position = tengen.load_game(ATAXX).start()
    for _ in range(25):
        for move in ("a7-a5", "g7-g5", "a5-a7", "g5-g7"):
            assert position.outcome is None
            position = position.play(move)
    assert position.outcome.winner is None
