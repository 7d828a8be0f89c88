"""Makes the type of `self` for a kind of the catalog: metadata, and the kind's own spec and status
(docs/reference/reconciliation.md#export-expressions).

Types are made field by field when an expression selects them, since a kind may have thousands of fields. Field names
that are not valid in CEL are escaped, as in ASO.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from gitsync.desired.catalog.aso_types import ASO_TYPES
from gitsync.desired.cel.types.types import (
    BOOL,
    DOUBLE,
    DYN,
    INT,
    STRING,
    TIME,
    Type,
    make_list_type,
    make_map_type,
    make_struct_type,
)
from gitsync.model.facts import Field, FieldType, Kind, TypeFacts

_SCALARS: Final = {
    "string": STRING,
    "boolean": BOOL,
    "integer": INT,
    "number": DOUBLE,
    "any": DYN,
    "armBody": DYN,
    "time": TIME,
}
_TEXT: Final[Field] = {"type": "string"}
_TRUTH: Final[Field] = {"type": "boolean"}
_TIME: Final[Field] = {"type": "time"}
_NUMBER: Final[Field] = {"type": "integer"}
_TEXTS: Final[Field] = {"type": {"map": "string"}}
_OWN: Final[Mapping[str, TypeFacts]] = {
    **ASO_TYPES,
    "condition": {
        "fields": {
            **dict.fromkeys(("type", "status", "severity", "reason", "message"), _TEXT),
            "observedGeneration": _NUMBER,
            "lastTransitionTime": _TIME,
        }
    },
    "ownerReference": {
        "fields": {
            **dict.fromkeys(("apiVersion", "kind", "name", "uid"), _TEXT),
            **dict.fromkeys(("controller", "blockOwnerDeletion"), _TRUTH),
        }
    },
    "managedFieldsEntry": {
        "fields": {
            **dict.fromkeys(("manager", "operation", "apiVersion", "fieldsType", "subresource"), _TEXT),
            "time": _TIME,
            "fieldsV1": {"type": "fieldsV1"},
        }
    },
    "fieldsV1": {"fields": {}},
    "metadata": {
        "fields": {
            **dict.fromkeys(("name", "generateName", "namespace", "uid", "resourceVersion", "selfLink"), _TEXT),
            **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), _NUMBER),
            **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), _TIME),
            "labels": _TEXTS,
            "annotations": _TEXTS,
            "finalizers": {"type": {"list": "string"}},
            "ownerReferences": {"type": {"list": "ownerReference"}},
            "managedFields": {"type": {"list": "managedFieldsEntry"}},
        }
    },
}
"""ASO and Kubernetes types (apimachinery's ObjectMeta, ASO's Condition)."""

_GO_NAMES: Final[Mapping[str, str]] = {
    "knownOwner": "genruntime.KnownResourceReference",
    "namedOwner": "genruntime.KubernetesOwnerReference",
    "azureOwner": "genruntime.ArbitraryOwnerReference",
    "arbitraryOwner": "genruntime.ArbitraryOwnerReference",
    "reference": "genruntime.ResourceReference",
    "wellKnownReference": "genruntime.WellKnownResourceReference",
    "secretReference": "genruntime.SecretReference",
    "secretMapReference": "genruntime.SecretMapReference",
    "configMapReference": "genruntime.ConfigMapReference",
    "secretDestination": "genruntime.SecretDestination",
    "configMapDestination": "genruntime.ConfigMapDestination",
    "destinationExpression": "core.DestinationExpression",
    "condition": "conditions.Condition",
    "metadata": "v1.ObjectMeta",
    "ownerReference": "v1.OwnerReference",
    "managedFieldsEntry": "v1.ManagedFieldsEntry",
    "fieldsV1": "v1.FieldsV1",
}
"""The Go names of the types above, which messages and `type()` use."""

_KEYWORDS: Final = frozenset({"true", "false", "null", "in"})
# Underscores come first: the other escapes add some.
_ESCAPES: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}


def make_self_type(kind: Kind) -> Type:
    """Make the type of `self` for manifests of this kind and version. It also has the fields of its metadata
    (`self.namespace`), since Go embeds them.
    """
    fields = TypeFields(kind.types, {"fields": _build_self_fields(kind)}, kind.gvk.version, is_kubernetes_pointer)
    return make_struct_type(f"{kind.gvk.version}.{kind.gvk.kind}", fields)


def list_secret_names(kind: Kind) -> tuple[str, ...]:
    """List the secrets that resources of a kind can export, by their field in operatorSpec.secrets, sorted."""
    fields = kind.types[kind.spec]["fields"]
    for step in ("operatorSpec", "secrets"):
        type_ = fields[step]["type"] if step in fields else None
        if not isinstance(type_, Mapping) or "ref" not in type_:
            return ()
        fields = kind.types[type_["ref"]]["fields"]
    return tuple(sorted(fields))


def escape_name(name: str) -> str:
    """Write the name by which an expression selects a field: `a-b` as `a__dash__b`, `in` as `__in__`."""
    if name in _KEYWORDS:
        return f"__{name}__"
    for written, instead in _ESCAPES.items():
        name = name.replace(written, instead) if written in name else name
    return name


class SpelledFields(Mapping[str, Type]):
    """The fields of a type by the names that expressions give them; the type of a field is made on demand."""

    __slots__ = ("_spelt", "_worked_out")

    def __init__(self, names: Iterable[str]) -> None:
        self._spelt = {escape_name(name): name for name in names}
        self._worked_out: dict[str, Type] = {}

    def spell(self, name: str) -> str:
        """Find the manifest's name of a field that an expression names. Raises KeyError if there is none."""
        return self._spelt[name]

    def __getitem__(self, name: str) -> Type:
        if name not in self._worked_out:
            self._worked_out[name] = self._make_field(self._spelt[name])
        return self._worked_out[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._spelt)

    def __len__(self) -> int:
        return len(self._spelt)

    @abstractmethod
    def _make_field(self, name: str) -> Type: ...


