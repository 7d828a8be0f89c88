"""Show the main job on the example landing zone and on a Flux tree, with nothing but this machine.

usage: python tools/demo.py

A real git repository with a remote, and the emulated Azure Resource Manager as a server of its own. The commands are
run as a person would type them, and printed with what matters of their output. What the lines with a check mark claim
is checked against the reports, and against the log of what the emulator received. The exit code is 1 if something does
not hold. The folder build/demo stays, with the whole output of each command and its report as a page.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from demo_stage import (
    AMY,
    EXAMPLES,
    GITSYNC,
    ROB,
    SCRIPT,
    Demo,
    Transcript,
    Unexpected,
    environment,
    expect,
)
from emulated_azure import SUBSCRIPTION, serve_azure

from gitsync.report.terminal import Paint
from gitsync.repository.units.kustomize import has_tool

FOLDER = EXAMPLES.parent / "build" / "demo"
STATE = "azure.db"  # where `serve_azure` keeps it
SHOP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/shop/providers"
RULE = f"{SHOP}/Microsoft.Network/networkSecurityGroups/shop-nodes/securityRules/deny-ssh?api-version=2025-03-01"
CACHE = f"{SHOP}/Microsoft.Cache/redis/contoso-shop-sessions?api-version=2024-11-01"
ACCOUNT = f"{SHOP}/Microsoft.Storage/storageAccounts/contososhopassets?api-version=2023-01-01"
MOST_LINES, USUAL_COLUMNS = 120, 80  # so that it is read
DRIFTED = 4  # the exit code of a plan that finds drift
PARTLY_ACCEPTED = 1  # the exit code of an accept that leaves something as it is


def main() -> int:
    in_colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    transcript = Transcript(shutil.get_terminal_size().columns, Paint(on=in_colour))
    shutil.rmtree(FOLDER, ignore_errors=True)  # of the demo before this one
    FOLDER.mkdir(parents=True)
    transcript.print_text(
        "The main job of gitsync, in steps. It needs no Azure account: an emulator of Azure Resource Manager runs on "
        f"this machine. The output is shortened here; {show_path(FOLDER)} keeps all of it."
    )
    try:
        with serve_azure(FOLDER, SCRIPT, environment({})) as azure:
            landing_zone = Demo(FOLDER, azure, "manifests", "landing-zone", transcript)
            count = show_first_syncs(landing_zone)
            show_drift(landing_zone, count)
            drift_page = landing_zone.reports / "report.html"
            settle_drift(landing_zone, count)
            show_status(landing_zone)
            show_flux(Demo(FOLDER, azure, "flux", "fleet", transcript))
            show_rehearsal(landing_zone)
        show_what_next(landing_zone, drift_page)
        expect(transcript.lines <= MOST_LINES or transcript.columns < USUAL_COLUMNS, "the demo is short")
    except Unexpected as error:
        print(f"\nThis did not hold: {error}", file=sys.stderr)
        return 1
    return 0


def show_first_syncs(demo: Demo) -> int:
    say, azure = demo.transcript, demo.azure
    say.begin_step("A git repository describes what Azure should have")
    demo.make_repository()
    say.print_output(demo.run("sed", "-n", "3,16p", "shop/sessions.yaml").stdout.splitlines())
    say.explain("A Redis cache, as a manifest of Azure Service Operator, with its owner.")

    say.begin_step("A plan shows what a sync would do")
    plan = demo.gitsync("plan")
    count = len(plan["resources"])
    expect(plan["summary"] == {"create": count} and count >= 30, "the plan creates every resource")
    expect(not azure.list_writes(), "a plan writes nothing")
    say.explain(f"Azure has none of the {count} resources yet. A plan writes nothing.")

    say.begin_step("The first sync creates everything, owners first")
    first = demo.gitsync("sync", head=2)
    writes = [write["path"].partition("?")[0] for write in azure.list_writes()]
    expect(first["summary"] == {"create": count}, "the sync creates every resource")
    expect(all(resource["ready"] == "True" for resource in first["resources"]), "every resource is Ready")
    expect(len(set(writes)) >= count, "Azure received a write for each")
    expect(owners_come_first(writes), "Azure received each owner before what it owns")
    say.explain(f"Azure received {len(writes)} writes: owners first, the rest in parallel.")

    say.begin_step("The second sync sends no write")
    expect_silent(demo, demo.gitsync("sync"), count)
    say.explain(f"All {count} resources are in sync: gitsync compares before it writes.")
    return count


def owners_come_first(paths: list[str]) -> bool:
    """Whether each path of a list comes after those that it extends."""
    first = {path.casefold(): location for location, path in reversed(list(enumerate(paths)))}
    return all(
        first[owner] < location for path, location in first.items() for owner in first if path.startswith(f"{owner}/")
    )


def expect_silent(demo: Demo, report: dict[str, Any], count: int) -> None:
    expect(report["summary"] == {"in-sync": count}, "every resource is in sync")
    expect(report["requests"]["writes"] + report["requests"]["deletes"] == 0, "the report counts no write")
    expect(not demo.azure.list_writes(), "Azure received no write")


def show_drift(demo: Demo, count: int) -> None:
    say = demo.transcript
    say.begin_step("Two people change Azure by hand: the plan shows what, and who")
    demo.change(AMY, CACHE, ("properties", "sku", "capacity"), 2)
    demo.change(ROB, RULE, ("properties", "access"), "Allow")
    demo.change(ROB, ACCOUNT, ("properties", "publicNetworkAccess"), "Enabled")  # git does not have this field
    lines = r"^ +Values: Azure|^ +update|^ +[~+] |@contoso\.com|^Changed outside|^ +StorageAccount"
    plan = demo.gitsync("plan", "--detailed-exitcode", "--who", "names", show=lines, code=DRIFTED)
    expect(plan["summary"] == {"drifted": 2, "in-sync": count - 2}, "two resources have drifted")
    drifted = {resource["kind"]: resource for resource in plan["resources"] if resource["verdict"] == "drifted"}
    found = {
        (difference["path"], difference["desired"], difference["live"])
        for each in drifted.values()
        for difference in each["differences"]
    }
    expected = {("/properties/sku/capacity", 1, 2), ("/properties/access", "Deny", "Allow")}
    expect(found == expected, "the plan shows the two values that differ")
    authors = {(each["changedBy"][0]["name"], each["changedBy"][0]["client"]) for each in drifted.values()}
    expect(
        authors == {(person["userName"], person["client"]) for person in (AMY, ROB)},
        "it names who changed them, with what",
    )
    outside = {change["path"] for resource in plan["resources"] for change in resource.get("outside", [])}
    expect(outside == {"/properties/publicNetworkAccess"}, "it shows the field that git does not have")
    expect(not demo.azure.list_writes(), "a plan writes nothing")
    say.explain("A sync would undo two changes. Git does not have the third field: the sync leaves it as it is.")


def settle_drift(demo: Demo, count: int) -> None:
    say = demo.transcript
    say.begin_step("Accept keeps the larger cache: it edits the manifest")
    demo.gitsync("accept", show="shop-deny-ssh spec", code=PARTLY_ACCEPTED)
    changes = [line for line in demo.git("diff", "--unified=0", shown=True).splitlines() if line[1:2] == " "]
    say.print_output(changes)
    expect(changes == ["-    capacity: 1", "+    capacity: 2"], "one line of one file has changed")
    demo.git("commit", "--quiet", "--all", "--message", "Keep the larger cache", shown=True)
    demo.git("push", "--quiet", shown=True)
    say.explain("The open port stays: accept takes what weakens security only by its name.")

    say.begin_step("Revert closes the port again, and nothing else")
    demo.gitsync("revert", "NetworkSecurityGroupsSecurityRule/shop-deny-ssh", "--yes", show="^Updated")
    expect(len(demo.azure.list_writes()) == 1, "Azure received one write")
    say.explain("It plans and syncs just what is named. Azure received one write.")

    say.begin_step("Git and Azure agree again: the next sync sends no write")
    expect_silent(demo, demo.gitsync("sync"), count)
    say.explain(f"All {count} resources are in sync.")


def show_status(demo: Demo) -> None:
    say = demo.transcript
    say.begin_step("All state is in git, on a branch beside the manifests")
    demo.git("fetch", "--quiet", "origin")
    branch = "origin/gitsync/status"
    say.print_output(demo.git("log", "--oneline", branch, shown=True).splitlines())
    demo.gitsync("status", "redis", show="Redis")
    history = demo.git("log", "--patch", branch)
    expect('"author": "person"' in history, "the status records that a person made the drift")
    expect(not any(person["userName"] in history for person in (AMY, ROB)), "the status does not name the two people")
    say.explain("Each sync records its results as a commit. The names of the two people are in none of them.")


def show_flux(demo: Demo) -> None:
    say = demo.transcript
    say.begin_step("A Flux tree works as it is: two clusters, one base")
    if not has_tool():
        say.print_text("Not shown: this step needs kustomize or kubectl.")
        return
    demo.make_repository()
    first = demo.gitsync("sync", "--path", "clusters/prod", "--status-branch", "gitsync/prod")
    expect(first["summary"] == {"create": 3}, "only what clusters/prod leads to is created")
    prod, dev = "contosofleetprod", "contosofleetdev"
    expect(demo.find_id(first, "StorageAccount").endswith(f"/{prod}"), "the account has the values of prod")
    other = demo.gitsync("plan", "--path", "clusters/dev", "--status-branch", "gitsync/dev")
    expect(other["summary"] == {"create": 3}, "for clusters/dev, nothing exists yet")
    expect(demo.find_id(other, "StorageAccount").endswith(f"/{dev}"), "its account has the values of dev")
    say.explain(f"The same manifests give {prod} and {dev}: each cluster has its own variables.")


def show_rehearsal(demo: Demo) -> None:
    say = demo.transcript
    say.begin_step("A drill: could git rebuild all of it in an empty subscription?")
    rehearsal = demo.gitsync("rehearse", "--from-nothing", show="^ +(Vault|Redis|FlexibleServer)/")
    count = len(rehearsal["first"]["resources"])
    expect(rehearsal["first"]["summary"] == {"create": count}, "every resource would be created again")
    expect(rehearsal["silent"], "the sync after it would send no write")
    expect(demo.azure.send_request("GET", "/_emulator/requests")["requests"] == [], "Azure received no request")
    say.explain(
        "It lists what git alone cannot restore. A second sync would change nothing. Azure received no request: "
        "gitsync simulates both syncs."
    )


def show_what_next(demo: Demo, drift_page: Path) -> None:
    """The pages to open, and the commands that work after the demo: the emulator then runs inside of each."""
    say, settings = demo.transcript, demo.write_settings(FOLDER / STATE)
    say.print_heading("Look around")
    site = FOLDER / "site"
    demo.run(str(GITSYNC), "site", "--out", str(site), shown=False)
    expect((site / "data" / "tree.js").is_file(), "the site has the tree of the estate")
    say.print_text("Open in a browser the estate (gitsync site), the drift, and the drill:")
    say.print_output(map(show_path, (site / "index.html", drift_page, demo.reports / "rehearse.html")))
    say.print_text("Go on in the same repository, with the emulator as the demo left it:")
    say.print_output([f". {show_path(settings)} && cd {show_path(demo.tree)}"])
    say.print_output(["gitsync status", "gitsync describe redis/shop-sessions", "gitsync plan"])
    say.print_text("README.md and docs/getting-started.md go on with manifests of your own.")


def show_path(path: Path) -> str:
    """A path to type in the folder that the demo was started in."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


if __name__ == "__main__":
    sys.exit(main())
