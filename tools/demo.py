"""Show the main job on the example landing zone and on a tree of Flux, with nothing but this machine.

A real git repository with a remote, and the built-in Azure Resource Manager as a server of its own. The commands are
run and printed as a person would type them; what the headings claim is checked against the reports and against the log
of what Azure was asked. The exit code is 1 where something does not hold.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from program_environment import make_environment

from gitsync.arm.client import is_question
from gitsync.units.kustomize import has_tool

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
GITSYNC = Path(sys.executable).parent / "gitsync"
SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
RULE = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/shop/providers/Microsoft.Network"
    "/networkSecurityGroups/shop-nodes/securityRules/deny-ssh?api-version=2025-03-01"
)
DRIFTED = 4  # the exit code of a plan that finds drift


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="gitsync-demo-") as name:
        folder = Path(name)
        with emulator(folder) as url:
            try:
                play(Demo(folder, url, "manifests", "landing-zone"))
                show_flux(Demo(folder, url, "flux", "fleet"))
            except Unexpected as error:
                print(f"\nThis did not hold: {error}", file=sys.stderr)
                return 1
    return 0


class Unexpected(Exception):  # noqa: N818 - it is what it says
    """Something that the demonstration claims did not happen."""


def play(demo: Demo) -> None:
    heading("1. A git repository with a landing zone in it, and an empty Azure")
    demo.make_repository()
    for name, value in demo.azure.items():
        print(f"$ export {name}={value}")

    heading("2. The first sync creates everything, owners first")
    first = demo.gitsync("sync")
    created = first["summary"]["create"]
    expect(created == len(first["resources"]) >= 30, "every resource is created")
    expect(all(one["ready"] == "True" for one in first["resources"]), "every resource is Ready")
    expect(demo.writes() >= created, "Azure was asked to create them")

    heading("3. The second sync finds nothing to do, and sends no write")
    second = demo.gitsync("sync")
    expect(second["summary"] == {"in-sync": created}, "every resource is in sync")
    expect(second["requests"]["writes"] + second["requests"]["deletes"] == 0, "the report counts no write")
    expect(demo.writes() == 0, "Azure got no write")

    heading("4. Somebody opens SSH to the nodes, behind git's back")
    demo.open_ssh()

    heading("5. The plan names what drifted, and changes nothing")
    plan = demo.gitsync("plan", "--detailed-exitcode", code=DRIFTED)
    expect(plan["summary"] == {"drifted": 1, "in-sync": created - 1}, "one resource has drifted")
    drifted = next(one for one in plan["resources"] if one["verdict"] == "drifted")
    found = [(one["path"], one["desired"], one["live"]) for one in drifted["differences"]]
    expect(found == [("/properties/access", "Deny", "Allow")], "the plan shows the one value that differs")
    expect(demo.writes() == 0, "Azure got no write")

    heading("6. What the last sync recorded stands on the branch gitsync/status")
    demo.run("git", "fetch", "--quiet", "origin")
    demo.run("git", "log", "--oneline", "origin/gitsync/status")
    demo.run(str(GITSYNC), "status")

    print(
        f"\nSeen: {created} resources created from git by the first sync, none by the second, and one drifted value "
        f"found by the plan: /properties/access of {drifted['kind']}/{drifted['name']}."
    )


def show_flux(demo: Demo) -> None:
    heading("7. A tree of Flux: two clusters, one base, and values for each")
    if not has_tool():
        print("Not shown: this needs kustomize or kubectl, and neither is installed.")
        return
    demo.make_repository()
    first = demo.gitsync("sync", "--path", "clusters/prod", "--status-branch", "gitsync/prod")
    expect(first["summary"] == {"create": 3}, "only what clusters/prod leads to is created")
    expect(demo.find_id(first, "StorageAccount").endswith("/contosofleetprod"), "the account has the values of prod")
    other = demo.gitsync("plan", "--path", "clusters/dev", "--status-branch", "gitsync/dev")
    expect(other["summary"] == {"create": 3}, "for clusters/dev, nothing exists yet")
    expect(demo.find_id(other, "StorageAccount").endswith("/contosofleetdev"), "its account has the values of dev")


class Demo:
    """A work tree with a remote, and an Azure to sync it to. `example` is the folder of its manifests."""

    def __init__(self, folder: Path, url: str, example: str, name: str) -> None:
        self.example = EXAMPLES / example
        self.tree = folder / name
        self.remote = folder / f"{name}.git"
        self.reports = folder / f"{name}-report"
        self.url = url
        self.azure = {
            "AZURE_RESOURCE_MANAGER_ENDPOINT": url,
            "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
            "GITSYNC_CREDENTIAL": "anonymous",
            "GITSYNC_REPORT": str(self.reports),
        }

    def make_repository(self) -> None:
        """The manifests as the first commit of a repository, pushed to a bare one."""
        shutil.copytree(self.example, self.tree)
        self.run("git", "init", "--quiet", "--initial-branch=main")
        self.run("git", "add", ".")
        self.run("git", "commit", "--quiet", "--message=Describe what Azure has")
        self.run("git", "init", "--quiet", "--bare", str(self.remote))
        self.run("git", "remote", "add", "origin", self.remote.as_uri())
        self.run("git", "push", "--quiet", "--set-upstream", "origin", "main")

    def gitsync(self, command: str, *flags: str, code: int = 0) -> dict[str, Any]:
        """Run a command of gitsync's and give its report; what Azure was asked before is forgotten first."""
        self.ask("DELETE", "/_emulator/requests")
        self.run(str(GITSYNC), command, *flags, code=code)
        report: dict[str, Any] = json.loads((self.reports / "report.json").read_text())
        return report

    def run(self, *command: str, code: int = 0) -> None:
        """Run a command in the work tree, shown as it would be typed; Unexpected where it ends with another code."""
        print(f"$ {shlex.join([Path(command[0]).name, *command[1:]])}", flush=True)
        done = subprocess.run(command, cwd=self.tree, env=environment(self.azure), check=False)
        expect(done.returncode == code, f"{Path(command[0]).name} {command[1]} ends with exit code {code}", quiet=True)

    def open_ssh(self) -> None:
        """Turn the rule that denies SSH around, as the portal would: read it, change it, write it."""
        rule = self.ask("GET", RULE)
        rule["properties"]["access"] = "Allow"
        print(f"PUT {RULE}\n    properties.access: Deny → Allow")
        self.ask("PUT", RULE, rule)

    @staticmethod
    def find_id(report: Mapping[str, Any], kind: str) -> str:
        """The ARM id of the one resource of a kind."""
        return str(next(one["armId"] for one in report["resources"] if one["kind"] == kind))

    def writes(self) -> int:
        """How many writes Azure got since the last command began. The questions of checks are no writes."""
        asked = self.ask("GET", "/_emulator/requests")["requests"]
        sent = [one for one in asked if one["method"] in {"PUT", "PATCH", "POST", "DELETE"} and one["status"]]
        return sum(one["method"] != "POST" or not is_question(one["path"]) for one in sent)

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Ask Azure directly."""
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        try:
            content = None if body is None else json.dumps(body)
            connection.request(method, path, content, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            expect(answer.status < 400, f"Azure answers {method} {path}", quiet=True)
            return json.loads(text) if text else None
        finally:
            connection.close()


@contextmanager
def emulator(folder: Path) -> Iterator[str]:
    """The built-in Azure as a process of its own; its URL."""
    command = [str(GITSYNC), "emulator", "--port", "0", "--state", str(folder / "azure.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment({})) as server:
        try:
            yield str(server.stdout and server.stdout.readline()).strip()
        finally:
            server.terminate()


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command: ours, without settings for another Azure or another git."""
    more = {"GIT_CONFIG_GLOBAL": os.devnull, **settings}
    return make_environment(more, person="Demo", drop=("AZURE_", "GITSYNC_", "GIT_"))


def heading(text: str) -> None:
    print(f"\n── {text}", flush=True)


def expect(holds: bool, sentence: str, *, quiet: bool = False) -> None:  # noqa: FBT001 - a claim and whether it holds
    if not holds:
        raise Unexpected(sentence)
    if not quiet:
        print(f"✓ {sentence}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
