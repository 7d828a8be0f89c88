"""The annotation `gitsync/replace`, by which a manifest consents to a delete and a create (docs/replace.md).

It names each field with its new value, so that it does not cover the next change: `location=northeurope`. A value of a
config map may be named by that, `principalIdFromConfig=identity/principalId`, since it may be known during a run only.
The word `loses-data` is needed in addition for a resource that stores data. Entries are separated by commas.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gitsync.desired.catalog.type_words import quote_scalar
from gitsync.desired.problems.finding import Finding
from gitsync.desired.problems.suggest import suggest
from gitsync.model.resource import Resource
from gitsync.model.secret import MASKED

REPLACE: Final = "gitsync/replace"
LOSES_DATA: Final = "loses-data"

_FORM: Final = f"Write `field=value`, such as location=northeurope, and {LOSES_DATA} if the data may be lost."
_SHOWN: Final = 16
"""Characters of a digest: enough to distinguish values."""


@dataclass(frozen=True, slots=True)
class ReplaceConsent:
    """What a manifest consents to: the new values by the names of their fields, and whether data may be lost."""

    values: Mapping[str, str] = field(default_factory=dict)
    loses_data: bool = False

    def covers(self, name: str, value: Any, source: str = "") -> bool:
        """Return whether it names a field with this new value, or with the `name/key` of the config map that has it:
        the value may be known during a run only. Regions and other names are compared without case.
        """
        given = self.values.get(name)
        wanted = format_consent_value(value)
        if given is None or wanted is None:
            return False
        return _normalize(given) in {_normalize(text) for text in (wanted, source) if text}


def read_consent(resource: Resource) -> ReplaceConsent:
    """Read the consent of a manifest, without entries that are not valid."""
    values, loses_data = {}, False
    for entry in _split(resource):
        name, separator, value = entry.partition("=")
        if separator and name.strip() and value.strip():
            values[name.strip()] = value.strip()
        loses_data = loses_data or entry == LOSES_DATA
    return ReplaceConsent(values, loses_data)


def check_replace(resource: Resource) -> Iterator[Finding]:
    """Check the form of the annotation. Whether it fits the change is known when Azure has been read."""
    for entry in _split(resource):
        name, separator, value = entry.partition("=")
        if entry == LOSES_DATA or (separator and name.strip() and value.strip()):
            continue
        close = suggest(entry, [LOSES_DATA])
        yield Finding(
            code="ReplaceAnnotation",
            path=("metadata", "annotations", REPLACE),
            message=f"{REPLACE} has {quote_scalar(entry)}, which consents to nothing.",
            hint=f"Did you mean {close}?" if close else _FORM,
        )


def _split(resource: Resource) -> list[str]:
    text = resource.annotations.get(REPLACE, "")
    return [entry.strip() for entry in text.split(",")] if text.strip() else []


def format_consent_value(value: Any) -> str | None:
    """Return a new value as the annotation has it: a short text as it is, anything else by its digest. None for a
    secret, which no annotation may name.
    """
    if value == MASKED:
        return None
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
    # Commas separate the entries of the annotation.
    is_plain = isinstance(value, str | int | float | bool) and "," not in text and len(text) <= 100 and text.strip()
    if is_plain:
        return text
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()[:_SHOWN]}"


def _normalize(text: str) -> str:
    return text.replace(" ", "").casefold()
