"""python tests/changed.py: the tests of what changed since main: those that mirror a changed file, or import it."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def git(*arguments: str) -> list[str]:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True).stdout.split()


def changed_files() -> set[str]:
    """What differs from the branch main (of the place that this clone comes from, if it has one), committed or not."""
    base = git("merge-base", "HEAD", "origin/main") or git("merge-base", "HEAD", "main") or ["HEAD"]
    return {*git("diff", "--name-only", base[0]), *git("ls-files", "--others", "--exclude-standard")}


def imported_by(path: Path) -> Iterator[str]:
    """The modules that a file imports, as paths without an ending: src/tengen/rules/game, tests/judges."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            if name.partition(".")[0] == "tengen":
                yield "src/" + name.replace(".", "/")
            else:  # helpers of tests stand in tests/, or beside the test
                yield from (f"tests/{name}", f"{path.parent.relative_to(ROOT).as_posix()}/{name}")


def mirrored(changed: str) -> str:
    """Where the test of a file of the package stands: tests/rules/test_game for src/tengen/rules/game.py."""
    path = Path(changed)
    return str(Path("tests", *path.parent.parts[2:], f"test_{path.stem}"))


def main() -> None:
    changed = {name.removesuffix(".py") for name in changed_files() if name.endswith(".py")}
    for path in sorted(ROOT.glob("tests/**/test_*.py")):
        own = path.relative_to(ROOT).with_suffix("").as_posix()
        is_mirror = any(mirrored(f"{name}.py") == own for name in changed if name.startswith("src/tengen/"))
        if own in changed or is_mirror or changed & set(imported_by(path)):
            print(f"{own}.py")


if __name__ == "__main__":
    main()
