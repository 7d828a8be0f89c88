"""Makes the Secrets and config maps that a resource exports, of the values of its fields and expressions, and finds
those that are not its own (docs/reference/reconciliation.md#export-values, #export-ownership).

Pure: the caller has the values. Words and rules are ASO's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gitsync.desired.catalog.type_words import format_short_key
from gitsync.desired.problems.field_path import FieldPath
from gitsync.desired.problems.finding import Finding
from gitsync.errors import ExportError
from gitsync.model.export import Address, Export, ObjectKind, Owner, is_owned_by
from gitsync.model.gvk import Key
from gitsync.model.manifests import DeclaredObject
from gitsync.model.resource import Resource
from gitsync.model.secret import Secret

Declared = Mapping[Address, DeclaredObject]

OPERATOR_SPEC: Final = "operatorSpec"
"""The field of a manifest with its exports."""

_FIXED: Final = {ObjectKind.SECRET: ("secrets",), ObjectKind.CONFIG_MAP: ("configMaps", "configmaps")}
"""The fields of destinations, in the spellings of ASO's kinds: each kind has one of them."""

_EXPRESSIONS: Final = {ObjectKind.SECRET: "secretExpressions", ObjectKind.CONFIG_MAP: "configMapExpressions"}
_WORDS: Final = {ObjectKind.SECRET: ("secret", "StringData"), ObjectKind.CONFIG_MAP: ("configmap", "Data")}
_NOUNS: Final = {ObjectKind.SECRET: "secret", ObjectKind.CONFIG_MAP: "value"}
_FIRSTS = 2

