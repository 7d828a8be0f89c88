"""The guards of a delete: each protects a resource that was removed from git, or what needs it. They have one order.

`GUARDS` has them. Each looks at the same value, `Evidence`, when its part of that is known, and the first one that
gives a reason decides. `decide_deletes` is the only function that sets `Prune.kept_because`. What a guard keeps also
keeps the owners, the content and the dependencies of that resource (`delete_scope.Spread`). What stops a delete
without a guard is in `delete_stops`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, NamedTuple

from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Prune, Removal, Review
from gitsync.model.record import Claim, Record
from gitsync.model.resource import Prepared
from gitsync.model.result import Result
from gitsync.model.verdict import Action
from gitsync.planning.delete_scope import GroupContent, Spread, describe_strangers
from gitsync.planning.hidden_manifests import (
    NO_SOURCE,
    OtherFiles,
    RemovedResource,
    SourceIndex,
    explain_any_error,
    explain_name_from_config,
    explain_named,
    explain_owner,
    explain_similar_key,
    explain_similar_namespace,
    explain_unread_document,
    explain_unread_unit,
    find_declaring,
)
from gitsync.planning.managed_locks import NO_LOCKS, LockView
from gitsync.planning.moved_manifests import ALL_READ, LastDeclared, UnreadParts, advise_release
from gitsync.planning.status.conditions import make_undeletable


class Moment(Enum):
    """When a guard can be evaluated. The value completes "evaluated"."""

    PLAN = "when the plan is made"
    LIFT = "before a lock that was removed from git is lifted"
    GROUPS = "after the applies, when the resource groups to delete have been listed"
    DELETE = "right before the delete"


@dataclass(frozen=True, slots=True)
class Removals:
    """How resources were removed from git, and what the run did not read of it. The edges gather this, from files and
    history.
    """

    by_key: Mapping[Key, Removal] = field(default_factory=dict)
    last: Mapping[Key, LastDeclared] = field(default_factory=dict)  # where each was declared last
    unread: UnreadParts = ALL_READ
    beside: OtherFiles | None = None  # the other files of a run of a single file


NO_REMOVALS: Final = Removals()


class Bystanders(NamedTuple):
    """The resources on record that a run does not cover, by their ARM ids."""

    staying: tuple[ArmId, ...] = ()  # those that Azure may have, so that they need what they are in
    every: tuple[ArmId, ...] = ()  # one without a claim may share its resource with another manifest


NO_BYSTANDERS: Final = Bystanders()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the guards look at. A part that is not known yet is empty, and keeps nothing."""

    # when the plan is made
    removed: Mapping[Key, RemovedResource] = field(default_factory=dict)  # each removed resource of the plan
    source: SourceIndex = NO_SOURCE
    removals: Removals = NO_REMOVALS
    untrusted: Mapping[Key, str] = field(default_factory=dict)  # why these records are not believed
    bystanders: Bystanders = NO_BYSTANDERS
    review: Review | None = None  # the reviewed plan that the run is limited to
    # when the plan is made, and again right before the delete
    locks: LockView = NO_LOCKS  # the locks that stay
    # before a lock is lifted
    unrecorded: Mapping[Key, str] = field(default_factory=dict)  # why the records cannot show that it is being lifted
    # after the applies
    needed_by: Mapping[Key, Key] = field(default_factory=dict)  # a resource that is not Ready, and depended on this one
    # then, and again right before the delete
    contents: Mapping[Key, GroupContent] = field(default_factory=dict)  # of each listed resource group
    # right before the delete
    remaining: tuple[Key, ...] = ()  # dependents that still exist
    unlisted: str = ""  # the ARM id of a resource that exists, and that the list of its group lacks
    is_undeletable: bool = False  # the resource exists, and Azure deletes its kind only with a parent

    def find_removed(self, prune: Prune) -> RemovedResource:
        """Return how a resource was removed. One that several manifests declared is deleted once, by the record with
        the claim: how that one was removed counts for all of them.
        """
        removed = self.removed.get(prune.key) or RemovedResource(prune.record)
        delete = self.removed.get(prune.within) if prune.within else None
        return delete if delete and delete.record.arm_id.is_same(removed.record.arm_id) else removed

    def is_needed(self, prune: Prune) -> bool:
        """Return whether a manifest still names the resource, or something in it: then its removal contradicts git."""
        itself = RemovedResource(prune.record)
        return bool(explain_named(itself, self.source) or explain_owner(itself, self.source))

    def may_exist(self, prune: Prune) -> bool:
        """Return whether Azure may have a resource that is kept, so that others must stay for it. One that no run has
        created does not count, unless a policy or a hold keeps it.
        """
        policies = [prune.record.manifest.policy]
        if prune.key in self.untrusted:  # its last manifest does not count alone
            policies.append(self.find_removed(prune).record.manifest.policy)
        is_allowed = all(policy.allows_delete for policy in policies)
        return prune.record.claim is not Claim.NONE or not is_allowed or prune.hold is not None


