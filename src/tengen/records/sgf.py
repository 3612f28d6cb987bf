"""Games as SGF (FF[4]): what we write others can open, and their Go, Gomoku and Othello is read.

A record is the main line. The other lines of a game are read and written beside it, as variations.

The first player is Black. Where a game's actions are the cells of its board, a move is an SGF point: the letter of the
column from the left, then of the row from the top; a pass is empty. Where they are not, a move is its own text: connect
four's column (`B[4]`), Breakthrough's two points (`B[a2a3]`).

The class of a game gives its number (GM) and the properties of its parameters (KM, RU, …): Go is GM[1], Reversi GM[2],
Gomoku and Renju GM[4]; the others get GM[0]. What a record has no place for is kept as it stands: who was of
which rank (BR, WR), the rules' name (RU), clocks (TM, BL, WL), marks and labels (TR, LB), whatever else there is. What
SGF has no property for stands in private ones: TG is the spec of the
game, TO how many plies its opening has, and TS, in the node of a move, the seconds that the move took; a last node with
TS alone is a move that was thought about and not played. GC says why the game ended, if not by its rules. So everything
we write comes back as it was.

A file that sets up stones (AB, AW) is read where that is asked for, and begins from them; PL says who moves. Two moves
of one colour in a row have a pass between them, in games that count areas; others refuse them.

A record is never trusted: its moves are played by the rules, and a spec that names a file is not loaded, because that
would run the file. What is wrong in a file is told with its line and column.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from string import ascii_letters
from typing import Any

import numpy as np

from tengen import __version__
from tengen.games import class_of, load_game, sgf_numbers
from tengen.records.grammar import (
    MOST_NODES,
    SgfNode,
    escape,
    place_text,
    read_games,
    unescape,
    unescape_line,
    write_game,
)
from tengen.records.record import (
    COLOURS,
    LONGEST,
    MOST_GAMES,
    Record,
    RecordError,
    must_pass,
    plays_points,
    recorded_game,
    result_text,
)
from tengen.rules.errors import BadMove, TengenError
from tengen.rules.game import Game, Position

SETUP = ("AB", "AW", "AE")
MOVES = ("B", "W", "C", "TS", "PL", *SETUP)  # what a record keeps in another way …
FACTS = ("FF", "CA", "AP", "GM", "SZ", "TG", "TO", "PB", "PW", "RE", "DT", "KM", "HA")  # … and of the root
CHARSET = re.compile(rb"(?<![A-Za-z])CA\s*\[([^\]]*)\]")
CHARSETS = [  # as Python names them; any other name of these will do
    *("utf-8", "ascii", "iso8859-1", "iso8859-2", "iso8859-15", "cp1250", "cp1251", "cp1252", "koi8-r"),
    *("gb2312", "gbk", "gb18030", "big5", "shift_jis", "euc_jp", "euc_kr"),
]


# Writing.


def write_sgf(*records: Record) -> str:
    """The records as one collection; raises if a move is illegal."""
    return "".join(write_game(_nodes(record)[0]) for record in records)


def _nodes(record: Record) -> list[SgfNode]:
    """The game as one line of nodes, the root first, each the child of the one before."""
    record.check()
    positions = list(record.positions())
    nodes = [_root(record, positions[0])]
    for before, action in zip(positions, record.moves, strict=False):
        nodes.append(_move_node(before, action))
    for ply, comment in record.comments.items():
        nodes[ply]["C"] = [escape(_clean(comment))]
    for ply, properties in record.properties.items():
        _put_properties(nodes[ply], properties)
    if record.opening + len(record.seconds) > len(record.moves):
        nodes.append(SgfNode())
    for node, seconds in zip(nodes[record.opening + 1 :], record.seconds, strict=False):
        node["TS"] = [repr(float(seconds))]
    for node, child in pairwise(nodes):
        node.children.append(child)
    return nodes


def _put_properties(node: SgfNode, properties: Mapping[str, Sequence[str]]) -> None:
    node.update({name: list(values) for name, values in properties.items()})


def _move_node(before: Position, action: int) -> SgfNode:
    return _node({COLOURS[before.to_play]: move_text(before.game, action)})


def _root(record: Record, start: Position) -> SgfNode:
    """The node before the first move: what game it is, who played it, how it ended."""
    game = record.game
    rows, columns = game.shape
    facts = {
        "FF": "4",
        "CA": "UTF-8",
        "AP": f"tengen:{__version__}",
        "GM": str(game.sgf_number),
        "SZ": str(rows) if rows == columns else f"{columns}:{rows}",
        "TG": game.spec,
        "TO": str(record.opening or ""),
        "PB": record.players[0],
        "PW": record.players[1],
        "RE": record.result,
        "DT": record.date,
        **game.sgf_properties(),
    }
    node = _node({name: value for name, value in facts.items() if value})
    if record.ending:
        node["GC"] = [escape(_clean(record.ending))]
    for name, owner in (("AB", 1), ("AW", 2)):  # whose a piece is; which it is, the game knows
        if cells := np.flatnonzero(start.owners == owner).tolist():
            node[name] = [point_text(game, cell) for cell in cells]
    if record.diagram:
        node["PL"] = [COLOURS[start.to_play]]
    return node


def _node(facts: dict[str, str]) -> SgfNode:
    """A node of properties that have one line each."""
    node = SgfNode()
    for name, value in facts.items():
        node[name] = [escape(" ".join(_clean(value).splitlines()))]
    return node


def _clean(text: str) -> str:
    """The text without halves of characters, which no encoding has."""
    return text.encode("utf-8", "replace").decode()


def point_text(game: Game, cell: int) -> str:
    """A cell as an SGF point."""
    y, x = divmod(cell, game.shape[1])
    return ascii_letters[x] + ascii_letters[y]


def move_text(game: Game, action: int) -> str:
    """An action as the value of a move."""
    if not plays_points(game):
        return game.action_text(action)
    return "" if action == game.cells else point_text(game, action)


# Reading.


def sgf_text(data: str | bytes) -> str:
    """A file's text, if it is not too long."""
    if len(data) > LONGEST:
        raise RecordError(f"the file has {len(data):,} bytes; up to {LONGEST:,} are read")
    return _clean(data) if isinstance(data, str) else _decode(data)


