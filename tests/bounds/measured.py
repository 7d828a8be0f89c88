"""Run a command and print its exit code and its peak memory in MB: `python measured.py COMMAND…`.

A small process of its own: what a process starts directly has at least the peak of its parent, which is large in a run
of the tests.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys

MOST = 4 << 30
"""Bytes of address space; a test that fails must not take the machine with it."""


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    sys.stdout.write(f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss / 1024}\n")


if __name__ == "__main__":
    main()
