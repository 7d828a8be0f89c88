"""`python -m bench.first`: a first plan and a first sync of 5,000 creates in 250 groups and three subscriptions.

The emulator has ARM's limits, a policy, and operations with their `Retry-After` as recorded from Azure. Then the same
sync goes to an emulator without limits, beside a bare client that sends the same requests: what a resource costs in
processor time. Exits 1 if the checks send more requests than their budget, the sync takes more than `MOST_LATE` times
what the plan announced, or a resource takes more than `MOST_CPU` times the bare client's time.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from bench import estate, shards
from bench.processes import azure, client, without_settings
from gitsync.agent.checks.allowance import MOST

SUBSCRIPTIONS = 3
MOST_LATE = 1.25
MOST_CPU = 10.0

POLICY = """\
settings:
  operations: {operations}
  throttle: {throttle}
  policies:
    - name: only-europe
      scope: /subscriptions/00000000-0000-0000-0000-000000000001
      effect: deny
      if: {{field: location, notIn: [westeurope, northeurope]}}
"""


class Run(NamedTuple):
    """What a command took, and its report."""

    seconds: float
    cpu: float
    report: dict[str, Any]


def main() -> int:
    """Print the figures of each run, and give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.first", description="Measure a first plan and sync.")
    parser.add_argument("--resources", type=int, default=5000, help="Twenty in each group. [default 5000]")
    count = parser.parse_args().resources
    with tempfile.TemporaryDirectory(prefix="gitsync-bench-") as name:
        folder = Path(name)
        tree = shards.make(folder, count, SUBSCRIPTIONS)
        with azure(_write_script(folder / "arm.yaml", "{style: recorded, retryAfter: recorded}", "on")) as url:
            plan, sync = run("plan", tree, url), run("sync", tree, url)
        _forget(folder)
        requests = folder / "requests.json"
        requests.write_text(json.dumps(estate.requests_of(tree)), encoding="utf-8")
        script = _write_script(folder / "free.yaml", "{style: done}", "off")
        with azure(script) as url, azure(script) as other:
            free, bare = run("sync", tree, url), client("bare", other, requests, "first")
    for title, one in (("plan", plan), ("sync", sync), ("sync without limits", free)):
        cost = f"{one.seconds:.0f} s, {one.cpu / count * 1e3:.2f} ms CPU a resource"
        print(f"{title:<20} {_format_requests(one)}, {cost}")
    announced = plan.report["syncNeeds"]["seconds"]
    cpu = free.cpu / bare["cpu"]
    print(f"announced: {announced} s for the sync; it took {sync.seconds / announced:.2f} times as long")
    print(f"bare client: {bare['cpu'] / count * 1e3:.2f} ms CPU a resource; gitsync takes {cpu:.1f} times as much")
    is_late = sync.seconds > announced * MOST_LATE
    is_much = any(run.report["requests"]["questions"] > MOST for run in (plan, sync))
    return 1 if is_late or is_much or cpu > MOST_CPU else 0


def run(name: str, tree: Path, url: str) -> Run:
    """Run a command from its start to its end."""
    flags = ("--credential=anonymous", f"--endpoint={url}", "--who=off", "--output=json", "-q")
    began, before = time.monotonic(), _cpu()
    done = subprocess.run(
        [sys.executable, "-m", "gitsync", name, str(tree), *flags],
        env=without_settings(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return Run(time.monotonic() - began, _cpu() - before, json.loads(done.stdout))


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _write_script(path: Path, operations: str, throttle: str) -> str:
    path.write_text(POLICY.format(operations=operations, throttle=throttle), encoding="utf-8")
    return str(path)


def _forget(folder: Path) -> None:
    """Remove the recorded state."""
    forget = ["git", "update-ref", "-d", "refs/heads/gitsync/status"]
    subprocess.run(forget, cwd=folder / "remote.git", check=True)


def _format_requests(run: Run) -> str:
    counts = run.report["requests"]
    kinds = ("reads", "questions", "writes", "polls", "throttled")
    return ", ".join(f"{counts[kind]} {kind}" for kind in kinds if counts[kind])


if __name__ == "__main__":
    sys.exit(main())