NO_EVIDENCE: Final = Evidence()


class Guard(NamedTuple):
    """One reason to keep a resource that was removed from git."""

    name: str  # for people: `gitsync explain deletes` lists it
    moment: Moment
    protects: str  # a sentence for people
    explain: Callable[[Prune, Evidence], str]  # why the resource is kept, "" if this guard does not keep it
    keeps_records: bool = False  # it also looks at resources that are only forgotten
    released: bool = False  # --release lifts it
    after_spread: bool = False
    """It looks only at what neither a guard above keeps, nor a resource that one keeps: that explains it better."""


def decide_deletes(
    prunes: Mapping[Key, Prune], evidence: Evidence, moment: Moment, guards: Iterable[Guard] | None = None
) -> dict[Key, Prune]:
    """Return the prunes with their fate, as the guards of a moment decide it."""
    # One spread for all guards of the moment: several reasons for one resource must not carry on several times.
    spread = Spread(prunes, evidence.is_needed, evidence.may_exist)
    for guard in GUARDS if guards is None else guards:
        if guard.moment is not moment:
            continue
        if guard.after_spread:
            spread.run()
        for key, prune in prunes.items():
            if not spread.kept_because[key] and (why := _evaluate(guard, prune, evidence)):
                spread.keep(key, why)
    spread.run()
    return {key: replace(prune, kept_because=spread.kept_because[key]) for key, prune in prunes.items()}


def explain_kept(prune: Prune, evidence: Evidence, moment: Moment) -> str:
    """Return why a single resource is kept at a moment; "" if no guard keeps it."""
    reasons = (_evaluate(guard, prune, evidence) for guard in GUARDS if guard.moment is moment)
    return next(filter(None, reasons), "")


def _evaluate(guard: Guard, prune: Prune, evidence: Evidence) -> str:
    # To forget a record deletes nothing in Azure, so only guards that are about the record itself apply.
    if prune.detaches and not guard.keeps_records:
        return ""
    if guard.released and evidence.find_removed(prune).removal.is_released:
        return ""
    return guard.explain(prune, evidence)


# What the guards look at, when the plan is made and after its applies.


def list_removed(records: Mapping[Key, Record], removals: Removals) -> dict[Key, RemovedResource]:
    """Join the records of removed resources with how they were removed."""
    return {
        key: RemovedResource(record, removals.by_key.get(key, Removal()), removals.last.get(key))
        for key, record in records.items()
    }


def collect_bystanders(
    selected: Iterable[Prepared], removed: Collection[Key], records: Mapping[Key, Record]
) -> Bystanders:
    """Find the records outside of a run, which has the selected and the removed resources. `records` are all records.

    A run does not cover every record: --only and the target namespaces select some, and other agents have records of
    their own. Azure's lists do not decide about those. What a manifest names is in git, in the run or not.
    """
    if not removed:
        return NO_BYSTANDERS
    covered = {*removed, *(prune.key for prune in selected)}
    outside = [record for key, record in records.items() if key not in covered]
    staying = (
        r.arm_id for r in outside if r.claim is not Claim.NONE or not r.manifest.policy.allows_delete or r.manifest.hold
    )
    return Bystanders(tuple(sorted(staying)), tuple(sorted(record.arm_id for record in outside)))


def collect_former_dependents(applies: Mapping[Key, Apply], results: Iterable[Result]) -> dict[Key, Key]:
    """Map the former dependencies of each resource that is not Ready to that resource."""
    return {
        key: result.key
        for result in results
        if not result.is_fine and (record := applies[result.key].record) is not None
        for key in record.manifest.needs
    }


# The guards.


def _of_source(explain: Callable[[RemovedResource, SourceIndex], str]) -> Callable[[Prune, Evidence], str]:
    return lambda prune, evidence: explain(evidence.find_removed(prune), evidence.source)


def _explain_hold(prune: Prune, _: Evidence) -> str:
    return f"It is held {prune.hold}." if prune.hold else ""


