"""The run in Azure refuses to begin without a subscription or az, and its result names no subscription. That all of its
steps hold is seen by the rehearsal in the emulator (.ci/run)."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from string import Template

import pytest

from tests.support.command_line import run_here

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "azure_smoke.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("azure_smoke", TOOL)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ((), "No subscription is named. Run make azure-smoke SUBSCRIPTION=ID, or add --dry-run."),
        (("--subscription=s",), "az is not installed. Install the Azure CLI, and run az login."),
    ],
)
def test_a_run_that_cannot_begin_reports_why(flags, expected, tmp_path):
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, TOOL, *flags], env=environment, cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.strip()) == (2, expected)
    assert list(tmp_path.iterdir()) == [], "no result is written"


def test_the_manifests_are_valid(tool, tmp_path):
    for file in tool.MANIFESTS.glob("*.yaml"):
        text = Template(file.read_text()).substitute(name="gitsync-smoke-1", location="westeurope")
        (tmp_path / file.name).write_text(text)
    ended = run_here("validate", folder=tmp_path)
    assert (ended.code, ended.out.strip()) == (0, "9 resources in 4 files: no problems.")


def test_a_result_names_no_subscription(tool, tmp_path):
    target = tool.Target("https://127.0.0.1:1", "my-own-subscription", "westeurope", "group", str)
    error = "create: /subscriptions/my-own-subscription/resourceGroups/group was refused"
    result = tool.build_result(tool.Smoke(target, tmp_path), error, is_dry=True)
    assert result["error"] == "create: /subscriptions/SUBSCRIPTION/resourceGroups/group was refused"
    assert (result["passed"], "my-own-subscription" in str(result)) == (False, False)
    assert len(result["kinds"]) == 9
