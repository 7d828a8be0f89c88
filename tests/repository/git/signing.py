"""People with keys of their own, made by ssh-keygen and gpg, who sign commits."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

import pytest

needs_gpg = pytest.mark.skipif(shutil.which("gpg") is None, reason="gpg is not installed")


@dataclass(frozen=True)
class Signer:
    """Someone who signs."""

    public: str  # the key as it is published
    options: tuple[str, ...]  # git's, to sign
    environment: dict[str, str] = field(default_factory=dict)

    def commit(self, folder: Path, message: str = "Signed") -> str:
        """Commit everything in a folder, with a signature."""
        self.git(folder, "add", "--all")
        self.git(folder, "commit", "--quiet", "--allow-empty", "--gpg-sign", "--message", message)
        return self.git(folder, "rev-parse", "HEAD")

    def git(self, folder: Path, *arguments: str) -> str:
        environment = {**os.environ, **self.environment}
        done = subprocess.run(
            ["git", *self.options, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def make_ssh_signer(folder: Path, name: str) -> Signer:
    key = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(key)], check=True)
    options = ("-c", "gpg.format=ssh", "-c", f"user.signingKey={key}")
    return Signer(Path(f"{key}.pub").read_text("utf-8"), options)


@contextmanager
def open_pgp_signer(name: str, *, expired: bool = False) -> Iterator[Signer]:
    """A signer with a home of gpg in a folder with a short path, since that of a socket is limited."""
    home = Path(mkdtemp(prefix="gpg-"))
    then = ["--faked-system-time", "20200101T120000"] if expired else []
    program = home / "gpg-then"
    program.write_text(f'#!/bin/sh\nexec gpg {" ".join(then)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    environment = {"GNUPGHOME": str(home)}
    try:
        life = "1d" if expired else "never"
        made = ["--batch", "--quiet", "--passphrase", "", "--quick-gen-key", f"{name} <{name}@example.com>", "ed25519"]
        _gpg(home, *then, *made, "sign", life)
        public = _gpg(home, "--armor", "--export")
        options = ("-c", f"gpg.program={program}", "-c", f"user.signingKey={name}@example.com")
        yield Signer(public, options, environment)
    finally:
        subprocess.run(["gpgconf", "--kill", "all"], env={**os.environ, **environment}, check=False)
        shutil.rmtree(home, ignore_errors=True)


def _gpg(home: Path, *arguments: str) -> str:
    environment = {**os.environ, "GNUPGHOME": str(home)}
    done = subprocess.run(["gpg", *arguments], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
