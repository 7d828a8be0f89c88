"""Trials beside the checkout: small inputs that were taken wrongly once, each in a folder with a README. They are read
where they lie, and played in a repository of their own with the real commands, against an emulated Azure.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from gitsync.emulator.faults import Move
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings, read_settings
from gitsync.emulator.state.store import MemoryStore
from tests.support.command_line import SUBSCRIPTION, azure, run_here
from tests.support.git_repositories import commit_all, init_repository
from tests.support.recordings import FOLDER

TRIALS = FOLDER / "trials"
GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core"
_ABOUT = shutil.ignore_patterns("README*", "steps.txt")


class Said(NamedTuple):
    """What a command printed, on both streams, its exit code, and the requests that it sent: method, path and status."""

    code: int
    text: str
    requests: tuple[tuple[str, str, int], ...]

    def sent(self, *methods: str) -> list[str]:
        """The last parts of the paths that were requested with one of the methods."""
        return [path.rpartition("/")[2] for method, path, _ in self.requests if method in methods]

    @property
    def writes(self) -> list[str]:
        return self.sent("PUT", "PATCH", "DELETE")


class Trial:
    """One trial being played. `repository` is what gitsync reads; `script` is the emulator's, from the next command on."""

    def __init__(self, name: str, folder: Path) -> None:
        self.inputs = TRIALS / name
        self.folder, self.repository = folder, folder / "repository"
        self.repository.mkdir()
        init_repository(self.repository)
        self._store = MemoryStore()
        self._settings = EmulatorSettings(limits=None)

    def use(self, name: str) -> None:
        """Commit a file of the trial as a.yaml."""
        self.commit({"a.yaml": (self.inputs / name).read_text()})

    def use_all(self) -> None:
        """Commit all files of the trial."""
        shutil.copytree(self.inputs, self.repository, dirs_exist_ok=True, ignore=_ABOUT)
        self.commit({})

    def commit(self, texts: Mapping[str, str]) -> None:
        """Commit all that the repository has, with these texts by path."""
        for path, text in texts.items():
            file = self.repository / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        commit_all(self.repository)

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        """Commit a change of one file."""
        self.commit({path: change((self.repository / path).read_text())})

    def move(self, path: str, to: str) -> None:
        """Move a file of the repository, without a commit."""
        target = self.repository / to
        target.parent.mkdir(parents=True, exist_ok=True)
        (self.repository / path).rename(target)

    def git(self, *arguments: str, folder: Path | None = None) -> None:
        subprocess.run(["git", *arguments], cwd=folder or self.repository, check=True, capture_output=True)

    def script(self, text: str) -> None:
        """Give the emulator a script."""
        file = self.folder / "script.yaml"
        file.write_text(text)
        self._settings = read_settings(file)

    def run(self, *arguments: str, folder: Path | None = None, **variables: str) -> Said:
        """Run `gitsync ARGUMENTS`, in the repository unless another folder is named."""
        with azure(self._store, **_list_members(self._settings)) as served:
            more = {**served.variables, "GITSYNC_STATUS_DIR": str(self.folder / "status"), **variables}
            ended = run_here(*arguments, folder=folder or self.repository, **more)
            return Said(ended.code, ended.out + ended.err, tuple(served.sent()))

    def set(self, arm_id: str, values: Mapping[str, Any]) -> None:
        """Change values of a resource in Azure, by JSON pointers, as somebody else."""
        self._emulator().move(arm_id, Move(set=values))

    def delete(self, arm_id: str) -> None:
        """Delete a resource in Azure, as somebody else."""
        self._emulator().move(arm_id, Move(delete=True))

    def create(self, arm_id: str, body: Mapping[str, Any]) -> None:
        """Create a resource in Azure, as somebody else."""
        self._emulator().move(arm_id, Move(create=body))

    def read(self, arm_id: str) -> dict[str, Any] | None:
        """What Azure has of a resource; None if there is none."""
        return self._emulator().resource(arm_id)

    def _emulator(self) -> Emulator:
        return Emulator(self._settings, self._store)


def _list_members(settings: EmulatorSettings) -> dict[str, Any]:
    """The settings but the limits, which no trial has."""
    return {field.name: getattr(settings, field.name) for field in fields(settings) if field.name != "limits"}
