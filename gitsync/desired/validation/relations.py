"""Check the relations between manifests: what declares the same resource, subnets outside of their network, cycles.

Manifests declare the same if they are one resource twice, or one ARM id under several names with different bodies
(docs/reference/design.md#duplicate-resources). What refers to nothing is in `missing_targets`.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.type_words import format_short_key, quote_scalar
from gitsync.desired.formats.address_ranges import AddressRange, is_inside, list_overlaps, parse_range
from gitsync.desired.formats.json_pointer import format_pointer
from gitsync.desired.formats.leaf_changes import compute_changes
from gitsync.desired.problems.field_path import FieldPath, find_member
from gitsync.desired.problems.finding import Finding
from gitsync.desired.validation.depends_on_annotation import DEPENDS_ON_PATH
from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.reconcile_policy import RECONCILE_POLICY, Policy
from gitsync.model.resource import OwnerRef, Resource
from gitsync.model.template import (
    ConfigMapKeyRef,
    ReferenceKeys,
    ResourceRef,
    SecretKeyRef,
    SecretMapRef,
    Text,
)


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Member:
    """A manifest with what was derived from it."""

    resource: Resource
    kind: Kind | None  # None if the catalog does not have it
    owner: OwnerRef | None = None  # None for kinds without one, and if the manifest's owner has an invalid form
    arm_id: ArmId | None = None  # None if it is not known offline
    depends_on: tuple[Key, ...] = ()
    """The dependencies in the same set (owner, references, producers of values); there may be cycles."""

    references: tuple[tuple[FieldPath, Key], ...] = ()
    """Those to other manifests, with their paths, as `list_named_references` finds them."""

    named_first: tuple[Key, ...] = ()  # those of `depends_on` that its annotation `gitsync/depends-on` names
    subscription: str = ""  # of its credential, "" if it has none
    is_written: bool = True  # its policy allows writes
    body: Mapping[str, Any] | None = None  # of its request, with placeholders; None if no request can be made

    @property
    def waits_for_owners(self) -> bool:
        """Whether its unit waits for owners that do not exist."""
        return self.resource.unit is not None and self.resource.unit.options.waits_for_owners

    @property
    def key(self) -> Key:
        return self.resource.key


_MOST_CHANGES: Final = 3
"""Differences that a message shows."""

_SET_APART: Final = (
    "Make the bodies equal, set the reconcile policy skip on all but one, or set different Azure names or owners."
)


def check_duplicates(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """Report each of the manifests that collide, with the first of the others."""
    yield from _check_keys(members)
    yield from _check_arm_ids(members)


def _check_keys(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    by_key = defaultdict(list)
    for member in members:
        by_key[member.key].append(member)
    for same in by_key.values():
        if len(same) > 1:
            # A file may repeat a resource thousands of times, so all but the first share a finding.
            first, others = _make_twice(same[1]), _make_twice(same[0])
            yield same[0], first
            yield from ((member, others) for member in same[1:])


def _make_twice(other: Member) -> Finding:
    """Make the finding of a resource that `other` declares too."""
    key, resource = other.key, other.resource
    return Finding(
        code="ManifestTwice",
        path=("metadata", "name"),
        message=f"{format_short_key(key)} in namespace {key.namespace} is declared more than once: also "
        f"in {resource.source} ({resource.gvk.api_version}).",
        hint="Remove one of them: a resource has one manifest, at one version.",
    )


def _check_arm_ids(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """Check the ARM ids of all keys that are declared once; duplicate keys are reported already."""
    counts = Counter(member.key for member in members)
    arm_ids = {member.key: member.arm_id for member in members if member.arm_id}
    by_id = defaultdict(list)
    for member in members:
        # What is only read cannot undo what another manifest writes.
        if member.arm_id is not None and member.is_written and member.body is not None and counts[member.key] == 1:
            by_id[member.arm_id.key].append(member)
    for same in by_id.values():
        if len(same) > 1:
            yield from _compare_bodies(same, [_make_comparable(member.body, arm_ids) for member in same])


def _compare_bodies(same: Sequence[Member], bodies: Sequence[Any]) -> Iterator[tuple[Member, Finding]]:
    """Report each manifest of one resource, with the difference to another one; nothing if all bodies are equal."""
    if len({member.key[:2] for member in same}) > 1:
        yield from _report_kinds(same)
        return
    first, *rest = zip(same, bodies, strict=True)
    unequal = next((pair for pair in rest if _is_different(pair[1], first[1])), None)
    # Equal bodies are fine: one of the manifests writes, and the others wait for it.
    if unequal is None:
        return
    yield first[0], _make_different(first, unequal)
    for pair in rest:
        yield pair[0], _make_different(pair, first if _is_different(pair[1], first[1]) else unequal)


def _report_kinds(same: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """Report each manifest of one resource that has another kind than the first, and the first."""
    first = same[0]
    other = next(member for member in same if member.key[:2] != first.key[:2])
    for member in same:
        there = other if member.key[:2] == first.key[:2] else first
        finding = Finding(
            code="ArmIdTwice",
            path=_find_name_field(member),
            message=f"{format_short_key(member.key)} and {format_short_key(there.key)} ({there.resource.source}) "
            f"declare the same resource in Azure, {member.arm_id}, as two kinds.",
            hint="Remove one of them. The other one takes over the record of the resource.",
        )
        yield member, finding


def _find_name_field(member: Member) -> FieldPath:
    return ("spec", "azureName") if member.resource.spec.get("azureName") else ("metadata", "name")


def _is_different(left: Any, right: Any) -> bool:
    return next(compute_changes(left, right), None) is not None


def _make_different(here: tuple[Member, Any], there: tuple[Member, Any]) -> Finding:
    (member, body), (other, other_body) = here, there
    changes = list(compute_changes(body, other_body))
    names = f"{_format_distinct(member, other)} and {_format_distinct(other, member)} ({other.resource.source})"
    shown = ", ".join(
        f"{format_pointer(path)} is {_format_side(left)} here and {_format_side(right)} there"
        for path, left, right in changes[:_MOST_CHANGES]
    )
    more = f" and {len(changes) - _MOST_CHANGES} more" if len(changes) > _MOST_CHANGES else ""
    return Finding(
        code="ArmIdTwice",
        path=_find_name_field(member),
        message=f"{names} declare the same resource in Azure, {member.arm_id}, with different bodies: {shown}{more}.",
        hint=_SET_APART,
    )


def _format_side(value: Any) -> str:
    return "absent" if value is None else quote_scalar(value)


def _make_comparable(value: Any, arm_ids: Mapping[Key, ArmId]) -> Any:
    """Turn a body into plain values: a reference is its ARM id if that is known, another placeholder is its text."""
    match value:
        case dict():
            return {key: _make_comparable(child, arm_ids) for key, child in value.items()}
        case list():
            return [_make_comparable(child, arm_ids) for child in value]
        case ReferenceKeys():
            # They are the keys of a map, which has no order.
            return sorted(str(_make_comparable(reference, arm_ids)).casefold() for reference in value.references)
        case ResourceRef(key):
            # References to two manifests of one resource are equal in Azure.
            return str(arm_ids.get(key, key))
        case SecretKeyRef() | SecretMapRef() | ConfigMapKeyRef() | Text():
            return f"<{value}>"
        case _:
            return value


def _format_distinct(member: Member, other: Member) -> str:
    """Name a manifest next to another, with its namespace if that has the same name in another namespace."""
    name = format_short_key(member.key)
    return name if name != format_short_key(other.key) else f"{name} of namespace {member.key.namespace}"


# Subnets outside of their network: Azure refuses them (NetcfgSubnetRangeOutsideVnet), after the network is made.


_NETWORK: Final = ("network.azure.com", "VirtualNetwork")
SUBNET: Final = ("network.azure.com", "VirtualNetworksSubnet")
_PROPERTIES: Final = ("spec", "body", "properties")


def check_address_prefixes(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """Report every subnet that has an address range outside of those of its network.

    Networks that gitsync does not write, and ranges that are not written as such, are skipped.
    """
    networks = {member.key: _list_ranges(member) for member in members if _is_of(member, _NETWORK)}
    for member in members:
        owner = member.owner.key if member.owner else None
        if _is_of(member, SUBNET) and owner is not None and networks.get(owner):
            for path, text in _list_prefixes(member):
                subnet = parse_range(text)
                if subnet is None or is_inside(subnet, networks[owner]):
                    continue
                ranges = ", ".join(map(str, networks[owner]))
                finding = Finding(
                    code="SubnetOutsideNetwork",
                    path=path,
                    message=f"{text} is not inside the address space of {format_short_key(owner)}: {ranges}.",
                    hint="Use a range inside of it, or add one to addressSpace.addressPrefixes of the network.",
                )
                yield member, finding


def check_overlaps(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """Report every subnet that has an address range in common with another one of its network: Azure refuses it
    (NetcfgSubnetRangesOverlap). Those that gitsync does not write are skipped.
    """
    of_networks: dict[Key | str, list[tuple[AddressRange, _Prefix]]] = {}
    for member in members:
        network = _find_network(member)
        if network and member.is_written:
            prefixes = of_networks.setdefault(network, [])
            for path, text in _list_prefixes(member):
                if (found := parse_range(text)) is not None:
                    prefixes.append((found, _Prefix(member, path, text)))
    for prefixes in of_networks.values():
        for prefix, other in list_overlaps(prefixes):
            # Two manifests of one subnet have its ranges twice, which `check_duplicates` is about.
            if prefix.member.key != other.member.key and not _is_same_resource(prefix.member, other.member):
                finding = Finding(
                    code="SubnetsOverlap",
                    path=prefix.path,
                    message=f"{prefix.text} overlaps {other.text} of {format_short_key(other.member.key)} at "
                    f"{other.member.resource.source}, a subnet of the same network.",
                    hint="Change one of them.",
                )
                yield prefix.member, finding


class _Prefix(NamedTuple):
    """A range of a subnet, as its manifest has it."""

    member: Member
    path: FieldPath
    text: str


def _find_network(member: Member) -> Key | str:
    """The network of a subnet; "" for any other resource."""
    if not _is_of(member, SUBNET) or member.owner is None:
        return ""
    return member.owner.key or (member.owner.arm_id or NO_ID).key


def _is_same_resource(member: Member, other: Member) -> bool:
    return member.arm_id is not None and other.arm_id is not None and member.arm_id.is_same(other.arm_id)


def _list_ranges(member: Member) -> tuple[AddressRange, ...]:
    """List the ranges of a network; none if one of them is unknown, or the network is only read."""
    space = _find_fields(member)[1].get("addressSpace")
    prefixes = space.get("addressPrefixes") if isinstance(space, dict) else None
    ranges = [parse_range(text) for text in prefixes] if isinstance(prefixes, list) else []
    is_read = member.resource.annotations.get(RECONCILE_POLICY) == Policy.SKIP.value
    # With a range that is not known, every subnet might be inside.
    known = tuple(network for network in ranges if network is not None)
    return () if is_read or len(known) < len(ranges) else known


def _list_prefixes(member: Member) -> Iterator[tuple[FieldPath, str]]:
    path, fields = _find_fields(member)
    if isinstance(text := fields.get("addressPrefix"), str):
        yield (*path, "addressPrefix"), text
    prefixes = fields.get("addressPrefixes")
    for index, text in enumerate(prefixes if isinstance(prefixes, list) else ()):
        if isinstance(text, str):
            yield (*path, "addressPrefixes", index), text


def _is_of(member: Member, rule_key: tuple[str, str]) -> bool:
    """Return whether a manifest declares a resource of the type of ASO's kind, whichever kind it is of itself."""
    return member.key[:2] == rule_key or (member.kind is not None and member.kind.counterpart == rule_key)


