"""How tests run: the rows of a table as one test, and tests in several processes that are forked after collection."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.parallel import order_files

ROOT = Path(__file__).resolve().parent.parent
CONFTEST = """\
import pytest
from tests.support.parallel import add_option as pytest_addoption, run_in_processes as pytest_runtestloop
from tests.support.tables import collect_tables

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pycollect_makeitem(collector):
    found = yield
    return collect_tables(collector, found) if isinstance(found, list) else found

@pytest.fixture(scope="session")
def shared(request):
    assert request.scope == "session"
    return 7
"""
TABLES = """\
import asyncio
import pytest

@pytest.mark.parametrize("one", [1, 2])
@pytest.mark.parametrize(("other", "why"), [(3, "fine"), (0, "too small"), (4, "fine as well")])
def test_of_a_table(one, other, shared, why):
    print("row", one, why)
    assert one < other < shared, why

@pytest.mark.parametrize("name", ["first", "last"])
async def test_of_coroutines(name, shared):
    task = asyncio.current_task()
    assert asyncio.all_tasks() == {task}, "each has a loop of its own"
    task.left = asyncio.create_task(asyncio.sleep(shared))
    assert name == "first", "as its row says"

@pytest.mark.parametrize("one", [1, 2])
def test_with_its_request(one, request):
    assert request.node.name == f"test_with_its_request[{one}]"

@pytest.mark.parametrize("one", [1, 2])
def test_with_a_folder(one, tmp_path):
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()

@pytest.mark.parametrize("one", [1, pytest.param(2, marks=pytest.mark.skip(reason="as its row says"))])
def test_with_a_mark(one):
    assert one == 1

@pytest.mark.parametrize("one", [1, 2, 3])
def test_of_rows_that_may_be_skipped(one):
    if one == 2:
        pytest.skip("not here")
"""
OTHERS = """\
import os
import warnings
import pytest

@pytest.fixture(scope="session", autouse=True)
def ended(tmp_path_factory):
    yield
    with open(os.environ["ENDED"], "a") as file:
        file.write("one\\n")

def test_that_breaks():
    if os.environ.get("BREAKS"):
        os.abort()

@pytest.mark.filterwarnings("default")
def test_that_warns():
    warnings.warn("worth a look", stacklevel=1)

def test_that_passes(capfd):
    os.write(1, b"text")
    assert capfd.readouterr().out == "text"
"""


@pytest.fixture
def folder(tmp_path):
    return write_tests(tmp_path)


def write_tests(folder):
    for name, text in {"conftest": CONFTEST, "test_a": TABLES, "test_b": OTHERS, "test_c": OTHERS}.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def run(folder, *arguments, **variables):
    """Run pytest in a process of its own; returns its exit code and what it prints."""
    return start(folder, "-m", "pytest", *FLAGS, *arguments, **variables)


FLAGS = ("-q", "-rA", "--rootdir=.")


def start(folder, *arguments, **variables):
    """Run Python in a folder. Plugins that nothing here uses take two thirds of pytest's start."""
    plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), "ENDED": str(folder / "ended")}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **plain, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """The folder, exit code and text of a run of all tests in two processes, and what its sessions wrote at their ends."""
    folder = write_tests(tmp_path_factory.mktemp("everything"))
    return folder, *run(folder, "--processes=2"), (folder / "ended").read_text()


def test_a_row_that_fails_is_named_and_the_others_run(everything):
    _, code, text, _ = everything
    assert code == 1
    failed = [line.partition(" - ")[0] for line in text.splitlines() if "FAILED" in line]
    assert failed == [
        *(f"SUBFAILED[0-too small-{number}] test_a.py::test_of_a_table" for number in (1, 2)),
        "SUBFAILED[last] test_a.py::test_of_coroutines",
    ]
    assert "assert one < other < shared, why" in text
    assert "row 2 fine as well" in text


