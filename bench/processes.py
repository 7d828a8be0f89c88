"""Processes that are measured, each by itself, and the emulator that they speak to, in one more."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

Measure = Mapping[str, float]
"""What one run cost, by the name of the figure."""

HERE = Path(__file__).resolve().parent


@contextmanager
def azure(script: str = "azure.yaml", *flags: str) -> Iterator[str]:
    """An empty Azure; gives its URL. `script` has its settings, `flags` are more of its command."""
    command = [sys.executable, "-m", "gitsync", "emulator", f"--script={HERE / script}", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().strip() if server.stdout else ""
        finally:
            server.terminate()


def client(name: str, *arguments: str | Path) -> Measure:
    """Run a client that measures itself (`bench.meter`), and return what it prints."""
    command = [sys.executable, "-m", f"bench.{name}", *map(str, arguments)]
    told: Measure = json.loads(subprocess.run(command, cwd=HERE.parent, check=True, stdout=subprocess.PIPE).stdout)
    return told


def command(*arguments: str | Path, folder: Path | None = None) -> Measure:
    """Run Python with these arguments, from its start to its end, in a folder."""
    started, before = time.perf_counter(), _cpu_of_children()
    subprocess.run(
        [sys.executable, *map(str, arguments)], check=True, capture_output=True, cwd=folder, env=without_settings()
    )
    return {"seconds": time.perf_counter() - started, "cpu": _cpu_of_children() - before}


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def without_settings() -> dict[str, str]:
    """Without the settings of the user who runs this."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("GITSYNC_", "AZURE_"))}