def read_sgf(data: str | bytes, game: Game | None = None, with_setup: bool = False) -> list[Record]:
    """The games of a file, the main line of each; raises RecordError if one cannot be read.

    Records of a game that is a user's file are read by `game`, which must be that game. Those that begin from a diagram
    are read `with_setup` alone: whoever plays moves from the game's own start would play others.
    """
    text = sgf_text(data)
    records: list[Record] = []
    for root in read_games(text):
        reader = _Reader(root, game, with_setup)
        try:
            records.append(reader.read())
        except TengenError as reason:
            where = f"game {len(records) + 1}: " if records else ""
            raise RecordError(f"{where}{reason} ({place_text(text, reader.node.place)})") from reason
        if len(records) > MOST_GAMES:
            raise RecordError(f"the file has more than {MOST_GAMES:,} games; divide it")
    return records


def _decode(data: bytes) -> str:
    """The file's text, by the charset it names (CA), else as UTF-8. Before the grammar: `]` may be half a character."""
    match = CHARSET.search(data[:1000])
    charset = (match[1].decode("latin-1").strip().lower() if match else "") or "utf-8"
    try:
        if codecs.lookup(charset).name not in CHARSETS:
            raise LookupError
    except (LookupError, ValueError):
        raise RecordError(f"the charset {charset[:40]!r} is not known; {', '.join(CHARSETS)} are") from None
    return data.decode(charset, "replace").removeprefix("\ufeff")


