"""`accept --pull-request`: one request for the same drift, and what a person did to it stays."""

import json
import shutil
from dataclasses import replace
from functools import cache

import pytest

from gitsync.errors import ConfigError, PublishError
from gitsync.model.arm_id import ArmId
from gitsync.model.attribution import Attribution, AuthorKind, Who
from gitsync.model.edit import REMOVED
from gitsync.model.gvk import Key
from gitsync.model.secret import Secret
from gitsync.model.verdict import Verdict
from gitsync.report.hosts.host import HostUse
from gitsync.report.hosts.opening import open_host
from gitsync.workflows.accept.drift import DriftedField, NotAccepted
from gitsync.workflows.accept.publish import PublishedAs, quote_field
from gitsync.workflows.accept.pull_requests import Examined, group_drift, list_examined, publish_pull_requests
from tests.pipelines.host_programs import AZURE, GITHUB, GITLAB, TOKEN, Host, make_host
from tests.report.report_builders import report
from tests.support.branch_files import read_branch_files
from tests.support.builders import group_id, result, rg
from tests.support.git_repositories import commit_all
from tests.support.git_server import basic, serve
from tests.workflows.accept.drifts import (
    AFTER,
    BEFORE,
    ROB,
    SHOP,
    WEB,
    Repository,
    accepted,
    drifted,
    make_repository,
)

ANA = replace(ROB, name="ana@contoso.com", correlation_id="99999999-2222-3333-4444-555555555555")
HOSTS = {"gh": GITHUB, "glab": GITLAB, "az": AZURE}
SHOP_ID, WEB_ID = drifted().arm_id, drifted("web").arm_id


class Run:
    """A repository and its host, and one run of accept after another."""

    def __init__(self, program, repository, host):
        self.repository, self.host = repository, host
        self.job = {**HOSTS[program], "PATH": self.host.path}

    def publish(self, *groups, examined=(SHOP_ID, WEB_ID), who=Who.AUTO):
        publication = self.repository.publication(self.job, who)
        return list(publish_pull_requests(groups, Examined(frozenset(map(quote_field, examined))), publication))

    def take(self, number, state):
        """What a person does on the page."""
        requests = self.host.requests
        next(request for request in requests if request["number"] == number)["state"] = state
        self.host.put_requests(*requests)

    @property
    def branches(self):
        return {name: tip for name, tip in self.repository.list_branches().items() if name != "main"}


@pytest.fixture(scope="module", autouse=True)
def _home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


def make_run(folder, program):
    return Run(program, make_repository(folder), make_host(folder / "bin", program))


@pytest.fixture(params=HOSTS)
def run(tmp_path, request):
    return make_run(tmp_path, request.param)


@pytest.fixture
def on_github(tmp_path):
    return make_run(tmp_path, "gh")


@pytest.fixture(scope="module")
def open_one(tmp_path_factory):
    """Makes a run on a host after one that has opened a request for the drift of the shop, and gives what that one did.
    The first is done once for each host.
    """

    @cache
    def prepare(program):
        folder = tmp_path_factory.mktemp(program)
        (opened,) = make_run(folder, program).publish(accepted())
        return folder, opened

    def copy(folder, program):
        prepared, opened = prepare(program)
        shutil.copytree(prepared, folder, dirs_exist_ok=True)
        for file in (folder / "work" / ".git" / "config", folder / "bin" / program):
            file.write_text(file.read_text().replace(str(prepared), str(folder)))
        return Run(program, Repository(folder / "work", folder / "remote.git"), Host(folder / "bin")), opened

    return copy


@pytest.fixture
def opened(tmp_path, open_one):
    return open_one(tmp_path, "gh")


@pytest.fixture(params=HOSTS)
def opened_anywhere(tmp_path, open_one, request):
    return open_one(tmp_path, request.param)


