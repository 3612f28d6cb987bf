"""SGF's grammar: a text as games, each a tree of nodes; and nodes as a text. What they mean is sgf.py's.

A file is read strictly, apart from what stands before its first game and from names with small letters, as old files
have them (`AddBlack` is AB): whatever else does not fit is told with its line and column, never passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tengen.records.record import RecordError

WIDTH = 80  # of the lines we write, as far as single values are not longer
MOST_NODES = 100_000  # of a game that are kept; no game is longer, and memory is not endless
BEGIN = re.compile(r"\(\s*;")
TOKEN = re.compile(
    r"""
    \[ (?P<value> [^\\\]]* (?: \\. [^\\\]]* )* ) \]
    | (?P<name> [A-Za-z]{1,64} )
    | (?P<mark> [;()] )
    """,
    re.VERBOSE | re.DOTALL,
)
BETWEEN = re.compile(r"[\s\0\x1a]*")  # old systems fill up the end of a file
UNENDED = "a value that never ends; a ] is missing"
END = "the file ends in the middle of a game; a ) is missing"


class SgfNode(dict[str, list[str]]):
    """A node's properties by name, their values as they stand between the brackets."""

    def __init__(self, place: int = 0):
        super().__init__()
        self.place = place  # of its semicolon in the file's text
        self.children: list[SgfNode] = []  # the first goes on with the line, others are variations

    def line(self) -> Iterator[SgfNode]:
        """The node, and the line that goes on from it."""
        node: SgfNode | None = self
        while node is not None:
            yield node
            node = node.children[0] if node.children else None


def place_text(text: str, place: int) -> str:
    """A place as people find it: its line and its column, both from one."""
    before = text[:place]
    return f"line {before.count(chr(10)) + 1}, column {place - before.rfind(chr(10))}"


def read_games(text: str, with_variations: bool = False) -> Iterator[SgfNode]:
    """The root of each game of a file; raises RecordError with line and column where the grammar is broken.

    Without variations there is the main line only: the others are read and forgotten.
    """
    if not (begin := BEGIN.search(text)):
        raise RecordError("the file is not SGF: it has no (; that begins a game")
    place = begin.start()
    while place < len(text):
        root, place = _read_tree(text, place, with_variations)
        yield root
        place = _skip(text, place)


def _read_tree(text: str, place: int, with_variations: bool) -> tuple[SgfNode, int]:
    """The game that begins at `place`, and where the text goes on after it."""
    if text[place] != "(":
        raise _error(text, place, "a game begins with (;")
    above = top = SgfNode()  # what the next node follows; the root follows `top`
    branches: list[SgfNode] = []  # what each open tree follows, the innermost last
    open_trees: list[bool] = []  # whether each is kept
    count = 0  # of nodes that are kept
    had_child = False  # whether the innermost open tree has a variation already: only the first is the main line's
    node: SgfNode | None = None  # None where no property may stand
    while True:
        place = _skip(text, place)
        token = TOKEN.match(text, place)
        if token is None:
            raise _error(text, place, _what_is_wrong(text, place))
        mark = token["mark"]
        if mark == "(":
            if open_trees and node is None and not had_child:
                raise _error(text, place, "a variation stands before the first node of its game")
            open_trees.append(not open_trees or (open_trees[-1] and (with_variations or not had_child)))
            branches.append(above)
            had_child, node = False, None
        elif mark == ";":
            if had_child:
                raise _error(text, place, "a node stands after a variation; it belongs before it, or into one")
            node = SgfNode(place)
            if open_trees[-1]:
                above.children.append(node)
                above, count = node, count + 1
            if count > MOST_NODES:
                raise _error(text, place, f"more than {MOST_NODES:,} nodes, which is more than any game has")
        elif mark == ")":
            if node is None and not had_child:
                raise _error(text, place, "a game without a node")
            open_trees.pop()
            above = branches.pop()
            had_child, node = True, None
            if not open_trees:
                return top.children[0], token.end()
        elif node is None:
            raise _error(text, place, "a property outside a node; a node begins with ;")
        elif token["name"] is None:
            raise _error(text, place, "a value without the name of its property")
        else:
            place = _read_values(text, token, node)
            continue
        place = token.end()


def _read_values(text: str, name: re.Match[str], node: SgfNode) -> int:
    """Puts a property into its node, and says where the text goes on. A name that comes twice adds its values."""
    values = node.setdefault("".join(filter(str.isupper, name["name"])), [])
    place, count = name.end(), 0
    while (token := TOKEN.match(text, _skip(text, place))) and token["value"] is not None:
        values.append(token["value"])
        place, count = token.end(), count + 1
    if count == 0:
        place = _skip(text, place)
        never_ends = text.startswith("[", place)
        reason = UNENDED if never_ends else f"{name['name']} has no value; write {name['name']}[…]"
        raise _error(text, place, reason)
    return place


def _skip(text: str, place: int) -> int:
    """The next place that is not blank."""
    match = BETWEEN.match(text, place)
    assert match is not None
    return match.end()


def _what_is_wrong(text: str, place: int) -> str:
    if place == len(text):
        return END
    if text[place] == "[":
        return UNENDED
    return f"{text[place]!r} has no meaning here"


def _error(text: str, place: int, reason: str) -> RecordError:
    return RecordError(f"the file is not SGF from {place_text(text, place)} on: {reason}")


def write_game(root: SgfNode) -> str:
    """The game of a root with its variations, broken into lines."""
    lines = ["("]
    for piece in _pieces(root):
        if len(lines[-1]) + len(piece) >= WIDTH:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines) + ")\n"


def _pieces(root: SgfNode) -> Iterator[str]:
    """What stands in a game, in pieces that are not broken."""
    waiting: list[SgfNode | str] = [root]  # the next is the last
    while waiting:
        if isinstance(part := waiting.pop(), str):
            yield part
            continue
        properties = [name + "".join(f"[{value}]" for value in values) for name, values in part.items()]
        yield ";" + "".join(properties[:1])
        yield from properties[1:]
        for child in reversed(part.children):
            waiting += [child] if len(part.children) == 1 else [")", child, "("]


def escape(text: str) -> str:
    """A text as it stands between brackets."""
    return re.sub(r"[\\\]]", r"\\\g<0>", text)


def unescape(value: str) -> str:
    """The text of a value: a backslash takes the meaning from what follows, and removes a line break."""
    value = re.sub(r"\r\n?|\n\r", "\n", value)
    value = re.sub(r"[\t\v\f]", " ", value)
    return re.sub(r"\\(.)", lambda match: match[1].strip("\n"), value, flags=re.DOTALL)


def unescape_line(value: str) -> str:
    """The same for a value that is one line."""
    return unescape(value).replace("\n", " ").strip()
