"""Whether a commit is signed by a trusted key. git decides, with gpg and ssh-keygen.

Both see the trusted keys alone: gpg gets a home of its own, ssh-keygen a list of its own. No setting of the repository,
and none of the person who runs gitsync, chooses the programs or adds keys.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from gitsync.errors import ConfigError, SourceError
from gitsync.git.access import add_settings
from gitsync.git.command import GitFailedError, Repository
from gitsync.git.source.trusted_keys import TrustedKeys
from gitsync.processes.programs import Program, ProgramCall, run, select_environment

_REASONS = {
    "N": "is not signed",
    "B": "has a signature that is not valid",
    "X": "has a signature that has expired",
    "Y": "is signed by a key that has expired",
    "R": "is signed by a key that was revoked",
}
"""By git's letter (%G? in git-log(1))."""

_GPG_SETTINGS = "no-autostart\nno-auto-key-retrieve\ndisable-dirmngr\n"
"""gpg neither starts a server nor fetches a key."""


def check_signature(repository: Repository, commit: str, keys: TrustedKeys) -> None:
    """Raise SourceError unless a commit is signed by one of these keys. A signature of a tag is none of its commit.

    ConfigError if a program for it is not installed, or gpg does not take the keys.
    """
    with _with_keys(repository, keys) as trusting:
        try:
            trusting.run("verify-commit", commit)
        except GitFailedError as error:
            if error.timed_out:
                raise SourceError(error.message, hint=error.hint) from error
            raise SourceError(
                f"Commit {commit[:12]} {_explain(trusting, commit)}, so it is not applied.",
                hint=f"Sign it with a trusted key, or add the public key of its signer to {keys.name}.",
            ) from error


def _explain(repository: Repository, commit: str) -> str:
    """For people only: what `verify-commit` said is final."""
    try:
        letter, _, key = repository.line("log", "-1", "--no-show-signature", "--format=%G? %GK", commit).partition(" ")
    except GitFailedError:
        return "cannot be checked"
    by = f" ({key})" if key.isprintable() and key else ""
    return _REASONS.get(letter, f"is not signed by a key of --trusted-keys{by}")


@contextmanager
def _with_keys(repository: Repository, keys: TrustedKeys) -> Iterator[Repository]:
    """The repository with an environment in which these keys are trusted, and no others, while the context lasts."""
    with tempfile.TemporaryDirectory(prefix="gitsync-") as folder:
        home, signers = Path(folder) / "gnupg", Path(folder) / "signers"
        home.mkdir(mode=0o700)
        (home / "gpg.conf").write_text(_GPG_SETTINGS, encoding="utf-8")
        signers.write_text("".join(f"{line}\n" for line in keys.signers), encoding="utf-8")
        if keys.pgp:
            _import(repository, keys, home)
        if keys.signers and shutil.which("ssh-keygen") is None:
            raise _not_installed("ssh-keygen", "the ssh client", keys)
        settings = (
            ("gpg.program", "gpg"),
            ("gpg.openpgp.program", "gpg"),
            ("gpg.ssh.program", "ssh-keygen"),
            ("gpg.x509.program", "false"),  # no key in the file is of this kind
            ("gpg.minTrustLevel", "undefined"),  # no key in that home is certified by another
            ("gpg.ssh.allowedSignersFile", str(signers)),
        )
        environment = add_settings(repository.environment, settings)
        yield replace(repository, environment={**environment, "GNUPGHOME": str(home)})


def _import(repository: Repository, keys: TrustedKeys, home: Path) -> None:
    call = ProgramCall(
        program=Program.GPG,
        command=("gpg", "--batch", "--quiet", "--import"),
        environment={**select_environment(Program.GPG, os.environ), "GNUPGHOME": str(home), "LC_ALL": "C"},
        timeout=repository.timeout,
        grace=repository.grace,
        folder=home,
        stdin=keys.pgp,
    )
    try:
        ended = run(call)
    except TimeoutError:
        raise ConfigError(f"gpg did not import the keys of {keys.name} in time.") from None
    except OSError as error:
        raise _not_installed("gpg", "GnuPG", keys) from error
    if ended.code:
        raise ConfigError(
            f"gpg cannot import the PGP keys of {keys.name}.", hint=f"Check them with `gpg --show-keys {keys.name}`."
        )


def _not_installed(program: str, package: str, keys: TrustedKeys) -> ConfigError:
    return ConfigError(f"{program} cannot be started, and {keys.name} has keys for it.", hint=f"Install {package}.")
