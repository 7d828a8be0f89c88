"""The answers that tests read from the files of a repository are those of git."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitsync.errors import GitError
from gitsync.repository.git.git_access import GitAccess, use_no_repository
from gitsync.repository.git.source.worktree import find_work_tree
from tests.support.git_repositories import commit_all, init_repository
from tests.support.hypothesis_profile import scale
from tests.support.loose_git import LeftToGitError, LooseAccess, LooseObjects, answer, confirm

NAMES = ("a", "a.yaml", "a-b", "b", "ü.yaml", "a/b", "a/b.yaml", "a/b/c.yaml", "b/a/c", "b/a.yaml")
LAST_COMMITS = (
    *("log", "--stdin", "-z", "--name-only", "--no-renames", "--no-relative", "--diff-filter=d", "--no-merges"),
    *("--root", "--no-show-signature", "--encoding=UTF-8", "--format=%x00%H%x00%P%x00%an%x00%s", "--max-count=1000"),
)

VERIFY = ("--verify", "--quiet", "--end-of-options")


def git(folder, *arguments):
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def write(folder, texts):
    """Make a folder have exactly these texts by path, but those that lie below another one."""
    for entry in folder.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for path, text in sorted(texts.items()):
        if not any((folder / parent).is_file() for parent in Path(path).parents):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            if not (folder / path).exists():
                (folder / path).write_text(text)


def list_commands(commits, blobs, paths):
    """All that a run reads of a history, as arguments and what git reads from its stdin."""
    first, last = commits[0], commits[-1]
    yield ("rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD"), b""
    yield ("rev-parse", *VERIFY, "HEAD^{commit}"), b""
    yield from ((("rev-parse", *VERIFY, f"HEAD~{steps}^{{commit}}"), b"") for steps in range(len(commits)))
    for options in (("--batch", "--buffer"), ("--batch-check",)):
        yield ("cat-file", *options), "".join(f"{blob}\n" for blob in blobs).encode()
    for commit in commits:
        yield ("ls-tree", "-z", "--full-tree", commit, "--", *paths), b""
        yield ("ls-tree", "-z", "--full-tree", "-r", commit, "--", *paths), b""
        yield ("ls-tree", "-z", "--full-tree", "--long", "-r", commit), b""
        yield ("ls-tree", "-z", "--full-tree", "--long", commit), b""
        for locations in ((".",), paths):
            yield ("log", "--first-parent", "--format=%P", "--max-count=50", f"{commit}..{last}", "--", *locations), b""
            yield LAST_COMMITS, "".join(f"{line}\n" for line in (commit, "--", *locations)).encode()
    yield ("log", "--first-parent", "--format=%P", "--max-count=1", f"{first}..{last}", "--", "."), b""


def list_checks(commits):
    for earlier in (*commits, "0" * 40):
        yield "cat-file", "-e", f"{earlier}^{{commit}}"
        yield from (("merge-base", "--is-ancestor", earlier, later) for later in commits)


@settings(max_examples=scale(20))
@example(texts=[{"a.yaml": "1"}, {}], paths=["a.yaml"])
@example(texts=[{"a/b.yaml": "1"}, {"a": "1"}], paths=["a"])
@given(
    texts=st.lists(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(("", "1", "2\n"))), min_size=1, max_size=4),
    paths=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True),
)
def test_law_files_have_what_git_answers(texts, paths):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        init_repository(folder)
        commits = []
        for number, files in enumerate(texts):
            write(folder, files)
            commits.append(commit_all(folder, f"Change {number}"))
        blobs = [line.split()[2] for line in git(folder, "ls-tree", "-r", "HEAD").splitlines()]
        with find_work_tree(folder, GitAccess()) as tree:
            for arguments, stdin in list_commands(commits, blobs, paths):
                expected = tree.repository.run(*arguments, stdin=(stdin,))
                assert answer(LooseObjects(tree.repository.folder), arguments, stdin) == expected, (arguments, stdin)
            for arguments in list_checks(commits):
                expected = tree.repository.succeeds(*arguments)
                assert confirm(LooseObjects(tree.repository.folder), arguments) == expected, arguments


def _merge(folder):
    git(folder, "checkout", "-q", "-b", "other", "HEAD~1")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Beside")
    git(folder, "checkout", "-q", "main")
    git(folder, "merge", "-q", "other")


def _cut_off(folder):
    (folder / ".git" / "shallow").write_text(f"{git(folder, 'rev-parse', 'HEAD')}\n")


@pytest.mark.parametrize(
    "prepare",
    [
        pytest.param(_merge, id="a merge"),
        pytest.param(_cut_off, id="a shallow history"),
        pytest.param(lambda folder: git(folder, "gc", "-q"), id="packs"),
        pytest.param(lambda folder: git(folder, "commit", "-q", "--amend", "-m", "One\nTwo"), id="a long subject"),
        pytest.param(
            lambda folder: git(folder, "-c", "i18n.commitEncoding=latin1", "commit", "-q", "--amend", "-m", "ü"),
            id="an encoding",
        ),
    ],
)
def test_what_files_do_not_have_is_left_to_git(tmp_path, prepare):
    init_repository(tmp_path)
    commit_all(tmp_path)
    write(tmp_path, {"a.yaml": "1"})
    commit_all(tmp_path)
    prepare(tmp_path)
    head = git(tmp_path, "rev-parse", "HEAD")
    stdin = f"{head}\n--\na.yaml\n".encode()
    with find_work_tree(tmp_path, LooseAccess()) as tree, find_work_tree(tmp_path, GitAccess()) as real:
        with pytest.raises(LeftToGitError):
            answer(LooseObjects(tree.repository.folder), LAST_COMMITS, stdin)
        assert tree.repository.run(*LAST_COMMITS, stdin=(stdin,)) == real.repository.run(*LAST_COMMITS, stdin=(stdin,))
        for check in list_checks([head, "HEAD"]):
            assert tree.repository.confirms(*check) == real.repository.confirms(*check), check


REMOTE = '[remote "origin"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
SETTINGS_OF_GIT = [
    ("[core]\n\tbare = false\n[user]\n\tname = Some Body\n", True, "what tests write"),
    (REMOTE, True, "a remote, whose name is a part of the key"),
    ("[Core]\n\tLogAllRefUpdates = true\n", True, "names in any case"),
    ("", True, "no settings"),
    ("\tbare = false\n", False, "no section, which git refuses"),
    ("[core]\n\tbare\n", False, "a key without a value"),
    ("[core]\n\tbare = false # a comment\n", False, "a comment"),
    ('[core]\n\tbare = "false"\n', True, "quotes, as in the settings that gitsync gives to git"),
    ('[core]\n\teditor = "a  b"\n', False, "quotes that keep spaces"),
    ("[core]\n\teditor = a\\\n b\n", False, "a line that goes on"),
    ("[core] bare = false\n", False, "a setting beside its section"),
]


@pytest.mark.parametrize(("text", "is_read", "why"), SETTINGS_OF_GIT)
def test_settings_are_those_that_git_lists(tmp_path_factory, text, is_read, why):
    file = tmp_path_factory.mktemp("settings") / "config"
    file.write_text(text)
    arguments = ("config", "--file", str(file), "--no-includes", "--null", "--list")
    repository = use_no_repository(GitAccess())
    try:
        read = answer(LooseObjects(repository.folder), arguments, b"")
    except LeftToGitError:
        assert not is_read, why
    else:
        assert (is_read, read) == (True, repository.run(*arguments)), why


@pytest.mark.parametrize(
    ("more", "is_read", "why"),
    [
        ("", True, "one address"),
        ("\tpushurl = https://example.com/b.git\n", False, "another address to push to"),
        ("\turl = https://example.com/c.git\n", False, "two addresses"),
    ],
)
def test_the_address_of_a_remote_is_that_of_git(tmp_path_factory, more, is_read, why):
    folder = tmp_path_factory.mktemp("remote")
    init_repository(folder)
    with (folder / ".git" / "config").open("a") as config:
        config.write(REMOTE + more)
    arguments = ("remote", "get-url", "--push", "origin")
    with find_work_tree(folder, GitAccess()) as tree:
        try:
            read = answer(LooseObjects(tree.repository.folder), arguments, b"")
        except LeftToGitError:
            assert not is_read, why
        else:
            assert (is_read, read) == (True, tree.repository.run(*arguments)), why


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("cat-file", "-e", "0" * 40), "a commit that is missing"),
        (("merge-base", "--is-ancestor", "0" * 40, "HEAD"), "a commit that is missing, and a name instead of an id"),
        (("ls-tree", "-z", "--full-tree", "0" * 40), "a tree that is missing"),
        (("push", "origin"), "a command that changes something"),
        (("rev-parse", *VERIFY, "HEAD~1^{commit}"), "a revision before the first"),
    ],
)
def test_failures_are_those_of_git(tmp_path, arguments, why):
    init_repository(tmp_path)
    commit_all(tmp_path)
    with find_work_tree(tmp_path, LooseAccess()) as tree, find_work_tree(tmp_path, GitAccess()) as real:
        with pytest.raises(GitError) as expected:
            real.repository.run(*arguments)
        with pytest.raises(GitError) as failure:
            tree.repository.run(*arguments)
    assert str(failure.value) == str(expected.value), why
