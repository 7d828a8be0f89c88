"""Take the picture of a report that the README shows: a plan of the example landing zone, after some changes.

usage: python tools/report_picture.py [FILE]

Syncs examples/manifests to the built-in Azure as `make demo` does, changes one resource in Azure and three in git, and
takes a screenshot of the HTML page of the plan with a headless Chromium or Chrome from PATH.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from demo import EXAMPLES, SUBSCRIPTION, Demo, emulator

PICTURE = EXAMPLES.parent / "docs" / "images" / "report.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
STATUS = ("--status-dir", "../status")
SIZE, SCALE = "1280,1325", "--force-device-scale-factor=0.8"  # as wide as a page shows it
RULE = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/platform-network/providers/Microsoft.Network"
    "/networkSecurityGroups/hub-shared/securityRules/deny-from-internet?api-version=2025-03-01"
)

EGRESS = """apiVersion: network.azure.com/v20250301
kind: PublicIPAddress
metadata:
  name: hub-egress
  namespace: platform
spec:
  owner:
    name: platform-network
  location: westeurope
  publicIPAllocationMethod: Static
  sku:
    name: Standard
"""


def main(arguments: list[str]) -> int:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        print(f"No browser found. Install one of {', '.join(BROWSERS)}.", file=sys.stderr)
        return 1
    picture = Path(arguments[0]) if arguments else PICTURE
    with tempfile.TemporaryDirectory(prefix="gitsync-picture-") as name:
        folder = Path(name)
        with emulator(folder) as url:
            page = make_report(Demo(folder, url, "manifests", "landing-zone"))
        take_picture(browser, page, folder / "profile", picture.resolve())
    print(f"{picture}: {picture.stat().st_size:,} bytes")
    return 0


def make_report(demo: Demo) -> Path:
    """The HTML page of a plan of the namespace platform: a delete, drift, a pending change and a create."""
    demo.azure["GITSYNC_DIGEST_KEY"] = "the records of an example that is thrown away"
    demo.make_repository()
    demo.run("git", "remote", "set-url", "origin", "https://github.com/contoso/landing-zone.git")  # is only shown
    demo.gitsync("sync", *STATUS)
    rule = demo.ask("GET", RULE)
    rule["properties"]["access"] = "Allow"
    demo.ask("PUT", RULE, rule)
    platform = demo.tree / "platform"
    logs = platform / "monitoring.yaml"
    logs.write_text(logs.read_text().replace("retentionInDays: 90", "retentionInDays: 180"))
    zone = platform / "dns.yaml"
    zone.write_text("---".join(part for part in zone.read_text().split("---") if "kind: DnsZonesARecord" not in part))
    (platform / "egress.yaml").write_text(EGRESS)
    demo.run("git", "add", ".")
    demo.run("git", "commit", "--quiet", "--message=Keep logs for half a year, and prepare egress")
    demo.gitsync("plan", *STATUS, "--target-namespaces", "platform", "--prune")
    return demo.reports / "report.html"


def take_picture(browser: str, page: Path, profile: Path, picture: Path) -> None:
    picture.parent.mkdir(parents=True, exist_ok=True)
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-lcd-text", SCALE)
    more = (f"--user-data-dir={profile}", f"--window-size={SIZE}", f"--screenshot={picture}", page.as_uri())
    subprocess.run([browser, *flags, *more], check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
