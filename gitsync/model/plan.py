"""The plan of a run: one graph of applies and prunes, from git and the records only; and a plan that was reviewed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gitsync.model.condition import Condition
from gitsync.model.gvk import Key
from gitsync.model.hold import HeldUntil
from gitsync.model.manifests import UnreadDocument
from gitsync.model.policy import Policy
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.record import Record
from gitsync.model.resource import Prepared, Resource
from gitsync.model.verdict import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCommit:
    """The last commit that changed a manifest before it was removed from git.

    Author and subject are text from git: short, without e-mail addresses, and as untrusted as a manifest. `doubt` reports
    why the commit is not known; the others are "" then.
    """

    commit: str = ""
    author: str = ""
    subject: str = ""
    doubt: str = ""


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Apply:
    """A resource that git declares. `record` is its record, `depends_on` the applies that come first.
    `held` is the condition of one that is not applied, whatever its manifest reports; its record stays as it is.
    `moved_from` is the manifest that had the record before, if it was moved to this one. `renamed` is the resource that
    is deleted for this one, if it was only renamed. `hold` leaves the resource as it is in Azure: that of its manifest,
    or of another one of the same resource.
    """

    prepared: Prepared
    record: Record | None = None
    depends_on: tuple[Key, ...] = ()
    held: Condition | None = None
    moved_from: Key | None = None
    renamed: Key | None = None
    hold: HeldUntil | None = None

    @property
    def key(self) -> Key:
        return self.prepared.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """A resource that was removed from git: deleted from Azure, or only forgotten if it `detaches`.

    `depends_on` are the prunes that go first: its dependents. `held` explains why it is not deleted; "" if nothing holds
    it. `within` is the group (or the parent) whose deletion includes this resource, and `carries` are the records that
    the deletion of a group includes. `reason` is a sentence that returns how the resource was removed from git, and
    `last_commit` the last commit that had its manifest; None if the source has no history. `renamed` is the resource
    that is created for this one, if it was only renamed. `last_source` is the location of its last manifest: line 0 if
    only the file is known, None if not even that. `replaces` reports that it is created again in the same run. `hold` is
    that of its last manifest, if it lasts: `held` lists it too. Without `can_delete`, Azure deletes it with its parent
    only.
    """

    record: Record
    detaches: bool = False
    depends_on: tuple[Key, ...] = ()
    held: str = ""
    within: Key | None = None
    carries: tuple[Record, ...] = ()
    reason: str = ""
    last_commit: LastCommit | None = None
    last_source: SourceLocation | None = None
    renamed: Key | None = None
    replaces: bool = False
    hold: HeldUntil | None = None
    can_delete: bool = True

    @property
    def key(self) -> Key:
        return self.record.key


Node = Apply | Prune
"""One resource of a run's graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """How a resource was removed from git: policy, hold, file and line, units and commit of its last manifest,
    and the kind of the object that declared its last unit, as far as history can be read (None, "", 0), the last
    `revision` with it, and a sentence for people. `held` explains why it must not be deleted; "" if it may be, and so does
    `moved`, of a location that is not read and may declare it now. `is_released` reports that a person has said by name
    that no location does, whatever holds it for that.
    """

    policy: Policy | None = None
    hold: HeldUntil | None = None
    path: str = ""
    line: int = 0
    units: tuple[str, ...] = ()
    declared_by: str = ""
    revision: str = ""
    reason: str = "Removed from git."
    held: str = ""
    moved: str = ""
    is_released: bool = False
    last_commit: LastCommit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestOfSource:
    """The content of a source in addition to the manifests of a run: `others` are those outside of the run (or all),
    `unread` the documents that became no resource, `elsewhere` the resources of other namespaces. Nothing that they may
    stand for is deleted.
    """

    others: tuple[Prepared, ...] = ()
    unread: tuple[UnreadDocument, ...] = ()
    elsewhere: tuple[Resource, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`complete` is False if a document does not parse or is invalid: then --strict refuses the run."""

    applies: Mapping[Key, Apply]
    prunes: Mapping[Key, Prune]
    problems: tuple[Problem, ...] = ()
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """One resource of a reviewed plan. Digests are "" if there is nothing to digest.

    `desired` is the digest of the request (id, api-version and body), `live` that of the live state. `secrets`
    shows that the body holds some, so that `desired` depends on the digest key. `later` are the parts of the request
    that only a later step of a run has, which `desired` leaves out: JSON pointers into the body, or "id".
    """

    action: Action
    desired: str = ""
    live: str = ""
    etag: str | None = None
    secrets: bool = False
    later: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A reviewed plan: what a sync may do, and the input that the plan was made from.

    `repository` and `revision` say what was planned, in words that are the same on every machine. `digest_key` names
    the key that digests of secrets were made with, "" for none. `seal` reports whether all of it was changed since
    (git/state/plan_seal); "" in the files of older versions.
    """

    repository: str
    revision: str
    prune: bool
    digest_key: str
    nodes: Mapping[Key, Reviewed]
    seal: str = ""
