"""Take the pictures of reports in the README and the docs: a plan of the example landing zone, after some changes.

usage: python tools/report_pictures.py [FOLDER]

Syncs examples/manifests to the emulator as `make demo` does, changes one resource in Azure and three in git, and takes
screenshots of the plan with a headless Chromium or Chrome from PATH: the HTML page, terminals of 80 and 140 columns,
and the comment on a pull request, as GitHub would show it; and of the page of a rehearsal from nothing.
"""

from __future__ import annotations

import fcntl
import math
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable, Iterable, Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

from demo_stage import EXAMPLES, SCRIPT, Demo, Transcript, environment
from emulated_azure import GITSYNC, SUBSCRIPTION, serve_azure
from markdown_it import MarkdownIt

from gitsync.report.terminal import Paint

PICTURES = EXAMPLES.parent / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PLAN = ("plan", "--status-dir", "../status", "--target-namespaces", "platform", "--prune")
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


class Shot(NamedTuple):
    """A page, and the size of its picture."""

    name: str  # of the file of the picture
    page: Path
    width: int  # in pixels, before it is scaled
    height: int  # likewise
    scale: float = 1.0
    address: str = ""  # what follows the address of the page: #/tree


def main(arguments: list[str]) -> int:
    return take_pictures(arguments, make_shots)


def take_pictures(arguments: list[str], make: Callable[[Path], Iterable[Shot]]) -> int:
    """Take the pictures of the pages that are made in a temporary folder; the exit code. `arguments` may name a folder
    for the pictures.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        print(f"No browser found. Install one of {', '.join(BROWSERS)}.", file=sys.stderr)
        return 1
    pictures = Path(arguments[0]) if arguments else PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gitsync-picture-") as name:
        for shot in make(Path(name)):
            picture = (pictures / f"{shot.name}.png").resolve()
            take_picture(browser, shot, Path(name) / "profile", picture)
            print(f"{picture}: {picture.stat().st_size:,} bytes")
    return 0


def make_shots(folder: Path) -> Iterator[Shot]:
    with serve_azure(folder, SCRIPT, environment({})) as azure:
        demo = Demo(folder, azure, "manifests", "landing-zone", Transcript(140, Paint(on=False)))
        make_changes(demo)
        yield Shot("report", demo.reports / "report.html", 1280, 1325, 0.8)  # as wide as a page of the docs shows it
        yield from (show_terminal(demo, columns, folder) for columns in (80, 140))
        yield show_comment(demo, folder)
        yield show_rehearsal(demo)


def make_changes(demo: Demo) -> None:
    """Sync, and plan after changes in the namespace platform: a delete, drift, a pending change and a create."""
    demo.settings["GITSYNC_DIGEST_KEY"] = "the records of an example that is thrown away"
    demo.make_repository()
    demo.run("git", "remote", "set-url", "origin", "https://github.com/contoso/landing-zone.git")  # is only shown
    demo.gitsync("sync", "--status-dir", "../status")
    rule = demo.azure.send_request("GET", RULE)
    rule["properties"]["access"] = "Allow"
    demo.azure.send_request("PUT", RULE, rule)
    platform = demo.tree / "platform"
    logs = platform / "monitoring.yaml"
    logs.write_text(logs.read_text().replace("retentionInDays: 90", "retentionInDays: 180"))
    zone = platform / "dns.yaml"
    zone.write_text("---".join(part for part in zone.read_text().split("---") if "kind: DnsZonesARecord" not in part))
    (platform / "egress.yaml").write_text(EGRESS)
    demo.run("git", "add", ".")
    demo.run("git", "commit", "--quiet", "--message=Keep logs for half a year, and prepare egress")
    demo.gitsync(*PLAN)


def show_terminal(demo: Demo, columns: int, folder: Path) -> Shot:
    """The page of the plan in a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 100, columns, 0, 0))
    with subprocess.Popen(
        [GITSYNC, *PLAN, "--log-level", "error"],
        cwd=demo.tree,
        env=environment(demo.settings),
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    ):
        os.close(theirs)
        text = b"".join(iter(lambda: _read_terminal(ours), b"")).decode().replace("\r\n", "\n")
    os.close(ours)
    lines = f"$ gitsync {' '.join(PLAN)}\n{text}".rstrip("\n").split("\n")
    page = folder / f"terminal-{columns}.html"
    page.write_text(f'{_TERMINAL}<pre style="width:{columns}ch">{_colour(chr(10).join(lines))}</pre>')
    rows = sum(max(1, math.ceil(len(_COLOUR.sub("", line)) / columns)) for line in lines)
    return Shot(page.stem, page, round(columns * _GLYPH) + 32, rows * 18 + 32)


