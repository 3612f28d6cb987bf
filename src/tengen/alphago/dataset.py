"""Records as a dataset: any SGF of 9×9 Go becomes positions and the moves that were played there.

A game may begin with handicap stones or any others; passes are moves like others. What cannot be learned from is left
out and counted by its reason. A game that is there twice, turned or mirrored perhaps, is there once. Games are held out
whole, by a hash of the game, so no position of a held-out game was ever learned from, and a dataset that grows
keeps its division.

Positions are kept as their 27 planes, a bit a point. The symmetries of the board are for those who draw batches.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tengen.games.go import EMPTY, cell_of, illegal_kind, put_stone, remember
from tengen.knowledge.go_planes import PLANES, check_size, encode_states
from tengen.records.grammar import SgfNode, read_games, unescape_line
from tengen.records.record import COLOURS, LONGEST, RecordError
from tengen.records.sgf import SETUP, read_move, sgf_text
from tengen.rules.contract import kernel, play, start
from tengen.rules.errors import BadMove, BadParameter, TengenError
from tengen.rules.game import Game
from tengen.rules.kernels import entry

GAMES_AT_ONCE = 64  # that a thread encodes
TWICE = "the same game is there already"
NO_LIBERTY, ALL_LEGAL = -2, -1  # what `replay_games` answers where it is not the ply of an illegal move
Progress = Callable[[int, int], None]  # how much is done, of how much


class Unfit(Exception):
    """A game that is left out, and why: one of a few texts, which are counted."""


class RecordedGame(NamedTuple):
    """A game of a record."""

    board: np.ndarray  # [cells]: stones that it begins with
    to_play: int  # who moves first
    moves: list[int]
    players: tuple[str, str]  # Black, White
    opening: int  # plies that nobody chose
    winner: int  # a player, or −1 if that is not known


# Reading.


def record_files(source: Path) -> list[Path]:
    """The files of a source: itself, or all SGF in a folder and those below it."""
    if source.is_file():
        return [source]
    found = sorted(path for path in source.rglob("*") if path.name.lower().endswith((".sgf", ".sgf.gz")))
    if not found:
        what = "a folder without .sgf or .sgf.gz files" if source.is_dir() else "not there"
        raise BadParameter(f"{source} is {what}; `tengen records corpus --out FILE` makes records to learn from")
    return found


def read_source(path: Path) -> str:
    """A file's text; a compressed one may not swell beyond what we read of any file."""
    try:
        with gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb") as file:
            return sgf_text(file.read(LONGEST + 1))
    except (OSError, EOFError) as reason:
        raise Unfit("the file cannot be read") from reason
    except RecordError as reason:
        raise Unfit("the file is too long, or in an unknown charset") from reason


def games_of(path: Path, game: Game) -> Iterator[RecordedGame | Unfit]:
    """The games of a file, or why one cannot be read. What follows broken grammar is lost."""
    try:
        for root in read_games(read_source(path)):
            try:
                yield read_game(root, game)
            except Unfit as reason:
                yield reason
    except RecordError:
        yield Unfit("the file is not SGF, or broken from some place on")
    except Unfit as reason:
        yield reason


def read_game(root: SgfNode, game: Game) -> RecordedGame:
    """The main line of a game, its moves not yet played by the rules."""
    if value_of(root, "GM") not in ("", "1"):
        raise Unfit("another game than Go")
    size = game.shape[0]
    if value_of(root, "SZ") not in (str(size), f"{size}:{size}"):
        raise Unfit(f"another board than {size}×{size}")
    board, first, moves = np.zeros(game.cells, np.int8), None, list[int]()
    for node in root.line():
        if any(name in node for name in SETUP):
            if moves:
                raise Unfit("stones are set up during the game")
            set_stones(board, node, game)
        played = [(player, value) for player, colour in enumerate(COLOURS) for value in node.get(colour, [])]
        for player, value in played:
            first = player if first is None else first
            if moves[-2:] == [game.cells] * 2:  # the game is over, whatever follows
                break
            if player != (first + len(moves)) % 2:
                raise Unfit("a player moves out of turn")
            moves.append(point_of(value, game))
    if not moves:
        raise Unfit("no moves")
    result, opening = value_of(root, "RE")[:2].upper(), value_of(root, "TO")
    return RecordedGame(
        board=board,
        to_play=first or 0,
        moves=moves,
        players=(value_of(root, "PB"), value_of(root, "PW")),
        opening=int(opening) if re.fullmatch(r"[0-9]{1,4}", opening) else 0,
        winner={"B+": 0, "W+": 1}.get(result, -1),
    )


