"""One revision by its name: available, counted back, or fetched for a clone that lacks it."""

import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from gitsync.errors import SourceError
from gitsync.repository.git.git_access import GitAccess
from gitsync.repository.git.git_command import Repository
from gitsync.repository.git.source.revisions import read_revision
from tests.repository.git.git_folder import GitFolder
from tests.support.git_repositories import AUTHOR, commit_all, init_repository, write_object


def read(location, name, path="."):
    with ExitStack() as opened:
        return read_revision(str(location), name, opened, path=path, access=GitAccess(timeout=30))


def content(reading):
    return {path: text.decode() for path, text in reading.contents.files.items()}


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Three commits of one file, a tag on the second, a branch from the first; for tests that only read."""
    work, commits = GitFolder(tmp_path_factory.mktemp("three") / "work"), []
    init_repository(work.path)
    for number in (1, 2, 3):
        work.put("a.yaml", f"n: {number}")
        commits.append(commit_all(work.path, f"Number {number}"))
    top = work.path / ".git"
    tag = write_object(
        top, "tag", f"object {commits[1]}\ntype commit\ntag v2\ntagger {AUTHOR} 0 +0000\n\nTwo\n".encode()
    )
    for ref, target in (("tags/v2", tag.hex()), ("heads/feature/one", commits[0])):
        (top / "refs" / ref).parent.mkdir(parents=True)
        (top / "refs" / ref).write_text(f"{target}\n")
    return work, commits


@pytest.fixture
def own(three, work):
    """A copy of them."""
    return GitFolder(Path(shutil.copytree(three[0].path, work.path, dirs_exist_ok=True)))


NAMES = [
    ("HEAD", 3, "what is checked out"),
    ("@", 3, "its short name"),
    ("main", 3, "a branch"),
    ("feature/one", 1, "a branch with a slash"),
    ("v2", 2, "a tag with a message"),
    ("HEAD~1", 2, "counted back"),
    ("main~2", 1, "counted back further"),
    ("main^", 2, "the first parent"),
    ("HEAD^^", 1, "twice"),
    ("v2~1", 1, "counted back from a tag"),
]


@pytest.mark.parametrize(("name", "number", "why"), NAMES, ids=[row[0] for row in NAMES])
def test_a_revision_has_many_names(three, name, number, why):
    work, commits = three
    found = read(work.path, name)
    assert (found.commit, content(found)) == (commits[number - 1], {"a.yaml": f"n: {number}"}), why


def test_commit_ids_whole_and_short(three):
    work, commits = three
    assert read(work.path, commits[0]).commit == commits[0]
    assert read(work.path, commits[0][:10]).commit == commits[0]


def test_the_content_of_the_folder_does_not_matter(own):
    own.put("a.yaml", "n: 9")
    assert content(read(own.path, "HEAD")) == {"a.yaml": "n: 3"}


@pytest.mark.parametrize(
    "name", ["", "-x", "--upload-pack=x", "a..b", "a:b", "HEAD@{1}", "a b", "~1", "main~99999", ":/Number", "a\nb"]
)
def test_what_is_not_a_name_is_refused(three, name):
    with pytest.raises(SourceError, match="is not the name of a revision"):
        read(three[0].path, name)


def test_a_revision_that_is_missing_is_reported_with_its_name(three):
    with pytest.raises(SourceError, match=r"has no revision nope. It has no remote .* Check the name"):
        read(three[0].path, "nope")
    with pytest.raises(SourceError, match="has no revision main~7"):
        read(three[0].path, "main~7")


def test_a_plain_folder_has_no_revisions(tmp_path):
    with pytest.raises(SourceError, match="is not in a git repository"):
        read(tmp_path, "main")


def test_a_folder_of_the_repository_is_read_alone(own):
    own.put("infra/b.yaml", "b: 1")
    own.commit()
    found = read(own.path / "infra", "HEAD")
    assert (content(found), found.root) == ({"b.yaml": "b: 1"}, "infra")
    assert content(read(own.path, "HEAD", path="infra")) == {"infra/b.yaml": "b: 1"}


def test_before_its_folder_was_there_a_source_is_empty(own):
    own.put("infra/b.yaml", "b: 1")
    own.commit()
    assert content(read(own.path, "HEAD~1", path="infra")) == {}
    assert content(read(own.path / "infra", "HEAD~1")) == {}


def cloned(work, tmp_path, *options):
    """A clone as a pipeline makes one."""
    folder = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", *options, work.url, str(folder)], check=True, capture_output=True)
    return folder


SHALLOW = [
    ("main~1", 2, "counted back beyond what was cloned"),
    ("HEAD^^", 1, "twice"),
    ("feature/one", 1, "a branch that was not cloned"),
    ("origin/feature/one", 1, "by its name as of the remote"),
    ("v2", 2, "a tag that was not cloned"),
    ("v2~1", 1, "and back from it"),
]


def list_files(folder):
    return sorted(str(path) for path in folder.rglob("*"))


@pytest.fixture(scope="module")
def shallow(three, tmp_path_factory):
    """A shallow clone, and its files."""
    folder = cloned(three[0], tmp_path_factory.mktemp("shallow"), "--depth=1", "--no-tags")
    return folder, list_files(folder)


@pytest.mark.parametrize(("name", "number", "why"), SHALLOW, ids=[row[0] for row in SHALLOW])
def test_a_shallow_clone_is_helped_out(three, shallow, name, number, why):
    folder, before = shallow
    found = read(folder, name)
    assert (found.commit, content(found)) == (three[1][number - 1], {"a.yaml": f"n: {number}"}), why
    assert list_files(folder) == before, "and it is left as it was"


def test_a_commit_that_a_shallow_clone_lacks_is_fetched_by_its_id(three, shallow):
    assert content(read(shallow[0], three[1][0])) == {"a.yaml": "n: 1"}


def test_a_shallow_clone_whose_remote_is_gone_says_that_it_is_shallow(own, tmp_path):
    folder = cloned(own, tmp_path, "--depth=1")
    own.path.rename(tmp_path / "elsewhere")
    with pytest.raises(SourceError, match=r"has no revision HEAD~1\..* The clone is shallow"):
        read(folder, "HEAD~1")


def test_a_name_that_the_remote_does_not_have_either(three, tmp_path):
    folder = cloned(three[0], tmp_path)
    with pytest.raises(SourceError, match=r"has no revision nope\. .*has no branch or tag nope"):
        read(folder, "nope")
    with pytest.raises(SourceError, match="has no revision main~9"):
        read(folder, "main~9")


@pytest.mark.parametrize(("name", "number", "why"), [*SHALLOW[:4], ("HEAD", 3, "the default branch")])
def test_a_url_is_fetched(three, name, number, why):
    work, commits = three
    assert read(work.url, name).commit == commits[number - 1], why


def test_a_url_without_the_revision_reports_it(three):
    with pytest.raises(SourceError, match="has no branch or tag nope"):
        read(three[0].url, "nope")
    with pytest.raises(SourceError, match="has no revision main~9"):
        read(three[0].url, "main~9")


def test_the_folder_of_the_status_is_left_out(own):
    own.put("status/x.yaml", "kind: ResourceGroup")
    own.commit()
    access, status = GitAccess(timeout=30), own.path / "status"
    with ExitStack() as opened:
        found = read_revision(str(own.path), "HEAD", opened, path=".", access=access, status_dir=status)
    assert list(found.contents.files) == ["a.yaml"]


def test_git_runs_once_for_what_never_changes_except_for_a_long_answer(work, commands):
    """The listings of a large estate take more memory than git takes time."""
    work.put("short", "x")
    work.put("long", "x" * 1_000_000)
    commit = work.commit()
    repository = Repository(folder=work.path / ".git", environment={}, timeout=30)
    commands()
    for name, times in (("short", 1), ("long", 2)):
        first, second = (repository.query("cat-file", "blob", f"{commit}:{name}") for _ in range(2))
        assert first == second == (work.path / name).read_bytes()
        assert len(commands()) == times