def test_a_request_from_the_drift_to_its_end(opened_anywhere):
    run, opened = opened_anywhere
    before, main = run.repository.snapshot(), run.repository.list_branches()["main"]
    (request,) = run.host.requests
    assert opened.action is PublishedAs.OPENED
    assert opened.sentence == f"Opened: Accept drift of StorageAccount/shop: {opened.url}"
    assert opened.url.endswith(f"/{request['number']}")
    assert (request["base"], request["title"]) == ("main", "Accept drift of StorageAccount/shop")
    assert request["branch"] == opened.branch
    tips = run.branches
    assert read_branch_files(run.repository.remote, opened.branch)[SHOP].decode() == AFTER
    for part in ("<code>StorageAccount/shop</code> | <code>spec.sku</code>", "Premium&#95;LRS", "azure/shop.yaml:2"):
        assert part in request["body"]
    assert "Changed by a person with <code>Azure Portal</code>, 2026-11-23 22:41 UTC" in request["body"]
    assert ROB.correlation_id in request["body"]
    assert "rob" not in request["body"]
    assert "987)" in request["body"]  # the log of the job

    calls = len(run.host.calls)
    run.job["GITHUB_RUN_ID"] = run.job["BUILD_BUILDID"] = "988"
    (again,) = run.publish(accepted())
    assert (again.action, run.branches, run.host.requests) == (PublishedAs.UNCHANGED, tips, [request])
    verbs = {"POST", "PATCH", "PUT", "create", "update"}
    assert not [call for call in run.host.calls[calls:] if verbs.intersection(call.arguments)]

    (changed,) = run.publish(accepted(drifted(new="Premium_ZRS"), texts={SHOP: BEFORE.replace("Standard", "Z")}))
    assert (changed.action, changed.branch, changed.url) == (PublishedAs.UPDATED, opened.branch, opened.url)
    assert "Premium&#95;ZRS" in run.host.requests[0]["body"]
    (tip,) = run.branches.values()
    assert run.repository.git("rev-parse", f"{tip}^", location=run.repository.remote) == main

    (closed,) = run.publish()
    assert (closed.action, closed.url) == (PublishedAs.CLOSED, opened.url)
    assert (run.host.requests[0]["state"], run.branches) == ("closed", {})
    assert "shows no difference in these fields any more." in json.dumps(run.host.comments)
    assert run.repository.snapshot() == before


def test_drift_that_comes_back_gets_a_new_request(opened):
    run, _ = opened
    run.publish()
    assert run.publish() == []
    assert run.publish(accepted())[0].action is PublishedAs.OPENED
    assert [request["state"] for request in run.host.requests] == ["closed", "open"]


def test_what_a_person_closed_stays_closed_for_the_same_values(opened):
    run, published = opened
    run.take(100, "closed")
    tips = run.branches
    (left,) = run.publish(accepted())
    assert (left.action, run.branches) == (PublishedAs.LEFT, tips)
    assert left.sentence == f"A pull request with the same values was closed, so no new one is opened: {published.url}"
    run.repository.git("update-ref", "-d", f"refs/heads/{published.branch}", location=run.repository.remote)
    assert run.publish(accepted())[0].action is PublishedAs.LEFT
    assert run.branches == {}
    (other,) = run.publish(accepted(drifted(new="Premium_ZRS"), texts={SHOP: "n: 2\n"}))
    assert (other.action, [request["state"] for request in run.host.requests]) == (
        PublishedAs.OPENED,
        ["closed", "open"],
    )


def test_a_merged_request_leaves_a_branch_to_delete_and_is_not_an_answer_to_new_drift(opened_anywhere):
    run, _ = opened_anywhere
    run.take(100, "merged")
    (closed,) = run.publish()
    assert closed.sentence == f"Deleted the branch {closed.branch}: its drift is gone."
    assert (run.branches, run.host.comments) == ({}, [])
    assert run.publish(accepted())[0].action is PublishedAs.OPENED


