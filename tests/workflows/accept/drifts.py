"""A repository with two manifests, and drift of them as `accept` hands it on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gitsync.model.arm_id import ArmId
from gitsync.model.attribution import Attribution, AuthorKind, Who
from gitsync.model.gvk import Key
from gitsync.model.problem import SourceLocation
from gitsync.workflows.accept.drift import Accepted, DriftedField, DriftedResource
from gitsync.workflows.accept.publish import Publication
from tests.repository.git.remembered import SetClock
from tests.support.branch_files import list_branches
from tests.support.git_repositories import commit_all, init_bare, init_repository, push_main
from tests.support.loose_git import LooseAccess

BEFORE = "kind: StorageAccount\nspec: {sku: Standard_LRS}\n"
AFTER = BEFORE.replace("Standard", "Premium")
SHOP, WEB = "azure/shop.yaml", "azure/web.yaml"
ROB = Attribution(
    author=AuthorKind.PERSON,
    name="rob@contoso.com",
    client="Azure Portal",
    at="2026-11-23T22:41:07Z",
    correlation_id="11111111-2222-3333-4444-555555555555",
)


@dataclass(frozen=True)
class Repository:
    """A working tree whose origin is a bare repository."""

    folder: Path
    remote: Path

    def git(self, *arguments: str, location: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=location or self.folder,
            capture_output=True,
            text=True,
            check=True,
            env=_environment(),
        )
        return done.stdout.strip()

    def commit(self, path: str, text: str) -> str:
        (self.folder / path).parent.mkdir(exist_ok=True)
        (self.folder / path).write_text(text)
        return commit_all(self.folder)

    def write_commit(self, content: str) -> str:
        """Write a commit as git keeps it, and give its id."""
        raw = self.folder / ".git" / "raw"
        raw.write_text(content)
        return self.git("hash-object", "-t", "commit", "-w", str(raw))

    def set_person(self, name: str, address: str) -> None:
        """Set who commits in the git settings."""
        self.git("config", "user.name", name)
        self.git("config", "user.email", address)

    def push_main(self) -> None:
        push_main(self.folder, self.remote)

    def list_branches(self) -> Mapping[str, str]:
        """The branches of the remote with their commits."""
        return list_branches(self.remote)

    def snapshot(self) -> tuple[str, str, str, bytes]:
        """What a publication must not change: what is checked out, the files, the index."""
        files = {path.name: path.read_text() for path in (self.folder / "azure").iterdir()}
        directory = self.folder / ".git"
        head, main = ((directory / name).read_text() for name in ("HEAD", "refs/heads/main"))
        return head, main, str(files), (directory / "index").read_bytes()

    def publication(self, environment: Mapping[str, str] | None = None, who: Who = Who.AUTO) -> Publication:
        return Publication(
            folder=self.folder,
            access=LooseAccess(timeout=60),
            clock=SetClock(),
            environment=environment or {},
            who=who,
        )


def _environment() -> Mapping[str, str]:
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **settings}


def make_repository(folder: Path) -> Repository:
    """Two manifests on main, pushed."""
    work, remote = folder / "work", folder / "remote.git"
    (work / "azure").mkdir(parents=True)
    init_repository(work)
    repository = Repository(work, remote)
    (work / SHOP).write_text(BEFORE)
    (work / WEB).write_text(BEFORE)
    commit_all(work)
    init_bare(remote)
    repository.push_main()
    with (work / ".git" / "config").open("a") as config:
        config.write(f'[remote "origin"]\n\turl = {remote}\n')
    return repository


def drifted(name: str = "shop", new: Any = "Premium_LRS", **more: Any) -> DriftedResource:
    field = DriftedField(
        path=("spec", "sku"),
        pointer="/sku/name",
        old="Standard_LRS",
        new=new,
        changed_by=ROB,
        source=SourceLocation(f"azure/{name}.yaml", 2),
    )
    resource = DriftedResource(
        key=Key("storage.azure.com", "StorageAccount", "default", name),
        arm_id=ArmId(f"/subscriptions/s/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/{name}"),
        arm_type="Microsoft.Storage/storageAccounts",
        source=SourceLocation(f"azure/{name}.yaml", 1),
        fields=(field,),
        changed_by=(ROB,),
    )
    return replace(resource, **more)


def accepted(*resources: DriftedResource, texts: Mapping[str, str | None] | None = None) -> Accepted:
    """Accepted drift with the texts that git gets; by default every file with the value in Azure."""
    found = resources or (drifted(),)
    wanted = texts if texts is not None else {document.source.path: AFTER for document in found}
    encoded = {path: None if text is None else text.encode() for path, text in wanted.items()}
    return Accepted(resources=found, texts=encoded)
