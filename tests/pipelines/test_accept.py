"""Drift as a pull request with the scripts of the action: git is real, and behind a token; Azure is the emulator."""

import json

import pytest

from tests.pipelines.hosted import host_estate
from tests.support.branch_files import list_branches, read_branch_files
from tests.support.command_line import SUBSCRIPTION, run_here
from tests.support.git_repositories import commit_all, init_repository

MOVE = f"""\
moves:
  - {{after: 0, by: rob@contoso.com, id: /subscriptions/{SUBSCRIPTION}/resourceGroups/web, set: {{/tags/team: shop}}}}
"""
TAGGED = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: web}
spec: {location: westeurope, tags: {team: web}}
"""


@pytest.fixture
def estate(tmp_path):
    with host_estate(tmp_path, "x-access-token") as estate:
        estate.commit("azure/group.yaml", TAGGED, "Tag the group")
        estate.push()
        estate.git("remote", "set-url", "origin", f"{estate.server}/acme/estate")
        yield estate


def accept(estate, **env):
    job = estate.job("schedule", estate.git("rev-parse", "HEAD"), command="accept", source=str(estate.clone))
    job.env.update(env)
    return job.run("Install gitsync")["exit-code"], job.log


def test_a_scheduled_job_opens_a_pull_request_and_closes_it(estate, tmp_path):
    script = tmp_path / "script.yaml"
    job = estate.job("push", estate.git("rev-parse", "HEAD"), command="sync")
    assert job.run("Install gitsync")["exit-code"] == "0", job.log
    script.write_text(MOVE)
    code, log = accept(estate, GITSYNC_EMULATOR_SCRIPT=str(script))
    assert (code, "Accepted 1 field of 1 resource." in log) == ("0", True), log
    (request,) = estate.host.requests
    assert f"Opened: Accept drift of ResourceGroup/web: https://github.com/acme/estate/pull/{request['number']}" in log
    assert "/actions/runs/7" in request["body"]
    assert "<code>azure/group.yaml:4</code>" in request["body"]
    assert "rob" not in log + json.dumps(request)
    bare = estate.folder / "hosted" / "acme" / "estate"
    offered = read_branch_files(bare, request["branch"])["azure/group.yaml"]
    assert offered.decode() == TAGGED.replace("team: web", "team: shop")
    assert estate.git("status", "--porcelain") == ""

    assert "Unchanged: Accept drift of ResourceGroup/web" in accept(estate)[1]
    assert estate.host.requests == [request]

    job.run("Install gitsync")  # the next sync reverts it
    assert "Closed, since its drift is gone" in accept(estate)[1]
    assert estate.host.requests[0]["state"] == "closed"
    assert request["branch"] not in list_branches(bare)


def test_a_job_of_a_pull_request_opens_none(estate, tmp_path):
    """What it checks out has the changes of that pull request."""
    script = tmp_path / "script.yaml"
    job = estate.job("push", estate.git("rev-parse", "HEAD"), command="sync")
    assert job.run("Install gitsync")["exit-code"] == "0", job.log
    script.write_text(MOVE)
    estate.git("checkout", "--quiet", "-b", "more")
    estate.commit("azure/more.yaml", TAGGED.replace("name: web", "name: more"), "Add another group")
    merge = estate.open_pull_request("more")
    estate.git("checkout", "--quiet", "--detach", merge)
    job = estate.job("pull_request", merge, command="accept", source=str(estate.clone))
    job.env.update(GITSYNC_EMULATOR_SCRIPT=str(script))
    assert job.run("Install gitsync")["exit-code"] == "2", job.log
    assert f"The commit {merge[:12]}, which is checked out, is not part of the branch main" in job.log
    assert "Check out the branch main, and run it again." in job.log
    assert estate.host.requests == []


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--together"], "--together needs --pull-request."),
        (["--branch", "x", "--pull-request"], "not allowed with argument"),
        (["--pull-request"], "Not running in GitHub Actions, GitLab CI or Azure Pipelines"),
    ],
)
def test_flags_that_are_refused_before_the_first_request(tmp_path, flags, message):
    others = dict.fromkeys(("GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD"), "")
    ended = run_here("accept", *flags, folder=tmp_path, **others)
    assert (ended.code, message in ended.err) == (2, True), ended.err


def test_a_branch_begins_at_what_is_committed(tmp_path):
    init_repository(tmp_path)
    (tmp_path / "group.yaml").write_text(TAGGED)
    commit_all(tmp_path)
    (tmp_path / "other.yaml").write_text(TAGGED.replace("name: web", "name: other"))
    ended = run_here("accept", "--branch", "x", folder=tmp_path)
    assert ended.code == 2
    assert f"{tmp_path} has uncommitted changes, and the new branch starts at the commit." in ended.err