MOST_CHARACTERS: Final = 1024 * 1024
"""The limit for one object: Kubernetes takes no more, and an expression could make gigabytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """The destination of one value."""

    address: Address  # of the object
    key: str
    annotations: Mapping[str, str] = field(default_factory=dict)  # those of the object
    labels: Mapping[str, str] = field(default_factory=dict)  # those of the object


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedValue:
    """One value and its destination."""

    to: Destination
    value: Secret


def collect_destinations(resource: Resource, object_kind: ObjectKind) -> dict[str, Destination]:
    """The destinations of fields in operatorSpec, by the name of the field, sorted."""
    spec = _find_operator_spec(resource)
    if not spec:
        return {}  # as most
    entries = spec.get(_find_fixed(spec, object_kind))
    named_entries = entries.items() if isinstance(entries, Mapping) else ()
    return {
        # A member that is not a text is an error of the schema check.
        name: Destination(
            address=Address(object_kind, resource.key.namespace, str(entry.get("name"))),
            key=str(entry.get("key")),
            annotations=_read_texts(entry.get("annotations")),
            labels=_read_texts(entry.get("labels")),
        )
        for name, entry in sorted(named_entries)
        if isinstance(entry, Mapping)
    }


def find_secret_action(resource: Resource) -> str:
    """The action whose answer the expressions of an AzureResource have as `secret`; "" for none."""
    action = _find_operator_spec(resource).get("secretAction")
    return action if isinstance(action, str) else ""


def has_expressions(resource: Resource) -> bool:
    """Return whether a manifest has any expression."""
    spec = _find_operator_spec(resource)
    return bool(spec) and any(spec.get(field) for field in _EXPRESSIONS.values())


def exports_secrets(resource: Resource) -> bool:
    """Return whether a manifest exports any Secret, for which the run reads keys from Azure."""
    return any(address.object_kind is ObjectKind.SECRET for _, address, _ in iterate_destinations(resource))


def may_export(resource: Resource) -> bool:
    """Return whether a manifest has anything that could be a destination. Most have nothing."""
    return bool(_find_operator_spec(resource))


def find_addresses(resource: Resource) -> frozenset[tuple[Address, str | None]]:
    """Every object that a resource exports to, with the key; None if an expression makes all of its keys."""
    return frozenset((address, key) for _, address, key in iterate_destinations(resource))


def group_keys(resource: Resource) -> dict[Address, frozenset[str]]:
    """Every object that a resource exports to, with its keys as far as the manifest names them."""
    keys: dict[Address, set[str]] = defaultdict(set)
    for _, address, key in iterate_destinations(resource):
        keys[address].update((key,) if key else ())
    return {address: frozenset(names) for address, names in keys.items()}


def iterate_destinations(resource: Resource) -> Iterator[tuple[FieldPath, Address, str | None]]:
    """Every destination of a resource: its field, its object and its key, None if an expression makes all keys."""
    spec = _find_operator_spec(resource)
    for object_kind in ObjectKind if spec else ():
        for name, to in collect_destinations(resource, object_kind).items():
            yield ("spec", OPERATOR_SPEC, _find_fixed(spec, object_kind), name), to.address, to.key
        expressions = spec.get(_EXPRESSIONS[object_kind])
        for index, entry in enumerate(expressions) if isinstance(expressions, list) else ():
            if isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
                address, key = Address(object_kind, resource.key.namespace, entry["name"]), entry.get("key")
                path = ("spec", OPERATOR_SPEC, _EXPRESSIONS[object_kind], index)
                yield path, address, key if isinstance(key, str) else None


def assign_exporters(resources: Iterable[Resource], recorded: Mapping[Address, Key]) -> dict[Address, Key]:
    """Map each object to the resource that may write it: of several, the recorded owner, or else the first."""
    exporters: dict[Address, list[Key]] = defaultdict(list)
    for resource in filter(may_export, resources):
        for address, _ in find_addresses(resource):
            exporters[address].append(resource.key)
    return {
        address: recorded[address] if recorded.get(address) in keys else min(keys)
        for address, keys in exporters.items()
    }


def collect_fields(destinations: Mapping[str, Destination], values: Mapping[str, Secret]) -> tuple[ExportedValue, ...]:
    """Return the values of fields with their destinations, without fields that have no value.

    Raises ExportError with all fields whose value is empty.
    """
    with_values = {name: to for name, to in destinations.items() if name in values}
    empty = [
        f'could not find {_NOUNS[to.address.object_kind]} to save to \'Name: "{to.address.name}", Key: "{to.key}"\''
        for name, to in with_values.items()
        if not values[name].reveal()
    ]
    # An empty key looks written to its readers, and hides that Azure has no value yet.
    if empty:
        raise ExportError(join_errors(empty), is_fatal=False)
    return tuple(ExportedValue(to=to, value=values[name]) for name, to in with_values.items())


def merge_entries(owner: Owner, entries: Iterable[ExportedValue]) -> tuple[Export, ...]:
    """Merge entries to objects, sorted by their addresses.

    Raises ExportError with every key that is written twice, every annotation or label with two values, and every object
    that is too large.
    """
    by_address: dict[Address, list[ExportedValue]] = defaultdict(list)
    for entry in entries:
        by_address[entry.to.address].append(entry)
    collisions: list[str] = []
    exports = tuple(
        Export(
            address=address,
            owner=owner,
            data=_merge_data(address, group, collisions),
            annotations=_merge_metadata(address, "annotation", [e.to.annotations for e in group], collisions),
            labels=_merge_metadata(address, "label", [e.to.labels for e in group], collisions),
        )
        for address, group in sorted(by_address.items())
    )
    too_large = [
        f"{export.address} would have more than {MOST_CHARACTERS} characters"
        for export in exports
        if _count_characters(export) > MOST_CHARACTERS
    ]
    if collisions or too_large:
        raise ExportError(join_errors([*collisions, *too_large]), is_fatal=True)
    return exports


def join_errors(errors: Iterable[str]) -> str:
    """Several errors as one text, each once, as the client of Kubernetes writes a list of errors."""
    distinct = list(dict.fromkeys(errors))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


def format_not_owned(address: Address, key: Key) -> str:
    """ASO's message for an object that exists and belongs to another owner."""
    return f"cannot overwrite {address} which is not owned by {key.kind}.{key.group} {key.namespace}/{key.name}"


def _count_characters(export: Export) -> int:
    metadata = (*export.annotations.items(), *export.labels.items())
    return sum(len(key) + len(value.reveal()) for key, value in export.data.items()) + sum(
        len(k) + len(v) for k, v in metadata
    )