class _Reader:
    """Plays a main line. `node` is where it has come to: what is wrong is wrong there."""

    def __init__(self, root: SgfNode, given: Game | None, with_setup: bool = False):
        self.root, self.given, self.with_setup = root, given, with_setup
        self.node = root

    def read(self) -> Record:
        root, is_ours = self.root, "TG" in self.root
        position = start = _start(root, self.given, self.with_setup)
        properties: dict[int, dict[str, tuple[str, ...]]] = {}
        opening = _whole_number(root, "TO")
        comments: dict[int, str] = {}
        seconds: list[float] = []
        for node in root.line():
            self.node = node
            before, position = position, _play_node(position, node, is_root=position is start)
            _add_comment(comments, position, node)
            _add_properties(properties, position, node, is_root=node is root)
            if "TS" in node:
                if before.ply - opening != len(seconds):
                    raise RecordError("TS belongs into the nodes of moves after the opening, without a gap")
                seconds.append(_number(node, "TS"))
        record = Record.of(
            position,
            (_text(root, "PB"), _text(root, "PW")),
            comments,
            result=_result(root, position),
            date=_text(root, "DT"),
            opening=opening,
            seconds=tuple(seconds),
            ending=unescape(root["GC"][0])
            if is_ours and "GC" in root
            else "",  # in other people's files it is any comment on the game
            properties=properties,
        )
        record.check()
        return record


def _result(root: SgfNode, position: Position) -> str:
    """What the file says; where it is silent, what the rules say. A winner whom the rules refute is no result.

    Where areas are counted the players agree on what is dead, and our rules do not know: there the file is believed.
    """
    told, known = _text(root, "RE"), result_text(position.game, position.outcome)
    if position.outcome is None or position.game.scoring == "area":
        return told or known
    said = Record(position.game, (), result=told).outcome
    if said is not None and said.winner != position.outcome.winner:
        raise RecordError(f"RE[{told}] says who won, but by the moves it is {known}")
    return told if said is not None else known


def _text(node: SgfNode, name: str) -> str:
    """A property's one line of text, or nothing if the node does not have it."""
    return unescape_line(node[name][0]) if name in node else ""


def _foreign_game(root: SgfNode) -> Game:
    """The game of a file that others wrote. No text of it goes into a spec: that could name a file to run."""
    number, numbers = _text(root, "GM") or "1", {str(one): name for one, name in sgf_numbers().items()}
    if number not in numbers:
        known = ", ".join(f"{load_game(name).title} is GM[{one}]" for one, name in numbers.items())
        raise RecordError(f"no game of ours is GM[{number}]; {known}")
    name = numbers[number]
    parameters: dict[str, Any] = {"size": _board_size(_text(root, "SZ"))} if "SZ" in root else {}
    if (read := getattr(class_of(name), "sgf_parameters", None)) is not None:
        parameters |= read({key: _text(root, key) for key in root})
    return Game(name, class_of(name), parameters)


def _board_size(text: str) -> int:
    """The size of a square board: `19`, or `19:19`."""
    if not (match := re.fullmatch(r"(\d{1,3})(?::(\d{1,3}))?", text)):
        raise RecordError(f"SZ[{text}] is not the size of a board; write it as SZ[19]")
    if match[2] not in (None, match[1]):
        raise RecordError(f"SZ[{text}]: the board must be square")
    return int(match[1])


def _number(node: SgfNode, name: str) -> float:
    """A property's number; zero if the file does not say."""
    text = _text(node, name) or "0"
    try:
        return float(text)
    except ValueError:
        raise RecordError(f"{name}[{text}] is not a number") from None


def _whole_number(node: SgfNode, name: str) -> int:
    """A property's whole number; zero if the file does not say."""
    text = _text(node, name) or "0"
    if not re.fullmatch(r"[0-9]{1,6}", text):
        raise RecordError(f"{name}[{text}] is not a whole number")
    return int(text)


def _start(root: SgfNode, given: Game | None, with_setup: bool = False) -> Position:
    """The position before the first move of the game that a root names."""
    game = recorded_game(_text(root, "TG"), given) if "TG" in root else _foreign_game(root)
    nodes = list(_nodes_before_moves(root))
    if not any(name in node for node in nodes for name in SETUP):
        return game.start()
    given_stones, start = _stones(game, nodes), game.start()
    if (given_stones == start.owners).all():  # whose a piece is; which it is, the game knows
        return start
    if not with_setup:
        raise RecordError(f"the file sets up stones that are not the start of {game.spec}: that is not supported")
    if not hasattr(game.parameters, "setup") or not plays_points(game):
        raise RecordError(f"the file sets up stones, and {game.name} begins from no diagram")
    rows = ["".join(".XO"[stone] for stone in row) for row in given_stones]
    return game.from_board("/".join(rows), _first_player(root, nodes))