def value_of(node: SgfNode, name: str) -> str:
    return unescape_line(node[name][0]) if name in node else ""


@lru_cache(maxsize=4096)
def point_of(text: str, game: Game) -> int:
    """The action of a move's value; there are few of them, and a corpus has millions."""
    try:
        return read_move(game, unescape_line(text))
    except (BadMove, TengenError):
        raise Unfit("a move that cannot be read") from None


def set_stones(board: np.ndarray, node: SgfNode, game: Game) -> None:
    """Puts a node's stones on the board; a list may have rectangles, as aa:cc."""
    for name, stone in (("AB", 1), ("AW", 2), ("AE", 0)):
        for value in node.get(name, []):
            one, _, other = value.partition(":")
            (top, left), (bottom, right) = (divmod(point_of(end, game), game.shape[1]) for end in (one, other or one))
            if max(top, bottom) >= game.shape[0]:
                raise Unfit("a move that cannot be read")
            board.reshape(game.shape)[top : bottom + 1, left : right + 1] = stone


def game_key(game: Game, moves: Sequence[int], board: np.ndarray | None = None) -> bytes:
    """A hash of a game: of its first board and its moves. It is the same for a game that is turned or mirrored."""
    stones = np.zeros(game.cells, np.int8) if board is None else board.reshape(-1).astype(np.int8)
    turned = np.zeros((len(game.symmetries), game.cells), np.int8)
    np.put_along_axis(turned, game.symmetries, np.broadcast_to(stones, turned.shape), 1)
    played = game.action_symmetries[:, np.asarray(moves, np.int64)].astype(np.int16)
    least = min(one.tobytes() + other.tobytes() for one, other in zip(turned, played, strict=True))
    return blake2b(least, digest_size=16).digest()


@dataclass
class Records:
    """The games of a source, each once and legal, and what was left out."""

    game: Game
    games: list[RecordedGame] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    files: int = 0

    def words(self) -> str:
        moves = sum(len(one.moves) for one in self.games)
        out = "".join(f"; {count:,} left out: {reason}" for reason, count in self.left_out.most_common())
        return f"{len(self.games):,} games with {moves:,} moves in {self.files:,} files{out}"

    def is_held_out(self, number: int, share: float) -> bool:
        return int.from_bytes(self.keys[number][:8], "big") < share * 2**64


def read_records(source: Path, game: Game, progress: Progress = lambda done, total: None) -> Records:
    """All games of a source that can be learned from."""
    check_size(game)
    found, seen = Records(game), set[bytes]()
    files = record_files(source)
    for number, path in enumerate(files):
        read = list(games_of(path, game))
        found.left_out.update(str(one) for one in read if isinstance(one, Unfit))
        played = [one for one in read if not isinstance(one, Unfit)]
        for one, ply in zip(played, first_illegal(game, played), strict=True):
            key = game_key(game, one.moves, one.board)
            if ply != ALL_LEGAL:
                found.left_out["stones without a liberty" if ply == NO_LIBERTY else "an illegal move"] += 1
            elif key in seen:
                found.left_out[TWICE] += 1
            else:
                seen.add(key)
                found.games.append(one)
                found.keys.append(key)
        progress(number + 1, len(files))
    found.files = len(files)
    if not found.games:
        raise BadParameter(f"{source} has no game to learn from: {found.words()}")
    return found


# Playing.


@kernel
def set_up(game, state, board, to_play):
    """Sets up a state that is all zeros: the game's start, or stones; and who moves first."""
    start(game, state)
    for player in range(2):
        for point in range(len(board)):
            if board[point] == player + 1:
                put_stone(game, state, cell_of(game, point), player)
    state.positions = 0
    state.lost[:] = 0
    state.to_play = to_play
    remember(state)


@kernel
def may_play(game, state, action):
    """Whether an action of 0 … cells is legal in a game that goes on."""
    if action == game.size * game.size:
        return True
    cell = cell_of(game, action)
    return state.cells[cell] == EMPTY and illegal_kind(game, state, cell) == 0


