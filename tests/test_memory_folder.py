from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.memory_folder import find_memory_folder


@pytest.fixture(autouse=True)
def _no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TMPDIR", "PYTEST_DEBUG_TEMPROOT"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", ["TMPDIR", "PYTEST_DEBUG_TEMPROOT"])
def test_a_folder_that_is_named_is_taken(tmp_path, monkeypatch, name):
    monkeypatch.setenv(name, str(tmp_path))
    assert find_memory_folder(tmp_path, needed=0) is None


@pytest.mark.parametrize(
    ("folder", "needed", "why"),
    [("missing", 0, "there is none"), (".", 1 << 60, "it is too small")],
)
def test_a_folder_of_no_use_is_skipped(tmp_path, folder, needed, why):
    assert find_memory_folder(tmp_path / folder, needed=needed) is None, why


def test_one_with_room_is_used(tmp_path):
    assert find_memory_folder(tmp_path, needed=1) == str(tmp_path)


def test_the_own_folder_of_a_run_ends_with_it_and_not_with_what_it_forked(tmp_path):
    script = f"""if True:
        import os
        from tests.support.memory_folder import make_own_folder
        folder = make_own_folder({str(tmp_path)!r})
        if pid := os.fork():
            os.waitpid(pid, 0)
            assert os.path.isdir(folder)
    """
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parent.parent)
    assert list(tmp_path.iterdir()) == []
