"""`plan --out` and `sync --plan` as people start them: exit codes, and what is reported of a plan that is not to be
trusted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import textwrap

import pytest

from tests.support.command_line import SUBSCRIPTION, run_here
from tests.support.git_repositories import commit_all, init_repository
from tests.support.world import GROUP

VARIABLES = {"AZURE_SUBSCRIPTION_ID": SUBSCRIPTION, "GITSYNC_CREDENTIAL": "anonymous"}
KEY = "a-digest-key-that-is-long-enough-for-anybody"


def git(folder, *arguments):
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def repository(folder, remote=""):
    folder.mkdir()
    init_repository(folder)
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return commit(folder, GROUP)


def commit(folder, text):
    (folder / "group.yaml").write_text(textwrap.dedent(text))
    commit_all(folder)
    return folder


@pytest.fixture
def location(tmp_path):
    return repository(tmp_path / "estate")


def run(folder, *arguments, **more):
    state = folder.parent / "state"
    emulator = f"--emulator={folder.parent / 'azure.db'}"
    return run_here(*arguments, str(folder), emulator, "--status-dir", str(state), folder=folder, **VARIABLES, **more)


def plan(folder, *arguments, **more):
    ended = run(folder, "plan", "--out", str(folder.parent / "plan.json"), *arguments, **more)
    assert ended.code == 0, ended.err
    return folder.parent / "plan.json"


def sync(folder, file, *arguments, **more):
    return run(folder, "sync", "--plan", str(file), *arguments, **more)


def test_what_was_reviewed_is_done_on_another_machine(location, tmp_path):
    file = plan(location)
    there = tmp_path / "there"
    there.mkdir()
    git(there, "clone", "-q", str(location), "estate")
    git(there / "estate", "remote", "remove", "origin")
    ended = sync(there / "estate", file)
    assert ended.code == 0, ended.err
    assert run(there / "estate", "plan", "--detailed-exitcode").code == 0, "nothing is left to do"


def test_what_was_reviewed_and_moved_since_ends_with_1(location):
    file = plan(location)
    assert sync(location, file).code == 0
    ended = sync(location, file, "--always-put")
    assert (ended.code, "PlanOutdated" in ended.out) == (1, True)


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """A folder with a repository and a plan of it, to copy."""
    top = tmp_path_factory.mktemp("planned")
    plan(repository(top / "estate"))
    return top


def edited(change):
    def edit(file, _folder):
        file.write_text(json.dumps({**json.loads(file.read_text()), **change}))

    return edit


def cut_off(file, _folder):
    file.write_text(file.read_text()[:100])


def removed(file, _folder):
    file.unlink()


def git_moved(_file, folder):
    commit(folder, GROUP.replace("westeurope", "northeurope"))


@pytest.mark.parametrize(
    "spoil, arguments, word, why",
    [
        (removed, (), "cannot be read", "there is no file"),
        (cut_off, (), "is incomplete", "half a file would be half a review"),
        (edited({"schema": 99}), (), "schema is 99", "a newer gitsync wrote it"),
        (edited({"repository": "github.com/acme/other"}), (), "another repository", "it is about other resources"),
        (edited({"nodes": {"x": {}}}), (), "Kind.group/namespace/name", "it was edited by hand"),
        (git_moved, (), "another revision", "nobody reviewed the new one"),
        (lambda *_: None, ("--prune",), "another prune", "nobody reviewed the deletes"),
    ],
)
def test_a_plan_that_cannot_be_held_to_is_refused_with_2(planned, tmp_path, spoil, arguments, word, why):
    shutil.copytree(planned, tmp_path, dirs_exist_ok=True)
    location, file = tmp_path / "estate", tmp_path / "plan.json"
    spoil(file, location)
    ended = sync(location, file, *arguments)
    assert (ended.code, ended.out) == (2, ""), why
    assert word in ended.err, why
    assert not (location.parent / "state").exists(), why


def test_a_plan_of_the_same_files_in_another_repository_is_refused(tmp_path):
    one = repository(tmp_path / "one", "https://example.com/acme/one.git")
    file = plan(one)
    git(one, "remote", "set-url", "origin", "https://example.com/acme/two.git")
    ended = sync(one, file)
    assert ended.code == 2
    assert "example.com/acme/one" in ended.err
    git(one, "remote", "set-url", "origin", "git@example.com:acme/one.git")
    assert sync(one, file).code == 0, "the same repository, reached in another way"


def test_a_location_that_cannot_be_written_is_reported(location, tmp_path):
    (tmp_path / "file").touch()
    ended = run(location, "plan", "--out", str(tmp_path / "file" / "plan.json"))
    assert (ended.code, ended.out) == (2, "")
    assert "file is not a folder. Choose another folder." in " ".join(ended.err.split())


def test_the_folder_of_a_plan_is_made(location, tmp_path):
    assert run(location, "plan", "--out", str(tmp_path / "new" / "plan.json")).code == 0
    assert (tmp_path / "new" / "plan.json").is_file()


def test_two_revisions_make_no_plan_to_be_held_to(location):
    ended = run(location, "plan", "--from", "HEAD", "--to", "HEAD", "--out", str(location.parent / "plan.json"))
    assert (ended.code, "--out" in ended.err) == (2, True)


@pytest.mark.parametrize("key", ["short", "x" * 31])
def test_a_digest_key_that_can_be_guessed_is_refused_and_not_shown(location, key):
    ended = run(location, "plan", GITSYNC_DIGEST_KEY=key)
    assert ended.code == 2
    assert "GITSYNC_DIGEST_KEY" in ended.err
    assert key not in ended.err


def test_the_digest_key_is_never_shown(location):
    ended = run(
        location, "plan", "--out", str(location.parent / "plan.json"), "--log-level", "debug", GITSYNC_DIGEST_KEY=KEY
    )
    assert ended.code == 0
    assert KEY not in ended.out + ended.err + (location.parent / "plan.json").read_text()
