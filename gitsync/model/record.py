"""What the status branch keeps between runs: the records of resources, one file each, and the heartbeat of an agent
(docs/reference/design.md#status-branch).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from gitsync.model.condition import Condition
from gitsync.model.export import Address, Export, Leftover
from gitsync.model.gvk import Key
from gitsync.model.hold import HeldUntil
from gitsync.model.policy import Policy
from gitsync.model.provider import NOTHING_KEPT, Kept


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
    OTHER_PLACE = "other-repository"  # or another status branch
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
_REFUSED = _FORMER | {Trust.UNSIGNED, Trust.OTHER_PLACE, Trust.OTHER_STATUS, Trust.OTHER_KEY, Trust.ALTERED}

REPLACING = "replace"
"""The kind of an operation that deletes a resource and creates it again, recorded before the delete."""


@dataclass(frozen=True, slots=True)
class PendingOperation:
    """A long-running operation that was under way when the run ended. No poll URL: it may be signed."""

    kind: str  # "create", "update", "delete" or REPLACING
    started_at: str  # RFC 3339, UTC


@dataclass(frozen=True, slots=True)
class FailedWrite:
    """Writes that Azure refused, or whose operations failed, without a later success.

    `kind` is that of the first of them. `generation` of the spec has failed since `since` (RFC 3339, UTC). `paths` are
    JSON pointers of the intended changes, which Azure may have made in part. The cause is in the condition. `keeps`:
    Azure accepted the write but kept a value that git no longer has, even after a second write. It is not sent again
    before git or Azure changes.
    """

    kind: str  # "create" or "update"
    since: str
    generation: int
    paths: tuple[str, ...] = ()
    keeps: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteStreak:
    """Writes in a row that reverted a change in Azure, with no change in git between them.

    `count` is their number, `at` the time of the last (RFC 3339, UTC). `paths` are JSON pointers of the fields that
    changed each time, "" for the resource itself. `held` is set while the resource is paused: a digest of the
    differences at that time.
    """

    count: int
    paths: tuple[str, ...]
    at: str
    held: str = ""


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class LastWrite:
    """gitsync's last write of a resource, with the ids that Azure's logs have for it.

    `correlation_id` is the id that was sent, `returned_id` the one that Azure returned, "" if it returned none or the
    same; older records repeat it. `at` is when it was sent (RFC 3339, UTC), `revision` the commit of the run, "" for a
    folder.
    """

    correlation_id: str
    returned_id: str = ""
    at: str
    revision: str = ""


class Durations(NamedTuple):
    """How many seconds Azure worked on the last create of a resource, and on its last update; None if no run saw it
    end.
    """

    create: int | None = None
    update: int | None = None


_NOT_MEASURED = Durations()


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Record:
    """The state of one resource.

    `applied` is the body that was last sent. `baseline` has the values of the desired fields that Azure last returned
    when the resource was written or in sync. Neither contains secrets. `depends_on` orders a later prune. `generation`
    counts changes of the spec, whose digest is `spec_digest`; `reconciled_generation` is the last one that was sent or
    found in Azure, 0 for none. `writes` counts the runs that wrote it; `streak` the latest of them whose change was
    reverted each time (None: none yet). `failure` is set if the last write failed. `last_write` is the last write that
    was or may have been accepted; None before the first, and in older records. `durations` are those of its writes.

    `agent` is the agent that keeps the record; `operator`, ASO's annotation, names it too, but not in older records.
    `credential` is the name of the Secret that it was last reconciled with; "" for the global credential.
    `subscription` is that of the Secret; "" in older records, and for the global credential. `exports` are the Secrets
    and ConfigMaps that it owns, sorted. `unit` is the folder of the manifest, or the file if that was read alone
    (manifests/units), and `path` its file; "" in older records. `declared_by` is the kind of the controller object that
    declares the unit; "" for none. `last_revision` is the last that declares a resource which was removed from git; ""
    before, and if it is not known. `hold` is that of the manifest, and stays when the manifest is removed. `kept` is
    what another provider than ARM needs to find the resource. `trust` is not kept: it is found when the record is read.
    """

    key: Key
    manifest_api_version: str
    arm_id: str
    arm_api_version: str
    claim: Claim = Claim.NONE
    policy: Policy = Policy.MANAGE
    generation: int = 1
    reconciled_generation: int = 0
    spec_digest: str = ""
    applied: Mapping[str, Any] | None = None
    baseline: Mapping[str, Any] | None = None
    operation: PendingOperation | None = None
    writes: int = 0
    failure: FailedWrite | None = None
    streak: WriteStreak | None = None
    last_write: LastWrite | None = None
    durations: Durations = _NOT_MEASURED
    owner: Key | None = None
    depends_on: tuple[Key, ...] = ()
    agent: str = ""
    operator: str = ""
    credential: str = ""
    subscription: str = ""
    exports: tuple[Address, ...] = ()
    unit: str = ""
    path: str = ""
    declared_by: str = ""
    last_revision: str = ""
    hold: HeldUntil | None = None
    kept: Kept = NOTHING_KEPT
    condition: Condition | None = None
    trust: Trust = field(default=Trust.UNCHECKED, compare=False)

    @property
    def is_replacing(self) -> bool:
        """Return whether a run has started to delete it and create it again."""
        return self.operation is not None and self.operation.kind == REPLACING


@dataclass(frozen=True, slots=True)
class State:
    """The recorded state: records by key, their revision (None if nothing is recorded), and the ConfigMaps that
    resources exported.

    `leftovers` are exports that could not be removed. `revisions` are those of the agents, if several have records;
    `revision` is then that of the last run. `notified` is the state in an agent's last notification, in words; without
    one, the agent has reported success or nothing. `identity` is that of the status, which its seals name; "" before
    the first seal, and in older ones. `strays` are branches among those of workers that were not read, each with the
    reason. `is_former` is true if an earlier version wrote it, in YAML.
    """

    records: Mapping[Key, Record]
    revision: str | None = None
    config_maps: Mapping[Address, Export] = field(default_factory=dict)
    revisions: Mapping[str, str] = field(default_factory=dict)
    leftovers: frozenset[Leftover] = frozenset()
    notified: Mapping[str, str] = field(default_factory=dict)
    identity: str = ""
    strays: Mapping[str, str] = field(default_factory=dict, compare=False)
    is_former: bool = False

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
        return self.revision if self.agents <= {agent} else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """The last run that recorded something, by its report; it may have changed nothing. `time` is its end (RFC 3339,
    UTC), `revision` the commit that it read, None for a folder. `outcomes` counts its resources by outcome;
    `not_reached` are those that it did not get to. `sent` are the correlation ids of its requests, `arm_ids` its
    resources. `commit` is the one on the status branch, "" for a folder. `has_changed`: Azure accepted or may have
    accepted a write, or a resource was detached.
    """

    command: str
    agent: str
    time: str
    revision: str | None
    exit_code: int
    outcomes: Mapping[str, int]
    not_reached: tuple[Key, ...]
    sent: frozenset[str] = frozenset()
    arm_ids: frozenset[str] = frozenset()
    commit: str = ""
    has_changed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """Proof that an agent still runs. `time` is the end of its last successful run, in UTC and whole seconds.
    `revision` is the commit that it read; None for a folder without a repository.
    """

    agent: str
    time: datetime
    revision: str | None
