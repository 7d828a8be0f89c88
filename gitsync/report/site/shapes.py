"""The data files of the site, as its pages read them: one call `gitsyncData("NAME", VALUE);` in `data/NAME.js`.

Tables refer to each other by position, and what repeats is kept once, so that 30,000 resources fit the first page.
Texts from outside are values and never names of members, except for keys (`Kind.group/namespace/name`), which cannot be
`__proto__`. Absent texts are "", absent objects null. Times are RFC 3339 in UTC, days ISO 8601. Links are https or "".
"""

from __future__ import annotations

from typing import Final, Literal, TypedDict

FORMAT: Final = 1
"""Of all data files. A site of another format is written again."""

MOST_CHANGES: Final = 25
"""Resources of each kind of event that a run names; the histories of the resources have all."""

MOST_FAILURES: Final = 20
"""Failures of a target that the overview names."""

MOST_DAYS: Final = 90
"""Days of a target that the overview draws."""

MOST_REFERRERS: Final = 200
"""Resources that refer to one, of which its page names these."""

EdgeKind = Literal["owner", "reference", "set", "depends-on", "order"]
"""Why a resource needs another: its owner, a field, a value that an expression computes (`gitsync/set`), the annotation
`gitsync/depends-on`, or the order alone. The closest first.
"""

EventKind = Literal[
    "expected",  # a create was recorded before it was sent
    "recorded",  # a record begins, without a claim: the resource is only read, or waits
    "created",
    "adopted",
    "updated",  # written after a change in git
    "repaired",  # written after a change in Azure
    "drifted",  # changed in Azure, and left
    "settled",  # such a change is gone
    "failed",
    "waiting",
    "ready",
    "held",
    "released",
    "moved",  # its manifest is in another file
    "renamed",  # its ARM id changed
    "policy",  # its reconcile policy changed
    "generation",  # its manifest changed
    "removed",  # its record is gone: deleted, or no longer managed
    "unreadable",  # its record cannot be read at this commit
]

History = tuple[str, str, EventKind, str]
"""The time, the commit of the status branch, the event, and more about it ("" for nothing)."""


class RunShape(TypedDict):
    """A commit of the status branch: mostly one run."""

    at: str
    commit: str  # of the status branch
    target: str  # the id of the target
    revision: str  # the commit of the manifests, "" if it is not known
    command: str  # sync, "" for a commit that only records what a run is about to create
    agent: str
    headline: str  # what failed and what changed, in a sentence
    exitCode: int | None  # null for a commit that is not of a run
    outcomes: list[tuple[str, int]]  # how many resources had each outcome, without those that had none
    events: list[tuple[EventKind, int]]  # how many events of each kind it has
    changed: list[tuple[str, EventKind, str]]  # key, event, and more about it: MOST_CHANGES of each kind


class FailureShape(TypedDict):
    """A resource that needs somebody."""

    key: str
    state: str  # one of the states of the tree
    reason: str  # of its condition
    message: str  # of its condition, cut


class HoldShape(TypedDict):
    """A hold on a resource."""

    key: str
    until: str  # a day
    reason: str


class DriftShape(TypedDict):
    """A time during which Azure differed from git, or from what was recorded beside it."""

    target: str
    key: str
    verdict: str  # drifted, missing or conflict; outside for values that git does not set
    since: str  # when Azure changed, if its log had that, else when a run found it
    until: str  # when a run found it gone or repaired it; "" while it is open
    how: str  # repaired, settled or removed; "" while it is open
    fields: list[str]  # JSON pointers into the ARM body, at most 20


class TargetShape(TypedDict):
    """One status branch: its agents share its records."""

    id: str  # for routes and names of files: letters, digits and dashes
    title: str  # short, and unlike that of the others
    source: str  # the repository, without credentials; a folder by its name only
    branch: str  # the status branch, or `.gitsync` for a folder
    commit: str  # the last one of the status branch, "" for a folder
    commitUrl: str  # a link to which a commit of the manifests or the status is added, "" for none
    revision: str  # the commit of the manifests that the records are of, "" for a folder
    agents: list[str]
    headline: str  # the first line of SUMMARY.md: what failed, and how much is Ready
    run: RunShape | None  # the last run with a report; `changed` is empty
    heartbeats: list[tuple[str, str, str]]  # agent, time and revision of the last success of each
    counts: list[tuple[str, int]]  # how many resources are in each state, worst first
    failures: list[FailureShape]  # at most MOST_FAILURES; `counts` has their number
    drift: list[DriftShape]  # what is open, at most MOST_FAILURES
    holds: list[HoldShape]  # all of them, the first to end first
    days: list[tuple[str, int, int, int]]
    """Day, resources, open drift and failures at its end; a day without a commit is left out. At most MOST_DAYS."""

    trust: str  # why records are not trusted, in words; "" if no seal is wrong
    notes: list[str]  # what could not be read, such as a history that is cut off
    begins: str  # the time of the first commit that history has, "" without history


class HasShape(TypedDict):
    """Which files there are beside those of every site."""

    coverage: bool  # data/coverage
    audit: bool  # data/audit


class SiteShape(TypedDict):
    """`data/site`: what the overview shows."""

    format: int
    version: str  # of gitsync
    targets: list[TargetShape]
    months: list[str]  # months with runs, newest first: each has a file `data/activity/MONTH`
    has: HasShape


