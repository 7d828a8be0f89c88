"""The plan of a run: one graph of applies and prunes, from git and the records only; and a plan that was reviewed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from gitsync.model.condition import Condition
from gitsync.model.gvk import Key
from gitsync.model.hold import HeldUntil
from gitsync.model.manifests import UnreadDocument
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Record
from gitsync.model.resource import Prepared, Resource
from gitsync.model.verdict import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCommit:
    """The last commit that changed a manifest before it was removed from git. Its texts are untrusted."""

    commit: str = ""
    author: str = ""  # short, without an e-mail address
    subject: str = ""  # short, as git has it
    doubt: str = ""  # why the commit is not known; all else is then ""


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Apply:
    """A resource that git declares."""

    prepared: Prepared
    record: Record | None = None  # None if no run has recorded it
    depends_on: tuple[Key, ...] = ()  # the applies that come first
    skipped_because: Condition | None = None
    """The condition of a resource that is not applied, whatever its manifest; its record does not change."""

    moved_from: Key | None = None  # the manifest that had the record before, if it moved to this one
    renamed: Key | None = None  # the resource that is deleted for this one, if it was only renamed
    hold: HeldUntil | None = None
    """Keeps the resource as it is in Azure; it is in this manifest, or in another manifest of the same resource."""

    @property
    def key(self) -> Key:
        return self.prepared.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """A resource that was removed from git: deleted from Azure, or only forgotten."""

    record: Record
    detaches: bool = False  # it is only forgotten
    depends_on: tuple[Key, ...] = ()  # the prunes that go first: its dependents
    kept_because: str = ""
    """Why it is not deleted, "" if it may be; only `decide_deletes` of `planning.delete_guards` sets it."""

    within: Key | None = None  # the group or parent whose delete includes this resource
    carries: tuple[Record, ...] = ()  # the records that the delete of a group includes
    reason: str = ""  # a sentence on how it was removed from git
    last_commit: LastCommit | None = None  # the last commit with its manifest; None if the source has no history
    last_source: SourceLocation | None = None
    """The location of its last manifest: line 0 if only the file is known, None if that is not known either."""

    renamed: Key | None = None  # the resource that is created for this one, if it was only renamed
    replaces: bool = False  # it is created again in the same run
    hold: HeldUntil | None = None  # of its last manifest, if it still applies; it is also the reason
    can_delete: bool = True  # without it, Azure deletes the resource only with its parent
    moved_to: Key | None = None  # the manifest that takes over its record

    @property
    def key(self) -> Key:
        return self.record.key


Node = Apply | Prune
"""One resource of a run's graph."""


class UnreadableFile(NamedTuple):
    """A file that cannot be read any more; the problem may be that of a link or of a submodule above it."""

    path: str
    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """How a resource was removed from git, by its last manifest. What history does not have is None, "" or 0."""

    policy: Policy | None = None  # of its last manifest
    hold: HeldUntil | None = None  # of its last manifest, if it still applies
    path: str = ""
    line: int = 0
    units: tuple[str, ...] = ()  # the names of the units that rendered its last manifest
    declared_by: str = ""  # the kind of the object that declared its last unit
    revision: str = ""  # the last one with its manifest
    reason: str = "Removed from git."  # a sentence for people
    unreadable: UnreadableFile | None = None  # the file that declared it, if that cannot be read now
    unknown_finalizer: str = ""
    """The finalizer that decides whether an object that is gone deletes its resources, if history does not show whether
    the object had it.
    """

    is_released: bool = False  # a person has confirmed by name that it is not declared elsewhere
    last_commit: LastCommit | None = None  # the last commit with its manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class RestOfSource:
    """The content of a source in addition to the manifests of a run. A resource that any of it may declare is not
    deleted.
    """

    others: tuple[Prepared, ...] = ()  # manifests outside the run, or all of them
    unread: tuple[UnreadDocument, ...] = ()  # the documents that did not become a resource
    elsewhere: tuple[Resource, ...] = ()  # the resources of other namespaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run does, in two mappings: the resources that git declares, and those that were removed from it."""

    applies: Mapping[Key, Apply]
    prunes: Mapping[Key, Prune]
    problems: tuple[Problem, ...] = ()  # those that no resource has
    complete: bool = True  # False if a document does not parse or is invalid: then --strict refuses the run


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """One resource of a reviewed plan. Digests are "" if there is nothing to digest."""

    action: Action
    desired: str = ""  # the digest of the request (id, api-version and body)
    live: str = ""  # the digest of the live state
    etag: str | None = None  # of the live state, None if there is none
    secrets: bool = False  # the body has some, so `desired` depends on the digest key
    later: tuple[str, ...] = ()
    """The parts of the request that are not known before the run, which `desired` leaves out: JSON pointers into the
    body, or "id".
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A reviewed plan: what a sync may do, and the input that the plan was made from."""

    repository: str  # names the source of the plan with a text that is the same on every machine
    revision: str  # of the source, the same on every machine too
    prune: bool  # a sync deletes what was removed from git
    digest_key: str  # names the key of the digests of secrets, "" for none
    nodes: Mapping[Key, Reviewed]
    seal: str = ""  # reveals any later change of the plan (git/state/plan_seal); "" in the files of older versions
