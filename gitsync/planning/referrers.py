"""Find what refers to a resource that would be deleted: by a reference, by an export that it takes, or by a value.

Azure deletes none of it along with the resource, but it loses what it refers to. A new resource has the same ARM id,
and other ids that Azure gives: a resource that takes those needs the new ones, or a replacement too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply
from gitsync.model.record import Record

_GUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_OF_OTHERS: Final = frozenset({"systemdata", "userassignedidentities", "tenantid", "subscriptionid"})
"""Members of a body, in lower case, whose GUIDs are of others: who wrote it, its tenant, identities that it has."""


def list_given_ids(body: Any) -> frozenset[str]:
    """List the ids that Azure has given a resource, by its live body: GUIDs such as a principal's, in lower case."""
    return frozenset(text.casefold() for text in _iterate_texts(body, _OF_OTHERS) if _GUID.fullmatch(text))


def collect_referrers(
    deleted: Collection[Key],
    ids: Mapping[Key, ArmId],
    given: Collection[str],
    applies: Mapping[Key, Apply],
    records: Mapping[Key, Record],
) -> tuple[Key, ...]:
    """Collect what refers to resources that would be deleted, sorted; by a manifest of this run, or else by its record.

    `ids` are the ARM ids of all that exists, and `given` other ids that Azure has given to what would be deleted.
    """
    gone = [ids[key] for key in deleted if key in ids]
    gone_keys = {arm_id.key for arm_id in gone}

    def names(text: str) -> bool:
        # Nearly no text is an id, and a hundred thousand of them are looked at.
        if text[:1] == "/":
            return any(map(ArmId(text).is_within, gone))
        # The length of a GUID spares the case folding of nearly all texts.
        return len(text) == 36 and text.casefold() in given

    def refers(key: Key) -> bool:
        if ids[key].key in gone_keys:
            return False  # another manifest of the same resource
        apply, record = applies.get(key), records.get(key)
        if apply is None:
            return record is not None and (
                not {*record.manifest.needs}.isdisjoint(deleted) or any(map(names, _iterate_texts(record.spec.applied)))
            )
        prepared = apply.prepared
        relations = prepared.relations
        # Units, waves and `gitsync/depends-on` order resources, and no id flows along them.
        named = {*relations.depends_on}.difference(relations.ordered_after, relations.named_first)
        return not named.isdisjoint(deleted) or any(map(names, _iterate_texts(prepared.resource.spec)))

    return tuple(sorted(key for key in ids if key not in deleted and refers(key)))


def _iterate_texts(value: Any, without: Collection[str] = ()) -> Iterator[str]:
    """Iterate over the texts of a document, keys of mappings too: a map of identities has their ids there."""
    pending = [value]
    while pending:
        match pending.pop():
            case str() as text:
                yield text
            case Mapping() as members:
                shown = {name: member for name, member in members.items() if str(name).casefold() not in without}
                pending += [*shown, *shown.values()]
            case list() as entries:
                pending += entries
            case _:
                pass  # a number
