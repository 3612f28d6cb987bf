"""Runs and contests as tests of the web app see them: an app with folders of its own, and runs that nobody trained."""

import json
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it wants to be asked through another library than the one that servers have
    from fastapi.testclient import TestClient

from tengen.apps.web.jobs import JOBS, JobError, Jobs
from tengen.apps.web.server import new_app
from tengen.apps.web.settings import ServerSettings
from tengen.learn.settings import load_settings

PATIENCE = 120  # seconds that a job may take on a busy machine
TINY = {"generations": 3, "positions": 64, "simulations": 2, "evaluate_every": 2, "evaluation_games": 2}


class Site:
    """An app with folders of its own."""

    def __init__(self, folder, **settings):
        self.settings = ServerSettings(runs=folder / "runs", contests=folder / "contests", memory=16, **settings)
        self.http = TestClient(new_app(self.settings), base_url="http://127.0.0.1:8000")

    def get(self, path, status=200):
        answer = self.http.get(path)
        assert answer.status_code == status, answer.text
        return answer.json()

    def post(self, path, body=None, status=200):
        answer = self.http.post(path, json=body or {})
        assert answer.status_code == status, answer.text
        return answer.json()

    def until(self, path, is_so):
        """Asks until an answer is as it should be."""
        end = time.monotonic() + PATIENCE
        while not is_so(answer := self.get(path)):
            assert time.monotonic() < end, answer
            time.sleep(0.1)
        return answer

    def end_jobs(self):
        for folder in (self.settings.runs, self.settings.contests):
            end_jobs(Jobs(folder / JOBS))


def start_job(jobs, name, arguments, folder, metadata):
    """Begins a job as runs and contests do."""
    with jobs.starting():
        jobs.begin(name, arguments, folder, metadata)


def end_jobs(jobs):
    """Ends what a test has left running."""
    for job in jobs.running():
        while (found := jobs.find(job.name)).is_running:
            with suppress(JobError):  # it has ended meanwhile
                jobs.stop(found.name)
            time.sleep(0.2)


@contextmanager
def site_in(folder: Path) -> Iterator[Site]:
    """A site, whose jobs end with the test."""
    site = Site(folder)
    try:
        yield site
    finally:
        site.end_jobs()


def write_run(folder, generations=5, done=3, changes=(), **more):
    """A run folder as training leaves it, but for its weights."""
    folder.mkdir(parents=True)
    settings = load_settings("tictactoe", [f"run.generations={generations}", *changes])
    (folder / "config.toml").write_text("# format 1\n" + settings.text())
    (folder / "metrics.jsonl").write_text(
        "".join(json.dumps(entry(number, **more)) + "\n" for number in range(1, done + 1))
    )


def entry(generation, opponent="uct:playouts=1000", **more):
    """A line of metrics."""
    match = {
        "opponent": opponent,
        "wins": 5,
        "draws": 1,
        "losses": 4,
        "rate": 0.55,
        "low": 0.27,
        "high": 0.8,
    }
    return {
        "generation": generation,
        "seconds": 2.0 * generation,
        "games": 40 * generation,
        "positions": 300 * generation,
        "step": 10 * generation,
        "loss": {"total": 3.0 / generation, "value": 1.0 / generation, "policy": 2.0 / generation},
        "plies": 7.5,
        "first_wins": 0.6,
        "draws": 0.1,
        "positions_per_second": 300.0,
        "matches": [match],
        "rating": 12.5 * generation,
        **more,
    }
