"""python tests/minutes.py REPORT.xml …: where the tests' minutes go, as a table in CONTRIBUTING.md.

The reports are those that pytest writes with --junit-xml.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "CONTRIBUTING.md"
BEGIN, END = "<!-- minutes -->\n", "<!-- end of minutes -->\n"
MOST_ROWS = 16


def table_of(paths: list[str]) -> str:
    seconds: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for path in paths:
        for case in ElementTree.parse(path).iter("testcase"):
            name = ".".join(case.attrib["classname"].split(".")[:3])
            seconds[name] += float(case.attrib["time"])
            tests[name] += 1
    chosen = seconds.most_common(MOST_ROWS)
    others = set(seconds) - {name for name, _ in chosen}
    rows = [(name.replace(".", "/") + ".py", tests[name], own) for name, own in chosen]
    rows.append(
        (f"{len(others)} other files", sum(tests[name] for name in others), sum(seconds[name] for name in others))
    )
    rows.append(("**together**", tests.total(), seconds.total()))
    lines = ["| file | tests | minutes of a worker |", "|---|---:|---:|"]
    return "\n".join([*lines, *(f"| {name} | {count:,} | {own / 60:.1f} |" for name, count, own in rows)]) + "\n"


def main() -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + table_of(sys.argv[1:]) + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
