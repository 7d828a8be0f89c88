"""The extension points: their arguments, their results, and how several are chained.

A check gets fresh live values and a reader; it has no way to write. Each is called with `next`, the rest of the chain,
and calls it if it has no objection. Results come from `proceed()`, `block()`, `success()` and `failure()`. An exception
means that the check itself failed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from gitsync.errors import ArmError, GitsyncError
from gitsync.model.gvk import GVK, Key
from gitsync.model.live import Live
from gitsync.model.secret import Secret
from gitsync.planning.status.error_classes import Classification


class ReadsAzure(Protocol):
    """The Azure calls of a check: reads only, counted against the node's budget."""

    async def get(self, arm_id: str, api_version: str) -> Live | None: ...

    async def list(self, path: str, api_version: str) -> list[Mapping[str, Any]]: ...


class ActsOnAzure(ReadsAzure, Protocol):
    """Additional calls for a deleter, an exporter of secrets or a success handler, through the same throttle, host
    guard and deadline as all other calls. A plan does not provide it.
    """

    async def call(
        self,
        path: str,
        api_version: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, str] | None = None,
    ) -> Mapping[str, Any]:
        """Call an action (POST) and wait for its end, also of a long-running one; returns its final answer."""
        ...

    async def pages(self, path: str, api_version: str) -> list[Mapping[str, Any]]:
        """All entries that an action lists, page by page."""
        ...

    async def delete(
        self, arm_id: str, api_version: str, *, if_match: str | None = None, query: Mapping[str, str] | None = None
    ) -> None:
        """Delete something and wait for its end; deleting what does not exist succeeds."""
        ...


@dataclass(frozen=True, slots=True)
class LookupRequest:
    """A lookup that a body modifier needs."""

    path: str
    api_version: str
    lists: bool = False  # all entries of a list, not one resource
    for_the_run: bool = False  # the answer is the same for every resource of a run, so it is requested once


LookupResult = Live | tuple[Mapping[str, Any], ...] | None
"""The answer: the resource, None if it does not exist, or the entries of the list."""


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Subject:
    """The resource that an extension is called for."""

    key: Key
    gvk: GVK
    spec: Mapping[str, Any]
    arm_id: str
    api_version: str
    live: Live | None  # as just read; None if it does not exist
    owner: Live | None = None  # as just read; None if the kind has none or it is not needed
    owner_name: str = ""  # of the manifest of the owner, "" for an owner given by id
    answers: Mapping[LookupRequest, LookupResult] = field(default_factory=dict)
    """To the requests of the body modifiers of the kind; if Azure did not respond, no further extension is called."""

    children: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The bodies of embedded children that this run brings to their state in git, by their ARM ids in lower case."""

    rules_of: tuple[str, str] | None = None
    """The (group, kind) whose extensions are called, which is ASO's kind of the type of an AzureResource; None for that
    of the key.
    """

    leaving: frozenset[str] = frozenset()  # the embedded children that this run then deletes, likewise


# Here and not in `gitsync.errors`, so that other packages import all that they need from one module.
class PermanentError(GitsyncError):
    """Raised if only a change of the manifest can fix the problem: Ready becomes Error/Failed with its message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionCall:
    """An action (POST) that an extension without a writer requests: gitsync calls it and waits for its end."""

    path: str
    api_version: str
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check."""

    reason: str = ""  # why not, "" if the check passes
    then: ActionCall | None = None  # to call before the run checks again

    @property
    def agrees(self) -> bool:
        return not self.reason


def proceed() -> CheckResult:
    """Answer of a pre-check: the resource may be acted on."""
    return CheckResult()


def block(reason: str) -> CheckResult:
    """Answer of a pre-check: not now. Ready becomes ReconciliationBlocked with this reason, and the run looks again."""
    return CheckResult(reason)


def success() -> CheckResult:
    """Answer of a post-check: the resource is as it should be."""
    return CheckResult()


def failure(reason: str, then: ActionCall | None = None) -> CheckResult:
    """Result of a post-check: not yet. Ready becomes PostReconciliationFailure with this reason.

    `then` is an action that may fix it: called once for a resource in a run, never in a plan nor under policy skip.
    """
    return CheckResult(reason, then)


NextCheck = Callable[[Subject, ReadsAzure], Awaitable[CheckResult]]


class PreReconciliationOwnerChecker(Protocol):
    """Called with a fresh owner, before the resource itself is read. Not called if there is no owner."""

    async def __call__(self, subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult: ...  # noqa: A002 - ASO's word


class PreReconciliationChecker(Protocol):
    """Called with the resource as just read, before anything is sent."""

    async def __call__(self, subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult: ...  # noqa: A002 - ASO's word


class PostReconciliationChecker(Protocol):
    """Called with the resource as read after the write, before it becomes Ready."""

    async def __call__(self, subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult: ...  # noqa: A002 - ASO's word


class ErrorClassifier(Protocol):
    """Called with Azure's refusal; `next` is the rest of the chain, which classifies it too."""

    def __call__(self, error: ArmError, next: Callable[[ArmError], Classification]) -> Classification: ...  # noqa: A002 - ASO's word


