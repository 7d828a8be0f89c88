"""The check `locks`: management locks, and deny assignments, that forbid a change (docs/checks.md).

Both hold for their scope and all below it. A delete also takes along what is below, so a lock there forbids it too.
"""

from __future__ import annotations

import asyncio
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Final, TypeVar

from gitsync.agent.checks.check_requests import UNKNOWN_VALUE, UNUSABLE_ANSWER, CheckRequests, Unanswered, shorten_text
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.check import CheckFinding, CheckName, CheckVerdict, Findings, PlannedChange
from gitsync.model.lock_ids import is_lock
from gitsync.providers.arm.auth.principal import Principal
from gitsync.providers.arm.http.response_bodies import Entries

LOCKED: Final = "ScopeLocked"
DENIED: Final = "DenyAssignmentAuthorizationFailed"

_LOCKS: Final = ("locks", "2020-05-01")
_DENIALS: Final = ("denyAssignments", "2022-04-01")
_READ_ONLY, _CAN_NOT_DELETE = "readonly", "cannotdelete"
_EVERYONE = "00000000-0000-0000-0000-000000000000"
_EXPORTS = ("listKeys", "listCredentials", "listSecrets", "listAdminKeys", "listClusterAdminCredential")
_GROUP = "microsoft.resources/resourcegroups"
_MANAGEMENT_GROUPS = "/providers/microsoft.management/managementgroups/"
_FORBIDDEN = 403
_MOST = 5  # locks that are named: a whole subscription of locks may be below a group

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """A management lock."""

    id: str
    name: str
    scope: ArmId  # the id that it is set on
    level: str  # "CanNotDelete" or "ReadOnly"
    notes: str = ""  # by the person who made it
    application: str = ""  # the id of the managed application that owns it, "" if a person made it


@dataclass(frozen=True, slots=True, kw_only=True)
class DenyAssignment:
    """A deny assignment."""

    name: str
    description: str
    scope: ArmId
    permissions: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]  # pairs of actions and of those that are excepted
    principals: tuple[tuple[str, str], ...]  # pairs of id and type, in lower case
    excluded: tuple[tuple[str, str], ...]  # principals that it does not apply to, likewise
    is_for_children: bool  # it applies below its scope too


class _LockScope(Enum):
    """Where the scope of a rule is, as seen from a resource."""

    HERE = auto()
    ABOVE = auto()
    BELOW = auto()


async def check_locks(changes: Sequence[PlannedChange], requests: CheckRequests) -> Findings:
    """Look for what forbids each change of a resource in a subscription."""
    by_group: defaultdict[tuple[str, str, str], list[PlannedChange]] = defaultdict(list)
    for change in changes:
        if (subscription := change.arm_id.subscription) is not None:
            group = change.arm_id.resource_group or ""
            by_group[subscription.casefold(), group.casefold(), change.doubt].append(change)
    found = await asyncio.gather(*(_check_group(same, requests) for same in by_group.values()))
    return [finding for findings in found for finding in findings]


async def _check_group(changes: Sequence[PlannedChange], requests: CheckRequests) -> Findings:
    """Check the changes of one resource group."""
    arm_id = changes[0].arm_id
    # A doubt is about the subscription: the locks of another one mean nothing.
    if changes[0].doubt or "<" in (arm_id.subscription or ""):
        return [(change.key, _make_unknown(change.id_gap)) for change in changes]
    (locks, no_locks), (denials, no_denials) = await asyncio.gather(
        _read_rules(arm_id, _LOCKS, read_lock, requests),
        _read_rules(arm_id, _DENIALS, read_deny_assignment, requests),
    )
    locks = [_lower(lock, requests.lowered) for lock in locks if requests.lowered.get(ArmId(lock.id).key) != ""]
    # It takes a token to know who signs in, and most subscriptions deny nothing.
    principal = await requests.find_principal() if denials else None
    gaps = [*no_locks, *no_denials]
    return [
        (change.key, finding)
        for change in changes
        for finding in evaluate(change, locks, denials, principal=principal, gaps=gaps)
    ]