@pytest.mark.parametrize("amends", [False, True])
def test_a_commit_of_somebody_stays(opened, amends):
    """test_publish.py has all that somebody can make of a commit of gitsync."""
    run, published = opened
    run.repository.git("fetch", "--quiet", "origin", published.branch)
    run.repository.git("checkout", "--quiet", "FETCH_HEAD")
    (run.repository.folder / WEB).write_text("n: 2\n")
    commit = ("commit", "--quiet", "--all", *(("--amend", "--no-edit") if amends else ("--message", "More")))
    run.repository.git(*commit)
    run.repository.git("push", "--quiet", "--force", "origin", f"HEAD:refs/heads/{published.branch}")
    run.repository.git("checkout", "--quiet", "main")
    tips, requests = run.branches, run.host.requests
    (left,) = run.publish(accepted(drifted(new="Premium_ZRS"), texts={SHOP: "n: 2\n"}))
    assert left.action is PublishedAs.LEFT
    assert left.sentence == (
        f"The branch {published.branch} has commits by somebody else, so it was not changed: {published.url}"
    )
    assert run.publish() == []
    assert (run.branches, run.host.requests) == (tips, requests)


def test_our_branch_stays_ours_when_its_target_moves_or_an_older_commit_is_read(opened):
    run, _ = opened
    first = run.repository.git("rev-parse", "HEAD")
    for ahead in (1, 60):
        for number in range(ahead):
            commit_all(run.repository.folder, f"Change {number}")
        run.repository.push_main()
        (updated,) = run.publish(accepted(drifted(new="Premium_ZRS"), texts={SHOP: f"n: {ahead}\n"}))
        assert updated.action is PublishedAs.UPDATED, f"its target has moved by {ahead}"
        run.repository.git("reset", "--quiet", "--hard", first)
        (updated,) = run.publish(accepted(drifted(new="Premium_LRS"), texts={SHOP: f"n: -{ahead}\n"}))
        assert updated.action is PublishedAs.UPDATED, f"it begins {ahead} commits after what is read"


def test_our_branch_stays_ours_when_its_target_has_older_clocks(opened):
    """No commit of the target is younger than the one that the branch begins at, so all of the history is fetched."""
    run, _ = opened
    for _ in range(2):
        tree, parent = run.repository.git("rev-parse", "HEAD^{tree}", "HEAD").split()
        person = "Ana <ana@example.com> 978307200 +0000"
        content = f"tree {tree}\nparent {parent}\nauthor {person}\ncommitter {person}\n\nChange\n"
        run.repository.git("update-ref", "HEAD", run.repository.write_commit(content))
    run.repository.push_main()
    (updated,) = run.publish(accepted(drifted(new="Premium_ZRS"), texts={SHOP: "n: 2\n"}))
    assert updated.action is PublishedAs.UPDATED


def test_only_drift_that_this_run_has_recorded_is_gone(opened):
    run, _ = opened
    tips = run.branches
    for examined in ((), (WEB_ID,)):
        assert run.publish(examined=examined) == []
    (other,) = run.publish(accepted(drifted("web")), examined=(WEB_ID,))
    assert run.branches == {**tips, other.branch: run.branches[other.branch]}
    (closed,) = run.publish(accepted(drifted("web")), examined=(ArmId(SHOP_ID.upper()), WEB_ID))[1:]
    assert (closed.action, set(run.branches)) == (PublishedAs.CLOSED, {other.branch})


def test_a_request_that_another_one_contains_names_it(opened):
    run, _ = opened
    wider, closed = run.publish(accepted(drifted(), drifted("web")))
    assert closed.action is PublishedAs.CLOSED
    assert wider.sentence.startswith("Opened: Accept drift of StorageAccount/shop and 1 other resource: ")
    assert run.host.comments[0]["body"] == f"This drift is part of {wider.url} now."


def test_a_new_commit_on_main_is_not_a_reason_to_push(opened):
    run, _ = opened
    tips = run.branches
    run.repository.commit("azure/more.yaml", "n: 1\n")
    run.repository.push_main()
    assert run.publish(accepted())[0].action is PublishedAs.UNCHANGED
    assert run.branches == tips


HOSTILE = [
    "| x | <img src=//evil> | [a](http://evil) @everyone #1 `</code>` <!-- gitsync",
    "line\n\n/merge\n::set-output name=x::y\x1b[2J\u202e",
    "x" * 100_000,
    {"nested": ["| <script>"] * 5000},
]