def _merge_data(address: Address, entries: Iterable[ExportedValue], collisions: list[str]) -> dict[str, Secret]:
    data: dict[str, Secret] = {}
    for entry in entries:
        if entry.to.key in data:
            collisions.append(
                f"key collision, entry exists for key '{entry.to.key}' in {_WORDS[address.object_kind][1]}"
            )
        data[entry.to.key] = entry.value
    return dict(sorted(data.items()))


def _merge_metadata(
    address: Address, word: str, mappings: Iterable[Mapping[str, str]], collisions: list[str]
) -> dict[str, str]:
    merged: dict[str, str] = {}
    for key, value in (pair for mapping in mappings for pair in mapping.items()):
        # Several entries may repeat the metadata of their object, as long as they agree.
        if merged.setdefault(key, value) != value:
            target = _WORDS[address.object_kind][0]
            collisions.append(f'{word} collision for {target} "{address.name}": key "{key}" is given two values')
    return dict(sorted(merged.items()))


def _find_operator_spec(resource: Resource) -> Mapping[str, Any]:
    operator_spec = resource.spec.get(OPERATOR_SPEC)
    if operator_spec is None:
        return {}  # as most
    return operator_spec if isinstance(operator_spec, Mapping) else {}


def _find_fixed(operator_spec: Mapping[str, Any], object_kind: ObjectKind) -> str:
    usual, *others = _FIXED[object_kind]
    return next((name for name in others if name in operator_spec), usual)


def _read_texts(value: Any) -> dict[str, str]:
    return {str(key): str(text) for key, text in value.items()} if isinstance(value, Mapping) else {}


def iterate_own_addresses(resource: Resource, declared: Declared) -> Iterator[tuple[Address, str | None]]:
    """The objects that a resource may export to, as far as manifests tell, with the key; None for all keys."""
    for _, address, key in iterate_destinations(resource):
        if not _is_foreign(address, resource.key, declared):
            yield address, key


def check_declared(resource: Resource, declared: Declared) -> Iterator[Finding]:
    """A finding for each object that a manifest declares under the name of a destination."""
    for address, path in collect_first_fields(resource).items():
        if _is_foreign(address, resource.key, declared):
            yield make_foreign(resource.key, address, path, f"{declared[address].source} declares it")


class SharedExports:
    """The exports of a set of manifests, to find those of several resources to one object. Of each object it keeps the
    first two exporters, so that many of them take no longer than few.
    """

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._exporters: dict[Address, list[Resource]] = defaultdict(list)
        for resource in sorted(filter(may_export, resources), key=lambda resource: (resource.key, resource.source)):
            for address in collect_first_fields(resource):
                firsts = self._exporters[address]
                if len(firsts) < _FIRSTS and all(first.key != resource.key for first in firsts):
                    firsts.append(resource)

    def check(self, resource: Resource) -> Iterator[Finding]:
        """A finding for each object that another resource exports to as well. It names the first other resource."""
        for address, path in collect_first_fields(resource).items():
            other = next((exporter for exporter in self._exporters[address] if exporter.key != resource.key), None)
            if other is not None:
                message = f"{format_short_key(other.key)} ({other.source}) exports to {address} too."
                hint = "Export to another name: only one of them can own the object, and the other one fails."
                yield Finding(code="ExportShared", path=path, message=message, hint=hint, invalidates=False)


def collect_first_fields(resource: Resource) -> dict[Address, FieldPath]:
    """Every object that a resource exports to, with the first field that names it."""
    fields: dict[Address, FieldPath] = {}
    for path, address, _ in iterate_destinations(resource):
        fields.setdefault(address, path)
    return fields


def make_foreign(key: Key, address: Address, path: FieldPath, cause: str) -> Finding:
    """Make the finding for an object that is not the resource's own; `cause` names its owner. A run refuses the export
    at its end, as ASO does, so the manifest is not invalid.
    """
    return Finding(
        code="ExportNotOwned",
        path=path,
        message=f"{format_not_owned(address, key)}: {cause}.",
        hint="Export to another name, or remove the object.",
        invalidates=False,
    )


def _is_foreign(address: Address, key: Key, declared: Declared) -> bool:
    return address in declared and not is_owned_by(declared[address].owner, key)
