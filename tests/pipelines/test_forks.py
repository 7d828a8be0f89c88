"""A fork's pull request signs in as nothing, whatever it brings: its plan compares revisions, without Azure. An allow-list
among its files has no effect.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.pipelines.hosted import Estate, host_estate
from tests.support.command_line import SUBSCRIPTION

ROOT = Path(__file__).parents[2]
CLIENT = "33333333-3333-4333-8333-333333333333"
TENANT = "22222222-2222-4222-8222-222222222222"
SECRET = f"""\
apiVersion: v1
kind: Secret
metadata: {{name: aso-credential}}
stringData:
  AZURE_SUBSCRIPTION_ID: {SUBSCRIPTION}
  AZURE_TENANT_ID: {TENANT}
  AZURE_CLIENT_ID: {CLIENT}
"""
THEIRS = f"allow: [{{clients: {CLIENT}}}]\n"
OURS = "allow: [{clients: 44444444-4444-4444-8444-444444444444}]"


def read_job(name: str) -> dict[str, Any]:
    workflow = yaml.load((ROOT / ".github" / "workflows" / "plan.yaml").read_text(), Loader=yaml.BaseLoader)
    job: dict[str, Any] = workflow["jobs"][name]
    return job


def test_the_job_with_an_identity_is_left_out_for_a_fork():
    """GitHub gives the job of a fork's pull request no token, and the workflow does not start it either."""
    condition = "inputs.client-id == '' || github.event.pull_request.head.repo.full_name == github.repository"
    assert read_job("plan")["if"] == f"${{{{ {condition} }}}}"
    (plan,) = (step for step in read_job("plan")["steps"] if step.get("id") == "plan")
    assert plan["with"]["from"] == "${{ inputs.client-id == '' && 'base' || '' }}"
    assert "id-token" not in read_job("rehearse")["permissions"]


@pytest.fixture(scope="module")
def estate(tmp_path_factory: pytest.TempPathFactory):
    with host_estate(tmp_path_factory.mktemp("forks"), "x-access-token") as estate:
        yield estate


def open_fork(estate: Estate, **files: str) -> str:
    """Open the pull request of a fork that brings a credential Secret, and more files; the commit that merging makes."""
    estate.git("checkout", "--quiet", "-B", "patch", "main")
    for path, text in files.items():
        (estate.clone / path.replace("__", ".")).write_text(text)
    estate.commit("azure/own.yaml", SECRET, "Use another identity")
    return estate.open_pull_request("patch")


def run_fork(estate: Estate, commit: str, **inputs: str) -> tuple[dict[str, str], str, dict[str, Any]]:
    """Run the action as the job of a fork, which has neither an emulator nor a token for Azure: its outputs, its log and
    its report.
    """
    job = estate.job("pull_request", commit, **inputs)
    job.github["event"]["pull_request"]["head"]["repo"] = {"full_name": "mallory/estate"}
    del job.env["GITSYNC_EMULATOR"]
    outputs = job.run("Install gitsync")
    path = Path(outputs["report"]) / "report.json"
    return outputs, job.log, json.loads(path.read_text()) if path.exists() else {}


def test_its_plan_reports_the_identity_without_signing_in(estate: Estate):
    outputs, log, report = run_fork(estate, open_fork(estate), **{"from": "base"})
    assert outputs["exit-code"] == "0", log
    assert (report["target"]["identity"], report["requests"]["reads"]) == ("", 0)
    (resource,) = report["resources"]
    assert resource["identity"]["now"]["clientId"] == CLIENT
    assert estate.host.comments == []


def test_a_list_among_its_files_has_no_effect(estate: Estate):
    commit = open_fork(estate, identities__yaml=THEIRS)
    for command in ("plan", "rehearse", "validate"):
        inputs = {"from": "base"} if command == "plan" else {}
        outputs, log, _ = run_fork(estate, commit, command=command, **inputs, **{"allow-identities": OURS})
        assert outputs["exit-code"] == "1", (command, log)
        assert f"client {CLIENT} of tenant {TENANT}" in log, command
        assert "is not allowed" in log, command


def test_settings_among_its_files_are_refused(estate: Estate):
    commit = open_fork(estate, gitsync__yaml=f"allow-identities: {{{THEIRS.strip()}}}\n")
    outputs, log, _ = run_fork(estate, commit, **{"from": "base", "allow-identities": OURS})
    assert outputs["exit-code"] == "2"
    assert (
        "gitsync.yaml:1: allow-identities is an operator setting, which a file in a git repository may not give" in log
    )


def test_with_an_identity_there_is_no_token_to_sign_in_with(estate: Estate):
    """The condition of the workflow keeps such a job from starting. If another workflow starts one, it has no token."""
    commit = open_fork(estate)
    inputs = {"client-id": CLIENT, "tenant-id": TENANT, "credential": "workload-identity", "subscription": SUBSCRIPTION}
    outputs, log, _ = run_fork(estate, commit, **inputs)
    assert outputs["exit-code"] != "0"
    assert "There is no federated token" in log
