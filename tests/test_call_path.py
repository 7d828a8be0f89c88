"""The path of calls from the command to a PUT, as docs/architecture.md shows it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import CodeType, FrameType

from gitsync.cli import main
from gitsync.cli.running import execute_quietly

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "gitsync"
SENDS = (PACKAGE / "providers/arm/arms.py", "send")
ORDERS = (PACKAGE / "agent/run/walk.py", "run_in_order")

MOST_FRAMES = 13
MOST_FILES = 7

GROUP = """
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core, namespace: default}
spec: {location: westeurope}
"""


def identify(code: CodeType) -> tuple[Path, str]:
    return Path(code.co_filename), code.co_name


def climb(frame: FrameType | None) -> list[tuple[Path, str]]:
    """The frames of gitsync from the command down to this one."""
    path: list[tuple[Path, str]] = []
    while frame is not None and frame.f_code is not execute_quietly.__code__:
        if Path(frame.f_code.co_filename).is_relative_to(PACKAGE):
            path.insert(0, identify(frame.f_code))
        frame = frame.f_back
    return [identify(execute_quietly.__code__), *path]


def record_path(arguments: list[str]) -> list[tuple[Path, str]]:
    """Run a command: the frames that lead to its first PUT, first those that wait for the tasks of the resources."""
    waiting: list[tuple[Path, str]] = []
    sending: list[tuple[Path, str]] = []

    names = {SENDS[1], ORDERS[1]}  # a path is made of few of the million calls

    def look(frame: FrameType, event: str, _argument: object) -> None:
        if event != "call" or frame.f_code.co_name not in names:
            return
        if identify(frame.f_code) == ORDERS and not waiting:
            waiting.extend(climb(frame))
        if identify(frame.f_code) == SENDS and not sending and frame.f_locals["request"].method == "PUT":
            sending.extend(climb(frame)[1:-1])

    sys.setprofile(look)
    try:
        main.run(arguments)
    finally:
        sys.setprofile(None)
    return waiting + sending


def read_documented() -> list[tuple[Path, str]]:
    text = (ROOT / "docs/architecture.md").read_text()
    block = re.search(r"## The calls that lead to a PUT\n.*?```\n(.*?)```", text, re.DOTALL)
    assert block is not None
    path, file = [], ""
    for line in block[1].splitlines():
        *named, function = line.split()
        file = named[0] if named else file
        path.append((PACKAGE / file, function.rpartition(".")[2]))
    return path


def test_the_documented_path_is_the_real_one_and_is_short(tmp_path, monkeypatch):
    (tmp_path / "group.yaml").write_text(GROUP)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], check=True)
    path = record_path(["sync", str(tmp_path), "--emulator", "--log-level", "error"])
    assert path == read_documented()
    assert len(path) <= MOST_FRAMES
    assert len({file for file, _ in path}) <= MOST_FILES
