"""`python -m bench.terraform_round_trip`: an estate from OpenTofu to gitsync and back.

It needs the programs `tofu` and `terraform-provider-azapi` in PATH; with `--build` it builds them. OpenTofu applies
`bench/terraform` to an emulator, gitsync imports its state, OpenTofu forgets it, and imports what gitsync exports. Each
step prints a line. tests/test_terraform_round_trip.py checks what each leaves.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench import estate
from bench.opentofu import Azure, build_programs, list_missing, make_environment, read_emulator, run_tofu, serve_azure
from bench.processes import HERE, without_settings

PASSWORD = "correct-horse-battery"
FLAGS = ("-input=false", "-no-color")


@dataclass(frozen=True, slots=True)
class Command:
    """How gitsync ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """What it printed with --output json."""
        return json.loads(self.out)


class PlannedImport(NamedTuple):
    """What OpenTofu plans for what was exported."""

    summary: str
    changed: tuple[str, ...]  # addresses


class RoundTrip:
    """The steps, in the order in which they need each other."""

    def __init__(self, folder: Path, azure: Azure, environment: Mapping[str, str]) -> None:
        self.folder, self.azure, self.environment = folder, azure, environment
        self.configuration, self.repository = folder / "terraform", folder / "repository"
        self.state = self.configuration / "terraform.tfstate"
        self.exported = folder / "exported"

    def apply(self) -> None:
        """Create the estate with OpenTofu."""
        shutil.copytree(HERE / "terraform", self.configuration)
        self.tofu("init")
        self.tofu("apply", "-auto-approve", f"-var=password={PASSWORD}")

    def tofu(self, command: str, *arguments: str) -> str:
        """Run OpenTofu on the configuration."""
        flags = () if command == "state" else FLAGS
        return run_tofu(self.configuration, self.environment, command, *arguments, *flags)

    def gitsync(self, command: str, *arguments: str, **variables: str) -> Command:
        """Run gitsync against the emulator, with more variables."""
        azure = {
            "AZURE_RESOURCE_MANAGER_ENDPOINT": self.azure.url,
            "GITSYNC_CREDENTIAL": "anonymous",
            "GITSYNC_CA_BUNDLE": str(self.azure.certificate),
            "GITSYNC_LOG_LEVEL": "warning",
            "AZURE_SUBSCRIPTION_ID": estate.SUBSCRIPTION,
        }
        done = subprocess.run(
            [sys.executable, "-m", "gitsync", command, *arguments],
            cwd=self.folder, env=without_settings() | azure | variables, check=False, capture_output=True, text=True,
        )  # fmt: skip
        return Command(done.returncode, done.stdout, done.stderr)

    def import_state(self) -> Command:
        """Import what the state names, into a repository of its own."""
        self.repository.mkdir()
        self._git("init", "--quiet", "--initial-branch=main")
        done = self.gitsync(
            "import", f"--from-terraform={self.state}", f"--out={self.repository}",
            f"--removed={self.folder / 'removed.tf'}", "--output=json",
        )  # fmt: skip
        self._git("add", ".")
        self._git(
            "-c", "user.name=Bench", "-c", "user.email=bench@example.com", "commit", "--quiet", "--message=Import"
        )
        return done

    def plan(self, secrets: Iterable[Mapping[str, str]]) -> Command:
        """Plan the repository, with the secrets that the import has listed."""
        return self.gitsync(
            "plan", str(self.repository), "--output=json", **{_name_variable(secret): PASSWORD for secret in secrets}
        )  # fmt: skip

    def forget(self) -> None:
        """Have OpenTofu forget what was taken, in the order of the documentation: the script comes first."""
        subprocess.run(["sh", self.folder / "removed.sh"], cwd=self.configuration, env=self.environment, check=True)
        for file in self.configuration.rglob("*.tf"):
            file.unlink()
        shutil.copy(self.folder / "removed.tf", self.configuration)
        self.tofu("apply", "-auto-approve")

    def export(self) -> Command:
        """Write the repository as a configuration."""
        return self.gitsync(
            "export", "terraform", str(self.repository), f"--out={self.exported}", "--output=json"
        )  # fmt: skip

    def plan_exported(self) -> PlannedImport:
        """Plan what was exported with OpenTofu, and a value for each secret."""
        run_tofu(self.exported, self.environment, "init", *FLAGS)
        planned = self._tofu_exported("plan")
        return PlannedImport(
            summary=next(line for line in planned.splitlines() if line.startswith(("Plan:", "No changes"))),
            changed=tuple(re.findall(r"^  # (\S+) will be updated", planned, re.MULTILINE)),
        )

    def apply_exported(self) -> None:
        """Apply what was exported."""
        self._tofu_exported("apply", "-auto-approve")

    def _tofu_exported(self, *arguments: str) -> str:
        text = "".join(path.read_text(encoding="utf-8") for path in self.exported.glob("*.tf"))
        values = {f"TF_VAR_{name}": PASSWORD for name in re.findall(r'^variable "(\w+)"', text, re.MULTILINE)}
        return run_tofu(self.exported, {**self.environment, **values}, *arguments, *FLAGS)

    def list_in_state(self) -> list[str]:
        """List what OpenTofu manages."""
        return self.tofu("state", "list").splitlines()

    def list_in_azure(self) -> list[str]:
        """List the ids that the emulator has."""
        return sorted(resource["id"] for resource in read_emulator(self.azure, "resources")["value"])

    def count_writes(self) -> int:
        """Count the requests that the emulator has had, without those that only read."""
        requests = read_emulator(self.azure, "requests")["requests"]
        return sum(request["method"] not in {"GET", "HEAD"} for request in requests)

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.repository, check=True)


