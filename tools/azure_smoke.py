"""Run gitsync once against a real subscription, with kinds that cost nothing, and write down how it went.

usage: python tools/azure_smoke.py --subscription ID [--location REGION] [--results FOLDER]
       python tools/azure_smoke.py --dry-run

In one new resource group it creates resources, syncs again, makes drift, plans, repairs, prunes, and cleans up. Each
step must end as expected. The result has versions, kinds and counts of requests, but no id of the subscription, the
tenant or a person. It signs in as the user of the Azure CLI. `--dry-run` does the same in the built-in emulator.
docs/tested-servers.md describes how to add a result.
"""

from __future__ import annotations

import argparse
import json
import platform
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from program_environment import make_environment

from gitsync import __version__

MANIFESTS = Path(__file__).with_name("smoke")
ARM = "https://management.azure.com"
NO_SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
NETWORK_API, GROUP_API = "2025-03-01", "2020-06-01"
NOT_FOUND = 404
PRUNED = "routes.yaml"
"""The file that one of the steps removes."""
LONGEST_CLEANING = 900
"""Seconds that the removal of the group may take at the end of a run that failed."""


class SmokeError(Exception):
    """A step did not end as expected, or the run cannot begin."""


class Target(NamedTuple):
    """Where resources are created."""

    endpoint: str
    subscription: str  # its id
    location: str
    group: str  # the name of the resource group
    get_token: Callable[[], str]  # how a request gets its token

    @property
    def group_id(self) -> str:
        return f"/subscriptions/{self.subscription}/resourceGroups/{self.group}"

    def find_variables(self) -> dict[str, str]:
        """What leads gitsync here."""
        named = {"AZURE_RESOURCE_MANAGER_ENDPOINT": self.endpoint, "AZURE_SUBSCRIPTION_ID": self.subscription}
        return named if self.endpoint == ARM else {**named, "GITSYNC_CREDENTIAL": "anonymous"}


@dataclass
class Smoke:
    """One run: its repository, and what its steps came to."""

    target: Target
    folder: Path
    steps: list[dict[str, Any]] = field(default_factory=list)

    @property
    def tree(self) -> Path:
        return self.folder / "tree"

    def gitsync(self, name: str, command: str, *flags: str, code: int = 0) -> dict[str, Any]:
        """Run a command, note what it cost, and give its report. SmokeError for another exit code."""
        print(f"── {name}: gitsync {' '.join((command, *flags))}", flush=True)
        started = time.monotonic()
        environment = _make_environment(self.target.find_variables())
        run = [sys.executable, "-m", "gitsync", command, str(self.tree), "--output=json", *flags]
        done = subprocess.run(run, env=environment, check=False, capture_output=True, text=True)
        if done.returncode != code:
            raise SmokeError(
                f"{name}: exit code {done.returncode}, not {code}.\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
            )
        report: dict[str, Any] = json.loads(done.stdout)
        seconds = round(time.monotonic() - started, 1)
        counts = {kind: report["requests"][kind] for kind in ("reads", "writes", "deletes", "polls")}
        self.steps.append({"step": name, "seconds": seconds, "requests": counts, "verdicts": report["summary"]})
        print(f"   {json.dumps(self.steps[-1])}", flush=True)
        return report

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.tree, env=_make_environment({}), check=True, capture_output=True)

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", f"--message={message}")
        self.git("push", "--quiet", "origin", "main")

    def write_manifests(self) -> None:
        """The manifests as the first commit of a repository with a bare remote."""
        self.tree.mkdir()
        for file in sorted(MANIFESTS.glob("*.yaml")):
            text = Template(file.read_text(encoding="utf-8"))
            filled = text.substitute(name=self.target.group, location=self.target.location)
            (self.tree / file.name).write_text(filled, encoding="utf-8")
        remote = self.folder / "remote.git"
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("init", "--quiet", "--bare", str(remote))
        self.git("remote", "add", "origin", remote.as_uri())
        self.commit("Describe the resources")

    def remove(self, message: str, *files: str) -> None:
        for name in files:
            (self.tree / name).unlink()
        self.commit(message)


