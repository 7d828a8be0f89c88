"""Runs the `sops` program, which encrypts and decrypts its input: plain text is never on a disk or in the list of
processes.

Encrypted input comes from a manifest, so it is not trusted: a HashiCorp Vault that it names would receive the token of
the environment, and is only used if the environment names the same one. A Key Vault is only used at an Azure host.
Names are compared as `sops` reads them: case-insensitive in JSON.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitsync.desired.manifests.yaml_documents import read_documents
from gitsync.errors import SecretStoreError
from gitsync.model.secret import MASKED, truncate
from gitsync.settings.processes.programs import Grace, Program, ProgramCall, run_beside, select_environment

TIMEOUT = 60.0
"""Seconds for one call: it may query a remote key service."""

_KEY_VAULT = re.compile(
    r"https://[A-Za-z0-9-]+\.(?:vault|managedhsm)\.(?:azure\.net|azure\.cn|usgovcloudapi\.net)(?::443)?/?"
)
_ENCRYPTED_MEMBERS = "^(data|stringData)$"
_LONGEST_COMPLAINT = 300
_SENSITIVE = re.compile(
    r"AGE-SECRET-KEY-[A-Z0-9-]+|ENC\[[^\]]*\]?|`[^`]*`?|\b[0-9A-Fa-f]{32,}\b|(?<=Input string ).+?(?= does not match|$)"
)
"""Secrets that a complaint may quote: keys, ciphertexts, digests of values, and pieces of the input; also a value that
was added to an encrypted file as plain text.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sops:
    """The program `sops`."""

    environment: Mapping[str, str] = field(repr=False)
    """Its PATH is where the program is looked for, and the program gets what it needs of the rest."""

    timeout: float = TIMEOUT  # seconds
    grace: Grace = field(default_factory=Grace)  # once it has begun, the program ends with it

    def require(self, reason: str) -> str:
        """Return the path of the program. SecretStoreError, with the reason that needs it, if it is not installed."""
        path = shutil.which("sops", path=self.environment.get("PATH", os.defpath))
        if path is None:
            raise SecretStoreError(
                f"{reason}, but sops is not installed.",
                hint="Install it from https://github.com/getsops/sops/releases.",
            )
        return path

    async def decrypt(self, text: bytes, *, form: str, path: str) -> bytes:
        """Decrypt a text, which keeps its form: "yaml" or "json". Raises SecretStoreError that names `path`."""
        program = self.require(f"{path} is encrypted with SOPS")
        environment = self._select_environment(text, path)
        format_options = ("--input-type", form, "--output-type", form, "/dev/stdin")
        code, output, complaint = await self._run((program, "decrypt", *format_options), text, environment)
        if code:  # before 3.9 there were flags in place of commands
            code, output, complaint = await self._run((program, "--decrypt", *format_options), text, environment)
        if code:
            raise SecretStoreError(
                f"{path} cannot be decrypted: sops reported {_format_complaint_line(complaint)}.",
                hint="Set the key, for example in SOPS_AGE_KEY, and try `sops decrypt` on the file.",
            )
        return output

    async def encrypt(self, manifest: bytes, file: Path, folder: Path) -> bytes:
        """Encrypt a manifest (JSON) to the YAML that belongs into `file` (absolute), by the
        creation rules of the .sops.yaml that is found from `folder` upwards. Raises
        SecretStoreError.
        """
        format_options = ("--encrypted-regex", _ENCRYPTED_MEMBERS, "--input-type", "json", "--output-type", "yaml")
        input_options = ("--filename-override", str(file), "/dev/stdin")
        command = (self.require(f"{file} must be encrypted with SOPS"), "encrypt", *format_options, *input_options)
        code, output, complaint = await self._run(command, manifest, self.environment, folder)
        if code:
            raise SecretStoreError(
                f"{file} cannot be encrypted: sops reported {_format_complaint_line(complaint)}.",
                hint="Add a creation rule for it to .sops.yaml there or above, or set SOPS_AGE_RECIPIENTS; "
                "sops must be 3.9 or later.",
            )
        return output

    def _select_environment(self, text: bytes, path: str) -> Mapping[str, str]:
        """Select the environment to decrypt a text: with the token of a Vault only if the text names only that
        Vault.
        """
        own_address = self.environment.get("VAULT_ADDR", "").rstrip("/")
        values = _read_unambiguous(text, path)
        # sops sends the token of the environment to whatever address the file contains.
        vault_addresses = {address for value in values for address in _list_members(value, "vault_address")}
        foreign = sorted(address for address in vault_addresses if address.rstrip("/") != own_address)
        if foreign:
            raise SecretStoreError(
                f"{path} is encrypted for the HashiCorp Vault at {foreign[0]!r}, which would receive the Vault token.",
                hint="Set VAULT_ADDR to the same address to allow it.",
            )
        # A Key Vault of the author's choice would receive a token of the identity.
        for url in sorted(url for value in values for url in _list_members(value, "vault_url")):
            if not _KEY_VAULT.fullmatch(url):
                raise SecretStoreError(
                    f"{path} is encrypted for the Key Vault at {url!r}, which is not an Azure host.",
                    hint="Encrypt it with another key.",
                )
        return {name: value for name, value in self.environment.items() if vault_addresses or name != "VAULT_TOKEN"}

    async def _run(
        self, command: Sequence[str], stdin: bytes, environment: Mapping[str, str], folder: Path | None = None
    ) -> tuple[int, bytes, str]:
        """Run a command, and return exit code, output and complaint. All that the program started ends with it."""
        call = ProgramCall(
            program=Program.SOPS,
            command=command,
            environment=select_environment(Program.SOPS, environment),
            timeout=self.timeout,
            grace=self.grace,
            folder=folder,
            stdin=(stdin,),
        )
        try:
            result = await run_beside(call)
        except TimeoutError:
            raise SecretStoreError(
                "sops was stopped because the run was stopped."
                if call.was_told_to_end
                else f"sops did not end within {self.timeout:g} seconds.",
                hint="Check that its key service is reachable.",
            ) from None
        except OSError as error:
            raise SecretStoreError(f"{command[0]} cannot be started: {error.strerror}.") from error
        return result.code, result.output, result.complaint.decode("utf-8", "replace")


def _format_complaint_line(complaint: str) -> str:
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    if not lines:
        return "nothing"
    # Only the first line: it has the reason, and a condition has no room for more.
    line = _SENSITIVE.sub(MASKED, lines[0])
    plain = "".join(character if character.isprintable() else " " for character in line)
    return f"“{truncate(plain.strip(), _LONGEST_COMPLAINT)}”"


def _read_unambiguous(text: bytes, path: str) -> list[Any]:
    """Read the documents of a text. SecretStoreError if `sops` may read the text in another way."""
    contents = read_documents(path, text)
    duplicates = [
        problem for document in contents.documents for problem in document.problems if problem.code == "DuplicateKey"
    ]
    # gitsync checks the addresses in a text: sops must not read others out of it, such as a second key.
    for problem in (*contents.problems, *duplicates):
        raise SecretStoreError(f"{path} is not passed to sops: {problem.message}", hint=problem.hint)
    return [document.value for document in contents.documents]


def _list_members(value: Any, member: str) -> Iterator[str]:
    """Yield the values of a name anywhere in a document, case-insensitive."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key.casefold() == member:
                yield str(item)
            yield from _list_members(item, member)
    elif isinstance(value, list):
        for item in value:
            yield from _list_members(item, member)
