"""The file of --trusted-keys: public keys, whose owners may sign the revisions that a run applies.

It has PGP public key blocks, and lines of ssh: public keys as in a `.pub` file, or lines of an allowed signers file
(ssh-keygen(1)). Everything else is an error, since a key that is passed over in silence would surprise later.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gitsync.errors import ConfigError

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
    """Public keys. `pgp` are PGP blocks, b"" if there are none; `signers` are lines of an allowed signers file, as ssh
    wants them. `file` is where they stand, with all links followed, and `name` how messages call it.
    """

    file: Path
    name: str
    pgp: bytes = b""
    signers: tuple[str, ...] = ()


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
    """The lines of PGP blocks, and the others with their numbers, without blank ones and comments."""
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
    """A line of an allowed signers file, made of a line with an ssh public key."""
    found = _SSH_KEY.fullmatch(line)
    if found is None or not _is_of_type(found["key"], found["type"]):
        raise ConfigError(
            f"--trusted-keys {name}:{number}: This is not a public key.",
            hint="Use PGP public key blocks, lines of .pub files, or lines of an allowed signers file.",
        )
    if found["before"]:
        return line
    return f'trusted namespaces="git" {found["type"]} {found["key"]}'


def _is_of_type(key: str, kind: str) -> bool:
    """Whether a key is valid base64 and begins with its type, each as RFC 4253 section 6.6 writes it."""
    try:
        decoded = base64.b64decode(key, validate=True)
    except ValueError:
        return False
    return decoded.startswith(len(kind).to_bytes(4) + kind.encode())
