"""The scheduled drill of each host: it rebuilds the estate without an identity, and fails if something stops that."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.pipelines.hosted import TOKEN, Estate, host_estate
from tests.support.command_line import SUBSCRIPTION, run_here

FOLDER = Path(__file__).resolve().parent.parent.parent / "deploy" / "pipelines"
GITHUB, GITLAB, AZURE = (
    yaml.safe_load((FOLDER / name).read_text()) for name in ("drill-github.yaml", "gitlab.yml", "azure-pipelines.yml")
)
IDENTITY = {"tenant-id", "client-id", "credential", "digest-key", "git-token"}
FORMS = {"rehearse.html", "rehearse.json", "rehearse.md"}

NETWORK = """\
apiVersion: network.azure.com/v20250301
kind: VirtualNetwork
metadata: {name: web}
spec:
  owner: {name: OWNER}
  location: westeurope
  addressSpace: {addressPrefixes: [10.9.0.0/16]}
"""
CASES = [("web", 0, "A sync from nothing would create 2"), ("shared", 1, "1 gap stops the rebuild")]
by_owner = pytest.mark.parametrize(("owner", "code", "headline"), CASES, ids=["it comes back", "an owner outside"])


def push(estate: Estate, owner: str) -> str:
    """Push a network with an owner, which git may not have; the commit."""
    commit = estate.commit("azure/network.yaml", NETWORK.replace("OWNER", owner), "Add a network")
    estate.push()
    return commit


@by_owner
def test_github_drills_by_its_schedule(tmp_path, owner, code, headline):
    (drill, keep) = GITHUB["jobs"]["drill"]["steps"]
    assert not IDENTITY & drill["with"].keys()
    with host_estate(tmp_path, "x-access-token") as estate:
        inputs = {**drill["with"], "subscription": SUBSCRIPTION}
        job = estate.job("schedule", push(estate, owner), **inputs)
        del job.env["GITSYNC_EMULATOR"], job.env["AZURE_SUBSCRIPTION_ID"]
        outputs = job.run("Install gitsync")
        assert (outputs["exit-code"], headline in job.summary.read_text()) == (str(code), True), job.log
        assert {path.name for path in Path(outputs["report"]).iterdir()} == FORMS
        assert estate.host.comments == []
    assert keep["with"]["path"] == "${{ steps.drill.outputs.report }}"
    assert "!cancelled()" in keep["if"], "also after a drill that failed"


@by_owner
def test_gitlab_drills_in_a_schedule_with_a_variable(tmp_path, owner, code, headline):
    shared, drill = GITLAB[".gitsync-offline"], GITLAB["gitsync-drill"]
    with host_estate(tmp_path, "gitlab-ci-token") as estate:
        commit, project = push(estate, owner), tmp_path / "project"
        project.mkdir()
        (estate.folder / "hosted" / "acme" / "estate").rename(estate.folder / "hosted" / "acme" / "estate.git")
        variables = {
            "PATH": os.environ["PATH"],
            "CI_COMMIT_SHA": commit,
            "CI_JOB_TOKEN": TOKEN,
            "CI_PROJECT_DIR": str(project),
            "CI_PROJECT_URL": f"{estate.server}/acme/estate",
            "GITSYNC_PATH": "azure",
        }
        for name, value in {**shared["variables"], **drill["variables"]}.items():
            variables[name] = re.sub(r"\$(\w+)", lambda found: variables[found[1]], value)
        ended = run(drill["script"], project, variables)
        assert (ended.code, headline in ended.out) == (code, True), ended.err
        assert {path.name for path in (project / "report").iterdir()} == FORMS
    assert (drill["artifacts"]["when"], drill["artifacts"]["paths"]) == ("always", ["report"])


@by_owner
def test_azure_pipelines_drills_in_a_schedule_of_that_name(tmp_path, owner, code, headline):
    (job,) = (job for job in AZURE["jobs"] if job.get("job") == "gitsync_drill")
    scripts = [step["bash"] for step in job["steps"] if "gitsync rehearse" in step.get("bash", "")]
    assert not any("task" in step and "AzureCLI" in step["task"] for step in job["steps"]), "no connection"
    with host_estate(tmp_path, "anybody") as estate:
        push(estate, owner)
        variables = {
            "PATH": os.environ["PATH"],
            "TF_BUILD": "True",
            "GITSYNC_SOURCE": str(estate.clone),
            "GITSYNC_PATH": "azure",
            "GITSYNC_REPORT": str(tmp_path / "report"),
            "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
        }
        ended = run(scripts, tmp_path, variables)
        assert (ended.code, headline in ended.out) == (code, True), ended.err
        assert {path.name for path in (tmp_path / "report").iterdir()} == FORMS


def run(lines, folder, variables):
    """Run the only line of a job, which is a gitsync command."""
    (line,) = lines
    program, *words = shlex.split(line.removeprefix("exec "))
    assert program == "gitsync"
    return run_here(*words, folder=folder, **variables)


def test_a_drill_is_not_a_sync_and_accepts_no_drift():
    first, _ = GITLAB["gitsync-sync"]["rules"]
    assert first == {"if": '$DRILL == "true" || $WORKERS', "when": "never"}  # workers have a job of their own
    named = "variables['Build.CronSchedule.DisplayName'], 'drill')"
    conditions = {job["job"]: job.get("condition", "") for job in list_azure_jobs()}
    assert {job for job, condition in conditions.items() if f"eq({named}" in condition} == {"gitsync_drill"}
    others = {job for job, text in conditions.items() if f"ne({named}" in text}
    assert others == {"gitsync_sync", "gitsync_shards", "gitsync_accept"}  # the workers depend on gitsync_shards


def list_azure_jobs():
    for job in AZURE["jobs"]:
        yield from [job] if "job" in job else next(iter(job.values()))
