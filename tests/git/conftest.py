"""Real git in temporary folders, with no settings but the test's own."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from remembered import SetClock


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
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    @property
    def url(self) -> str:
        return f"file://{self.path}"


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (home / ".gitconfig").write_text("[user]\nname = Test\nemail = test@example.com\n[init]\ndefaultBranch = main\n")


@pytest.fixture
def work(tmp_path: Path) -> GitFolder:
    """A work tree without commits and remotes."""
    folder = GitFolder(tmp_path / "work")
    folder.path.mkdir()
    folder.git("init", "--quiet")
    return folder


@pytest.fixture
def bare(tmp_path: Path) -> GitFolder:
    """An empty bare repository, to push to."""
    folder = GitFolder(tmp_path / "remote.git")
    folder.path.mkdir()
    folder.git("init", "--quiet", "--bare")
    return folder


@pytest.fixture
def cloned(work: GitFolder, bare: GitFolder) -> GitFolder:
    """The work tree, with one commit that is pushed to the bare repository as `origin`."""
    work.put("apps/rg.yaml", "kind: ResourceGroup\n")
    work.commit("First")
    work.git("remote", "add", "origin", str(bare.path))
    work.git("push", "--quiet", "origin", "main")
    return work


@pytest.fixture
def clock() -> SetClock:
    return SetClock()
