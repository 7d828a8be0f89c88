"""Whether others can see a commit: whether a branch of the remote has it."""

from __future__ import annotations

from gitsync.git.access import Remote
from gitsync.git.command import GitFailedError, Repository
from gitsync.git.source.clone import Clone, has_commit, list_advertised, open_clone

_HEADS = "refs/heads/"
_FETCHED = "refs/gitsync/heads/"


def is_published(repository: Repository, commit: str, remote: Remote, status_branch: str) -> bool | None:
    """Whether a branch of the remote has a commit; None if that cannot be known.

    What was fetched last is asked first, and the remote only if that does not have the commit. The status branch has
    nothing but status.
    """
    try:
        if _has_ref_with(repository, "refs/remotes/", commit):
            return True
        clone = open_clone(remote)
        try:
            heads = list_advertised(clone, f"{_HEADS}*")
            heads = {name: tip for name, tip in heads.items() if name != f"{_HEADS}{status_branch}"}
            return _is_in(repository, commit, set(heads.values())) or _is_fetched(clone, repository, commit, heads)
        finally:
            clone.close()
    except GitFailedError:
        return None


def _is_in(repository: Repository, commit: str, tips: set[str]) -> bool:
    """Whether one of these commits, as far as they are here, is the commit or a later one."""
    return any(repository.confirms("merge-base", "--is-ancestor", commit, tip) for tip in tips)


def _is_fetched(clone: Clone, repository: Repository, commit: str, heads: dict[str, str]) -> bool:
    """Whether one of the branches that are not here has the commit. GitFailedError if they cannot be fetched."""
    unknown = [name for name, tip in heads.items() if not has_commit(repository, tip)]
    if not unknown:
        return False
    date = repository.line("log", "-1", "--format=%ct", commit)
    refspecs = [f"+{name}:{_FETCHED}{name.removeprefix(_HEADS)}" for name in unknown]
    clone.fetch(*refspecs, depth=(f"--shallow-since={date}",))
    return has_commit(clone.repository, commit) and _has_ref_with(clone.repository, _FETCHED, commit)


def _has_ref_with(repository: Repository, refs: str, commit: str) -> bool:
    return bool(repository.line("for-each-ref", "--count=1", f"--contains={commit}", refs))
