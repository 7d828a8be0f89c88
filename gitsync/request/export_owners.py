"""Exports to objects that are not the resource's own (docs/reference/reconciliation.md#export-ownership).

A run refuses such an export at its end, as ASO does, so these problems do not make a manifest invalid.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from gitsync.catalog.type_words import format_short_key
from gitsync.model.export import Address, is_owned_by
from gitsync.model.gvk import Key
from gitsync.model.manifests import DeclaredObject
from gitsync.model.resource import Resource
from gitsync.problems.field_path import FieldPath
from gitsync.problems.finding import Finding
from gitsync.request.exports import format_not_owned, iterate_destinations, may_export

Declared = Mapping[Address, DeclaredObject]

_FIRSTS = 2


def iterate_own_addresses(resource: Resource, declared: Declared) -> Iterator[tuple[Address, str | None]]:
    """The objects that a resource may export to, as far as manifests tell, with the key; None for all keys."""
    for _, address, key in iterate_destinations(resource):
        if not _is_foreign(address, resource.key, declared):
            yield address, key


def check_declared(resource: Resource, declared: Declared) -> Iterator[Finding]:
    """A finding for each object that a manifest declares under the name of a destination."""
    for address, path in find_first_fields(resource).items():
        if _is_foreign(address, resource.key, declared):
            yield make_foreign(resource.key, address, path, f"{declared[address].source} declares it")


class SharedExports:
    """The exports of a set of manifests, to find those of several resources to one object. Of each object it keeps the
    first two exporters, so that many of them take no longer than few.
    """

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._exporters: dict[Address, list[Resource]] = defaultdict(list)
        for resource in sorted(filter(may_export, resources), key=lambda one: (one.key, one.source)):
            for address in find_first_fields(resource):
                firsts = self._exporters[address]
                if len(firsts) < _FIRSTS and all(one.key != resource.key for one in firsts):
                    firsts.append(resource)

    def check(self, resource: Resource) -> Iterator[Finding]:
        """A finding for each object that another resource exports to as well. It names the first other resource."""
        for address, path in find_first_fields(resource).items():
            other = next((one for one in self._exporters[address] if one.key != resource.key), None)
            if other is not None:
                message = f"{format_short_key(other.key)} ({other.source}) exports to {address} too."
                hint = "Export to another name: only one of them can own the object, and the other one fails."
                yield Finding(code="ExportShared", path=path, message=message, hint=hint, invalidates=False)


def find_first_fields(resource: Resource) -> dict[Address, FieldPath]:
    """Every object that a resource exports to, with the first field that names it."""
    fields: dict[Address, FieldPath] = {}
    for path, address, _ in iterate_destinations(resource):
        fields.setdefault(address, path)
    return fields


def make_foreign(key: Key, address: Address, path: FieldPath, cause: str) -> Finding:
    """The finding for an object of people; `cause` says who has it."""
    return Finding(
        code="ExportNotOwned",
        path=path,
        message=f"{format_not_owned(address, key)}: {cause}.",
        hint="Export to another name, or remove the object.",
        invalidates=False,
    )


def _is_foreign(address: Address, key: Key, declared: Declared) -> bool:
    return address in declared and not is_owned_by(declared[address].owner, key)