def _nodes_before_moves(root: SgfNode) -> Iterator[SgfNode]:
    """The root, and the nodes after it before anybody moves."""
    for node in root.line():
        if any(colour in node for colour in COLOURS):
            return
        yield node


def _stones(game: Game, nodes: Sequence[SgfNode]) -> np.ndarray:
    """The board that nodes set up: [rows, columns]."""
    board = np.zeros(game.shape, np.int8)
    for node in nodes:
        for name, stone in (("AB", 1), ("AW", 2), ("AE", 0)):
            for value in node.get(name, []):
                board[_rectangle(game, unescape_line(value))] = stone
    return board


def _rectangle(game: Game, value: str) -> tuple[slice, slice]:
    """The points of a value: one, or the corners of a rectangle, `aa:cc`."""
    corners = value.split(":") if ":" in value else [value, value]
    rows, columns = game.shape
    places = [(ascii_letters.find(one[1]), ascii_letters.find(one[0])) for one in corners if len(one) == 2]
    if len(places) != 2 or len(corners) != 2 or not all(0 <= y < rows and 0 <= x < columns for y, x in places):
        raise RecordError(f"[{value[:20]}] is no point of the board to set a stone up on")
    (top, left), (bottom, right) = places
    return slice(top, bottom + 1), slice(left, right + 1)


def _first_player(root: SgfNode, nodes: Sequence[SgfNode]) -> int:
    """Who moves first after a setup: whom PL names, else who does; White after a handicap alone, else Black."""
    for node in reversed(nodes):
        if "PL" in node:
            return int(_text(node, "PL")[:1].upper() == "W")
    for node in root.line():
        for player, colour in enumerate(COLOURS):
            if colour in node:
                return player
    return int("HA" in root and "AW" not in root)


def _add_properties(
    found: dict[int, dict[str, tuple[str, ...]]], position: Position, node: SgfNode, is_root: bool
) -> None:
    """Puts what a node says beside its move to what is kept of the position that it leads to."""
    own = {*MOVES, *FACTS} if is_root else set(MOVES)
    if is_root:
        own |= {name for name, text in position.game.sgf_properties().items() if _text(node, name) == text}
        own |= {"GC"} if "TG" in node else set()
    kept = {name: tuple(values) for name, values in node.items() if name not in own}
    if kept:
        found.setdefault(position.ply, {}).update(kept)


def _add_comment(comments: dict[int, str], position: Position, node: SgfNode) -> None:
    """Puts a node's comment, if it has one, to those on the position that the node leads to."""
    if "C" in node:
        before, own = comments.get(position.ply), unescape(node["C"][0])
        comments[position.ply] = "\n".join(filter(None, [before, own]))


def _play_node(position: Position, node: SgfNode, is_root: bool = False) -> Position:
    """The position after a node's move, if it has one."""
    if not is_root and any(name in node for name in SETUP):
        raise RecordError(f"stones are set up after move {position.ply}: that is not supported")
    moves = [(player, value) for player, colour in enumerate(COLOURS) for value in node.get(colour, [])]
    if not moves:
        return position
    if len(moves) > 1:
        raise RecordError(f"one node has {len(moves)} moves, at move {position.ply + 1}")
    player, value = moves[0]
    try:
        action = read_move(position.game, unescape_line(value))
    except BadMove as reason:
        raise RecordError(f"{reason}, at move {position.ply + 1}") from reason
    if player != position.to_play and (must_pass(position) or position.game.scoring == "area"):
        # Many files of Othello leave a forced pass out; in Go a colour may play twice in a row.
        position = position.play(position.game.cells)
        if position.outcome is not None:
            raise RecordError(f"{position.game.players[player]} moves after its own pass, at move {position.ply}")
    return position.play(action, player)


