"""Hex beside a flood fill and beside OpenSpiel and pgx; the swap rule; records; random games; what is published."""

import random

import numpy as np
import pytest
from judges import PlainHex, one_line

from tengen import load_game
from tengen.apps.gtp.engine import Engine
from tengen.records.record import Record
from tengen.records.sgf import read_sgf, write_sgf
from tengen.rules.errors import BadDiagram, BadMove, IllegalMove
from tengen.rules.playouts import perft, playouts

OLYMPIAD = """(;AP[HexGui:1.0.]FF[4]GM[11]SZ[11];B[d2];W[f6];B[d7];W[e5];B[g6];W[g5];
B[i4];W[i3];B[h4];W[h3];B[g4];W[h5];B[i5];W[g3];B[f4];W[f3];B[e4];W[e3];
B[c4];W[d4];B[c5];W[c3];B[b4];W[d6];B[b7];W[b8];B[h7];W[d5];B[c7];W[d8])"""  # MoHex and Wolve, Computer Olympiad 2008


# Who is connected.


@pytest.mark.parametrize(
    ("spec", "games"),
    [("hex:size=3", 60), ("hex:size=5", 60), ("hex", 12), ("hex:size=19", 4), ("hex:size=4,swap=0", 40)],
)
def test_beside_a_flood_fill(spec, games):
    """The same legal moves, stones and winner at every ply."""
    game, rng = load_game(spec), random.Random(spec)
    for _ in range(games):
        position, plain = game.start(), PlainHex(game.parameters.size, bool(game.parameters.swap))
        while position.outcome is None:
            assert position.legal_actions == plain.legal()
            assert plain.winner() is None
            action = rng.choice(
                position.legal_actions + [game.cells] * (position.ply == 1 and bool(game.parameters.swap))
            )
            position = position.play(action)
            plain.play(action)
            assert position.board.tolist() == plain.board()
            assert position.to_play == plain.to_play
        assert position.outcome.winner == plain.winner()
        assert position.outcome.score == (1 if position.outcome.winner == 0 else -1)


def test_a_long_way_round():
    """Red's chain comes down, turns and goes up before it arrives; the last stone joins all of it."""
    position = load_game("hex:size=5").from_board(
        one_line("""
        . . . X .
        . X . X .
        . X X X .
        . X O O O
        . . O O .
        """),
        "X",
    )
    assert position.outcome is None
    assert position.play("b5").outcome.winner == 0


def test_both_ways_across():
    """A diagonal of cells that touch, and one of cells that do not: the board leans."""
    touching = load_game("hex:size=3").from_board("..X/.X./X..", "O")
    assert touching.outcome.winner == 0
    apart = load_game("hex:size=3").from_board("X../.X./..X", "O")
    assert apart.outcome is None
    assert load_game("hex:size=3").from_board("..O/.O./O..", "X").outcome.winner == 1


def test_a_full_board_has_one_winner():
    rng, game = random.Random(4), load_game("hex:size=6")
    for _ in range(300):
        stones = [1] * 18 + [2] * 18
        rng.shuffle(stones)
        plain = PlainHex(6)
        plain.stones = dict(enumerate(stone - 1 for stone in stones))
        text = "/".join("".join(".XO"[stone] for stone in stones[row : row + 6]) for row in range(0, 36, 6))
        winner = plain.winner()
        assert winner is not None
        assert game.from_board(text, 1 - winner).outcome.winner == winner


# The swap rule.


def test_a_swap_mirrors_the_stone_and_its_colour():
    position = load_game("hex:size=5").from_moves("c2 swap")
    assert position.diagram() == one_line("..... ..... .O... ..... .....".replace(" ", "\n"))
    assert position.to_play == 0
    assert position.ply == 2
    assert position.game.action_text(25) == "swap-pieces"
    assert position == load_game("hex:size=5").from_moves("c2 swap-pieces")


def test_a_swap_is_as_good_as_taking_over():
    """What follows a swap is, mirrored and with colours changed, what would follow the stone with its owner to wait."""
    game, rng = load_game("hex:size=5"), random.Random(1)
    for _ in range(30):
        cell = rng.randrange(25)
        swapped, kept = game.start().play(cell).play(25), game.start().play(cell)
        assert (kept.board == (swapped.board.T * 2) % 3).all()
        while swapped.outcome is None:
            action = rng.choice(swapped.legal_actions)
            mirrored = action % 5 * 5 + action // 5
            swapped, kept = swapped.play(action), kept.play(mirrored)
        assert kept.outcome.winner == 1 - swapped.outcome.winner


