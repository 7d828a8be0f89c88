"""The types of fields in the facts, for those of Go."""

from __future__ import annotations

from typing import Any

from extract_facts.go_source import GoPackage
from extract_facts.marks import read_marks
from extract_facts.not_supported import NotSupportedError

_PREFIXES = {"[]": "list", "map[string]": "map"}

_TYPES = {
    "bool": "boolean",
    "conditions.Condition": "condition",
    "core.DestinationExpression": "destinationExpression",
    "float64": "number",
    "genruntime.ArbitraryOwnerReference": "arbitraryOwner",
    "genruntime.ConfigMapDestination": "configMapDestination",
    "genruntime.ConfigMapReference": "configMapReference",
    "genruntime.KnownResourceReference": "knownOwner",
    "genruntime.ResourceReference": "reference",
    "genruntime.SecretDestination": "secretDestination",
    "genruntime.SecretMapReference": "secretMapReference",
    "genruntime.SecretReference": "secretReference",
    "genruntime.WellKnownResourceReference": "wellKnownReference",
    "int": "integer",
    "int64": "integer",
    "metav1.Time": "string",
    "string": "string",
    "uint32": "integer",
    "v1.JSON": "any",
}


def make_type(go_type: str, package: GoPackage) -> Any:
    """The type of a field. NotSupportedError for a type of Go that has none."""
    name = go_type.lstrip("*")
    for prefix, word in _PREFIXES.items():
        if name.startswith(prefix):
            return {word: make_type(name.removeprefix(prefix), package)}
    if name in _TYPES:
        return _TYPES[name]
    if name in package.structs:
        return {"ref": name}
    if name in package.named:
        return _make_named(name, package)
    raise NotSupportedError(f"unknown type {go_type}")


def _make_named(name: str, package: GoPackage) -> Any:
    named = package.named[name]
    base, rules = make_type(named.base, package), read_marks(named.comments)
    return {"base": base, **rules} if rules else base


def name_struct(go_type: str) -> str:
    """The name of the struct that a type of Go has inside, without pointers, lists, maps and the package."""
    name = go_type.lstrip("*")
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            return name_struct(name.removeprefix(prefix))
    return name.removeprefix("arm.")