def _find_fields(member: Member) -> tuple[FieldPath, Mapping[str, Any]]:
    """Find the fields that ASO has at the top of a spec, with their path."""
    if member.kind is None or not member.kind.is_any_type:
        return ("spec",), member.resource.spec
    properties = find_member(member.resource.spec, "body", "properties")
    return _PROPERTIES, properties if isinstance(properties, Mapping) else {}


# Cycles of owners, references and values between manifests. No member of a cycle can be applied first, and the order of
# a run requires a graph without cycles.


Adjacency = Mapping[Key, Sequence[Key]]

_MOST_SHOWN = 10


def check_cycles(members: Sequence[Member]) -> Iterator[tuple[Member, Finding]]:
    """Report every member of a cycle, and show one cycle, in order, from its first key. A reference of a manifest to
    itself is none, since Azure accepts the id of a resource in its own body; an owner that is the resource itself is.
    """
    edges: dict[Key, set[Key]] = {}
    for member in members:
        # A key may occur twice, and then the edges of both count.
        edges.setdefault(member.key, set()).update(member.depends_on)
    rings = collect_cycles({key: sorted(targets) for key, targets in edges.items()})
    for member in members:
        ring = rings.get(member.key)
        owner = member.owner.key if member.owner else None
        if owner == member.key:
            yield member, _make_own_owner(owner)
        elif ring is not None:
            path: FieldPath = ("spec", "owner") if owner and rings.get(owner) is ring else ("spec",)
            if any(rings.get(key) is ring for key in member.named_first):
                path = DEPENDS_ON_PATH
            names = [format_short_key(key) for key in ring[:_MOST_SHOWN]]
            if len(ring) > _MOST_SHOWN:
                names.append(f"… ({len(ring)} in all)")
            message = f"Dependency cycle: {' → '.join([*names, format_short_key(ring[0])])}."
            yield member, Finding(code="Cycle", path=path, message=message, hint="Remove one of these references.")


