"""Is what a manifest names among the manifests: its owner and its references (spec: semantics §5.2, §6.1).

Owners and references stay within a namespace. What hangs below a missing owner has no place either: it is told so,
and told of the cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gitsync.core.catalog import Catalog
from gitsync.core.fieldpath import Path, spell
from gitsync.core.finding import Finding
from gitsync.core.member import Member
from gitsync.core.nearest import nearest
from gitsync.core.references import is_arm_id, named_references
from gitsync.core.typewords import short
from gitsync.model.gvk import Key

_RING = "it is in a cycle"


def check_presence(members: Sequence[Member], catalog: Catalog) -> Iterator[tuple[Member, Finding]]:
    """Findings of every member whose owner or reference is not there, or stands below an owner that is not.

    What is of no kind of ARM cannot be there: that it is named at all is another check's finding.
    """
    present = {member.key for member in members}
    adrift = _adrift(members, present)
    for member in members:
        for path, key, what in _named(member):
            if key not in present and catalog.is_arm_kind(key.group, key.kind):
                yield member, _missing(path, key, what, present)
            elif key in adrift and adrift.get(member.key) != _RING:
                yield member, _unplaced(path, key, what, adrift[key])


def _named(member: Member) -> Iterator[tuple[Path, Key, str]]:
    """What a member names: where, whom, and as what. A name that is an ARM id is another check's business."""
    if member.owner and member.owner.key and not is_arm_id(member.owner.key.name):
        yield ("spec", "owner"), member.owner.key, "owner"
    if member.kind is not None:
        for path, key in named_references(member.kind, member.resource.spec, member.key.namespace):
            if not is_arm_id(key.name):
                yield path, key, "reference"


def _adrift(members: Iterable[Member], present: set[Key]) -> dict[Key, str]:
    """Members without a place in ARM, since they or an owner above them has nothing to stand below; with the cause."""
    owners = {member.key: member.owner.key for member in members if member.owner and member.owner.key}
    unusable = {member.key: said for member in members if (said := _unusable(member))}
    causes: dict[Key, str] = {}
    for key in sorted(present):
        chain = [key]
        while (above := owners.get(chain[-1])) in present and above not in chain:
            chain.append(above)
        last = chain[-1]
        if last in unusable:
            causes[key] = unusable[last]
        elif above == key:
            causes[key] = _RING
        elif above is not None:
            causes[key] = f"{short(above)} is in a cycle" if above in present else f"{short(above)} is not there"
    return causes


def _unusable(member: Member) -> str:
    if member.kind is None:
        return f"{short(member.key)} is not of a known kind"
    return f"{short(member.key)} has no usable owner" if member.kind.has_owner and member.owner is None else ""


def _missing(path: Path, key: Key, what: str, present: set[Key]) -> Finding:
    others = sorted({k.kind for k in present if (k.namespace, k.name) == (key.namespace, key.name)})
    wrong_kind = what == "owner" and bool(others)
    message = f"{spell(path)} names {short(key)}, which no manifest in namespace {key.namespace} declares."
    code = {"owner": "OwnerNotFound", "reference": "ReferenceNotFound"}[what]
    return Finding(
        code="OwnerKind" if wrong_kind else code,
        path=path,
        message=message,
        hint=_where_it_is(key, others, present) or f"Add its manifest, or give its full id in {spell(path)}.armId.",
    )


def _where_it_is(key: Key, others: Sequence[str], present: set[Key]) -> str:
    """What was likely meant: the right name, the same name as another kind, or the same in another namespace."""
    alike = [k.name for k in present if (k.group, k.kind, k.namespace) == (key.group, key.kind, key.namespace)]
    if close := nearest(key.name, alike):
        return f"Did you mean {key.kind}/{close}?"
    if others:
        found = " and ".join(f"{kind}/{key.name}" for kind in others)
        return f"{found} is there, but a {key.kind} is what is named here."
    elsewhere = sorted(k.namespace for k in present if (k.group, k.kind, k.name) == (key.group, key.kind, key.name))
    if elsewhere:
        return f"It is declared in namespace {elsewhere[0]}, but owners and references stay within a namespace."
    return ""


def _unplaced(path: Path, key: Key, what: str, cause: str) -> Finding:
    return Finding(
        code={"owner": "OwnerUnresolved", "reference": "ReferenceUnresolved"}[what],
        path=path,
        message=f"{spell(path)} names {short(key)}, which has no ARM id: {cause}.",
        hint="Mend that first.",
    )
