"""The commands of docs/from-aso.md, line by line, on a real API server: a case of tools/try_api_server.py.

ASO does not run there. Its kinds are small definitions made of the facts, with a stored version of their own, and a
thread does what ASO does when an object is deleted. Azure is the built-in emulator, with the resources of the cluster.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

from api_server import Server, make_kubeconfig

from gitsync.desired.catalog.catalog import open_catalog

PAGE = Path(__file__).resolve().parent.parent / "docs/from-aso.md"
SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core"
ASO = "serviceoperator.azure.com"
POLICY = f"{ASO}/reconcile-policy"
SERVER_SPEC = {
    "location": "westeurope",
    "version": "14",
    "sku": {"name": "Standard_D2s_v3", "tier": "GeneralPurpose"},
    "administratorLogin": "adm",
    "administratorLoginPassword": {"name": "pg-admin", "key": "password"},
    "storage": {"storageSizeGB": 128},
}
_FENCE = re.compile(r"^(?P<indent> *)```\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_STEP = re.compile(r"^(\d+)\. ", re.MULTILINE)
_CHANGING = re.compile(r"\b[0-9a-f]{12}\b|\bin \d+s\b|\d+ (?=Namespace| *objects)")  # commits, seconds, namespaces


class Held(NamedTuple):
    """An object as the cluster holds it."""

    group: str
    kind: str
    version: str  # the one that it was applied at
    name: str
    arm_id: str  # as ASO recorded it
    spec: dict[str, Any]  # as the API server returns it
    annotations: dict[str, str]  # those of ASO

    @property
    def path(self) -> str:
        """Where the API server has its kind, at the stored version."""
        return f"/apis/{self.group}/{find_versions(self)[-1]}/namespaces/default/{self.kind.lower()}s"


OWNER = {"owner": {"name": "core"}}
ESTATE = (
    Held("resources.azure.com", "ResourceGroup", "v1api20200601", "core", GROUP_ID, {"location": "westeurope"}, {}),
    Held(
        "network.azure.com",
        "VirtualNetwork",
        "v1api20240301",
        "hub",
        f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks/hub",
        {**OWNER, "location": "westeurope", "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}},
        {POLICY: "detach-on-delete"},
    ),
    Held(
        "dbforpostgresql.azure.com",
        "FlexibleServer",
        "v1api20221201",
        "shop-pg",
        f"{GROUP_ID}/providers/Microsoft.DBforPostgreSQL/flexibleServers/shop-pg",
        {**OWNER, **SERVER_SPEC},
        {},
    ),
)


class Block(NamedTuple):
    """Commands of one step."""

    step: int  # its number on the page
    script: str
    output: str  # what the page shows below the command, "" for nothing


def follow_page(server: Server, folder: Path) -> str:
    """Run every command of the page, and return what happened otherwise than it describes; "fine" if nothing did."""
    folder.mkdir()
    for held in ESTATE:
        server.send_request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", make_definition(held))
    namespace = server.send_request("GET", "/api/v1/namespaces/default")
    namespace["metadata"]["annotations"] = {POLICY: "manage"}  # what step 5 has to overwrite
    server.send_request("PUT", "/api/v1/namespaces/default", namespace)
    for held in ESTATE:
        server.wait_for(held.path)
        server.send_request("POST", held.path, make_object(held))
    shell = Shell(server, folder)
    faults = [fault for block in read_blocks(PAGE.read_text()) for fault in shell.follow(block)]
    left = [held.name for held in ESTATE if server.send_request("GET", held.path)["items"]]
    if left:
        faults.append(f"these objects are still in the cluster: {', '.join(left)}")
    faults += shell.follow(Block(8, "gitsync plan", "plan of 0123456789ab: 3 resources, 3 in-sync"))
    return "\n".join(faults) or "fine"


def read_blocks(text: str) -> Iterator[Block]:
    """The blocks of commands in the steps of the page, in order."""
    start = text.index("\n1. ")
    steps = text[start : text.index("\n## ", start)]
    for found in _FENCE.finditer(steps):
        numbers = _STEP.findall(steps[: found.start()])
        lines = dedent(found["text"]).splitlines()
        if lines[0].startswith("$ "):
            yield Block(int(numbers[-1]), lines[0].removeprefix("$ "), "\n".join(lines[1:]))
        else:
            yield Block(int(numbers[-1]), "\n".join(lines), "")


class Shell:
    """Runs commands as a person does, in a new repository; variables last from one block to the next."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder, self.repository = server, folder, folder / "repository"
        self.repository.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        (programs / "gitsync").write_text(f'#!/bin/sh\nexec {sys.executable} -m gitsync "$@"\n')
        (programs / "gitsync").chmod(0o755)
        (folder / "kubeconfig").write_text(make_kubeconfig(server))
        self.environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "KUBECONFIG": str(folder / "kubeconfig"),
            "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
            "GITSYNC_EMULATOR": str(folder / "azure"),
            "GITSYNC_SECRET_SOURCES": "folder",
            "GITSYNC_SECRETS_FOLDER": str(self.folder / "secrets"),
            "GITSYNC_LOG_LEVEL": "error",
        }
        self.run("git init --quiet && git config user.email a@example.com && git config user.name A")

    def follow(self, block: Block) -> Iterator[str]:
        """Run a block, and yield each line of the page that it did not print."""
        try:
            if block.step == 7:
                with playing_aso(self.server):
                    said = self.run(block.script)
            else:
                said = self.run(block.script)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            yield f"step {block.step}: {error}"
            return
        if block.step == 2:
            self.provide()
        printed = {_CHANGING.sub("…", line).strip() for line in said.splitlines()}
        if missing := [line for line in block.output.splitlines() if _CHANGING.sub("…", line).strip() not in printed]:
            yield f"step {block.step} did not print {missing}, but: {said}"

    def provide(self) -> None:
        """Step 3: give the Secret, and commit. A sync with a status of its own makes the resources, since they are in
        Azure already.
        """
        secret = self.folder / "secrets/default/pg-admin/password"
        secret.parent.mkdir(parents=True)
        secret.write_text("Made-Up-1")
        self.run("git add azure && git commit --quiet --message Import")
        self.run(f"gitsync sync --status-dir {self.folder}/seed")

    def run(self, script: str) -> str:
        """What a script prints. RuntimeError if it fails."""
        kept = self.folder / "variables"
        complete = (
            f"touch {kept}; . {kept}; set -euo pipefail; {script}\ndeclare -p stored kinds > {kept} 2>/dev/null || true"
        )
        done = subprocess.run(
            ["bash", "-c", complete],
            cwd=self.repository,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{script} ended with {done.returncode}: {done.stdout}")
        return done.stdout


def find_versions(held: Held) -> list[str]:
    """The versions of a kind as its definition has them; the stored one is the last."""
    versions = open_catalog().versions(held.group, held.kind)
    return [*versions, f"{versions[-1]}storage"]


def make_definition(held: Held) -> dict[str, Any]:
    """A definition with the versions of the facts, and no schema: without ASO nothing converts."""
    plural = f"{held.kind.lower()}s"
    anything = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    *served, stored = find_versions(held)
    versions = [{"name": version, "served": True, "storage": False, "schema": anything} for version in served]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{held.group}"},
        "spec": {
            "group": held.group,
            "scope": "Namespaced",
            "names": {"kind": held.kind, "plural": plural, "categories": ["azure", held.group.partition(".")[0]]},
            "versions": [*versions, {"name": stored, "served": True, "storage": True, "schema": anything}],
        },
    }


