"""Go: the rules in diagrams, beside a plain version, and beside GNU Go."""

import random

import numpy as np
import pytest
from judges import PlainGo, one_line

from tengen import load_game
from tengen.agents.gtp import COLOURS, GtpEngine
from tengen.rules.errors import BadDiagram, BadParameter, IllegalMove
from tengen.rules.game import START, step
from tengen.rules.playouts import playouts, roll_out


def test_capture():
    before = """
        . X . . .
        X O O X .
        . X X . .
        . . . . .
        . . . . ."""
    after = """
        . X X . .
        X . . X .
        . X X . .
        . . . . .
        . . . . ."""
    assert load_game("go:size=5").from_board(before, "X").play("c5").diagram() == one_line(after)


def test_capturing_is_not_suicide():
    before = """
        . O X .
        O O X .
        X X X .
        . . . ."""
    after = """
        X . X .
        . . X .
        X X X .
        . . . ."""
    assert load_game("go:size=4").from_board(before, "X").play("a4").diagram() == one_line(after)


def test_suicide():
    picture = """
        . O .
        O O .
        . . ."""
    position = load_game("go:size=3").from_board(picture, "X")
    assert position.forbidden() == {0: "suicide"}
    with pytest.raises(IllegalMove, match=r"a3 is forbidden \(suicide\) at move 1"):
        position.play("a3")


def test_suicide_where_it_is_allowed():
    """Two stones may kill themselves; a single one would leave the board as it was."""
    allowed = load_game("go:size=3,suicide=1")
    assert allowed.from_board(".XO/OOO/...", "X").play("a3").diagram() == "..O/OOO/..."
    assert "superko" in allowed.from_board(".O./OO./...", "X").forbidden()[0]


def test_ko():
    before = """
        . X O .
        X O . O
        . X O .
        . . . ."""
    taken = """
        . X O .
        X . X O
        . X O .
        . . . ."""
    position = load_game("go:size=4").from_board(before, "X").play("c3")
    assert position.diagram() == one_line(taken)
    with pytest.raises(IllegalMove, match=r"b3 is forbidden \(superko: the position would repeat\) at move 2"):
        position.play("b3")
    retaken = """
        . X O .
        X O . O
        . X O .
        O . . X"""
    assert position.play("a1").play("d1").play("b3").diagram() == one_line(retaken)


