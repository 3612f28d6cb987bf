"""python bench/tactics.py AGENT…: which tactical positions of 9×9 Go do agents solve? A table, position by position.

Each agent thinks for --seconds about each position, whatever its own limit is.
"""

from __future__ import annotations

import argparse

from tengen.course.reproduce.tactics import try_tactics
from tengen.search.limits import Limit


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("agents", nargs="+", help="specs: uct, alphago:policy=patterns,lambda=1")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each position")
    options = parser.parse_args()
    columns = {spec: try_tactics(spec, Limit(time=options.seconds)) for spec in options.agents}
    for number, spec in enumerate(columns, 1):
        print(f"{number}: {spec}")
    first = next(iter(columns.values()))
    print(f"\n{'':40}" + "".join(f"{number:>9}" for number in range(1, len(columns) + 1)))
    for place, one in enumerate(first):
        marks = [tries[place] for tries in columns.values()]
        cells = "".join(f"{mark.played + (' +' if mark.is_solved else ' -'):>9}" for mark in marks)
        print(f"{one.kind + ': ' + one.title:40}{cells}")
    total = "".join(f"{sum(one.is_solved for one in tries):>9}" for tries in columns.values())
    print(f"{f'solved of {len(first)}':40}{total}")


if __name__ == "__main__":
    main()