def read_move(game: Game, text: str) -> int:
    """The action of a move's value. Points may also be written as `h8`, as some programs do; `tt` is an old pass."""
    if not plays_points(game):
        return game.parse_action(text)
    rows, columns = game.shape
    if game.actions > game.cells and (not text or (text == "tt" and max(rows, columns) < 20)):
        return game.cells
    if len(text) != 2 or not (text.isascii() and text.isalpha()):
        return game.parse_action(text)
    x, y = (ascii_letters.index(letter) for letter in text)
    if x >= columns or y >= rows:
        raise BadMove(f"[{text}] is off the board, which has {columns} columns and {rows} rows")
    return y * columns + x


# Variations.


@dataclass(frozen=True)
class Variation:
    """Another line of a game. Line 0 is the main one, line n the n-th variation; each leaves one of a lower number."""

    of: int  # the line that it leaves …
    ply: int  # … after so many moves of the game
    moves: tuple[int, ...]  # of its own
    comments: Mapping[int, str] = field(default_factory=dict)  # by ply, as a record's; those at `ply` begin the line
    properties: Mapping[int, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)  # by ply, as a record's


def write_variations(record: Record, variations: Sequence[Variation]) -> str:
    """A record and other lines of its game; raises if a move is illegal, or a line leaves where there is nothing."""
    main = _nodes(record)
    lines = [(list(record.positions()), main)]  # both by ply
    for number, variation in enumerate(variations, 1):
        of, ply, last = variation.of, variation.ply, variation.ply + len(variation.moves)
        if not (0 <= of < number and 0 <= ply < len(lines[of][0])):
            raise RecordError(f"variation {number} leaves line {of} after move {ply}; there is no such place")
        if stray := {*variation.comments, *variation.properties} - set(range(ply, last + 1)):
            raise RecordError(f"variation {number} has plies {ply} to {last}, and a comment on {min(stray)}")
        positions, nodes = lines[of][0][: ply + 1], lines[of][1][: ply + 1]
        if not nodes[-1].children:
            nodes[-1].children.append(SgfNode())  # the line that is left ends here, and must not go on with this one
        if ply in variation.comments or ply in variation.properties:
            nodes[-1] = _add_child(nodes[-1], SgfNode())
        for action in variation.moves:
            nodes.append(_add_child(nodes[-1], _move_node(positions[-1], action)))
            positions.append(positions[-1].play(action))
        for at, comment in variation.comments.items():
            nodes[at]["C"] = [escape(_clean(comment))]
        for at, properties in variation.properties.items():
            _put_properties(nodes[at], properties)
        lines.append((positions, nodes))
    return write_game(main[0])


def _add_child(node: SgfNode, child: SgfNode) -> SgfNode:
    node.children.append(child)
    return child


def read_variations(
    data: str | bytes,
    game: Game | None = None,
    most: int = MOST_GAMES,
    most_moves: int = MOST_NODES,
    with_setup: bool = False,
) -> tuple[list[Variation], list[str]]:
    """The variations of a file's first game, as many as are wanted; and what was left out, and why.

    A line in which something is wrong ends before that: the game itself can be read nevertheless.
    """
    text = sgf_text(data)
    root = next(read_games(text, with_variations=True))
    waiting = deque([(0, _start(root, game, with_setup), root)])
    found: list[Variation] = []
    problems: list[str] = []
    played = 0
    while waiting:
        if len(found) > most or played > most_moves:
            problems.append(f"the game has more variations than the {len(found) - 1:,} that are read")
            break
        of, start, first = waiting.popleft()
        comments: dict[int, str] = {}
        properties: dict[int, dict[str, tuple[str, ...]]] = {}
        position = start
        for node in first.line():
            try:
                position = _play_node(position, node, is_root=position.previous is None)
            except TengenError as reason:
                problems.append(f"a variation is cut short: {reason} ({place_text(text, node.place)})")
                break
            _add_comment(comments, position, node)
            _add_properties(properties, position, node, is_root=node is root)
            waiting.extend((len(found), position, child) for child in node.children[1:])
        moves = _moves_since(start, position)
        played += len(moves) if found else 0
        found.append(Variation(of, start.ply, moves, comments, properties))
    return found[1:], problems


def _moves_since(start: Position, position: Position) -> tuple[int, ...]:
    moves: list[int] = []
    while position is not start and position.previous is not None and position.action is not None:
        moves.append(position.action)
        position = position.previous
    return tuple(reversed(moves))
