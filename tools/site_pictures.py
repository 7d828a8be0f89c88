"""Take the pictures of a site in the README and the docs: two estates of the example landing zone, after some changes.

usage: python tools/site_pictures.py [FOLDER]

Syncs examples/manifests to two emulators, changes the first estate in git and in Azure, and takes screenshots of the
pages that `gitsync site` makes of both, with a headless Chromium or Chrome from PATH.
"""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

from demo_stage import SCRIPT, Demo, Transcript, environment
from emulated_azure import GITSYNC, EmulatedAzure, serve_azure
from report_pictures import EGRESS, RULE, Shot, take_pictures

from gitsync.providers.arm.real_clock import SystemClock
from gitsync.report.terminal import Paint

RESOURCE = "production/platform/network.azure.com/NetworkSecurityGroupsSecurityRule/hub-deny-from-internet"
_DISALLOWED = "Resource 'scratch' was disallowed by policy. Policy: 'Databases need the tag owner'."
FAULTS = SCRIPT | {
    "rules": [
        {
            "match": {"method": "PUT", "path": "*/databases/scratch", "after": 1},
            "answer": {"status": 403, "code": "RequestDisallowedByPolicy", "message": _DISALLOWED},
        }
    ]
}
HELD = "  name: hub-deny-from-internet\n"


def main(arguments: list[str]) -> int:
    return take_pictures(arguments, make_shots)


def make_shots(folder: Path) -> list[Shot]:
    page = make_site([make_production(folder / "a"), make_test(folder / "b")], folder / "site")
    return [
        Shot("site-overview", page, 1280, 900, 0.8),
        Shot("site-tree", page, 1280, 1000, 0.8, "#/tree?target=production"),
        Shot("site-resource", page, 1280, 1130, 0.8, f"#/resource/{RESOURCE}"),
        Shot("site-graph", page, 1280, 1110, 0.8, "#/graph/production/namespace/platform"),
    ]


def make_production(folder: Path) -> Demo:
    """An estate in which a change in Azure was repaired, another one is held, one resource fails and one waits."""
    with serve_azure(make_folder(folder), FAULTS, environment({})) as azure:
        demo = make_demo(folder, azure, "production")
        change_rule(azure, "Allow")
        sync(demo)
        day = (SystemClock().now() + timedelta(days=21)).date()
        network = demo.tree / "platform" / "hub-network.yaml"
        hold = f'{HELD}  annotations:\n    gitsync/hold: "until {day}, incident 4711"\n'
        network.write_text(network.read_text().replace(HELD, hold))
        (demo.tree / "platform" / "egress.yaml").write_text(EGRESS.replace("platform-network", "platform-networks"))
        warehouse = demo.tree / "analytics" / "warehouse.yaml"
        warehouse.write_text(warehouse.read_text().replace("hotCachePeriod: P1D", "hotCachePeriod: P2D"))
        push(demo, "Hold the rule of the hub during the incident, and prepare egress")
        change_rule(azure, "Allow")
        sync(demo, code=1)
    return demo


def make_test(folder: Path) -> Demo:
    """An estate in sync."""
    with serve_azure(make_folder(folder), SCRIPT, environment({})) as azure:
        return make_demo(folder, azure, "test")


def make_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


def make_demo(folder: Path, azure: EmulatedAzure, name: str) -> Demo:
    demo = Demo(folder, azure, "manifests", name, Transcript(140, Paint(on=False)))
    demo.settings["GITSYNC_DIGEST_KEY"] = "the records of an example that is thrown away"
    demo.make_repository()
    sync(demo)
    return demo


def sync(demo: Demo, code: int = 0) -> None:
    demo.gitsync("sync", "--heartbeat", code=code)


def push(demo: Demo, message: str) -> None:
    demo.git("add", ".")
    demo.git("commit", "--quiet", f"--message={message}")
    demo.git("push", "--quiet")


def change_rule(azure: EmulatedAzure, access: str) -> None:
    rule = azure.send_request("GET", RULE)
    rule["properties"]["access"] = access
    azure.send_request("PUT", RULE, rule)


def make_site(demos: list[Demo], out: Path) -> Path:
    """The first page of the site of all estates."""
    command = [str(GITSYNC), "site", "--out", str(out), *(str(demo.tree) for demo in demos)]
    subprocess.run(command, cwd=demos[0].tree, env=environment(demos[0].settings), check=True, capture_output=True)
    return out / "index.html"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