def make_object(held: Held) -> dict[str, Any]:
    """An object as ASO stores it once it is reconciled."""
    return {
        "apiVersion": f"{held.group}/{find_versions(held)[-1]}",
        "kind": held.kind,
        "metadata": {
            "name": held.name,
            "annotations": {f"{ASO}/resource-id": held.arm_id, **held.annotations},
            "finalizers": [f"{ASO}/finalizer"],
        },
        "spec": {"azureName": held.name, "originalVersion": held.version, **held.spec},
        "status": {"id": held.arm_id},
    }


@contextmanager
def playing_aso(server: Server) -> Iterator[None]:
    """Remove the finalizer of each object that is being deleted, if its own policy is `skip`, as ASO does."""
    is_over = threading.Event()

    def remove_finalizers() -> None:
        while not is_over.wait(0.2):
            for held in ESTATE:
                for manifest in server.send_request("GET", held.path)["items"]:
                    metadata = manifest["metadata"]
                    if "deletionTimestamp" in metadata and metadata["annotations"].get(POLICY) == "skip":
                        metadata["finalizers"] = []
                        server.send_request("PUT", f"{held.path}/{metadata['name']}", manifest)

    operator = threading.Thread(target=remove_finalizers)
    operator.start()
    try:
        yield
    finally:
        is_over.set()
        operator.join()
