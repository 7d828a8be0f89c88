"""A repository whose runs have many workers, with a remote, and an Azure."""

from __future__ import annotations

import asyncio
import copy
import re
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from gitsync.agent.run.gathering import gather
from gitsync.agent.run.run import execute
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.state.store import MemoryStore
from gitsync.report.progress import Silent
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.support.branch_files import list_branches, read_branch_files
from tests.support.git_repositories import add_remote, commit_all, init_bare, init_repository, push_main
from tests.support.world import SUBSCRIPTION

STATUS = "gitsync/status"
WORKER = "gitsync/status-shards/42/"
"""The branches of workers begin so."""

PART = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: {name}}}
spec: {{location: westeurope}}
---
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetwork
metadata: {{name: net-{name}}}
spec:
  location: westeurope
  owner: {{name: {name}}}
  addressSpace: {{addressPrefixes: [10.0.0.0/16]}}
"""
"""What has one worker."""

PARTS = "abc"


class Killed(Silent):
    """Progress of a worker that dies once it has announced what it may create."""

    def expect(self, needs):
        raise ProcessLookupError("killed")


class Rig:
    """The repository, whose manifests have three parts, and what was done with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bare, self.work = folder / "bare.git", folder / "work"
        init_bare(self.bare)
        init_repository(self.work)
        add_remote(self.work, self.bare.as_uri())
        self.commit({f"{name}.yaml": PART.format(name=name) for name in PARTS})
        self.store = MemoryStore()
        self.puts: list[str] = []
        self.config = Config(
            source=str(self.work),
            subscription=SUBSCRIPTION,
            credential="anonymous",
            run_id="42",
            checks=("none",),
            who="off",
        )

    def copy(self, folder: Path) -> Rig:
        """A rig of its own that is just like this one: to run workers takes much longer."""
        other = copy.copy(self)
        other.folder, other.bare, other.work = folder, folder / "bare.git", folder / "work"
        shutil.copytree(self.bare, other.bare)
        shutil.copytree(self.work, other.work)
        config = other.work / ".git" / "config"
        config.write_text(config.read_text().replace(self.bare.as_uri(), other.bare.as_uri()))
        other.store, other.puts = copy.deepcopy(self.store), [*self.puts]
        other.config = replace(self.config, source=str(other.work))
        return other

    def commit(self, texts: Mapping[str, str]) -> None:
        for path, text in texts.items():
            (self.work / path).write_text(text)
        self.revision = commit_all(self.work)
        push_main(self.work, self.bare)

    def sync(self, *shards: int, of: int = len(PARTS), progress=None, stopped=False, writes=True, **settings):
        """Run these workers at once; without a number, one that syncs all. Their reports, in that order."""
        settings_of_shards = [{"shard": f"{number}/{of}"} for number in shards] or [{}]
        return asyncio.run(self._sync([settings | own for own in settings_of_shards], progress, stopped, writes))

    async def _sync(self, runs, progress, stopped, writes):
        stop = asyncio.Event()
        if stopped:
            stop.set()
        async with Emulator(EmulatorSettings(limits=None), self.store) as azure:
            configs = [replace(self.config, endpoint=azure.url, **settings) for settings in runs]
            try:
                return await asyncio.gather(
                    *(execute(config, writes=writes, progress=progress, stop=stop) for config in configs)
                )
            finally:
                self.puts += [request.path for request in azure.requests if request.method == "PUT"]

    def kill(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self.sync(number, progress=Killed())

    def gather(self, **settings):
        return gather(replace(self.config, **settings), Redactions())

    def rewrite(self, number: int, path: str, content: str) -> None:
        """Have somebody push another file to the branch of a worker, with the message of its last commit."""
        ref = f"refs/heads/{WORKER}{number}"
        text = self.git("log", "-1", "--format=%B", ref)
        commit = (
            f"commit {ref}\ncommitter x <x@example.com> now\ndata {len(text.encode())}\n{text}\n"
            f"from {ref}^0\nM 100644 inline {path}\ndata {len(content.encode())}\n{content}\n"
        )
        self.git("fast-import", "--quiet", "--date-format=now", stdin=commit)

    def git(self, *arguments: str, stdin: str = "") -> str:
        command = ["git", *arguments]
        return subprocess.run(command, cwd=self.bare, input=stdin, check=True, capture_output=True, text=True).stdout

    def refs(self) -> Mapping[str, str]:
        return list_branches(self.bare)

    def branches(self) -> list[str]:
        return [name for name in self.refs() if name.startswith("gitsync/")]

    def read(self, branch: str = STATUS) -> dict[str, str]:
        """Read the files of a branch by their paths."""
        return {path: content.decode() for path, content in read_branch_files(self.bare, branch).items()}

    def texts(self) -> list[str]:
        """What people read of the status, without the addresses of this test."""
        files = self.read()
        return [re.sub(r"(file|http):[^ <\"]+", "", files[name]) for name in ("SUMMARY.md", "inventory.json")]
