"""Secrets that no sink would take: they are not read, and the run warns.

An unused secret should not be read. Config maps are kept next to the status, or harmless to read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitsync.manifests.selection import EVERYTHING, Selection
from gitsync.model.export import Address, Holder
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Prepared
from gitsync.request.exports import find_addresses, may_export
from gitsync.request.fill import find_values

_MOST_NAMES = 3


def find_needed_secrets(prepared: Iterable[Prepared]) -> frozenset[Address]:
    """The Secrets that the requests of these resources use."""
    return frozenset(
        address
        for one in prepared
        if one.template and one.template.gaps
        for address, _ in find_values(one.template.body, one.key.namespace)
        if address.holder is Holder.SECRET
    )


def warn_unused_exports(prepared: Sequence[Prepared], selection: Selection = EVERYTHING) -> tuple[Problem, ...]:
    """Return one warning for all Secrets that the selected resources export, except those that a request uses.

    The caller has made sure that no sink takes Secrets.
    """
    needed = find_needed_secrets(prepared)
    exports = sorted(
        f"{address.name} of {one.key.kind}/{one.key.name}"
        for one in prepared
        if may_export(one.resource)
        for address in {address for address, _ in find_addresses(one.resource)} - needed
        if address.holder is Holder.SECRET and selection.has(one.key)
    )
    if not exports:
        return ()
    names = ", ".join(exports[:_MOST_NAMES]) + (
        f" and {len(exports) - _MOST_NAMES} more" if len(exports) > _MOST_NAMES else ""
    )
    warning = Problem(
        code="ExportedNowhere",
        level=Level.WARNING,
        message=f"No sink takes these exported Secrets, so their values are not read: {names}.",
        hint="Set a sink with --export-to, such as folder or key-vault.",
    )
    return (warning,)
