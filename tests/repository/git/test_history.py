"""Earlier revisions can be read wherever they still are, and nothing of a person's own repository is written."""

import os
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.checkout import open_checkout
from gitsync.repository.git.source.clone import fetch_commit, open_clone
from gitsync.repository.git.source.location import Url


@pytest.fixture
def story(prepare):
    """Six commits on main, two of them from a side branch that was merged; ids by what they do."""
    return prepare(write_story)


def write_story(cloned):
    steps = {"start": cloned.git("rev-parse", "HEAD")}

    def step(name, path, text):
        cloned.put(path, text)
        steps[name] = cloned.commit(name)

    step("policy", "apps/rg.yaml", "kind: ResourceGroup\npolicy: detach\n")
    step("readme", "README.md", "hello")
    cloned.git("checkout", "--quiet", "-b", "side")
    step("side", "apps/side.yaml", "x")
    (cloned.path / "apps/side.yaml").unlink()
    step("side gone", "apps/other.yaml", "x")
    cloned.git("checkout", "--quiet", "main")
    cloned.git("merge", "--quiet", "--no-ff", "--no-edit", "side")
    steps["merge"] = cloned.git("rev-parse", "HEAD")
    (cloned.path / "apps/rg.yaml").unlink()
    steps["gone"] = cloned.commit("gone")
    cloned.git("push", "--quiet", "origin", "main")
    return steps


def clone_shallow(bare, folder: Path) -> Path:
    """Another work tree, as CI systems make one."""
    bare.git("clone", "--quiet", "--depth=1", bare.url, str(folder))
    return folder


@pytest.fixture
def shallow(story, bare, tmp_path: Path) -> Path:
    return clone_shallow(bare, tmp_path / "copy")


@pytest.fixture(params=["url", "full work tree", "shallow work tree"])
def source(request, story, cloned, bare, tmp_path: Path) -> str:
    if request.param == "shallow work tree":
        return str(clone_shallow(bare, tmp_path / "copy"))
    return bare.url if request.param == "url" else str(cloned.path)


def test_the_states_before_each_change_are_found_newest_first(story, source):
    with open_checkout(source, path="apps") as found:
        before = found.revisions_since(story["start"])
        assert before == (story["merge"], story["readme"], story["start"])
        assert found.contents_at(before[0]).files == {
            "apps/other.yaml": b"x",
            "apps/rg.yaml": b"kind: ResourceGroup\npolicy: detach\n",
        }
        assert found.contents_at(story["start"]).files == {"apps/rg.yaml": b"kind: ResourceGroup\n"}


def test_only_changes_below_the_path_count(story, bare, cloned):
    with open_checkout(bare.url) as found:
        assert found.revisions_since(story["policy"]) == (story["merge"], story["readme"], story["policy"])
    with open_checkout(str(cloned.path / "apps"), ref=story["merge"]) as found:
        assert found.revisions_since(story["policy"]) == (story["readme"], story["policy"])


LOGGED = """\
#!/bin/sh
echo "$*" >> {log}
exec {git} "$@"
"""


def test_git_runs_once_for_what_does_not_change(story, cloned, tmp_path, monkeypatch):
    """What a run requests: some of it twice, since its parts do not share it."""
    log, program = tmp_path / "log", tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(LOGGED.format(log=log, git=shutil.which("git")))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    with open_checkout(str(cloned.path)) as found:
        for _ in range(2):
            assert found.revisions_since(story["gone"]) == (story["gone"],)
            assert found.contents_at(story["gone"]).files == found.contents.files
        listed_once = log.read_text().splitlines()
        for _ in range(2):
            assert found.has_history_since(story["start"])
            assert found.history.precedes(story["start"]) is False
            assert found.contents_at(story["start"]) is not None
            assert found.settings_at(story["start"]) is None
    requested = [line for line in log.read_text().splitlines() if not line.startswith("cat-file --batch")]
    assert sorted(requested) == sorted(set(requested))
    assert not any("merge-base" in line or "log" in line for line in listed_once), "nothing is before itself"


