"""Real git in temporary folders, with no settings but the test's own."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.repository.git.remembered import SetClock
from tests.support.git_repositories import commit_plain_files, init_repository

SETTINGS = """\
[user]
name = Test
email = test@example.com
[init]
defaultBranch = main
[maintenance]
auto = false
[receive]
autogc = false
"""
"""The last two are a process for every commit, and for every push."""


@dataclass(frozen=True)
class GitFolder:
    """A repository that a test drives as a person would."""

    path: Path

    def git(self, *arguments: str, stdin: bytes | None = None) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.path, input=stdin, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def put(self, path: str, text: str | bytes) -> Path:
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def commit(self, message: str = "Change") -> str:
        # the settings of a test may change what git does
        is_usual = (Path.home() / ".gitconfig").read_text() == SETTINGS
        if is_usual and (commit := commit_plain_files(self.path, message, ignores=False)):
            return commit
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self._read_head()

    def write_commit(
        self, branch: str, files: Mapping[str, str], message: str = "Change", parent: str | None = None
    ) -> str:
        """Commit files to a branch without a work tree, as a push does; beside those of the branch `parent`."""
        stream = _format_commit(branch, files, message, parent)
        return self.git("fast-import", "--quiet", "--force", stdin=f"{stream}get-mark :1\n".encode())

    def write_commits(self, commits: Iterable[tuple[str, Mapping[str, str], str]]) -> None:
        """Commit files to branches of their own, with messages."""
        self.git("fast-import", "--quiet", "--force", stdin="".join(_format_commit(*row) for row in commits).encode())

    def _read_head(self) -> str:
        """The commit that was just made: git has written its id to the file of the branch, or to that of HEAD."""
        top = self.path / ".git"
        kind, _, ref = (top / "HEAD").read_text().strip().partition(" ")
        return (top / ref).read_text().strip() if kind == "ref:" else kind

    @property
    def url(self) -> str:
        return f"file://{self.path}"


def _format_commit(branch: str, files: Mapping[str, str], message: str, parent: str | None = None) -> str:
    stream = f"commit refs/heads/{branch}\nmark :1\ncommitter a <b@c> 1714557600 +0000\n{_format_data(message)}"
    if parent:
        stream += f"from refs/heads/{parent}^0\n"
    return stream + "".join(f'M 100644 inline "{path}"\n{_format_data(text)}' for path, text in files.items())


def _format_data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"


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
