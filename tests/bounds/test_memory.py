"""No file takes more than 200 times its bytes of memory, and 50 MB: manifests, ignore files, records and plans. No
source takes more than 300 MB for what it stands for.
"""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from gitsync.desired.manifests.yaml_documents import read_documents
from gitsync.repository.git.state.documents import write_document
from tests.support import hostile_files
from tests.support.programs import needs_build_tool

HERE = Path(__file__).parent
SIZE = 10_000
TIMES, BESIDES = 200, 46
"""Bytes for each byte of a file, and MB: 50 without the 4 of libraries' files, which a fork does not count."""
BEYOND = 2
"""MB of the 46 that a file may take beyond a plain one: so a small file shows as well as a large one what a byte takes."""

MOST = 300
"""MB for a source, whatever it stands for."""


@pytest.fixture(scope="module")
def measured():
    """A function of a reader and a file: the exit code and the peak memory in MB."""
    command = [sys.executable, HERE / "measured.py"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1) as process:

        def send_request(reader, file):
            process.stdin.write(f"{reader} {file}\n")
            code, megabytes = process.stdout.readline().split()
            return int(code), float(megabytes)

        yield send_request


@pytest.fixture(scope="module")
def most(measured, tmp_path_factory):
    """A function of a file: the most MB that it may take."""
    (plain := tmp_path_factory.mktemp("plain") / "a.yaml").write_text(f"{hostile_files.GROUP}spec: {{location: x}}\n")
    code, megabytes = measured("validate", plain.parent)
    assert code == 0
    assert megabytes < BESIDES - BEYOND
    return lambda file: file.stat().st_size * TIMES / 1e6 + megabytes + BEYOND


@pytest.mark.parametrize("make", hostile_files.MANIFESTS.values(), ids=hostile_files.MANIFESTS)
def test_manifests(make, measured, most, tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(make(SIZE))
    code, megabytes = measured("validate", tmp_path)
    assert code in (0, 1)
    assert megabytes < most(file)


FILES = [
    *((what, "ignore", make) for what, make in hostile_files.IGNORE_FILES.items()),
    *((what, "record", make) for what, make in hostile_files.RECORDS.items()),
    *((what, "former", make) for what, make in hostile_files.FORMER_RECORDS.items()),
    *((what, "plan", make) for what, make in hostile_files.PLANS.items()),
]


@pytest.mark.parametrize(
    ("reader", "make"), [file[1:] for file in FILES], ids=[f"{file[1]}: {file[0]}" for file in FILES]
)
def test_other_files(reader, make, measured, most, tmp_path):
    file = tmp_path / "file"
    file.write_text(make(SIZE))
    code, megabytes = measured(reader, file)
    assert code == 0
    assert megabytes < most(file)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, id=name, marks=needs_build_tool if "variable" in name else ())  # of a Flux Kustomization
        for name, make in hostile_files.SOURCES.items()
    ],
)
def test_sources(make, measured, tmp_path):
    """Nothing is made that is over a limit: it is counted before."""
    for path, text in make().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    code, megabytes = measured("validate", tmp_path)
    assert code == 1
    assert megabytes < MOST


def test_the_measure_sees_memory(measured):
    code, megabytes = measured("fill", 100)
    assert code == 0
    assert megabytes > 100


def test_an_index_of_an_estate_takes_a_few_times_its_bytes_to_write():
    """Not those of an object for each value: the workers of a run write the index of the whole estate."""
    index = {"resources": [{"key": f"ResourceGroup/{number}", "claim": "created"} for number in range(1000)]}
    write_document({"warm": "up"})
    tracemalloc.start()
    try:
        size = len(write_document(index))
        assert tracemalloc.get_traced_memory()[1] < 8 * size
    finally:
        tracemalloc.stop()


def test_manifests_of_one_form_take_no_memory_for_their_lines():
    """A table of lines for each of them would be as large as its values."""
    text = b"kind: Rule\nspec:\n  name: https\n  owner:\n    name: group\n"
    read_documents("a.yaml", text)
    tracemalloc.start()
    try:
        lines = [read_documents("a.yaml", text).documents[0].lines for _ in range(500)]
        assert tracemalloc.get_traced_memory()[0] < 100 * len(lines)
    finally:
        tracemalloc.stop()
