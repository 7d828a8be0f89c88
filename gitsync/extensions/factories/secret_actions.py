"""The exporter of secrets that tables configure: the action to call, and the path of each field in its response.

Responses of actions are wrapped as they are read, and no message quotes them
(docs/reference/kinds.md#secret-exporters). Each exporter provides all of its fields to destinations and
to expressions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from gitsync.errors import GitsyncError
from gitsync.extensions.api import ActsOnAzure, Extension, Extensions, SecretExporter, Subject
from gitsync.extensions.factories.value_paths import At, Misshapen, ValuePath, map_same_names
from gitsync.model.secret import Secret

TWO_KEYS: Final = map_same_names("primaryKey secondaryKey")
KEYS_AND_CONNECTION_STRINGS: Final = map_same_names(
    "primaryKey secondaryKey primaryConnectionString secondaryConnectionString"
)


class SecretFields(Protocol):
    """Some of the fields that an exporter gives, and the one document that tells them."""

    @property
    def fields(self) -> Mapping[str, ValuePath]: ...

    async def document(self, subject: Subject, azure: ActsOnAzure) -> Any: ...


@dataclass(frozen=True, slots=True)
class SecretAction:
    """An action of the resource: a POST to its id and `suffix`, without a body. It is called only where one of its
    fields is wanted. `paged`: its answer is the list of all entries, page by page.

    The api-version is pinned, and to the one that ASO calls it at, whatever version the manifest is of.
    """

    suffix: str
    api_version: str
    fields: Mapping[str, ValuePath]
    paged: bool = False

    async def document(self, subject: Subject, azure: ActsOnAzure) -> Any:
        path = f"{subject.arm_id}{self.suffix}"
        return await (azure.pages(path, self.api_version) if self.paged else azure.call(path, self.api_version))

    def __str__(self) -> str:
        return self.suffix.removeprefix("/")


@dataclass(frozen=True, slots=True)
class StatusFields:
    """The resource itself as it was just read: no request."""

    fields: Mapping[str, ValuePath]

    async def document(self, subject: Subject, azure: ActsOnAzure) -> Any:  # noqa: ARG002 - a source may ask, this one need not
        return subject.live.body if subject.live else None

    def __str__(self) -> str:
        return "its GET"


class Keys:
    """A SecretExporter: the fields of its sources, each source asked at most once."""

    def __init__(self, *sources: SecretFields) -> None:
        self._sources = sources

    @property
    def fields(self) -> frozenset[str]:
        """All that may be wanted of it."""
        return frozenset(name for source in self._sources for name in source.fields)

    async def __call__(self, subject: Subject, azure: ActsOnAzure, wanted: frozenset[str]) -> Mapping[str, Secret]:
        """Raises ArmError where Azure refuses an action, GitsyncError where an answer cannot be understood."""
        found: dict[str, Secret] = {}
        for source in self._sources:
            asked = sorted(source.fields.keys() & wanted)
            document = await source.document(subject, azure) if asked else None
            found |= _values(source, subject, asked, document)
        return found


DOMAIN_NAME: Final = Keys(StatusFields({"fullyQualifiedDomainName": At("properties/fullyQualifiedDomainName")}))
"""What servers of databases export."""


def exporting(group: str, exporters: Mapping[str, SecretExporter]) -> Extensions:
    """Registrations of kinds that only export secrets, or that register their other points separately."""
    return tuple(Extension(group=group, kind=kind, export_secrets=export) for kind, export in exporters.items())


def _values(source: SecretFields, subject: Subject, asked: list[str], document: Any) -> dict[str, Secret]:
    try:
        found = {name: source.fields[name](document) for name in asked}
    except Misshapen as fault:
        raise GitsyncError(
            f"Unexpected response to {source} of {subject.arm_id}: {fault}.",
            hint="The secrets were not exported; the next run tries again. If the response stays the same, "
            "remove the fields from operatorSpec.",
        ) from None
    return {name: Secret(value) for name, value in found.items() if value is not None}