@entry
def replay_games(game, states, boards, firsts, moves, begins, ends, is_learned, blank, verdicts):
    """Plays games: a verdict for each, and the states before all moves that are learned from, in order.

    A verdict is ALL_LEGAL, NO_LIBERTY, or the ply of the first illegal move, where the game is left. `blank` [2] is
    memory for a game; blank[1] is all zeros.
    """
    count = 0
    for i in range(len(begins)):
        state = blank[0]
        blank[0] = blank[1]
        set_up(game, state, boards[i], firsts[i])
        verdicts[i] = ALL_LEGAL
        for point in range(game.size * game.size):
            if state.cells[cell_of(game, point)] != boards[i, point]:
                verdicts[i] = NO_LIBERTY
        for index in range(begins[i], ends[i]):
            if verdicts[i] == ALL_LEGAL and (state.over != 0 or not may_play(game, state, moves[index])):
                verdicts[i] = index - begins[i]
            if verdicts[i] != ALL_LEGAL:
                break
            if is_learned[index]:
                states[count] = blank[0]
                count += 1
            play(game, state, moves[index])


class GameArrays(NamedTuple):
    """Games as kernels take them."""

    boards: np.ndarray  # [games, cells]
    firsts: np.ndarray  # [games]
    moves: np.ndarray  # [plies of all games]
    begins: np.ndarray  # [games]
    ends: np.ndarray  # [games]


def lines_of(game: Game, games: Sequence[RecordedGame]) -> GameArrays:
    ends = np.cumsum([len(one.moves) for one in games], dtype=np.int64)
    return GameArrays(
        boards=np.array([one.board for one in games], np.int8).reshape(-1, game.cells),
        firsts=np.array([one.to_play for one in games], np.uint8),
        moves=np.array([move for one in games for move in one.moves], np.int64),
        begins=np.concatenate([np.zeros(1, np.int64), ends[:-1]])[: len(games)],
        ends=ends,
    )


def first_illegal(game: Game, games: Sequence[RecordedGame]) -> list[int]:
    """For each game ALL_LEGAL, NO_LIBERTY, or the ply of its first illegal move."""
    verdicts, lines = np.full(len(games), ALL_LEGAL, np.int64), lines_of(game, games)
    nothing = np.zeros(len(lines.moves), np.bool_)
    replay_games(game.parameters, game.new_states(1), *lines, nothing, game.new_states(2), verdicts)
    return verdicts.tolist()


class Positions(NamedTuple):
    """Positions, and what was played there."""

    planes: np.ndarray  # [positions, 27, bytes]: packed bits, the lowest first
    actions: np.ndarray  # [positions]


def is_chosen(one: RecordedGame, players: str) -> list[bool]:
    """For each move whether to learn from it: it was chosen by a player whose name matches the pattern `players`."""
    wanted = [fnmatchcase(name, players) for name in one.players]
    return [ply >= one.opening and wanted[(one.to_play + ply) % 2] for ply in range(len(one.moves))]


def positions_of(
    game: Game, games: Sequence[RecordedGame], players: str = "*", progress: Progress = lambda done, total: None
) -> Positions:
    """The positions in which a player whose name matches `players` chose the move, in order; uses all cores."""
    parts = [games[begin : begin + GAMES_AT_ONCE] for begin in range(0, len(games), GAMES_AT_ONCE)]

    def encode(part: Sequence[RecordedGame]) -> Positions:
        lines = lines_of(game, part)
        is_learned = np.array([wanted for one in part for wanted in is_chosen(one, players)], np.bool_)
        states = game.new_states(int(is_learned.sum()))
        verdicts = np.zeros(len(part), np.int64)
        replay_games(game.parameters, states, *lines, is_learned, game.new_states(2), verdicts)
        return Positions(packed(encode_states(game, states)), lines.moves[is_learned].astype(np.int16))

    made = [Positions(packed(np.zeros((0, PLANES, game.cells), np.uint8)), np.zeros(0, np.int16))]
    with ThreadPoolExecutor() as pool:
        for done, part in enumerate(pool.map(encode, parts), 1):
            made.append(part)
            progress(done, len(parts))
    return Positions(*(np.concatenate(columns) for columns in zip(*made, strict=True)))


def packed(planes: np.ndarray) -> np.ndarray:
    """Planes [n, planes, cells] of zeros and ones as bits [n, planes, bytes]."""
    return np.packbits(planes, axis=2, bitorder="little")
