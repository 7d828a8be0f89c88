"""Show the main job on the example landing zone and on a tree of Flux, with nothing but this machine.

A real git repository with a remote, and the built-in Azure Resource Manager as a server of its own. The commands are
run and printed as a person would type them; what the headings claim is checked against the reports and against the log
of what Azure was asked. The exit code is 1 where something does not hold.
"""

from __future__ import annotations

import functools
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from emulated_azure import GITSYNC, SUBSCRIPTION, EmulatedAzure, serve_azure
from program_environment import make_environment

from gitsync.units.kustomize import has_tool

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SHOP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/shop/providers"
RULE = f"{SHOP}/Microsoft.Network/networkSecurityGroups/shop-nodes/securityRules/deny-ssh?api-version=2025-03-01"
CACHE = f"{SHOP}/Microsoft.Cache/redis/contoso-shop-sessions?api-version=2024-11-01"
DRIFTED = 4  # the exit code of a plan that finds drift
NO_MATCH = 1  # the exit code of a git grep that finds nothing
LEFT_ALONE = 1  # the exit code of an accept that did not take everything

AMY = {"clientId": "c44b4083-3bb0-49c1-b47d-974e53cbdf3c", "userName": "amy@contoso.com", "client": "Azure Portal"}
ROB = {"clientId": "04b07795-8ddb-461a-bbee-02f9e1bf7b46", "userName": "rob@contoso.com", "client": "CLI"}
SCRIPT = {
    "settings": {
        "principals": [{**person, "secret": "demo"} for person in (AMY, ROB)],
        # Azure takes minutes to say who changed something.
        "changeLog": {"resourceGraphDelay": 0, "actorDelay": 0, "activityLogDelay": 0},
    }
}


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="gitsync-demo-") as name:
        folder = Path(name)
        with serve_azure(folder, SCRIPT, environment({})) as azure:
            try:
                landing_zone = Demo(folder, azure, "manifests", "landing-zone")
                play(landing_zone)
                show_flux(Demo(folder, azure, "flux", "fleet"))
                show_rehearsal(landing_zone)
            except Unexpected as error:
                print(f"\nThis did not hold: {error}", file=sys.stderr)
                return 1
    return 0


class Unexpected(Exception):  # noqa: N818 - it is what it says
    """Something that the demonstration claims did not happen."""


def play(demo: Demo) -> None:
    heading("1. A git repository with a landing zone in it, and an empty Azure")
    demo.make_repository()
    for name, value in demo.settings.items():
        print(f"$ export {name}={value}")

    heading("2. The first sync creates everything, owners first")
    first = demo.gitsync("sync")
    created = first["summary"]["create"]
    expect(created == len(first["resources"]) >= 30, "every resource is created")
    expect(all(one["ready"] == "True" for one in first["resources"]), "every resource is Ready")
    expect(len(demo.azure.list_writes()) >= created, "Azure was asked to create them")

    heading("3. The second sync finds nothing to do, and sends no write")
    second = demo.gitsync("sync")
    expect(second["summary"] == {"in-sync": created}, "every resource is in sync")
    expect(second["requests"]["writes"] + second["requests"]["deletes"] == 0, "the report counts no write")
    expect(not demo.azure.list_writes(), "Azure got no write")

    show_drift(demo, created)
    accept_drift(demo, created)

    heading("9. What the last sync recorded stands on the branch gitsync/status")
    demo.run("git", "fetch", "--quiet", "origin")
    demo.run("git", "log", "--oneline", "origin/gitsync/status")
    demo.run(str(GITSYNC), "status")
    of_revert = "origin/gitsync/status~1"
    demo.run("git", "grep", '"author": "person"', of_revert)
    demo.run(
        "git", "grep", "--extended-regexp", "(amy|rob)@contoso.com", of_revert, "origin/gitsync/status", code=NO_MATCH
    )
    print("✓ the names of the two people are not on it")

    print(
        f"\nSeen: {created} resources created from git by the first sync, none by the second; two changes of two\n"
        "people found by the plan, one of them taken into git and one taken back; and then nothing left to do."
    )


def show_drift(demo: Demo, created: int) -> None:
    heading("4. At night, two people change something behind git's back")
    demo.change(AMY, CACHE, ("properties", "sku", "capacity"), 2)
    demo.change(ROB, RULE, ("properties", "access"), "Allow")

    heading("5. The plan names what drifted and who did it, and changes nothing")
    plan = demo.gitsync("plan", "--detailed-exitcode", "--who", "names", code=DRIFTED)
    expect(plan["summary"] == {"drifted": 2, "in-sync": created - 2}, "two resources have drifted")
    drifted = {one["kind"]: one for one in plan["resources"] if one["verdict"] == "drifted"}
    found = {(one["path"], one["desired"], one["live"]) for each in drifted.values() for one in each["differences"]}
    expected = {("/properties/sku/capacity", 1, 2), ("/properties/access", "Deny", "Allow")}
    expect(found == expected, "the plan shows the two values that differ")
    authors = {(each["changedBy"][0]["name"], each["changedBy"][0]["client"]) for each in drifted.values()}
    named = {("amy@contoso.com", "Azure Portal"), ("rob@contoso.com", "Azure CLI")}
    expect(authors == named, "it names who changed them, and with what")
    expect(not demo.azure.list_writes(), "Azure got no write")


