"""A run on a cluster as its page shows it: every worker, and what waits for whom."""

import json
import os
import time
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it wants to be asked through another library than the one that servers have
    from fastapi.testclient import TestClient

from tengen.apps.web.server import new_app
from tengen.apps.web.settings import ServerSettings
from tengen.learn.settings import load_settings
from tengen.records.disk import lock

WORKER = {"name": "green cpu 1", "host": "green", "device": "cpu", "games": 90, "games_per_second": 12.5}
WORKER |= {"positions_per_second": 100.0, "weight_age": 2, "silent_seconds": 3.5}
CLUSTER = {"workers": [WORKER, {**WORKER, "name": "blue cuda 2", "games_per_second": 3210.0}], "machines": 2}
CLUSTER |= {
    "in_flight": 2,
    "waiting_slices": 1,
    "waiting_positions": 512,
    "wanted_positions": 2048,
    "lost": 3,
    "late": 1,
}


@pytest.fixture
def run(tmp_path):
    """A run that goes on: its folder is locked."""
    folder = tmp_path / "runs" / "many"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("# format 1\n" + load_settings("tictactoe").text())
    with lock(folder / "lock"):
        yield folder


def shown(folder):
    settings = ServerSettings(runs=folder.parent, contests=folder.parent / "contests", memory=16)
    answer = TestClient(new_app(settings), base_url="http://127.0.0.1:8000").get("/api/runs/many")
    assert answer.status_code == 200, answer.text
    return answer.json()["cluster"]


def test_what_the_driver_tells_is_shown(run):
    assert shown(run) is None
    (run / "cluster.json").write_text(json.dumps(CLUSTER))
    found = shown(run)
    assert (found["machines"], found["waiting_positions"], found["lost"]) == (2, 512, 3)
    assert [worker["games_per_second"] for worker in found["workers"]] == [12.5, 3210.0]
    os.utime(run / "cluster.json", (time.time() - 1000,) * 2)  # its driver was killed
    assert shown(run) is None


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "[",
        "null",
        '{"workers": 7}',
        json.dumps({**CLUSTER, "lost": -1}),
        json.dumps(CLUSTER).replace("12.5", "NaN"),
    ],
)
def test_a_damaged_file_shows_nothing(run, damage):
    (run / "cluster.json").write_text(damage)
    assert shown(run) is None


def test_the_page_has_a_row_for_each_worker(run, chromium):
    from web_browser import browser, open_page, running_server

    (run / "cluster.json").write_text(json.dumps(CLUSTER))
    settings = ServerSettings(runs=run.parent, contests=run.parent / "contests", memory=16)
    with (
        running_server(new_app(settings)) as url,
        browser(chromium) as chrome,
        open_page(chrome, f"{url}#/learn?run=many") as page,
    ):
        table = page.locator(".cluster table")
        table.wait_for()
        assert table.locator("tbody tr").count() == 2
        assert "green cpu 1" in table.inner_text()
        assert "512 of 2" in page.locator(".cluster .note").inner_text()
