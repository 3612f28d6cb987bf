"""The table of what the documents hold: each row that is done says what shows it, and that exists."""

import csv
import re
from pathlib import Path

import pytest

from tengen.apps.cli import app

ROOT = Path(__file__).parents[2]
with (ROOT / "docs/documents/fidelity.tsv").open(encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file, delimiter="\t"))
VERDICTS = ("yes", "partly", "no", "not reproducible")


def commands():
    return {one.name or one.callback.__name__ for one in app.registered_commands} | {
        one.name for one in app.registered_groups
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['document']}: {row['item']}")
def test_what_a_row_names_exists(row):
    assert row["verdict"] in VERDICTS
    shown = row["shown by"]
    if row["verdict"] == "yes":
        assert shown, "a row that is done names what shows it"
    else:
        assert row["what is missing or differs"], "a row that is not done says what is missing"
    path, _, name = shown.partition("::")
    if shown.startswith("tengen "):
        assert shown.split()[1] in commands()
    elif shown:
        assert (ROOT / path).is_file(), path
        if name:
            assert re.search(rf"^def {name}\(", (ROOT / path).read_text(), re.MULTILINE), shown


def test_every_item_of_the_documents_has_one_row():
    items = [(row["document"], row["item"]) for row in ROWS]
    assert len(items) == len(set(items)) == 143
