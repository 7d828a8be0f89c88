"""`accept --branch`: a commit beside the working tree, on a branch that holds nothing of somebody else."""

import re
import shutil
from dataclasses import replace

import pytest

from gitsync.errors import ConfigError
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.repository.git.state.store_choice import open_own_repository
from gitsync.workflows.accept.publish import (
    CommittedFiles,
    PublishedAs,
    check_branch_name,
    commit_branch,
    find_author,
    make_change,
    open_branches,
    open_repository,
)
from tests.support.branch_files import read_branch_files
from tests.workflows.accept.drifts import AFTER, BEFORE, SHOP, WEB, Repository, accepted, drifted, make_repository


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def repository(home):
    return make_repository(home)


@pytest.fixture(scope="module")
def folder_with_a_branch(tmp_path_factory):
    folder = tmp_path_factory.mktemp("committed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        commit(make_repository(folder))
    return folder


@pytest.fixture
def committed(home, folder_with_a_branch):
    """A repository whose branch `accept-drift` has the drift of the shop."""
    shutil.copytree(folder_with_a_branch, home, dirs_exist_ok=True)
    config = home / "work" / ".git" / "config"
    config.write_text(config.read_text().replace(str(folder_with_a_branch), str(home)))
    return Repository(home / "work", home / "remote.git")


def commit(repository, what=None, branch="accept-drift", environment=None):
    return commit_branch(what or accepted(), branch, repository.publication(environment))


def test_the_texts_are_committed_beside_the_working_tree(repository):
    before, head = repository.snapshot(), repository.git("rev-parse", "HEAD")
    refs = set(repository.git("for-each-ref", "--format=%(refname)").split())
    done = commit(repository)
    assert done.action is PublishedAs.COMMITTED
    tip = repository.git("rev-parse", "accept-drift")
    assert done.sentence == f"Committed to the new branch accept-drift: 1 file ({tip[:12]})."
    assert repository.snapshot() == before
    assert repository.git("rev-parse", "accept-drift^") == head
    assert repository.git("diff", "--name-only", "main", "accept-drift") == SHOP
    assert read_branch_files(repository.folder / ".git", "accept-drift")[SHOP].decode() == AFTER
    assert (
        repository.git("log", "-1", "--format=%an <%ae> %cn", "accept-drift")
        == "Somebody <somebody@example.com> Somebody"
    )
    message = repository.git("log", "-1", "--format=%B", "accept-drift")
    assert message.startswith(
        "Accept drift of StorageAccount/shop\n\nThe manifests now have Azure's values:\n\n- StorageAccount/shop: 1 field\n"
    )
    assert "rob" not in message
    assert set(repository.git("for-each-ref", "--format=%(refname)").split()) == refs | {"refs/heads/accept-drift"}


def test_a_second_time_changes_nothing_and_other_drift_moves_the_branch(committed):
    tip = committed.git("rev-parse", "accept-drift")
    again = commit(committed)
    assert (again.action, committed.git("rev-parse", "accept-drift")) == (PublishedAs.UNCHANGED, tip)
    assert again.sentence == f"The branch accept-drift already has this change ({tip[:12]})."
    committed.commit("azure/more.yaml", "n: 1\n")
    moved = commit(committed, accepted(drifted("web")))
    assert moved.action is PublishedAs.COMMITTED
    assert moved.sentence.startswith("Moved the branch accept-drift: 1 file (")
    assert committed.git("rev-parse", "accept-drift^") == committed.git("rev-parse", "main")
    assert committed.git("diff", "--name-only", "main", "accept-drift") == WEB


def test_a_removed_document_removes_its_file_and_modes_stay(repository):
    (repository.folder / SHOP).chmod(0o755)
    repository.commit('azure/a "quoted" näme.yaml', BEFORE)
    texts = {WEB: None, SHOP: AFTER, 'azure/a "quoted" näme.yaml': AFTER}
    commit(repository, accepted(drifted("web", is_gone=True, fields=()), drifted(), texts=texts))
    raw = repository.git("-c", "core.quotePath=false", "diff", "--raw", "-z", "--no-abbrev", "main", "accept-drift")
    changes = [tuple(facts.split()[:2]) for facts in raw.split("\0")[::2] if facts]
    assert changes == [(":100644", "100644"), (":100755", "100755"), (":100644", "000000")]
    assert "- StorageAccount/web: deleted in Azure" in repository.git("log", "-1", "--format=%B", "accept-drift")


def put_a_commit_on_top(repository):
    repository.commit("azure/more.yaml", "n: 1\n")


def put_an_empty_commit_on_top(repository):
    repository.git("commit", "--quiet", "--allow-empty", "--message", "Look at this")


def amend_the_tree(repository):
    (repository.folder / SHOP).write_text("n: 2\n")
    repository.git("commit", "--quiet", "--all", "--amend", "--no-edit")


@pytest.mark.parametrize("by_somebody", [put_a_commit_on_top, put_an_empty_commit_on_top, amend_the_tree])
def test_a_commit_of_somebody_stays(committed, by_somebody):
    committed.git("checkout", "--quiet", "accept-drift")
    by_somebody(committed)
    committed.git("checkout", "--quiet", "main")
    tip = committed.git("rev-parse", "accept-drift")
    for what in (accepted(), accepted(drifted("web"))):
        with pytest.raises(ConfigError, match="has commits that gitsync accept did not make"):
            commit(committed, what)
        assert committed.git("rev-parse", "accept-drift") == tip


BY_SOMEBODY = [
    (r"^parent .*", "parent {own}", "its message is repeated on top of it"),
    (r"^tree .*", "tree {tree}", "other files"),
    ("^The manifests now have", "We agreed that the manifests now have", "other words"),
    ("^Accept drift of", "Keep drift of", "another title"),
    (r"\Z", "\n\nReviewed-by: Ana <ana@example.com>", "words at the end"),
    ("^author .*>", "author Ana <ana@example.com>", "another author"),
    ("^committer .*>", "committer Ana <ana@example.com>", "another committer"),
    (r"^(committer .*>) \d+", r"\1 1", "amended by its own author, at another time"),
    (r"^parent .*", "parent {empty}", "an empty commit below it"),
    (r"^(parent .*)", r"\1\nparent {empty}", "a merge"),
    (r"^parent .*\n", "", "without a parent"),
]
"""What somebody replaces in a commit of gitsync, letter by letter the same elsewhere: a pattern, and what is there then."""


def test_whatever_somebody_made_of_our_commit_is_theirs(committed):
    own, publication = committed.git("rev-parse", "accept-drift"), committed.publication()
    content = committed.git("cat-file", "commit", own)
    others = {
        "own": own,
        "tree": committed.git("rev-parse", "main^{tree}"),
        "empty": committed.git("commit-tree", "main^{tree}", "-p", "main", "-m", "Look at this"),
    }
    with (
        open_repository(publication) as (tree, head),
        open_branches(open_own_repository(tree), head, publication) as branches,
    ):
        assert branches.read_own(committed.write_commit(f"{content}\n")) is not None, "the same, letter by letter"
        for pattern, by, why in BY_SOMEBODY:
            changed = re.sub(pattern, by.format_map(others), content, count=1, flags=re.MULTILINE)
            assert changed != content, why
            assert branches.read_own(committed.write_commit(f"{changed}\n")) is None, why


def test_a_commit_of_somebody_below_ours_stays(repository):
    repository.git("checkout", "--quiet", "-b", "feature")
    put_an_empty_commit_on_top(repository)
    commit(repository)
    tip = repository.git("rev-parse", "accept-drift")
    repository.git("checkout", "--quiet", "main")
    with pytest.raises(ConfigError, match="has commits that gitsync accept did not make"):
        commit(repository)
    assert repository.git("rev-parse", "accept-drift") == tip
    repository.git("checkout", "--quiet", "feature")
    assert commit(repository, accepted(drifted("web"))).action is PublishedAs.COMMITTED


def test_the_branch_is_ours_however_far_its_base_has_moved(committed):
    for number in range(3):
        committed.commit("azure/more.yaml", f"n: {number}\n")
    assert commit(committed).action is PublishedAs.UNCHANGED
    assert commit(committed, accepted(drifted("web"))).action is PublishedAs.COMMITTED


def test_a_branch_without_commits_of_its_own_is_moved(repository):
    repository.git("branch", "accept-drift")
    repository.commit("azure/more.yaml", "n: 1\n")
    assert commit(repository).action is PublishedAs.COMMITTED


def test_the_author_is_that_of_the_status_branch(repository):
    commit(repository, environment={"GIT_AUTHOR_NAME": "Drift bot", "GIT_AUTHOR_EMAIL": "bot@example.com"})
    assert repository.git("log", "-1", "--format=%an <%ae>", "accept-drift") == "Drift bot <bot@example.com>"


@pytest.mark.parametrize(
    ("name", "address", "expected", "why"),
    [
        ("Ana Ruiz", "ana@example.com", "Ana Ruiz <ana@example.com>", "the person in user.name and user.email"),
        ("Ana <x>", "<ana@example.com>", "Ana x <ana@example.com>", "without what a commit cannot have"),
        ("", "ana@example.com", "gitsync <gitsync@localhost>", "half a person is none"),
        ("<>", "ana@example.com", "gitsync <gitsync@localhost>", "nor is a name of nothing"),
    ],
)
def test_the_author_is_the_person_of_the_git_settings(repository, name, address, expected, why):
    repository.set_person(name, address)
    assert str(find_author(repository.publication())) == expected, why


def test_a_branch_is_committed_by_its_author(repository):
    repository.set_person("Ana <x>", "<ana@example.com>")
    first, expected = commit(repository), "Ana x <ana@example.com>"
    assert repository.git("log", "-1", "--format=%an <%ae>%n%cn <%ce>", "accept-drift") == f"{expected}\n{expected}"
    assert first.action is PublishedAs.COMMITTED
    assert commit(repository).action is PublishedAs.UNCHANGED, "it is still known as a branch that accept made"


@pytest.mark.parametrize("branch", ["main", "Main", "-x", "gitsync/status"])
def test_nothing_is_written_to_a_branch_that_is_refused(repository, branch):
    """What is checked out, also in other letters, and names that never fit."""
    before = repository.git("for-each-ref"), repository.snapshot()
    with pytest.raises(ConfigError):
        commit(repository, branch=branch)
    assert (repository.git("for-each-ref"), repository.snapshot()) == before


def edit_the_file(repository):
    (repository.folder / SHOP).write_text("n: 3\n")


def remove_the_file(repository):
    (repository.folder / SHOP).unlink()


def make_it_a_link(repository):
    (repository.folder / SHOP).unlink()
    (repository.folder / SHOP).symlink_to("web.yaml")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "Link")


