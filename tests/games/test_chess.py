"""Chess beside python-chess: legal moves, FEN, SAN and outcomes; beside published counts; and what goes wrong."""

from __future__ import annotations

import chess
import numpy as np
import pytest

import tengen
from tengen.games.chess import long_text
from tengen.rules.check import check
from tengen.rules.errors import BadDiagram, BadMove, IllegalMove
from tengen.rules.playouts import perft

GAME = tengen.load_game("chess")
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
COUNTS = [  # published; the deepest are in the long suite
    (chess.STARTING_FEN, [20, 400, 8902, 197281, 4865609]),
    (KIWIPETE, [48, 2039, 97862, 4085603]),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", [14, 191, 2812, 43238, 674624, 11030083]),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", [6, 264, 9467, 422333]),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", [44, 1486, 62379, 2103487]),
    (
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        [46, 2079, 89890, 3894594],
    ),
]


@pytest.mark.parametrize(("fen", "counts"), COUNTS)
def test_published_counts(fen, counts):
    position = GAME.from_board(fen)
    assert [perft(position, depth) for depth in range(1, len(counts) + 1)] == counts


@pytest.mark.long
@pytest.mark.parametrize(("fen", "depth", "count"), [(chess.STARTING_FEN, 6, 119_060_324), (KIWIPETE, 5, 193_690_690)])
def test_published_counts_further_on(fen, depth, count):
    assert perft(GAME.from_board(fen), depth) == count


def result_of(board):
    """How python-chess ends a game by our rules: a draw needs no claim."""
    if board.is_checkmate():
        return "second" if board.turn == chess.WHITE else "first"
    is_drawn = board.is_stalemate() or board.is_insufficient_material()
    return "draw" if is_drawn or board.is_repetition(3) or board.is_fifty_moves() else None


def own_result(position):
    end = position.outcome
    return None if end is None else "draw" if end.winner is None else ("first", "second")[end.winner]


def compare(position, board):
    assert position.diagram() == board.fen()
    assert own_result(position) == result_of(board)
    if position.outcome is None:
        assert sorted(long_text(position, action) for action in position.legal_actions) == sorted(
            move.uci() for move in board.legal_moves
        )


def random_games(count, seed):
    """Random games in lock step, ours and python-chess's; captures and pawns' moves are rarer, so games last."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        position, board = GAME.start(), chess.Board()
        while True:
            yield position, board
            if position.outcome is not None:
                break
            action = int(rng.choice(position.legal_actions))
            board.push_uci(long_text(position, action))
            position = position.play(action)


def test_random_games_beside_python_chess():
    seen = 0
    for position, board in random_games(20, seed=1):
        compare(position, board)
        seen += 1
    assert seen > 3000


def test_algebraic_notation_beside_python_chess():
    for number, (position, board) in enumerate(random_games(4, seed=2)):
        if number % 5 == 0 and position.outcome is None:
            for action in position.legal_actions:
                text = position.move_text(action)
                assert text == board.san(chess.Move.from_uci(long_text(position, action)))
                assert position.read_move(text) == action


ENDS = [  # moves from a position, and what they come to
    (chess.STARTING_FEN, "f3 e5 g4 Qh4#", "second"),
    (chess.STARTING_FEN, "e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7#", "first"),
    ("7k/4Q3/8/8/8/8/8/K7 w - - 0 1", "Kb1", None),
    ("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "Kf7", "draw"),  # stalemate
    ("8/8/8/4k3/8/8/4p3/4K2n w - - 0 1", "Kxe2", "draw"),  # a knight cannot mate
    ("8/8/8/4k3/8/8/4p3/4K2r w - - 0 1", "Kxe2", None),
    (chess.STARTING_FEN, "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8", "draw"),
    ("4k3/8/8/8/8/8/8/R3K3 w - - 99 80", "Ra2", "draw"),
    ("7k/8/5K2/8/8/8/8/R7 w - - 99 80", "Kg6", "draw"),
    ("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "Ra8#", "first"),  # mate comes before the fifty moves
]


@pytest.mark.parametrize(("fen", "moves", "result"), ENDS)
def test_how_games_end(fen, moves, result):
    position, board = GAME.from_board(fen), chess.Board(fen)
    for move in moves.split():
        position = position.play(move)
        board.push_san(move)
    assert own_result(position) == result == result_of(board)


def test_a_capture_in_passing_that_bares_the_king_is_none():
    """Both pawns leave the fifth rank, and the rook sees the king."""
    position = GAME.from_board("8/8/8/K2pP2r/8/8/8/7k w - d6 0 1")
    assert "e5d6" not in [position.game.action_text(action) for action in position.legal_actions]
    assert position.facts == "- -", "nobody may capture, so it is no fact"
    with pytest.raises(IllegalMove, match="leaves the king in check"):
        position.play("e5d6")


def test_equal_positions():
    """A right to castle, or to capture in passing, makes two positions of one board."""
    rows = "r3k2r/8/8/8/8/8/8/R3K2R"
    assert GAME.from_board(f"{rows} w KQkq") != GAME.from_board(f"{rows} w KQ")
    assert GAME.from_board(f"{rows} w KQkq - 7 20") == GAME.from_board(f"{rows} w KQkq")
    one, other = GAME.from_moves("Nf3 d5 e4 Nf6"), GAME.from_moves("e4 Nf6 Nf3 d5")
    assert one.board.tolist() == other.board.tolist()
    assert one == other, "no pawn stands beside d5, so nobody may capture in passing"
    assert GAME.from_moves("e4 a6 e5 d5").facts == "KQkq d6"


WRONG_DIAGRAMS = [
    ("8/8/8/8/8/8/8/8 w - - 0 1", "White has 0 kings"),
    ("4k3/8/8/8/8/8/8/P3K3 w - - 0 1", "pawn on the first or the last rank"),
    ("4k3/8/8/8/8/8/8/4K2R b Q - 0 1", "king and rook are not on their first squares"),
    ("4k3/8/8/8/8/8/8/4K2R w X - 0 1", "are no rights to castle"),
    ("4k2R/8/8/8/8/8/8/4K3 w - - 0 1", "who is not to move is in check"),
    ("4k3/8/8/8/8/8/8/4K3 w - - 0 x", "are not the counters"),
    ("4k3/8/8/8/8/8/8/4K2Z w - - 0 1", "has 'Z'"),
    ("4k3/8/8/8/8/8/8 w - - 0 1", "has 7 rows"),
]


@pytest.mark.parametrize(("fen", "message"), WRONG_DIAGRAMS)
def test_wrong_diagrams(fen, message):
    with pytest.raises(BadDiagram, match=message):
        GAME.from_board(fen)


WRONG_MOVES = [("e2e5", "is not a move of that piece"), ("e7e5", "a piece of the opponent"), ("e4e5", "moves no piece")]


@pytest.mark.parametrize(("move", "message"), WRONG_MOVES)
def test_wrong_moves(move, message):
    with pytest.raises(IllegalMove, match=message):
        GAME.start().play(move)
    with pytest.raises(BadMove, match="no legal move here; write one as"):
        GAME.start().play("Nf6")
    with pytest.raises(BadMove, match="no piece moves from e2 to f5"):
        GAME.start().play("e2f5")


def test_it_is_sound():
    assert check(GAME, games=6).problems == []


def test_a_board_is_shown():
    assert str(GAME.from_moves("e4")).splitlines()[4] == " 4 .  .  .  .  P  .  .  ."
    assert GAME.from_moves("e4 e5 Nf3").diagram() == "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"
