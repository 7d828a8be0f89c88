"""What is synced: a git repository, with a remote, of as many resources as wanted, twenty in a resource group."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import count, islice
from pathlib import Path
from string import Template
from typing import Any

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
GROUP = Template(Path(__file__).with_name("group.yaml").read_text(encoding="utf-8"))
ANY_TYPES = Template(Path(__file__).with_name("any_type.yaml").read_text(encoding="utf-8"))
ANY_TYPES_OF_GROUP = 6
"""Of the twenty resources of a group, so many are an `AzureResource`, if any are."""


def make(folder: Path, resources: int, *, any_types: bool = False) -> Path:
    """A work tree with one manifest a file, committed and pushed to a bare repository beside it."""
    write(folder / "tree", resources, any_types=any_types)
    return commit(folder)


def commit(folder: Path) -> Path:
    """Commit what is in the folder `tree`, and push it to a bare repository beside it."""
    tree, remote = folder / "tree", folder / "remote.git"
    _git(folder, "init", "--quiet", "--bare", str(remote))
    _git(tree, "init", "--quiet", "--initial-branch=main")
    _git(tree, "config", "user.name", "Bench")
    _git(tree, "config", "user.email", "bench@example.com")
    _git(tree, "add", ".")
    _git(tree, "commit", "--quiet", "--message=Describe the estate")
    _git(tree, "remote", "add", "origin", remote.as_uri())
    _git(tree, "push", "--quiet", "origin", "main")
    return tree


def write(tree: Path, resources: int, *, any_types: bool = False) -> None:
    """One manifest a file, in a folder a group; owners come before what they own, so any number is complete."""
    list_documents = _mix_documents if any_types else _documents
    documents = ((group, number, text) for group in count(1) for number, text in enumerate(list_documents(group), 1))
    for group, number, text in islice(documents, resources):
        file = tree / f"group-{group:03}" / f"{number:02}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _make_key(resource: dict[str, Any]) -> str:
    group = resource["apiVersion"].partition("/")[0]
    return f"{resource['kind']}.{group}/{resource['namespace']}/{resource['name']}"


def requests_of(tree: Path) -> list[dict[str, Any]]:
    """The requests that the manifests stand for, as `gitsync render` prints them; owners come before what they own."""
    command = [sys.executable, "-m", "gitsync", "render", str(tree), "--output=json", f"--subscription={SUBSCRIPTION}"]
    resources = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["resources"]
    return [
        {
            "key": _make_key(resource),
            "at": f"{resource['armId']}?api-version={resource['armApiVersion']}",
            "body": resource["body"],
            "after": resource["dependsOn"],
        }
        for resource in resources
    ]


def _documents(group: int) -> list[str]:
    return GROUP.substitute(group=f"group-{group:03}", account=f"group{group:03}").split("---\n")


def _mix_documents(group: int) -> list[str]:
    """The same, with an `AzureResource` in place of the last ones. The groups take turns with the types."""
    others = ANY_TYPES.substitute(group=f"group-{group:03}").split("---\n")
    first = group * ANY_TYPES_OF_GROUP
    return [
        *_documents(group)[:-ANY_TYPES_OF_GROUP],
        *(others[number % len(others)] for number in range(first, first + ANY_TYPES_OF_GROUP)),
    ]


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True)
