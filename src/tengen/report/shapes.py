"""What pieces look like: outlines as SVG path data, and the colours of those who own them.

A shape is drawn in a square of 40 units, of which pieces leave the outermost ones free. It is filled by the rule
evenodd, so that an outline within another one is a hole, and drawn once more around its edge.
"""

from __future__ import annotations

from typing import NamedTuple

from tengen.rules.board import STONES, Piece
from tengen.rules.game import Game


def disc(radius: float) -> str:
    """A disc about the middle."""
    return f"M20 {20 - radius}a{radius} {radius} 0 1 1 0 {2 * radius}a{radius} {radius} 0 1 1 0 {-2 * radius}z"


def foot(reach: float) -> str:
    """What a chess piece stands on, so wide to each side."""
    left, right = 20 - reach, 20 + reach
    return f"M{left} 35c0-2.6.9-3.9 2.7-3.9H{right - 2.7}c1.8 0 2.7 1.3 2.7 3.9z"


QUEEN = (
    "M8.6 12.6L13 18.8L14.1 10.2L17.7 17.6L20 9L22.3 17.6L25.9 10.2L27 18.8L31.4 12.6L27.6 25.2C27.2 "
    "26.6 27.7 28 28.5 "
    "29.4H11.5C12.3 28 12.8 26.6 12.4 25.2zM14.2 24.2L14.5 25.6H25.5L25.8 24.2z"
    "M7.8 8.6a1.9 1.9 0 1 1 0 3.8a1.9 1.9 0 1 1 0-3.8zM13.7 6.3a1.9 1.9 0 1 1 0 3.8a1.9 1.9 0 1 1 0-3.8z"
    "M20 5a1.9 1.9 0 1 1 0 3.8a1.9 1.9 0 1 1 0-3.8zM26.3 6.3a1.9 1.9 0 1 1 0 3.8a1.9 1.9 0 1 1 0-3.8z"
    "M32.2 8.6a1.9 1.9 0 1 1 0 3.8a1.9 1.9 0 1 1 0-3.8z"
) + foot(10.5)

