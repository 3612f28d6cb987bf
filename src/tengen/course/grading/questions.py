"""Assignments as questions with points, and what a grading found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from tengen.course.grading.sandbox import TOTAL, StudentCode, Wrong


@dataclass(frozen=True)
class Question:
    """Something that a student's code must do; `judge` raises Wrong if it does not."""

    name: str
    points: int
    judge: Callable[[StudentCode], None]


@dataclass(frozen=True)
class Assignment:
    """What is asked, and the file to start from."""

    name: str
    about: str
    starter: str
    questions: tuple[Question, ...]

    @property
    def points(self) -> int:
        return sum(question.points for question in self.questions)


@dataclass(frozen=True)
class Mark:
    """One question, graded."""

    name: str
    points: int
    most: int
    said: str  # why points were lost


@dataclass(frozen=True)
class GradeReport:
    """A file, graded."""

    assignment: str
    marks: list[Mark] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def points(self) -> int:
        return sum(mark.points for mark in self.marks)

    @property
    def most(self) -> int:
        return sum(mark.most for mark in self.marks)

    def gradescope(self) -> dict[str, Any]:
        """As Gradescope's autograder reads it from results.json."""
        tests = [
            {
                "name": mark.name,
                "score": mark.points,
                "max_score": mark.most,
                "status": "passed" if mark.points == mark.most else "failed",
                "output": mark.said,
            }
            for mark in self.marks
        ]
        return {"score": self.points, "execution_time": round(self.seconds, 3), "tests": tests}


def grade(assignment: Assignment, path: Path, total: float = TOTAL) -> GradeReport:
    """Asks every question; none is answered for another's mistake."""
    began, marks = perf_counter(), []
    with StudentCode(path, total) as code:
        for question in assignment.questions:
            said = ""
            try:
                question.judge(code)
            except Wrong as reason:
                said = str(reason)
            marks.append(Mark(question.name, 0 if said else question.points, question.points, said))
    return GradeReport(assignment.name, marks, perf_counter() - began)


def expect(answer: Any, right: Any, asked: str) -> None:
    """Raises Wrong if an answer is not the right one; numbers may differ by rounding."""
    if not is_same(answer, right):
        raise Wrong(f"{asked}: it is {right}, not {answer!r}"[:400])


def is_same(answer: Any, right: Any) -> bool:
    if isinstance(right, list | tuple):
        is_list = isinstance(answer, list) and len(answer) == len(right)
        return is_list and all(is_same(a, b) for a, b in zip(answer, right, strict=True))
    if isinstance(right, bool) or not isinstance(right, int | float):
        return bool(answer == right)
    is_number = isinstance(answer, int | float) and not isinstance(answer, bool)
    return is_number and abs(answer - right) <= 1e-6 * max(1.0, abs(right))
