"""A status branch of a test: updates pushed one after the other, and what the site reads of them."""

from __future__ import annotations

import json
import subprocess
from datetime import datetime, timedelta
from pathlib import Path

from gitsync.report.site.data_files import encode_data, name_data_file
from gitsync.report.site.declared import DeclaredManifests
from gitsync.report.site.estate import EstateName
from gitsync.report.site.site_data import Extras, build_data
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.workflows.site.reading import read_estate
from tests.repository.git.remembered import SetClock, a_record, an_update, write_status
from tests.support.git_repositories import init_bare

NAME = EstateName(id="prod", title="prod", source="prod", branch="gitsync/status")
BRANCH = "gitsync/status"


def report_entry(name: str, **members: object) -> dict[str, object]:
    """The entry of a resource in a report, in sync but for the members."""
    return {
        "apiVersion": "resources.azure.com/v1api20200601",
        "kind": "ResourceGroup",
        "namespace": "default",
        "name": name,
        "outcome": "unchanged",
        "verdict": "in-sync",
        "action": "none",
        "differences": [],
        "unverified": [],
        **members,
    }


def write_report(*entries: dict[str, object], **members: object) -> str:
    """A report as a run writes it: a line for each member and each resource."""
    head = {
        "schemaVersion": 1,
        "command": "sync",
        "revision": "a" * 40,
        "target": {"agent": "gitsync", "endpoint": "https://management.azure.com"},
        "exitCode": 0,
        "headline": "Nothing changed",
        "outcomes": {"unchanged": len(entries), "failed": 0},
        **members,
    }
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    rows = ",\n".join(f"    {json.dumps(entry)}" for entry in entries)
    lines.append(f'  "resources": [\n{rows}\n  ]' if entries else '  "resources": []')
    return "{\n" + ",\n".join(lines) + "\n}\n"


class StatusHistory:
    """A bare repository, and the status branch in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "remote.git"
        self.clock = SetClock()
        init_bare(self.folder)

    def git(self, *arguments: str, stdin: str | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, input=stdin, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def open(self, folder: Path | None = None) -> StatusBranch:
        remote = open_remote(Url(f"file://{folder or self.folder}", "file"), GitAccess())
        return StatusBranch(remote, BRANCH, clock=self.clock, patience=0.01)

    def save(self, *records, **more) -> str:
        """Commit an update an hour after the one before, and return the commit."""
        self._go_on()
        return write_status(self.folder, an_update(*records, **more), self.clock.time)

    def push(self, *records, **more) -> str:
        """As `save`, as a run does, which takes over what an earlier version has written."""
        self._go_on()
        with self.open() as store:
            store.load()
            store.save(an_update(*records, **more))
            return store.commit

    def _go_on(self) -> None:
        moment = datetime.fromisoformat(self.clock.time) + timedelta(hours=1)
        self.clock.time = moment.isoformat().replace("+00:00", "Z")

    def read(self, earlier=None, folder: Path | None = None):
        """Read the estate, after the data of an earlier site."""
        with self.open(folder) as store:
            return read(store, earlier)

    def build(self, earlier=None):
        """Build the data of the site."""
        return build(self.read(earlier))


def read(store: StatusBranch, earlier=None):
    """Read the estate from a store that is open, after the data of an earlier site."""
    files = {name_data_file(name): encode_data(name, value) for name, value in (earlier or {}).items()}
    return read_estate(store, NAME, "", files.get, lambda _: DeclaredManifests())


def build(estate):
    """Build the data of a site of one estate."""
    return build_data([estate], Extras())


__all__ = ["NAME", "StatusHistory", "a_record", "build", "read", "report_entry", "write_report"]