def _explain_other_files(prune: Prune, evidence: Evidence) -> str:
    beside, removed = evidence.removals.beside, evidence.find_removed(prune)
    if beside is None:
        return ""
    if beside.error:
        return f"Held: it may have been moved to another file, and the source cannot be read: {beside.error}"
    if declaring := find_declaring(removed.record, beside):
        return (
            f"Held: {declaring.resource.source} declares {declaring.key}, and this run reads {beside.file} alone. "
            "Sync that file, or their folder."
        )
    # The other files hide a manifest in the same ways as those of the run, so their folder counts as its last unit.
    elsewhere = RemovedResource(removed.record, Removal(units=(beside.folder,)))
    seen = Evidence(removed={prune.key: elsewhere}, source=beside.source)
    return next(filter(None, (guard.explain(prune, seen) for guard in _HIDDEN)), "")


def _explain_unknown_end(prune: Prune, evidence: Evidence) -> str:
    """An Application without the finalizer leaves its resources behind."""
    removed = evidence.find_removed(prune)
    manifest, finalizer = removed.record.manifest, removed.removal.unknown_finalizer
    if not finalizer:
        return ""
    return (
        f"Held: the {manifest.declared_by} {manifest.unit} is no longer built, and the history in this clone does not "
        f"show whether it had the finalizer {finalizer}. Fetch the full history (fetch-depth: 0), or restore it."
    )


def _explain_unreadable_file(prune: Prune, evidence: Evidence) -> str:
    removed = evidence.find_removed(prune)
    if removed.removal.unreadable is None:
        return ""
    path, problem = removed.removal.unreadable
    # A file below a link or in a submodule cannot be removed here.
    is_here = problem.path == path
    advice = "To delete the resource, remove the file." if is_here else advise_release(removed.record.key)
    hint = problem.hint.rstrip(".")
    return f"Held: {path} declared this resource, and cannot be read now. {problem.message} {hint}. {advice}"


def _explain_unread_path(prune: Prune, evidence: Evidence) -> str:
    last = evidence.find_removed(prune).last
    return evidence.removals.unread.explain(last) if last else ""


def _explain_bystander(prune: Prune, evidence: Evidence) -> str:
    deleted_id, bystanders = prune.record.arm_id, evidence.bystanders
    # Another manifest may share the resource itself, and then its record has no claim, but the resource must stay.
    endangered_ids = (
        *(arm_id for arm_id in bystanders.staying if arm_id.is_within(deleted_id)),
        *(arm_id for arm_id in bystanders.every if arm_id.is_same(deleted_id)),
    )
    if not endangered_ids:
        return ""
    return f"The delete would also delete {endangered_ids[0]}, which this run does not manage."


def _explain_review(prune: Prune, evidence: Evidence) -> str:
    if evidence.review is None:
        return ""
    action, verb = (Action.DETACH, "forget") if prune.detaches else (Action.DELETE, "delete")
    reviewed = evidence.review.nodes.get(prune.key)
    return "" if reviewed and reviewed.action is action else f"The reviewed plan does not {verb} it."


def _explain_former_dependent(prune: Prune, evidence: Evidence) -> str:
    dependent = evidence.needed_by.get(prune.key)
    return f"{dependent} depended on it and is not Ready." if dependent else ""


def _explain_lock(prune: Prune, evidence: Evidence) -> str:
    return evidence.locks.explain_delete(prune.record.arm_id)


def _explain_strangers(prune: Prune, evidence: Evidence) -> str:
    content = evidence.contents.get(prune.key)
    return describe_strangers(content) if content else ""


def _explain_remaining(_: Prune, evidence: Evidence) -> str:
    return f"{evidence.remaining[0]} still exists and must be deleted first." if evidence.remaining else ""


def _explain_undeletable(prune: Prune, evidence: Evidence) -> str:
    return make_undeletable(prune.key).message if evidence.is_undeletable else ""


def _explain_unlisted(_: Prune, evidence: Evidence) -> str:
    lacking = evidence.unlisted
    return lacking and f"The resource list of the group lacks {lacking}, which exists, so the list is not used."


