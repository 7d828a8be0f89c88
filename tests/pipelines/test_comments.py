"""`gitsync comment`: posted once, then replaced, and never over the comment of somebody else."""

import json

import pytest

from gitsync.report.hosts.host import HostUse
from gitsync.report.hosts.opening import open_host
from tests.pipelines.host_programs import AZURE, GITHUB, GITLAB, TOKEN, make_host
from tests.support.command_line import run_here

MARK = "<!-- gitsync -->"
PLAN = f"{MARK}\n### gitsync plan of `0123456789ab`\n\n1 create.\n"


def on_github(text, own=True):
    return {"id": f"IC_{len(text)}", "viewerDidAuthor": own, "body": text}


def on_gitlab(text, own=True):
    return {"id": len(text), "author": {"id": 7 if own else 8}, "system": False, "body": text}


def on_azure(text, own=True):
    author = {"id": "the-build" if own else "mallory"}
    return {"id": len(text), "comments": [{"id": 1, "author": author, "content": text}]}


def text_of(comment):
    return comment["body"] if "body" in comment else comment["comments"][0]["content"]


HOSTS = [
    pytest.param("gh", GITHUB, on_github, "https://github.com/acme/estate/actions/runs/987", id="github"),
    pytest.param("glab", GITLAB, on_gitlab, GITLAB["CI_JOB_URL"], id="gitlab"),
    pytest.param(
        "az", AZURE, on_azure, "https://dev.azure.com/acme/The%20estate/_build/results?buildId=987", id="azure"
    ),
]
by_host = pytest.mark.parametrize(("program", "job", "make", "log"), HOSTS)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "report.md").write_text(PLAN)
    return folder


def comment(folder, host, job, *arguments):
    others = dict.fromkeys(("GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD"), "")
    return run_here("comment", "report.md", *arguments, folder=folder, **{"PATH": host.path, **others, **job})


@by_host
def test_a_report_is_posted_once_and_then_replaced(tmp_path, folder, program, job, make, log):
    host = make_host(tmp_path / "bin", program)
    assert comment(folder, host, job)[:2] == (0, "Posted the comment.\n")
    (first,) = host.comments
    assert text_of(first) == f"{PLAN}\n[Log of this run]({log})\n"
    (folder / "report.md").write_text(PLAN.replace("1 create", "2 create"))
    assert comment(folder, host, job)[:2] == (0, "Updated the comment.\n")
    (second,) = host.comments
    assert text_of(second) == text_of(first).replace("1 create", "2 create")


@by_host
def test_what_others_wrote_stays(tmp_path, folder, program, job, make, log):
    host = make_host(tmp_path / "bin", program)
    others = [make(f"{MARK}\nForged.", own=False), make("Looks fine to me."), make("<!-- gitsync staging -->\nOlder.")]
    host.put(*others)
    assert comment(folder, host, job, "--name=production").code == 0
    assert comment(folder, host, job, "--name=production").out == "Updated the comment.\n"
    *before, mine = host.comments
    assert before == others
    assert text_of(mine).startswith("<!-- gitsync production -->\n**production**\n\n### gitsync plan of")


@by_host
def test_the_program_gets_its_token_and_no_secret_of_gitsync(tmp_path, folder, program, job, make, log):
    host = make_host(tmp_path / "bin", program)
    secrets = {"GITSYNC_DIGEST_KEY": "k" * 32, "AZURE_CLIENT_SECRET": "s" * 20, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "t"}
    assert comment(folder, host, {**job, **secrets}).code == 0
    for call in host.calls:
        assert TOKEN in call.environment.values()
        assert not secrets.keys() & call.environment.keys()
        assert TOKEN not in " ".join(call.arguments)


@by_host
def test_a_refusal_is_reported_without_the_token(tmp_path, folder, program, job, make, log):
    host = make_host(tmp_path / "bin", program)
    host.refuse(f"HTTP 403: Resource not accessible by {TOKEN}\nmore")
    ended = comment(folder, host, job)
    assert ended.code == 1
    assert f"The comment was not posted: {program} failed: HTTP 403: Resource not accessible by <secret>." in ended.err
    assert "Set " in ended.err


@by_host
def test_a_run_without_a_report_replaces_the_comment_as_well(tmp_path, folder, program, job, make, log):
    host = make_host(tmp_path / "bin", program)
    host.put(make(PLAN))
    (folder / "report.md").unlink()
    ended = comment(folder, host, job)
    assert (ended.code, ended.err) == (0, "report.md does not exist: the run ended without a report.\n")
    assert text_of(host.comments[0]).startswith(f"{MARK}\n### gitsync wrote no report\n")


