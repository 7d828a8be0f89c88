"""`gitsync comment --status`: what the commit of a job reports of a run, once, on every host."""

import json

import pytest

from gitsync.report.hosts.commit_status import post_status, read_status
from gitsync.report.hosts.host import HostUse, Status, StatusState
from gitsync.report.hosts.opening import open_host
from tests.pipelines.host_programs import AZURE, GITHUB, GITLAB, TOKEN, make_host
from tests.support.command_line import run_here
from tests.support.hostile_texts import HOSTILE

COMMIT = GITHUB["GITHUB_SHA"]
LOGS = {
    "gh": "https://github.com/acme/estate/actions/runs/987",
    "glab": GITLAB["CI_JOB_URL"],
    "az": "https://dev.azure.com/acme/The%20estate/_build/results?buildId=987",
}
WORDS = {
    "gh": ("pending", "success", "failure"),
    "glab": ("pending", "success", "failed"),
    "az": ("pending", "succeeded", "failed"),
}
HOSTS = [
    pytest.param("gh", GITHUB, id="github"),
    pytest.param("glab", GITLAB, id="gitlab"),
    pytest.param("az", AZURE, id="azure"),
]
by_host = pytest.mark.parametrize(("program", "job"), HOSTS)
PUSHED = {"GITHUB_REF": "refs/heads/main", "CI_MERGE_REQUEST_IID": "", "SYSTEM_PULLREQUEST_PULLREQUESTID": ""}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def put_report(folder, headline="Updated 2", exit_code=0, command="sync", **more):
    document = {"command": command, "exitCode": exit_code, "headline": headline, **more}
    (folder / "report.json").write_text(json.dumps(document))


def say(folder, host, job, *arguments):
    others = dict.fromkeys(("GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD"), "")
    return run_here("comment", *arguments, folder=folder, **{"PATH": host.path, **others, **job})


def tell(folder, host, job, *arguments):
    return say(folder, host, job, "report.md", "--status=report", *arguments)


@by_host
def test_a_commit_reports_that_a_run_has_begun_and_how_it_ended(tmp_path, folder, program, job):
    host, job = make_host(tmp_path / "bin", program), {**job, **PUSHED}
    pending, success, failure = WORDS[program]
    assert say(folder, host, job, "--status=pending") == (0, "Posted the status gitsync: pending.\n", "")
    put_report(folder)
    assert tell(folder, host, job) == (0, "Posted the status gitsync: success.\n", "")
    put_report(folder, "1 failed; nothing changed", exit_code=1)
    assert tell(folder, host, job) == (0, "Posted the status gitsync: failure.\n", "")
    assert [(status["state"], status["description"]) for status in host.statuses] == [
        (pending, "The run has begun."),
        (success, "Updated 2"),
        (failure, "1 failed; nothing changed"),
    ]
    same = {(status["commit"], status["context"], status["url"]) for status in host.statuses}
    assert same == {(COMMIT, "gitsync", LOGS[program])}


@by_host
def test_the_same_is_not_said_twice(tmp_path, folder, program, job):
    """A host keeps each status, and GitLab refuses a pending one for what is pending."""
    host = make_host(tmp_path / "bin", program)
    put_report(folder)
    for arguments in (["--status=pending"], ["report.md", "--status=report"]):
        outs = [say(folder, host, job, *arguments, "--name=production").out.split()[0] for _ in range(2)]
        assert outs == ["Posted", "The"]
    assert [status["context"] for status in host.statuses] == ["gitsync/production"] * 2
    assert tell(folder, host, job, "--name=staging").out == "Posted the status gitsync/staging: success.\n"
    assert tell(folder, host, job, "--name=production").out == "The status gitsync/production is success already.\n"


@pytest.mark.parametrize(
    ("exit_code", "interrupted", "state", "why"),
    [
        (0, False, "success", "nothing failed"),
        (3, False, "success", "--detailed-exitcode: there are changes, and nothing failed"),
        (4, False, "success", "likewise, for drift"),
        (0, True, "failure", "not every resource was reached"),
        (1, False, "failure", "something failed"),
        (2, False, "failure", "a sync would be refused"),
        (70, False, "failure", "an internal error"),
    ],
)
def test_when_a_run_has_succeeded(exit_code, interrupted, state, why):
    report = {"exitCode": exit_code, "headline": "Updated 2", "interrupted": interrupted}
    assert read_status(report).state == state, why


