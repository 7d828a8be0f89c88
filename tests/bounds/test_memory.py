"""No file takes more than 200 times its bytes of memory, and 50 MB: manifests, ignore files, records and plans."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import hostile_files
import pytest

HERE = Path(__file__).parent
SIZE = 120_000
TIMES, BESIDES = 200, 50
"""Bytes for each byte of a file, and MB."""


def check(file: Path, *command: str, codes: tuple[int, ...]) -> None:
    end = subprocess.run(
        [sys.executable, "-I", HERE / "measured.py", *command], capture_output=True, text=True, check=True, timeout=300
    )
    code, megabytes = end.stdout.split()
    assert int(code) in codes
    assert float(megabytes) < file.stat().st_size * TIMES / 1e6 + BESIDES


@pytest.mark.parametrize("make", hostile_files.MANIFESTS.values(), ids=hostile_files.MANIFESTS)
def test_manifests(make, tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(make(SIZE))
    check(file, sys.executable, "-m", "gitsync", "validate", str(tmp_path), codes=(0, 1))


FILES = [
    *((what, "ignore", make) for what, make in hostile_files.IGNORE_FILES.items()),
    *((what, "record", make) for what, make in hostile_files.RECORDS.items()),
    *((what, "plan", make) for what, make in hostile_files.PLANS.items()),
]


@pytest.mark.parametrize(("reader", "make"), [one[1:] for one in FILES], ids=[f"{one[1]}: {one[0]}" for one in FILES])
def test_other_files(reader, make, tmp_path):
    file = tmp_path / "file"
    file.write_text(make(SIZE))
    check(file, sys.executable, str(HERE / "read_one.py"), reader, str(file), codes=(0,))


def test_the_measure_sees_memory(tmp_path):
    """A process that takes 200 MB for an empty file is found."""
    file = tmp_path / "empty"
    file.touch()
    with pytest.raises(AssertionError):
        check(file, sys.executable, "-c", "x = b'x' * 200_000_000", codes=(0,))
