"""Boards with pieces of several kinds and boards of hexagons, drawn: every piece stands where it is, as its owner's."""

import re
from hashlib import sha256
from random import Random
from xml.etree import ElementTree

import pytest
from piece_games import BRIDGES, KINGS_AND_PAWNS

import tengen
from tengen.records.record import Record
from tengen.report.diagrams import CELL, MARGIN, PITCH, RADIUS, draw_blank, draw_board, last_played, middle
from tengen.report.replays import changed_cells, draw_replays, make_replay, replay_data, stones_of
from tengen.report.shapes import PATHS, path_of, tints_of
from tengen.report.steps import Placement, last_step, step_of
from tengen.rules.board import PATH_DATA, SHAPES, Piece
from tengen.rules.errors import GameFileError

AS_THEY_WERE = {  # pictures of random positions before boards had pieces
    "tictactoe": "ee2a20bbd4eab4ad",
    "connect4": "c82a6177ed4c0e34",
    "gomoku:size=8": "3bc4dc0481fb7d0b",
    "gomoku": "11ed825c25340caa",
    "reversi": "b85cad53a8ba7426",
    "go:size=9": "64d2b218ca2581a8",
    "go:size=19": "7b2f91a43b00a539",
}


@pytest.fixture(scope="module")
def kings():
    return tengen.load_game(str(KINGS_AND_PAWNS))


