"""MANAGEMENT LOCKS among the resources of a run (`Microsoft.Authorization/locks`), and the order that they demand.

A lock holds for its scope and all below. So it is created after all that the run does there, and deleted before it. A
lock that stays is never lifted for a change: the change is blocked. What somebody else has locked, the check `locks`
finds in Azure (agent/checks/locks.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.check import PlannedChange
from gitsync.model.gvk import AZURE_RESOURCE, Key
from gitsync.model.lock_ids import LOCK_TYPE, find_scope, is_lock
from gitsync.model.plan import Apply, Plan, Prune
from gitsync.model.record import Record
from gitsync.model.resource import Prepared, Resource
from gitsync.model.result import Result
from gitsync.model.verdict import Action

LOCKED: Final = "BlockedByLock"
"""The reason of a resource that is not written, since a lock that stays forbids it."""

READ_ONLY: Final = "readonly"
CAN_NOT_DELETE: Final = "cannotdelete"
# In lower case, as keys of ids are
_MANAGEMENT_GROUPS: Final = "/providers/microsoft.management/managementgroups/"


def declares_lock(resource: Resource) -> bool:
    """Return whether a manifest declares a lock, whose id may not be known offline."""
    if resource.key[:2] != AZURE_RESOURCE:
        return False
    arm_type = resource.spec.get("type")
    return isinstance(arm_type, str) and arm_type.partition("@")[0].casefold() == LOCK_TYPE.casefold()


def read_level(body: Any) -> str:
    """Read the level of a lock from its body, in lower case; "" if it is not known."""
    properties = body.get("properties") if isinstance(body, Mapping) else None
    level = properties.get("level") if isinstance(properties, Mapping) else None
    # In a template it may be a placeholder instead of a text.
    return level.casefold() if isinstance(level, str) else ""


def find_lowered_level(change: PlannedChange) -> str | None:
    """Find what a change leaves of a lock, in lower case: "" if it is deleted. None for any other change: a lock that
    becomes stricter does so after all else.
    """
    if not is_lock(change.arm_id):
        return None
    if change.deletes:
        return ""
    level = read_level(change.body)
    return level if level != READ_ONLY else None


@dataclass(frozen=True, slots=True, order=True)
class ManagedLock:
    """A lock that gitsync manages."""

    key: Key
    scope: ArmId
    level: str  # "cannotdelete" or "readonly", "" if it is not known

    def covers(self, arm_id: ArmId) -> bool:
        """Return whether it holds for a resource. That of a management group may hold for any subscription."""
        # No id shows which management group its subscription is in.
        is_everywhere = self.scope.key.startswith(_MANAGEMENT_GROUPS) and arm_id.subscription is not None
        return not is_lock(arm_id) and (arm_id.is_within(self.scope) or is_everywhere)

    def forbids_delete(self, arm_id: ArmId) -> bool:
        """Return whether Azure refuses a delete: of a resource that it holds for, or of one that it is below."""
        return self.covers(arm_id) or (bool(arm_id) and not is_lock(arm_id) and self.scope.is_below(arm_id))

    def forbids_write(self, arm_id: ArmId) -> bool:
        return self.level == READ_ONLY and self.covers(arm_id)

    def explain(self, does: str) -> str:
        """Return a sentence on why a change is blocked. `does` completes it, as in "forbids the delete"."""
        level = {READ_ONLY: " (ReadOnly)", CAN_NOT_DELETE: " (CanNotDelete)"}.get(self.level, "")
        return f"Blocked by the lock {self.key}{level} at {self.scope}, which {does}."


def make_recorded_lock(key: Key, record: Record) -> ManagedLock:
    """Make the lock of a record, with the level that it had last."""
    # An adopted lock was never sent, so only what Azure returned has its level.
    return ManagedLock(
        key, find_scope(record.arm_id), read_level(record.spec.applied) or read_level(record.spec.baseline)
    )


def find_moving_scope(prepared: Prepared, record: Record | None) -> ArmId:
    """Find the scope of a lock of git that a run may create or change; "" for one that stays as it is on record, and
    for all else. What a lock that stays forbids is blocked, so nothing waits for it.
    """
    if prepared.arm_id is None or not is_lock(prepared.arm_id):
        return NO_ID
    # An operation that a run left unfinished may have ended either way.
    is_there = record is not None and record.claim.is_ours and record.writes.operation is None
    desired = read_level(prepared.template.body) if prepared.template else ""
    is_same = record is not None and make_recorded_lock(prepared.key, record).level == desired
    return NO_ID if is_there and is_same else find_scope(prepared.arm_id)


def list_recorded_locks(records: Mapping[Key, Record], without: Collection[Key] = ()) -> tuple[ManagedLock, ...]:
    """List the locks that Azure has as far as records show it, sorted; `without` are those that go."""
    # An operation on record may have ended either way, so such a lock is not counted on.
    found = (
        make_recorded_lock(key, record)
        for key, record in records.items()
        if is_lock(record.arm_id) and record.claim.is_ours and record.writes.operation is None and key not in without
    )
    return tuple(sorted(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """The parts of a plan, one after the other. Most plans have no lock, and only the second part."""

    first: Mapping[Key, Apply | Prune] = field(default_factory=dict)  # locks that are lifted, or weakened
    usual: Plan
    last: Mapping[Key, Apply] = field(default_factory=dict)  # all other locks, and what depends on them


def split_turns(plan: Plan) -> Turns:
    """Split a plan into its turns."""
    locks = {key: apply for key, apply in plan.applies.items() if declares_lock(apply.prepared.resource)}
    lifted = {key: prune for key, prune in plan.prunes.items() if is_lock(prune.record.arm_id)}
    if not (locks or lifted):
        return Turns(usual=plan)
    weakened = {key: apply for key, apply in locks.items() if is_weakened(apply)}
    last = _add_dependents(locks.keys() - weakened.keys(), plan.applies)
    taken = {*weakened, *last}
    return Turns(
        first={**weakened, **lifted},
        usual=Plan(
            applies={key: apply for key, apply in plan.applies.items() if key not in taken},
            prunes={key: prune for key, prune in plan.prunes.items() if key not in lifted},
            problems=plan.problems,
            complete=plan.complete,
        ),
        last={key: plan.applies[key] for key in plan.applies if key in last},
    )


def is_weakened(apply: Apply) -> bool:
    """Return whether a lock that forbids writes is to forbid deletes only: the writes below need that first."""
    template, record = apply.prepared.template, apply.record
    if template is None or record is None or not (record.claim.is_ours and is_lock(record.arm_id)):
        return False
    return make_recorded_lock(apply.key, record).level == READ_ONLY != read_level(template.body)


def _add_dependents(keys: Iterable[Key], applies: Mapping[Key, Apply]) -> set[Key]:
    """Add all that depends on these, over any number of others."""
    found = set(keys)
    is_growing = bool(found)
    # The plan has no order here: what depends on a later resource is found in the next round.
    while is_growing:
        new = {key for key, apply in applies.items() if key not in found and not found.isdisjoint(apply.depends_on)}
        found |= new
        is_growing = bool(new)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class LockView:
    """What the stages of a resource know of locks."""

    standing: tuple[ManagedLock, ...] = ()  # those that stay in Azure while the run lasts
    open_writes: Mapping[Key, ArmId] = field(default_factory=dict)  # what is still to be written, for locks that wait
    open_deletes: Mapping[Key, ArmId] = field(default_factory=dict)  # what is still to be deleted

    def explain_write(self, arm_id: ArmId) -> str:
        """Return why a resource must not be written; "" if it may."""
        return next((lock.explain("forbids the write") for lock in self.standing if lock.forbids_write(arm_id)), "")

    def explain_delete(self, arm_id: ArmId) -> str:
        """Return why a resource must not be deleted; "" if it may."""
        return next((lock.explain("forbids the delete") for lock in self.standing if lock.forbids_delete(arm_id)), "")

    def find_open(self, lock: ManagedLock) -> Key | None:
        """Find what a lock must wait for, since it would forbid the next try."""
        writes = (key for key, arm_id in sorted(self.open_writes.items()) if lock.forbids_write(arm_id))
        deletes = (key for key, arm_id in sorted(self.open_deletes.items()) if lock.forbids_delete(arm_id))
        return next(deletes, None) or next(writes, None)


NO_LOCKS: Final = LockView()


def foresee_standing(plan: Plan, records: Mapping[Key, Record], *, prune: bool) -> LockView:
    """Foresee which locks forbid writes while a plan is carried out; with `prune`, those that it deletes do not."""
    lifted = {key for key, node in plan.prunes.items() if prune and is_to_delete(node)}
    weakened = {key for key, apply in plan.applies.items() if is_weakened(apply)}
    standing = list_recorded_locks(records, without={*lifted, *weakened})
    return LockView(standing=standing) if standing else NO_LOCKS


def list_open_deletes(prunes: Mapping[Key, Prune], results: Mapping[Key, Result]) -> dict[Key, ArmId]:
    """List what was to be deleted and was not, nor is being deleted. `prunes` are those of the plan."""
    return {
        key: prune.record.arm_id
        for key, prune in prunes.items()
        if is_to_delete(prune) and results[key].action is Action.NONE and results[key].ending.exists
    }


def is_to_delete(prune: Prune) -> bool:
    return not (prune.detaches or prune.kept_because or prune.hold)


def list_open_writes(applies: Mapping[Key, Apply], results: Mapping[Key, Result]) -> Iterator[tuple[Key, ArmId]]:
    """List what was to be written and is not as git has it."""
    for key, result in results.items():
        if key in applies and applies[key].prepared.is_written and not result.is_fine:
            arm_id = result.arm_id or applies[key].prepared.arm_id
            if arm_id:
                yield key, arm_id
