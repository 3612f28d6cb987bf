"""What runs and contests have in common: each is a folder of one folder, and a job of its own name works on it.

They are listed, shown within bounds, begun, stopped and gone on with in the same way. Whoever works in a folder locks
it, also from a terminal; such work is shown, and left alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from tengen.apps.web.folders import BadFolder, reading
from tengen.apps.web.jobs import JOBS, NAME, JobError, Jobs, Missing, Name, checked_name, free_name, is_held
from tengen.apps.web.own_games import without_folders
from tengen.apps.web.settings import ServerSettings
from tengen.rules.errors import nearest


class WorkView(BaseModel):
    """How it stands with a run or a contest. Of one whose folder cannot be read, no more is known than why."""

    name: str
    game: str = Field(default="", description="empty if it is not known yet")
    state: Literal["running", "stopping", "stopped", "complete", "failed"]
    problem: str = Field(default="", description="why it failed")
    is_ours: bool = Field(default=False, description="whether it runs and can be stopped here")
    can_resume: bool = False


STOPPED = ("stopped", "failed")
Command = tuple[list[str], Path, dict[str, Any]]  # arguments, where it runs, and what is known of its job later
V = TypeVar("V", bound=WorkView)
T = TypeVar("T", bound=WorkView)


class JobFolders(Generic[V]):
    """The runs or the contests of a folder, by their names."""

    kind: str
    files: tuple[str, ...]  # one of these makes a folder one of ours …
    shows_jobs = False  # … or, without a folder, a job that has not begun, or could not
    view_type: type[V]

    def __init__(self, folder: Path, most: int, settings: ServerSettings):
        self.folder, self.settings = folder, settings
        self.jobs = Jobs(folder / JOBS, most=most, advice=settings.jobs_advice)

    # Showing.

    def names(self) -> list[str]:
        """The newest first."""
        found = {path.parent.name for file in self.files for path in self.folder.glob(f"*/{file}")}
        found |= set(self.jobs.names() if self.shows_jobs else ())
        return sorted(filter(NAME.fullmatch, found), key=lambda name: (-self._changed(name), name))

    def _changed(self, name: str) -> float:
        """When its files were last written; of work that has not begun, when it was asked for."""
        begun = max(changed(self.folder / name / file) for file in self.files)
        return begun or changed(self.jobs.folder / f"{name}.json")

    def path(self, name: str) -> Path:
        """The folder of a name that there is."""
        folder = self.folder / checked_name(name)
        if any(os.path.lexists(folder / file) for file in self.files) or (self.shows_jobs and self.jobs.find(name)):
            return folder
        raise Missing(f"there is no {self.kind} {name!r}{nearest(name, self.names())}")

    def all(self) -> list[V]:
        """All that there are, the newest first."""
        views = []
        for name in self.names():
            with suppress(Missing):  # somebody may delete one meanwhile
                views.append(self.view(name))
        return views

    def view(self, name: str) -> V:
        """How it is getting on; if its folder cannot be read, why."""
        return self.read_or_say(name, self.view_type, self.read)

    def read(self, name: str) -> V:
        """The same; raises BadFolder if the folder cannot be read."""
        raise NotImplementedError

    def read_or_say(self, name: str, view_type: type[T], read: Callable[[str], T]) -> T:
        """What is read of a folder; of one that cannot be read, why."""
        try:
            with self.reading(name):
                return read(name)
        except BadFolder as reason:
            return view_type(name=name, state="failed", problem=str(reason))

    @contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        """The folder of a name that there is; whatever goes wrong within is wrong with it."""
        folder = self.path(name)
        with reading(folder):
            yield folder

    def status(self, name: str, is_complete: bool) -> dict[str, Any]:
        """What every view begins with; `is_complete` says whether all has been done that was asked for."""
        job = self.jobs.find(name)
        if job is not None and job.is_running:
            state = "stopping" if job.state == "stopping" else "running"
        elif is_held(self.folder / name / "lock"):
            state = "running"
        elif is_complete:
            state = "complete"
        else:
            state = "failed" if job is not None and job.state == "failed" else "stopped"
        may_change = not self.jobs.advice
        return {
            "name": name,
            "state": state,
            "problem": without_folders(job.reason, self.folder) if job is not None and state == "failed" else "",
            "is_ours": job is not None and job.is_running and may_change,
            "can_resume": state in STOPPED and may_change,
        }

    # Beginning and ending.

    @contextmanager
    def starting(self, wanted: str, stem: str) -> Iterator[str]:
        """The name of something new: the one that is wanted, or a free one. Nobody else begins anything meanwhile."""
        checked_name(wanted or self.kind)
        with self.jobs.starting():
            taken = {*self.jobs.names(), *(path.name for path in self.folder.glob("*"))}
            name = wanted or free_name(stem, taken)
            if (self.folder / name).exists():
                raise JobError(f"there is {name!r} already: give the new {self.kind} another name")
            yield name

    def resume(self, name: str) -> V:
        """Goes on with what was stopped."""
        self.jobs.check_allowed()
        with self.reading(name) as folder:
            state = self.read(name).state
            if state not in STOPPED:
                raise JobError(f"{name} is {state}: only a {self.kind} that was stopped can be gone on with")
            command = self.command_again(name, folder)
            with self.jobs.starting():
                self.jobs.begin(name, *command)
        return self.view(name)

    def command_again(self, name: str, folder: Path) -> Command:
        """What goes on with what was stopped; raises JobError if no page may do that."""
        raise NotImplementedError

    def stop(self, name: str) -> V:
        """Stops the job; what was saved last is kept. Asked twice, it stops at once."""
        self.path(name)
        self.jobs.stop(name)
        return self.view(name)


def changed(path: Path) -> float:
    """When a file was written; 0 if it is not there."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def add_commands(router: APIRouter, folders_of: Callable[[Request], Any], view: type[WorkView]) -> None:
    """The routes by which a page stops a job, and goes on with one that was stopped."""

    @router.post("/{name}/stop", response_model=view)
    def stop(request: Request, name: Name) -> Any:
        """Stop it; what was saved last, and games that have ended, are kept. Asked twice, it stops at once."""
        return folders_of(request).stop(name)

    @router.post("/{name}/resume", response_model=view)
    def resume(request: Request, name: Name) -> Any:
        """Go on with what was stopped."""
        return folders_of(request).resume(name)
