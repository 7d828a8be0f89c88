"""A change of a resource as one of Azure's sources has it, and what both sources have in common: times, ids, and who
made it.

All texts come from Azure: they are cut to one short line, and an unexpected value is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Final, NamedTuple

from gitsync.agent.checks.check_requests import shorten_text
from gitsync.model.arm_id import IdKey
from gitsync.model.attribution import Attribution, AuthorKind

NO_CORRELATION: Final = "00000000-0000-0000-0000-000000000000"
"""The correlation id of what Azure did by itself."""

UNUSABLE_ANSWER: Final = "Azure's response is malformed."

_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CLIENTS: Final[Mapping[str, str]] = {
    "04b07795-8ddb-461a-bbee-02f9e1bf7b46": "Azure CLI",
    "1950a258-227b-4e31-a9cf-717495945fc2": "Azure PowerShell",
    "c44b4083-3bb0-49c1-b47d-974e53cbdf3c": "Azure Portal",
    "cli": "Azure CLI",
    "unknown": "",
    "unspecified": "",
}
"""Names of the clients that people use, by their application ids and by Azure's own words for them, in lower case."""


class Verb(Enum):
    """What an operation does to its resource."""

    CREATE = auto()  # only Resource Graph distinguishes it from other writes
    WRITE = auto()
    DELETE = auto()
    ACTION = auto()
    KEYS = auto()  # an action that returns keys or passwords, and changes nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedChange:
    """One change."""

    arm_id: IdKey
    at: datetime
    verb: Verb
    fields: tuple[str, ...] | None = None
    """The dotted paths that changed, in lower case; None if the source does not name them."""

    creates: bool = False  # there was no resource before
    callers: frozenset[str] = frozenset()  # the ids of an application that made it, in lower case
    said: Attribution  # its wording in a report, without the paths

    @property
    def correlation_id(self) -> str:
        """The id that relates it to other rows; "" if there is none."""
        return self.said.correlation_id


class Records(NamedTuple):
    """What a source has on record, and why that may not be all of it: a sentence, "" if it is."""

    changes: tuple[RecordedChange, ...] = ()
    gap: str = ""


def format_time(moment: datetime) -> str:
    """Format a time for a query: RFC 3339, UTC, whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def read_guid(value: object) -> str:
    """Read a GUID, in lower case; "" for anything else."""
    text = value.strip().lower() if isinstance(value, str) else ""
    return text if _GUID.fullmatch(text) else ""


def name_client(value: object) -> str:
    """Name what somebody used, from Azure's word or from an application id; "" if Azure names neither."""
    text = shorten_text(value)
    return _CLIENTS.get(text.lower(), text)


def classify_caller(caller: str, correlation_id: str) -> AuthorKind:
    """Return what kind of principal a caller is, from the format of its name only."""
    if caller.casefold() == "system" or correlation_id == NO_CORRELATION:
        return AuthorKind.AZURE
    if "@" in caller:
        return AuthorKind.PERSON
    return AuthorKind.APPLICATION if read_guid(caller) else AuthorKind.UNKNOWN
