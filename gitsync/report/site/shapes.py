"""The data files of the site, as its pages read them: one call `gitsyncData("NAME", VALUE);` in `data/NAME.js`.

Tables refer to each other by position, and what repeats is kept once, so that 30,000 resources fit the first page.
Texts from outside are values and never names of members, except for keys (`Kind.group/namespace/name`), which cannot be
`__proto__`. Absent texts are "", absent objects null. Times are RFC 3339 in UTC, days ISO 8601. Links are https or "".
"""

from __future__ import annotations

from typing import Final, Literal, TypedDict

FORMAT: Final = 1
"""Of all data files. A site of another format is written anew."""

MOST_CHANGES: Final = 200
"""Events of one run that the list of runs shows; the histories of the resources have all."""

MOST_FAILURES: Final = 20
"""Failures of a target that the overview names."""

MOST_DAYS: Final = 90
"""Days of a target that the overview draws."""

MOST_REFERRERS: Final = 200
"""Resources that refer to one, of which its page names these."""

EdgeKind = Literal["owner", "reference", "value", "depends-on", "order", "set"]
"""Why a resource needs another: owner, field, computed value, `gitsync/depends-on`, order only, `gitsync/set`."""

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


class Run(TypedDict):
    """A commit of the status branch: mostly one run."""

    at: str
    commit: str
    """Of the status branch."""
    target: str
    """The id of the target."""
    revision: str
    """The commit of the manifests, "" if it is not known."""
    command: str
    """sync, "" for a commit that only records what a run is about to create."""
    agent: str
    headline: str
    exitCode: int | None
    outcomes: list[tuple[str, int]]
    """How many resources had each outcome, without those that had none."""
    count: int
    """How many events it has; `changed` has at most MOST_CHANGES of them."""
    changed: list[tuple[str, EventKind, str]]
    """Key, event, and more about it."""


class Failure(TypedDict):
    """A resource that needs somebody."""

    key: str
    state: str
    reason: str
    message: str


class Hold(TypedDict):
    key: str
    until: str
    """A day."""
    reason: str


class Drift(TypedDict):
    """A time during which Azure differed from git, or from what was recorded beside it."""

    target: str
    key: str
    verdict: str
    """drifted, missing or conflict; outside for values that git does not set."""
    since: str
    """When Azure changed, if its log had that, else when a run found it."""
    until: str
    """When a run found it gone or repaired it; "" while it is open."""
    how: str
    """repaired, settled or removed; "" while it is open."""
    fields: list[str]
    """JSON pointers into the ARM body, at most 20."""


class Target(TypedDict):
    """One status branch: its agents share its records."""

    id: str
    """For routes and names of files: letters, digits and dashes."""
    title: str
    source: str
    """The repository, without credentials; a folder by its name only."""
    branch: str
    """The status branch, or `.gitsync` for a folder."""
    commit: str
    """The last one of the status branch, "" for a folder."""
    commitUrl: str
    """A link to which a commit of the manifests or the status is added, "" for none."""
    revision: str
    """The commit of the manifests that the records are of, "" for a folder."""
    agents: list[str]
    headline: str
    """The first line of SUMMARY.md: what failed, and how much is Ready."""
    run: Run | None
    """The last run with a report; `changed` is empty."""
    heartbeats: list[tuple[str, str, str]]
    """Agent, time and revision of the last success of each."""
    counts: list[tuple[str, int]]
    """How many resources are in each state, worst first."""
    failures: list[Failure]
    """At most MOST_FAILURES; `counts` has their number."""
    drift: list[Drift]
    """What is open, at most MOST_FAILURES."""
    holds: list[Hold]
    """All of them, the first to end first."""
    days: list[tuple[str, int, int, int]]
    """Day, resources, open drift and failures at its end; a day without a commit is left out. At most MOST_DAYS."""
    trust: str
    """Why records are not trusted, in words; "" if no seal is wrong."""
    notes: list[str]
    """What could not be read, such as a history that is cut off."""
    begins: str
    """The time of the first commit that history has, "" without history."""


class Has(TypedDict):
    """Which files there are beside those of every site."""

    coverage: bool
    audit: bool


class Site(TypedDict):
    """`data/site`: what the overview shows."""

    format: int
    version: str
    """Of gitsync."""
    targets: list[Target]
    months: list[str]
    """Months with runs, newest first: each has a file `data/activity/MONTH`."""
    has: Has


