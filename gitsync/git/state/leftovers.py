"""Exports that could not be removed, as entries of the inventory.

They have no record: that of their resource is gone. Others can push to a branch, so a run removes such an object only
if the resource that is named here still owns it there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gitsync.git.state.fields import DocumentFields
from gitsync.model.export import Address, Holder, Leftover, Owner

_LEFTOVERS = "leftovers"


def build_leftovers(leftovers: Iterable[Leftover]) -> list[dict[str, Any]]:
    """The entries, sorted."""
    return [
        {"object": _format_object(one.address), "owner": str(one.owner), "sink": one.sink} for one in sorted(leftovers)
    ]


def read_leftovers(head: DocumentFields) -> frozenset[Leftover]:
    """Read what `build_leftovers` wrote. StateError (file, line, hint) for anything else."""
    return frozenset(_read_leftover(entry) for entry in head.each(_LEFTOVERS))


def _read_leftover(entry: DocumentFields) -> Leftover:
    try:
        owner = Owner.parse(entry.text("owner"))
    except ValueError:
        raise entry.refusal("owner", "must be Kind.group/namespace/name") from None
    return Leftover(owner, _read_object(entry), entry.text("sink"))


def _format_object(address: Address) -> str:
    return f"{address.holder}/{address.namespace}/{address.name}"


def _read_object(entry: DocumentFields) -> Address:
    holder, *names = entry.text("object").split("/")
    if holder not in set(Holder) or len(names) != 2 or not all(names):
        raise entry.refusal("object", "must be Secret/namespace/name or ConfigMap/namespace/name")
    return Address(Holder(holder), *names)