class BodyModifier(Protocol):
    """Pure: given the body to be sent and the resource as just read, returns the body to send."""

    def __call__(self, body: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Modifier:
    """A body modifier in its parts, for one that takes more than the body and the resource. All of them are pure."""

    asks: Callable[[Subject], tuple[LookupRequest, ...]] | None = None  # the lookups that it needs, in a plan too
    compared: BodyModifier | None = None  # the body as it is compared and recorded, and the input of `sent`
    sent: BodyModifier | None = None  # the body as a PUT sends it
    first: Callable[[Subject], ActionCall | None] | None = None  # the action to call before that
    foretells: Callable[[Subject], str] | None = None  # a sentence of a plan about sending it, "" for nothing special
    restores: Callable[[Subject], bool] | None = None
    """Sending it restores an earlier state, whatever else the body contains, so that a second PUT sends what then
    differs.
    """


NextDelete = Callable[[Subject, ActsOnAzure], Awaitable[None]]


class Deleter(Protocol):
    """Deletes a resource; `next` is the rest of the chain, which ends in the DELETE of the resource itself.

    `subject.spec` is empty: the manifest was removed from git.
    """

    async def __call__(self, subject: Subject, azure: ActsOnAzure, next: NextDelete) -> None: ...  # noqa: A002 - ASO's word


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of importing one resource."""

    skipped: str = ""  # the reason to leave it out, "" if it is imported


def imported() -> Imported:
    """Answer of an importer: a manifest is made of the resource."""
    return Imported()


def skipped(reason: str) -> Imported:
    """Answer of an importer: no manifest is made of the resource, nor of its children."""
    return Imported(reason)


NextImport = Callable[[Subject], Awaitable[tuple[Subject, Imported]]]


class Importer(Protocol):
    """Called for each resource that was found in Azure. `subject.live` is None until `next` has read it; `next` returns
    the subject as read, and the result of the rest of the chain (docs/reference/kinds.md#imports).
    """

    async def __call__(self, subject: Subject, next: NextImport) -> tuple[Subject, Imported]: ...  # noqa: A002 - ASO's word


class SecretExporter(Protocol):
    """Returns the values of fields of `operatorSpec.secrets` that are `wanted`, by the names of the fields.

    Asked only if something is wanted. A field that it leaves out is silently skipped; an empty value is an error
    (docs/reference/kinds.md#secret-exporters).
    """

    async def __call__(self, subject: Subject, azure: ActsOnAzure, wanted: frozenset[str]) -> Mapping[str, Secret]: ...


class ConfigMapExporter(Protocol):
    """The same for fields of `operatorSpec.configMaps` that are not in the status. It only reads, so a plan calls it
    too.
    """

    async def __call__(self, subject: Subject, azure: ReadsAzure, wanted: frozenset[str]) -> Mapping[str, str]: ...


class SuccessHandler(Protocol):
    """Called last, each time the resource is as it should be. Returns annotations that gitsync keeps for the resource
    during the run, such as the one that moves the ids of its children (docs/reference/kinds.md#success-handlers).

    In a plan `Extension.foreseen` replaces it: the annotations that follow from the read resource alone.
    """

    async def __call__(self, subject: Subject, azure: ActsOnAzure) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """One registration: what it adds for one kind, in every version of it. Unset points add nothing."""

    group: str
    kind: str
    owner_check: PreReconciliationOwnerChecker | None = None  # before anything is read of the resource
    pre_check: PreReconciliationChecker | None = None  # before a write
    post_check: PostReconciliationChecker | None = None  # after a write
    classify: ErrorClassifier | None = None  # decides what an ARM error means
    modify: BodyModifier | Modifier | None = None  # changes the body that is compared or sent
    delete: Deleter | None = None  # replaces the DELETE of the resource
    deletes_besides: str = ""
    """Describes the deleter in a plan: a sentence on what it deletes in addition to the resource."""

    importer: Importer | None = None  # decides whether an import includes the resource
    export_secrets: SecretExporter | None = None  # reads the secrets that `operatorSpec.secrets` names
    export_config_maps: ConfigMapExporter | None = None  # reads values that the status does not have
    succeeded: SuccessHandler | None = None  # runs once the resource is ready
    foreseen: Callable[[Subject], Mapping[str, str]] | None = None
    """Replaces `succeeded` in a plan: the annotations that follow from the read resource alone."""

    calls: tuple[tuple[str, str], ...] = ()
    """The Azure actions that a point needs, other than read, write and delete of the resource, as roles spell them:
    (("delete", "Microsoft.Subscription/cancel/action"),). `gitsync doctor --role` writes them. What a `Modifier`
    requests and calls first is found by calling it.
    """


Extensions = tuple[Extension, ...]
