"""`python -m bench.peers`: gitsync beside OpenTofu with azapi, with the same resources and emulator.

It needs the programs `tofu` and `terraform-provider-azapi` in PATH; `python -m bench.opentofu` builds them. Each
tool creates the estate of `bench.estate` in an Azure of its own, then runs again without a change. The emulator counts
the requests, and completes each write at once. It does not throttle, so that the seconds are those of the tools; with
`--throttled` it has ARM's limits.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench import estate
from bench.opentofu import PROGRAMS, Azure, make_environment, read_emulator, run_tofu, serve_azure
from bench.processes import without_settings

TOP_LEVEL = ("id", "name", "location", "tags", "identity")
"""Members of a body that azapi does not send."""
MADE_BY_AZURE = frozenset({"Microsoft.Storage/storageAccounts/blobServices"})
"""Types that exist with their parent: azapi updates them, and refuses to create them."""


class Cost(NamedTuple):
    """What one run of a tool took."""

    requests: int
    seconds: float
    cpu: float


Tool = Callable[[Azure, Path, list[dict[str, Any]]], Iterator[None]]
"""The first step of the iterator prepares a folder for an estate; each of the others is one whole run of the tool."""


def run_gitsync(azure: Azure, folder: Path, requests: list[dict[str, Any]]) -> Iterator[None]:
    """Sync the work tree of the estate again and again."""
    del requests
    command = [
        sys.executable,
        "-m",
        "gitsync",
        "sync",
        str(folder / "tree"),
        "--yes",
        "--output=json",
        "--log-level=error",
    ]
    flags = [f"--endpoint={azure.url}", "--credential=anonymous", f"--subscription={estate.SUBSCRIPTION}"]
    environment = without_settings() | {"GITSYNC_CA_BUNDLE": str(azure.certificate)}
    while True:
        yield
        subprocess.run([*command, *flags], env=environment, check=True, stdout=subprocess.DEVNULL)


def run_opentofu(azure: Azure, folder: Path, requests: list[dict[str, Any]]) -> Iterator[None]:
    """Apply the same resources by azapi once, and plan from then on; a plan that finds a change is an error."""
    with make_environment(azure, folder) as environment:
        work = _write_configuration(folder, requests)
        flags = ["-input=false", "-no-color"]
        run_tofu(work, environment, "init", *flags)
        yield
        run_tofu(work, environment, "apply", "-auto-approve", *flags)
        while True:
            yield
            run_tofu(work, environment, "plan", "-detailed-exitcode", *flags)


TOOLS: Mapping[str, tuple[Tool, tuple[str, ...]]] = {
    "gitsync": (run_gitsync, ()),
    "OpenTofu with azapi": (run_opentofu, PROGRAMS),
}
"""Each tool, and the programs that it needs."""


def main() -> int:
    """Print a row for each run of each tool, and give the exit code: 2 if no peer is installed."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--resources", type=int, default=200, help="Resources to create. [default 200]")
    parser.add_argument("--throttled", action="store_true", help="With ARM's limits.")
    arguments = parser.parse_args()
    resources, script = arguments.resources, "limits.yaml" if arguments.throttled else "azure.yaml"
    missing = [program for _, needs in TOOLS.values() for program in needs if not shutil.which(program)]
    if missing:
        print(f"Install {' and '.join(missing)} in PATH; python -m bench.opentofu builds them.", file=sys.stderr)
        return 2
    print(f"{'':24}{'requests':>10}{'a resource':>12}{'seconds':>10}{'CPU':>8}")
    for name, (tool, _) in TOOLS.items():
        for which, cost in zip(("first run", "second run"), measure(tool, resources, script), strict=True):
            each = cost.requests / resources
            print(f"{name + ', ' + which:24}{cost.requests:>10}{each:>12.2f}{cost.seconds:>10.1f}{cost.cpu:>8.1f}")
    return 0


def measure(tool: Tool, resources: int, script: str = "azure.yaml") -> list[Cost]:
    """The first and the second run of a tool, in an Azure of its own with the settings of `script`."""
    with tempfile.TemporaryDirectory(prefix="gitsync-peers-") as name, serve_azure(Path(name), script) as azure:
        folder = Path(name)
        runs = tool(azure, folder, estate.requests_of(estate.make(folder, resources)))
        next(runs)
        return [_measure_run(azure, runs) for _ in range(2)]


def _measure_run(azure: Azure, runs: Iterator[None]) -> Cost:
    requested = count_requests(azure)
    before, started = os.times(), time.monotonic()
    next(runs)
    seconds, after = time.monotonic() - started, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(count_requests(azure) - requested, seconds, cpu)


def count_requests(azure: Azure) -> int:
    """How many requests the emulator has had."""
    return len(read_emulator(azure, "requests")["requests"])


def _write_configuration(folder: Path, requests: list[dict[str, Any]]) -> Path:
    work = folder / "tofu"
    work.mkdir()
    (work / "main.tf.json").write_text(json.dumps(describe(requests)), encoding="utf-8")
    return work


def describe(requests: list[dict[str, Any]]) -> dict[str, Any]:
    """The resources as a configuration of OpenTofu, in the order of the same owners."""
    addresses = {request["key"]: f"{_find_block(request)}.r{number}" for number, request in enumerate(requests)}
    resources: dict[str, dict[str, Any]] = {"azapi_resource": {}, "azapi_update_resource": {}}
    for request in requests:
        block, _, label = addresses[request["key"]].partition(".")
        after = [addresses[key] for key in request["after"] if key in addresses]
        resources[block][label] = _describe_resource(request) | {"depends_on": after}
    return {
        "terraform": {"required_providers": {"azapi": {"source": "azure/azapi"}}},
        "resource": resources,
    }


def _find_block(request: Mapping[str, Any]) -> str:
    return "azapi_update_resource" if split_id(_split_address(request)[0])[1] in MADE_BY_AZURE else "azapi_resource"


def _split_address(request: Mapping[str, Any]) -> tuple[str, str]:
    arm_id, _, version = request["at"].partition("?api-version=")
    return arm_id, version


def _describe_resource(request: Mapping[str, Any]) -> dict[str, Any]:
    arm_id, version = _split_address(request)
    parent, kind, name = split_id(arm_id)
    body = request["body"]
    described = {
        "type": f"{kind}@{version}",
        "parent_id": parent,
        "name": name,
        "body": {member: value for member, value in body.items() if member not in TOP_LEVEL},
    }
    if kind in MADE_BY_AZURE:
        return described
    more = {
        "location": body.get("location"),
        "tags": body.get("tags"),
        "identity": _describe_identity(body.get("identity")),
        "schema_validation_enabled": False,
        "ignore_null_property": True,
    }
    return described | {member: value for member, value in more.items() if value is not None}


def _describe_identity(identity: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if identity is None:
        return None
    return {"type": identity["type"], "identity_ids": sorted(identity.get("userAssignedIdentities") or {})}


def split_id(arm_id: str) -> tuple[str, str, str]:
    """The id of the parent, the ARM type and the name of a resource.

    An extension resource, whose id has two providers, has the resource that it is attached to as its parent.
    """
    scope, _, rest = arm_id.rpartition("/providers/")
    if not scope:
        parent, _, name = arm_id.rpartition("/resourceGroups/")
        return parent, "Microsoft.Resources/resourceGroups", name
    namespace, *segments = rest.split("/")
    kind = "/".join((namespace, *segments[::2]))
    parent = scope if len(segments) == 2 else arm_id.rsplit("/", 2)[0]
    return parent, kind, segments[-1]


if __name__ == "__main__":
    sys.exit(main())
