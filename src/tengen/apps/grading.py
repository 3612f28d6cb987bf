"""What `tengen grade` prints and writes."""

from __future__ import annotations

import json
from pathlib import Path

from tengen.apps.lab_printing import print_table
from tengen.apps.options import print_json
from tengen.course.grading.catalogue import ASSIGNMENTS, assignment_of
from tengen.course.grading.questions import GradeReport, grade
from tengen.records.disk import write_file
from tengen.rules.errors import BadParameter


def list_assignments() -> None:
    for each in ASSIGNMENTS.values():
        print(f"{each.name:12} {each.points:3} points  {each.about}")


def show_questions(name: str) -> None:
    """What an assignment asks, before anything is graded."""
    assignment = assignment_of(name)
    print(f"{assignment.about}; begin with tengen grade {name} --starter mine.py\n")
    print_table([("question", "points"), *((each.name, str(each.points)) for each in assignment.questions)])


def write_starter(name: str, path: Path) -> None:
    if path.exists():
        raise BadParameter(f"{path} is there already; a starter file does not write over anybody's work")
    write_file(path, assignment_of(name).starter.encode())
    print(f"begin with {path}; then tengen grade {name} {path}")


def show_grade(name: str, path: Path, seconds: float, gradescope: Path | None, as_json: bool) -> None:
    report = grade(assignment_of(name), path, seconds)
    if gradescope is not None:
        write_file(gradescope, (json.dumps(report.gradescope(), indent=2) + "\n").encode())
    if as_json:
        print_json(report.gradescope())
        return
    print(report_text(report))


def report_text(report: GradeReport) -> str:
    lines = []
    for mark in report.marks:
        lines.append(f"{mark.points:3} of {mark.most:2}  {mark.name}")
        lines += [f"           {line}" for line in mark.said.splitlines()]
    lines.append(f"{report.points:3} of {report.most:2}  in all ({report.seconds:.1f} s)")
    return "\n".join(lines)