class Tree(TypedDict):
    """`data/tree`: all resources as columns of equal length, sorted by target and key.

    The ARM id of row i is `(parents[i] >= 0 ? the id of that row : scopes[scope[i]]) + segments[segment[i]] +
    (azureName[i] || name[i])`, and "" if segment[i] is -1.
    """

    targets: list[str]
    """Ids of targets."""
    namespaces: list[str]
    kinds: list[str]
    """Kind.group"""
    states: list[str]
    """Worst first."""
    agents: list[str]
    scopes: list[str]
    """The beginnings of ids: subscriptions, resource groups without a record, and ids of resources that have none."""
    segments: list[str]
    """What follows, up to the last name: `/providers/Microsoft.Network/virtualNetworks/`, `/subnets/`."""
    target: list[int]
    namespace: list[int]
    kind: list[int]
    name: list[str]
    azureName: list[str]
    """The last name of the ARM id, "" if it is that of the manifest."""
    scope: list[int]
    """-1 where a parent has it, and where there is no id."""
    segment: list[int]
    """-1 where there is no id."""
    parent: list[int]
    """The row of the resource that this one is below by ARM id, -1 for none. A parent may be in any row."""
    state: list[int]
    agent: list[int]
    shard: list[int]
    """`data/resources/TARGET/SHARD` and `data/history/TARGET/SHARD`, TARGET being the id of the target."""


class Removed(TypedDict):
    """`data/removed`: resources that have a history and no record, newest first."""

    rows: list[tuple[int, str, int, str]]
    """Target (a position in the targets of `data/site`), key, shard of its history, time."""


class ManifestText(TypedDict):
    """The manifest of a resource at the revision of its record."""

    path: str
    line: int
    """0 if it is not known."""
    url: str
    """The link to the line at the host of the repository."""
    text: str
    """YAML, with values of secret fields masked."""
    doubt: str
    """Why there is no text, "" if there is one."""


class Identity(TypedDict):
    credential: str
    clientId: str
    tenantId: str
    subscription: str


class Write(TypedDict):
    at: str
    revision: str
    correlationId: str
    returnedId: str


class Condition(TypedDict):
    """The condition Ready."""

    status: str
    severity: str
    reason: str
    message: str
    advice: str
    time: str
    generation: int
    requestId: str


class Body(TypedDict):
    """What was sent to Azure and what it returned, as JSON texts, "" for none; secrets only as digests."""

    sent: str
    shown: str
    """The values of the desired fields, as Azure last returned them."""
    outside: str
    """The values beside them, as recorded."""


class Resource(TypedDict):
    """A resource. `data/resources/TARGET/SHARD` is an object of these by key."""

    state: str
    trust: str
    """The result of checking the seal of its record, "" if it is good or was not checked."""
    condition: Condition | None
    manifest: ManifestText
    body: Body
    differences: list[dict[str, object]]
    """Rows as in the report (gitsync.report.html.difference_rows)."""
    outside: list[str]
    """JSON pointers of changes outside of git that the last sync found."""
    unverified: list[str]
    """JSON pointers of desired values that Azure does not return."""
    owner: str
    """A key, or an ARM id; "" for none."""
    refersTo: list[tuple[str, EdgeKind, str]]
    """Key or ARM id, why, and the field ("" if it is not known). The owner is one of them."""
    referredBy: list[tuple[str, EdgeKind, str]]
    """The same in the other direction; at most MOST_REFERRERS."""
    exports: list[str]
    """Secret/name or ConfigMap/name."""
    identity: Identity
    lastWrite: Write | None
    durations: tuple[int | None, int | None]
    """Seconds of the last create and the last update."""
    armId: str
    armApiVersion: str
    apiVersion: str
    portal: str
    """The link to it in Azure's portal."""
    policy: str
    claim: str
    agent: str
    generation: int
    writes: int
    """How many runs wrote it."""
    hold: Hold | None
    operation: str
    """An operation without an end on record, with its time; "" for none."""
    notes: list[str]
    """More about it, as sentences: writes that were reverted, failures since when."""


class Activity(TypedDict):
    """`data/activity/MONTH`: the runs that changed the status in one month (`2026-11`), newest first."""

    runs: list[Run]


class Drifts(TypedDict):
    """`data/drift`: newest first."""

    open: list[Drift]
    past: list[Drift]


class Edges(TypedDict):
    """`data/edges`: what needs what, as rows of the tree."""

    kinds: list[EdgeKind]
    edges: list[tuple[int, int, int]]
    """The row that needs the other, the other, a position in `kinds`."""
    outside: list[tuple[int, str, int]]
    """The same for what no record has: a key or an ARM id."""


class Coverage(TypedDict):
    """`data/coverage`: the JSON of `gitsync unmanaged`, each with the name of its file."""

    files: list[tuple[str, str]]
    """Name, and the JSON as a text."""


class Audit(TypedDict):
    """`data/audit`: the JSON of `gitsync audit`, each with the name of its file."""

    files: list[tuple[str, str]]
    """Name, and the JSON as a text."""