def play(smoke: Smoke) -> None:
    """All steps in order. SmokeError at the first that does not end as expected."""
    smoke.write_manifests()
    first = smoke.gitsync("create", "sync")
    count = len(first["resources"])
    expect(first["summary"] == {"create": count}, f"all {count} resources are created")
    silent = smoke.gitsync("sync again", "sync")
    expect(silent["summary"] == {"in-sync": count}, "a second sync finds nothing to do")
    expect(silent["requests"]["writes"] == 0, "a second sync sends no write")

    make_drift(smoke.target)
    drift = smoke.gitsync("plan with drift", "plan", "--detailed-exitcode", code=4)
    expect(drift["summary"] == {"drifted": 1, "in-sync": count - 2, "missing": 1}, "the plan finds both changes")
    smoke.gitsync("repair", "sync")
    smoke.gitsync("plan after the repair", "plan", "--detailed-exitcode")

    smoke.remove("Remove the routes", PRUNED)
    smoke.gitsync("sync without --prune", "sync")
    pruned = smoke.gitsync("prune", "sync", "--prune", f"--max-deletes={count}")
    expect(pruned["summary"] == {"delete": 2, "in-sync": count - 2}, "only what was removed from git is deleted")
    smoke.remove("Remove everything", *(file.name for file in smoke.tree.glob("*.yaml")))
    (smoke.tree / "README").write_text("empty\n", encoding="utf-8")
    smoke.commit("Keep an empty repository")
    smoke.gitsync("clean up", "sync", "--prune", f"--max-deletes={count}")
    expect(send(smoke.target, "GET", smoke.target.group_id, GROUP_API)[0] == NOT_FOUND, "the resource group is gone")


def make_drift(target: Target) -> None:
    """Change a tag of the network and delete a rule, without gitsync."""
    network = f"{target.group_id}/providers/Microsoft.Network"
    status, _ = send(target, "PATCH", f"{network}/virtualNetworks/hub", NETWORK_API, {"tags": {"team": "strangers"}})
    expect(status < 300, "a tag is changed in Azure")
    rule = f"{network}/networkSecurityGroups/nodes/securityRules/deny-ssh"
    status, _ = send(target, "DELETE", rule, NETWORK_API)
    expect(status < 300, "a security rule is deleted in Azure")
    expect(_is_gone(target, rule, NETWORK_API, seconds=120), "the rule is gone")


def _is_gone(target: Target, arm_id: str, api: str, seconds: float) -> bool:
    """Return whether a resource that is being deleted is gone after these seconds at most."""
    deadline = time.monotonic() + seconds
    while (status := send(target, "GET", arm_id, api)[0]) != NOT_FOUND and time.monotonic() < deadline:
        time.sleep(2)  # noqa: TID251 - a program of its own, without a run whose clock it could take
    return status == NOT_FOUND


def clean_up(target: Target) -> None:
    """Delete the group if it is still there, as after a step that failed."""
    if send(target, "GET", target.group_id, GROUP_API)[0] == NOT_FOUND:
        return
    print(f"── deleting the resource group {target.group}", flush=True)
    send(target, "DELETE", target.group_id, GROUP_API)
    if not _is_gone(target, target.group_id, GROUP_API, LONGEST_CLEANING):
        print(f"The resource group {target.group} is still there. Delete it by hand.", file=sys.stderr)


