"""Exports as outputs of the step of a pipeline that gitsync runs in: GitHub Actions and Azure Pipelines.

Masks come first, so that the host never shows a secret in its log. Outputs end with the job, so this sink has no state
of earlier runs. Values are untrusted: the escapes of each host prevent them from ending or starting a command.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gitsync.errors import ConfigError, SecretStoreError
from gitsync.model.export import Address, Export, ObjectKind, Owner
from gitsync.repository.secrets.store_rules import check_export, check_names, make_variable
from gitsync.settings.config.hosts import Host, find_host

Tell = Callable[[str], None]
"""Shows a line to the host of the pipeline at once, as it is: on stdout or stderr, without masking."""

_GITHUB_TEXT = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_AZURE_TEXT = {"%": "%AZP25", "\r": "%0D", "\n": "%0A"}
_AZURE_PROPERTY = {**_AZURE_TEXT, ";": "%3B", "]": "%5D"}
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


class PipelineSink:
    """A Sink. `variables` are those of the environment; they identify the host."""

    name = "ci"

    def __init__(self, variables: Mapping[str, str], tell: Tell) -> None:
        host = find_host(variables)
        self._write_all = _WRITERS.get(host) if host else None
        self._variables = variables
        self._tell = tell
        self._written: dict[Address, Export] = {}

    async def check(self) -> None:
        """Raise ConfigError outside of a pipeline that supports outputs."""
        if self._write_all is None:
            raise ConfigError(
                "The sink ci supports only GitHub Actions and Azure Pipelines.",
                hint="Export with --export-to dotenv: GitLab, for example, reads such a file as a report of the job.",
            )
        file = self._variables.get("GITHUB_OUTPUT", "")
        if self._write_all is _write_to_github and not os.access(file, os.W_OK):
            raise ConfigError(
                f"The file of outputs cannot be written: GITHUB_OUTPUT is {file!r}.",
                hint="Run gitsync in a step of the job; in a container, pass GITHUB_OUTPUT on and mount its file.",
            )

    async def owner(self, address: Address) -> str | None:
        check_names(address)
        return str(self._written[address].owner) if address in self._written else None

    def examine(self, exports: Sequence[Export]) -> None:
        """Raise SecretStoreError if two keys would be one output, or the host does not support such a value."""
        written = dict(self._written)
        for export in exports:
            check_export(export)
            if reason := self._find_reason_against(export, written):
                raise SecretStoreError(
                    f"{export.address} is not written to the outputs of the step: {reason}.",
                    hint="Export it to a folder instead.",
                )
            written[export.address] = export

    def _find_reason_against(self, export: Export, written: Mapping[Address, Export]) -> str:
        others = [other for other in written.values() if other.address != export.address]
        taken = {
            make_variable(other.address, key): f"{key} of {other.address}" for other in others for key in other.data
        }
        for key in sorted(export.data):
            name = make_variable(export.address, key)
            if name in taken:
                return f"its key {key} would be the output {name}, which is {taken[name]}"
            taken[name] = f"its key {key}"
        is_secret = export.address.object_kind is ObjectKind.SECRET
        multiline = [key for key, value in sorted(export.data.items()) if len(value.reveal().splitlines()) > 1]
        if self._write_all is _write_to_azure and is_secret and multiline:
            return f"{multiline[0]} has several lines, which Azure Pipelines does not support in secrets"
        return ""

    async def write(self, export: Export) -> None:
        self.examine((export,))
        # Written once: a second line for one name would be a second output of the same name.
        if self._write_all is None or self._written.get(export.address) == export:
            return
        values = {make_variable(export.address, key): export.data[key].reveal() for key in sorted(export.data)}
        self._write_all(self._tell, self._variables, values, export.address.object_kind is ObjectKind.SECRET)
        self._written[export.address] = export

    async def remove(self, address: Address, owner: Owner) -> None:
        """Outputs end with the job, and cannot be removed in it."""


def _write_to_github(tell: Tell, variables: Mapping[str, str], values: Mapping[str, str], is_secret: bool) -> None:  # noqa: FBT001 - one of two functions of one shape
    """`::add-mask::` for each line of a secret, then `NAME<<DELIMITER` in the file that GITHUB_OUTPUT names."""
    if is_secret:
        lines = {line.strip() for value in values.values() for line in value.splitlines()}
        # Lines of punctuation alone are left out, since a mask of `{` would hide half of every log.
        for line in sorted(line for line in lines if any(map(str.isalnum, line))):
            tell(f"::add-mask::{_escape(line, _GITHUB_TEXT)}")
    # The delimiter is random, so that no value can hold it.
    delimiter = f"gitsync-{secrets.token_hex(16)}"
    text = "".join(f"{name}<<{delimiter}\n{value}\n{delimiter}\n" for name, value in values.items())
    file = Path(variables["GITHUB_OUTPUT"])
    try:
        with os.fdopen(os.open(file, _APPEND), "wb") as stream:
            stream.write(text.encode())
    except OSError as error:
        raise SecretStoreError(f"The file of outputs {file} cannot be written: {error.strerror}.") from error


def _write_to_azure(tell: Tell, _variables: Mapping[str, str], values: Mapping[str, str], is_secret: bool) -> None:  # noqa: FBT001 - as above
    """`##vso[task.setvariable …]`: the host masks what is a secret, and shows no such line."""
    for name, value in values.items():
        properties = f"variable={_escape(name, _AZURE_PROPERTY)};issecret={str(is_secret).lower()};isOutput=true"
        tell(f"##vso[task.setvariable {properties}]{_escape(value, _AZURE_TEXT)}")


_WRITERS = {Host.GITHUB: _write_to_github, Host.AZURE: _write_to_azure}


def _escape(text: str, spellings: Mapping[str, str]) -> str:
    return "".join(spellings.get(character, character) for character in text)