def _make_own_owner(key: Key) -> Finding:
    return Finding(
        code="Cycle",
        path=("spec", "owner"),
        message=f"{format_short_key(key)} names itself as its owner.",
        hint="Name the resource that it is below or extends.",
    )


def collect_cycles(edges: Adjacency) -> Mapping[Key, tuple[Key, ...]]:
    """Map each key in a cycle to one, rotated so that its smallest key comes first.

    It is the shortest cycle through the first of its keys that is in no earlier one.
    """
    cycles: dict[Key, tuple[Key, ...]] = {}
    for key in _list_candidates(edges):
        ring = () if key in cycles else _list_shortest(key, edges)
        if ring:
            start = ring.index(min(ring))
            rotated = ring[start:] + ring[:start]
            cycles.update({member: rotated for member in ring if member not in cycles})
    return cycles


def _list_candidates(edges: Adjacency) -> list[Key]:
    """Remove keys without dependencies, and keys without dependents, until only keys that may be in cycles remain."""
    # Most manifests are in no cycle, and the search for the shortest one is done for each of the others.
    remaining = _peel(edges)
    reverse: dict[Key, list[Key]] = {key: [] for key in remaining}
    for key in remaining:
        for target in edges[key]:
            if target in remaining:
                reverse[target].append(key)
    return sorted(_peel(reverse))


def _peel(edges: Adjacency) -> set[Key]:
    remaining = set(edges)
    waiting = {key: sum(target in remaining for target in edges[key]) for key in remaining}
    dependents: dict[Key, list[Key]] = {}
    for key in remaining:
        for target in edges[key]:
            dependents.setdefault(target, []).append(key)
    ready = deque(key for key, count in waiting.items() if count == 0)
    while ready:
        done = ready.popleft()
        remaining.discard(done)
        for key in dependents.get(done, ()):
            waiting[key] -= 1
            if waiting[key] == 0:
                ready.append(key)
    return remaining


def _list_shortest(start: Key, edges: Adjacency) -> tuple[Key, ...]:
    """List the keys of the shortest cycle through `start`; () if there is none. Ties go to smaller keys."""
    came_from: dict[Key, Key] = {}
    queue = deque([start])
    while queue:
        key = queue.popleft()
        for target in edges.get(key, ()):
            if target == start:
                keys = [key]
                while keys[-1] != start:
                    keys.append(came_from[keys[-1]])
                return tuple(reversed(keys))
            if target not in came_from:
                came_from[target] = key
                queue.append(target)
    return ()
