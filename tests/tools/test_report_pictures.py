"""The pictures of reports and of the site in the docs: the tools that take them can start."""

from pathlib import Path

import pytest

from tests.tools.tool_runs import run_script

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("tool", ["report_pictures.py", "site_pictures.py"])
def test_the_tool_starts_and_names_the_browsers_that_it_looks_for(tool, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run_script(ROOT / "tools" / tool, tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("No browser found. Install one of chromium,")