def test_sending_two_returning_one():
    """Positional superko forbids what simple ko allows: the board of three plies ago may not come back."""
    game = load_game("go:size=3,suicide=0")
    rng, found = random.Random(1), 0
    for _ in range(300):
        position = game.start()
        while position.outcome is None and position.ply < 60:
            for action, reason in position.forbidden().items():
                before = position.previous
                if "superko" in reason and before is not None and before.previous is not None:
                    plain = replay(position)
                    after = frozenset(plain.after((action % 3, action // 3)).items())
                    assert after in plain.seen
                    found += after != frozenset(replay(before.previous).stones.items())
            position = position.play(rng.choice(position.legal_actions))
    assert found > 0


def replay(position):
    plain = PlainGo(position.game.parameters.size, bool(position.game.parameters.suicide))
    for action in position.moves:
        plain.play(action)
    return plain


@pytest.mark.parametrize(
    ("size", "suicide", "games"), [(2, 0, 40), (2, 1, 40), (3, 0, 30), (3, 1, 30), (5, 1, 6), (9, 0, 1)]
)
def test_against_plain_go(size, suicide, games):
    """Legal moves, stones and area at every ply, as far as the ring of boards reaches."""
    game, rng = load_game(f"go:size={size},suicide={suicide},komi=0"), random.Random(size)
    for _ in range(games):
        position, plain = game.start(), PlainGo(size, bool(suicide))
        while position.outcome is None and position.ply < 110:
            assert position.legal_actions == plain.legal(), position
            action = rng.choice(position.legal_actions)
            position = position.play(action)
            plain.play(action)
            stones = {(int(x), int(y)): int(position.board[y, x]) - 1 for y, x in np.argwhere(position.board)}
            assert stones == plain.stones
        if position.outcome is not None:
            assert position.outcome.score == plain.area()


def test_two_passes_end_the_game():
    end = load_game("go:size=9,komi=5.5").from_moves("e5 pass pass")
    assert end.outcome is not None
    assert end.outcome.winner == 0
    assert end.outcome.score == 81 - 5.5
    with pytest.raises(IllegalMove, match=r"the game is over \(won by Black\): a1 cannot be played at move 4"):
        end.play("a1")


def test_area():
    """Stones count, and points that reach one colour only; the column between the two is nobody's."""
    even = """
        . X . O .
        X X . O O
        . X . O .
        . X . O .
        . X . O ."""
    white = """
        . X . O .
        X X O O O
        . X O . .
        . X O . .
        . X O . ."""
    game = load_game("go:size=5,komi=0")
    assert game.from_board(even, "X").play("pass").play("pass").outcome.score == 0
    assert game.from_board(white, "X").play("pass").play("pass").outcome.score == 10 - 14


def test_handicap_counts_for_white():
    game = load_game("go:size=9,handicap=4,komi=0.5")
    start = game.start()
    assert start.to_play == 1
    assert start.play("pass").play("pass").outcome.score == 81 - 4 - 0.5


@pytest.mark.parametrize("spec", ["go:size=9,handicap=1", "go:size=5,handicap=2", "go:size=8,handicap=5"])
def test_handicap_that_has_no_place(spec):
    with pytest.raises(BadParameter, match="handicap"):
        load_game(spec)


def test_diagram_without_liberties():
    with pytest.raises(BadDiagram, match="the stone on a3 has no liberty"):
        load_game("go:size=3").from_board("XO./OO./...", "X")


def test_long_games_end():
    """A ring of boards cannot see every cycle; the limit on plies sees to the rest."""
    game = load_game("go:size=2")
    for seed in range(200):
        states = game.new_states(1)
        step(game.parameters, states, START, np.empty(5, np.int32))
        results = np.zeros(4, np.int64)
        roll_out(game.parameters, states, game.new_states(1), np.empty(5, np.int32), 1, seed, results)
        assert 2 <= results[3] <= 4 * 4 + 100


@pytest.mark.parametrize("suicide", [0, 1])
def test_rollouts_that_reach_the_longest_game_with_a_capture(suicide):
    """Once the game is over, the ring of captured stones is gone; a rollout must not follow it."""
    game, rng, reached = load_game(f"go:size=3,suicide={suicide}"), random.Random(5), 0
    while reached < 30:
        position = game.start()
        while position.outcome is None and position.ply < 4 * 9 + 100 - 1:
            points = [action for action in position.legal_actions if action < 9]
            position = position.play(rng.choice(points or position.legal_actions))
        if position.outcome is None:
            reached += 1
            for seed in range(10):
                assert playouts(position, 1, seed).plies == 1


def start_gnugo(path, size):
    """GNU Go as a referee, by our rules."""
    engine = GtpEngine([path, "--mode", "gtp", "--chinese-rules", "--positional-superko", "--level", "1"])
    for command in (f"boardsize {size}", "clear_board", "komi 7.5"):
        engine.ask(command)
    return engine


def points(engine, command):
    """The points that the answer to a command lists."""
    return set(engine.ask(command).lower().split())


@pytest.mark.parametrize(("size", "games"), [(5, 6), (9, 4)])
def test_against_gnugo_legal_moves_and_captures(gnugo, size, games):
    """Random games: all legal points and all stones at every ply, superko and captures included."""
    game, rng = load_game(f"go:size={size}"), random.Random(11)
    engine = start_gnugo(gnugo, size)
    for _ in range(games):
        engine.ask("clear_board")
        position = game.start()
        while position.outcome is None and position.ply < 4 * size * size:
            theirs = points(engine, f"all_legal {COLOURS[position.to_play]}") - {"pass"}
            ours = {game.action_text(action) for action in position.legal_actions} - {"pass"}
            assert ours == theirs, position
            moves = [action for action in position.legal_actions if action < game.cells] or [game.cells]
            action = rng.choice(moves)
            engine.ask(f"play {COLOURS[position.to_play]} {game.action_text(action)}")
            position = position.play(action)
            for player, colour in enumerate(COLOURS):
                stones = {game.coordinates.text(int(cell)) for cell in np.flatnonzero(position.board == player + 1)}
                assert stones == points(engine, f"list_stones {colour}")
    engine.close()


def test_against_gnugo_scores(gnugo):
    """Games that rollouts played to the end, eyes left open: GNU Go's Chinese score is the same."""
    size, games = 9, 12
    game = load_game(f"go:size={size},komi=7.5")
    engine = start_gnugo(gnugo, size)
    for seed in range(games):
        states = game.start().states
        roll_out(
            game.parameters, states.copy(), states, np.empty(game.actions, np.int32), 1, seed, np.zeros(4, np.int64)
        )
        engine.ask("clear_board")
        cells = game.parameters.board(states[0])
        for player, colour in enumerate(COLOURS):
            for cell in np.flatnonzero(cells == player + 1):
                engine.ask(f"play {colour} {game.coordinates.text(int(cell))}")
        for colour in COLOURS:
            engine.ask(f"play {colour} pass")
        answer = engine.ask("final_score")
        margin = float(answer[2:]) * (1 if answer[0] == "B" else -1)
        assert margin == states[0].area - 7.5, f"seed {seed}"
    engine.close()
