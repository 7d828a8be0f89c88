"""The repository of somebody who runs gitsync with secrets: manifests, places for secrets, an Azure, the real command.

with azure() as served:
    estate = Estate(tmp_path, served)
    estate.says(group=GROUP, account=account("secrets: {key1: {name: lake, key: first}}"))
    ended = estate.run("sync", "--export-to", "folder", "--export-folder", "../out")
"""

from __future__ import annotations

import shutil
import subprocess
import textwrap
from pathlib import Path

from gitsync.emulator.settings import Timing
from gitsync.emulator.types.behaviour import Style
from tests.support import command_line
from tests.support.command_line import SUBSCRIPTION, Azure, Ended
from tests.support.git_repositories import add_remote, commit_all, init_bare, init_repository, push_main
from tests.support.sops_rig import Rig, rig

AT_ONCE = Timing(style=Style.DONE)
GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core"
GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core}
spec: {location: westeurope}
"""
ACCOUNT = """\
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: lake}
spec:
  owner: {name: core}
  location: westeurope
  kind: StorageV2
  sku: {name: Standard_LRS}
  operatorSpec:
"""
SERVER = """\
apiVersion: dbforpostgresql.azure.com/v1api20221201
kind: FlexibleServer
metadata: {{name: {name}}}
spec:
  owner: {{name: core}}
  location: westeurope
  administratorLogin: boss
  administratorLoginPassword: {{name: {secret}, key: {key}}}
"""
SECRET = """\
apiVersion: v1
kind: Secret
metadata: {{name: {name}, namespace: {namespace}}}
stringData: {{{key}: "{value}"}}
"""


def account(exports: str) -> str:
    """A storage account with its operatorSpec."""
    return ACCOUNT + textwrap.indent(textwrap.dedent(exports).strip() + "\n", "    ")


def server(name: str, secret: str, key: str = "password") -> str:
    """A server whose password is in a Secret."""
    return SERVER.format(name=name, secret=secret, key=key)


def secret(name: str, value: str, key: str = "password", namespace: str = "default") -> str:
    return SECRET.format(name=name, namespace=namespace, key=key, value=value)


def account_id(name: str = "lake") -> str:
    return f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/{name}"


def server_id(name: str) -> str:
    return f"{GROUP_ID}/providers/Microsoft.DBforPostgreSQL/flexibleServers/{name}"


class Estate:
    """A repository, and what is beside it. The status goes to `state` unless the repository has a remote."""

    def __init__(self, outside: Path, azure: Azure) -> None:
        self.outside = outside
        self.azure = azure
        self.folder = outside / "repository"
        self.folder.mkdir()
        self.sops: Rig = rig("double", outside)
        init_repository(self.folder)

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def says(self, **documents: str | bytes) -> Estate:
        """Make git have exactly this: a document a name, in a new commit."""
        for old in self.folder.glob("*.yaml"):
            old.unlink()
        for name, text in documents.items():
            (self.folder / f"{name}.yaml").write_bytes(text.encode() if isinstance(text, str) else text)
        commit_all(self.folder)
        return self

    def pushes_to(self, bare: Path) -> Estate:
        init_bare(bare)
        add_remote(self.folder, bare)
        push_main(self.folder, bare)
        return self

    def run(self, *arguments: str, with_sops: bool = True, **variables: str) -> Ended:
        """Run a command in the repository; the program sops, which needs no key to be there, is on the PATH."""
        git = str(Path(shutil.which("git") or "/usr/bin/git").parent)
        path = f"{self.outside / 'bin'}:{git}:/usr/bin:/bin" if with_sops else f"{git}:/usr/bin:/bin"
        has_remote = "[remote " in (self.folder / ".git" / "config").read_text()
        state = {} if has_remote else {"GITSYNC_STATUS_DIR": str(self.outside / "state")}
        requested = {**self.azure.variables, **state, "PATH": path, **variables}
        return command_line.run_here(*arguments, folder=self.folder, **requested)

    def location(self, name: str, **files: str) -> Path:
        """A folder beside the repository, with files whose paths have `__` for `/`."""
        top = self.outside / name
        top.mkdir(mode=0o700, exist_ok=True)
        for path, content in files.items():
            file = top / path.replace("__", "/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        return top

    def password(self, name: str) -> str:
        """What Azure was last sent for a server."""
        body = self.azure.emulator.received(server_id(name))
        assert body is not None
        return str(body["properties"]["administratorLoginPassword"])

    def files(self, top: str) -> dict[str, str]:
        """Every file below a folder beside the repository, with its content."""
        found = sorted(file for file in (self.outside / top).rglob("*") if file.is_file())
        return {str(file.relative_to(self.outside / top)): file.read_text() for file in found}