class TypeFields(SpelledFields):
    """The fields of a type of a kind. `package` is the Go package of the kind's version."""

    __slots__ = ("_facts", "_package", "_types", "is_pointer")

    def __init__(self, types: Mapping[str, TypeFacts], facts: TypeFacts, package: str, is_pointer: IsPointer) -> None:
        super().__init__(facts["fields"])
        self._types = types
        self._facts = facts
        self._package = package
        self.is_pointer = is_pointer

    def _make_field(self, name: str) -> Type:
        return self._make_type(self._facts["fields"][name]["type"])

    def _make_type(self, type_: FieldType) -> Type:
        if isinstance(type_, str):
            return _SCALARS.get(type_) or self._make_own_type(type_)
        # Patterns and enums are for the schema check; the value has the type of the base.
        if "base" in type_:
            return self._make_type(type_["base"])
        if "ref" in type_:
            fields = TypeFields(self._types, self._types[type_["ref"]], self._package, is_azure_pointer)
            return make_struct_type(f"{self._package}.{type_['ref']}", fields)
        if "list" in type_:
            return make_list_type(self._make_type(type_["list"]))
        return make_map_type(STRING, self._make_type(type_["map"]))

    def _make_own_type(self, name: str) -> Type:
        return make_struct_type(_GO_NAMES[name], TypeFields(_OWN, _OWN[name], self._package, is_kubernetes_pointer))


def _build_self_fields(kind: Kind) -> Mapping[str, Field]:
    return {
        **_OWN["metadata"]["fields"],
        "apiVersion": _TEXT,
        "kind": _TEXT,
        "metadata": {"type": "metadata"},
        "spec": {"type": {"ref": kind.spec}},
        # Azure's answer, which has no type here.
        "status": {"type": "any" if kind.is_any_type else {"ref": kind.status}},
    }


# Which fields of ASO's objects are pointers in Go, which decides when `has` finds a field
# (docs/expressions.md#presence).
#
# A pointer is set if it exists, also with false, 0 or "". Any other field is set if it is not the zero value of its
# type. The facts do not include this: these are the rules of ASO's code generator, and the few Kubernetes fields.


IsPointer = Callable[[str], bool]
"""Whether a field of a struct, by its name in the manifest, is a pointer."""

_VALUES_OF_AZURE: Final = frozenset({"azureName"})
_POINTERS_OF_KUBERNETES: Final = frozenset({
    "deletionTimestamp", "deletionGracePeriodSeconds", "controller", "blockOwnerDeletion", "time", "fieldsV1",
})  # fmt: skip


def is_azure_pointer(name: str) -> bool:
    """Return whether a field in the spec and status of a kind is a pointer: all except the Azure name, required fields
    included.
    """
    return name not in _VALUES_OF_AZURE


def is_kubernetes_pointer(name: str) -> bool:
    """Return whether a field in metadata, conditions, owners, references and destinations is a pointer: those few that
    may be left out.
    """
    return name in _POINTERS_OF_KUBERNETES
