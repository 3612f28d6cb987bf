"""The notebooks are what `notebooks/make.py` writes, cover every lab and document, and run from the first cell on."""

import ast
import importlib.util
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module")
def make():
    spec = importlib.util.spec_from_file_location("make_notebooks", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_notebooks_are_as_they_are_made(make):
    assert sorted(make.NOTEBOOKS) == NAMES
    for name, cells in make.NOTEBOOKS.items():
        there = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
        for cell in there["cells"]:
            if cell["cell_type"] == "code":
                cell["outputs"], cell["execution_count"] = [], None
        assert there == make.notebook(cells), f"{name}: python notebooks/make.py {name} writes it"


def test_each_lab_and_each_document_has_one(make):
    from tengen.apps.labs import app

    labs = {command.name for command in app.registered_commands} - {"figure"}  # which draws what documents show
    assert {*make.LABS, *make.OTHER_LABS} == labs
    assert [name.split("-")[1] for name in make.DOCUMENTS] == list("abcde")


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_are_valid_and_their_code_compiles(name):
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].cell_type == "markdown"
    for cell in notebook.cells:
        if cell.cell_type == "code":
            check_imports(ast.parse(cell.source, name))
    outputs = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]
    assert all(out.output_type != "error" for out in outputs)
    assert bool(outputs) == name.startswith("document-")  # these keep what they put out


def check_imports(code):
    """What a notebook takes from Tengen is there; whether it does what it should, the long tests say."""
    for node in ast.walk(code):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "tengen":
            module = importlib.import_module(node.module)
            assert {alias.name for alias in node.names} <= set(dir(module)), node.module


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_notebooks_run(name, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    assert any(cell.outputs for cell in code)