@pytest.mark.parametrize("change", [edit_the_file, remove_the_file, make_it_a_link])
def test_what_is_not_committed_does_not_go_along(repository, change):
    change(repository)
    with pytest.raises(ConfigError, match=f"{SHOP} has uncommitted changes."):
        commit(repository)
    assert "accept-drift" not in repository.git("branch", "--list")


def test_other_changes_do_not_stop_it(repository):
    (repository.folder / WEB).write_text("n: 3\n")
    (repository.folder / "azure" / "new.yaml").write_text("n: 4\n")
    assert commit(repository).action is PublishedAs.COMMITTED
    assert repository.git("diff", "--name-only", "main", "accept-drift") == SHOP


def test_git_keeps_its_line_ends(repository):
    (repository.folder / SHOP).write_text(BEFORE.replace("\n", "\r\n"), newline="")
    commit(repository, accepted(texts={SHOP: AFTER.replace("\n", "\r\n")}))
    assert repository.git("diff", "--stat", "main", "accept-drift").endswith("1 insertion(+), 1 deletion(-)")


NAMES_WITH_A_MEANING = ["[skip ci]", "x\nGitsync-Accept: 0", "Fixes #12", "@everyone", "x" * 300 + " y"]


def name_resource(name):
    key = Key("storage.azure.com", "StorageAccount", "default", name)
    return drifted(key=key, arm_id=ArmId(f"/subscriptions/{name}"))