_HIDDEN: Final = (
    Guard(
        "error without a unit",
        Moment.PLAN,
        "A resource of an older record, which does not show its unit, while any file of the source has an error.",
        _of_source(explain_any_error),
        released=True,
    ),
    Guard(
        "error in its unit",
        Moment.PLAN,
        "A resource of a unit that cannot be read in full: the rest may declare it.",
        _of_source(explain_unread_unit),
        released=True,
    ),
    Guard(
        "unrecognized document",
        Moment.PLAN,
        "A resource with the name and kind of an invalid manifest, or of a document that gitsync does not recognize.",
        _of_source(explain_unread_document),
        released=True,
    ),
    Guard(
        "name from a config map",
        Moment.PLAN,
        "A resource of a kind of which a manifest has a name in Azure that is not known yet.",
        _of_source(explain_name_from_config),
        released=True,
    ),
    Guard(
        "similar name",
        Moment.PLAN,
        "A resource with nearly the name of a new manifest, which may be a typo. A new name counts for one run.",
        _of_source(explain_similar_key),
        released=True,
    ),
    Guard(
        "similar namespace",
        Moment.PLAN,
        "A resource whose manifest may have left the target namespaces by a typo.",
        _of_source(explain_similar_namespace),
        released=True,
    ),
)
"""What may hide the manifest of a removed resource in the files that were read."""


GUARDS: Final = (
    # A person, or a record that is not believed, decides before git does.
    Guard(
        "untrusted record",
        Moment.PLAN,
        "A resource whose record is damaged, forged or not proven to be ours.",
        lambda prune, evidence: evidence.untrusted.get(prune.key, ""),
        keeps_records=True,
    ),
    Guard(
        "hold",
        Moment.PLAN,
        "A resource whose last manifest has the annotation gitsync/hold, until its date.",
        _explain_hold,
        keeps_records=True,
    ),
    Guard(
        "content in git",
        Moment.PLAN,
        "A resource that contains another one that a manifest still declares.",
        _of_source(explain_named),
    ),
    Guard("owner in git", Moment.PLAN, "A resource that a manifest names as its owner.", _of_source(explain_owner)),
    Guard(
        "other files",
        Moment.PLAN,
        "A resource that another file declares, if the run reads a single file.",
        _explain_other_files,
        released=True,
    ),
    Guard(
        "unknown finalizer",
        Moment.PLAN,
        "A resource of an Argo CD Application that is gone, if history does not show whether it cascades.",
        _explain_unknown_end,
        released=True,
    ),
    Guard(
        "unreadable file",
        Moment.PLAN,
        "A resource whose file is still there, as something that cannot be read: a link, a pointer, an encrypted file.",
        _explain_unreadable_file,
        released=True,
    ),
    *_HIDDEN,
    Guard(
        "unread path",
        Moment.PLAN,
        "A resource whose manifest may have moved to a path that the run does not read.",
        _explain_unread_path,
        released=True,
    ),
    Guard(
        "outside of the run",
        Moment.PLAN,
        "A resource that contains one of another agent, of another namespace, or outside of --only.",
        _explain_bystander,
        after_spread=True,
    ),
    Guard(
        "lock",
        Moment.PLAN,
        "A resource at or below the scope of a management lock that stays in git, or that contains one.",
        _explain_lock,
        after_spread=True,
    ),
    Guard(
        "reviewed plan",
        Moment.PLAN,
        "A resource that the plan of --plan does not delete.",
        _explain_review,
        keeps_records=True,
        after_spread=True,
    ),
    Guard(
        "unrecorded lift",
        Moment.LIFT,
        "A management lock, if the status cannot record that it is being lifted for a delete below it.",
        lambda prune, evidence: evidence.unrecorded.get(prune.key, ""),
    ),
    Guard(
        "former dependency",
        Moment.GROUPS,
        "A resource that another one needed until now, if that one is not Ready: its last good state may need it.",
        _explain_former_dependent,
    ),
    Guard(
        "content of a group",
        Moment.GROUPS,
        "A resource group that contains anything that gitsync does not manage.",
        _explain_strangers,
    ),
    Guard(
        "lock that is still there",
        Moment.DELETE,
        "A resource below a lock that was removed from git, and could not be deleted.",
        _explain_lock,
    ),
    Guard(
        "dependents",
        Moment.DELETE,
        "A resource that still has dependents in Azure: they are deleted first.",
        _explain_remaining,
    ),
    Guard(
        "undeletable kind",
        Moment.DELETE,
        "A resource of a kind that Azure deletes only together with its parent.",
        _explain_undeletable,
    ),
    Guard(
        "new content of a group",
        Moment.DELETE,
        "A resource group in which something was created since it was listed first.",
        _explain_strangers,
    ),
    Guard(
        "incomplete list",
        Moment.DELETE,
        "A resource group whose list lacks a resource that exists: it may lack those of others too.",
        _explain_unlisted,
    ),
)
"""Every guard, in the order in which they are evaluated at their moment."""
