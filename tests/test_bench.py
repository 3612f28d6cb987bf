"""Benches are not run by the tests; whatever they import of ours must be there all the same."""

import ast
import importlib
from pathlib import Path

import pytest

BENCHES = sorted((Path(__file__).parents[1] / "bench").glob("*.py"))


def imports_of(path):
    """What a file takes from our modules, in its functions too: pairs of a module and a name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "tengen":
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", BENCHES, ids=lambda path: path.stem)
def test_what_a_bench_imports_is_there(path):
    for name, attribute in imports_of(path):
        module = importlib.import_module(name)
        if not hasattr(module, attribute):
            importlib.import_module(f"{name}.{attribute}")
