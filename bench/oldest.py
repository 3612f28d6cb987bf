"""python bench/oldest.py: the oldest version of each package that pyproject.toml allows, as constraints for pip."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

BOUND = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?>=([0-9][0-9a-z.]*)")


def main() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for text in (*project["dependencies"], *extras["train"], *extras["distributed"]):
        found = BOUND.match(text)
        if found is None:
            raise SystemExit(f"pyproject.toml: {text!r} has no lower bound; write NAME>=VERSION")
        print("{}=={}".format(*found.groups()))


if __name__ == "__main__":
    main()
