"""`python -m bench.peers`: gitsync beside OpenTofu with azapi, with the same resources and emulator.

It needs the programs `tofu` and `terraform-provider-azapi` in PATH. Each tool creates the estate of `bench.estate` in
an Azure of its own, then runs again without a change. The emulator counts the requests, and completes each write at
once. It does not throttle, so that the seconds are those of the tools; with `--throttled` it has ARM's limits.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from bench import estate, processes
from bench.processes import without_settings

TENANT = "11111111-1111-1111-1111-111111111111"
PROVIDER = "terraform-provider-azapi"
TOP_LEVEL = ("id", "name", "location", "tags", "identity")
"""Members of a body that azapi does not send."""
MADE_BY_AZURE = frozenset({"Microsoft.Storage/storageAccounts/blobServices"})
"""Types that exist with their parent: azapi updates them, and refuses to create them."""


class Azure(NamedTuple):
    """An emulator that serves HTTPS: its URL, and the certificate that clients must trust."""

    url: str
    certificate: Path


class Cost(NamedTuple):
    """What one run of a tool took."""

    requests: int
    seconds: float
    cpu: float


Tool = Callable[[Azure, Path, list[dict[str, Any]]], Iterator[None]]
"""Prepares a folder for an estate; each step of the iterator is one whole run of the tool."""


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
        subprocess.run([*command, *flags], env=environment, check=True, stdout=subprocess.DEVNULL)
        yield


def run_opentofu(azure: Azure, folder: Path, requests: list[dict[str, Any]]) -> Iterator[None]:
    """Apply the same resources by azapi once, and plan from then on; a plan that finds a change is an error."""
    with serve_tokens() as token_url:
        environment = _make_configuration(azure, folder, requests, token_url)
        command = ["tofu", f"-chdir={folder / 'tofu'}"]
        flags = ["-input=false", "-no-color"]
        yield _run([*command, "apply", "-auto-approve", *flags], environment)
        while True:
            yield _run([*command, "plan", "-detailed-exitcode", *flags], environment)


TOOLS: Mapping[str, tuple[Tool, tuple[str, ...]]] = {
    "gitsync": (run_gitsync, ()),
    "OpenTofu with azapi": (run_opentofu, ("tofu", PROVIDER)),
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
        print(f"Install {' and '.join(missing)} in PATH.", file=sys.stderr)
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
    trust = ssl.create_default_context(cafile=azure.certificate)
    with urllib.request.urlopen(f"{azure.url}/_emulator/requests", context=trust) as answer:
        return len(json.load(answer)["requests"])


@contextmanager
def serve_azure(folder: Path, script: str = "azure.yaml") -> Iterator[Azure]:
    """An empty emulator over TLS: Azure's Go SDK sends no token without it."""
    certificate = folder / "azure.pem"
    with processes.azure(script, "--tls", f"--certificate={certificate}") as url:
        yield Azure(url, certificate)


class _Tokens(BaseHTTPRequestHandler):
    """The managed identity of a machine: a token for any caller, which the emulator does not check."""

    def do_GET(self) -> None:
        """Any path and any resource."""
        expires = int(time.time()) + 3600
        body = json.dumps({"access_token": "token", "expires_on": str(expires), "token_type": "Bearer"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
        """Print nothing."""


@contextmanager
def serve_tokens() -> Iterator[str]:
    """The URL of a managed identity, as Azure's SDKs find it in IDENTITY_ENDPOINT."""
    with HTTPServer(("127.0.0.1", 0), _Tokens) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/token"
        finally:
            server.shutdown()


def _make_configuration(
    azure: Azure, folder: Path, requests: list[dict[str, Any]], token_url: str
) -> Mapping[str, str]:
    """Write the files of OpenTofu, and give the environment that it runs in."""
    (folder / "tofu").mkdir()
    (folder / "tofu" / "main.tf.json").write_text(json.dumps(describe(azure.url, requests)), encoding="utf-8")
    provider = Path(shutil.which(PROVIDER) or PROVIDER).resolve().parent
    settings = folder / "tofu.rc"
    overrides = f'provider_installation {{ dev_overrides {{ "azure/azapi" = "{provider}" }} direct {{}} }}\n'
    settings.write_text(overrides, encoding="utf-8")
    identity = {"IDENTITY_ENDPOINT": token_url, "IDENTITY_HEADER": "header"}
    trust = {"SSL_CERT_FILE": str(azure.certificate), "TF_CLI_CONFIG_FILE": str(settings)}
    return without_settings() | identity | trust


def describe(url: str, requests: list[dict[str, Any]]) -> dict[str, Any]:
    """The resources as a configuration of OpenTofu, in the order of the same owners."""
    addresses = {request["key"]: f"{_find_block(request)}.r{number}" for number, request in enumerate(requests)}
    resources: dict[str, dict[str, Any]] = {"azapi_resource": {}, "azapi_update_resource": {}}
    for request in requests:
        block, _, label = addresses[request["key"]].partition(".")
        after = [addresses[key] for key in request["after"] if key in addresses]
        resources[block][label] = _describe_resource(request) | {"depends_on": after}
    return {
        "terraform": {"required_providers": {"azapi": {"source": "azure/azapi"}}},
        "provider": {"azapi": _describe_provider(url)},
        "resource": resources,
    }


def _describe_provider(url: str) -> dict[str, Any]:
    endpoint = {
        "resource_manager_endpoint": url,
        "resource_manager_audience": "https://management.azure.com",
        "active_directory_authority_host": url,
    }
    return {
        "use_msi": True,
        "use_cli": False,
        "subscription_id": estate.SUBSCRIPTION,
        "tenant_id": TENANT,
        "skip_provider_registration": True,
        "endpoint": [endpoint],
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


def _run(command: list[str], environment: Mapping[str, str]) -> None:
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
