"""`python -m bench.shards`: one estate over 1, 2, 4 and 8 workers, in many subscriptions, against ARM's limits.

The limits are scaled to the size of the estate: those of ARM for 20,000 resources, a tenth of them for 2,000. With
`--speed` tokens come back so many times as fast as ARM's: waiting then counts for less than it would. Each number of
workers has a new Azure, and syncs twice; what is measured ends with the gathering. Exits 1 if the cut takes longer than
`MOST_SECONDS`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench import estate
from bench.processes import azure, command, without_settings

MOST_SECONDS = 20.0
COMPLETE = 20_000
"""Resources of the estate for which ARM's own limits are set."""

SECRET = """\
apiVersion: v1
kind: Secret
metadata: {{name: aso-credential, namespace: {namespace}}}
stringData:
  AZURE_SUBSCRIPTION_ID: {subscription}
  AZURE_TENANT_ID: 00000000-0000-0000-0000-00000000aaaa
  AZURE_CLIENT_ID: 00000000-0000-0000-0000-00000000bbbb
"""
LIMITS = """\
settings:
  operations: {{style: done}}
  throttle:
    reads: {{size: {reads}, perSecond: {reads_per_second}}}
    writes: {{size: {writes}, perSecond: {writes_per_second}}}
"""


class Figures(NamedTuple):
    """What a run of many workers cost."""

    seconds: float
    gathering: float  # seconds of the gathering of their records
    requests: int
    refused: int  # requests that were answered with 429
    memory: float  # of the largest worker, in MB


def main() -> int:
    """Print a row for each number of workers and each run, and give the exit code."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="gitsync-bench-") as name:
        folder = Path(name)
        script = folder / "limits.yaml"
        script.write_text(_scale(options.resources / COMPLETE, options.speed), encoding="utf-8")
        tree = make(folder, options.resources, options.subscriptions)
        flags = ("-m", "gitsync", "shards", "--workers=8", f"--subscription={estate.SUBSCRIPTION}", str(tree))
        cut = command(*flags)["seconds"]
        print(f"gitsync shards --workers 8: {cut:.1f} s for {options.resources} resources")
        titles = ("workers", "run", "wall, s", "gather, s", "requests", "refused", "MB")
        print("{:>7}  {:<7}{:>9}{:>11}{:>10}{:>9}{:>11}".format(*titles))
        for workers in options.workers:
            forget = ["git", "update-ref", "-d", "refs/heads/gitsync/status"]
            subprocess.run(forget, cwd=folder / "remote.git", check=True)
            with azure(str(script)) as url:
                for run in ("first", "second"):
                    found = sync(tree, url, workers, f"{run}-{workers}")
                    print(
                        f"{workers:>7}  {run:<7}{found.seconds:>9.1f}{found.gathering:>11.1f}{found.requests:>10}"
                        f"{found.refused:>9}{found.memory:>11.0f}",
                        flush=True,
                    )
    return 1 if cut > MOST_SECONDS else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.shards", description="Measure runs of many workers.")
    parser.add_argument("--resources", type=int, default=COMPLETE, help="Resources of the estate. [default 20000]")
    parser.add_argument("--subscriptions", type=int, default=20, help="Subscriptions that have them. [default 20]")
    parser.add_argument("--speed", type=float, default=1.0, help="Times ARM's rates. [default 1]")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4, 8], help="[default 1 2 4 8]")
    return parser.parse_args()


def _scale(part: float, speed: float) -> str:
    """Write the limits of a part of the estate: ARM's are 250 and 25, and 200 and 10."""
    return LIMITS.format(
        reads=max(1, round(250 * part)),
        reads_per_second=25 * part * speed,
        writes=max(1, round(200 * part)),
        writes_per_second=10 * part * speed,
    )


def make(folder: Path, resources: int, subscriptions: int) -> Path:
    """Make an estate of `bench.estate` with a namespace, and a Secret that names its subscription, for each part."""
    tree = folder / "tree"
    estate.write(tree, resources)
    for location, group in enumerate(sorted(tree.iterdir())):
        namespace = f"subscription-{location % subscriptions + 1:02}"
        for file in group.iterdir():
            text = file.read_text(encoding="utf-8")
            file.write_text(text.replace("metadata:\n", f"metadata:\n  namespace: {namespace}\n", 1), encoding="utf-8")
    for number in range(1, subscriptions + 1):
        subscription = f"00000000-0000-0000-0000-{number:012}"
        text = SECRET.format(namespace=f"subscription-{number:02}", subscription=subscription)
        (tree / f"subscription-{number:02}.yaml").write_text(text, encoding="utf-8")
    return estate.commit(folder)


def sync(tree: Path, url: str, workers: int, run_id: str) -> Figures:
    """Run all workers at once, and gather."""
    flags = [f"--run-id={run_id}", "--credential=anonymous", f"--endpoint={url}", "--checks=none", "--who=off", "-q"]
    began = time.monotonic()
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "gitsync", "sync", str(tree), f"--shard={number}/{workers}", *flags],
            env=without_settings(),
            stdout=sys.stderr,
        )
        for number in range(1, workers + 1)
    ]
    memory = max(_wait(processes))
    ended = time.monotonic()
    gather = ["report", "--gather", f"--run-id={run_id}", "--output=json", str(tree)]
    done = subprocess.run(
        [sys.executable, "-m", "gitsync", *gather], env=without_settings(), stdout=subprocess.PIPE, check=True
    )
    requests = json.loads(done.stdout)["requests"]
    kinds = ("reads", "writes", "deletes", "polls", "questions")
    now = time.monotonic()
    return Figures(now - began, now - ended, sum(requests[kind] for kind in kinds), requests["throttled"], memory)


def _wait(processes: Sequence[subprocess.Popen[bytes]]) -> list[float]:
    """Wait for all; give the most memory that each has held, in MB. RuntimeError if one has failed."""
    used = []
    for process in processes:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"a worker ended with {process.returncode}")
        used.append(usage.ru_maxrss / 1e6 if sys.platform == "darwin" else usage.ru_maxrss * 1024 / 1e6)
    return used


if __name__ == "__main__":
    sys.exit(main())