@by_host
def test_a_run_without_a_report_has_failed(tmp_path, folder, program, job):
    host = make_host(tmp_path / "bin", program)
    ended = tell(folder, host, job)
    assert ended == (
        0,
        "Posted the status gitsync: failure.\n",
        "report.json does not exist: the run ended without a report.\n",
    )
    assert host.statuses[-1]["description"] == "The run wrote no report. See its log."


class RememberingHost:
    """A host that keeps the last status, as gitsync sees it."""

    def __init__(self, longest_description):
        self.longest_description, self.last = longest_description, None

    def read_commit(self):
        return COMMIT

    def find_status(self, _commit, _context):
        return self.last

    def post_status(self, _commit, _context, status):
        self.last = status


@pytest.mark.parametrize("longest", [140, 255])
@pytest.mark.parametrize("row", HOSTILE)
def test_hostile_text_is_one_plain_line(row, longest):
    host = RememberingHost(longest)
    said = [post_status(host, "gitsync", Status(StatusState.SUCCESS, HOSTILE[row])) for _ in range(2)]
    assert said == [True, False]
    assert host.last.description.isprintable()
    assert len(host.last.description) <= longest


SENT = ("a mention", "a formula", "a surrogate", "long", "blanks")
"""What is left of these may mean something to a program: by how it begins, or that it is long or empty."""


@by_host
def test_a_host_keeps_hostile_text_as_it_is_sent(tmp_path, program, job):
    host = make_host(tmp_path / "bin", program)
    client = open_host({"PATH": host.path, **job}, HostUse.STATUS)
    for row in SENT:
        said = [post_status(client, row, Status(StatusState.SUCCESS, HOSTILE[row])) for _ in range(2)]
        assert said == [True, False], row
        description = host.statuses[-1]["description"]
        assert description.isprintable(), row
        assert len(description) <= (140 if program == "gh" else 255), row
    assert [status["context"] for status in host.statuses] == list(SENT)


def test_a_hostile_headline_of_a_report_is_one_plain_line(tmp_path, folder):
    host = make_host(tmp_path / "bin", "gh")
    put_report(folder, HOSTILE["a surrogate"] + HOSTILE["a line"])
    assert [tell(folder, host, GITHUB).out.split()[0] for _ in range(2)] == ["Posted", "The"]
    (status,) = host.statuses
    assert status["description"].isprintable()


@by_host
def test_the_program_gets_its_token_and_a_refusal_shows_none(tmp_path, folder, program, job):
    host = make_host(tmp_path / "bin", program)
    host.refuse(f"HTTP 403: Resource not accessible by {TOKEN}\nmore")
    ended = say(folder, host, job, "--status=pending")
    assert ended.code == 1
    assert f"The status was not posted: {program} failed: HTTP 403: Resource not accessible by <secret>." in ended.err
    rights = {"gh": "statuses: write", "glab": "the role Developer", "az": '"Contribute" in the repository'}
    assert rights[program] in ended.err
    assert TOKEN in host.calls[0].environment.values()


@pytest.mark.parametrize(
    ("program", "job", "commit", "why"),
    [
        ("gh", {**GITHUB, "event": {"pull_request": {"head": {"sha": "head"}}}}, "head", "a merge is on no page"),
        ("gh", {**GITHUB, "event": {}}, COMMIT, "the event of no pull request"),
        (
            "gh",
            {**GITHUB, "GITHUB_REF": "refs/heads/main", "event": {"pull_request": {"head": {"sha": "head"}}}},
            COMMIT,
            "a closed pull request: the job is about the branch",
        ),
        ("glab", GITLAB, COMMIT, "the commit of the pipeline of the job"),
        ("az", {**AZURE, "SYSTEM_PULLREQUEST_SOURCECOMMITID": "head"}, "head", "a merge is on no page"),
    ],
)
def test_which_commit_it_is(tmp_path, program, job, commit, why):
    """The first test above has the commit that a host gets."""
    event = tmp_path / "event.json"
    event.write_text(json.dumps(job.get("event")))
    variables = {name: value for name, value in job.items() if name != "event"} | {"GITHUB_EVENT_PATH": str(event)}
    assert open_host(variables, HostUse.STATUS).read_commit() == commit, f"{program}: {why}"