def _lower(lock: Lock, lowered: Mapping[IdKey, str]) -> Lock:
    """Return a lock with the level that the run leaves of it."""
    level = lowered.get(ArmId(lock.id).key)
    return replace(lock, level=level) if level else lock


async def _read_rules(
    arm_id: ArmId, what: tuple[str, str], read: Callable[[Mapping[str, Any]], T | None], requests: CheckRequests
) -> tuple[list[T], list[CheckFinding]]:
    """Return the rules of a subscription, and why some may be missing. Without the right to list them, it reads those
    of the group: rules of the subscription itself stay unknown then.
    """
    kind, api_version = what
    subscription, group = arm_id.subscription, arm_id.resource_group
    path = f"/providers/Microsoft.Authorization/{kind}"
    answer = await requests.list(f"/subscriptions/{subscription}{path}", api_version)
    gaps = []
    if isinstance(answer, Unanswered):
        message = f"The {kind} of subscription {subscription} are not known: {answer.reason}"
        gaps.append(replace(answer.as_finding(CheckName.LOCKS), message=message))
    # The right to list may be granted for the group alone.
    if isinstance(answer, Unanswered) and answer.status == _FORBIDDEN and group and "<" not in group:
        answer = await requests.list(f"/subscriptions/{subscription}/resourceGroups/{group}{path}", api_version)
    rows: Entries = [] if isinstance(answer, Unanswered) else answer
    rules = [read(row) for row in rows]
    # An entry that cannot be read may be the one that forbids the change.
    if None in rules:
        gaps.append(_make_unknown(f"Azure's list of {kind} has an entry that cannot be read.", UNUSABLE_ANSWER))
    return [rule for rule in rules if rule is not None], gaps


def read_lock(row: Mapping[str, Any]) -> Lock | None:
    """Read an entry of a list of locks; None if it is not one."""
    lock_id, properties = row.get("id"), row.get("properties")
    if not isinstance(lock_id, str) or not isinstance(properties, Mapping):
        return None
    at = lock_id.casefold().rfind("/providers/microsoft.authorization/locks/")
    level, owners = properties.get("level"), properties.get("owners")
    if at < 0 or not isinstance(level, str):
        return None
    firsts = [owner for owner in owners if isinstance(owner, Mapping)][:1] if isinstance(owners, list) else []
    return Lock(
        id=shorten_text(lock_id),
        name=shorten_text(lock_id.rpartition("/")[2]),
        scope=ArmId(lock_id[:at]),
        level=shorten_text(level),
        notes=shorten_text(properties.get("notes")),
        application=shorten_text(firsts[0].get("applicationId")) if firsts else "",
    )


def read_deny_assignment(row: Mapping[str, Any]) -> DenyAssignment | None:
    """Read an entry of a list of deny assignments; None if it is not one."""
    properties = row.get("properties")
    if not isinstance(properties, Mapping):
        return None
    scope, permissions = properties.get("scope"), properties.get("permissions")
    principals = _read_principals(properties.get("principals"))
    excluded = _read_principals(properties.get("excludePrincipals") or [])
    if not isinstance(scope, str) or not isinstance(permissions, list) or principals is None or excluded is None:
        return None
    if not all(isinstance(permission, Mapping) for permission in permissions):
        return None
    return DenyAssignment(
        name=shorten_text(properties.get("denyAssignmentName")) or shorten_text(row.get("name")),
        description=shorten_text(properties.get("description")),
        scope=ArmId(scope.rstrip("/")),
        permissions=tuple(
            (_read_actions(permission.get("actions")), _read_actions(permission.get("notActions")))
            for permission in permissions
        ),
        principals=principals,
        excluded=excluded,
        is_for_children=properties.get("doNotApplyToChildScopes") is not True,
    )


