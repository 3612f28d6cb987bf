"""Nets of strangers: what their files may hold, and a first answer within bounds, in a process of its own.

An ONNX file is a program. It may loop for ever, ask for all memory there is, or read other files. So a net that does
not come with us is read here before ONNX Runtime sees it: it consists of plain layers, none has a graph of its own, and
no number on the board decides how large an answer becomes. Then it answers once, and what that costs is limited by the
operating system. This module is what that process runs; it imports little, and so it takes a fifth of a second.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import NoReturn

import numpy as np

from tengen.nets.session import open_session

try:
    import resource
except ImportError:  # Windows has no such limits: there only the time is limited, by whoever waits
    resource = None  # type: ignore[assignment]

SECONDS = 20  # of computing that the first answers may take
MEMORY = 4 * 2**30  # bytes, beside what the file itself takes
COPIES = 8  # of the file, in memory, while it is read and made ready
BATCHES = (1, 8)  # boards that it is asked about
MOST_NUMBERS = 10**6  # that show one board

# The fields of ONNX's messages (onnx.proto) that a plain net has need of. Others hold functions, graphs inside nodes,
# weights in other files, training.
MODEL = {1, 2, 3, 4, 5, 6, 7, 8, 14}
GRAPH = {1, 2, 5, 10, 11, 12, 13, 16}
NODE = {1, 2, 3, 4, 5, 6, 7, 9}
ATTRIBUTE = {1, 2, 3, 4, 5, 7, 8, 9, 10, 13, 20}
TENSOR = {1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16}
VALUE = {1, 2, 3, 4}

# What our own export writes, and torch's for convolutional networks and transformers. None repeats anything, none draws
# random numbers, and the size of what each gives follows from the sizes of what it takes, but for those of SIZED.
PLAIN = """
Abs Add And AveragePool BatchNormalization Cast Clip Concat Constant ConstantOfShape Conv Cos Div Elu Equal Erf Exp
Expand Flatten Floor Gather Gelu Gemm GlobalAveragePool GlobalMaxPool Greater GreaterOrEqual HardSigmoid HardSwish
Identity InstanceNormalization LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax MatMul Max MaxPool Min Mish
Mod Mul Neg Not Or PRelu Pad Pow RMSNormalization Range Reciprocal ReduceL2 ReduceMax ReduceMean ReduceMin ReduceSum
Relu Reshape Selu Shape Sigmoid Sign Sin Size Slice Softmax Softplus Split Sqrt Squeeze Sub Sum Swish Tanh Tile
Transpose Trilu Unsqueeze Where Xor
"""
OPERATORS = frozenset(PLAIN.split())
SIZED = {  # the inputs from this one on say how large the answer is: they may not depend on what is on the board
    "ConstantOfShape": 0,
    "Expand": 1,
    "Pad": 1,
    "Range": 0,
    "ReduceL2": 1,
    "ReduceMax": 1,
    "ReduceMean": 1,
    "ReduceMin": 1,
    "ReduceSum": 1,
    "Reshape": 1,
    "Slice": 1,
    "Split": 1,
    "Squeeze": 1,
    "Tile": 1,
    "Unsqueeze": 1,
}
KNOWN = {"Constant", "Shape", "Size"}  # what these give does not depend on what is on the board
DOMAINS = ("", "ai.onnx")


class Refused(Exception):
    """Says what is wrong, in words that follow the name of the file."""


def refuse(what: str) -> NoReturn:
    raise Refused(f"is no net that can be trusted: {what}")


# Reading the file. Whoever reads it as Google's library would, but for what a plain net does not have, cannot be told
# something else than ONNX Runtime is.


def varint(message: memoryview, at: int) -> tuple[int, int]:
    """The number that begins at a place, and the place behind it."""
    number = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            break
        byte, at = message[at], at + 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
    raise Refused("is damaged, or no ONNX file: it breaks off inside a number")


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The numbered parts of a message: numbers, and whatever has a length."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        kind, value = tag & 7, memoryview(b"")
        if kind == 0:
            number, at = varint(message, at)
            yield tag >> 3, number
            continue
        if kind == 2:
            size, at = varint(message, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise Refused(f"is damaged, or no ONNX file: it has a part of kind {kind}")
        value, at = message[at : at + size], at + size
        if at > len(message):
            raise Refused("is damaged, or no ONNX file: it ends before its last part does")
        yield tag >> 3, value


class Message:
    """A part of the file that has parts itself."""

    def __init__(self, content: memoryview, allowed: Collection[int], name: str):
        self.parts: dict[int, list[int | memoryview]] = {}
        for number, value in fields(content):
            if number not in allowed:
                refuse(f"{name} in it has more to it than a plain net needs (field {number})")
            self.parts.setdefault(number, []).append(value)

    def pieces(self, number: int) -> list[memoryview]:
        """All that a field holds, which has a length."""
        found = [piece for piece in self.parts.get(number, []) if isinstance(piece, memoryview)]
        if len(found) < len(self.parts.get(number, [])):
            raise Refused(f"is damaged, or no ONNX file: field {number} of a part is a number")
        return found

    def texts(self, number: int) -> list[str]:
        return [str(piece, "utf-8", "replace") for piece in self.pieces(number)]

    def numbers(self, number: int) -> Iterator[int]:
        """All numbers of a field, which may stand one by one or together."""
        for piece in self.parts.get(number, []):
            if isinstance(piece, int):
                yield piece
                continue
            at = 0
            while at < len(piece):
                value, at = varint(piece, at)
                yield value


# What a net may hold.


def inspect(content: bytes) -> None:
    """Raises Refused unless the file holds a plain net."""
    model = Message(memoryview(content), MODEL, "the model")
    if not model.pieces(7):
        raise Refused("is damaged, or no ONNX file: there is no graph in it")
    graphs = [Message(piece, GRAPH, "the graph") for piece in model.pieces(7)]
    known = {name for graph in graphs for weight in graph.pieces(5) for name in inspect_tensor(weight)}
    known -= {
        name for graph in graphs for taken in graph.pieces(11) for name in Message(taken, VALUE, "an input").texts(1)
    }
    for graph in graphs:
        for node in graph.pieces(1):
            inspect_node(Message(node, NODE, "a node"), known)


def inspect_node(node: Message, known: set[str]) -> None:
    """Adds what the node gives to `known`, the names of what does not depend on the board, if that is so."""
    (kind, *others), inputs, outputs = node.texts(4) or [""], node.texts(1), node.texts(2)
    if kind not in OPERATORS or others or not set(node.texts(7)) <= set(DOMAINS):
        called = ".".join(filter(None, [*node.texts(7), kind, *others]))
        refuse(f"it has the operator {called[:80]!r}, which is not among those that we know to be harmless")
    for piece in node.pieces(5):
        attribute = Message(piece, ATTRIBUTE, "an attribute")
        for weight in attribute.pieces(5) + attribute.pieces(10):
            inspect_tensor(weight)
    if kind in SIZED and not known.issuperset(filter(None, inputs[SIZED[kind] :])):
        refuse(f"what is on the board decides how large the answer of {kind} is")
    if kind in KNOWN or known.issuperset(filter(None, inputs)):
        known.update(outputs)
    else:
        known.difference_update(outputs)


def inspect_tensor(content: memoryview) -> Sequence[str]:
    """The name of weights that are all there."""
    tensor = Message(content, TENSOR, "a tensor")
    if any(tensor.numbers(14)):
        refuse("its weights are in another file")
    if math.prod(tensor.numbers(1)) > 8 * len(content):
        refuse("it has weights that are larger than what is there of them")
    return tensor.texts(8)


# The first answer.


def answer_once(content: bytes) -> None:
    """Evaluates empty boards with the net; raises Refused if it cannot answer."""
    try:
        session = open_session(content)
    except Exception as reason:  # its exceptions have no base in common
        raise Refused(f"is damaged, or no ONNX file: {reason}") from reason
    taken = session.get_inputs()
    shape = taken[0].shape[1:] if len(taken) == 1 else [None]
    if not all(isinstance(size, int) for size in shape) or not 0 < math.prod(shape) <= MOST_NUMBERS:
        refuse(f"it takes {[part.shape for part in taken]}, which is no board")
    try:
        for batch in BATCHES:
            session.run(None, {taken[0].name: np.zeros((batch, *shape), np.float32)})
    except Exception as reason:
        raise Refused(f"cannot answer: {reason}") from reason


def limit_this_process(size: int) -> None:
    """Limits this process's memory and time, for a net's file of `size` bytes; it can write no file from now on."""
    if resource is None:
        return
    wanted = {"AS": MEMORY + COPIES * size, "CPU": SECONDS, "FSIZE": 0, "CORE": 0}
    for name, most in wanted.items():
        limit = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(limit)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(ValueError, OSError):  # macOS does not have them all
            resource.setrlimit(limit, (least, least))


def main() -> None:
    """Reads a file from the standard input; says what is wrong with it, or nothing."""
    content = sys.stdin.buffer.read()
    limit_this_process(len(content))
    try:
        inspect(content)
        answer_once(content)
    except Refused as reason:
        print(reason)