@pytest.mark.parametrize(
    ("program", "job", "running", "failure"),
    [
        pytest.param("gh", GITHUB, "in_progress", "failure", id="github"),
        pytest.param("glab", GITLAB, "running", "failed", id="gitlab"),
    ],
)
def test_a_sync_is_a_deployment(tmp_path, folder, program, job, running, failure):
    host = make_host(tmp_path / "bin", program)
    names = ("--name=production", "--deployment")
    assert say(folder, host, job, "--status=pending", *names).out == (
        "Posted the deployment to production: pending.\nPosted the status gitsync/production: pending.\n"
    )
    assert say(folder, host, job, "--status=pending", *names).out.startswith(
        "The deployment to production is pending already.\n"
    )
    put_report(folder, exit_code=1)
    for said in ("Posted the deployment to production: failure.", "The deployment to production is failure already."):
        assert tell(folder, host, job, *names).out.splitlines()[0] == said
    put_report(folder)
    assert tell(folder, host, job, *names).out.startswith("Posted the deployment to production: success.\n")
    (first, second) = host.deployments
    assert (first["commit"], first["environment"], first["states"]) == (COMMIT, "production", [running, failure])
    assert second["states"] == ["success"], "the run after the failed one is a deployment of its own"


def test_a_deployment_whose_state_was_never_posted_is_used(tmp_path, folder):
    """The job ended between the two requests that GitHub needs."""
    host = make_host(tmp_path / "bin", "gh")
    names = {"commit": COMMIT, "environment": "production", "task": "gitsync", "states": []}
    (host.home / "deployments.json").write_text(json.dumps([{"id": 500, **names}]))
    put_report(folder)
    assert tell(folder, host, GITHUB, "--name=production", "--deployment").code == 0
    assert [deployment["states"] for deployment in host.deployments] == [["success"]]


@pytest.mark.parametrize(
    ("job", "arguments", "message"),
    [
        ({}, ["--status=pending"], "Not running in GitHub Actions, GitLab CI or Azure Pipelines"),
        ({**GITHUB, "GITHUB_SHA": ""}, ["--status=pending"], "GITHUB_SHA is not set"),
        (GITHUB, ["--status=report"], "FILE is missing."),
        (GITHUB, [], "FILE is missing."),
        (GITHUB, ["report.md", "--status=pending"], "There is no report before a run."),
        (
            GITHUB,
            ["--status=pending", "--number=3"],
            "--number cannot be combined with --status, which is for a commit.",
        ),
        (GITHUB, ["--status=pending", "--name=a\nb"], r"'a\nb' is not a valid name of a target."),
        (GITHUB, ["--status=pending", "--deployment"], "--deployment needs --status and --name."),
        (GITHUB, ["report.md", "--name=a", "--deployment"], "--deployment needs --status and --name."),
        (
            GITHUB,
            ["report.md", "--status=report", "--name=a", "--deployment"],
            "is the report of a plan, which deploys nothing.",
        ),
        (
            AZURE,
            ["--status=pending", "--name=a", "--deployment"],
            "Azure Repos does not accept a deployment of c0ffeec0ffee to a",
        ),
    ],
)
def test_what_is_refused_before_anything_is_posted(tmp_path, folder, job, arguments, message):
    host = make_host(tmp_path / "bin", "gh", "glab", "az")
    put_report(folder, command="plan")
    ended = say(folder, host, job, *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert host.calls == []


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"exitCode": "a"}', "[" * 100_000])
def test_a_file_that_is_not_a_report_is_refused(tmp_path, folder, content):
    host = make_host(tmp_path / "bin", "gh")
    (folder / "report.json").write_text(content)
    ended = tell(folder, host, GITHUB)
    assert ended.code == 2
    assert "report.json is not a report of this version." in ended.err


@by_host
def test_an_answer_of_another_form_is_an_error(tmp_path, folder, program, job):
    host = make_host(tmp_path / "bin", program)
    (host.home / program).write_text("#!/bin/sh\necho '[3]'\n")
    ended = say(folder, host, job, "--status=pending")
    assert ended.code == 1
    assert f"{program} returned an unexpected response" in ended.err


def test_a_real_report_has_what_a_status_needs(tmp_path, folder):
    host = make_host(tmp_path / "bin", "gh")
    (folder / "group.yaml").write_text(
        "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\n"
        "metadata: {name: web}\nspec: {location: westeurope}\n"
    )
    locations = {"GITSYNC_EMULATOR": str(tmp_path / "azure.db"), "GITSYNC_STATUS_DIR": str(tmp_path / "status")}
    ran = run_here(
        "sync", "--report=.", folder=folder, AZURE_SUBSCRIPTION_ID="0" * 8 + "-0000" * 3 + "-" + "0" * 12, **locations
    )
    assert ran.code == 0, ran.err
    assert tell(folder, host, GITHUB).code == 0
    assert (host.statuses[-1]["state"], host.statuses[-1]["description"]) == ("success", "Created 1")
