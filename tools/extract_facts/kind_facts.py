"""The facts of one kind: its ARM type, owner, operations, name and exports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from extract_facts.field_types import name_struct
from extract_facts.go_source import GoField, GoMethod, GoPackage, read_selectors, read_string, read_text, walk
from extract_facts.marks import read_marks
from extract_facts.not_supported import NotSupportedError

_SCOPE = re.compile(r"genruntime\.ResourceScope(\w+)")
_SCOPES = frozenset({"Extension", "Location", "ResourceGroup", "Tenant"})
_OPERATION = re.compile(r"genruntime\.ResourceOperation(\w+)")
_OPERATIONS = frozenset({"Delete", "Get", "Head", "Put"})
_KNOWN_OWNER = "KnownResourceReference"


def list_kinds(package: GoPackage) -> list[str]:
    """The structs that are kinds with an ARM type."""
    return sorted(
        struct
        for struct, methods in package.methods.items()
        if struct in package.structs and {"GetAPIVersion", "GetType"} <= methods.keys()
    )


def read_kind(kind: str, package: GoPackage) -> dict[str, Any]:
    """The facts of a kind. NotSupportedError if its methods are not as ASO's generator writes them."""
    fields = package.structs[kind]
    spec, status = fields["Spec"].type, fields["Status"].type
    facts: dict[str, Any] = {
        "armType": _read_text_of(kind, "GetType", package),
        "apiVersion": _read_text_of(kind, "GetAPIVersion", package),
        "scope": _read_words(kind, "GetResourceScope", _SCOPE, _SCOPES, package)[0],
        "operations": _read_words(kind, "GetSupportedOperations", _OPERATION, _OPERATIONS, package),
        "spec": spec,
        "status": status,
        **_read_name(kind, package),
    }
    if owner := package.structs[spec].get("Owner"):
        facts["owner"] = _read_owner(owner)
    if (method := package.method(kind, "ExportKubernetesConfigMaps")) and (
        exports := dict(_read_exports(method, spec, status, package))
    ):
        facts["configMaps"] = exports
    return facts


def _find_method(kind: str, name: str, package: GoPackage) -> GoMethod:
    method = package.method(kind, name)
    if method is None:
        raise NotSupportedError(f"the kind {kind} has no method {name}")
    return method


def _read_text_of(kind: str, name: str, package: GoPackage) -> str:
    """The text that a method returns."""
    returned = _find_returned_text(_find_method(kind, name, package))
    if returned is None:
        raise NotSupportedError(f"{name} does not return a text in quotes", _find_method(kind, name, package).node)
    return returned


def _find_returned_text(method: GoMethod) -> str | None:
    for statement in method.statements():
        if statement.type == "return_statement":
            value = statement.named_children[0].named_children[0]
            return read_string(value) if value.type.endswith("string_literal") else None
    return None


def _read_words(kind: str, name: str, pattern: re.Pattern[str], known: frozenset[str], package: GoPackage) -> list[str]:
    """The words that a method returns, which must be known ones."""
    method = _find_method(kind, name, package)
    body = read_text(method.node.child_by_field_name("body"))
    words = [word for word in pattern.findall(body) if word]
    if not words or not known.issuperset(words):
        raise NotSupportedError(f"{name} returns {', '.join(words) or 'nothing that is known'}", method.node)
    return words


def _read_name(kind: str, package: GoPackage) -> dict[str, Any]:
    """The name that each resource has, or the rules of a free one, and both if the spec has one as well."""
    facts: dict[str, Any] = {}
    if fixed := _find_returned_text(_find_method(kind, "AzureName", package)):
        facts["fixedAzureName"] = fixed
    if field := package.structs[package.structs[kind]["Spec"].type].get("AzureName"):
        facts["azureName"] = {name: rule for name, rule in read_marks(field.comments).items() if name != "required"}
    return facts


def _read_owner(field: GoField) -> Any:
    if not field.type.endswith(_KNOWN_OWNER):
        return "any"
    if {"group", "kind"} - field.tags.keys():
        raise NotSupportedError("an owner without the tags group and kind")
    return {"group": field.tags["group"], "kind": field.tags["kind"]}


def _read_exports(method: GoMethod, spec: str, status: str, package: GoPackage) -> Iterator[tuple[str, list[str]]]:
    """The fields of operatorSpec.configMaps, and the paths in the status that they export."""
    operator = package.structs[name_struct(package.structs[spec]["OperatorSpec"].type)]
    destinations = package.structs[name_struct(operator["ConfigMaps"].type)]
    for call in walk(method.node):
        if call.type != "call_expression" or not read_text(call.child_by_field_name("function")).endswith(".AddValue"):
            continue
        selectors = list(read_selectors(call.child_by_field_name("arguments")))
        targets = [names for names in selectors if "ConfigMaps" in names]
        sources = [names for names in selectors if "Status" in names]
        if not targets or not sources:
            raise NotSupportedError("a config map gets a value that is not of the status", call)
        path = list(_name_path(sources[0][2:], status, package))
        yield destinations[targets[0][-1]].json_name, path


def _name_path(names: tuple[str, ...], struct: str, package: GoPackage) -> Iterator[str]:
    for name in names:
        field = package.structs[struct][name]
        yield field.json_name
        struct = name_struct(field.type)