def _read_principals(rows: Any) -> tuple[tuple[str, str], ...] | None:
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return None
    return tuple((str(row.get("id")).casefold(), str(row.get("type")).casefold()) for row in rows)


def _read_actions(rows: Any) -> tuple[str, ...]:
    return tuple(row.casefold() for row in rows if isinstance(row, str)) if isinstance(rows, list) else ()


def evaluate(
    change: PlannedChange,
    locks: Iterable[Lock],
    denials: Iterable[DenyAssignment],
    *,
    principal: Principal | None = None,
    gaps: Sequence[CheckFinding] = (),
) -> list[CheckFinding]:
    """Return what locks and deny assignments say of a change. `gaps` are what is not known of them: they stand with a
    change that is not refused for certain.
    """
    found = [*_evaluate_locks(change, locks), *_evaluate_denials(change, denials, principal)]
    # What is refused for certain needs no doubts beside it.
    if any(finding.verdict is CheckVerdict.REFUSED for finding in found):
        return found
    doubts = [*gaps, *([_make_unknown(change.id_gap)] if change.id_gap else ())]
    return [*found, *doubts] or [CheckFinding(check=CheckName.LOCKS, verdict=CheckVerdict.FINE)]


def _evaluate_locks(change: PlannedChange, locks: Iterable[Lock]) -> Iterator[CheckFinding]:
    found = [finding for lock in sorted(locks, key=lambda lock: lock.id) for finding in _evaluate_lock(change, lock)]
    found.sort(key=lambda finding: finding.verdict is not CheckVerdict.REFUSED)
    yield from found[:_MOST]
    if len(found) > _MOST:
        message = f"{len(found) - _MOST} more locks affect this change."
        yield CheckFinding(check=CheckName.LOCKS, verdict=found[_MOST].verdict, code=LOCKED, message=message)


def _evaluate_lock(change: PlannedChange, lock: Lock) -> Iterator[CheckFinding]:
    lock_scope, level = _find_lock_scope(change, lock.scope), lock.level.casefold()
    if lock_scope is None or is_lock(change.arm_id):  # no lock forbids to change locks
        return
    make = partial(_make_lock_finding, change, lock)
    # Azure may add a level. What an unknown one forbids is not certain, so it does not refuse the change.
    if level not in {_READ_ONLY, _CAN_NOT_DELETE}:
        yield make(CheckVerdict.WARNING, "may forbid this change")
    elif change.deletes:
        yield make(CheckVerdict.REFUSED, "forbids the delete")
    elif level == _READ_ONLY and lock_scope is not _LockScope.BELOW:
        # The keys of a resource are read by a POST, which such a lock forbids as well.
        keys = " and reading the keys that the manifest exports" if change.exports_secrets else ""
        yield make(CheckVerdict.REFUSED, f"forbids the write{keys}")


def _make_lock_finding(change: PlannedChange, lock: Lock, verdict: CheckVerdict, does: str) -> CheckFinding:
    scope = "the resource itself" if lock.scope.is_same(change.arm_id) else shorten_text(lock.scope)
    notes = f" Notes of the lock: {lock.notes}" if lock.notes else ""
    command = f"Remove the lock: `az lock delete --ids {shlex.quote(lock.id)}`."
    contact = f"Ask an Owner or User Access Administrator of {scope}."
    return CheckFinding(
        check=CheckName.LOCKS,
        verdict=verdict,
        code=LOCKED,
        message=f"The lock {lock.name} ({lock.level}) at {scope} {does}.{notes}",
        advice="Change the application that created the lock." if lock.application else command,
        contact=f"Ask the owner of the application {lock.application}." if lock.application else contact,
    )


