"""GitPython, for what git itself has no short answer to: the branch of a repository without commits.

GitPython starts git with all variables of the process, so gitsync starts git itself (`gitsync.git.command`). Its
first import runs `git version` too; it gets the variables that git may have.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType

from gitsync.errors import SourceError
from gitsync.processes.programs import Program, select_environment


@cache
def load_gitpython() -> ModuleType:
    """Import GitPython. SourceError if git is not installed."""
    with _restrict_environment():
        try:
            import git  # noqa: PLC0415 - it takes 80 ms, and a plain folder is read without it
        except ImportError as error:
            raise SourceError(
                "git cannot be started.", hint="Install git 2.31 or newer, and add it to the PATH."
            ) from error
    return git


def read_branch(folder: Path) -> str | None:
    """The branch that the HEAD of a git directory names; None if it names a commit."""
    git = load_gitpython()
    with git.Repo(folder, expand_vars=False) as repository:
        return None if repository.head.is_detached else str(repository.head.reference.name)


@contextmanager
def _restrict_environment() -> Iterator[None]:
    """Remove all other variables from the environment for the time of a block. Call before the process has threads."""
    original = dict(os.environ)
    for name in original.keys() - select_environment(Program.GIT, original).keys():
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(original)
