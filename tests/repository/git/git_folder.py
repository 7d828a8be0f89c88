"""A repository that a test drives as a person would."""

import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.git_repositories import commit_plain_files

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