def test_hostile_text_stays_text(run):
    changes = [replace(ROB, client=text, name=text, correlation_id=text) for text in map(str, HOSTILE)]
    fields = [
        DriftedField(path=("spec", "tags", text), pointer=f"/tags/{text}", old=REMOVED, new=value, changed_by=change)
        for value in HOSTILE
        for change, text in zip(changes, map(str, HOSTILE), strict=True)
    ]
    resources = [
        drifted(
            key=Key("x", "Kind", "default", text), arm_id=ArmId(f"/subscriptions/{text[:50]}"), fields=tuple(fields)
        )
        for text in map(str, HOSTILE)
    ]
    before = run.repository.snapshot()
    (opened,) = run.publish(accepted(*resources, texts={SHOP: AFTER}), who=Who.NAMES)
    assert run.repository.snapshot() == before
    (request,) = run.host.requests
    body = request["body"]
    assert opened.action is PublishedAs.OPENED
    assert request["branch"].removeprefix("gitsync/accept/").isalnum()
    assert request["title"] == "Accept drift of 4 resources"
    assert body.count("<!--") == 1
    for line in body.splitlines():
        assert not line.startswith(("/", "::", "#", "@"))
        assert line.count("|") in {0, 6}
    for text in ("<img", "<script", "http://evil", "@everyone", "\x1b", "\u202e", "`</code>`"):
        assert text not in body
    assert ("left out to keep this short." in body) is ("TF_BUILD" in run.job), "Azure Repos takes 4000 characters"


def test_names_of_people_stand_only_where_they_are_wanted(on_github):
    run = on_github
    (opened,) = run.publish(accepted(), who=Who.NAMES)
    (request,) = run.host.requests
    assert "Changed by <code>rob&#64;contoso.com</code>" in request["body"]
    commit = run.repository.git("log", "-1", "--format=%B%an%cn%ae", opened.branch, location=run.repository.remote)
    assert "rob" not in commit + request["title"] + request["branch"] + opened.sentence


def test_a_deleted_resource_and_an_unknown_author(on_github):
    run = on_github
    gone = drifted("web", is_gone=True, fields=(), changed_by=(Attribution(doubt="Azure may not be asked."),))
    run.publish(accepted(gone, texts={WEB: None}))
    (request,) = run.host.requests
    assert "| <code>StorageAccount/web</code> | the whole resource | declared | deleted |" in request["body"]
    assert "Who changed this is not known." in request["body"]


@pytest.mark.parametrize("program", HOSTS)
def test_a_refusal_reports_what_to_grant(tmp_path, program):
    run = make_run(tmp_path, program)
    run.host.refuse("HTTP 403: Resource not accessible by integration\n")
    with pytest.raises(PublishError) as raised:
        run.publish(accepted())
    assert raised.value.message == (
        f"The pull request was not written: {program} failed: HTTP 403: Resource not accessible by integration."
    )
    assert raised.value.hint.startswith("Set G" if program != "az" else "Set AZURE_DEVOPS_EXT_PAT")
    assert run.branches == {}


def test_a_token_that_may_only_read(on_github):
    """As that of a fork's pull request."""
    run, token = on_github, "t0ken-that-may-read"
    reader = basic("x-access-token", token)
    with serve(run.repository.remote.parent, readers=(reader,)) as (url, _):
        run.repository.git("remote", "set-url", "origin", f"{url}/remote.git")
        publication = run.repository.publication(run.job)
        publication = replace(publication, access=replace(publication.access, token=Secret(token)))
        with pytest.raises(PublishError) as raised:
            list(publish_pull_requests([accepted()], Examined(), publication))
    assert "rejected the branch gitsync/accept/" in raised.value.message
    assert "returned error: 403" in raised.value.message
    assert token not in raised.value.message
    assert raised.value.hint == "Grant the token read access to the contents, and write access to push."
    assert (run.branches, run.host.requests) == ({}, [])


def test_a_remote_that_refuses_the_push(on_github):
    run = on_github
    hook = run.repository.remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho denied by policy >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(PublishError, match=r"rejected the branch gitsync/accept/.*denied by policy"):
        run.publish(accepted())
    assert run.host.requests == []


def detach(run):
    run.repository.git("checkout", "--quiet", "--detach")


