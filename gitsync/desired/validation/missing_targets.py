"""Owners and references that no manifest declares
(docs/reference/reconciliation.md#owner-resolution).

Owners and references stay within a namespace. A resource below a missing owner has no ARM id either; its finding names
the cause.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.type_words import add_article, format_short_key, join_with_and
from gitsync.desired.manifests.unbuilt_units import doubt_absence
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.finding import Finding
from gitsync.desired.problems.suggest import suggest
from gitsync.desired.validation.references import is_arm_id
from gitsync.desired.validation.relations import Member
from gitsync.model.arm_id import ArmId
from gitsync.model.facts import Scope
from gitsync.model.gvk import AZURE_RESOURCE, Key
from gitsync.model.manifests import NOTHING_UNUSABLE, KnownId, UnusableDeclarations
from gitsync.model.problem import Level, Problem

_IN_CYCLE = "it is in a cycle"
_MISSING = "does not exist"
WAIT: Final = " If another repository is to create it, set `missingOwner: wait` for the unit in gitsync.yaml."
_MOST_GUESSES = 30_000  # comparisons of two names


NOTHING_KNOWN: Final[Mapping[Key, KnownId]] = {}


def check_presence(
    members: Sequence[Member],
    catalog: Catalog,
    known: Mapping[Key, KnownId] = NOTHING_KNOWN,
    unusable: UnusableDeclarations = NOTHING_UNUSABLE,
) -> Iterator[tuple[Member, Finding]]:
    """Check that the owner and the references of every member exist, and that each is below an owner that does.

    References to kinds that are not ARM's are left to another check. `known` are resources of other sources.
    """
    names, hints = _KnownNames(members), _IdHints(catalog, known, unusable)
    unplaced = _collect_unplaced(members, names.present)
    for member in members:
        for path, key, role in _iterate_targets(member):
            if key in known and not known[key].doubt:  # another source declares it
                continue
            is_owner_kind = role == "owner" and member.kind is not None and member.kind.owner == key[:2]
            # A reference to a kind that is not ARM's is a fault of its own, which another check reports.
            if key not in names.present and (is_owner_kind or catalog.is_arm_kind(key.group, key.kind)):
                by_name = role == "owner" and member.kind is not None and member.kind.owner_is_named
                yield member, _make_missing(member, _MissingTarget(path, key, role, by_name), names, hints)
            # A member of a cycle has that problem already, which explains the others.
            elif key in unplaced and unplaced.get(member.key) != _IN_CYCLE:
                yield member, _make_unplaced(member, _MissingTarget(path, key, role), unplaced[key], unusable.unbuilt)


class _KnownNames:
    """The present keys, by the parts that may be misspelt: for what is missing. Mutable: spelling suggestions are
    counted and limited, since they would take very long for many wrong names.
    """

    def __init__(self, members: Sequence[Member]) -> None:
        self.present = frozenset(member.key for member in members)
        self._members = members
        self._guesses = _MOST_GUESSES

    @cached_property
    def _renamed(self) -> Mapping[Key, str]:
        """The names that builds gave, by the keys that their files have. Of several builds, the last."""
        renamed = (member.resource for member in self._members if member.resource.renamed_from)
        return {resource.key._replace(name=resource.renamed_from): resource.key.name for resource in renamed}

    def find_new_name(self, key: Key) -> str:
        """Find the name that a build gave to a resource of this name in its file; "" if there is none."""
        return self._renamed.get(key, "")

    @cached_property
    def _names_by_kind(self) -> Mapping[tuple[str, ...], list[str]]:
        return _group((key[:3], key.name) for key in sorted(self.present))

    @cached_property
    def _kinds_by_name(self) -> Mapping[tuple[str, ...], list[str]]:
        return _group((key[2:], key.kind) for key in sorted(self.present))

    @cached_property
    def _namespaces_by_name(self) -> Mapping[tuple[str, ...], list[str]]:
        return _group(((key.group, key.kind, key.name), key.namespace) for key in sorted(self.present))

    def find_nearest(self, key: Key) -> str | None:
        """Find the most similar name of the same kind."""
        names = self._names_by_kind.get(key[:3], [])
        # Each comparison takes time, and a hostile source may have many wrong names.
        self._guesses -= len(names)
        return suggest(key.name, names) if self._guesses >= 0 else None

    def find_id(self, key: Key) -> ArmId | None:
        """Find the ARM id of a manifest; None if it is not known offline."""
        return next((member.arm_id for member in self._members if member.key == key), None)

    def list_kinds_called(self, key: Key) -> Sequence[str]:
        """List other kinds that have this name, in the same namespace."""
        return self._kinds_by_name.get(key[2:], ())

    def list_namespaces(self, key: Key) -> Sequence[str]:
        """List other namespaces that have this name, of the same kind."""
        return self._namespaces_by_name.get((key.group, key.kind, key.name), ())


def _group(pairs: Iterable[tuple[tuple[str, ...], str]]) -> dict[tuple[str, ...], list[str]]:
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for shared, text in pairs:
        groups[shared].append(text)
    return groups


def _iterate_targets(member: Member) -> Iterator[tuple[FieldPath, Key, str]]:
    """Yield the targets of a member: field, key and role. Another check handles names that are ARM ids."""
    owner = member.owner
    if owner and owner.key and not owner.arm_id and not is_arm_id(owner.key.name):
        yield ("spec", "owner"), owner.key, "owner"
    for path, key in member.references:
        if not is_arm_id(key.name):
            yield path, key, "reference"


def _collect_unplaced(members: Iterable[Member], present: frozenset[Key]) -> dict[Key, str]:
    """Map members without an ARM id to the cause: they, or an owner above them, have no valid owner."""
    placed = (member for member in members if member.owner and not member.owner.arm_id)
    owners = {member.key: member.owner.key for member in placed if member.owner and member.owner.key}
    settled = {member.key: cause_text for member in members if (cause_text := _explain_unusable(member))}
    # Each chain of owners is climbed once: what is settled on the way holds for all below it.
    for key in sorted(present - settled.keys()):
        if key in settled:
            continue  # since an earlier key
        chain: dict[Key, None] = {}
        current: Key | None = key
        while current is not None and current in present and current not in settled and current not in chain:
            chain[current] = None
            current = owners.get(current)
        settled.update(_list_causes(list(chain), current, settled, present))
    return {key: cause for key, cause in settled.items() if cause}


def _list_causes(
    chain: list[Key], end: Key | None, settled: Mapping[Key, str], present: frozenset[Key]
) -> Iterator[tuple[Key, str]]:
    """List the cause for each key of a chain of owners that leads up to `end`; "" if the chain is valid."""
    if end is None:
        cause = ""
    elif end not in present:
        cause = f"{format_short_key(end)} {_MISSING}"
    elif end in chain:
        start = chain.index(end)
        yield from ((key, _IN_CYCLE) for key in chain[start:])
        chain, cause = chain[:start], f"{format_short_key(end)} is in a cycle"
    else:
        cause = f"{format_short_key(end)} is in a cycle" if settled[end] == _IN_CYCLE else settled[end]
    yield from ((key, cause) for key in chain)


def _explain_unusable(member: Member) -> str:
    if member.kind is None:
        return f"{format_short_key(member.key)} is not of a known kind"
    is_given = member.kind.needs_owner or (member.kind.has_owner and member.resource.spec.get("owner"))
    return f"{format_short_key(member.key)} has no usable owner" if is_given and member.owner is None else ""


class _MissingTarget(NamedTuple):
    """An owner or a reference that does not exist."""

    path: FieldPath  # of the field that names it
    key: Key
    role: str  # "owner" or "reference"
    must_be_named: bool = False  # no ARM id may take its place


@dataclass(frozen=True, slots=True)
class _IdHints:
    """Hints that name the ARM id of a missing target, or the file that declares it."""

    catalog: Catalog
    known: Mapping[Key, KnownId]  # the ids of resources that other sources declare
    unusable: UnusableDeclarations

    def explain_rejected(self, target: _MissingTarget) -> str:
        """Find the hint for a target whose document has a problem of its own; "" for others."""
        source = self.unusable.rejected.get(target.key._replace(namespace=""))
        return f"{source} declares it, but cannot be used. Fix that first." if source else ""

    def explain_left_out(self, target: _MissingTarget) -> str:
        """Find the hint for a target in a file that a kustomization leaves out; "" for others."""
        source = self.unusable.left_out.get(target.key._replace(namespace=""))
        if source is None:
            return ""
        return f"{source} declares it, but its kustomization leaves that file out. Add the file to `resources` there."

    def explain_doubted(self, target: _MissingTarget) -> str:
        """Find the hint for a target whose id is known, but doubted; "" for others."""
        known = self.known.get(target.key)
        # The manifest of such a record may be in a unit that cannot be built, and needs no id then.
        if known is None or (known.is_hidden and self.unusable.unbuilt):
            return ""
        return f"Set {format_field(target.path)}.armId to {known.arm_id}, the id in {known.location}. {known.doubt}"

    def make_expected(self, target: _MissingTarget, subscription: str) -> str:
        """Make the hint with the id that the target has if its Azure name is its name, as far as that is known."""
        if target.must_be_named:
            return "Add its manifest."
        field, key = f"{format_field(target.path)}.armId", target.key
        arm_id = _build_expected_id(self.catalog, key, subscription)
        return f"Add its manifest, or set {field}{f' to {arm_id}' if arm_id else ', its full id'}."


def _build_expected_id(catalog: Catalog, key: Key, subscription: str) -> str:
    """Build the likely ARM id, with what is not known in angle brackets; "" for an extension resource, which may be
    anywhere.

    Source: docs/reference/reconciliation.md#arm-ids.
    """
    kind = catalog.newest(key.group, key.kind)
    root = f"/subscriptions/{subscription or '<subscription>'}/resourceGroups/"
    if kind is None or kind.scope is Scope.EXTENSION:  # it may extend any resource
        return ""
    if kind.scope is Scope.LOCATION:
        return f"{root}{key.name}"
    provider, *types = kind.arm_type.split("/")
    parents = "".join(f"{segment}/<{segment}>/" for segment in types[:-1])
    start = "" if kind.scope is Scope.TENANT else f"{root}<resource group>"
    return f"{start}/providers/{provider}/{parents}{types[-1]}/{key.name}"


def _make_missing(member: Member, target: _MissingTarget, names: _KnownNames, hints: _IdHints) -> Finding:
    path, key, role, _ = target
    wrong_kind = role == "owner" and bool(names.list_kinds_called(key))
    code = {"owner": "OwnerNotFound", "reference": "ReferenceNotFound"}[role]
    reference = f"{format_field(path)} names {format_short_key(key)}"
    # An owner of another kind is a mistake: no other repository will create one.
    waits = role == "owner" and member.waits_for_owners and not wrong_kind
    may_wait = role == "owner" and not waits
    suggestion = (
        hints.explain_rejected(target)
        or hints.explain_left_out(target)
        or hints.explain_doubted(target)
        or _explain_renaming(member, target, names.find_new_name(key))
        or _suggest_target(member, target, names)
    )
    absent = Finding(
        code="OwnerKind" if wrong_kind else code,
        path=path,
        message=f"{reference}, which no manifest in namespace {key.namespace} declares.",
        hint=suggestion or hints.make_expected(target, member.subscription) + (WAIT if may_wait else ""),
        level=Level.WARNING if waits else Level.ERROR,
    )
    return doubt_absence(
        absent, f"{reference}, which no manifest that can be read declares", hints.unusable.unbuilt, suggestion
    )


def _explain_renaming(member: Member, target: _MissingTarget, name: str) -> str:
    """Explain how to make kustomize follow a name that it changed: it updates the references of its own kinds only."""
    if not name:
        return ""
    key, former = target.key, target.key.name
    tools = [
        word
        for word, changed in (("namePrefix", not name.startswith(former)), ("nameSuffix", not name.endswith(former)))
        if changed and former in name
    ]
    field = "/".join([*(step for step in target.path if isinstance(step, str)), "name"])
    reference = f"{{group: {member.key.group}, kind: {member.key.kind}, path: {field}}}"
    snippet = f"nameReference: [{{group: {key.group}, kind: {key.kind}, fieldSpecs: [{reference}]}}]"
    return (
        f"{join_with_and(tools) or 'kustomize'} made it {name}: add a nameReference, so that references follow. Write "
        f"`{snippet}` to a file, and name that file under `configurations` of the kustomization."
    )


def _suggest_target(member: Member, target: _MissingTarget, names: _KnownNames) -> str:
    """Suggest a similar name, or the same name of another kind or in another namespace; "" if there is none."""
    key = target.key
    if close := names.find_nearest(key):
        return f"Did you mean {key.kind}/{close}?"
    if others := names.list_kinds_called(key):
        if AZURE_RESOURCE[1] in {*others, key.kind}:
            has_fixed_kind = target.role == "owner" and member.kind is not None and not member.kind.any_owner
            return _suggest_other_kind(key, others, names, has_fixed_kind=has_fixed_kind)
        candidates = join_with_and([f"{kind}/{key.name}" for kind in others])
        return f"{candidates} exists, but this references {add_article(key.kind)}."
    if namespaces := names.list_namespaces(key):
        return f"It is declared in namespace {namespaces[0]}, but owners and references stay within a namespace."
    return ""


def _suggest_other_kind(key: Key, others: Sequence[str], names: _KnownNames, *, has_fixed_kind: bool) -> str:
    """Suggest how to name a resource that changed from an ASO kind to an AzureResource, or back."""
    name = f"{others[0]}/{key.name}"
    if others[0] != AZURE_RESOURCE[1]:
        return f"{name} exists: set group and kind to those of its manifest."
    group, kind = AZURE_RESOURCE
    if has_fixed_kind:
        arm_id = names.find_id(Key(group, kind, key.namespace, key.name)) or "its ARM id"
        return f"{name} exists: replace name by armId: {arm_id}."
    return f"{name} exists: set group to {group} and kind to {kind}."


def _make_unplaced(member: Member, target: _MissingTarget, cause: str, unbuilt: Sequence[Problem]) -> Finding:
    path, key, role, _ = target
    begin = f"{format_field(path)} names {format_short_key(key)}, which has no ARM id"
    is_missing = cause.endswith(_MISSING)
    absent = Finding(
        code={"owner": "OwnerUnresolved", "reference": "ReferenceUnresolved"}[role],
        path=path,
        message=f"{begin}: {cause}.",
        hint="Fix that first.",
        level=Level.WARNING if member.waits_for_owners and is_missing else Level.ERROR,
    )
    unread = f"{begin}: no manifest that can be read declares {cause.removesuffix(_MISSING).rstrip()}"
    return doubt_absence(absent, unread, unbuilt) if is_missing else absent
