"""Draughts beside published counts of turns, a slow judge that knows no bits, and OpenSpiel's checkers."""

import random
from collections import Counter

import numpy as np
import pytest
from judges import one_line
from turns import perft_of_turns

from tengen import load_game
from tengen.rules.errors import BadDiagram, BadMove, IllegalMove
from tengen.rules.playouts import perft


def from_pdn(game, text):
    """The position of a PDN setup: `W:WK31,6:B12`."""
    size, rows = game.shape[0], [["."] * game.shape[0] for _ in range(game.shape[0])]
    to_play, *sides = text.split(":")
    for side in sides:
        for word in side[1:].split(","):
            y, x = divmod(int(word.lstrip("K")) - 1, size // 2)
            rows[y][2 * x + 1 - y % 2] = side[0] if word[0] == "K" else side[0].lower()
    return game.from_board("/".join("".join(row) for row in rows), to_play)


def turns_of(position, path=()):
    """The whole turns of a position: the squares that a piece visits, and where that leads."""
    found = {}
    for action in position.legal_actions:
        begin, end = (cell // 2 + 1 for cell in position.game.parameters.from_to(action))
        after, so_far = position.play(action), (*(path or (begin,)), end)
        goes_on = after.to_play == position.to_play and after.outcome is None
        found.update(turns_of(after, so_far) if goes_on else {so_far: after})
    return found


# Published counts.

ENGLISH = [7, 49, 302, 1469, 7361, 36768, 179740, 845931, 3963680]  # Aart Bik; a capture in two orders is two turns
INTERNATIONAL = [  # the thread on perft in the FMJD's forum; a capture in two orders is one turn
    (None, [9, 81, 658, 4265, 27117, 167140, 1049442]),
    ("B:BK17,K24:W6,9,10,11,20,21,22,23,30,K31,33,37,41,42,43,44,46", [14, 55, 1168, 5432, 87195, 629010]),
    ("W:B12,13,14,16,18,19,21,23,24,26:W25,27,28,30,32,33,34,35,37,38", [6, 12, 30, 73, 215, 590, 1944, 6269, 22369]),
    (
        f"W:W{','.join(f'K{n}' for n in range(31, 51))}:B{','.join(f'K{n}' for n in range(1, 21))}",
        [17, 79, 352, 1399, 7062, 37589],
    ),
    ("W:W6,7,8,9,10:B41,42,43,44,45", [9, 81, 795, 7578, 86351]),
]


def test_turns_of_english_draughts():
    start = load_game("draughts").start()
    assert [perft_of_turns(start, depth) for depth in range(1, 9)] == ENGLISH[:8]


@pytest.mark.parametrize(("pdn", "counts"), INTERNATIONAL)
def test_turns_of_international_draughts(pdn, counts):
    game = load_game("international")
    position = from_pdn(game, pdn) if pdn else game.start()
    assert [perft_of_turns(position, depth + 1, once=True) for depth in range(len(counts))] == counts


@pytest.mark.long
@pytest.mark.parametrize(
    ("spec", "depth", "count"),
    [
        ("draughts", 9, 3963680),
        ("draughts", 11, 85242128),
        ("international", 8, 6483961),
        ("international", 9, 41022423),
    ],
)
def test_turns_deep(spec, depth, count):
    assert perft_of_turns(load_game(spec).start(), depth, once=spec == "international") == count


def test_a_ply_is_a_jump():
    """So perft, which counts actions, is what it is for turns only until two pieces can be captured at once."""
    start = load_game("draughts").start()
    assert [perft(start, depth) for depth in range(1, 7)] == ENGLISH[:6]
    assert perft(start, 8) != ENGLISH[7]


# The slow judge.


class PlainDraughts:
    """Draughts, cell by cell. `pieces` says of a cell (y, x) whose piece stands there, and whether it is a king."""

    def __init__(self, game):
        self.size, self.is_international = game.shape[0], game.shape[0] == 10
        self.player, self.quiet, self.seen, self.pieces = 0, 0, Counter(), {}
        rows = 4 if self.is_international else 3
        for y in [*range(rows), *range(self.size - rows, self.size)]:
            for x in range(1 - y % 2, self.size, 2):
                self.pieces[y, x] = (int((y < rows) == self.is_international), False)
        self.note()

    def note(self):
        self.seen[self.player, tuple(sorted(self.pieces.items()))] += 1

    def is_inside(self, y, x):
        return 0 <= y < self.size and 0 <= x < self.size

    def forward(self, player):
        return -1 if (player == 0) == self.is_international else 1

    def directions(self, player, is_king, is_capture):
        both = is_king or (is_capture and self.is_international)
        return [(dy, dx) for dy in (-1, 1) for dx in (-1, 1) if both or dy == self.forward(player)]

    def steps(self, cell):
        player, is_king = self.pieces[cell]
        for dy, dx in self.directions(player, is_king, False):
            (y, x), flies = cell, is_king and self.is_international
            while self.is_inside(y + dy, x + dx) and (y + dy, x + dx) not in self.pieces:
                y, x = y + dy, x + dx
                yield (cell, (y, x)), ()
                if not flies:
                    break

    def captures(self, path, taken):
        """All captures that begin with the path, on which those in `taken` were jumped: they are still there."""
        player, is_king = self.pieces[path[0]]
        others = {cell for cell in self.pieces if cell != path[0]}
        for dy, dx in self.directions(player, is_king, True):
            (y, x), flies, victim = path[-1], is_king and self.is_international, None
            while self.is_inside(y + dy, x + dx):
                y, x = y + dy, x + dx
                if (y, x) in others:
                    if victim or self.pieces[y, x][0] == player or (y, x) in taken:
                        break
                    victim = (y, x)
                elif victim:
                    longer, jumped = (*path, (y, x)), (*taken, victim)
                    is_crowned = not self.is_international and not is_king and y in (0, self.size - 1)
                    further = [] if is_crowned else list(self.captures(longer, jumped))
                    yield from further or [(longer, jumped)]
                if not flies and (victim is None or (y, x) != victim):
                    break

    def turns(self):
        """Every turn: the cells on its way, and what it captures."""
        own = [cell for cell, (player, _) in self.pieces.items() if player == self.player]
        found = [turn for cell in own for turn in self.captures((cell,), ())]
        if self.is_international and found:
            most = max(len(jumped) for _, jumped in found)
            found = [turn for turn in found if len(turn[1]) == most]
        return found or [turn for cell in own for turn in self.steps(cell)]

    def play(self, path, jumped):
        player, is_king = self.pieces.pop(path[0])
        for cell in jumped:
            del self.pieces[cell]
        self.quiet = self.quiet + 1 if is_king and not jumped else 0
        crowned = path[-1][0] == (0 if self.forward(player) < 0 else self.size - 1)
        self.pieces[path[-1]] = (player, is_king or crowned)
        self.player = 1 - player
        self.note()

    def result(self):
        """The winner, 2 for a draw, None if the game goes on."""
        if not self.turns():
            return 1 - self.player
        return 2 if self.quiet >= self.patience() or max(self.seen.values()) == 3 else None

    def patience(self):
        if not self.is_international:
            return 80
        for player in (0, 1):
            own = [is_king for owner, is_king in self.pieces.values() if owner == player]
            others = [is_king for owner, is_king in self.pieces.values() if owner != player]
            if own == [True] and any(others) and len(others) <= 3:
                return 32 if len(others) == 3 else 10
        return 50

    def board(self):
        board = np.zeros((self.size, self.size), np.int8)
        for cell, (player, is_king) in self.pieces.items():
            board[cell] = 1 + 2 * player + is_king
        return board


@pytest.mark.parametrize(("spec", "games"), [("draughts", 12), ("international", 8)])
def test_the_same_games_as_the_judge(spec, games):
    game, rng, ends, most = load_game(spec), random.Random(5), Counter(), 0
    for _ in range(games):
        position, plain = game.start(), PlainDraughts(game)
        while position.outcome is None:
            assert plain.result() is None
            ours, theirs = turns_of(position), {}
            for cells, jumped in plain.turns():
                theirs[tuple((y * plain.size + x) // 2 + 1 for y, x in cells)] = cells, jumped
            assert set(ours) == set(theirs), position
            path = rng.choice(sorted(ours))
            position = ours[path]
            plain.play(*theirs[path])
            assert np.array_equal(position.board, plain.board())
            most = max(most, len(path) - 1)
        winner = position.outcome.winner
        assert plain.result() == (2 if winner is None else winner)
        ends[winner] += 1
    assert most >= 2
    assert len(ends) >= 2


@pytest.mark.parametrize("spec", ["draughts", "international"])
def test_the_judge_agrees_where_kings_are_many(spec):
    """Positions that random games seldom reach: long captures with many ways."""
    game, rng, long = load_game(spec), random.Random(3), 0
    squares = [(y, x) for y in range(game.shape[0]) for x in range(1 - y % 2, game.shape[0], 2)]
    for _ in range(60 if spec == "draughts" else 30):
        plain = PlainDraughts(game)
        plain.pieces = {}
        for cell in rng.sample(squares, rng.randint(6, 18)):
            player, is_king = int(rng.random() < 0.7), rng.random() < 0.4
            far = 0 if plain.forward(player) < 0 else game.shape[0] - 1
            plain.pieces[cell] = (player, is_king or cell[0] == far)
        marks = "." + "".join(piece.symbol for piece in game.pieces)
        position = game.from_board("/".join("".join(marks[v] for v in row) for row in plain.board()), 0)
        if position.outcome is not None:
            assert plain.turns() == []
            continue
        ours = turns_of(position)
        theirs = {tuple((y * plain.size + x) // 2 + 1 for y, x in cells): jumped for cells, jumped in plain.turns()}
        assert set(ours) == set(theirs), position
        for path, jumped in theirs.items():
            gone = np.argwhere((position.board > 2) & (ours[path].board == 0))
            assert sorted(map(tuple, gone.tolist())) == sorted(jumped)
            long = max(long, len(jumped))
    assert long >= 3


# The rules, one by one.


def board(spec, picture, rest):
    return load_game(spec).from_board(f"{one_line(picture)} {rest}")


def moves(position):
    return [position.move_text(action) for action in position.legal_actions]


MAN_BETWEEN_TWO = """
    . . . . . . . .
    . . . . . . . .
    . b . b . . . .
    . . w . . . . .
    . . . . . . . .
    w . w . . . . .
    . . . . . . . .
    . . . . . . . .
"""


def test_a_capture_must_be_made_and_goes_on():
    position = board("draughts", MAN_BETWEEN_TWO, "b")
    assert moves(position) == ["10x17", "9x18"]
    with pytest.raises(IllegalMove, match="9-13 leaves out a capture"):
        position.play("9-13")
    with pytest.raises(BadMove, match="'3-4' is not a move; write 11-15, and 11x18 for a jump"):
        position.play("3-4")


TWO_IN_A_ROW = """
    . . . . . . . .
    . . . . . . . .
    . b . b . . . .
    . . w . . . . .
    . . . . . . . .
    . . w . w . . .
    . . . . . . . .
    . . . . . . . .
"""


def test_the_piece_that_captures_goes_on():
    position = board("draughts", TWO_IN_A_ROW, "b").play("9x18")
    assert (position.to_play, position.facts) == (0, "18x14")
    assert position.board[3, 2] == 3, "what is captured is taken off when the turn ends"
    assert moves(position) == ["18x25", "18x27"]
    with pytest.raises(IllegalMove, match="10-15 does not go on with the capture 18x14"):
        position.play("10-15")
    assert position.game.from_board(position.diagram()) == position
    assert position.game.from_board(position.diagram()).legal_actions == position.legal_actions
    after = position.play("18x27")
    assert (after.to_play, after.facts) == (1, "")
    assert after.diagram() == "8/8/3b4/8/8/2w5/5b2/8 w 0"


def test_crowning_ends_an_english_move():
    picture = """
        . . . . . . . .
        . . . . . . . .
        . . . . . . . .
        . . . . . . . .
        . . . . . . . .
        . . b . . . . .
        . . . w . w . .
        . . . . . . . .
    """
    position = board("draughts", picture, "b").play("22x31")
    assert position.to_play == 1
    assert position.diagram() == "8/8/8/8/8/8/5w2/4B3 w 0"


def test_an_international_man_that_goes_on_is_not_crowned():
    position = from_pdn(load_game("international"), "W:W11:B7,8,40").play("11x2")
    assert position.facts == "2x7"
    assert position.game.from_board(position.diagram()) == position
    after = position.play("2x13")
    assert after.diagram() == "10/10/5w4/10/10/10/10/8b1/10/10 b 0"


def test_an_international_man_is_crowned_where_it_ends():
    after = from_pdn(load_game("international"), "W:W11:B7,40").play("11x2")
    assert after.diagram() == "3W6/10/10/10/10/10/10/8b1/10/10 b 0"


def test_the_most_must_be_captured():
    position = from_pdn(load_game("international"), "W:W31,34:B27,29,19")
    assert moves(position) == ["34x23"]
    with pytest.raises(IllegalMove, match="31-22 leaves out a capture, or does not capture the most"):
        position.play("31x22")


KINGS = """
    . . . . . . . B
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    W . . . . . . .
"""


def test_a_position_that_comes_a_third_time_is_a_draw():
    position = board("draughts", KINGS, "b")
    for _ in range(2):
        assert position.outcome is None
        for move in ("4-8", "29-25", "8-4", "25-29"):
            position = position.play(move)
    assert position.outcome is not None and position.outcome.winner is None
    assert position.ply == 8


def test_forty_moves_without_a_capture_are_a_draw():
    position = board("draughts", KINGS, "b 79")
    assert position.diagram().endswith(" b 79")
    assert position.outcome is None
    assert position.play("4-8").outcome.winner is None


def test_two_kings_against_one_have_five_moves():
    position = load_game("international").from_board("9B/10/10/10/10/10/10/10/10/W1W7 w 9")
    assert position.play("47-42").outcome.winner is None
    assert load_game("international").from_board("9B/8B1/10/10/10/10/10/10/10/W1W7 w 9").play("46-41").outcome is None


def test_who_cannot_move_has_lost():
    assert load_game("draughts").from_board("8/8/8/8/8/2b5/1b6/w7 w").outcome.winner == 0
    assert load_game("draughts").from_board("8/8/8/8/8/8/1w6/8 b").outcome.winner == 1


@pytest.mark.parametrize(
    ("diagram", "message"),
    [
        ("b7/8/8/8/8/8/8/w7 b", "pieces stand on dark squares"),
        ("1w6/8/8/8/8/8/8/8 w", "a man of White stands on the far row"),
        ("8/8/8/8/8/8/8/w7 w 18x", "'18x' is no capture"),
        ("8/8/8/8/8/8/8/w7 w 18x14", "White has no piece on 18"),
        ("8/8/8/8/8/8/8/w7 w 3 what", "'what' is no fact"),
    ],
)
def test_diagrams_that_are_refused(diagram, message):
    with pytest.raises(BadDiagram, match=message):
        load_game("draughts").from_board(diagram)


def test_planes_show_a_capture_under_way():
    planes = board("draughts", TWO_IN_A_ROW, "b").play("9x18").encode()
    assert planes[0].sum() == 2 and planes[2].sum() == 3 and planes[7].all()
    assert np.argwhere(planes[4]).tolist() == [[4, 3]]
    assert np.argwhere(planes[5]).tolist() == [[3, 2]]


def test_where_an_action_leads():
    game = load_game("international")
    for action in range(game.actions):
        cells = game.parameters.from_to(action)
        assert (cells is None) == game.action_text(action).startswith("#")
        if cells:
            (y, x), (to_y, to_x) = (divmod(cell, 10) for cell in cells)
            assert abs(y - to_y) == abs(x - to_x) == action // 100 % 9 + 1


# A live peer.


def test_the_same_games_as_openspiel():
    """OpenSpiel's board stands the other way round; it draws after 40 plies, and does not know repetition."""
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    game, peer, rng, ends = load_game("checkers"), pyspiel.load_game("checkers"), random.Random(1), Counter()

    def name(action):
        return "".join("abcdefgh"[7 - cell % 8] + str(cell // 8 + 1) for cell in game.parameters.from_to(action))

    for _ in range(60):
        position, state = game.start(), peer.new_initial_state()
        while position.outcome is None and not state.is_terminal():
            ours = {name(action): action for action in position.legal_actions}
            theirs = {state.action_to_string(action): action for action in state.legal_actions()}
            assert ours.keys() == theirs.keys(), position
            assert position.to_play == state.current_player()
            move = rng.choice(sorted(ours))
            position = position.play(ours[move])
            state.apply_action(theirs[move])
        if position.outcome is None:
            assert state.returns()[0] == 0
            assert (position.board > 0).sum() == (back(position, 40).board > 0).sum()
            ends["drawn there"] += 1
        elif position.outcome.winner is None:
            assert not state.is_terminal()
            ends["drawn here"] += 1
        else:
            assert position.outcome.value_for(0) == state.returns()[0]
            ends["won"] += 1
    assert ends["won"] > 30 and ends["drawn there"] > 0


def back(position, plies):
    for _ in range(plies):
        position = position.previous
    return position
