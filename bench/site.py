"""`python -m bench.site`: what a site costs beside plans of the same estate: with all of its history, and once more.

Processor time counts, from the start of a process to its end, git's with it. The history is written by git itself: each
commit changes some records, and has a report with a line for every resource. Exits 1 if the first site takes more than
`MOST_PLANS` plans or `MOST_MEMORY`, one that is made again more than a plan, or if the first page is too large.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench import estate
from bench.processes import azure, client, without_settings

MOST_PLANS, MOST_MEMORY, MOST_AGAIN = 20.0, 300.0, 1.0
MOST_FIRST_PAGE = 5.0
"""MB, of what a browser loads for the tree of an estate of `LARGE` resources."""

LARGE = 30_000
CHANGED = 5
"""Records that each commit changes."""

STATIC = ("index.html", "assets/*", "data/words.js", "data/site.js")
"""What the first page loads beside the tree; it does not grow with the estate."""

BRANCH = "refs/heads/gitsync/status"


class Cost(NamedTuple):
    """What a process cost."""

    cpu: float  # seconds, with those of its children
    memory: float  # MB, the most that it or a child held


def main() -> int:
    """Print the costs, and give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.site", description="Measure sites beside plans.")
    parser.add_argument("--resources", type=int, default=1000, help="Resources. [default 1000]")
    parser.add_argument("--commits", type=int, default=2000, help="Commits of the status branch. [default 2000]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gitsync-bench-") as name:
        folder = Path(name)
        tree = estate.make(folder, options.resources)
        with azure() as url:
            client("agent", url, tree)
            write_history(folder / "remote.git", options.commits)
            flags = ("--credential=anonymous", f"--endpoint={url}", f"--subscription={estate.SUBSCRIPTION}")
            plan = _run("plan", *flags, "--who=off", str(tree))
        first = _run("site", "--out", str(folder / "site"), str(tree))
        write_history(folder / "remote.git", 1)
        again = _run("site", "--out", str(folder / "site"), str(tree))
        page = _size(folder / "site", LARGE / options.resources)
    costs = {"plan": plan, f"site, {options.commits} commits": first, "again, one commit more": again}
    print(f"{'':<28}{'CPU, s':>10}{'plans':>8}{'MB':>8}")
    for title, cost in costs.items():
        print(f"{title:<28}{cost.cpu:>10.2f}{cost.cpu / plan.cpu:>8.2f}{cost.memory:>8.0f}")
    print(f"First page of {LARGE:,} resources: {page:.1f} MB.")
    is_slow = first.cpu > MOST_PLANS * plan.cpu or again.cpu > MOST_AGAIN * plan.cpu
    return 1 if is_slow or first.memory > MOST_MEMORY or page > MOST_FIRST_PAGE else 0


def _run(*arguments: str) -> Cost:
    """Run gitsync, from the start of its process to its end."""
    command = [sys.executable, "-m", "gitsync", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=without_settings())
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with {process.returncode}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6)


def _size(site: Path, times: float) -> float:
    """The size of the first page, in MB, of an estate that is so many times as large."""
    static = sum(path.stat().st_size for pattern in STATIC for path in site.glob(pattern))
    return (static + (site / "data" / "tree.js").stat().st_size * times) / 1e6


def write_history(remote: Path, commits: int) -> None:
    """Add commits to the status branch, each as a run makes it that some resources fail in or recover."""
    records = _git(remote, "ls-tree", "-r", "--name-only", BRANCH).split()
    paths = [path for path in records if path.count("/") == 3]
    state = {path: _git(remote, "show", f"{BRANCH}:{path}") for path in paths[: CHANGED * 20]}
    report = _git(remote, "show", f"{BRANCH}:report.json").splitlines()
    tip = _git(remote, "rev-parse", BRANCH).strip()
    time = int(_git(remote, "log", "-1", "--format=%ct", BRANCH))
    command = ["git", "fast-import", "--quiet", "--force"]
    with subprocess.Popen(command, cwd=remote, stdin=subprocess.PIPE, text=True) as git:
        assert git.stdin  # a pipe
        # Piece by piece: what this process holds would count as the memory of those that it starts.
        git.stdin.writelines(_write_commits(list(state), state, report, tip, time, commits))
    subprocess.run(["git", "gc", "--quiet"], cwd=remote, check=True)


def _write_commits(
    paths: list[str], state: dict[str, str], report: list[str], tip: str, time: int, commits: int
) -> Iterator[str]:
    rows = [number for number, line in enumerate(report) if line.startswith('    {"apiVersion"')]
    for number in range(commits):
        yield f"commit {BRANCH}\ncommitter gitsync <gitsync@localhost> {time + 3600 * (number + 1)} +0000\n"
        yield _write_data(f"Updated {CHANGED} [skip ci]\n")
        yield f"from {tip}\n" if number == 0 else ""
        for each in range(CHANGED):
            path = paths[(number * CHANGED + each) % len(paths)]
            document = json.loads(state[path])
            document["status"]["conditions"][0]["message"] = f"Attempt {number}"
            state[path] = json.dumps(document, indent=2, sort_keys=True) + "\n"
            yield f"M 100644 inline {path}\n" + _write_data(state[path])
            row = rows[(number * CHANGED + each) % len(rows)]
            entry = json.loads(report[row].rstrip(","))
            report[row] = f"    {json.dumps({**entry, 'requests': number})}" + ("," if row != rows[-1] else "")
        yield "M 100644 inline report.json\n" + _write_data("\n".join(report) + "\n")


def _write_data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