def send(target: Target, method: str, arm_id: str, api: str, body: Any = None) -> tuple[int, Any]:
    """One request without gitsync: its status and its JSON, None if there is none."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    if token := target.get_token():
        headers["Authorization"] = f"Bearer {token}"
    url = f"{target.endpoint}{arm_id}?api-version={api}"
    request = urllib.request.Request(url, data=data, headers=headers, method=method)  # noqa: S310 - ARM's, or loopback
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - as above
            text = answer.read()
            return answer.status, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        error.close()
        return error.code, None


def expect(holds: bool, what: str) -> None:  # noqa: FBT001 - reads as a sentence
    """SmokeError unless this holds."""
    if not holds:
        raise SmokeError(f"This did not hold: {what}.")
    print(f"   {what}", flush=True)


def build_result(smoke: Smoke, error: str, *, is_dry: bool) -> dict[str, Any]:
    """What is written down. It names no subscription, tenant or person."""
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "azure": "emulator" if is_dry else "Azure",
        "location": smoke.target.location,
        "versions": {
            "gitsync": __version__,
            "python": platform.python_version(),
            "system": platform.system(),
            "az": "" if is_dry else _find_az_version(),
        },
        "kinds": _list_kinds(),
        "passed": not error,
        "error": _without_ids(error, smoke.target),
        "steps": smoke.steps,
    }


def _list_kinds() -> list[str]:
    import yaml  # noqa: PLC0415 - comes with gitsync, and only the result needs it

    documents = (document for file in MANIFESTS.glob("*.yaml") for document in yaml.safe_load_all(file.read_text()))
    return sorted(f"{document['apiVersion']} {document['kind']}" for document in documents)


def _without_ids(text: str, target: Target) -> str:
    return text.replace(target.subscription, "SUBSCRIPTION")


def _find_az_version() -> str:
    return str(_query_az("version")["azure-cli"])


def _query_az(*arguments: str) -> Any:
    """What `az` answers as JSON. SmokeError where it is missing, or not signed in."""
    try:
        done = subprocess.run(["az", *arguments, "--output=json"], check=False, capture_output=True, text=True)
    except FileNotFoundError:
        raise SmokeError("az is not installed. Install the Azure CLI, and run az login.") from None
    if done.returncode:
        raise SmokeError(f"az {arguments[0]} failed. Run az login.\n{done.stderr[-1000:]}")
    return json.loads(done.stdout)


@contextmanager
def open_azure(subscription: str, location: str) -> Iterator[Target]:
    """The real Azure, with the tokens of the Azure CLI."""

    def get_token() -> str:
        return str(_query_az("account", "get-access-token", f"--resource={ARM}", *named)["accessToken"])

    named = [f"--subscription={subscription}"]
    found = _query_az("account", "show", *named)
    print(f"Creates a resource group in {location}, in the subscription {found['name']}, and deletes it at the end.")
    yield Target(ARM, subscription, location, _make_name(), get_token)


@contextmanager
def open_emulator(location: str) -> Iterator[Target]:
    """The emulator as a process of its own."""
    command = [sys.executable, "-m", "gitsync", "emulator"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_make_environment({})) as server:
        try:
            url = server.stdout.readline().strip() if server.stdout else ""
            yield Target(url, NO_SUBSCRIPTION, location, _make_name(), str)
        finally:
            server.terminate()


def _make_name() -> str:
    """A name that no other run has, so that two runs in one subscription do not meet."""
    return f"gitsync-smoke-{secrets.token_hex(3)}"


def _make_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Ours without settings for another run, and an author for commits."""
    more = {"GITSYNC_LOG_LEVEL": "error", "GITSYNC_YES": "true", **variables}
    return make_environment(more, person="Smoke", drop=("AZURE_SUB", "GITSYNC_", "GIT_"))


def main() -> int:
    """Run it, write the result, and give the exit code: 1 if a step failed, 2 if it could not begin."""
    options = _read_options()
    try:
        with _open_target(options) as target, tempfile.TemporaryDirectory(prefix="gitsync-smoke-") as name:
            smoke = Smoke(target, Path(name))
            error = _play_and_clean_up(smoke)
            result = build_result(smoke, error, is_dry=options.dry_run)
    except SmokeError as refused:
        print(refused, file=sys.stderr)
        return 2
    _write_result(result, options.results)
    if error:
        print(error, file=sys.stderr)
    return 1 if error else 0


def _play_and_clean_up(smoke: Smoke) -> str:
    """The error of the step that failed; empty if none did. The group is gone afterwards in either case."""
    try:
        play(smoke)
    except SmokeError as failed:
        return str(failed)
    finally:
        clean_up(smoke.target)
    return ""


def _open_target(options: argparse.Namespace) -> Any:
    if options.dry_run:
        return open_emulator(options.location)
    if not options.subscription:
        raise SmokeError("No subscription is named. Run make azure-smoke SUBSCRIPTION=ID, or add --dry-run.")
    return open_azure(options.subscription, options.location)


def _write_result(result: Mapping[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{result['date']}-gitsync-{result['versions']['gitsync']}-{result['location']}.json"
    file.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"{'Passed' if result['passed'] else 'Failed'}. The result is in {file}.")


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tools/azure_smoke.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--subscription", default="", help="The id of the subscription to create resources in.")
    parser.add_argument("--location", default="westeurope", help="The region. [default westeurope]")
    parser.add_argument("--results", type=Path, default=Path("azure-results"), help="[default azure-results]")
    parser.add_argument("--dry-run", action="store_true", help="Use the built-in emulator instead of Azure.")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
