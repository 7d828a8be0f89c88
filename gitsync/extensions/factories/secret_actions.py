"""The exporter of secrets that tables configure: the action to call, and the path of each field in its response.

Responses of actions are wrapped as they are read, and no message quotes them
(docs/reference/kinds.md#secret-exporters). Each exporter provides all of its fields to destinations and to expressions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from gitsync.errors import GitsyncError, UnexpectedShapeError
from gitsync.extensions.api import ActsOnAzure, Extension, Extensions, SecretExporter, Subject
from gitsync.extensions.factories.value_paths import At, ValuePath, map_same_names
from gitsync.model.secret import Secret

TWO_KEYS: Final = map_same_names("primaryKey secondaryKey")
KEYS_AND_CONNECTION_STRINGS: Final = map_same_names(
    "primaryKey secondaryKey primaryConnectionString secondaryConnectionString"
)


class SecretFields(Protocol):
    """Some of the fields of an exporter, and the one document that contains them."""

    @property
    def fields(self) -> Mapping[str, ValuePath]: ...

    async def document(self, subject: Subject, azure: ActsOnAzure) -> Any: ...


@dataclass(frozen=True, slots=True)
class SecretAction:
    """An action of the resource: a POST without a body. It is called only if one of its fields is wanted."""

    suffix: str  # of the resource's id
    api_version: str  # of ASO, for any version of the manifest
    fields: Mapping[str, ValuePath]  # where its answer has the value of each
    paged: bool = False  # its answer is the list of all entries, page by page

    async def document(self, subject: Subject, azure: ActsOnAzure) -> Any:
        path = f"{subject.arm_id}{self.suffix}"
        return await (azure.pages(path, self.api_version) if self.paged else azure.call(path, self.api_version))

    def __str__(self) -> str:
        return self.suffix.removeprefix("/")


@dataclass(frozen=True, slots=True)
class StatusFields:
    """The resource itself as it was just read: no request."""

    fields: Mapping[str, ValuePath]

    async def document(self, subject: Subject, azure: ActsOnAzure) -> Any:  # noqa: ARG002 - the protocol's
        return subject.live.body if subject.live else None

    def __str__(self) -> str:
        return "its GET"


class Keys:
    """A SecretExporter: the fields of its sources, each source asked at most once."""

    def __init__(self, *sources: SecretFields) -> None:
        self._sources = sources

    @property
    def fields(self) -> frozenset[str]:
        """All fields that it can export."""
        return frozenset(name for source in self._sources for name in source.fields)

    def reads_resource(self, wanted: Collection[str]) -> bool:
        """Return whether some fields come from the resource itself, and not from an action."""
        return any(
            isinstance(source, StatusFields) and not source.fields.keys().isdisjoint(wanted) for source in self._sources
        )

    def list_actions(self, wanted: Collection[str]) -> tuple[str, ...]:
        """The paths below the resource to which a POST is sent for some fields."""
        actions = (fields for fields in self._sources if isinstance(fields, SecretAction))
        return tuple(action.suffix for action in actions if not action.fields.keys().isdisjoint(wanted))

    async def __call__(self, subject: Subject, azure: ActsOnAzure, wanted: frozenset[str]) -> Mapping[str, Secret]:
        """Raises ArmError if Azure refuses an action, GitsyncError if an answer is not as expected."""
        secrets: dict[str, Secret] = {}
        for source in self._sources:
            field_names = sorted(source.fields.keys() & wanted)
            # An action may need a right of its own, so none is called for a field that is not exported.
            document = await source.document(subject, azure) if field_names else None
            secrets |= _read_secrets(source, subject, field_names, document)
        return secrets


DOMAIN_NAME: Final = Keys(StatusFields({"fullyQualifiedDomainName": At("properties/fullyQualifiedDomainName")}))
"""The export of database servers."""


def make_exporters(group: str, exporters: Mapping[str, SecretExporter]) -> Extensions:
    """Registrations of kinds that only export secrets, or that register their other points separately."""
    return tuple(Extension(group=group, kind=kind, export_secrets=export) for kind, export in exporters.items())


def _read_secrets(source: SecretFields, subject: Subject, field_names: list[str], document: Any) -> dict[str, Secret]:
    try:
        values = {name: source.fields[name](document) for name in field_names}
    except UnexpectedShapeError as fault:
        raise GitsyncError(
            f"Unexpected response to {source} of {subject.arm_id}: {fault}.",
            hint="The secrets were not exported; the next run tries again. If the response stays the same, "
            "remove the fields from operatorSpec.",
        ) from None
    # None skips the field, while an empty value is an error of its destination.
    return {name: Secret(value) for name, value in values.items() if value is not None}
