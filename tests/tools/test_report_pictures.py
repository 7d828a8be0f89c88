"""The pictures of reports in the docs: the tool that takes them can start."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_tool_starts_and_names_the_browsers_that_it_looks_for(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "report_pictures.py", tmp_path],
        env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("No browser found. Install one of chromium,")
