"""The types that ASO itself gives its manifests: owners, references, destinations. And those of Kubernetes: what a
manifest has beside its spec.

The facts only name ASO's types, and do not have those of Kubernetes. They are separate, so that the same walk visits
them and Azure's types (docs/reference/catalog.md#types-of-aso).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitsync.model.facts import Field, TypeFacts

BODY: Final = "armBody"
"""The type of a body that a manifest has as ARM does, except for the words that stand for values."""

SCALARS: Final = frozenset({"string", "integer", "number", "boolean", "any", BODY})

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
    "namedOwner": {"fields": {"name": _REQUIRED}},
    "arbitraryOwner": {"fields": _REFERENCE},
    "azureOwner": {"fields": _REFERENCE},
    "reference": {"fields": _REFERENCE},
    "azureReference": {"fields": _REFERENCE},
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

_ANY: Final[Field] = {"type": "any"}
_BOOLEAN: Final[Field] = {"type": "boolean"}
_INTEGER: Final[Field] = {"type": "integer"}
_NOT_EMPTY: Final[Field] = {"type": {"base": "string", "minLength": 1}, "required": True}
_TIME: Final[Field] = {
    "type": {"base": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[-+]\d\d:\d\d)$"}
}

HEADER_TYPES: Final[Mapping[str, TypeFacts]] = {
    "header": {
        "fields": {
            "apiVersion": _TEXT,
            "kind": _TEXT,
            "metadata": {"type": {"ref": "metadata"}},
            "spec": _ANY,
            "status": _ANY,
        }
    },
    "metadata": {
        "fields": {
            "annotations": _ANY,
            "creationTimestamp": _TIME,
            "deletionGracePeriodSeconds": _INTEGER,
            "deletionTimestamp": _TIME,
            "finalizers": {"type": {"list": "string"}},
            "generateName": _TEXT,
            "generation": _INTEGER,
            "labels": _ANY,
            "managedFields": {"type": {"list": "any"}},
            "name": _TEXT,
            "namespace": _TEXT,
            "ownerReferences": {"type": {"list": {"ref": "ownerReference"}}},
            "resourceVersion": _TEXT,
            "selfLink": _TEXT,
            "uid": _TEXT,
        }
    },
    "ownerReference": {
        "fields": {
            "apiVersion": _NOT_EMPTY,
            "blockOwnerDeletion": _BOOLEAN,
            "controller": _BOOLEAN,
            "kind": _NOT_EMPTY,
            "name": _NOT_EMPTY,
            "uid": _NOT_EMPTY,
        }
    },
}
"""The top of a manifest, and its metadata. The reader checks that labels and annotations are texts, as it does for
documents of every kind.
"""

SECRET_TYPES: Final = frozenset({"secretReference", "secretMapReference"})
"""Fields where a value in the manifest itself is most likely a secret: it is never repeated in a message."""
