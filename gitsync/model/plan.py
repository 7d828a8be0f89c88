"""What a run intends: one graph of applies and prunes, from git and the records alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gitsync.model.gvk import Key
from gitsync.model.manifests import UnreadDocument
from gitsync.model.policy import Policy
from gitsync.model.problem import Problem
from gitsync.model.record import Record
from gitsync.model.resource import Prepared, Resource


class Intent(StrEnum):
    APPLY = "apply"
    PRUNE = "prune"  # delete what was removed from git
    DETACH = "detach"  # forget what was removed from git, leave it in Azure


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One resource of the walk. `prepared` is set for an apply, `record` for whatever is remembered.

    `depends_on` are nodes of the same walk: for an apply what must come first, for a prune its dependents. `held` says
    why a resource that was removed from git is not deleted; "" if nothing holds it. `within` is the group (or the
    parent) whose deletion takes a prune along, and `carries` the records that a group's deletion takes along. `reason`
    is a sentence that says how the resource was removed from git.
    """

    key: Key
    intent: Intent
    prepared: Prepared | None = None
    record: Record | None = None
    depends_on: tuple[Key, ...] = ()
    held: str = ""
    within: Key | None = None
    carries: tuple[Record, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """How a resource was removed from git: the policy and file of its last manifest, as far as history
    can be read (None, ""), and a sentence for people.
    """

    policy: Policy | None = None
    path: str = ""
    reason: str = "Removed from git."


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a source holds in addition to the manifests of a run: `others` are those outside of the run (or all),
    `unread` the documents that became no resource, `elsewhere` the resources of other namespaces. Nothing that they may
    stand for is deleted.
    """

    others: tuple[Prepared, ...] = ()
    unread: tuple[UnreadDocument, ...] = ()
    elsewhere: tuple[Resource, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`complete` is False where something did not parse or is invalid: --strict then refuses the run."""

    applies: Mapping[Key, Node]
    prunes: Mapping[Key, Node]
    problems: tuple[Problem, ...] = ()
    complete: bool = True