@pytest.mark.parametrize("name", NAMES_WITH_A_MEANING)
def test_a_name_that_means_something_stays_out_of_the_message(name):
    files = CommittedFiles(texts={SHOP: AFTER.encode()}, executable=frozenset())
    change = make_change(accepted(name_resource(name)), files)
    assert change.message.startswith("Accept drift of 1 resource\n")
    assert name not in "\n".join((change.message, *change.field_names))


def test_a_commit_with_names_that_mean_something_is_still_ours(repository):
    resources = accepted(*map(name_resource, NAMES_WITH_A_MEANING))
    commit(repository, resources)
    message = repository.git("log", "-1", "--format=%B", "accept-drift")
    assert not [name for name in NAMES_WITH_A_MEANING if name in message]
    assert commit(repository, resources).action is PublishedAs.UNCHANGED


def test_a_folder_without_git_is_refused(tmp_path, repository):
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(ConfigError, match="is not in a git repository"):
        commit_branch(accepted(), "x", replace(repository.publication(), folder=plain))


@pytest.mark.parametrize(
    ("branch", "why"),
    [
        ("HEAD", "git's own name for what is checked out"),
        ("head", "the same where names of files have no case"),
        ("FETCH_HEAD", "another of git's"),
        ("gitsync/status", "the usual status branch"),
        ("Gitsync/Status", "in other letters"),
        ("gitsync/status-shards/7/1", "of a worker"),
        ("gitsync/status-heartbeat/gitsync", "of a heartbeat"),
        ("gitsync/runs/7", "the pin of a run"),
        ("gitsync/accept/7", "of a pull request"),
        ("gitsync", "no other branch of ours could be written"),
        ("state/prod", "the status branch of the settings"),
        ("state/prod-shards/7/1", "a worker's beside it"),
        ("state/prod-heartbeat/a", "a heartbeat beside it"),
        ("state/prod/x", "git cannot have a branch inside of another"),
        ("state", "nor one around it"),
        ("release", "what the manifests are read from"),
        ("refs/heads/x", "a name that is not short"),
        ("-x", "no name of a branch"),
        ("a..b", "nor this"),
        ("a b", "nor this"),
        ("", "nor nothing"),
    ],
)
def test_a_name_that_is_refused(branch, why):
    with pytest.raises(ConfigError, match=r"^--branch ") as raised:
        check_branch_name(branch, "state/prod", "release")
    assert branch in raised.value.message, why


