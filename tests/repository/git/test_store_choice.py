"""Which location is chosen for the state, and which choices cannot be."""

from pathlib import Path

import pytest

from gitsync.errors import ConfigError, PublishError, StateError
from gitsync.model.record import Trust
from gitsync.model.secret import Secret
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.checkout import Checkout, open_checkout
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.repository.git.state.store_choice import open_store
from tests.repository.git.remembered import a_record, an_update
from tests.support.parts import build


def test_a_source_with_a_remote_has_the_branch_there(cloned, bare, clock):
    for location in (str(cloned.path), bare.url, str(cloned.path / "apps")):
        with open_checkout(location) as source, open_store(source, clock=clock) as store:
            assert store.name.startswith("branch gitsync/status of ")
            assert store.name.endswith(str(bare.path))


def test_a_folder_without_a_remote_has_a_folder_in_it(work, tmp_path: Path, clock):
    plain = tmp_path / "plain"
    plain.mkdir()
    for folder in (work.path, plain):
        with open_checkout(str(folder)) as source, open_store(source, clock=clock) as store:
            assert store.name == f"folder {folder}/.gitsync"


def test_a_folder_that_is_named_goes_before_the_remote(cloned, clock, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open_checkout(str(cloned.path)) as source, open_store(source, status_dir=Path("state"), clock=clock) as store:
        assert store.name == f"folder {tmp_path}/state"


def test_a_branch_that_is_named_is_pushed_to_the_remote(cloned, bare, clock):
    cloned.put("notes.txt", "not committed")
    before = (
        cloned.git("status", "--porcelain"),
        cloned.git("for-each-ref"),
        (cloned.path / ".git/index").read_bytes(),
    )
    with open_checkout(str(cloned.path)) as source, open_store(source, status_branch="state", clock=clock) as store:
        store.load()
        store.check_writable()
        assert store.save(an_update(a_record("one"), revision=source.revision))
    assert bare.git("log", "--format=%(trailers:key=Revision,valueonly)", "state") == cloned.git("rev-parse", "HEAD")
    after = (cloned.git("status", "--porcelain"), cloned.git("for-each-ref"), (cloned.path / ".git/index").read_bytes())
    assert after == before, "nothing of the work tree's own is touched"
    with open_checkout(bare.url) as source, open_store(source, status_branch="state", clock=clock) as store:
        assert [key.name for key in store.load().records] == ["one"]


ESTATE = "https://github.com/acme/estate"


@pytest.mark.parametrize(
    ("url", "trust", "why"),
    [
        (ESTATE, Trust.SIGNED, "the same address"),
        (f"{ESTATE}.git", Trust.SIGNED, "as git writes it too"),
        ("https://x-access-token:secret@github.com/acme/estate", Trust.SIGNED, "with the token of a job"),
        ("git@github.com:acme/estate.git", Trust.SIGNED, "over ssh"),
        ("ssh://git@github.com:22/acme/estate", Trust.SIGNED, "over ssh, with a port"),
        ("https://github.com/acme/other", Trust.OTHER_BRANCH, "another repository"),
        ("https://github.example.com/acme/estate", Trust.OTHER_BRANCH, "another host"),
        ("/srv/git/acme/estate", Trust.OTHER_BRANCH, "a repository on this machine"),
        (None, Trust.OTHER_BRANCH, "a source without a remote"),
    ],
)
def test_seals_belong_to_the_repository_however_it_is_reached(tmp_path: Path, clock, url, trust, why):
    def source(address):
        remote = open_remote(Url(address, "https"), GitAccess()) if address else None
        return build(Checkout, name="/somewhere", files={}, remote=remote)

    seals = RecordSeals("gitsync", Secret("k" * 32))
    with open_store(source(ESTATE), status_dir=tmp_path / "status", clock=clock, seals=seals) as store:
        store.save(an_update(a_record("one", agent="gitsync")))
    with open_store(source(url), status_dir=tmp_path / "status", clock=clock, seals=seals) as store:
        assert [record.trust for record in store.load().records.values()] == [trust], why


def test_seals_belong_to_the_branch(cloned, bare, clock):
    seals = RecordSeals("gitsync", Secret("k" * 32))
    with open_checkout(str(cloned.path)) as source, open_store(source, clock=clock, seals=seals) as store:
        store.save(an_update(a_record("one", agent="gitsync")))
    bare.git("branch", "copy", "gitsync/status")
    for branch, trust in (("gitsync/status", Trust.SIGNED), ("copy", Trust.OTHER_BRANCH)):
        for location in (str(cloned.path), bare.url):
            with (
                open_checkout(location) as source,
                open_store(source, status_branch=branch, clock=clock, seals=seals) as store,
            ):
                assert [record.trust for record in store.load().records.values()] == [trust]


def test_a_branch_of_a_repository_without_a_remote_is_its_own(work, clock):
    work.put("apps/a.yaml", "x")
    commit = work.commit()
    with (
        open_checkout(str(work.path / "apps")) as source,
        open_store(source, status_branch="state", clock=clock) as store,
    ):
        assert not store.load().records
        store.check_writable()
        assert store.save(an_update(a_record("one")))
    assert work.git("ls-tree", "--name-only", "state").splitlines() == [
        "SUMMARY.md",
        "default",
        "inventory.json",
        "inventory.yaml",
        "report.json",
    ]
    assert work.git("rev-parse", "HEAD") == commit
    assert work.git("status", "--porcelain") == ""


def test_a_branch_that_another_work_tree_has_checked_out_is_not_moved(work, clock, tmp_path: Path):
    work.put("a.yaml", "x")
    work.commit()
    itself = open_remote(Url(str(work.path), "file"), GitAccess())
    with StatusBranch(itself, "state", clock=clock, patience=0.01) as store:
        store.load()
        store.save(an_update(a_record("one")))
        work.git("worktree", "add", "--quiet", str(tmp_path / "other"), "state")
        with pytest.raises(PublishError, match="checked out"):
            store.save(an_update(a_record("two")))


def test_the_author_is_gits_own_variable_or_gitsync(work, clock):
    work.put("a.yaml", "x")
    work.commit()
    for environment in ({}, {"GIT_AUTHOR_NAME": "Robo", "GIT_AUTHOR_EMAIL": "robo@example.com"}):
        with (
            open_checkout(str(work.path)) as source,
            open_store(source, status_branch="state", clock=clock, environment=environment) as store,
        ):
            store.load()
            store.save(an_update(a_record(f"r{len(environment)}")))
    assert work.git("log", "--format=%an <%ae>", "state").splitlines() == [
        "Robo <robo@example.com>",
        "gitsync <gitsync@localhost>",
    ]


@pytest.mark.parametrize(
    ("options", "message", "why"),
    [
        ({"status_branch": "a", "status_dir": Path("b")}, "exclude each other", "both at once"),
        ({"status_branch": "--mirror"}, "is not the name of a branch", "an option"),
        ({"status_branch": "a b"}, "is not the name of a branch", "no name"),
        ({"status_branch": "refs/tags/v1"}, "must be a short name", "not a branch"),
        ({"status_branch": "main"}, "contains the manifests", "the branch that is read"),
    ],
)
def test_choices_that_cannot_be(cloned, clock, options, message, why):
    with open_checkout(str(cloned.path)) as source, pytest.raises(ConfigError, match=message):
        open_store(source, clock=clock, **options)


def test_a_branch_needs_a_repository(tmp_path: Path, clock):
    with open_checkout(str(tmp_path)) as source, pytest.raises(ConfigError, match="not in a git repository"):
        open_store(source, status_branch="state", clock=clock)


@pytest.mark.parametrize(
    ("remotes", "message"),
    [
        ({"origin": "git://example.com/a"}, "transport"),
        ({"a": "ssh://x/a", "b": "ssh://x/b"}, "none of them is origin"),
    ],
)
def test_a_remote_that_cannot_be_used_is_never_replaced_by_a_folder(work, clock, remotes, message, tmp_path: Path):
    for name, url in remotes.items():
        work.git("remote", "add", name, url)
    with open_checkout(str(work.path)) as source:
        with pytest.raises(ConfigError, match=message):
            open_store(source, clock=clock)
        with open_store(source, status_dir=tmp_path / "state", clock=clock) as store:
            assert not store.load().records


def test_only_an_address_in_the_repository_makes_a_remote(work, clock, monkeypatch, tmp_path: Path):
    """A person's own settings may define how every origin is fetched."""
    (tmp_path / "global").write_text('[remote "origin"]\n\tprune = true\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "global"))
    with open_checkout(str(work.path)) as source, open_store(source, clock=clock) as store:
        assert source.remote is None
        assert not store.load().records


@pytest.mark.parametrize("position", ["", "apps"])
def test_a_new_folder_stays_out_of_commits(work, clock, position):
    source_folder = work.path / position
    source_folder.mkdir(exist_ok=True)
    (source_folder / "rg.yaml").write_text("a: 1\n")
    for name in ("one", "two"):
        with open_checkout(str(source_folder)) as source, open_store(source, clock=clock) as store:
            store.load()
            store.save(an_update(a_record(name)))
        work.git("add", "--all")
        work.git("commit", "--allow-empty", "--message", name)
        assert not [path for path in work.git("ls-files").splitlines() if ".gitsync" in path]


def test_a_folder_that_exists_gets_no_gitignore(work, clock):
    """Its owner may have removed the file, or keep the folder in git for another tool."""
    (work.path / ".gitsync").mkdir()
    with open_checkout(str(work.path)) as source, open_store(source, clock=clock) as store:
        store.save(an_update(a_record("one")))
    assert not (work.path / ".gitsync" / ".gitignore").exists()


def test_a_folder_that_the_operator_names_may_be_committed(work, clock):
    position = work.path / "state"
    with open_checkout(str(work.path)) as source, open_store(source, clock=clock, status_dir=position) as store:
        store.save(an_update(a_record("one")))
    assert not (position / ".gitignore").exists()


@pytest.mark.parametrize("position", ["", "apps"])
def test_a_folder_that_git_tracks_is_not_a_state(work, clock, position):
    source_folder = work.path / position
    source_folder.mkdir(exist_ok=True)
    with open_checkout(str(source_folder)) as source, open_store(source, clock=clock) as store:
        store.load()
        store.save(an_update(a_record("one")))
    work.git("add", "--force", ".")
    work.commit()
    name = f"{position}/.gitsync".removeprefix("/")
    with open_checkout(str(source_folder)) as source:
        with pytest.raises(StateError, match=f"^{name}/ is tracked by git") as caught:
            open_store(source, clock=clock)
        assert f"git rm -r --cached {name}" in caught.value.hint


def test_what_another_run_has_recorded_since_is_not_reserved(cloned, clock, tmp_path: Path):
    with open_checkout(str(cloned.path)) as source:
        locations = [{}, {"status_dir": tmp_path / "state"}]
        for position in locations:
            with open_store(source, clock=clock, **position) as slow:
                slow.load()
                with open_store(source, clock=clock, **position) as quick:
                    quick.load()
                    assert quick.reserve(an_update(a_record("one", count=7))) == {}
                taken = slow.reserve(an_update(a_record("one"), a_record("two")))
                assert {key.name: record.writes.count for key, record in taken.items()} == {"one": 7}
                slow.save(an_update(*taken.values(), a_record("two", count=1)))
            with open_store(source, clock=clock, **position) as store:
                assert {key.name: record.writes.count for key, record in store.load().records.items()} == {
                    "one": 7,
                    "two": 1,
                }


def test_a_record_that_was_there_before_is_reserved_again(cloned, clock):
    with open_checkout(str(cloned.path)) as source, open_store(source, clock=clock) as store:
        store.load()
        store.save(an_update(a_record("one", count=7)))
    with open_checkout(str(cloned.path)) as source, open_store(source, clock=clock) as store:
        store.load()
        assert store.reserve(an_update(a_record("one", count=8))) == {}
