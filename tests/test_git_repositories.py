"""Commits that the tests write themselves are those that git writes."""

import subprocess

import pytest

from tests.support.git_repositories import commit_all, init_repository

FILES = (
    "a.yaml",
    "b/c/deep.yaml",
    "b.c/beside.yaml",
    "b-/before.yaml",
    "ü/name.yaml",
    f"{'long' * 60}/{'name' * 60}.yaml",
)


@pytest.fixture
def folder(tmp_path):
    init_repository(tmp_path / "repository")
    return tmp_path / "repository"


def git(folder, *arguments):
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def put(folder, *paths):
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path)


def test_git_finds_nothing_else_to_commit_and_no_fault(folder):
    first = commit_all(folder)
    put(folder, *FILES, ".gitsync/inventory.json")
    (folder / ".gitsync" / ".gitignore").write_text("*\n")
    (folder / FILES[0]).chmod(0o755)
    (folder / "link").symlink_to(FILES[1])
    (folder / "b" / "folder").symlink_to("../b.c")
    second = commit_all(folder, "Add files")
    assert git(folder, "status", "--porcelain") == ""
    git(folder, "fsck", "--strict")
    assert (
        git(folder, "log", "--format=%H %P %an %s") == f"{second} {first} Somebody Add files\n{first}  Somebody Change"
    )
    (folder / ".git" / "index").unlink()
    git(folder, "add", "--all")
    assert git(folder, "write-tree") == git(folder, "rev-parse", "HEAD^{tree}")


def test_git_goes_on_from_it(folder):
    put(folder, *FILES)
    commit_all(folder)
    put(folder, "more.yaml")
    (folder / FILES[1]).unlink()
    assert git(folder, "status", "--porcelain") == f"D {FILES[1]}\n?? more.yaml"
    git(folder, "checkout", "-q", "--", ".")
    commit_all(folder)
    git(folder, "checkout", "-q", "HEAD~1")
    assert not (folder / "more.yaml").exists()


@pytest.mark.parametrize(
    "prepare",
    [
        pytest.param(lambda folder: (folder / ".gitignore").write_text("ignored.yaml"), id="an ignored file"),
        pytest.param(lambda folder: git(folder, "config", "core.autocrlf", "input"), id="a setting"),
        pytest.param(lambda folder: git(folder, "checkout", "-q", "--detach"), id="no branch"),
        pytest.param(lambda folder: git(folder, "pack-refs", "--all"), id="packed refs"),
    ],
)
def test_what_is_special_is_left_to_git(folder, prepare):
    put(folder, "a.yaml")
    before = commit_all(folder)
    prepare(folder)
    put(folder, "ignored.yaml")
    (folder / "crlf.yaml").write_bytes(b"a: 1\r\n")
    after = commit_all(folder)
    assert git(folder, "rev-parse", "HEAD", "HEAD~1").split() == [after, before]
    assert git(folder, "status", "--porcelain") == ""
    (folder / ".git" / "index").unlink()
    git(folder, "add", "--all")
    assert git(folder, "write-tree") == git(folder, "rev-parse", "HEAD^{tree}")