def _read_terminal(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # how Linux reports the end
        return b""


_TERMINAL = (
    "<!doctype html><meta charset=utf-8><style>body{margin:0;background:#1e1e1e;color:#ddd}"
    "pre{margin:16px;white-space:pre-wrap;word-break:break-all;font:13px/18px 'DejaVu Sans Mono',monospace}"
    ".c1{font-weight:bold;color:#fff}.c31{color:#f48771}.c32{color:#89d185}.c33{color:#e5c07b}</style>"
)
_GLYPH = 7.83  # the width of a character, in pixels
_COLOUR = re.compile(r"\x1b\[(\d+)m")


def _colour(text: str) -> str:
    """Colours of a terminal as HTML. A span ends with the code 0."""
    return _COLOUR.sub(lambda code: "</span>" if code[1] == "0" else f'<span class="c{code[1]}">', escape(text))


def show_comment(demo: Demo, folder: Path) -> Shot:
    """The page of the comment, in the type and the colours of GitHub."""
    command = [str(GITSYNC), *PLAN, "--output", "markdown", "--log-level", "error"]
    done = subprocess.run(
        command, cwd=demo.tree, env=environment(demo.settings), check=True, capture_output=True, text=True
    )
    page = folder / "comment.html"
    html = MarkdownIt("gfm-like", {"linkify": False}).render(done.stdout)
    page.write_text(_GITHUB + re.sub(r"^([-+]) .*$", r'<span class="d\1">\g<0></span>', html, flags=re.MULTILINE))
    return Shot("comment", page, 900, 1250)


def show_rehearsal(demo: Demo) -> Shot:
    """The page of a rehearsal of all from nothing."""
    command = [str(GITSYNC), "rehearse", "--from-nothing", "--status-dir", "../status", "--log-level", "error"]
    subprocess.run(command, cwd=demo.tree, env=environment(demo.settings), check=True, capture_output=True)
    return Shot("rehearsal", demo.reports / "rehearse.html", 1280, 1400, 0.8)


_GITHUB = (
    "<!doctype html><meta charset=utf-8><style>"
    "body{margin:24px;font:14px/1.5 'DejaVu Sans',sans-serif;color:#1f2328}"
    "h3{font-size:1.25em}h4{font-size:1em}code,pre{font:12px/1.45 'DejaVu Sans Mono',monospace}"
    "code{background:#eff1f3;padding:.2em .4em;border-radius:6px;overflow-wrap:anywhere}"
    "pre{background:#f6f8fa;padding:16px;border-radius:6px;overflow:auto}pre code{background:none;padding:0}"
    "table{border-collapse:collapse}td,th{border:1px solid #d1d9e0;padding:6px 13px}"
    "tr:nth-child(2n){background:#f6f8fa}.d\\-{background:#ffebe9;color:#82071e}.d\\+{background:#dafbe1;color:#116329}"
    "details{margin-bottom:16px}</style>"
)


def take_picture(browser: str, shot: Shot, profile: Path, picture: Path) -> None:
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-lcd-text")
    size = (f"--force-device-scale-factor={shot.scale}", f"--window-size={shot.width},{shot.height}")
    more = (f"--user-data-dir={profile}", "--virtual-time-budget=5000", f"--screenshot={picture}")
    subprocess.run(
        [browser, *flags, *size, *more, f"{shot.page.as_uri()}{shot.address}"],
        check=True,
        capture_output=True,
        timeout=120,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
