"""The house: a layer imports only from layers above it, and only a few modules import torch."""

import ast
import subprocess
import sys
from pathlib import Path

import changed

PACKAGE = Path(__file__).parent.parent / "src" / "tengen"
LAYERS = ["rules", "games", "search", "knowledge", "nets", "agents", "records", "report", "arena"]
LAYERS += ["learn", "alphago", "envs", "course", "apps"]
TORCH = {f"nets/{name}.py" for name in ("layers", "networks", "resnet", "gobang", "transformer", "export", "graph")}
TORCH |= {"envs/cuda.py", "course/figures.py"}  # who imports it, beside learn/ and alphago/


def imports(path):
    """The modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name the whole path"
            yield node.module


def test_imports_point_up():
    for path in PACKAGE.rglob("*.py"):
        layer = path.relative_to(PACKAGE).parts[0]
        if layer in LAYERS:
            for name in imports(path):
                target = name.split(".")[1] if name.startswith("tengen.") else ""
                if target in LAYERS and (layer, target) != ("rules", "games"):
                    assert LAYERS.index(target) <= LAYERS.index(layer), f"{path} imports {name}, a layer below it"


def test_every_folder_is_a_layer():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= set(LAYERS) | {"models"}


def test_one_module_imports_onnx_runtime():
    """The one that tells it to report nothing to anybody."""
    root = PACKAGE.parent.parent
    importing = {
        path.relative_to(root).as_posix()
        for folder in (PACKAGE, root / "tests", root / "bench", root / "examples", root / "notebooks")
        for path in folder.rglob("*.py")
        if any(name.split(".")[0] == "onnxruntime" for name in imports(path))
    }
    assert importing == {"src/tengen/nets/session.py"}


def test_who_imports_torch():
    for path in PACKAGE.rglob("*.py"):
        if any(name.split(".")[0] == "torch" for name in imports(path)):
            where = path.relative_to(PACKAGE).as_posix()
            assert where.startswith(("learn/", "alphago/")) or where in TORCH


PLAYERS = """
import importlib, pkgutil, sys
import tengen.apps, tengen.course

for name in ("torch", "onnx", "onnxscript", "safetensors", "ray", "pyarrow"):
    sys.modules[name] = None  # whoever imports it is told that it is not there
for package in (tengen.apps, tengen.course):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
from tengen.apps.cli import main
sys.argv = ["tengen", "train", "tictactoe", "--run", "nowhere"]
main()
"""


def test_players_do_without_what_training_needs(tmp_path):
    """`pip install tengen` brings none of it: every app and lab begins, and training says what is missing."""
    done = subprocess.run([sys.executable, "-c", PLAYERS], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert "tengen[train]" in done.stderr
    assert "Traceback" not in done.stderr


def test_single_games_are_known_to_games_and_knowledge_alone():
    """Everybody else asks a game's class for its attributes; only the AlphaGo pipeline is about one game, Go."""
    single = {path.stem for path in (PACKAGE / "games").glob("*.py")} - {"__init__"}
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] in ("games", "knowledge", "alphago"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in getattr(node, "names", []) if isinstance(alias, ast.alias)]
            module = node.module if isinstance(node, ast.ImportFrom) else ""
            told = {f"{module}.{name}".strip(".") for name in names} | {module}
            found = {f"tengen.games.{name}" for name in single} & told
            assert not found, f"{path} imports {', '.join(found)}: ask the game's class, or go by way of knowledge/"


def test_a_class_has_its_name_to_itself():
    homes: dict[str, list[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_quick_runs_know_what_is_no_python():
    """`make quick` runs tests for a changed script, preset or page: every such file has tests that exist."""
    root = PACKAGE.parent.parent
    for tests in changed.ABOUT.values():
        for test in tests:
            assert (root / "tests" / f"{test}.py").is_file(), test
    for path in PACKAGE.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_file() and path.suffix not in (".py", ".pyc", ".typed"):
            assert changed.about(name), f"no test is about {name}: add it to ABOUT in tests/changed.py"
    assert changed.about("src/tengen/apps/web/static/learn/arena.js") == {"tests/apps/test_web_learn_pages"}
