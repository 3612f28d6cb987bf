"""python tests/changed.py: the tests of what changed since main: those that mirror a changed file, or import it.

What no test imports, such as pages and presets, has its tests in ABOUT.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ABOUT = {  # by how a path begins; the longest beginning counts
    "src/tengen/apps/web/static/": ("apps/test_web_play", "apps/test_web_own_game_pages"),
    "src/tengen/apps/web/static/explore/": ("apps/test_web_explore", "apps/test_web_labs"),
    "src/tengen/apps/web/static/learn/": ("apps/test_web_learn_pages",),
    "src/tengen/learn/presets/": ("learn/test_settings",),
    "src/tengen/alphago/": ("alphago/test_alphago_training",),
    "src/tengen/knowledge/": ("knowledge/test_go_patterns", "knowledge/test_reversi"),
    "src/tengen/models/": ("nets/test_nets", "nets/test_policy9"),
    "examples/": ("test_docs", "rules/test_check"),
    "notebooks/": ("test_notebooks",),
    "docs/": ("test_docs",),
    "docs/documents/fidelity.tsv": ("course/test_fidelity",),
    "README": ("test_docs",),
    "bench/": ("test_bench",),
    "pyproject.toml": ("test_platforms", "test_layers"),
}


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


def about(changed: str) -> set[str]:
    """The tests in ABOUT of a file."""
    found = max((start for start in ABOUT if changed.startswith(start)), key=len, default=None)
    return set() if found is None else {f"tests/{name}" for name in ABOUT[found]}


def main() -> None:
    files = changed_files()
    changed = {name.removesuffix(".py") for name in files if name.endswith(".py")}
    named = {test for name in files if not name.startswith("src/") or not name.endswith(".py") for test in about(name)}
    for path in sorted(ROOT.glob("tests/**/test_*.py")):
        own = path.relative_to(ROOT).with_suffix("").as_posix()
        is_mirror = any(mirrored(f"{name}.py") == own for name in changed if name.startswith("src/tengen/"))
        if own in changed or own in named or is_mirror or changed & set(imported_by(path)):
            print(f"{own}.py")


if __name__ == "__main__":
    main()
