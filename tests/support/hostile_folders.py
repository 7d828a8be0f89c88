"""Folders that try to have git run a program of theirs: for tests of git, and of the command."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

HOOKS = (
    "pre-push",
    "reference-transaction",
    "pre-receive",
    "update",
    "post-receive",
    "post-update",
    "push-to-checkout",
    "post-index-change",
)
_CONFIG = '[core]\nsshCommand = {evil}\n{more}[remote "origin"]\nurl = ssh://git@127.0.0.1/a\n'


def write_program(file: Path, marker: Path) -> Path:
    """Write the program of an attacker: it adds its arguments and its environment to `marker`, and fails."""
    file.write_text(f'#!/bin/sh\necho "$0 $@" >> {marker}\nenv >> {marker}\nexit 1\n')
    file.chmod(0o755)
    return file


def add_hooks(git_directory: Path, evil: Path) -> None:
    """Make the program every hook of a repository."""
    (git_directory / "hooks").mkdir(exist_ok=True)
    for hook in HOOKS:
        shutil.copy(evil, git_directory / "hooks" / hook)


def make_look_alike(folder: Path, evil: Path) -> Path:
    """Make a folder that can be committed, and that git takes for a repository whose work tree it is."""
    folder.mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    for name in ("objects", "refs"):
        (folder / name).write_text("")
        (folder / name).chmod(0o755)
    more = f"repositoryformatversion = 0\nworktree = .\nfsmonitor = {evil}\n"
    (folder / "config").write_text(_CONFIG.format(evil=evil, more=more))
    return folder


def make_bare(folder: Path, evil: Path) -> Path:
    """Make a repository without a work tree, with hooks."""
    subprocess.run(["git", "init", "--quiet", "--template=", "--bare", str(folder)], check=True)
    add_hooks(folder, evil)
    with (folder / "config").open("a") as config:
        config.write(_CONFIG.format(evil=evil, more=""))
    return folder
