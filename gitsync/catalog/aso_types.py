"""The types that ASO itself gives its manifests: owners, references, destinations.

The facts name them and do not spell them out. Apart, so that the same walk looks into them and into Azure's types
(docs/reference/catalog.md#types-of-aso).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitsync.model.facts import Field, TypeFacts

SCALARS: Final = frozenset({"string", "integer", "number", "boolean", "any"})

_TEXT: Final[Field] = {"type": "string"}
_NEEDED: Final[Field] = {"type": "string", "required": True}
_TEXTS: Final[Field] = {"type": {"map": "string"}}

_REFERENCE: Final[Mapping[str, Field]] = {"group": _TEXT, "kind": _TEXT, "name": _TEXT, "armId": _TEXT}
_DESTINATION: Final[Mapping[str, Field]] = {"name": _NEEDED, "key": _NEEDED, "annotations": _TEXTS, "labels": _TEXTS}

ASO_TYPES: Final[Mapping[str, TypeFacts]] = {
    "knownOwner": {"fields": {"name": _TEXT, "armId": _TEXT}},
    "arbitraryOwner": {"fields": _REFERENCE},
    "reference": {"fields": _REFERENCE},
    "wellKnownReference": {"fields": {**_REFERENCE, "wellKnownName": _TEXT}},
    "secretReference": {"fields": {"name": _NEEDED, "key": _NEEDED}},
    "secretMapReference": {"fields": {"name": _NEEDED}},
    "configMapReference": {"fields": {"name": _NEEDED, "key": _NEEDED}},
    "secretDestination": {"fields": _DESTINATION},
    "configMapDestination": {"fields": _DESTINATION},
    "destinationExpression": {
        "fields": {"name": _NEEDED, "key": _TEXT, "value": _NEEDED, "annotations": _TEXTS, "labels": _TEXTS}
    },
}

SECRET_TYPES: Final = frozenset({"secretReference", "secretMapReference"})
"""Places where a value in the manifest itself is most likely a secret: it is never repeated in a message."""
