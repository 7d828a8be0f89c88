"""What the status branch keeps between runs: the records of resources, one file each, and the heartbeat of an agent
(docs/reference/design.md#status-branch).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from gitsync.model.arm_id import ArmId
from gitsync.model.condition import Condition
from gitsync.model.export import Address, Export, Leftover
from gitsync.model.gvk import Key
from gitsync.model.hold import HeldUntil
from gitsync.model.identity import NO_IDS, IdentityIds
from gitsync.model.outside import RecordedOutside
from gitsync.model.provider import NOTHING_KEPT, Kept
from gitsync.model.reconcile_policy import Policy


class Claim(StrEnum):
    """gitsync's claim on a resource. Only a created or adopted resource may be deleted."""

    NONE = "none"  # watched only (policy skip), or never reached
    EXPECTED = "expected"  # a create may have been sent: written before the first write
    CREATED = "created"
    ADOPTED = "adopted"

    @property
    def is_ours(self) -> bool:
        return self in _OURS


_OURS = frozenset({Claim.CREATED, Claim.ADOPTED})


class Trust(StrEnum):
    """The result of checking the seal of a record."""

    UNCHECKED = "unchecked"  # nothing to check, or another agent's
    NO_KEY = "no-key"  # sealed, but this run has no key
    SIGNED = "signed"
    SIGNED_BEFORE = "signed-before"  # with the previous key, or by an older version for this one
    UNSIGNED = "unsigned"
    UNPLACED = "no-repository"  # by an older version, whose seals are valid in any repository
    UNIDENTIFIED = "no-status"  # by an older version, whose seals are valid in any status of the same name
    OTHER_BRANCH = "other-repository"  # or another status branch
    OTHER_STATUS = "other-status"  # of the same repository and branch, or of another repository without a name
    OTHER_KEY = "other-key"
    ALTERED = "altered"

    @property
    def is_refused(self) -> bool:
        return self in _REFUSED

    @property
    def is_former(self) -> bool:
        """Return whether an older version signed it, so that a matching manifest makes it trusted."""
        return self in _FORMER


_FORMER = frozenset({Trust.UNPLACED, Trust.UNIDENTIFIED})
_REFUSED = _FORMER | {Trust.UNSIGNED, Trust.OTHER_BRANCH, Trust.OTHER_STATUS, Trust.OTHER_KEY, Trust.ALTERED}

REPLACING = "replace"
"""The kind of an operation that deletes a resource and creates it again, recorded before the delete."""


@dataclass(frozen=True, slots=True)
class PendingOperation:
    """A long-running operation that was under way when the run ended. No poll URL: it may be signed."""

    kind: str  # "create", "update", "delete" or REPLACING
    started_at: str  # RFC 3339, UTC