PATHS = {
    "stone": disc(15),
    "man": disc(15) + disc(11.2) + disc(9.6),
    "crowned": disc(15) + "M11.6 14.4L16.2 18.2L20 11.2L23.8 18.2L28.4 14.4L26.6 24H13.4zM13.6 25.6H26.4V27.8H13.6z",
    "pawn": (
        "M16.4 17.4A5.7 5.7 0 1 1 23.6 17.4H25.3a1.15 1.15 0 0 1 0 2.3H23.3C23.7 24 25.7 26.6 27.4 "
        "29.4H12.6C14.3 26.6 "
        "16.3 24 16.7 19.7H14.7a1.15 1.15 0 0 1 0-2.3z"
    )
    + foot(9.3),
    "knight": (
        "M19.6 5L20.8 8.1C26.8 9 30.4 14.4 29.8 21.4C29.6 24.4 28.8 27 28.6 29.4H12.6C12.6 25.4 15.4 23.6 "
        "17.6 21C18.5 "
        "19.9 18.8 18.9 18.8 17.6C17 19.8 15 20.7 13.2 21.1C12.2 22 11.8 23.7 10.5 24C9 24.3 6.8 22.8 6.8 "
        "20.7C6.8 18.6 "
        "9.6 16.2 10.6 13.6C11.3 11.6 12.8 9.9 14.8 8.7L15 5.2L17.6 7.4z"
        "M14.5 12.2a1.25 1.25 0 1 1 0 2.5a1.25 1.25 0 1 1 0-2.5z"
    )
    + foot(10),
    "bishop": (
        "M20 8.6C21.5 9.9 23.1 11.2 24.3 12.6L20 16.9L21.3 18.2L25.5 14.2C26.3 15.4 26.8 16.7 26.8 18.1C26.8 "
        "20.2 25.6 "
        "21.7 24 22.5H25.4a1.15 1.15 0 0 1 0 2.3H24C24.6 26.7 25.9 28.1 27.5 29.4H12.5C14.1 28.1 15.4 26.7 "
        "16 24.8H14.6a"
        "1.15 1.15 0 0 1 0-2.3H16C14.4 21.7 13.2 20.2 13.2 18.1C13.2 14 17.3 11 20 8.6z"
        "M20 4.2a2 2 0 1 1 0 4a2 2 0 1 1 0-4z"
    )
    + foot(9.8),
    "rook": (
        "M11 7.2H15V10.2H17.9V7.2H22.1V10.2H25V7.2H29V13C29 14.3 27.4 15.3 25.8 16.1L26.6 26L28.4 "
        "29.4H11.6L13.4 26L14.2 "
        "16.1C12.6 15.3 11 14.3 11 13zM15.6 17.4L15.5 18.8H24.5L24.4 17.4z"
    )
    + foot(10.5),
    "queen": QUEEN,
    "king": (
        "M18.8 3.4H21.2V5.7H23.5V8.1H21.2V10.8C22.8 11.3 23.8 12.4 23.9 14C26.2 11.9 31.8 12.4 31.8 "
        "17.4C31.8 20.6 29.2 "
        "22.9 27.6 25.2C27.2 26.6 27.7 28 28.5 29.4H11.5C12.3 28 12.8 26.6 12.4 25.2C10.8 22.9 8.2 20.6 8.2 "
        "17.4C8.2 12.4 "
        "13.8 11.9 16.1 14C16.2 12.4 17.2 11.3 18.8 10.8V8.1H16.5V5.7H18.8zM14.2 24.2L14.5 25.6H25.5L25.8 24.2z"
    )
    + foot(10.5),
    "amazon": QUEEN,
    "arrow": "M9 5H31a4 4 0 0 1 4 4V31a4 4 0 0 1-4 4H9a4 4 0 0 1-4-4V9a4 4 0 0 1 4-4z",
    "wall": "M9 5H31a4 4 0 0 1 4 4V31a4 4 0 0 1-4 4H9a4 4 0 0 1-4-4V9a4 4 0 0 1 4-4z",
}


class Tint(NamedTuple):
    """How the pieces of a player are coloured."""

    fill: str
    edge: str  # of the piece: it is seen on light and on dark squares
    ink: str  # of a number on it


TINTS = {
    "black": Tint("#26272b", "#efe6d4", "#ffffff"),
    "white": Tint("#fdfaf2", "#2a241c", "#1c1c1e"),
    "red": Tint("#d0402f", "#fbe9e2", "#ffffff"),
    "blue": Tint("#2f6fc4", "#e6effa", "#ffffff"),
    "green": Tint("#2f8a55", "#e4f4ea", "#ffffff"),
    "yellow": Tint("#f2c230", "#3a2d08", "#1c1c1e"),
}
USUAL = ("black", "white")


def tints_of(game: Game) -> tuple[str, str]:
    """The colours of the players' pieces: those that they are called by; else black, which begins, and white.

    Where one player is called by the colour that the other would have, the other gets the one that is left.
    """
    named = [player.lower() if player.lower() in TINTS else None for player in game.players]
    first = named[0] or (USUAL[0] if named[1] != USUAL[0] else USUAL[1])
    second = named[1] or (USUAL[1] if named[0] != USUAL[1] else USUAL[0])
    return (first, second) if first != second else USUAL


def path_of(piece: Piece) -> str:
    """The outline of a piece."""
    return PATHS.get(piece.shape, piece.shape)


def is_stone(piece: Piece) -> bool:
    """Whether a piece looks as stones do on its board: a disc, or a cross."""
    return piece.shape == "stone"


def has_own_pieces(game: Game) -> bool:
    """Whether more stands on its board than one kind of stone for each player."""
    return game.pieces != STONES
