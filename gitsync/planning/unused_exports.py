"""Secrets that would be exported to no sink: they are not read, and the run reports it.

A key without a consumer is best not read. Config maps are always kept next to the status, or harmless to read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gitsync.manifests.selection import EVERYTHING, Selection
from gitsync.model.export import Address, Holder
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Prepared
from gitsync.model.template import SecretHole, SecretMapHole
from gitsync.request.exports import find_addresses
from gitsync.request.holes import find_holes

_NAMED = 3


def find_needed_secrets(prepared: Iterable[Prepared]) -> frozenset[Address]:
    """The Secrets that the requests of these resources draw on."""
    return frozenset(address for one in prepared for address in _needed(one))


def warn_unused_exports(prepared: Sequence[Prepared], choice: Selection = EVERYTHING) -> tuple[Problem, ...]:
    """One warning for all Secrets that the chosen resources export, where no sink takes any: but for those that a
    request draws on.
    """
    needed = find_needed_secrets(prepared)
    found = sorted(
        f"{address.name} of {one.key.kind}/{one.key.name}"
        for one in prepared
        for address in {address for address, _ in find_addresses(one.resource)} - needed
        if address.holder is Holder.SECRET and choice.has(one.key)
    )
    if not found:
        return ()
    named = ", ".join(found[:_NAMED]) + (f" and {len(found) - _NAMED} more" if len(found) > _NAMED else "")
    told = Problem(
        code="ExportedNowhere",
        level=Level.WARNING,
        message=f"No sink takes these exported Secrets, so their values are not read: {named}.",
        hint="Set a sink with --export-to, such as folder or key-vault.",
    )
    return (told,)


def _needed(one: Prepared) -> Iterator[Address]:
    for hole in find_holes(one.template.body) if one.template else ():
        if isinstance(hole, SecretHole | SecretMapHole):
            yield Address(Holder.SECRET, one.key.namespace, hole.name)