@dataclass(frozen=True, slots=True)
class FailedWrite:
    """Writes that Azure refused, or whose operations failed, without a later success. The condition has the cause."""

    kind: str  # "create" or "update": that of the first of them
    since: str  # RFC 3339, UTC
    generation: int  # of the spec which has failed since then
    paths: tuple[str, ...] = ()  # JSON pointers of the intended changes, which Azure may have made in part
    keeps: bool = False
    """Azure accepted the write but kept a value that git no longer has, even after a second write, which is not sent
    again before git or Azure changes.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteStreak:
    """Writes in a row that reverted a change in Azure, with no change in git between them."""

    count: int
    paths: tuple[str, ...]  # JSON pointers of the fields that changed each time, "" for the resource itself
    at: str  # the time of the last, RFC 3339, UTC
    paused: str = ""  # set while the resource is paused: a digest of the differences at that time


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class LastWrite:
    """gitsync's last write of a resource, with the ids that Azure's logs have for it."""

    correlation_id: str  # the one that was sent
    returned_id: str = ""  # the one that Azure returned, "" if it returned none or the same; older records repeat it
    at: str  # when it was sent, RFC 3339, UTC
    revision: str = ""  # the commit of the run, "" for a folder


class Durations(NamedTuple):
    """How many seconds Azure worked on the last create of a resource, and on its last update; None if no run saw it
    end.
    """

    create: int | None = None
    update: int | None = None


_NOT_MEASURED = Durations()


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class RecordedManifest:
    """The manifest of a resource, as a later prune needs it. It stays when the manifest is removed."""

    api_version: str  # of the manifest, with its group
    policy: Policy = Policy.MANAGE
    owner: Key | None = None  # None for kinds without one
    depends_on: tuple[Key, ...] = ()  # orders a later prune
    ordered_after: tuple[Key, ...] = ()  # those of `depends_on` that only the order of units and waves puts first
    unit: str = ""  # its folder, or the file if that was read alone (manifests/units); "" in older records
    path: str = ""  # its file; "" in older records
    declared_by: str = ""  # the kind of the controller object that declares the unit; "" for none
    last_revision: str = ""
    """The last that declares a resource which was removed from git; "" before, and if it is not known."""

    hold: HeldUntil | None = None  # None if it has none

    @property
    def needs(self) -> tuple[Key, ...]:
        """What it depends on by more than the order of units and waves."""
        return tuple(key for key in self.depends_on if key not in self.ordered_after)


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class RecordedSpec:
    """The spec of a resource, and what was last sent and returned for it. The bodies contain no secrets."""

    generation: int = 1  # counts the changes of the spec
    digest: str = ""  # of that generation
    reconciled_generation: int = 0  # the last one that was sent or found in Azure; 0 for none
    applied: Mapping[str, Any] | None = None  # the body that was last sent
    baseline: Mapping[str, Any] | None = None
    """The values of the desired fields that Azure last returned when the resource was written or in sync."""

    outside: RecordedOutside | None = None  # what Azure showed beside them; None in older records


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class RecordedWrites:
    """The writes of a resource, over all runs."""

    count: int = 0  # the runs that wrote it
    operation: PendingOperation | None = None  # the one that an earlier run left unfinished
    failure: FailedWrite | None = None  # set if the last write failed
    streak: WriteStreak | None = None  # the latest of them whose change was reverted each time; None: none yet
    last: LastWrite | None = None
    """The last that was or may have been accepted; None before the first, and in older records."""

    durations: Durations = _NOT_MEASURED


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class RecordedAccess:
    """The credential that a resource was last reconciled with."""

    credential: str = ""  # the name of its Secret; "" for the global credential
    subscription: str = ""  # of the Secret; "" in older records, and for the global credential
    ids: IdentityIds = NO_IDS  # of the identity; none in older records, and if the settings name none
    operator: str = ""  # ASO's annotation: the agent too, but not in older records


NEVER_WRITTEN = RecordedWrites()
UNKNOWN_SPEC = RecordedSpec()
GLOBAL_ACCESS = RecordedAccess()


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Record:
    """The state of one resource."""

    key: Key
    arm_id: ArmId
    arm_api_version: str
    claim: Claim = Claim.NONE
    agent: str = ""  # that keeps the record
    manifest: RecordedManifest
    spec: RecordedSpec = UNKNOWN_SPEC
    writes: RecordedWrites = NEVER_WRITTEN
    access: RecordedAccess = GLOBAL_ACCESS
    exports: tuple[Address, ...] = ()  # the Secrets and ConfigMaps that it owns, sorted
    kept: Kept = NOTHING_KEPT  # what another provider than ARM needs to find the resource
    condition: Condition | None = None  # None before the first
    trust: Trust = field(default=Trust.UNCHECKED, compare=False)  # not kept: found when the record is read

    @property
    def is_replacing(self) -> bool:
        """Return whether a run has started to delete it and create it again."""
        return self.writes.operation is not None and self.writes.operation.kind == REPLACING


@dataclass(frozen=True, slots=True)
class State:
    """The recorded state."""

    records: Mapping[Key, Record]
    revision: str | None = None  # None if nothing is recorded; that of the last run, if several agents have records
    config_maps: Mapping[Address, Export] = field(default_factory=dict)  # those that resources exported
    revisions: Mapping[str, str] = field(default_factory=dict)  # those of the agents, if several have records
    leftovers: frozenset[Leftover] = frozenset()  # exports that could not be removed
    notified: Mapping[str, str] = field(default_factory=dict)
    """The state in an agent's last notification, in words; without one, the agent has reported success or nothing."""

    identity: str = ""  # of the status, which its seals name; "" before the first seal, and in older ones
    strays: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Branches among those of workers that were not read, each with the reason."""

    is_former: bool = False  # an earlier version wrote it, in YAML

    @property
    def agents(self) -> frozenset[str]:
        """The names of the agents in the records."""
        return frozenset(record.agent for record in self.records.values() if record.agent)

    def list_own(self, agent: str) -> dict[Key, Record]:
        """Return the records of an agent, and those without one."""
        return {key: record for key, record in self.records.items() if record.agent in {"", agent}}

    def find_revision(self, agent: str) -> str | None:
        """Return the revision of an agent's records; None if it is not known."""
        if self.revisions:
            return self.revisions.get(agent)
        # Records of another agent are of another revision, or even of another repository.
        return self.revision if self.agents <= {agent} else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """The last run that recorded something, by its report; it may have changed nothing."""

    command: str
    agent: str
    time: str  # its end, RFC 3339, UTC
    revision: str | None  # the commit that it read, None for a folder
    exit_code: int
    outcomes: Mapping[str, int]  # the number of its resources by outcome
    not_reached: tuple[Key, ...]  # the resources that it did not get to
    sent: frozenset[str] = frozenset()  # the correlation ids of its requests
    arm_ids: frozenset[ArmId] = frozenset()  # those of its resources
    commit: str = ""  # the one on the status branch, "" for a folder
    has_changed: bool = False  # Azure accepted or may have accepted a write, or a resource was detached


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """Proof that an agent still runs."""

    agent: str
    time: datetime  # the end of its last successful run, in UTC and whole seconds
    revision: str | None  # the commit that it read; None for a folder without a repository
