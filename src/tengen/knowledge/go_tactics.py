"""Tactical positions of 9×9 Go, each with its answer and why: what reading is needed for, and intuition is not enough.

In most positions all but one fight is settled: White lives at the top, Black lives below, one group between them does
or does not, and komi is such that this decides the game: whoever finds the answer wins, and nothing else does. The
ladders are on an open board: what is read there is sure, what it is worth is not. X is Black.

Ladders were checked by GNU Go's reading, all others by searches of each move; `tests/knowledge/test_go_tactics.py` does
it again, `bench/tactics.py` shows who solves what.
"""

from __future__ import annotations

from typing import NamedTuple

from tengen.games import load_game
from tengen.rules.game import Position

TOP = ".O.O.O.O./OOOOOOOOO/OOOOOOOOO/OOOOOOOOO/XXXXXXXXX/"  # White's five eyes, and Black's wall below them
LADDER = "...XX.OO./..XOX.O../..XOOX.O./...XOO{g6}../....X..../..X....{h4}./.X....{g3}../........./........."


class Tactic(NamedTuple):
    """A position and its answers."""

    kind: str
    title: str
    diagram: str
    to_play: str  # X or O
    answers: tuple[str, ...]  # any of them; none: whatever is not wrong
    why: str
    komi: float = 5.5
    wrong: tuple[str, ...] = ()
    reading: str = ""  # what GNU Go is asked, and what it answers: "attack f6 = 1"

    @property
    def game(self) -> str:
        """The spec of the game, with the komi that makes the answer decide it."""
        return f"go:size=9,komi={self.komi:g}"

    def position(self) -> Position:
        return load_game(self.game).from_board(self.diagram, self.to_play)

    def is_solved_by(self, played: str) -> bool:
        """Whether a move, as people write it, is an answer."""
        return played in self.answers if self.answers else played not in self.wrong


def ladder(**stones: str) -> str:
    """White's five stones run down the board; `stones` stand where they matter."""
    return LADDER.format(**{"g6": ".", "h4": ".", "g3": ".", **stones})


THREE = TOP + "X.XXXXX.X/XXXXXXXXX/XOOOOOX../XO...OX.."
CORNER = TOP + "XXXXX.X.X/OOXXXXXXX/.OOX...../..OX....."
BULKY = TOP + "XXXXXX.X./XOOOOXXXX/XO..OOX../XO...OX.."
PYRAMID = TOP + "X.XXXXX.X/XXOOOXXXX/XOO.OOX../XO...OX.."
BENT = TOP + "X.XXXXX.X/XXXOOOXXX/XXOO..OX./XXO..OOX."
CROSSED = TOP + "XXXXXX.X./XOO.OOXXX/XO...OX../XOO.OOX.."
SIX = TOP + "XXXXX.X.X/OOOOXXXXX/...OX..../...OX...."
RACE = TOP + "XXXXXXX.X/XOOOOOOXX/XOXXXXOX./.O.X..OX."
SHORT_RACE = TOP + "XXXXXXX.X/XOOOOOOXX/XOXXXXOX./XO.X..OX."
SNAPBACK = TOP + "X.XXXXXXX/XXOOXOOOO/XXOOXO.O./.X..OOOOO"
KO = TOP + "X.XXXXXXX/XXXXOOOOO/XXXO.O.O./.XXXOOOOO"

POSITIONS = (
    Tactic(
        "ladder",
        "a ladder that works",
        ladder(),
        "X",
        ("g6",),
        "White's only way on is down the diagonal, and nothing waits there.",
        komi=19.5,
        reading="attack f6 = 1",
    ),
    Tactic(
        "ladder",
        "a ladder that does not",
        ladder(h4="O"),
        "X",
        (),
        "h4 stands in the way: whoever chases is left with stones that are cut to pieces.",
        komi=19.5,
        wrong=("g6",),
        reading="attack f6 = 0",
    ),
    Tactic(
        "ladder",
        "out of a broken ladder",
        ladder(g6="X", h4="O"),
        "O",
        ("f5",),
        "In atari, but h4 helps: White runs, and Black has too many cuts.",
        komi=22.5,
        reading="defend f6 = 1",
    ),
    Tactic(
        "ladder",
        "a breaker further down",
        ladder(g6="X", g3="O"),
        "O",
        ("f5",),
        "The same with g3: the ladder meets it four moves later.",
        komi=16.5,
        reading="defend f6 = 1",
    ),
    Tactic(
        "snapback",
        "the throw-in",
        SNAPBACK,
        "X",
        ("d1",),
        "If White takes d1 from c1, five stones live by d1 alone. c1 first lets White connect.",
        komi=-22.5,
    ),
    Tactic(
        "snapback",
        "against the throw-in",
        SNAPBACK,
        "O",
        ("d1",),
        "The only connection: c1 leaves the cut at d1.",
        komi=-22.5,
    ),
    Tactic("ko", "take it", KO, "X", ("e2",), "Black takes the ko, and White has no threat to make.", komi=-20.5),
    Tactic("ko", "connect", KO, "O", ("e2",), "White ends the ko before it begins.", komi=-20.5),
    Tactic("race", "five stones against ten", RACE, "X", ("f1",), "From the right; e1 takes a liberty of one's own."),
    Tactic("race", "ten stones against five", RACE, "O", ("f1",), "The point that both need: White is one move ahead."),
    Tactic(
        "race", "a liberty less", SHORT_RACE, "X", ("c1", "f1"), "White has two liberties left, and Black fills one."
    ),
    Tactic("race", "with two liberties", SHORT_RACE, "O", ("f1",), "In time: Black, in atari next, cannot fill both."),
    Tactic("nakade", "three in a row", THREE, "X", ("d1",), "In the middle, or White makes an eye on either side."),
    Tactic("nakade", "three around the corner", CORNER, "X", ("a1",), "The middle of the three is the corner itself."),
    Tactic("nakade", "four like a pyramid", PYRAMID, "X", ("d1",), "The point that touches the other three."),
    Tactic("nakade", "five in a bulk", BULKY, "X", ("d1",), "Where the square and the fifth point meet."),
    Tactic("nakade", "five in a cross", CROSSED, "X", ("d2",), "The centre; each other point is an eye away from it."),
    Tactic("nakade", "four that bend", BENT, "X", ("e1",), "One of the inner two; Black's stones do the rest."),
    Tactic("eye shape", "three in a row", THREE, "O", ("d1",), "Two eyes at once."),
    Tactic("eye shape", "three around the corner", CORNER, "O", ("a1",), "Two eyes at once."),
    Tactic("eye shape", "four like a pyramid", PYRAMID, "O", ("d1",), "Three eyes, of which two are enough."),
    Tactic("eye shape", "five in a bulk", BULKY, "O", ("d1", "d2", "c1"), "Any point that leaves two parts."),
    Tactic("eye shape", "five in a cross", CROSSED, "O", ("d2",), "Four eyes."),
    Tactic("eye shape", "four that bend", BENT, "O", ("e1", "e2"), "Either of the inner two."),
    Tactic("eye shape", "six in the corner", SIX, "O", ("b1", "b2"), "Either of the middle two parts the room."),
)
