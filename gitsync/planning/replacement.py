"""Find the changes that need a delete and a create: Azure refuses them in place.

Only known fields count: a region, the fields of the packed table, and a field that Azure has refused to change by its
name. An unknown field is written as always. A renamed manifest is such a change too, since Azure cannot rename a
resource: its delete and its create are shown as one change.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.body_words import find_word
from gitsync.desired.catalog.packed_tables import is_immutable
from gitsync.desired.formats.arm_path import normalize_region
from gitsync.desired.formats.json_pointer import format_pointer, parse_pointer
from gitsync.desired.problems.field_path import find_member, format_field
from gitsync.desired.problems.finding import Finding, locate_finding
from gitsync.desired.request.body import find_field
from gitsync.desired.validation.replace_annotation import LOSES_DATA, REPLACE, format_consent_value, read_consent
from gitsync.model.arm_id import ArmId
from gitsync.model.condition import Condition, ConditionStatus, Severity, WaitReason
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Plan
from gitsync.model.problem import Level, Problem
from gitsync.model.provider import KEEPS_ADOPTED
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim, Record
from gitsync.model.resource import Resource
from gitsync.model.result import Replacement, Result
from gitsync.model.verdict import Action, Comparison, Difference, Verdict
from gitsync.planning.data_types import describe_loss
from gitsync.planning.diff.unknown_values import NOT_KNOWN, add_differences, collect_unknown_values
from gitsync.planning.record_counts import digest_spec
from gitsync.planning.referrers import collect_referrers
from gitsync.planning.status.conditions import make_warning

REFUSED: Final = "PropertyChangeNotAllowed"
"""The code with which Azure refuses to change a field; the message has its name."""

REPLACEMENT_BEGUN: Final = Condition(
    status=ConditionStatus.FALSE,
    severity=Severity.INFO,
    reason=WaitReason.REPLACING.value,
    message="gitsync deletes it and creates it again. It may be missing in between.",
)
"""The condition of a resource between its two halves."""

_MOVE_SUPPORT: Final = "https://learn.microsoft.com/azure/azure-resource-manager/management/move-support-resources"
_NOT_MOVABLE: Final = frozenset(
    {
        "microsoft.containerinstance/containergroups",
        "microsoft.containerservice/managedclusters",
        "microsoft.databricks/workspaces",
        "microsoft.netapp/netappaccounts",
        "microsoft.network/applicationgateways",
        "microsoft.network/expressroutecircuits",
    }
)
"""Types that Azure does not move to another group, by that page. Others may not move either."""

_NAME = re.compile(r"'([A-Za-z][\w.]*)'")


def find_replacement(
    arm_type: str, differences: Iterable[Difference], refusal: Condition | None = None
) -> Replacement | None:
    """Return why Azure refuses to make these differences in place; None if that is not known.

    A value that only one side has is no such difference: Azure may accept what it lacks, and keeps what git leaves out.
    `refusal` is the condition that the last write led to.
    """
    changed = sorted((d for d in differences if d.live is not None and d.desired is not None), key=lambda d: d.path)
    reasons = (_explain(arm_type, difference, refusal) for difference in changed)
    reason = " ".join(dict.fromkeys(filter(None, reasons)))
    return Replacement(reason=reason) if reason else None


def add_new_values(
    comparison: Comparison, arm_type: str, desired: Mapping[str, Any], live: Mapping[str, Any]
) -> Comparison:
    """Return the comparison of a plan with the fixed fields whose value is made with a resource that the run creates:
    it is not known yet, and it is not the one that Azure has. An ARM id stays the same, since names make it.
    """
    found = []
    for path, placeholder in collect_unknown_values(desired).items():
        pointer, value = format_pointer(path), find_member(live, *path)
        is_kept = value is None or (isinstance(value, str) and value.startswith("/"))
        if placeholder.is_new and not is_kept and is_immutable(arm_type, pointer):
            found.append(Difference(pointer, repr(placeholder), value, NOT_KNOWN))
    return add_differences(comparison, found)


def decide_replacement(  # noqa: PLR0913 - what the consent is compared with
    replacement: Replacement,
    differences: Iterable[Difference],
    kind: Kind,
    resource: Resource,
    record: Record | None,
    refusal: Condition | None,
    *,
    prunes: bool,
) -> Replacement:
    """Decide whether a sync may replace a resource, as far as it is known without what is below it.

    The manifest must name each field that needs it with its new value, and the operator must allow deletes. The
    differences are those of the resource, and `refusal` is the condition that the last write led to.
    """
    changed = (
        difference for difference in differences if difference.live is not None and difference.desired is not None
    )
    needing = [difference for difference in changed if _explain(kind.arm_type, difference, refusal)]
    named = dict(_name_change(kind, difference, resource) for difference in needing)
    # Other systems may have the object id of what gitsync adopted, so a new object would break them.
    is_kept = kind.provider in KEEPS_ADOPTED and record is not None and record.claim is Claim.ADOPTED
    kept_because = _KEPT_IF_ADOPTED if is_kept else _explain_kept(named, resource, record, prunes=prunes)
    return replace(replacement, is_due=not kept_because, kept_because=kept_because)


_KEPT_IF_ADOPTED: Final = (
    "Restore the old value in git: gitsync adopted it, and deletes only what it created in Microsoft Entra ID."
)


class _NewValue(NamedTuple):
    """The new value of a field, and where a manifest has it from: `name/key` of a config map, "" for its own value."""

    value: Any
    source: str
    is_known: bool

    @property
    def entry(self) -> str | None:
        """What the annotation has; None for a secret, which it may not name."""
        text = format_consent_value(self.value)
        return self.source if text is not None and self.source and not self.is_known else text


def _explain_kept(named: Mapping[str, _NewValue], resource: Resource, record: Record | None, *, prunes: bool) -> str:
    """Return why a sync must not replace a resource, and what to do; "" if it may. `named` has the new values by the
    names of their fields.
    """
    restore, consent = "Restore the old value in git", read_consent(resource)
    # Its content would be deleted with it, most of which no manifest of the group names.
    if record is not None and record.arm_id.is_group:
        return f"{restore}, or move the content to a new group: gitsync does not replace a resource group."
    if record is None or not record.claim.is_ours or not record.manifest.policy.allows_delete:
        return f"{restore}: gitsync deletes only resources that it created or adopted and whose policy allows it."
    if any(not new.is_known and not new.source for new in named.values()):
        return f"{restore}. Or sync first: the next plan has the new value, which a consent must name."
    # A consent has the new value, and everybody reads an annotation.
    if any(new.entry is None for new in named.values()):
        return f"{restore}: the new value is a secret, which no annotation may name."
    if not named or not all(consent.covers(name, new.value, new.source) for name, new in named.items()):
        entries = ",".join(f"{name}={new.entry}" for name, new in sorted(named.items()))
        given = f" It now consents to {resource.annotations[REPLACE]!r}." if REPLACE in resource.annotations else ""
        return (
            f"{restore}. Or, to delete the resource and create it again, set the annotation `{REPLACE}: {entries}` "
            f"and run with --prune.{given}"
        )
    return "" if prunes else "Run with --prune to delete the resource and create it again."


def _name_change(kind: Kind, difference: Difference, resource: Resource) -> tuple[str, _NewValue]:
    """Name the field of a difference as its manifest does, without `spec` and the `body` of an AzureResource; as Azure
    does, if no field is known.
    """
    path = parse_pointer(difference.path)
    field = find_field(kind, path, resource)
    if field and field[0] != "spec":  # it is in the annotation with members of the body
        return format_field(path), _NewValue(difference.desired, "", difference.rule != NOT_KNOWN)
    inside = field[1:] if field else tuple(path)
    given = find_member(resource.spec, *inside)
    if kind.is_any_type:
        word = find_word(given)
        inside, given = inside[1:], given[word] if word else given
    names = [given.get(word) for word in ("name", "key")] if isinstance(given, Mapping) else []
    source = "/".join(map(str, names)) if all(names) else ""
    return format_field(inside), _NewValue(difference.desired, source, difference.rule != NOT_KNOWN)


def _explain(arm_type: str, difference: Difference, refusal: Condition | None) -> str:
    if difference.path == "/location":
        same = normalize_region(difference.desired) == normalize_region(difference.live)
        return "" if same else "Azure cannot move a resource to another region."
    if is_immutable(arm_type, difference.path):
        if difference.rule == NOT_KNOWN:
            return f"Azure fixes {difference.path} when it creates the resource. The new value is not known yet."
        return f"Azure fixes {difference.path} when it creates the resource."
    if refusal and refusal.reason == REFUSED and _names_field(refusal.message, difference.path):
        return f"Azure has refused to change {difference.path}."
    return ""


def make_move(old_id: ArmId, new_id: ArmId) -> Replacement:
    """Describe what a change of the name or the owner means: another ARM id. Many types can move to another group with
    their data, by an operation of their own; anything else is a delete and a create.
    """
    group, new_group = old_id.resource_group or "", new_id.resource_group or ""
    path, new_path = (arm_id.key.partition("/providers/")[2] for arm_id in (old_id, new_id))
    subscription = new_id.subscription
    elsewhere = "" if subscription == old_id.subscription else f" --destination-subscription-id {subscription}"
    # Only a move to another group keeps the data; a resource that extends another one moves with it.
    is_moved = path and path == new_path and "/providers/" not in path
    if not is_moved or not (elsewhere or group.casefold() != new_group.casefold()):
        return Replacement(reason=f"Azure cannot rename or move {old_id} to {new_id}: it is a delete and a create.")
    provider, *segments = path.split("/")
    if len(segments) > 2:
        advice = "It moves with its parent resource."
    elif f"{provider}/{segments[0]}" in _NOT_MOVABLE:
        advice = "Azure cannot move this type: it is a delete and a create. Restore the owner in git to keep it."
    else:
        advice = (
            f"To keep it and its data, run `az resource move --ids {old_id} --destination-group {new_group}{elsewhere}"
            f"`, then sync: gitsync adopts it there. {_MOVE_SUPPORT} shows whether its type can be moved; otherwise "
            "it is a delete and a create."
        )
    return Replacement(reason=f"Its owner in git is the resource group {new_group}, but it is in {group}. {advice}")


def _names_field(message: str, pointer: str) -> bool:
    """Return whether a refusal names a field or one above it. Azure writes `properties.vmSize`, or leaves out
    `properties`.
    """
    steps = [step.casefold() for step in pointer.split("/")[1:]]
    below = steps[1:] if steps[:1] == ["properties"] else steps
    names = [name.casefold().split(".") for name in _NAME.findall(message)]
    return any(path[: len(name)] == name for name in names for path in (steps, below))


def warn_unused_consents(results: Iterable[Result], applies: Mapping[Key, Apply]) -> Iterator[Problem]:
    """Warn of manifests that consent to a replacement that is not needed: it is done, or the field has the value. A
    field that still differs may need it: a stopped run did not reach it, or Azure has not refused the change yet.
    """
    for result in results:
        resource = applies[result.key].prepared.resource if result.key in applies else None
        names = read_consent(resource).values if resource and REPLACE in resource.annotations else {}
        if resource is None or not names:
            continue
        is_compared = result.verdict in {Verdict.IN_SYNC, Verdict.PENDING, Verdict.DRIFTED, Verdict.CONFLICT}
        is_in_place = result.change.replacement is None and result.action in {Action.NONE, Action.UPDATE}
        is_used_up = result.ending.exists and is_in_place
        if is_compared and is_used_up and not any(_differs(result, name) for name in names):
            yield locate_finding(
                Finding(
                    code="ReplaceConsentUnused",
                    level=Level.WARNING,
                    path=("metadata", "annotations", REPLACE),
                    message=f"{resource.key} consents to {resource.annotations[REPLACE]!r}, but needs no replacement.",
                    hint="Remove the annotation: the replacement is done, or Azure has the value already.",
                ),
                resource,
            )


def _differs(result: Result, name: str) -> bool:
    """Return whether a field differs, or one below it, by its name in a consent."""
    known = result.comparison.fields
    fields = [known[difference.path].name for difference in result.differences if difference.path in known]
    return any(re.match(rf"(?:spec\.)?{re.escape(name)}(?![^.\[])", field) for field in fields)


def collect_takes(key: Key, deleted_id: ArmId, ids: Mapping[Key, ArmId]) -> tuple[Key, ...]:
    """Collect what the delete of a resource takes along, sorted: all that is below it, in git or on record."""
    return tuple(sorted(other for other, arm_id in ids.items() if other != key and arm_id.is_below(deleted_id)))


def explain_kept_below(
    key: Key, takes: Iterable[Key], plan: Plan, records: Mapping[Key, Record], agent: str, *, loses_data: bool
) -> str:
    """Return why a resource must not be replaced, by what git and the records have below it, and by the data that would
    be lost; "" if it may. `agent` is the run's. With `loses_data`, the manifest consents to the loss.
    """
    for other in takes:
        apply, record = plan.applies.get(other), records.get(other)
        # The delete would take along what another agent manages.
        if record is not None and record.agent not in {"", agent}:
            return f"{other} is below it, and the agent {record.agent} manages it."
        # Nothing in this run would create it again.
        if apply is None and other not in plan.prunes:
            return f"{other} is below it, and this run does not cover it."
        if apply is not None and apply.hold:
            return f"{other} is below it, and is held {apply.hold}."
        policy = apply.prepared.policy if apply else record.manifest.policy if record else Policy.SKIP
        if not policy.allows_delete:
            return f"{other} is below it, and its policy is {policy}."
        if (prune := plan.prunes.get(other)) and prune.kept_because:
            return f"{other} is below it, and its delete is held. {prune.kept_because}"
    ids = [record.arm_id for deleted_key in (key, *takes) if (record := records.get(deleted_key))]
    loss = next((loss for arm_id in ids if (loss := describe_loss(arm_id))), "")
    if loss and not loses_data:
        return f"{loss} To delete the data too, add {LOSES_DATA} to the annotation {REPLACE}."
    return ""


def keep_old(result: Result, kept_because: str, *, writes: bool) -> Result:
    """Return the result of a replacement that does not take place, for this reason."""
    change = result.change
    if change.replacement is None:
        raise AssertionError("only a replacement keeps the old resource")
    replacement = replace(change.replacement, is_due=False, kept_because=kept_because)
    condition = replace(
        build_replacement_condition(replacement),
        generation=result.condition.generation,
        time=result.condition.time,
    )
    record = replace(result.record, condition=condition) if writes and result.record else result.record
    reviewed = replace(change.reviewed, action=Action.NONE) if change.reviewed else None
    return replace(
        result,
        action=Action.NONE,
        condition=condition,
        is_fine=not writes,
        change=replace(change, replacement=replacement, reviewed=reviewed),
        record=record,
    )


def build_replacement_condition(replacement: Replacement) -> Condition:
    """Return the condition of a resource that is not written, since Azure would refuse it."""
    return make_warning(WaitReason.REPLACE_NEEDED.value, replacement.reason, replacement.kept_because)


def add_takes(
    results: Mapping[Key, Result], records: Mapping[Key, Record], applies: Mapping[Key, Apply]
) -> dict[Key, Result]:
    """Add to each replacement what a delete takes along: all that is below the resource, in git or on record, and what
    refers to any of it.
    """
    if not any(result.change.replacement for result in results.values()):
        return dict(results)
    ids = {key: result.arm_id for key, result in results.items() if result.ending.exists and result.arm_id}
    ids |= {key: record.arm_id for key, record in records.items()}
    completed = dict(results)
    for key, result in results.items():
        # The recorded resource would be deleted, if a change of the name led to another id.
        deleted_id = records[key].arm_id if key in records else result.arm_id
        if result.change.replacement and deleted_id:
            below, replacement = collect_takes(key, deleted_id, ids), result.change.replacement
            deleted = {key, *below}
            kept = {
                records[deleted_key].kept.given_id.casefold() for deleted_key in deleted if deleted_key in records
            } - {""}
            refers = collect_referrers(deleted, ids, replacement.given_ids | kept, applies, records)
            replacement = replace(replacement, takes=(*below, *refers), refers=refers)
            completed[key] = replace(result, change=replace(result.change, replacement=replacement))
    return completed


def list_takes(takes: Sequence[Key], most: int) -> str:
    """`Kind/a, Kind/b and 3 more`; "nothing else that gitsync manages" if there is none."""
    names = [f"{key.kind}/{key.name}" for key in takes[:most]]
    more = len(takes) - len(names)
    return f"{', '.join(names)}{f' and {more} more' if more else ''}" or "nothing else that gitsync manages"


_Look = tuple[str, str, str, str]
"""What a rename leaves as it is: the namespace, group and kind, and the digest of the spec."""


def note_renames(plan: Plan) -> Plan:
    """Join each removed resource with the new one of the same spec, if there is one of each.

    Of several that look the same, none is joined: which is which is not known.
    """
    removed = _index((_look(prune.key, prune.record.spec.digest), prune.key) for prune in plan.prunes.values())
    if not removed:
        return plan
    created = _index(
        (_look(apply.key, digest_spec(apply.prepared.resource.spec)), apply.key)
        for apply in plan.applies.values()
        if apply.record is None and apply.prepared.is_valid and apply.prepared.is_written
    )
    pairs = {old: new for look, old in removed.items() if (new := created.get(look))}
    applies, prunes = dict(plan.applies), dict(plan.prunes)
    for old, new in pairs.items():
        apply, prune = applies[new], prunes[old]
        # A resource that keeps its ARM id only changes its manifest.
        is_same = prune.record.arm_id.is_same(apply.prepared.arm_id)
        # Only a delete and a create are joined: a detached resource stays where it is.
        if is_same or prune.detaches or not prune.record.claim.is_ours:
            continue
        applies[new] = replace(apply, renamed=old)
        reason = f"{prune.reason} {_describe_rename('to', new)}".lstrip()
        prunes[old] = replace(prune, renamed=new, reason=reason)
    return replace(plan, applies=applies, prunes=prunes)


def _look(key: Key, digest: str) -> _Look:
    return (key.namespace, key.group, key.kind, digest)


def _index(rows: Iterable[tuple[_Look, Key]]) -> Mapping[_Look, Key]:
    """Index the keys by their look, without those that look the same as another."""
    keys: defaultdict[_Look, list[Key]] = defaultdict(list)
    for look, key in rows:
        keys[look].append(key)
    # A record without a digest looks like any other one without.
    return {look: same[0] for look, same in keys.items() if len(same) == 1 and look[-1]}


def describe_rename(old: Key | None) -> str:
    """Return a sentence for the create of a rename; "" for any other resource."""
    return _describe_rename("from", old) if old else ""


def _describe_rename(direction: str, other: Key) -> str:
    return f"Renamed {direction} {other.kind}/{other.name}: a delete and a create, since Azure cannot rename it."