MERGE = "refs/pull/12/merge"
BASES = [
    ("gh", {"GITHUB_REF": "refs/heads/release"}, "release", "GitHub: the branch of the job"),
    ("gh", {"GITHUB_REF": MERGE, "GITHUB_BASE_REF": "release"}, "release", "GitHub: the target of a pull request"),
    ("gh", {"GITHUB_REF": MERGE, "GITHUB_REF_TYPE": "branch", "GITHUB_REF_NAME": "12/merge"}, "",
     "GitHub: an event that names no target"),
    ("gh", {"GITHUB_REF": "refs/tags/release"}, "", "GitHub: a tag"),
    ("glab", {"CI_COMMIT_BRANCH": "release"}, "release", "GitLab: the branch of the job"),
    ("glab", {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "release"}, "release", "GitLab: the target of a merge request"),
    ("glab", {"CI_COMMIT_TAG": "release"}, "", "GitLab: a tag"),
    ("az", {"BUILD_SOURCEBRANCH": "refs/heads/release"}, "release", "Azure: the branch of the job"),
    ("az", {"BUILD_SOURCEBRANCH": MERGE, "SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/release"}, "release",
     "Azure: the target of a pull request"),
    ("az", {"BUILD_SOURCEBRANCH": "refs/tags/release"}, "", "Azure: a tag"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "job", "base", "why"), BASES, ids=[row[-1] for row in BASES])
def test_which_branch_a_job_runs_for(program, job, base, why):
    assert open_host({**HOSTS[program], **job}, HostUse.PULL_REQUEST).base == base, why


@pytest.mark.parametrize(("ref", "base"), [("refs/heads/release", "release"), ("refs/tags/release", "main")])
def test_a_detached_checkout_is_merged_to_the_branch_of_the_job_or_to_that_of_the_remote(on_github, ref, base):
    on_github.repository.git("push", "--quiet", "origin", "main:release")
    detach(on_github)
    on_github.job |= {"GITHUB_REF": ref}
    on_github.publish(accepted())
    assert on_github.host.requests[0]["base"] == base


@pytest.mark.parametrize("behind", [0, 1], ids=["at the branch", "behind the branch"])
def test_what_a_pull_request_would_merge_does_not_go_along(on_github, behind):
    """The job of a pull request checks out the commit that merging it makes, which its host has under another ref."""
    run = on_github
    base = run.repository.git("rev-parse", "HEAD")
    for number in range(behind):
        commit_all(run.repository.folder, f"Change {number}")
        run.repository.push_main()
    run.repository.git("checkout", "--quiet", "--detach", base)
    run.repository.commit("azure/more.yaml", "n: 1\n")
    run.repository.git("push", "--quiet", "origin", f"HEAD:{MERGE}")
    merge, name = run.repository.git("rev-parse", "HEAD"), run.repository.git("remote", "get-url", "origin")
    with pytest.raises(ConfigError) as refused:
        run.publish(accepted())
    assert refused.value.message == (
        f"The commit {merge[:12]}, which is checked out, is not part of the branch main of {name}: a pull request "
        "would have more changes than the drift."
    )
    assert refused.value.hint == "Check out the branch main, and run it again."
    assert (run.branches, run.host.requests) == ({}, [])


def commit_without_a_push(run):
    run.repository.commit("azure/more.yaml", "n: 1\n")


def check_an_unknown_branch_out(run):
    run.repository.git("checkout", "--quiet", "-b", "mine")


def remove_the_remote(run):
    run.repository.git("remote", "remove", "origin")


def leave_the_pipeline(run):
    run.job.pop("GITHUB_ACTIONS")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (commit_without_a_push, "does not have the commit"),
        (check_an_unknown_branch_out, "has no branch mine"),
        (remove_the_remote, "has no remote"),
        (leave_the_pipeline, "Not running in GitHub Actions, GitLab CI or Azure Pipelines"),
    ],
)
def test_what_is_refused_before_anything_is_written(on_github, change, message):
    change(on_github)
    with pytest.raises(ConfigError, match=message):
        on_github.publish(accepted())
    assert (on_github.branches, on_github.host.requests) == ({}, [])


