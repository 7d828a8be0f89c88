"""Which children a PUT of their parent brings to their state in git.

Azure embeds some children in their parent, so a PUT of the parent writes them too
(docs/reference/kinds.md#embedded-children). If both change in one commit, the live children may not fit the new parent,
nor the new children the live parent: for example, a network and its subnets have new ranges. So a child goes along as
it is in git if this run would write it next, and it need not be reviewed or held first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from gitsync.desired.catalog.children import find_embedded
from gitsync.desired.formats.ignored_paths import keep_live_paths, remove_paths
from gitsync.desired.validation.annotations import UPDATE_METHOD
from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Node, Plan, Review
from gitsync.model.resource import Prepared
from gitsync.model.template import ResourceRef
from gitsync.model.verdict import Action, Comparison, Verdict
from gitsync.planning.actions import find_remembered
from gitsync.planning.diff.hints import make_kind_hints
from gitsync.planning.diff.three_way import compare

_ID = re.compile(r"/(?:subscriptions|providers)/", re.IGNORECASE)


class GoingAlong(NamedTuple):
    """A child that goes along: the body by which it does, and how it differs before."""

    body: Mapping[str, Any]
    comparison: Comparison


def group_by_owner(plan: Plan, may_embed: Callable[[Key], bool]) -> dict[Key, list[Node]]:
    """Group the nodes of a plan by their owners, for owners that `may_embed` children."""
    groups: dict[Key, list[Node]] = {}
    unnamed: list[tuple[ArmId, Node]] = []
    for owner, arm_id, node in _list_owned(plan):
        if owner is None:
            unnamed.append((arm_id, node))
        elif may_embed(owner):
            groups.setdefault(owner, []).append(node)
    if unnamed:
        owners = {apply.prepared.arm_id.key: key for key, apply in plan.applies.items() if apply.prepared.arm_id}
        for arm_id, node in unnamed:
            # A manifest that names its owner by ARM id has no owner key, and its parent's PUT contains it anyway.
            named = next((owners[path] for path in arm_id.lineage if path != arm_id.key and path in owners), None)
            if named is not None and may_embed(named):
                groups.setdefault(named, []).append(node)
    return groups


def _list_owned(plan: Plan) -> Iterator[tuple[Key | None, ArmId, Node]]:
    """List each owner with the id of what it owns; None for one that the manifest names by its ARM id."""
    for apply in plan.applies.values():
        if (owner := apply.prepared.relations.owner) and (owner.key or owner.arm_id):
            yield owner.key, apply.prepared.arm_id or NO_ID, apply
    for prune in plan.prunes.values():
        yield prune.record.manifest.owner, prune.record.arm_id, prune


def may_go_along(apply: Apply, parent: Prepared, agent: str, review: Review | None) -> bool:
    """Return whether a run would write a child that changed in git, as far as that is known before it is read, and with
    the credential of its parent. Its body must be known too: without a Secret, and without values of others.
    """
    prepared, record, template = apply.prepared, apply.record, apply.prepared.template
    if record is None or template is None or not (prepared.is_valid and prepared.is_written) or prepared.is_watched:
        return False
    reviewed = review.nodes.get(apply.key) if review else None
    return (
        apply.skipped_because is None
        and apply.hold is None
        and record.agent in {"", agent}
        and record.claim.is_ours
        # The parent's credential would send the child's change, which its own may not allow.
        and prepared.credential == parent.credential
        # After an interrupted write, Azure may be between two states of the child.
        and record.writes.operation is None
        # A paused resource must not be written by way of its parent.
        and not (record.writes.streak and record.writes.streak.paused)
        and prepared.arm_id is not None
        and record.arm_id.is_same(prepared.arm_id)
        # A PUT of the parent sends all of the child, and a manifest with PATCH leaves the rest to others.
        and prepared.resource.annotations.get(UPDATE_METHOD) != "patch"
        and all(isinstance(gap, ResourceRef) for gap in template.gaps)
        and (review is None or (reviewed is not None and reviewed.action is Action.UPDATE))
    )


def find_going_along(
    apply: Apply, kind: Kind, body: Mapping[str, Any], parent: Mapping[str, Any], *, is_reviewed: bool
) -> GoingAlong | None:
    """Return how a child goes along with its parent; None if it stays as Azure has it: it did not change in git, or it
    changed in Azure and a reviewer has not seen that. `body` is its request, and `parent` the live parent.
    """
    entry = _find_entry(apply, kind, parent)
    ignored, api_version = apply.prepared.ignored, apply.prepared.api_version or ""
    remembered = find_remembered(apply.record, api_version, ignored)
    if entry is None or remembered is None:
        return None
    comparison = compare(remove_paths(body, ignored), remove_paths(entry, ignored), remembered, make_kind_hints(kind))
    verdict = comparison.verdict
    if verdict is not Verdict.PENDING and (is_reviewed or verdict is not Verdict.CONFLICT):
        return None
    return GoingAlong(_keep_references(keep_live_paths(body, entry, ignored), entry), comparison)


def _find_entry(apply: Apply, kind: Kind, parent: Mapping[str, Any]) -> Mapping[str, Any] | None:
    entries = find_embedded(kind, parent) or ()
    return next((entry for entry in entries if ArmId(entry["id"]).is_same(apply.prepared.arm_id)), None)


def _keep_references(body: Mapping[str, Any], entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a body with each property that names something new as Azure has it: that may be created after the parent
    only, and the child's own write refers to it.
    """
    live, properties = entry.get("properties"), body.get("properties")
    if not isinstance(live, Mapping) or not isinstance(properties, Mapping):
        return body
    known = _list_ids(live)
    kept = {name: live.get(name) for name, value in properties.items() if not known.issuperset(_list_ids(value))}
    changed = {name: value for name, value in {**properties, **kept}.items() if value is not None}
    return {**body, "properties": changed}


def _list_ids(value: Any) -> frozenset[str]:
    if isinstance(value, Mapping):
        return frozenset().union(*map(_list_ids, value.values()))
    if isinstance(value, list):
        return frozenset().union(*map(_list_ids, value))
    return frozenset({value.casefold()} if isinstance(value, str) and _ID.match(value) else ())