def test_only_blues_first_move_may_be_a_swap():
    game = load_game("hex:size=4")
    assert 16 not in game.start().legal_actions
    assert 16 in game.from_moves("a1").legal_actions
    for moves in ("", "a1 swap", "a1 b2", "a1 b2 c3"):
        with pytest.raises(IllegalMove, match="swap-pieces is only allowed as Blue's first move"):
            game.from_moves(moves).play("swap")
    with pytest.raises(IllegalMove, match="a1 is occupied"):
        game.from_moves("a1").play("a1")
    without = load_game("hex:size=4,swap=0")
    assert without.actions == 16 and len(without.from_moves("a1").legal_actions) == 15
    with pytest.raises(BadMove, match="without the swap rule"):
        without.parse_action("swap")


def test_the_board_says_whether_a_swap_is_possible():
    game = load_game("hex:size=3")
    assert 9 in game.from_board(".X./.../...", "Blue").legal_actions
    assert 9 not in game.from_board(".X./.../...", "Red").legal_actions
    assert 9 not in game.from_board(".O./.../...", "Blue").legal_actions
    assert 9 not in game.from_board(".X./.O./...", "Blue").legal_actions
    assert game.from_board(".../O../...", "Red") == game.from_moves("b1 swap")


def test_planes():
    game = load_game("hex:size=3")
    own, other, is_red, can_swap = game.from_moves("c1").encode()
    assert own.sum() == 0 and other.tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert is_red.max() == 0 and can_swap.min() == 1
    own, other, is_red, can_swap = game.from_moves("c1 swap").encode()
    assert own.sum() == 0 and other.tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert is_red.min() == 1 and can_swap.max() == 0


# Boards, keys, records.


def test_the_board_turned_upside_down_is_the_same_game():
    game, rng = load_game("hex:size=5"), random.Random(3)
    cells, actions = game.symmetries, game.action_symmetries
    assert cells.shape == (2, 25) and cells[1, 0] == 24
    assert actions[1, 25] == 25
    for _ in range(20):
        position = turned = game.start()
        while position.outcome is None:
            action = rng.choice(position.legal_actions)
            position, turned = position.play(action), turned.play(int(actions[1, action]))
            assert (turned.board == position.board[::-1, ::-1]).all()
        assert turned.outcome == position.outcome


def test_a_diagram_of_a_game_that_was_over():
    with pytest.raises(BadDiagram, match="X has won already"):
        load_game("hex:size=3").from_board("X../X../X..", "X")


def test_equal_boards_have_equal_keys():
    game = load_game("hex:size=5")
    assert game.from_moves("a1 b2 c3") == game.from_moves("c3 b2 a1")
    assert game.from_moves("a1 b2 c3").key == game.from_moves("c3 b2 a1").key
    assert game.from_moves("b1 swap").key != game.from_moves("b1").key
    assert game.from_board("X..../...../...../...../.....", "X").key != game.from_moves("a1").key


def test_sgf():
    """Moves are written as Hex players write them, as GM[11] has it; so is what HexGui wrote."""
    record = Record.of(load_game("hex:size=9").from_moves("c2 swap e5"))
    text = write_sgf(record)
    assert "GM[11]" in text and "SZ[9]" in text
    assert ";B[c2];W[swap-pieces];B[e5]" in text.replace("\n", "")
    assert read_sgf(text) == [record]
    others = read_sgf(OLYMPIAD)[0]
    assert others.game == load_game("hex") and len(others.moves) == 30
    assert others.end().board[1, 3] == 1 and others.end().board[5, 5] == 2


@pytest.mark.parametrize("spec", ["hex:size=9", "hex:size=9,swap=0"])
def test_gtp_names_points_as_hex_players_do(spec):
    talk = Engine(load_game(spec), "random")
    assert talk.answer("play black i9").startswith("=")
    assert talk.session.position.board[8, 8] == 1


def test_coordinates_begin_at_the_top_left():
    game = load_game("hex:size=19")
    assert (game.action_text(0), game.action_text(18), game.action_text(360)) == ("a1", "s1", "s19")
    assert game.parameters.from_to(7) == (None, 7) and game.parameters.from_to(361) == (None, None)
    assert list(game.read_moves("a1swaps19swap-pieces")) == [0, 361, 360, 361]


# Counts.


