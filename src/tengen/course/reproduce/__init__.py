"""The documents' experiments, each by one command: what the document says beside what is measured here."""

from __future__ import annotations

from collections.abc import Callable

from tengen.course.reproduce.go9 import reproduce_go9
from tengen.course.reproduce.gobang import reproduce_gobang
from tengen.course.reproduce.gomoku8 import reproduce_8x8
from tengen.course.reproduce.lecture import reproduce_lecture
from tengen.course.reproduce.page import Claim, Options
from tengen.course.reproduce.slides import reproduce_slides

EXPERIMENTS: dict[str, Callable[[Options], list[Claim]]] = {
    "8x8": reproduce_8x8,
    "3x3": reproduce_slides,
    "gobang": reproduce_gobang,
    "lecture": reproduce_lecture,
    "go9": reproduce_go9,
}
SETTINGS = {  # of Options, that an experiment makes use of
    "8x8": {"is_full", "net", "minutes", "seed"},
    "3x3": set[str](),
    "gobang": {"is_full", "net", "minutes", "seed"},
    "lecture": {"is_full", "seed"},
    "go9": {"is_full", "net", "minutes", "seed"},
}
