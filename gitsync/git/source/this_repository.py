"""The repository that a source is in, as the objects of controllers name it: by its URL, and a branch."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from gitsync.errors import SourceError
from gitsync.formats.repository_name import normalize_repository
from gitsync.git.access import GitAccess
from gitsync.git.command import GitFailedError
from gitsync.git.source.location import Url
from gitsync.git.source.worktree import find_head, find_remote_url, find_work_tree
from gitsync.units.declarations import ThisRepository


def name_url(url: Url, ref: str | None) -> ThisRepository:
    """The repository at a URL, read at `ref`, None for its default branch."""
    return ThisRepository(lambda: normalize_repository(url.text), lambda: ref or "")


def name_folder(folder: Path, access: GitAccess, ref: str | None) -> ThisRepository:
    """The repository around a folder, read at `ref`, None for what is checked out. git is asked when the name is
    needed, and once. A repository without a remote that is known has no name.
    """

    @cache
    def ask() -> tuple[str, str]:
        try:
            tree = find_work_tree(folder, access)
            if tree is None:
                return "", ""
            with tree:
                url, branch = find_remote_url(tree), find_head(tree).branch
        except (GitFailedError, SourceError):
            return "", ""
        return normalize_repository(url.text) if url else "", branch or ""

    return ThisRepository(lambda: ask()[0], lambda: ref or ask()[1])
