"""The cases on a real API server, where its programs are installed; what the tool reports where they are not."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "try_api_server.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(TOOL), *arguments], capture_output=True, text=True, check=False, timeout=300
    )


def test_without_the_programs_it_reports_what_it_needs():
    ended = run("--kube-apiserver", "/nowhere/kube-apiserver")
    assert (ended.returncode, ended.stderr) == (
        2,
        "kube-apiserver, etcd and kubectl are needed: give the paths of the first two.\n",
    )


def test_the_role_of_a_run_is_read_from_the_documentation():
    program = "import try_api_server; print(len(try_api_server.read_role()['rules']))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=TOOL.parent)
    assert ended.stdout == "3\n"


@pytest.mark.skipif(not all(map(shutil.which, ("kube-apiserver", "etcd", "kubectl"))), reason="no API server here")
def test_every_case_ends_as_expected():
    ended = run()
    assert ended.returncode == 0, ended.stdout