def _name_variable(secret: Mapping[str, str]) -> str:
    return re.sub(r"[^A-Z0-9]", "_", f"GITSYNC_SECRET_default_{secret['name']}_{secret['key']}".upper())


@contextmanager
def start(folder: Path) -> Iterator[RoundTrip]:
    """Begin a round trip in a folder, with an Azure of its own."""
    with serve_azure(folder) as azure, make_environment(azure, folder) as environment:
        yield RoundTrip(folder, azure, environment)


def list_secrets(document: Any) -> list[Mapping[str, str]]:
    """List the secrets that an import wants to be provided."""
    return [secret for file in document["files"] for own in file["resources"] for secret in own["secrets"]]


def main() -> int:
    """Print a line for each step, and give the exit code: 2 if a program is missing."""
    parser = argparse.ArgumentParser(prog="python -m bench.terraform_round_trip")
    parser.add_argument(
        "--build", nargs="?", const="", metavar="AZAPI", help="Build the programs; AZAPI is a checkout."
    )
    build = parser.parse_args().build
    if build is not None:
        os.environ["PATH"] = f"{build_programs(*filter(None, [build]))}:{os.environ['PATH']}"
    if missing := list_missing():
        print(f"Install {' and '.join(missing)} in PATH, or give --build.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="gitsync-terraform-") as name, start(Path(name)) as trip:
        _print_steps(trip)
    return 0


def _print_steps(trip: RoundTrip) -> None:
    trip.apply()
    print(f"{len(trip.list_in_state())} instances applied by OpenTofu")
    imported = trip.import_state()
    rows = Counter(row["outcome"] for row in imported.document["outcomes"])
    print(f"import: exit code {imported.code}; {', '.join(f'{number} {name}' for name, number in rows.items())}")
    planned = trip.plan(list_secrets(imported.document))
    print(f"plan: exit code {planned.code}; {planned.document['headline']}")
    writes = trip.count_writes()
    trip.forget()
    print(
        f"forgotten: {len(trip.list_in_state())} instances in the state, {trip.count_writes() - writes} writes in Azure"
    )
    print(f"export: exit code {trip.export().code}")
    print(f"back in OpenTofu: {trip.plan_exported().summary}")
    trip.apply_exported()
    print(f"and after an apply: {trip.plan_exported().summary}")


if __name__ == "__main__":
    sys.exit(main())
