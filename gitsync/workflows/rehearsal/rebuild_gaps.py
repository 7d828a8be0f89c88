"""Find what a rebuild needs but git does not create: owners and referenced resources without a manifest, and resources
that gitsync only watches. Each is one gap, whatever the number of resources that need it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from gitsync.desired.catalog.type_words import format_count, format_short_key
from gitsync.desired.formats.arm_path import choose_deployment_scope
from gitsync.desired.manifests.unbuilt_units import doubt_absence
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.finding import Finding, find_location
from gitsync.desired.validation.references import OWNERS, REFERENCES, is_arm_id, list_named_references
from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.gvk import Key
from gitsync.model.problem import Problem
from gitsync.model.provider import Provider
from gitsync.model.reconcile_policy import RECONCILE_POLICY, Policy
from gitsync.model.rehearsal import Gap, GapKind
from gitsync.model.resource import Prepared
from gitsync.workflows.rehearsal.rebuild import Rebuild, RebuiltResource

_OWNER = ("spec", "owner")


class Mention(NamedTuple):
    """An owner or a reference."""

    user: RebuiltResource
    path: FieldPath  # of its field
    key: Key | None = None  # the manifest that it names, None for an ARM id
    arm_id: ArmId = NO_ID  # the ARM id that it names, "" for a manifest

    def find_target(self, rebuild: Rebuild) -> str:
        """Return the same text for all uses of one resource; in another subscription, of one resource group."""
        if self.key:
            return str(self.key)
        is_elsewhere = rebuild.is_elsewhere(self.arm_id)
        return choose_deployment_scope(self.arm_id).casefold() if is_elsewhere else rebuild.locate(self.arm_id)


def list_gaps(rebuild: Rebuild, known_ids: Mapping[Key, ArmId], unbuilt: Sequence[Problem] = ()) -> Iterator[Gap]:
    """List what is not in git. `known_ids` are the ids of resources that other sources declare; `unbuilt` are the
    problems of units that cannot be built, and may declare what is missing.
    """
    uses: dict[str, list[Mention]] = {}
    for use in _list_uses(rebuild, known_ids):
        if _is_missing(use, rebuild):
            uses.setdefault(use.find_target(rebuild), []).append(use)
    yield from (_describe_missing(group, rebuild, unbuilt) for group in uses.values())
    watched: dict[str, list[Prepared]] = {}
    for resource in rebuild.prepared:
        if _is_left_out(resource, rebuild):  # several namespaces may watch one resource
            watched.setdefault(rebuild.locate(resource.arm_id) if resource.arm_id else str(resource.key), []).append(
                resource
            )
    yield from (_describe_watched(group, rebuild) for group in watched.values())


def collect_refused(rebuild: Rebuild, known_ids: Mapping[Key, ArmId]) -> Mapping[ArmId, ArmId]:
    """Find the resources that Azure refuses to create, since a resource that they refer to is missing. Return the ids
    of the missing resources by the ids of those that refer to them. Missing owners are left out: a run sends no request
    below them.
    """
    uses = (use for use in _list_uses(rebuild, known_ids) if use.arm_id and use.path[:2] != _OWNER)
    missing = [use for use in uses if _is_missing(use, rebuild) and not rebuild.is_elsewhere(use.arm_id)]
    # Reversed, so that of several missing resources the first one is named.
    return {use.user.prepared.arm_id: use.arm_id for use in reversed(missing) if use.user.prepared.arm_id}


def _list_uses(rebuild: Rebuild, known_ids: Mapping[Key, ArmId]) -> Iterator[Mention]:
    for member in rebuild.members:
        owner = member.prepared.relations.owner
        if owner is not None and owner.arm_id:
            # For an owner that another source declares, the manifest has a name, not an id.
            yield Mention(member, _OWNER if owner.key else (*_OWNER, "armId"), arm_id=owner.arm_id)
        elif owner is not None and owner.key:
            yield Mention(member, _OWNER, owner.key)
        for path, key in list_named_references(member.kind, member.prepared.resource.spec, member.key.namespace):
            arm_id = NO_ID if key in rebuild.by_key else known_ids.get(key, NO_ID)
            yield Mention(member, path, None if arm_id else key, arm_id)
        yield from _list_ids(member)


def _list_ids(member: RebuiltResource) -> Iterator[Mention]:
    """List the references by ARM id, without the owner."""
    for visit in member.visits:
        if visit.name in REFERENCES - OWNERS and visit.fits and isinstance(arm_id := visit.value.get("armId"), str):
            yield Mention(member, (*visit.path, "armId"), arm_id=ArmId(arm_id))
    for path, text, visit in member.list_texts():
        if visit.fields[str(path[-1])].get("mode") == "reference":
            yield Mention(member, path, arm_id=ArmId(text))


def _is_missing(use: Mention, rebuild: Rebuild) -> bool:
    """Return whether the named resource has no manifest, and does not exist without one."""
    if use.key is not None:
        return use.key not in rebuild.by_key
    if not is_arm_id(use.arm_id) or rebuild.comes_along(use.arm_id) or rebuild.find_twin(use.arm_id):
        return False
    location = rebuild.locate(use.arm_id)
    if any(resource.arm_id and rebuild.locate(resource.arm_id) == location for resource in rebuild.prepared):
        return False
    return rebuild.is_elsewhere(use.arm_id) or not rebuild.outlives(use.arm_id)


def _describe_missing(uses: list[Mention], rebuild: Rebuild, unbuilt: Sequence[Problem]) -> Gap:
    use, users = uses[0], {mention.user.key for mention in uses}
    target = use.arm_id or format_short_key(use.key or use.user.key)
    needed = _count(len(users | rebuild.list_dependents(users)))
    if is_elsewhere := bool(use.arm_id) and rebuild.is_elsewhere(use.arm_id):
        others = len({mention.arm_id.key for mention in uses}) - 1
        more = f" or {format_count(others, 'other')} of its resource group" if others else ""
        message = f"{target} is in another subscription, and no manifest declares it{more}. {needed}"
        hint = "Check that it exists before a rebuild: a sync does not restore it."
    else:
        hint = "Add its manifest, or create it before a rebuild."
        absent = Finding(code="", path=use.path, message=f"No manifest declares {target}.", hint=hint)
        found = doubt_absence(absent, f"No manifest that can be read declares {target}", unbuilt)
        message, hint = f"{found.message} {needed}", found.hint
    return Gap(
        kind=GapKind.OWNER,
        key=use.user.key,
        message=message,
        hint=hint,
        # A rebuild of this subscription does not remove what is in another.
        stops=not is_elsewhere,
        source=find_location(use.path, use.user.prepared.resource),
        field=format_field(use.path),
    )


def _is_left_out(resource: Prepared, rebuild: Rebuild) -> bool:
    """Return whether gitsync only watches a resource, but not its owner as well. What is in Entra ID is not lost with a
    subscription.
    """
    if rebuild.makes(resource) or resource.is_watched or resource.provider is Provider.ENTRA:
        return False
    above = (
        rebuild.by_key.get(resource.relations.owner.key)
        if resource.relations.owner and resource.relations.owner.key
        else None
    )
    return above is None or rebuild.makes(above)


def _describe_watched(same: list[Prepared], rebuild: Rebuild) -> Gap:
    prepared, dependents = same[0], rebuild.list_dependents(other.key for other in same)
    if prepared.is_left_to_capz:
        why, hint = "CAPZ manages it", "Let CAPZ create its cluster before a rebuild."
    else:
        why = f"its policy is {prepared.policy}"
        hint = f"Create it before a rebuild, or set its policy to {Policy.MANAGE}."
    return Gap(
        kind=GapKind.OWNER,
        key=prepared.key,
        message=f"A sync only reads it, since {why}. {_count(len(dependents))}",
        hint=hint,
        # A sync fails until it exists. What CAPZ manages may exist later without a fault.
        stops=bool(dependents) or not prepared.is_left_to_capz,
        source=find_location(("metadata", "annotations", RECONCILE_POLICY), prepared.resource),
    )


def _count(number: int) -> str:
    if not number:
        return "No resource that gitsync writes depends on it."
    return f"{format_count(number, 'resource')} {'depends' if number == 1 else 'depend'} on it."
