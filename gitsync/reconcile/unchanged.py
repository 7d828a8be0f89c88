"""A resource that git, its record and Azure agree on: its result follows without the stages.

Nearly all resources of nearly all runs are unchanged. What is asked here is stricter than what the stages ask, so a
resource that is not plainly unchanged goes through them, and gets the same result there.

A list shows what Azure has, or else a read: then the stages go on with that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitsync.manifests.units import Declaration, find_declaration
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.live import Live
from gitsync.model.plan import Apply
from gitsync.model.record import Record
from gitsync.model.resource import Prepared
from gitsync.model.result import Result, Stage
from gitsync.model.template import ReferenceHole, Template
from gitsync.planning.actions import find_remembered
from gitsync.planning.generation import digest_spec
from gitsync.planning.list_sample import is_sampled
from gitsync.reconcile.attempt import EarlyRead
from gitsync.reconcile.context import RunContext, RunRules
from gitsync.reconcile.identities import ResourceIdentity
from gitsync.reconcile.lists import is_settled
from gitsync.reconcile.result_builder import build_unchanged, make_ready
from gitsync.request.exports import OPERATOR_SPEC
from gitsync.request.fill import MissingValueError, fill
from gitsync.request.holes import list_holes
from gitsync.request.owners import is_alias
from gitsync.status.conditions import check_subscription

Judge = Callable[[Mapping[str, Any]], bool]
"""Tells whether a body that Azure shows is that of the record."""


async def find_unchanged(apply: Apply, before: Mapping[Key, Result], run: RunContext) -> Result | EarlyRead | None:
    """Return the result of a resource that is plainly unchanged; for any other, the read that its stages begin with, or
    None if there was none. `before` are the results of its dependencies.
    """
    record = apply.record
    if record is None or not run.lists.covers(apply.key) or not _may_be_unchanged(apply, record, before, run):
        return None
    is_unchanged = _make_judge(apply, record, run)
    kind = run.catalog.kind(apply.prepared.resource.gvk)
    if is_unchanged is None or kind is None:
        return None
    if run.lists.may_show(apply.key, record.arm_id):
        return await _find_listed(apply, kind, record, is_unchanged, run)
    return await _read_early(apply, kind, record, is_unchanged, run)


async def _find_listed(apply: Apply, kind: Kind, record: Record, is_unchanged: Judge, run: RunContext) -> Result | None:
    """The result of a resource that a list, or its parent, shows as unchanged."""
    if is_sampled(apply.key, run.clock.now().date()):
        return None

    async def judge(entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return entry if is_unchanged(entry) else None

    run.progress.started(apply.key, Stage.OBSERVE)
    entry = await run.lists.find_approval(apply.key, kind, record.arm_id, judge, is_final=False)
    if entry is None:
        return None
    run.lists.note_approved(apply.key, kind)
    run.lists.offer_children(kind, record.arm_api_version, entry)
    return build_unchanged(apply, record, run.rules, run.clock.now())


async def _read_early(
    apply: Apply, kind: Kind, record: Record, is_unchanged: Judge, run: RunContext
) -> Result | EarlyRead:
    """The result of a resource that its read shows as unchanged; else that read."""
    conversation = run.conversations.begin(run.find_node_deadline())
    run.progress.started(apply.key, Stage.OBSERVE)
    try:
        found = await run.identities[apply.key].azure().reader(conversation).find(record.arm_id, record.arm_api_version)
    except Exception as failure:  # noqa: BLE001 - the stages end with it, whatever it is
        return EarlyRead(conversation=conversation, found=failure)
    if not isinstance(found, Live) or not is_unchanged(found.body):
        return EarlyRead(conversation=conversation, found=found)
    run.cache.keep(record.arm_id, found)
    run.lists.offer_children(kind, record.arm_api_version, found.body)
    return build_unchanged(apply, record, run.rules, run.clock.now(), conversation)


def _may_be_unchanged(apply: Apply, record: Record, before: Mapping[Key, Result], run: RunContext) -> bool:
    """Tell whether only Azure can tell if a resource that lists cover has changed."""
    prepared, identity = apply.prepared, run.identities[apply.key]
    return (
        _looks_for_changes_alone(run.rules)
        and not (apply.renamed or prepared.ignored or prepared.resource.spec.get(OPERATOR_SPEC))
        and not _is_extended(apply.key, run)
        and _has_nothing_open(record, run.rules.agent)
        and _says_the_same(record, prepared, identity)
        and _is_in_reach(prepared, identity)
        and all(before[key].is_fine for key in prepared.depends_on if key in before)
        and not run.cache.count_writes_near(record.arm_id)
    )


def _looks_for_changes_alone(rules: RunRules) -> bool:
    approval = rules.approval
    return not (rules.always_put or approval.is_reviewed or approval.review)


def _is_extended(key: Key, run: RunContext) -> bool:
    """Tell whether an extension of its kind has a say, even if nothing is sent."""
    return run.registry.alters_comparison(key.group, key.kind) or run.registry.checks_owner(key.group, key.kind)


def _has_nothing_open(record: Record, agent: str) -> bool:
    """Tell whether the last run of this agent left the resource ready, and nothing had reset it."""
    return (
        record.agent == record.operator == agent
        and record.row is None
        and record.generation == record.reconciled_generation
        and make_ready(record.generation, "").says_the_same(record.condition)
    )


def _says_the_same(record: Record, prepared: Prepared, identity: ResourceIdentity) -> bool:
    """Tell whether the record of this manifest would be this one."""
    resource, owner = prepared.resource, prepared.owner
    recorded = (
        record.manifest_api_version,
        record.arm_id,
        record.arm_api_version,
        record.policy,
        record.owner,
        record.depends_on,
        record.credential,
        record.subscription,
        Declaration(unit=record.unit, path=record.path, declared_by=record.declared_by),
    )
    now = (
        resource.gvk.api_version,
        prepared.arm_id,
        prepared.api_version,
        prepared.policy,
        owner.key if owner else None,
        prepared.depends_on,
        prepared.credential,
        identity.subscription if prepared.credential else "",
        find_declaration(resource),
    )
    return recorded == now and record.spec_digest == digest_spec(resource.spec)


def _is_in_reach(prepared: Prepared, identity: ResourceIdentity) -> bool:
    """Tell whether the credential may act on the id. The children of an alias are in a subscription of its own."""
    owner = prepared.owner
    if identity.refusal or is_alias(owner.key if owner else None):
        return False
    return prepared.arm_id is not None and check_subscription(prepared.arm_id, identity.subscription) is None


def _make_judge(apply: Apply, record: Record, run: RunContext) -> Judge | None:
    """What tells whether a body shows the resource as it was recorded; None if only the stages can."""
    body, remembered = _find_body(apply.prepared, run), find_remembered(record, record.arm_api_version)
    if body is None or remembered is None:
        return None

    def judge(shown: Mapping[str, Any]) -> bool:
        return is_settled(shown, record.arm_id, apply.key, run.registry) and remembered.has_all(body, shown)

    return judge


def _find_body(prepared: Prepared, run: RunContext) -> Mapping[str, Any] | None:
    """The body, if it needs no value but ids of other manifests, and these are known."""
    template = prepared.template
    if template is None or not _needs_ids_alone(template):
        return None
    try:
        return fill(template, prepared.key.namespace, run.values).body
    except MissingValueError:
        return None


def _needs_ids_alone(template: Template) -> bool:
    is_known = isinstance(template.arm_id, str)
    return is_known and all(isinstance(hole, ReferenceHole) for hole in list_holes(template.gaps))
