"""A tool on the search path that does what a test sets."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Puts an executable of this name and text on the search path, and nothing else but the shell's own tools."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for word in ("cat", "sleep", "env", "ls"):
        found = shutil.which(word)
        assert found
        (folder / word).symlink_to(found)

    def install(name: str, script: str) -> None:
        path = folder / name
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(path.stat().st_mode | stat.S_IEXEC)

    monkeypatch.setenv("PATH", str(folder))
    return install