def test_the_same_report_is_not_sent_again(tmp_path, folder):
    host = make_host(tmp_path / "bin", "gh")
    for _ in range(2):
        comment(folder, host, GITHUB)
    assert [call.arguments[:2] for call in host.calls] == [["pr", "view"], ["pr", "comment"], ["pr", "view"]]


def test_azure_repos_threads_are_closed_and_deleted_ones_skipped(tmp_path, folder):
    host = make_host(tmp_path / "bin", "az")
    host.put({"id": 3, "isDeleted": True, **on_azure(PLAN)}, {"id": 4, "comments": []})
    assert comment(folder, host, AZURE).out == "Posted the comment.\n"
    assert host.comments[-1]["status"] == "closed"
    assert host.calls[-1].arguments[9:12] == ["project=The estate", "repositoryId=0a1b", "pullRequestId=12"]


@pytest.mark.parametrize(
    ("ref", "number", "why"),
    [
        (GITHUB["GITHUB_REF"], "12", "the ref of the event names it"),
        ("refs/heads/main", "34", "a closed pull request is in the event alone"),
    ],
)
def test_which_pull_request_it_is(tmp_path, ref, number, why):
    assert open_host(make_job(tmp_path, ref), HostUse.COMMENT).find_number() == number, why


def test_a_flag_names_the_pull_request_for_any_other_event(tmp_path, folder):
    host = make_host(tmp_path / "bin", "gh")
    assert comment(folder, host, make_job(tmp_path, "refs/heads/main"), "--number=56").code == 0
    assert host.calls[0].arguments[2] == "56"


def make_job(folder, ref):
    """The variables of a job whose event is about a pull request."""
    event = folder / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 34}}))
    return {**GITHUB, "GITHUB_EVENT_PATH": str(event), "GITHUB_REF": ref}


def test_an_enterprise_server_gets_its_own_variable(tmp_path, folder):
    host = make_host(tmp_path / "bin", "gh")
    assert comment(folder, host, {**GITHUB, "GITHUB_SERVER_URL": "https://ghe.example.com"}).code == 0
    assert host.calls[0].environment["GH_ENTERPRISE_TOKEN"] == TOKEN
    assert host.calls[0].arguments[4] == "ghe.example.com/acme/estate"


@pytest.mark.parametrize(
    ("job", "arguments", "message"),
    [
        ({}, [], "Not running in GitHub Actions, GitLab CI or Azure Pipelines"),
        ({**GITHUB, "GITHUB_REF": "refs/heads/main"}, [], "This job is not for a pull request."),
        ({**GITHUB, "GITHUB_REPOSITORY": ""}, [], "GITHUB_REPOSITORY is not set"),
        ({**GITLAB, "CI_MERGE_REQUEST_IID": ""}, [], "This job is not for a merge request."),
        ({**AZURE, "SYSTEM_PULLREQUEST_PULLREQUESTID": ""}, [], "This run is not for a pull request in Azure Repos."),
        (GITHUB, ["--number", "1/../2"], "--number '1/../2' is not the number of a pull request."),
        (GITHUB, ["--name", "a --> b"], "'a --> b' is not a valid name of a target."),
    ],
)
def test_what_is_refused(tmp_path, folder, job, arguments, message):
    host = make_host(tmp_path / "bin", "gh", "glab", "az")
    ended = comment(folder, host, job, *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert host.calls == []


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is empty"), (b"\xff", "it is not UTF-8"), (b"x" * 65_001, "65,001 characters")],
)
def test_a_file_that_is_not_a_report_is_refused(tmp_path, folder, content, message):
    host = make_host(tmp_path / "bin", "gh")
    (folder / "report.md").write_bytes(content)
    ended = comment(folder, host, GITHUB)
    assert ended.code == 2
    assert message in ended.err


def test_an_answer_of_another_form_is_an_error(tmp_path, folder):
    host = make_host(tmp_path / "bin", "gh")
    host.put({"number": 1})
    ended = comment(folder, host, GITHUB)
    assert ended.code == 1
    assert "gh returned an unexpected response" in ended.err


def test_a_program_that_is_missing_is_named(tmp_path, folder):
    ended = comment(folder, make_host(tmp_path / "bin"), {**GITLAB, "PATH": ""})
    assert ended.code == 1
    assert "glab cannot be started" in ended.err
    assert "Install glab" in ended.err