@pytest.fixture(scope="module")
def bridges(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "bridges.py"
    path.write_text(BRIDGES)
    return tengen.load_game(str(path))


def random_position(game, seed=3, most=80):
    rng, position = Random(seed), game.start()
    while position.outcome is None and position.ply < most:
        position = position.play(rng.choice(position.legal_actions))
    return position


def elements(svg, tag, word):
    """The drawing's elements of a tag that have a class."""
    return [one for one in ElementTree.fromstring(svg).iter(tag) if word in one.get("class", "").split()]


def drawn_pieces(svg):
    """What stands where on a drawing of squares: by column and row, the owner and the outline."""
    found = {}
    for one in elements(svg, "path", "piece"):
        x, y = (float(number) for number in re.findall(r"-?[\d.]+", one.get("transform")))
        found[(x - MARGIN) / CELL, (y - MARGIN) / CELL] = (one.get("class").split()[1], one.get("d"))
    return found


# Shapes.


def test_every_shape_has_an_outline():
    assert tuple(PATHS) == SHAPES
    assert all(PATH_DATA.fullmatch(path) for path in PATHS.values())
    assert path_of(Piece("P", 0, "pawn", "M5 5h30v30z")) == "M5 5h30v30z"


@pytest.mark.parametrize("shape", ["queeen", "Mace", "", 'M5 5"/><script>', "M0 0h9 url(x)", "M" + "0 " * 9999])
def test_what_is_no_shape_is_refused_when_the_game_is_loaded(tmp_path, shape):
    text = KINGS_AND_PAWNS.read_text()
    changed = text.replace('Piece("K", 0, "king", "king")', f'Piece("K", 0, "king", {shape!r})')
    assert changed != text
    path = tmp_path / "strange.py"
    path.write_text(changed)
    with pytest.raises(
        GameFileError, match=r"the shape of piece K is .* it is one of stone, .*, or SVG path data such"
    ):
        tengen.load_game(str(path))


def test_a_shape_of_ones_own_is_drawn(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(KINGS_AND_PAWNS.read_text().replace('"king", "king")', '"king", "M5 5h30v30h-30z")'))
    svg = draw_board(tengen.load_game(str(path)).start())
    assert svg.count('d="M5 5h30v30h-30z"') == 2


@pytest.mark.parametrize("sides", ['("top", "up")', '("top left", "left")', '"top"', '("top",)'])
def test_sides_that_are_none_are_refused(tmp_path, sides):
    path = tmp_path / "strange.py"
    path.write_text(BRIDGES.replace('("top bottom", "left right")', sides))
    with pytest.raises(GameFileError, match=r'sides is .* write whose they are as \("top bottom", "left right"\)'):
        tengen.load_game(str(path))


def test_players_have_the_colours_that_they_are_called_by(kings, bridges):
    assert tints_of(kings) == ("white", "black")
    assert tints_of(bridges) == ("red", "blue")
    assert tints_of(tengen.load_game("go")) == tints_of(tengen.load_game("tictactoe")) == ("black", "white")


# Diagrams.


@pytest.mark.parametrize("spec", AS_THEY_WERE)
def test_games_of_stones_look_as_before(spec):
    position = random_position(tengen.load_game(spec))
    drawn = draw_board(position) + draw_blank(position.game)
    assert sha256(drawn.encode()).hexdigest()[:16] == AS_THEY_WERE[spec]


def test_pieces_are_drawn_where_they_stand(kings):
    position = random_position(kings, most=14)
    expected = {
        (x, y): (("first", "second")[kings.pieces[value - 1].owner], PATHS[kings.pieces[value - 1].shape])
        for (y, x), value in (((y, x), int(position.board[y, x])) for y in range(6) for x in range(6))
        if value
    }
    svg = draw_board(position)
    assert drawn_pieces(svg) == expected
    assert 'class="board cells first-white second-black"' in svg


def test_the_cells_of_a_move_are_lit(kings):
    """b2-b4, and d2 takes on e3: d2 and e3 are lit, and both moves are numbered where they ended."""
    position = kings.from_moves("b4 e3 dxe3")
    svg = draw_board(position)
    lit = [(float(one.get("x")), float(one.get("y"))) for one in elements(svg, "rect", "trail")]
    assert lit == [(MARGIN + 3 * CELL, MARGIN + 4 * CELL), (MARGIN + 4 * CELL, MARGIN + 3 * CELL)]
    assert [one.text for one in elements(svg, "text", "corner")] == ["1", "3"]
    assert last_played(position) == {13: 1, 22: 3}
    assert not elements(draw_board(kings.start()), "rect", "trail")


def test_squares_are_light_and_dark(kings):
    (dark,) = elements(draw_board(kings.start()), "path", "dark")
    corners = re.findall(r"M(\d+) (\d+)", dark.get("d"))
    assert len(corners) == 18
    assert (str(MARGIN), str(MARGIN + 5 * CELL)) in corners  # a1


def test_each_row_of_hexagons_begins_half_a_cell_to_the_right(bridges):
    position = bridges.from_moves("b2 c2 b3")
    svg = draw_board(position)
    stones = {one.get("class"): one for one in elements(svg, "circle", "stone")}
    assert set(stones) == {"stone first", "stone second", "stone first last"}
    last = stones["stone first last"]
    x, y = float(last.get("cx")), float(last.get("cy"))
    assert (x, y) == middle(bridges, 9)
    assert x == MARGIN + (1 + 2 / 2 + 0.5) * CELL and abs(y - (MARGIN + RADIUS + 2 * PITCH)) < 0.01
    (cells,) = elements(svg, "path", "comb")
    assert cells.get("d").count("M") == 16
    assert [one.text for one in elements(svg, "text", "label")] == [*"abcd", *"1234"]
    assert 'class="board hexagons first-red second-blue"' in svg


def test_sides_have_the_players_colours(bridges):
    sides = elements(draw_board(bridges.start()), "path", "side")
    assert [one.get("class") for one in sides] == ["side first", "side second"]
    assert all(one.get("d").count("M") == 2 for one in sides)
    top = re.findall(r"[\d.]+", sides[0].get("d"))[:2]
    assert [float(number) for number in top] == [MARGIN, round(MARGIN + RADIUS / 2, 1)]  # where the left side ends


def test_sides_of_squares_are_straight(tmp_path):
    path = tmp_path / "straight.py"
    path.write_text(BRIDGES.replace('    drawing = "hexagons"\n', ""))
    first, second = elements(draw_board(tengen.load_game(str(path)).start()), "path", "side")
    assert (first.get("d"), second.get("d")) == ("M24 24h160M24 184h160", "M24 24v160M184 24v160")


def test_a_notebook_shows_both(kings, bridges):
    for game in (kings, bridges):
        ElementTree.fromstring(random_position(game)._repr_svg_())


# Moves.


def test_games_say_themselves_where_a_move_leads(kings, bridges):
    start = kings.start()
    two = start.read_move("b4")
    assert step_of(start, two) == last_step(start.play(two)) == Placement(13, 25)
    assert last_step(start) == Placement(None)
    swapped = bridges.from_moves("b2 swap")
    assert last_step(swapped) == Placement(None)
    assert step_of(bridges.start(), 5) == Placement(5)


def test_boards_say_the_same(kings, tmp_path):
    """Without from_to(), boards are compared: also where a pawn captures in passing."""
    path = tmp_path / "silent.py"
    text = (
        KINGS_AND_PAWNS.read_text().replace("def from_to(", "def cells_of(").replace("self.from_to(", "self.cells_of(")
    )
    path.write_text(text)
    silent = tengen.load_game(str(path))
    for seed in range(3):
        one, other = kings.start(), silent.start()
        rng = Random(seed)
        while one.outcome is None and one.ply < 40:
            for action in one.legal_actions:
                said, seen = step_of(one, action), step_of(other, action)
                assert (said.cell, said.origin) == (seen.cell, seen.origin)
                assert seen.piece == one.play(action).board.flat[said.cell]
            action = rng.choice(one.legal_actions)
            one, other = one.play(action), other.play(action)


# Replays.


def board_after(data, game, ply):
    """The board that a page makes of a replay."""
    values, board = len(game.pieces) + 1, [0] * game.cells
    plies = data["games"][0][8].split(",")[:ply]
    for text in [*data["boards"][0]["start"].split(","), *plies]:
        for code in (int(word, 36) for word in text.split(".") if word):
            board[code // values] = code % values
    return board


def test_what_a_replay_says_is_what_was_played(kings, bridges):
    for game in (kings, bridges):
        record = Record.of(random_position(game))
        data = replay_data([make_replay(1, record)], [game])
        for ply, position in enumerate(record.positions()):
            assert board_after(data, game, ply) == position.board.ravel().tolist()


def test_a_replay_has_every_piece_and_says_moves_as_players_do(kings):
    record = Record.of(kings.from_moves("b4 e3 dxe3"))
    page = draw_replays([make_replay(1, record)])
    assert re.findall(r'data-piece="(\d\+?)"', page) == ["1", "1+", "2", "2+", "3", "3+", "4", "4+"]
    assert page.count("data-trail>") == 1
    data = replay_data([make_replay(1, record)], [kings])
    assert data["games"][0][-1] == ["b4", "e3", "dxe3"]
    assert data["boards"][0]["owners"] == [0, 1, 1, 2, 2]
    assert data["boards"][0]["lit"] == [1, 2, 3, 4]


def test_the_piece_that_moved_comes_first_in_a_change(kings):
    before = kings.from_moves("b4 e3")
    assert changed_cells(before, before.play("dxe3")) == [5 * 22 + 1, 5 * 27]
    assert stones_of(kings)[:2] == [5 * 3 + 4, 5 * 6 + 3]


def test_rows_of_hexagons_are_put_where_they_belong(bridges):
    board = replay_data([make_replay(1, Record.of(bridges.from_moves("b2")))], [bridges])["boards"][0]
    assert board["origin"] == list(middle(bridges, 0))
    assert board["down"] == [CELL / 2, round(PITCH, 3)]
