"""Real git in temporary folders, with no settings but the test's own."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.repository.git.git_folder import SETTINGS, GitFolder
from tests.repository.git.remembered import SetClock
from tests.support.git_repositories import init_repository


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (home / ".gitconfig").write_text(SETTINGS)


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Repositories to copy, since most tests begin with them: `empty`, `empty.git`, and `cloned`, whose origin is
    `remote.git`.
    """
    top = tmp_path_factory.mktemp("templates")
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": str(top / "config"), "GIT_CONFIG_NOSYSTEM": "1"}
    (top / "config").write_text(SETTINGS)

    def git(folder: str, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=top / folder, env=environment, check=True, capture_output=True)

    init_repository(top / "empty")
    git(".", "init", "--quiet", "--template=", "--bare", "empty.git")
    for folder in ("empty/.git/hooks", "empty/.git/info", "empty.git/hooks", "empty.git/info"):
        (top / folder).mkdir()
    shutil.copytree(top / "empty", top / "cloned")
    shutil.copytree(top / "empty.git", top / "remote.git")
    GitFolder(top / "cloned").put("apps/rg.yaml", "kind: ResourceGroup\n")
    git("cloned", "add", "--all")
    git("cloned", "commit", "--quiet", "--message", "First")
    git("cloned", "remote", "add", "origin", str(top / "remote.git"))
    git("cloned", "push", "--quiet", "origin", "main")
    return top


@pytest.fixture
def work(tmp_path: Path, templates: Path) -> GitFolder:
    """A work tree without commits and remotes."""
    return GitFolder(Path(shutil.copytree(templates / "empty", tmp_path / "work")))


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """The git commands that were started since the last call."""
    log, program = tmp_path / "commands", tmp_path / "bin" / "git"
    program.parent.mkdir()
    log.touch()
    program.write_text(f'#!/bin/sh\necho "$1" >> {log}\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    def read() -> list[str]:
        found = log.read_text().split()
        log.unlink()
        return found

    return read


@pytest.fixture
def bare(tmp_path: Path, templates: Path) -> GitFolder:
    """An empty bare repository, to push to."""
    return GitFolder(Path(shutil.copytree(templates / "empty.git", tmp_path / "remote.git")))


@pytest.fixture
def cloned(work: GitFolder, bare: GitFolder, templates: Path) -> GitFolder:
    """The work tree, with one commit that is pushed to the bare repository as `origin`."""
    shutil.copytree(templates / "cloned", work.path, dirs_exist_ok=True)
    shutil.copytree(templates / "remote.git", bare.path, dirs_exist_ok=True)
    config = work.path / ".git" / "config"
    config.write_text(config.read_text().replace(str(templates / "remote.git"), str(bare.path)))
    return work


@pytest.fixture(scope="module")
def _prepared() -> dict[str, tuple[Path, str, Any]]:
    return {}


@pytest.fixture
def prepare(
    cloned: GitFolder,
    bare: GitFolder,
    tmp_path_factory: pytest.TempPathFactory,
    _prepared: dict[str, tuple[Path, str, Any]],
) -> Callable[[Callable[[GitFolder], Any]], Any]:
    """Have the work tree and its remote as a function makes them, and get what it returns. It is called once for all
    tests of a file, which have copies.
    """
    folders = (cloned.path, bare.path)

    def copy(make: Callable[[GitFolder], Any]) -> Any:
        name = make.__qualname__
        if name not in _prepared:
            result, top = make(cloned), tmp_path_factory.mktemp("prepared")
            for folder in folders:
                shutil.copytree(folder, top / folder.name, symlinks=True)
            _prepared[name] = (top, str(bare.path), result)
            return result
        top, origin, result = _prepared[name]
        for folder in folders:
            shutil.rmtree(folder)
            shutil.copytree(top / folder.name, folder, symlinks=True)
        config = cloned.path / ".git" / "config"
        config.write_text(config.read_text().replace(origin, str(bare.path)))
        return result

    return copy


@pytest.fixture
def clock() -> SetClock:
    return SetClock()
