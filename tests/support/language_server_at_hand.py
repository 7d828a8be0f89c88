"""The language server for YAML that editors use. Tests of it are skipped without it, and counted at the end of a run."""

import json
import shutil
from pathlib import Path

import pytest

VERSION = "1.25.0"
"""Of yaml-language-server. `.ci/run` installs it from npm."""

REASON = f"yaml-language-server {VERSION} is not installed"


def _is_installed() -> bool:
    program = shutil.which("yaml-language-server")
    package = Path(program).resolve().parents[1] / "package.json" if program else None
    return bool(package and package.exists() and json.loads(package.read_text()).get("version") == VERSION)


needs_language_server = pytest.mark.skipif(not _is_installed(), reason=REASON)
