"""Set up the environment that the targets of the Makefile run in, with a line for each step.

usage: python tools/set_up.py FOLDER [pip install arguments...] [-- pip install arguments...]

Makes a virtual environment in FOLDER, if there is none, and runs pip in it once for each group of arguments. pip finds
and installs some hundred packages in one to three minutes: what it prints becomes a few lines, and is shown in full if
it fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

STEP = 50
"""After so many packages that pip found or installed, there is a line."""

MOST_SILENT = 60
"""After so many looks at the installed packages without a line, there is one."""


def main(arguments: list[str]) -> int:
    folder, *words = arguments
    started = time.monotonic()

    def say(step: str) -> None:
        print(f"  {time.monotonic() - started:3.0f}s  {step}", flush=True)

    print(
        f"Setting up {folder} for Python {sys.version.split()[0]}, once. This takes one to three minutes.", flush=True
    )
    python = Path(folder) / "bin" / "python"
    if not python.exists():
        say("Create a virtual environment")
        venv.create(folder, with_pip=True, symlinks=True)
    for group in split_groups(words):
        command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar=off", *group]
        with watch_installs(Path(folder), say):
            code = run(command, say)
        if code:
            return code
    say("Done")
    return 0


def split_groups(words: Iterable[str]) -> list[list[str]]:
    """The words between the separators `--`."""
    groups: list[list[str]] = [[]]
    for word in words:
        if word == "--":
            groups.append([])
        else:
            groups[-1].append(word)
    return groups


def run(command: list[str], say: Callable[[str], None]) -> int:
    """Run pip, and print its progress. Return its exit code; if that is not 0, all its output goes to stderr."""
    printed = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:

        def read() -> Iterator[str]:
            for line in pip.stdout or ():
                printed.append(line)
                yield line

        for step in find_steps(read()):
            say(step)
    if pip.returncode:
        sys.stderr.writelines(printed)
    return pip.returncode


@contextmanager
def watch_installs(folder: Path, say: Callable[[str], None], every: float = 1.0) -> Iterator[None]:
    """Print how many packages are new while the context lasts: pip prints nothing as it installs them."""
    before = count_packages(folder)
    ended = threading.Event()

    def watch() -> None:
        due, silent = STEP, 0
        while not ended.wait(every):
            installed, silent = count_packages(folder) - before, silent + 1
            if installed >= due or (installed > 0 and silent >= MOST_SILENT):
                say(f"{installed} package{'s' * (installed != 1)} installed")
                due, silent = installed + STEP, 0

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


def count_packages(folder: Path) -> int:
    """The packages that an environment has."""
    return sum(1 for _ in folder.glob("lib/python*/site-packages/*.dist-info"))


def find_steps(lines: Iterable[str]) -> Iterator[str]:
    """What the lines of pip say about its progress, as each is reached."""
    found = 0
    for line in lines:
        if line.startswith("Collecting "):
            found += 1
            if found == 1:
                yield "Find and download packages"
            elif found % STEP == 0:
                yield f"{found} packages found"
        if installs := re.match("Installing collected packages: (.*)", line):
            count = len(installs[1].split(", "))
            yield f"Install {count} package{'s' * (count != 1)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
