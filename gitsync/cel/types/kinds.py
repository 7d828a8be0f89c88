"""The type of `self` for a kind of the catalog: metadata, and the kind's own spec and status
(docs/reference/reconciliation.md#export-expressions).

Types are worked out field by field when an expression selects them, since a kind may have thousands of fields. Names of
fields that are no names in CEL are escaped, as ASO does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gitsync.catalog.aso_types import ASO_TYPES
from gitsync.cel.types.types import (
    BOOL,
    DOUBLE,
    DYN,
    INT,
    STRING,
    Type,
    make_list_type,
    make_map_type,
    make_struct_type,
)
from gitsync.model.facts import Field, FieldType, Kind, TypeFacts

_SCALARS: Final = {"string": STRING, "boolean": BOOL, "integer": INT, "number": DOUBLE, "any": DYN}
_TEXT: Final[Field] = {"type": "string"}
_NUMBER: Final[Field] = {"type": "integer"}
_TEXTS: Final[Field] = {"type": {"map": "string"}}
_OWN: Final[Mapping[str, TypeFacts]] = {
    **ASO_TYPES,
    "condition": {
        "fields": {
            **dict.fromkeys(("type", "status", "severity", "reason", "message"), _TEXT),
            "observedGeneration": _NUMBER,
        }
    },
    "metadata": {
        "fields": {
            **dict.fromkeys(("name", "generateName", "namespace", "uid", "resourceVersion", "selfLink"), _TEXT),
            "generation": _NUMBER,
            "labels": _TEXTS,
            "annotations": _TEXTS,
            "finalizers": {"type": {"list": "string"}},
        }
    },
}
"""Types that are ASO's and Kubernetes' own. Points in time are left out: nothing tells them without a cluster."""

_KEYWORDS: Final = frozenset({"true", "false", "null", "in"})
_ESCAPES: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}


def make_self_type(kind: Kind) -> Type:
    """The type of `self` for manifests of this kind and version; apiVersion and kind are not selectable."""
    types: Mapping[str, TypeFacts] = {**kind.types, "self": {"fields": _fields_of_self(kind)}}
    return make_struct_type(f"{kind.gvk.group}.{kind.gvk.kind}", TypeFields(types, types["self"]))


def list_secret_names(kind: Kind) -> tuple[str, ...]:
    """The secrets that resources of a kind can export, by their field in operatorSpec.secrets, sorted."""
    fields = kind.types[kind.spec]["fields"]
    for step in ("operatorSpec", "secrets"):
        type_ = fields[step]["type"] if step in fields else None
        if not isinstance(type_, Mapping) or "ref" not in type_:
            return ()
        fields = kind.types[type_["ref"]]["fields"]
    return tuple(sorted(fields))


def escape_name(name: str) -> str:
    """The name by which an expression selects a field: `a-b` as `a__dash__b`, `in` as `__in__`."""
    if name in _KEYWORDS:
        return f"__{name}__"
    for written, instead in _ESCAPES.items():
        name = name.replace(written, instead) if written in name else name
    return name


class TypeFields(Mapping[str, Type]):
    """The fields of a type by the names that expressions give them; a field's type is worked out when asked for."""

    __slots__ = ("_facts", "_spelt", "_types", "_worked_out")

    def __init__(self, types: Mapping[str, TypeFacts], facts: TypeFacts) -> None:
        self._types = types
        self._facts = facts
        self._spelt = {escape_name(name): name for name in facts["fields"]}
        self._worked_out: dict[str, Type] = {}

    def spelt(self, name: str) -> str:
        """The name in the manifest of a field that an expression names. KeyError where there is none."""
        return self._spelt[name]

    def __getitem__(self, name: str) -> Type:
        if name not in self._worked_out:
            self._worked_out[name] = self._type(self._facts["fields"][self._spelt[name]]["type"])
        return self._worked_out[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._spelt)

    def __len__(self) -> int:
        return len(self._spelt)

    def _type(self, type_: FieldType) -> Type:
        if isinstance(type_, str):
            return _SCALARS.get(type_) or make_struct_type(type_, TypeFields(_OWN, _OWN[type_]))
        if "base" in type_:
            return self._type(type_["base"])
        if "ref" in type_:
            return make_struct_type(type_["ref"], TypeFields(self._types, self._types[type_["ref"]]))
        if "list" in type_:
            return make_list_type(self._type(type_["list"]))
        return make_map_type(STRING, self._type(type_["map"]))


def _fields_of_self(kind: Kind) -> Mapping[str, Field]:
    return {
        "metadata": {"type": "metadata"},
        "spec": {"type": {"ref": kind.spec}},
        "status": {"type": {"ref": kind.status}},
    }
