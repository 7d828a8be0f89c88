"""The plan of a run: one graph of applies and prunes, from git and the records only; and a plan that was reviewed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

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

    Author and subject are text from git: short, without e-mail addresses, and as untrusted as a manifest. `doubt`
    explains why the commit is not known; the other fields are then "".
    """

    commit: str = ""
    author: str = ""
    subject: str = ""
    doubt: str = ""


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Apply:
    """A resource that git declares. `depends_on` are the applies that come first.

    `skipped_because` is the condition of a resource that is not applied, whatever its manifest; its record stays.
    `moved_from` is the manifest that had the record before, if it moved to this one. `renamed` is the resource that is
    deleted for this one, if it was only renamed. `hold` keeps the resource as it is in Azure; it is in this manifest,
    or in another manifest of the same resource.
    """

    prepared: Prepared
    record: Record | None = None
    depends_on: tuple[Key, ...] = ()
    skipped_because: Condition | None = None
    moved_from: Key | None = None
    renamed: Key | None = None
    hold: HeldUntil | None = None

    @property
    def key(self) -> Key:
        return self.prepared.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """A resource that was removed from git: deleted from Azure, or only forgotten if it `detaches`.

    `depends_on` are the prunes that go first: its dependents. `kept_because` explains why it is not deleted, "" if it
    may be (`planning.delete_guards`). `within` is the group or parent whose delete includes this resource; `carries`
    are the records that the delete of a group includes. `reason` is a sentence on how it was removed from git.
    `last_commit` is the last commit with its manifest; None if the source has no history. `last_source` is the location
    of its last manifest: line 0 if only the file is known, None if that is not known either. `renamed` is the resource
    that is created for this one, if it was only renamed. `replaces`: it is created again in the same run. `hold` is
    that of its last manifest, if it still applies. Without `can_delete`, Azure deletes it only with its parent.
    """

    record: Record
    detaches: bool = False
    depends_on: tuple[Key, ...] = ()
    kept_because: str = ""
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


class UnreadableFile(NamedTuple):
    """A file that cannot be read any more; the problem may be that of a link or of a submodule above it."""

    path: str
    problem: Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """How a resource was removed from git: policy, hold, file and line, units and commit of its last manifest, the kind
    of the object that declared its last unit, the last `revision` with it, and a sentence for people. Values that
    history does not have are None, "" or 0.

    `unreadable` is the file that declared it, if that cannot be read now. `unknown_finalizer` is the finalizer that
    decides whether an object that is gone deletes its resources, if history does not show whether the object had it.
    `is_released`: a person has confirmed by name that it is not declared elsewhere.
    """

    policy: Policy | None = None
    hold: HeldUntil | None = None
    path: str = ""
    line: int = 0
    units: tuple[str, ...] = ()
    declared_by: str = ""
    revision: str = ""
    reason: str = "Removed from git."
    unreadable: UnreadableFile | None = None
    unknown_finalizer: str = ""
    is_released: bool = False
    last_commit: LastCommit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestOfSource:
    """The content of a source in addition to the manifests of a run. `others` are manifests outside the run (or all of
    them), `unread` the documents that did not become a resource, `elsewhere` the resources of other namespaces. A
    resource that any of them may declare is not deleted.
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

    `desired` is the digest of the request (id, api-version and body), `live` that of the live state. `secrets`: the
    body has some, so `desired` depends on the digest key. `later` are the parts of the request that are known only in
    the run, which `desired` leaves out: JSON pointers into the body, or "id".
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

    `repository` and `revision` name the source of the plan with texts that are the same on every machine. `digest_key`
    names the key of the digests of secrets, "" for none. `seal` reveals any later change of the plan
    (git/state/plan_seal); "" in the files of older versions.
    """

    repository: str
    revision: str
    prune: bool
    digest_key: str
    nodes: Mapping[Key, Reviewed]
    seal: str = ""