def _evaluate_denials(
    change: PlannedChange, denials: Iterable[DenyAssignment], principal: Principal | None
) -> Iterator[CheckFinding]:
    for denial in sorted(denials, key=lambda denial: (denial.scope.casefold(), denial.name)):
        applies, lock_scope = _applies_to(denial, principal), _find_lock_scope(change, denial.scope)
        if applies is False or lock_scope is None:
            continue
        refusal = CheckVerdict.REFUSED if applies else CheckVerdict.WARNING
        make = partial(_make_denial_finding, denial)
        if lock_scope is _LockScope.BELOW:
            # Azure does not document whether a delete that takes it along is refused as well.
            action = f"{denial.scope.arm_type}/delete"
            if change.deletes and _denies(denial, action):
                yield make(action, CheckVerdict.WARNING, may=True)
        elif lock_scope is _LockScope.HERE or denial.is_for_children:
            verbs = (*(("delete",) if change.deletes else ()), *(() if change.body is None else ("write",)))
            kind = _find_action_type(change)
            for action in filter(partial(_denies, denial), (f"{kind}/{verb}" for verb in verbs)):
                yield make(action, refusal, may=not applies)
            exports = (f"{kind}/{verb}/action" for verb in _EXPORTS if change.exports_secrets)
            if action := next(filter(partial(_denies, denial), exports), ""):
                yield make(action, CheckVerdict.WARNING, may=not applies)


def _make_denial_finding(denial: DenyAssignment, action: str, verdict: CheckVerdict, *, may: bool) -> CheckFinding:
    about = f" Its description: {denial.description}" if denial.description else ""
    verb = "may forbid" if may else "forbids"
    return CheckFinding(
        check=CheckName.LOCKS,
        verdict=verdict,
        code=DENIED,
        message=f"The deny assignment {denial.name} at {shorten_text(denial.scope)} {verb} {action}.{about}",
        advice="Exclude gitsync's identity in the deployment stack or managed application that created it.",
        contact=f"Ask the owner of the deny assignment {denial.name}.",
    )


def _applies_to(denial: DenyAssignment, principal: Principal | None) -> bool | None:
    """Return whether a deny assignment applies to gitsync; None if that is unknown: a token does not show groups."""
    own_id = principal.object.casefold() if principal else ""
    excludes, includes = (_has_principal(rows, own_id) for rows in (denial.excluded, denial.principals))
    if excludes or includes is False:
        return False
    return True if includes and excludes is False else None


def _has_principal(rows: Iterable[tuple[str, str]], own_id: str) -> bool | None:
    rows = tuple(rows)
    # A rule for everyone needs no look at the token. Any other list may have a group, whose members no token shows.
    if any(row_id == _EVERYONE or (own_id and row_id == own_id) for row_id, _ in rows):
        return True
    is_told = own_id and all(kind in {"user", "serviceprincipal"} for _, kind in rows)
    return False if is_told or not rows else None


def _denies(denial: DenyAssignment, action: str) -> bool:
    folded = action.casefold()
    return any(
        any(fnmatchcase(folded, pattern) for pattern in actions)
        and not any(fnmatchcase(folded, pattern) for pattern in not_actions)
        for actions, not_actions in denial.permissions
    )


def _find_action_type(change: PlannedChange) -> str:
    is_group = change.arm_type.casefold() == _GROUP  # spelled with the subscription in actions, unlike the type
    return "Microsoft.Resources/subscriptions/resourceGroups" if is_group else change.arm_type


def _find_lock_scope(change: PlannedChange, scope: ArmId) -> _LockScope | None:
    if change.arm_id.is_same(scope):
        return _LockScope.HERE
    # Azure lists for a subscription what holds in it, also of the management groups that it is in.
    if change.arm_id.is_below(scope) or scope.casefold().startswith(_MANAGEMENT_GROUPS):
        return _LockScope.ABOVE
    return _LockScope.BELOW if scope.is_below(change.arm_id) else None


def _make_unknown(message: str, code: str = UNKNOWN_VALUE) -> CheckFinding:
    return CheckFinding(check=CheckName.LOCKS, verdict=CheckVerdict.NOT_CHECKED, code=code, message=message)