COLLECTED = [
    (["test_a.py"], 8, "a table is one test; what has its request, or a mark, is not in one"),
    (["test_a.py", "-k", "other"], 0, "rows are looked for by their names"),
    (["test_a.py", "-k", "too"], 2, "so each is a test"),
    (["test_a.py::test_of_a_table[4-fine as well-2]"], 1, "the one that is named"),
]
"""Arguments of pytest, how many tests they find, and why."""


def test_rows_that_are_named_are_tests(folder):
    commands = [[*FLAGS, "--collect-only", *arguments] for arguments, _, _ in COLLECTED]
    script = f"import pytest\nfor command in {commands}:\n    print('NEXT', flush=True)\n    pytest.main(command)\n"
    _, text = start(folder, "-c", script)
    for part, (_, tests, why) in zip(text.split("NEXT\n")[1:], COLLECTED, strict=True):
        assert sum(line.startswith("test_a.py::") for line in part.splitlines()) == tests, why


def test_each_process_ends_as_pytest_does(everything):
    _, _, text, ended = everything
    assert "2 warnings" in text
    assert "UserWarning: worth a look" in text
    assert ended in ("one\none\n", "one\n"), "one process may have run all files"


def test_a_process_that_breaks_is_named_with_its_test(folder):
    code, text = run(folder, "test_b.py", "--processes=2", BREAKS="1")
    assert code == 1
    assert "was ended by SIGABRT; its last test was test_b.py::test_that_breaks" in text


def test_after_the_first_failure_it_stops_and_needs_no_cache(folder):
    (folder / "test_0.py").write_text("def test_that_fails():\n    assert False\n")
    code, text = run(folder, "test_0.py", "test_b.py", "--processes=2", "-x", "-p", "no:cacheprovider")
    assert code == 1
    assert "stopping after 1 failures" in text


@pytest.mark.parametrize(
    ("known", "order", "why"),
    [
        ({}, [[4], [0, 1], [2, 3]], "the largest file first"),
        ({"b": 1.0, "a": 2.0, "c": 3.0}, [[4], [0, 1], [2, 3]], "the longest first"),
        ({"b": 3.0, "a": 2.0, "c": 1.0}, [[2, 3], [0, 1], [4]], "not by size"),
        ({"b": 3.0, "c": 1.0}, [[0, 1], [2, 3], [4]], "one that never ran may take any time"),
    ],
)
def test_the_longest_files_start_first(tmp_path, known, order, why):
    """A process that gets the longest file at the end would run alone."""
    sizes = {"a": 20, "b": 10, "c": 30}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(bytes(size))
    assert order_files([make_item(tmp_path / name) for name in "aabbc"], known) == order, why


def make_item(path, together=None):
    mark = pytest.mark.together(together).mark if together else None
    return SimpleNamespace(path=path, location=(path.name, 1, "test"), get_closest_marker={"together": mark}.get)


def test_files_that_are_together_are_as_one(tmp_path):
    for name in "abc":
        (tmp_path / name).touch()
    items = [make_item(tmp_path / name, "a server" if name != "b" else None) for name in "abcc"]
    assert order_files(items, {"a": 1.0, "b": 2.0, "c": 3.0}) == [[0, 2, 3], [1]]
    assert order_files(items, {"a": 1.0, "b": 5.0, "c": 3.0}) == [[1], [0, 2, 3]], "by the sum of their seconds"
    assert order_files(items, {"b": 5.0, "c": 3.0}) == [[0, 2, 3], [1]], "a part of it never ran"


def test_the_seconds_of_files_are_kept(everything):
    folder, *_ = everything
    kept = folder / ".pytest_cache" / "v" / "parallel" / "seconds"
    assert json.loads(kept.read_text()).keys() == {"test_a.py", "test_b.py", "test_c.py"}
    kept.write_text('{"test_b.py": 1000, "test_c.py": 0}')
    run(folder, "test_b.py", "test_c.py", "--processes=2")
    seconds = json.loads(kept.read_text())
    assert seconds["test_b.py"] == 1000, "a run may have a part of its tests"
    assert seconds["test_c.py"] > 0
