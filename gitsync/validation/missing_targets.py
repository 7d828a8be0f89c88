"""Is what a manifest names among the manifests: its owner and its references
(docs/reference/reconciliation.md#owner-resolution).

Owners and references stay within a namespace. A resource below a missing owner has no ARM id either: its finding names
the cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitsync.catalog.catalog import Catalog
from gitsync.catalog.type_words import format_short_key, join_with_and
from gitsync.model.gvk import Key
from gitsync.problems.field_path import FieldPath, format_field
from gitsync.problems.finding import Finding
from gitsync.problems.suggest import suggest
from gitsync.validation.member import Member
from gitsync.validation.references import find_named_references, is_arm_id

_RING = "it is in a cycle"
_MOST_GUESSES = 30_000  # comparisons of two names


def check_presence(members: Sequence[Member], catalog: Catalog) -> Iterator[tuple[Member, Finding]]:
    """Findings of every member whose owner or reference does not exist, or is below an owner that does not.

    What is of no kind of ARM cannot be there: that it is named at all is another check's finding.
    """
    names = _Names(member.key for member in members)
    adrift = _adrift(members, names.present)
    for member in members:
        for path, key, what in _named(member):
            if key not in names.present and catalog.is_arm_kind(key.group, key.kind):
                yield member, _missing(path, key, what, names)
            elif key in adrift and adrift.get(member.key) != _RING:
                yield member, _unplaced(path, key, what, adrift[key])


class _Names:
    """The keys that are present, by what may be mistaken in one. Mutable: guesses of spelling are counted, since with
    very many names that are wrong they would take longer than all else.
    """

    def __init__(self, keys: Iterable[Key]) -> None:
        self.present = frozenset(keys)
        self._of_kind: dict[tuple[str, str, str], list[str]] = {}
        self._called: dict[tuple[str, str], list[str]] = {}
        self._homes: dict[tuple[str, str, str], list[str]] = {}
        self._guesses = _MOST_GUESSES
        for key in sorted(self.present):
            self._of_kind.setdefault((key.group, key.kind, key.namespace), []).append(key.name)
            self._called.setdefault((key.namespace, key.name), []).append(key.kind)
            self._homes.setdefault((key.group, key.kind, key.name), []).append(key.namespace)

    def nearest(self, key: Key) -> str | None:
        """The name of the same kind that was likely meant."""
        known = self._of_kind.get((key.group, key.kind, key.namespace), [])
        self._guesses -= len(known)
        return suggest(key.name, known) if self._guesses >= 0 else None

    def kinds_called(self, key: Key) -> Sequence[str]:
        """Other kinds that have this name, in the same namespace."""
        return self._called.get((key.namespace, key.name), ())

    def homes(self, key: Key) -> Sequence[str]:
        """Other namespaces that have this name, of the same kind."""
        return self._homes.get((key.group, key.kind, key.name), ())


def _named(member: Member) -> Iterator[tuple[FieldPath, Key, str]]:
    """The targets of a member: field, key and role. Another check handles names that are ARM ids."""
    if member.owner and member.owner.key and not is_arm_id(member.owner.key.name):
        yield ("spec", "owner"), member.owner.key, "owner"
    if member.kind is not None:
        for path, key in find_named_references(member.kind, member.resource.spec, member.key.namespace):
            if not is_arm_id(key.name):
                yield path, key, "reference"


def _adrift(members: Iterable[Member], present: frozenset[Key]) -> dict[Key, str]:
    """Members without an ARM id, since they or an owner above them have no valid owner; with the cause."""
    owners = {member.key: member.owner.key for member in members if member.owner and member.owner.key}
    settled = {member.key: said for member in members if (said := _unusable(member))}
    for key in sorted(present):
        chain: dict[Key, None] = {}
        at: Key | None = key
        while at is not None and at in present and at not in settled and at not in chain:
            chain[at] = None
            at = owners.get(at)
        settled.update(_causes_along(list(chain), at, settled, present))
    return {key: cause for key, cause in settled.items() if cause}


def _causes_along(
    chain: list[Key], end: Key | None, settled: Mapping[Key, str], present: frozenset[Key]
) -> Iterator[tuple[Key, str]]:
    """What holds for a chain of owners that leads up to `end`; "" where nothing is wrong with it."""
    if end is None:
        cause = ""
    elif end not in present:
        cause = f"{format_short_key(end)} does not exist"
    elif end in chain:
        start = chain.index(end)
        yield from ((key, _RING) for key in chain[start:])
        chain, cause = chain[:start], f"{format_short_key(end)} is in a cycle"
    else:
        cause = f"{format_short_key(end)} is in a cycle" if settled[end] == _RING else settled[end]
    yield from ((key, cause) for key in chain)


def _unusable(member: Member) -> str:
    if member.kind is None:
        return f"{format_short_key(member.key)} is not of a known kind"
    return (
        f"{format_short_key(member.key)} has no usable owner" if member.kind.has_owner and member.owner is None else ""
    )


def _missing(path: FieldPath, key: Key, what: str, names: _Names) -> Finding:
    wrong_kind = what == "owner" and bool(names.kinds_called(key))
    code = {"owner": "OwnerNotFound", "reference": "ReferenceNotFound"}[what]
    named = f"{format_field(path)} names {format_short_key(key)}"
    return Finding(
        code="OwnerKind" if wrong_kind else code,
        path=path,
        message=f"{named}, which no manifest in namespace {key.namespace} declares.",
        hint=_where_it_is(key, names) or f"Add its manifest, or set its full id in {format_field(path)}.armId.",
    )


def _where_it_is(key: Key, names: _Names) -> str:
    """What was likely meant: the right name, the same name as another kind, or the same in another namespace."""
    if close := names.nearest(key):
        return f"Did you mean {key.kind}/{close}?"
    if others := names.kinds_called(key):
        found = join_with_and([f"{kind}/{key.name}" for kind in others])
        return f"{found} exists, but this references a {key.kind}."
    if homes := names.homes(key):
        return f"It is declared in namespace {homes[0]}, but owners and references stay within a namespace."
    return ""


def _unplaced(path: FieldPath, key: Key, what: str, cause: str) -> Finding:
    return Finding(
        code={"owner": "OwnerUnresolved", "reference": "ReferenceUnresolved"}[what],
        path=path,
        message=f"{format_field(path)} names {format_short_key(key)}, which has no ARM id: {cause}.",
        hint="Fix that first.",
    )