class TreeShape(TypedDict):
    """`data/tree`: all resources as columns of equal length, sorted by target and key.

    The ARM id of row i is `(parent[i] >= 0 ? the id of that row : scopes[scope[i]]) + segments[segment[i]] +
    (azureName[i] || name[i])`, and "" if segment[i] is -1.
    """

    targets: list[str]  # ids of targets
    namespaces: list[str]  # this and the next columns of texts have what rows refer to by position
    kinds: list[str]  # Kind.group
    states: list[str]  # worst first
    agents: list[str]
    scopes: list[str]
    """The beginnings of ids: subscriptions, resource groups without a record, and ids of resources that have none."""

    segments: list[str]
    """What follows, up to the last name: `/providers/Microsoft.Network/virtualNetworks/`, `/subnets/`."""

    target: list[int]
    namespace: list[int]
    kind: list[int]
    name: list[str]
    azureName: list[str]  # the last name of the ARM id, "" if it is that of the manifest
    scope: list[int]  # -1 where a parent has it, and where there is no id
    segment: list[int]  # -1 where there is no id
    parent: list[int]
    """The row of the resource that this one is below by ARM id, -1 for none. A parent may be in any row."""

    state: list[int]
    agent: list[int]
    shard: list[int]  # `data/resources/TARGET/SHARD` and `data/history/TARGET/SHARD`, TARGET being the id of the target


class RemovedShape(TypedDict):
    """`data/removed`: resources that have a history and no record, newest first."""

    rows: list[tuple[int, str, int, str]]
    """Target (a position in the targets of `data/site`), key, shard of its history, time."""


class ManifestTextShape(TypedDict):
    """The manifest of a resource at the revision of its record."""

    path: str
    line: int  # 0 if it is not known
    url: str  # the link to the line at the host of the repository
    text: str  # YAML, with values of secret fields masked
    doubt: str  # why there is no text, "" if there is one


class IdentityShape(TypedDict):
    """The identity that last reconciled a resource."""

    credential: str  # the name of its Secret, "" for the global one
    clientId: str
    tenantId: str
    subscription: str  # of the Secret


class WriteShape(TypedDict):
    """The last write of a resource."""

    at: str
    revision: str  # the commit of the manifests
    correlationId: str  # as sent
    returnedId: str  # as Azure returned it, "" if that is the same


class ConditionShape(TypedDict):
    """The condition Ready."""

    status: str  # True, False or Unknown
    severity: str  # Error, Warning, Info or ""
    reason: str  # a word, such as Succeeded
    message: str  # Azure's or ASO's
    advice: str  # what to do, beyond the message
    time: str  # since when it holds
    generation: int  # of the spec that it is about
    requestId: str  # Azure's, of the failed request


class BodyShape(TypedDict):
    """What was sent to Azure and what it returned, as JSON texts, "" for none; secrets only as digests."""

    sent: str
    shown: str  # the values of the desired fields, as Azure last returned them
    outside: str  # the values beside them, as recorded


class ResourceShape(TypedDict):
    """A resource. `data/resources/TARGET/SHARD` is an object of these by key."""

    state: str
    trust: str  # the result of checking the seal of its record, "" if it is good or was not checked
    condition: ConditionShape | None  # null before the first
    manifest: ManifestTextShape
    body: BodyShape
    differences: list[dict[str, object]]  # rows as in the report (gitsync.report.html.difference_rows)
    outside: list[str]  # JSON pointers of changes outside of git that the last sync found
    outsideRows: list[dict[str, object]]  # the same as rows, before and now, if the last report has them
    unverified: list[str]  # JSON pointers of desired values that Azure does not return
    owner: str  # a key, or an ARM id; "" for none
    refersTo: list[tuple[str, EdgeKind, str]]
    """Key or ARM id, why, and the field ("" if it is not known). The owner is one of them."""

    referredBy: list[tuple[str, EdgeKind, str]]  # the same in the other direction; at most MOST_REFERRERS
    exports: list[str]  # Secret/name or ConfigMap/name
    identity: IdentityShape
    lastWrite: WriteShape | None  # null before the first
    durations: tuple[int | None, int | None]  # seconds of the last create and the last update
    armId: str
    armApiVersion: str  # of its requests
    apiVersion: str  # of its manifest
    portal: str  # the link to it in Azure's portal
    policy: str  # manage, detach-on-delete or skip
    claim: str  # none, expected, created or adopted
    agent: str
    generation: int
    writes: int  # how many runs wrote it
    hold: HoldShape | None  # null if it has none
    operation: str  # an operation without an end on record, with its time; "" for none
    notes: list[str]  # more about it, as sentences: writes that were reverted, failures since when


class ActivityShape(TypedDict):
    """`data/activity/MONTH`: the runs that changed the status in one month (`2026-11`), newest first."""

    runs: list[RunShape]


class DriftsShape(TypedDict):
    """`data/drift`: newest first."""

    open: list[DriftShape]
    past: list[DriftShape]


class EdgesShape(TypedDict):
    """`data/edges`: what needs what, as rows of the tree."""

    kinds: list[EdgeKind]
    edges: list[tuple[int, int, int]]  # the row that needs the other, the other, a position in `kinds`
    outside: list[tuple[int, str, int]]  # the same for what no record has: a key or an ARM id


class CoverageShape(TypedDict):
    """`data/coverage`: the JSON of `gitsync unmanaged`, each with the name of its file."""

    files: list[tuple[str, str]]  # name, and the JSON as a text


class AuditShape(TypedDict):
    """`data/audit`: the JSON of `gitsync audit`, each with the name of its file."""

    files: list[tuple[str, str]]  # name, and the JSON as a text