@pytest.mark.parametrize(
    "branch", ["accept-drift", "ahead", "headway", "drift/head", "gitsync-drift", "state/production"]
)
def test_other_names_are_taken(branch):
    check_branch_name(branch, "state/prod", "release")


def test_the_branches_of_the_settings_are_refused(repository):
    before = repository.git("for-each-ref"), repository.snapshot()
    publication = replace(repository.publication(), status_branch="state/prod", ref="release")
    for branch in ("state/prod", "release"):
        with pytest.raises(ConfigError):
            commit_branch(accepted(), branch, publication)
    assert (repository.git("for-each-ref"), repository.snapshot()) == before
    assert commit_branch(accepted(), "state/production", publication).action is PublishedAs.COMMITTED


def test_the_branch_that_a_detached_commit_is_from_stays(repository):
    repository.git("checkout", "--quiet", "--detach")
    tip = repository.git("rev-parse", "main")
    with pytest.raises(ConfigError, match="has commits that gitsync accept did not make"):
        commit(repository, branch="main")
    assert repository.git("rev-parse", "main") == tip


def test_a_branch_of_the_remote_is_not_begun_here(repository):
    repository.git("update-ref", "refs/remotes/origin/release", "HEAD")
    with pytest.raises(ConfigError, match="A remote has a branch release"):
        commit(repository, branch="release")
    assert "release" not in repository.git("branch", "--list")


def test_a_branch_that_accept_pushed_is_moved(committed):
    committed.git("update-ref", "refs/remotes/origin/accept-drift", "accept-drift")
    assert commit(committed, accepted(drifted("web"))).action is PublishedAs.COMMITTED
