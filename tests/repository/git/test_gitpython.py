"""GitPython is loaded with the variables that git may have, and reads a branch without starting a program."""

import json
import os
import subprocess
import sys

import pytest

from gitsync.repository.git.source.worktree import read_branch
from tests.support.git_repositories import init_repository

SCRIPT = """
import json, os
from gitsync.repository.git.source.worktree import load_gitpython
load_gitpython()
print(json.dumps({name: os.environ.get(name) for name in ("AZURE_CLIENT_SECRET", "GITSYNC_DIGEST_KEY")}))
"""


def test_the_first_import_shows_git_no_secret_and_gives_the_process_its_variables_back(tmp_path):
    seen = tmp_path / "seen"
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nenv >> {seen}\necho git version 2.39.5\n")
    program.chmod(0o755)
    secrets = {"AZURE_CLIENT_SECRET": "s3cret", "GITSYNC_DIGEST_KEY": "k" * 32}
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env={**os.environ, **secrets, "PATH": path}, capture_output=True, check=True
    )
    assert json.loads(done.stdout) == secrets
    shown = seen.read_text()
    assert "PATH=" in shown
    assert [secret for secret in secrets.values() if secret in shown] == []


def test_the_branch_is_read_without_a_program(work):
    folder = work.path / ".git"
    work.put("a.yaml", "n: 1")
    work.commit()
    assert read_branch(folder) == "main"
    work.git("checkout", "--quiet", "--detach")
    assert read_branch(folder) is None


@pytest.mark.parametrize(
    ("head", "branch", "why"),
    [
        ("ref: refs/heads/trunk\n", "trunk", "as `git symbolic-ref --short HEAD` answers"),
        ("ref: refs/heads/team/a\n", "team/a", "a branch may have slashes"),
        ("ref: refs/heads/.invalid\n", None, "the stub beside a reftable, which has the branch"),
    ],
)
def test_a_repository_without_commits_has_the_branch_that_its_head_names(head, branch, why, tmp_path):
    init_repository(tmp_path)
    (tmp_path / ".git" / "HEAD").write_text(head)
    assert read_branch(tmp_path / ".git") == branch, why
