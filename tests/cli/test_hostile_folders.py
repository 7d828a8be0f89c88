"""Commands on folders that try to run a program: nothing runs, and no program is handed a credential."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from tests.support import world
from tests.support.command_line import Ended, run_here
from tests.support.git_repositories import init_repository
from tests.support.hostile_folders import add_hooks, make_bare, make_look_alike, write_program

TOKEN = "t0ken-that-nobody-may-see"
SECRETS = {
    "GITSYNC_GIT_TOKEN": TOKEN,
    "GITSYNC_DIGEST_KEY": "s3cret-of-the-digests-0123456789abcdef",
    "GITSYNC_SECRET_DEFAULT_DB_PASSWORD": "s3cret-of-a-database",
    "AZURE_CLIENT_SECRET": "s3cret-of-the-identity",
    "AWS_SECRET_ACCESS_KEY": "s3cret-of-another-cloud",
}
COMMANDS = [("plan",), ("sync", "--allow-dirty"), ("validate",), ("status",)]


def run(command: tuple[str, ...], *arguments: str, folder: Path, **more: str) -> Ended:
    azure = () if command[0] in {"validate", "status"} else ("--emulator",)
    return run_here(*command, *arguments, *azure, folder=folder, **{**SECRETS, **more})


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "marker"


@pytest.fixture
def evil(tmp_path: Path, marker: Path) -> Path:
    return write_program(tmp_path / "evil", marker)


def git(folder: Path, *arguments: str) -> None:
    words = ("-c", "user.name=x", "-c", "user.email=x@y", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *words, *arguments], cwd=folder, check=True, capture_output=True)


def look_alike(folder: Path, evil: Path) -> None:
    (make_look_alike(folder, evil) / "group.yaml").write_text(dedent(world.GROUP))


def bare(folder: Path, evil: Path) -> None:
    folder.parent.mkdir()
    (make_bare(folder, evil) / "group.yaml").write_text(dedent(world.GROUP))


REFUSED = [
    *((command, make, "SOURCE") for command in COMMANDS for make in (look_alike, bare)),
    (("plan",), look_alike, "working folder"),
    (("sync",), bare, "working folder"),
    (("sync",), look_alike, "--path"),
    (("validate",), bare, "--path"),
]


@pytest.mark.parametrize(("command", "make", "way"), REFUSED)
def test_a_folder_that_looks_like_a_repository_is_refused(tmp_path, evil, marker, command, make, way):
    top = tmp_path / "top"
    make(top / "apps", evil)
    init_repository(top)
    git(top, "add", ".")
    git(top, "commit", "--quiet", "-m", "x")
    folder = top / "apps" if way == "working folder" else top
    named = {"SOURCE": ("apps",), "working folder": (), "--path": ("--path", "apps")}[way]
    end = run(command, *named, folder=folder)
    assert (end.code, "looks like a bare git repository" in end.err) == (2, True)
    assert f"file://{top / 'apps'}" in end.err
    assert not marker.exists()
    assert TOKEN not in end.out + end.err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_checkout_whose_settings_and_hooks_run_programs_is_used_without_them(tmp_path, evil, marker, command):
    top = tmp_path / "top"
    look_alike(top / "deeper", evil)
    init_repository(top)
    git(tmp_path, "init", "--quiet", "--bare", "remote.git")
    (top / ".gitattributes").write_text("*.yaml filter=x diff=x\n")
    git(top, "add", ".")
    git(top, "commit", "--quiet", "-m", "x")
    git(top, "remote", "add", "origin", str(tmp_path / "remote.git"))
    for key in ("sshCommand", "fsmonitor", "askPass", "pager", "editor", "alternateRefsCommand"):
        git(top, "config", f"core.{key}", str(evil))
    for key in ("filter.x.clean", "filter.x.process", "diff.external", "gpg.program", "remote.origin.receivepack"):
        git(top, "config", key, str(evil))
    git(top, "config", "remote.origin.uploadpack", str(evil))
    git(top, "config", "credential.helper", f"!{evil}")
    add_hooks(top / ".git", evil)
    end = run(command, folder=top)
    assert (end.code, "core" in end.out or command[0] in {"validate", "status"}) == (0, True), end.err
    assert not marker.exists()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_no_program_is_handed_a_credential_of_another(tmp_path, marker, command):
    """A git and a kustomize that write down what they get."""
    top, programs = tmp_path / "top", tmp_path / "bin"
    programs.mkdir()
    top.mkdir()
    manifest = dedent(world.GROUP)
    (programs / "git").write_text(f'#!/bin/sh\nenv >> {marker}\nexec {shutil.which("git")} "$@"\n')
    (programs / "kustomize").write_text(f"#!/bin/sh\nenv >> {marker}\ncat group.yaml\n")
    for name in ("git", "kustomize"):
        (programs / name).chmod(0o755)
    (top / "group.yaml").write_text(manifest)
    (top / "kustomization.yaml").write_text("resources: [group.yaml]\n")
    init_repository(top)
    git(tmp_path, "init", "--quiet", "--bare", "remote.git")
    git(top, "add", ".")
    git(top, "commit", "--quiet", "-m", "x")
    git(top, "remote", "add", "origin", str(tmp_path / "remote.git"))
    end = run(command, folder=top, PATH=f"{programs}{os.pathsep}{os.environ['PATH']}", SSH_AUTH_SOCK="/kept")
    assert end.code == 0, end.err
    handed = marker.read_text()
    assert "GIT_CEILING_DIRECTORIES=" in handed or command[0] == "validate", "git was run"
    assert "KUSTOMIZE_PLUGIN_HOME=" in handed or command[0] == "status", "kustomize was run"
    assert "SSH_AUTH_SOCK=/kept" in handed or command[0] == "validate"
    assert [name for name, value in SECRETS.items() if name in handed or value in handed] == []
