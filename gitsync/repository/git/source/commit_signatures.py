"""Read the file of --trusted-keys, and check that a commit is signed by one of its keys. git decides, with gpg and
ssh-keygen.

Both see the trusted keys alone: gpg gets a home of its own, ssh-keygen a list of its own. No setting of the repository,
and none of the person who runs gitsync, chooses the programs or adds keys.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from gitsync.errors import ConfigError, GitError, SourceError
from gitsync.repository.git.git_access import add_settings
from gitsync.repository.git.git_command import Repository
from gitsync.settings.processes.programs import Program, ProgramCall, run, select_environment

# The file of --trusted-keys: public keys, whose owners may sign the revisions that a run applies.
#
# It has PGP public key blocks, and lines of ssh: public keys as in a `.pub` file, or lines of an allowed signers file
# (ssh-keygen(1)). Everything else is an error, since a key that is silently skipped would surprise later.


_MOST_BYTES = 1_000_000
_BEGIN = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
_END = "-----END PGP PUBLIC KEY BLOCK-----"
_SSH_KEY = re.compile(
    r"(?P<before>.*?)(?<!\S)"
    r"(?P<type>ssh-(?:ed25519|rsa)|ecdsa-sha2-nistp(?:256|384|521)|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)"
    r"\s+(?P<key>[A-Za-z0-9+/]+={0,2})(?:\s.*)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedKeys:
    """Public keys whose signatures are accepted."""

    file: Path  # where they are, with all links followed
    name: str  # the name of that file in messages
    pgp: bytes = b""  # PGP blocks, b"" if there are none
    signers: tuple[str, ...] = ()  # lines of an allowed signers file, as ssh requires them


def read_trusted_keys(name: str) -> TrustedKeys:
    """Read a file of keys. ConfigError if it cannot be read, has something else in it, or has no key."""
    lines = _read_lines(name)
    pgp, others = _split(name, lines)
    signers = tuple(_read_signer(name, number, line) for number, line in others)
    if not pgp and not signers:
        raise ConfigError(f"--trusted-keys {name} has no key.", hint="Add a PGP public key block or an ssh public key.")
    return TrustedKeys(file=Path(name).resolve(), name=name, pgp="".join(pgp).encode(), signers=signers)


def _read_lines(name: str) -> list[str]:
    try:
        with Path(name).open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"--trusted-keys {name} cannot be read: {error.strerror}.") from error
    if len(content) > _MOST_BYTES:
        raise ConfigError(f"--trusted-keys {name} has more than {_MOST_BYTES} bytes.")
    return content.decode("utf-8", "replace").split("\n")


def _split(name: str, lines: Iterable[str]) -> tuple[list[str], list[tuple[int, str]]]:
    """Split lines into those of PGP blocks, and the others with their numbers, without blank ones and comments."""
    pgp: list[str] = []
    others: list[tuple[int, str]] = []
    inside = 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if inside or text == _BEGIN:
            pgp.append(f"{text}\n")
            inside = 0 if text == _END else inside or number
        elif text and not text.startswith("#"):
            others.append((number, text))
    if inside:
        raise ConfigError(f"--trusted-keys {name}:{inside}: The PGP block has no end.", hint=f"Add {_END}.")
    return pgp, others


def _read_signer(name: str, number: int, line: str) -> str:
    """Read a line of an allowed signers file, made of a line with an ssh public key."""
    match = _SSH_KEY.fullmatch(line)
    if match is None or not _is_of_type(match["key"], match["type"]):
        raise ConfigError(
            f"--trusted-keys {name}:{number}: This is not a public key.",
            hint="Use PGP public key blocks, lines of .pub files, or lines of an allowed signers file.",
        )
    if match["before"]:
        return line
    return f'trusted namespaces="git" {match["type"]} {match["key"]}'


def _is_of_type(key: str, kind: str) -> bool:
    """Return whether a key is valid base64 and begins with its type, each as RFC 4253 section 6.6 writes it."""
    try:
        decoded = base64.b64decode(key, validate=True)
    except ValueError:
        return False
    return decoded.startswith(len(kind).to_bytes(4) + kind.encode())


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
    """Raise SourceError unless a commit is signed by one of these keys. The signature of a tag does not count.

    ConfigError if a program for it is not installed, or gpg does not take the keys.
    """
    with _trust_keys(repository, keys) as trusting:
        try:
            trusting.run("verify-commit", commit)
        except GitError as error:
            # Nothing was checked, so "not signed" would send people to the wrong cause.
            if error.timed_out:
                raise SourceError(error.message, hint=error.hint) from error
            raise SourceError(
                f"Commit {commit[:12]} {_explain(trusting, commit)}, so it is not applied.",
                hint=f"Sign it with a trusted key, or add the public key of its signer to {keys.name}.",
            ) from error


def _explain(repository: Repository, commit: str) -> str:
    """Explain the refusal to people. What `verify-commit` said is final."""
    try:
        letter, _, key = repository.line("log", "-1", "--no-show-signature", "--format=%G? %GK", commit).partition(" ")
    except GitError:
        return "cannot be checked"
    by = f" ({key})" if key.isprintable() and key else ""
    return _REASONS.get(letter, f"is not signed by a key of --trusted-keys{by}")


@contextmanager
def _trust_keys(repository: Repository, keys: TrustedKeys) -> Iterator[Repository]:
    """Trust these keys, and no others, in a repository while the context lasts."""
    with tempfile.TemporaryDirectory(prefix="gitsync-") as folder:
        home, signers = Path(folder) / "gnupg", Path(folder) / "signers"
        home.mkdir(mode=0o700)
        # A home of its own: gpg must trust no key of the machine, and start no agent that outlives the run.
        (home / "gpg.conf").write_text(_GPG_SETTINGS, encoding="utf-8")
        signers.write_text("".join(f"{line}\n" for line in keys.signers), encoding="utf-8")
        if keys.pgp:
            _import(repository, keys, home)
        if keys.signers and shutil.which("ssh-keygen") is None:
            raise _make_not_installed_error("ssh-keygen", "the ssh client", keys)
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
        stdin=(keys.pgp,),
    )
    try:
        ended = run(call)
    except TimeoutError:
        raise ConfigError(f"gpg did not import the keys of {keys.name} in time.") from None
    except OSError as error:
        raise _make_not_installed_error("gpg", "GnuPG", keys) from error
    if ended.code:
        raise ConfigError(
            f"gpg cannot import the PGP keys of {keys.name}.", hint=f"Check them with `gpg --show-keys {keys.name}`."
        )


def _make_not_installed_error(program: str, package: str, keys: TrustedKeys) -> ConfigError:
    return ConfigError(f"{program} cannot be started, and {keys.name} has keys for it.", hint=f"Install {package}.")