def test_a_fork_of_the_same_branch_is_not_ours(opened_anywhere):
    run, opened = opened_anywhere
    forged = {**run.host.requests[0], "number": 90, "repository": "mallory/estate"}
    run.host.put_requests(forged)
    (again,) = run.publish(accepted())
    assert again.action is PublishedAs.OPENED
    assert run.host.requests[0] == forged
    assert again.branch == opened.branch


def test_tokens_reach_only_the_program(opened):
    run, _ = opened
    assert run.host.calls
    for call in run.host.calls:
        assert TOKEN not in " ".join(call.arguments) + call.stdin
        assert TOKEN in call.environment.values()


def field_by(change, pointer="/sku/name"):
    return DriftedField(path=("spec", "sku"), pointer=pointer, old=1, new=2, changed_by=change)


UNKNOWN = Attribution(doubt="Azure has nothing yet.")


@pytest.mark.parametrize(
    ("resources", "groups", "why"),
    [
        ([drifted(), drifted("web")], [["shop", "web"]], "one write of one person"),
        (
            [drifted(), drifted("web", fields=(field_by(ANA),), changed_by=(ANA,))],
            [["web"], ["shop"]],
            "two persons",
        ),
        (
            [drifted(), drifted("web", fields=(field_by(replace(ROB, correlation_id="2")),))],
            [["shop"], ["web"]],
            "two writes of one person",
        ),
        (
            [drifted(fields=(field_by(ROB), field_by(ANA, "/tags/x")), changed_by=(ROB, ANA))],
            [["shop"], ["shop"]],
            "two persons on one resource",
        ),
        (
            [drifted(fields=(field_by(None),)), drifted("web", fields=(field_by(None),), changed_by=(UNKNOWN,))],
            [["web"], ["shop"]],
            "the only author of a resource changed its fields",
        ),
        (
            [
                drifted(fields=(field_by(None),), changed_by=(UNKNOWN,)),
                drifted("web", fields=(field_by(Attribution(author=AuthorKind.UNKNOWN)),), changed_by=()),
            ],
            [["shop", "web"]],
            "what is known of no author is together",
        ),
        ([drifted(is_gone=True, fields=()), drifted("web")], [["shop", "web"]], "a delete has an author, too"),
    ],
)
def test_how_drift_is_grouped(resources, groups, why):
    assert [[resource.key.name for resource in group] for group in group_drift(resources)] == groups, why
    assert [[resource.key.name for resource in group] for group in group_drift(resources[::-1])] == groups, (
        "in any order"
    )
    names = [resource.key.name for resource in sorted(resources, key=lambda resource: resource.arm_id)]
    assert [[resource.key.name for resource in group] for group in group_drift(resources, together=True)] == [names]


WEAK = NotAccepted(key=rg(), field="spec.tags.env", reason="It weakens.")


@pytest.mark.parametrize(
    ("verdict", "more", "left", "known"),
    [
        (Verdict.IN_SYNC, {}, [], {"", "spec.tags", "spec.tags.env", "spec.location"}),
        (Verdict.PENDING, {}, [], {"", "spec.tags", "spec.tags.env", "spec.location"}),
        (Verdict.MISSING, {}, [], {"", "spec.tags", "spec.tags.env", "spec.location"}),
        (Verdict.DRIFTED, {}, [WEAK], {"", "spec.location"}),
        (Verdict.CONFLICT, {}, [replace(WEAK, field="")], set()),
        (Verdict.DRIFTED, {}, [replace(WEAK, key=rg("other"))], {"", "spec.tags", "spec.tags.env", "spec.location"}),
        (Verdict.UNKNOWN, {"is_fine": False}, [], set()),
        (Verdict.BLOCKED, {"is_fine": False}, [], set()),
        (Verdict.SKIP, {}, [], set()),
    ],
)
def test_which_fields_have_drift_in_a_plan(verdict, more, left, known):
    drifted = replace(result(rg(), verdict=verdict, **more), arm_id=group_id())
    without_id = result(rg("other"), verdict=verdict)
    examined = list_examined(report(drifted, without_id), left)
    fields = ("", "spec.tags", "spec.tags.env", "spec.location")
    assert {field for field in fields if examined.knows(quote_field(ArmId(group_id().upper()), field))} == known
    assert not examined.knows(quote_field(ArmId(f"{group_id()}2"), "spec.location"))
