"""The types that ASO itself gives its manifests: owners, references, destinations.

The facts only name them. They are separate, so that the same walk visits them and Azure's types
(docs/reference/catalog.md#types-of-aso).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitsync.model.facts import Field, TypeFacts

SCALARS: Final = frozenset({"string", "integer", "number", "boolean", "any"})

_TEXT: Final[Field] = {"type": "string"}
_REQUIRED: Final[Field] = {"type": "string", "required": True}
_TEXTS: Final[Field] = {"type": {"map": "string"}}

_REFERENCE: Final[Mapping[str, Field]] = {"group": _TEXT, "kind": _TEXT, "name": _TEXT, "armId": _TEXT}
_DESTINATION: Final[Mapping[str, Field]] = {
    "name": _REQUIRED,
    "key": _REQUIRED,
    "annotations": _TEXTS,
    "labels": _TEXTS,
}

ASO_TYPES: Final[Mapping[str, TypeFacts]] = {
    "knownOwner": {"fields": {"name": _TEXT, "armId": _TEXT}},
    "arbitraryOwner": {"fields": _REFERENCE},
    "reference": {"fields": _REFERENCE},
    "wellKnownReference": {"fields": {**_REFERENCE, "wellKnownName": _TEXT}},
    "secretReference": {"fields": {"name": _REQUIRED, "key": _REQUIRED}},
    "secretMapReference": {"fields": {"name": _REQUIRED}},
    "configMapReference": {"fields": {"name": _REQUIRED, "key": _REQUIRED}},
    "secretDestination": {"fields": _DESTINATION},
    "configMapDestination": {"fields": _DESTINATION},
    "destinationExpression": {
        "fields": {"name": _REQUIRED, "key": _TEXT, "value": _REQUIRED, "annotations": _TEXTS, "labels": _TEXTS}
    },
}

SECRET_TYPES: Final = frozenset({"secretReference", "secretMapReference"})
"""Places where a value in the manifest itself is most likely a secret: it is never repeated in a message."""