def test_perft():
    """Without the swap a product; with it, one reply more, after which one more cell is free than otherwise."""
    without, start = load_game("hex:size=5,swap=0").start(), load_game("hex:size=5").start()
    assert [perft(without, depth) for depth in (1, 2, 3, 4)] == [25, 25 * 24, 25 * 24 * 23, 25 * 24 * 23 * 22]
    assert [perft(start, depth) for depth in (1, 2, 3)] == [25, 25 * 25, 25 * (24 * 23 + 24)]


def test_states_are_small():
    assert load_game("hex:size=19").new_states(1).nbytes <= 320
    assert load_game("hex:size=19").parameters.record() == load_game("hex:size=3").parameters.record()


@pytest.mark.parametrize(
    ("board", "to_play"), [("...|...|...", "X"), ("X..|.O.|...", "X"), ("X..|...|...", "O"), (".X.|...|..O", "O")]
)
def test_rollouts_are_random_games(board, to_play):
    """The winners of games that are filled up at once are those of games played move by move, as often."""
    position, games = load_game("hex:size=3").from_board(board.replace("|", "/"), to_play), 40_000
    expected = chance_of_red(position, {})
    wins = playouts(position, games, seed=5).first_wins / games
    assert abs(wins - expected) < 4 * (expected * (1 - expected) / games) ** 0.5


def chance_of_red(position, known):
    """How likely Red wins if both play at random, to the end of every game."""
    if position.outcome is not None:
        return float(position.outcome.winner == 0)
    if position not in known:
        children = [chance_of_red(position.play(action), known) for action in position.legal_actions]
        known[position] = sum(children) / len(children)
    return known[position]


@pytest.mark.parametrize("spec", ["hex:size=5", "hex", "hex:size=19"])
def test_rollouts_fill_the_board_evenly(spec):
    """Each cell is as often Red's as another, and each player gets their half."""
    from tengen.rules.laws import roll_to_the_end

    game, red, games = load_game(spec), 0, 1000
    begin = game.start().play(0).play(1).play(2)
    for number in range(games):
        states = begin.states
        roll_to_the_end(game.parameters, states, np.empty(game.actions, np.int32), number)
        board = game.parameters.board(states[0])
        assert (board > 0).all() and (board == 1).sum() == (game.cells + 1) // 2
        assert states[0].ply == game.cells
        plain = PlainHex(game.parameters.size)
        if number < 20:
            plain.stones = dict(enumerate((board.ravel() - 1).tolist()))
            assert plain.winner() + 1 == states[0].result
        red = red + (board.ravel() == 1)
    assert red[0] == red[2] == games and red[1] == 0
    assert abs(red[3:] / games - 0.5).max() < 6 * 0.5 / games**0.5


# Other programs.


@pytest.mark.parametrize(("size", "games"), [(3, 60), (5, 40), (11, 10), (19, 2)])
def test_same_games_as_open_spiel(size, games):
    """Without the swap; there Red is called Black, and connects top and bottom, too."""
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    game, peer, rng = (
        load_game(f"hex:size={size},swap=0"),
        pyspiel.load_game(f"hex(board_size={size})"),
        random.Random(size),
    )
    for _ in range(games):
        position, state = game.start(), peer.new_initial_state()
        while position.outcome is None:
            assert not state.is_terminal()
            assert position.legal_actions == state.legal_actions(), position
            assert position.to_play == state.current_player()
            action = rng.choice(position.legal_actions)
            position = position.play(action)
            state.apply_action(action)
        assert state.is_terminal(), position
        assert position.outcome.value_for(0) == state.returns()[0]


def test_same_games_as_pgx():
    """With the swap, which is the action after the cells there, too."""
    pgx = pytest.importorskip("pgx", reason="pgx is not installed: the swap was tested beside the flood fill alone")
    import jax

    game, peer, rng = load_game("hex"), pgx.make("hex"), random.Random(2)
    begin, step = jax.jit(peer.init), jax.jit(peer.step)
    for number in range(6):
        position, state = game.start(), begin(jax.random.PRNGKey(number))
        first = int(state.current_player)  # who is called 0 there is drawn by lot
        while position.outcome is None:
            assert not bool(state.terminated)
            assert np.flatnonzero(state.legal_action_mask).tolist() == position.legal_actions
            assert int(state.current_player) == (position.to_play if first == 0 else 1 - position.to_play)
            swaps = position.ply == 1 and number % 2
            action = game.cells if swaps else rng.choice(position.legal_actions)
            position, state = position.play(action), step(state, action)
        assert bool(state.terminated)
        assert float(state.rewards[first]) == position.outcome.value_for(0)