def test_nothing_changed_since_the_revision_itself(story, bare):
    with open_checkout(bare.url) as found:
        assert found.revisions_since(story["gone"]) == (story["gone"],)


def test_a_revision_that_cannot_be_read_is_none(story, cloned, bare):
    for location in (bare.url, str(cloned.path)):
        with open_checkout(location) as found:
            for revision in ("f" * 40, "main", "--all", ""):
                assert found.contents_at(revision) is None, revision
                assert found.revisions_since(revision) == (revision,)


def test_what_is_not_a_commit_id_is_not_fetched(bare):
    with closing(open_clone(open_remote(Url(bare.url, "file"), GitAccess()))) as clone:
        assert [fetch_commit(clone, revision) for revision in ("main", "--all", "", "f" * 39)] == [False] * 4
        assert not (clone.repository.folder / "FETCH_HEAD").exists()


def test_a_shallow_work_tree_without_its_remote_has_no_history(story, bare, shallow, tmp_path: Path):
    bare.path.rename(tmp_path / "moved.git")
    with open_checkout(str(shallow)) as found:
        assert found.revision == story["gone"]
        assert found.contents_at(story["start"]) is None
        assert found.revisions_since(story["start"]) == (story["start"],)


def test_a_path_that_the_revision_did_not_have_is_none(story, cloned):
    cloned.put("new/a.yaml", "x")
    cloned.commit()
    with open_checkout(str(cloned.path), path="new") as found:
        assert found.contents_at(story["start"]) is None


def test_a_shallow_work_tree_is_left_as_it_was(story, shallow):
    def everything():
        return {p: p.stat().st_mtime_ns for p in shallow.rglob("*")}

    before = everything()
    with open_checkout(str(shallow), path="apps") as found:
        assert found.contents_at(story["start"]) is not None
        assert len(found.revisions_since(story["start"])) == 3
    assert everything() == before


def test_a_rewritten_history_still_gives_the_recorded_revision(story, cloned, bare):
    cloned.git("checkout", "--quiet", "--orphan", "fresh")
    cloned.put("apps/new.yaml", "x")
    cloned.commit("Start again")
    cloned.git("push", "--quiet", "--force", "origin", "fresh:main")
    cloned.git("push", "--quiet", "origin", f"{story['gone']}:refs/heads/kept")
    with open_checkout(bare.url) as found:
        assert found.revisions_since(story["start"])[-1] == story["start"]
        assert found.contents_at(story["start"]).files == {"apps/rg.yaml": b"kind: ResourceGroup\n"}


def test_an_older_revision_is_known_as_such(story, cloned, bare, source):
    with open_checkout(source) as found:
        newest = {name: found.history.precedes(story[name]) for name in ("start", "side gone", "gone")}
    assert set(newest.values()) == {False}, f"nothing is newer than the tip: {newest}"
    cloned.git("branch", "beside", story["policy"])
    cloned.git("checkout", "--quiet", "beside")
    beside = cloned.commit("beside")
    cloned.git("push", "--quiet", "origin", "beside")
    if Path(source, ".git", "shallow").exists():
        subprocess.run(["git", "fetch", "-q", "--depth=1", "origin", story["policy"]], cwd=source, check=True)
        subprocess.run(["git", "checkout", "-q", story["policy"]], cwd=source, check=True)
    cloned.git("checkout", "--quiet", story["policy"])
    with open_checkout(source, ref=story["policy"] if source == bare.url else None) as found:
        commits = {name: story[name] for name in ("start", "policy", "readme", "side", "gone")}
        after = {name: found.history.precedes(commit) for name, commit in {**commits, "beside": beside}.items()}
    older = {"start", "policy"}
    assert after == {name: name not in older for name in after}


def test_a_recorded_commit_that_is_missing_is_unknown(cloned, bare):
    with open_checkout(bare.url) as found:
        assert found.history.precedes("f" * 40) is None
    with open_checkout(str(cloned.path)) as found:
        assert found.history.precedes("f" * 40) is None
