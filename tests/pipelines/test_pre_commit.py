"""The hook, as pre-commit installs it from a clone and runs it in a repository of manifests."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.support.git_repositories import init_repository

ROOT = Path(__file__).resolve().parent.parent.parent
QUICK = "[core]\n\tcompression = 0\n[pack]\n\twindow = 0\n"
"""Git settings: to make a small pack of this repository for its clone takes a second."""

GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: web}
spec: {location: westeurope}
"""


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="pre-commit clones a repository")
def test_the_hook_is_installed_from_a_clone_and_names_every_problem(tmp_path):
    """pip installs gitsync alone, and without an index: what it needs comes from this environment."""
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    init_repository(manifests)
    for name, text in (("right", GROUP), ("wrong", GROUP.replace("location", "locaton"))):
        (manifests / name).mkdir()
        (manifests / name / "web.yaml").write_text(text)
    (manifests / "notes.md").write_text("No manifest.\n")
    subprocess.run(["git", "add", "."], cwd=manifests, check=True)
    (tmp_path / "git").mkdir()
    (tmp_path / "git" / "config").write_text(QUICK)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "XDG_CONFIG_HOME": str(tmp_path),
        "PRE_COMMIT_HOME": str(tmp_path / "home"),
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # the variable means the opposite of the flag
        "PIP_NO_COMPILE": "0",  # so does this one: few of the modules are run
        "PYTHONPATH": sysconfig.get_path("purelib"),
    }

    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    hooks = ", ".join(f"{{id: gitsync-validate, args: [{name}]}}" for name in ("right", "wrong"))
    config = manifests / ".pre-commit-config.yaml"
    config.write_text(f"repos: [{{repo: '{ROOT}', rev: {revision.strip()}, hooks: [{hooks}]}}]\n")
    command = [sys.executable, "-m", "pre_commit", "run", "--files", "notes.md", "--verbose"]
    done = subprocess.run(command, cwd=manifests, env=environment, capture_output=True, text=True, check=False)
    assert re.findall("Passed|Failed", done.stdout) == ["Passed", "Failed"]
    assert "1 resource in 1 file: no problems" in done.stdout
    assert done.returncode == 1, done.stdout
    assert "web.yaml:4: error: UnknownField spec.locaton" in done.stdout
