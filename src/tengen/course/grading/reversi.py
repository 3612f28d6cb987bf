"""The assignment MiniAlphaGo: Reversi's rules, and a player that beats chance."""

from __future__ import annotations

import random

from tengen.course.grading.questions import Assignment, Question, expect
from tengen.course.grading.sandbox import StudentCode, Wrong
from tengen.games import load_game
from tengen.rules.game import Position

GAMES, SECONDS, PATIENCE = 4, 0.05, 2.0
STARTER = '''"""MiniAlphaGo for Reversi.

A board is a list of 64 cells, row by row from the top: 0 free, 1 Black, 2 White.
"""


def legal(board, player):
    """The cells where a player may move, in ascending order; none if the player must pass."""
    raise NotImplementedError


def play(board, cell, player):
    """The board after a move, as a new list."""
    raise NotImplementedError


def choose(board, player, seconds):
    """The cell of a move, thought over for so many seconds. It is only asked where there is one."""
    raise NotImplementedError
'''


def cells_of(position: Position) -> list[int]:
    """The legal moves that are cells; a pass is none."""
    return [int(action) for action in position.legal_actions if action < position.game.cells]


def board_of(position: Position) -> list[int]:
    return [int(mark) for mark in position.board.ravel()]


def positions(count: int, seed: int) -> list[Position]:
    """Positions of random games that are not over."""
    rng = random.Random(seed)
    found: list[Position] = []
    while len(found) < count:
        position = load_game("reversi").start()
        for _ in range(rng.randint(0, 50)):
            if position.outcome is None:
                position = position.play(rng.choice(list(position.legal_actions)))
        if position.outcome is None:
            found.append(position)
    return found


def judge_legal(code: StudentCode) -> None:
    for position in positions(25, 10):
        board, player = board_of(position), position.to_play + 1
        expect(code.call("legal", board, player), cells_of(position), f"legal for {player} on\n{position.diagram()}\n")


def judge_play(code: StudentCode) -> None:
    rng = random.Random(12)
    for position in positions(25, 11):
        if moves := cells_of(position):
            cell, player = rng.choice(moves), position.to_play + 1
            answer = code.call("play", board_of(position), cell, player)
            expect(answer, board_of(position.play(cell)), f"{player} plays {cell} on\n{position.diagram()}\n")


def ask_move(code: StudentCode, position: Position) -> int:
    cell = code.call("choose", board_of(position), position.to_play + 1, SECONDS, seconds=PATIENCE)
    if type(cell) is not int or cell not in cells_of(position):
        raise Wrong(f"choose: {cell!r} is not legal for {position.to_play + 1} on\n{position.diagram()}")
    return cell


def judge_choice(code: StudentCode) -> None:
    for position in positions(15, 13):
        if cells_of(position):
            ask_move(code, position)


def judge_games(code: StudentCode) -> None:
    """Against random moves, from both sides: three wins of four."""
    rng, won = random.Random(14), 0
    for number in range(GAMES):
        position, own = load_game("reversi").start(), number % 2
        while position.outcome is None:
            if position.to_play == own and cells_of(position):
                position = position.play(ask_move(code, position))
            else:
                position = position.play(rng.choice(list(position.legal_actions)))
        won += position.outcome.value_for(own) > 0
    if won < GAMES - 1:
        raise Wrong(f"it won {won} of {GAMES} games against random moves; {GAMES - 1} are asked for")


MINI_ALPHAGO = Assignment(
    "minialphago",
    "Reversi's rules, and a player that beats chance",
    STARTER,
    (
        Question("legal moves", 3, judge_legal),
        Question("discs are flipped", 3, judge_play),
        Question("it moves legally and in time", 1, judge_choice),
        Question("it beats random moves", 3, judge_games),
    ),
)
