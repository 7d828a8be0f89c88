"""The cases on a real API server, where its programs are installed; what the tool reports where they are not."""

import shutil
from pathlib import Path

import pytest
import try_api_server

from tests.tools.tool_runs import run_script

TOOL = Path(__file__).parents[2] / "tools" / "try_api_server.py"


def test_without_the_programs_it_reports_what_it_needs():
    ended = run_script(TOOL, "--kube-apiserver", "/nowhere/kube-apiserver")
    assert (ended.returncode, ended.stderr) == (
        2,
        "kube-apiserver, etcd and kubectl are needed: give the paths of the first two.\n",
    )


def test_the_role_of_a_run_is_read_from_the_documentation():
    assert len(try_api_server.read_role()["rules"]) == 3


@pytest.mark.skipif(not all(map(shutil.which, ("kube-apiserver", "etcd", "kubectl"))), reason="no API server here")
def test_every_case_ends_as_expected():
    ended = run_script(TOOL)
    assert ended.returncode == 0, ended.stdout