def accept_drift(demo: Demo, created: int) -> None:
    heading("6. Accept takes the larger cache into git, but not the open port: that is accepted by name only")
    demo.run(str(GITSYNC), "accept", code=LEFT_ALONE)
    demo.run("git", "diff")
    expect(demo.read_changes() == ["-    capacity: 1", "+    capacity: 2"], "one line of one file has changed")
    demo.run("git", "commit", "--quiet", "--all", "--message=Keep the larger cache")
    demo.run("git", "push", "--quiet")

    heading("7. Revert closes the port again: the plan of just that, and then the sync of just that")
    demo.gitsync("revert", "NetworkSecurityGroupsSecurityRule/shop-deny-ssh", "--yes")
    expect(len(demo.azure.list_writes()) == 1, "Azure got one write")

    heading("8. Now git and Azure say the same: the next sync finds nothing to do")
    last = demo.gitsync("sync")
    expect(last["summary"] == {"in-sync": created}, "every resource is in sync")
    expect(not demo.azure.list_writes(), "Azure got no write")


def show_flux(demo: Demo) -> None:
    heading("10. A tree of Flux: two clusters, one base, and values for each")
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


def show_rehearsal(demo: Demo) -> None:
    heading("11. A drill: the landing zone from git into an empty subscription, played without Azure")
    demo.azure.forget()
    demo.run(str(GITSYNC), "rehearse", "--from-nothing")
    rehearsal = json.loads((demo.reports / "rehearse.json").read_text())
    resources = rehearsal["first"]["resources"]
    expect(rehearsal["first"]["summary"] == {"create": len(resources)}, "every resource would be created again")
    expect(rehearsal["silent"], "the sync after it would send no write")
    expect(demo.azure.ask("GET", "/_emulator/requests")["requests"] == [], "Azure was not asked")


class Demo:
    """A work tree with a remote, and an Azure to sync it to. `example` is the folder of its manifests."""

    def __init__(self, folder: Path, azure: EmulatedAzure, example: str, name: str) -> None:
        self.example = EXAMPLES / example
        self.tree = folder / name
        self.remote = folder / f"{name}.git"
        self.reports = folder / f"{name}-report"
        self.azure = azure
        self.settings = {
            "AZURE_RESOURCE_MANAGER_ENDPOINT": azure.url,
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
        self.azure.forget()
        self.run(str(GITSYNC), command, *flags, code=code)
        report: dict[str, Any] = json.loads((self.reports / "report.json").read_text())
        return report

    def run(self, *command: str, code: int = 0) -> None:
        """Run a command in the work tree, shown as it would be typed; Unexpected where it ends with another code."""
        print(f"$ {shlex.join([Path(command[0]).name, *command[1:]])}", flush=True)
        done = subprocess.run(command, cwd=self.tree, env=environment(self.settings), check=False)
        expect(done.returncode == code, f"{Path(command[0]).name} {command[1]} ends with exit code {code}", quiet=True)

    def change(self, person: Mapping[str, str], path: str, value_path: tuple[str, ...], value: Any) -> None:
        """Change a value of a resource as the portal would: read it, change it, write it."""
        resource = self.azure.ask("GET", path)
        *owners, name = value_path
        owner = functools.reduce(lambda found, step: found[step], owners, resource)
        print(
            f"{person['userName']}, {person['client']}: PUT {path}\n    {'.'.join(value_path)}: {owner[name]} → {value}"
        )
        owner[name] = value
        self.azure.ask("PUT", path, resource, {"Authorization": f"Bearer {self.sign_in(person)}"})

    def sign_in(self, person: Mapping[str, str]) -> str:
        """Get the access token of a person."""
        form = {"grant_type": "client_credentials", "client_id": person["clientId"], "client_secret": "demo"}
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = self.azure.ask("POST", "/contoso/oauth2/v2.0/token", urlencode(form), kind)
        return str(answer["access_token"])

    def read_changes(self) -> list[str]:
        """The lines that the work tree has changed since the last commit."""
        diff = subprocess.run(
            ["git", "diff", "--unified=0"],
            cwd=self.tree,
            env=environment({}),
            check=True,
            capture_output=True,
            text=True,
        )
        lines = diff.stdout.splitlines()
        return [line for line in lines if line[:1] in {"-", "+"} and line[:3] not in {"---", "+++"}]

    @staticmethod
    def find_id(report: Mapping[str, Any], kind: str) -> str:
        """The ARM id of the one resource of a kind."""
        return str(next(one["armId"] for one in report["resources"] if one["kind"] == kind))


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
