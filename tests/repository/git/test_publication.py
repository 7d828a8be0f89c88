"""A commit that no branch of the remote has is found, and a doubt is not a finding."""

import pytest

from gitsync.repository.git.git_access import GitAccess
from gitsync.repository.git.source.checkout import open_checkout
from gitsync.repository.git.source.history import is_published
from tests.support.branch_files import list_branches

STATUS = "gitsync/status"


def published(folder):
    with open_checkout(str(folder), access=GitAccess(timeout=60)) as found:
        return is_published(found.tree.repository, found.revision, found.remote, STATUS)


def test_a_pushed_commit_is_on_a_branch(cloned):
    assert published(cloned.path) is True
    cloned.put("a.yaml", "n: 1")
    cloned.commit("Second")
    assert published(cloned.path) is False
    cloned.git("push", "--quiet", "origin", "main:other")
    assert published(cloned.path) is True


def test_a_detached_commit_beside_the_branches_is_on_none(cloned):
    cloned.git("checkout", "--quiet", "--detach")
    assert published(cloned.path) is True
    cloned.commit("Beside")
    assert published(cloned.path) is False


def test_a_clone_that_has_no_branch_reads_the_remote(cloned, bare):
    """As a pipeline makes one that fetches a commit by its id."""
    cloned.git("update-ref", "-d", "refs/remotes/origin/main")
    assert published(cloned.path) is True, "the tip of a branch"
    later = cloned.commit("Later")
    cloned.git("push", "--quiet", bare.url, "main")
    cloned.git("checkout", "--quiet", "HEAD~1")
    assert published(cloned.path) is True, "a commit behind it, which is here"
    cloned.git("branch", "--quiet", "-D", "main")
    cloned.git("reflog", "expire", "--expire=now", "--all")
    cloned.git("gc", "--quiet", "--prune=now")
    assert later not in cloned.git("rev-list", "--all")
    assert published(cloned.path) is True, "a commit behind it, which has to be fetched"
    cloned.commit("Beside")
    assert published(cloned.path) is not True


def test_the_status_branch_does_not_count(cloned, bare):
    cloned.git("push", "--quiet", "origin", f"main:{STATUS}")
    bare.git("update-ref", "-d", "refs/heads/main")
    cloned.git("update-ref", "-d", "refs/remotes/origin/main")
    cloned.git("update-ref", "-d", f"refs/remotes/origin/{STATUS}")
    assert list(list_branches(bare.path)) == [STATUS]
    assert published(cloned.path) is False


@pytest.mark.parametrize("why", ["the remote is gone"])
def test_a_doubt_is_not_a_finding(cloned, bare, why):
    cloned.commit("Second")
    bare.path.rename(bare.path.with_name("moved"))
    assert published(cloned.path) is None, why
