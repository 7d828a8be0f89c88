"""The annotations and labels that a manifest may have for gitsync and for ASO
(docs/reference/reconciliation.md#annotations-and-labels).

A misspelt key would be ignored silently, and a misspelt reconcile policy can end in a delete: so keys similar to known
ones are problems, and so are unknown values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from gitsync.catalog.type_words import join_with_or, quote_scalar
from gitsync.model.policy import RECONCILE_POLICY, Policy
from gitsync.model.resource import Resource
from gitsync.problems.finding import Finding
from gitsync.problems.suggest import suggest
from gitsync.validation.references import is_arm_id

OVERRIDE: Final = "serviceoperator.azure.com/child-resource-id-override"
"""Annotation of an Alias: the id of the subscription that it created, which contains its extension resources.

A handler of the run sets it. A manifest that was taken from a cluster may have it too.
"""

ASO_PREFIX: Final = "serviceoperator.azure.com/"
OUR_PREFIX: Final = "gitsync/"
CREDENTIAL_FROM: Final = f"{ASO_PREFIX}credential-from"
UPDATE_METHOD: Final = f"{OUR_PREFIX}update-method"
IGNORE: Final = f"{OUR_PREFIX}ignore"
UPDATE_METHODS: Final = ("patch", "put")

_USER_ANNOTATIONS: Final = frozenset({RECONCILE_POLICY, CREDENTIAL_FROM, UPDATE_METHOD, IGNORE})
OPERATOR_ANNOTATIONS: Final = frozenset(
    f"{ASO_PREFIX}{name}"
    for name in (
        "azure-name-from-config",
        "bi-poller-resume-token",
        "child-resource-id-override",
        "latest-reconciled-generation",
        "operator-namespace",
        "poller-resume-id",
        "poller-resume-token",
        "resource-id",
    )
)
"""Written by ASO itself: manifests that were taken from a cluster have them."""

OPERATOR_LABELS: Final = frozenset(
    f"{ASO_PREFIX}{name}" for name in ("last-reconciled-version", "owner-group-kind", "owner-name", "owner-uid")
)
"""Written by ASO too."""


def check_annotations(resource: Resource) -> Iterator[Finding]:
    """Findings of the annotations and labels of one manifest."""
    for key, value in resource.annotations.items():
        yield from _check_annotation(key, value)
    if OVERRIDE in resource.annotations:
        yield from _check_override(resource, resource.annotations[OVERRIDE])
    for key in sorted(_USER_ANNOTATIONS & resource.labels.keys()):
        yield Finding(
            code="LabelForAnnotation",
            path=("metadata", "labels", key),
            message=f"{key} is an annotation, and has no effect as a label.",
            hint="Move it to metadata.annotations.",
        )


def check_inherited_policy(resource: Resource, namespace: Mapping[str, str]) -> Iterator[Finding]:
    """A finding if the manifest has its policy from a Namespace with an unknown one.

    `namespace` has the annotations of the manifest's own Namespace.
    """
    value = namespace.get(RECONCILE_POLICY, "")
    if resource.annotations.get(RECONCILE_POLICY):
        return
    for fault in _check_policy(value) if value else ():
        message = (
            f"The Namespace {resource.key.namespace} sets the policy of this manifest: {RECONCILE_POLICY} {fault}."
        )
        yield Finding(
            code="ReconcilePolicy", path=("metadata", "namespace"), message=message, hint=_make_policy_hint(value)
        )


def _check_annotation(key: str, value: str) -> Iterator[Finding]:
    if key in _USER_ANNOTATIONS:
        check, code, hint = _VALUES[key]
        for fault in check(value) if value else ():  # empty means not set
            yield Finding(code=code, path=("metadata", "annotations", key), message=f"{key} {fault}.", hint=hint(value))
        return
    if key in OPERATOR_ANNOTATIONS:
        return
    close = suggest(key, _USER_ANNOTATIONS) or suggest(key, OPERATOR_ANNOTATIONS)
    if close is None and not key.startswith((ASO_PREFIX, OUR_PREFIX)):
        return
    known_annotations = join_with_or(
        sorted(k for k in _USER_ANNOTATIONS if k.startswith(_find_prefix(key)))
    ) or join_with_or(sorted(_USER_ANNOTATIONS))
    yield Finding(
        code="UnknownAnnotation",
        path=("metadata", "annotations", key),
        message=f"{key} is an unknown annotation.",
        hint=f"Did you mean {close}?" if close else f"Known annotations: {known_annotations}.",
    )


def _check_override(resource: Resource, value: str) -> Iterator[Finding]:
    """Check the override: it changes the ids of children, and has an effect on a topmost owner only
    (docs/reference/reconciliation.md#owner-resolution).
    """
    path = ("metadata", "annotations", OVERRIDE)
    owner = resource.spec.get("owner")
    if isinstance(owner, Mapping) and owner.get("name"):
        yield Finding(
            code="ChildIdOverride",
            path=path,
            message=f"{OVERRIDE} is not allowed on a resource that another manifest owns.",
            hint="Remove it: only a topmost owner overrides the ids of its children.",
        )
    elif value and not is_arm_id(value):
        yield Finding(
            code="ChildIdOverride",
            path=path,
            message=f"{OVERRIDE} must be an ARM id, but is {quote_scalar(value)}.",
            hint="Remove it to read the id from Azure, or set it as /subscriptions/<id>.",
        )


def _find_prefix(key: str) -> str:
    return key[: key.find("/") + 1]


def _check_policy(value: str) -> Iterable[str]:
    if value not in set(Policy):
        yield f"must be {join_with_or(policy.value for policy in Policy)}, but is {quote_scalar(value)}"


def _check_credential(value: str) -> Iterable[str]:
    if "/" in value:
        yield "cannot contain '/'. Secret must be in same namespace as resource"


def _check_method(value: str) -> Iterable[str]:
    if value not in UPDATE_METHODS:
        yield f"must be {join_with_or(UPDATE_METHODS)}, but is {quote_scalar(value)}"


def _make_policy_hint(value: str) -> str:
    close = suggest(value, Policy)
    return f"Did you mean {close}?" if close else "A resource with an unknown policy is not reconciled."


def _make_method_hint(value: str) -> str:
    close = suggest(value, UPDATE_METHODS)
    return f"Did you mean {close}?" if close else "`put` sends the whole resource, `patch` only what differs."


_Check = tuple[Callable[[str], Iterable[str]], str, Callable[[str], str]]

_VALUES: Final[Mapping[str, _Check]] = {
    RECONCILE_POLICY: (_check_policy, "ReconcilePolicy", _make_policy_hint),
    CREDENTIAL_FROM: (
        _check_credential,
        "CredentialFrom",
        lambda _: "Name a Secret in the namespace of the resource.",
    ),
    UPDATE_METHOD: (_check_method, "UpdateMethod", _make_method_hint),
    IGNORE: (lambda _: (), "Ignore", lambda _: ""),
}
