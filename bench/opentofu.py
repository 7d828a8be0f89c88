"""OpenTofu with the azapi provider against the emulator: the programs, and the environment that they run in.

`python -m bench.opentofu` builds both with Go, once, and prints what to add to PATH. It takes some minutes. A checkout
of azapi in place of its module is one more argument: `python -m bench.opentofu ../terraform-provider-azapi`.
"""

from __future__ import annotations

import json
import platform
import shutil
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from bench import estate, processes
from bench.processes import HERE, without_settings

TENANT = "11111111-1111-1111-1111-111111111111"
PROVIDER = "terraform-provider-azapi"
PROVIDER_VERSION = "2.12.0"
PROGRAMS = ("tofu", PROVIDER)

_TOFU_MODULE = "github.com/opentofu/opentofu//cmd/tofu@v1.12.6"
_PROVIDER_MODULE = "github.com/Azure/terraform-provider-azapi"
_PROVIDER_COMMIT = "52241c97e85e"
"""That of PROVIDER_VERSION: Go does not take its tag, since the name of the module has no /v2."""
_SYSTEMS = {"x86_64": "amd64", "aarch64": "arm64"}


class Azure(NamedTuple):
    """An emulator that serves HTTPS: its URL, and the certificate that clients must trust."""

    url: str
    certificate: Path


def build_programs(provider: str = _PROVIDER_MODULE) -> str:
    """Build the programs that are not built yet, and return the folders of both as PATH has them."""
    modules = (("tofu", _TOFU_MODULE), (PROVIDER, f"{provider}//.@{_PROVIDER_COMMIT}"))
    build = HERE.parent / ".ci" / "go-program"
    folders = (subprocess.check_output([build, *each], text=True).strip() for each in modules)
    return ":".join(folders)


def list_missing() -> list[str]:
    """List the programs that are not in PATH."""
    return [program for program in PROGRAMS if not shutil.which(program)]


@contextmanager
def serve_azure(folder: Path, script: str = "azure.yaml") -> Iterator[Azure]:
    """An empty emulator over TLS: Azure's Go SDK sends no token without it."""
    certificate = folder / "azure.pem"
    with processes.azure(script, "--tls", f"--certificate={certificate}") as url:
        yield Azure(url, certificate)


def read_emulator(azure: Azure, name: str) -> Any:
    """Read what the emulator shows of itself: `requests` or `resources`."""
    trust = ssl.create_default_context(cafile=azure.certificate)
    with urllib.request.urlopen(f"{azure.url}/_emulator/{name}", context=trust) as answer:
        return json.load(answer)


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


@contextmanager
def make_environment(azure: Azure, folder: Path) -> Iterator[Mapping[str, str]]:
    """Give the environment in which azapi finds itself in `folder`, and the emulator as Azure."""
    with serve_tokens() as token_url:
        yield without_settings() | {
            "TF_CLI_CONFIG_FILE": str(_install_provider(folder)),
            "SSL_CERT_FILE": str(azure.certificate),
            "IDENTITY_ENDPOINT": token_url,
            "IDENTITY_HEADER": "header",
            "ARM_USE_MSI": "true",
            "ARM_USE_CLI": "false",
            "ARM_SUBSCRIPTION_ID": estate.SUBSCRIPTION,
            "ARM_TENANT_ID": TENANT,
            "ARM_SKIP_PROVIDER_REGISTRATION": "true",
            "ARM_RESOURCE_MANAGER_ENDPOINT": azure.url,
            "ARM_RESOURCE_MANAGER_AUDIENCE": "https://management.azure.com",
            "ARM_ACTIVE_DIRECTORY_AUTHORITY_HOST": azure.url,
        }


def _install_provider(folder: Path) -> Path:
    """Lay the provider out as a mirror of the registry, so that `tofu init` needs no network. Gives the settings."""
    system = f"{platform.system().lower()}_{_SYSTEMS.get(platform.machine(), platform.machine())}"
    mirror = folder / "mirror"
    for registry in ("registry.opentofu.org", "registry.terraform.io"):
        location = mirror / registry / "azure" / "azapi" / PROVIDER_VERSION / system
        location.mkdir(parents=True)
        (location / f"{PROVIDER}_v{PROVIDER_VERSION}").symlink_to(Path(shutil.which(PROVIDER) or PROVIDER).resolve())
    settings = folder / "tofu.rc"
    settings.write_text(f'provider_installation {{ filesystem_mirror {{ path = "{mirror}" }} }}\n', encoding="utf-8")
    return settings


def run_tofu(folder: Path, environment: Mapping[str, str], *arguments: str) -> str:
    """Run `tofu ARGUMENTS` in a folder, and return what it prints. Raises RuntimeError if it fails."""
    command = ["tofu", f"-chdir={folder}", *arguments]
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    print(build_programs(*sys.argv[1:]))
