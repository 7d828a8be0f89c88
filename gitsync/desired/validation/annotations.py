"""The annotations and labels that a manifest may have for gitsync and for ASO
(docs/reference/reconciliation.md#annotations-and-labels).

A misspelt key would be ignored silently, and a misspelt reconcile policy can end in a delete: so keys similar to known
ones are problems, and so are unknown values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from gitsync.desired.catalog.body_words import SET
from gitsync.desired.catalog.directory_relations import MEMBERS, OWNERS
from gitsync.desired.catalog.tag_fields import DEFAULT_TAGS
from gitsync.desired.catalog.type_words import join_with_or, quote_scalar
from gitsync.desired.catalog.version_annotation import API_VERSION, BODY
from gitsync.desired.problems.field_path import FieldPath, find_member
from gitsync.desired.problems.finding import Finding
from gitsync.desired.problems.suggest import suggest
from gitsync.desired.validation.depends_on_annotation import DEPENDS_ON
from gitsync.desired.validation.hold_annotation import HOLD
from gitsync.desired.validation.name_rules import LONGEST_SHOWN
from gitsync.desired.validation.references import is_arm_id
from gitsync.desired.validation.replace_annotation import REPLACE, check_replace
from gitsync.model.reconcile_policy import RECONCILE_POLICY, Policy
from gitsync.model.resource import Resource

OVERRIDE: Final = "serviceoperator.azure.com/child-resource-id-override"
"""Annotation of an Alias: the id of the subscription that it created, which contains its extension resources.

A handler of the run sets it. A manifest that was taken from a cluster may have it too.
"""

ASO_PREFIX: Final = "serviceoperator.azure.com/"
OUR_PREFIX: Final = "gitsync/"
CREDENTIAL_FROM: Final = f"{ASO_PREFIX}credential-from"
UPDATE_METHOD: Final = f"{OUR_PREFIX}update-method"
IGNORE: Final = f"{OUR_PREFIX}ignore"
RUN_SCRIPT: Final = f"{OUR_PREFIX}run-script"
ALLOW: Final = "allow"
"""The value of `RUN_SCRIPT` that consents to the script which Azure runs for a resource."""

UPDATE_METHODS: Final = ("patch", "put")

QUALIFIED_NAME: Final = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$"
)
"""A key of a label, the name of a finalizer, and in any case a key of an annotation, as Kubernetes allows them."""

LABEL_VALUE: Final = r"^([A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?$"
LONGEST_PREFIX: Final = 253
_MOST_BYTES: Final = 256 * 1024
"""Of all annotations of an object together, keys and values."""

_USER_ANNOTATIONS: Final = frozenset(
    {
        RECONCILE_POLICY,
        CREDENTIAL_FROM,
        UPDATE_METHOD,
        IGNORE,
        REPLACE,
        HOLD,
        RUN_SCRIPT,
        API_VERSION,
        BODY,
        DEPENDS_ON,
        SET,
        MEMBERS,
        OWNERS,
    }
)
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
    """Check the annotations, labels and finalizers of one manifest."""
    if not (resource.annotations or resource.labels or resource.others):
        return  # as most: nothing is looked for
    yield from _check_as_api_server(resource)
    for key, value in resource.annotations.items():
        yield from _check_annotation(key, value)
    yield from check_replace(resource)
    if OVERRIDE in resource.annotations:
        yield from _check_override(resource, resource.annotations[OVERRIDE])
    for key in sorted(_USER_ANNOTATIONS & resource.labels.keys()):
        yield Finding(
            code="LabelForAnnotation",
            path=("metadata", "labels", key),
            message=f"{key} is an annotation, and has no effect as a label.",
            hint="Move it to metadata.annotations.",
        )


def _check_as_api_server(resource: Resource) -> Iterator[Finding]:
    """Check what an API server refuses in the labels, annotations and finalizers of any object."""
    for path, name in _list_names(resource):
        # An API server checks keys of annotations in lower case, and the others as they are.
        if not _is_qualified(name.lower() if "annotations" in path else name):
            yield Finding(
                code="InvalidMetadata",
                path=path,
                message=f"{quote_scalar(name)} is not a name that Kubernetes allows under metadata.{path[1]}.",
                hint=f"{_NAME_HINT} A DNS name in lower case and a slash may precede them.",
            )
    for key, value in resource.labels.items():
        if not re.fullmatch(LABEL_VALUE, value):
            yield Finding(
                code="InvalidMetadata",
                path=("metadata", "labels", key),
                message=f"The label {key} is {quote_scalar(value)}, which Kubernetes does not allow.",
                hint=f"{_NAME_HINT} An annotation may have any text.",
            )
    size = sum(len(key.encode()) + len(value.encode()) for key, value in resource.annotations.items())
    if size > _MOST_BYTES:
        yield Finding(
            code="InvalidMetadata",
            path=("metadata", "annotations"),
            message=f"The annotations have {size} bytes together, and Kubernetes allows {_MOST_BYTES}.",
            hint="Shorten or remove the longest ones.",
        )


_NAME_HINT: Final = "Use at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends."


def _list_names(resource: Resource) -> Iterator[tuple[FieldPath, str]]:
    """List the names in the metadata that an API server checks, each with its field."""
    yield from ((("metadata", "labels", key), key) for key in resource.labels)
    yield from ((("metadata", "annotations", key), key) for key in resource.annotations)
    finalizers = find_member(resource.others, "metadata", "finalizers")
    if isinstance(finalizers, list):
        names = enumerate(finalizers)
        yield from ((("metadata", "finalizers", index), name) for index, name in names if isinstance(name, str))


@lru_cache(maxsize=4096)
def _is_qualified(name: str) -> bool:
    """Return whether a name is qualified as Kubernetes wants it. Cached, since the same keys are in thousands of
    manifests.
    """
    prefix, _, _ = name.rpartition("/")
    return len(prefix) <= LONGEST_PREFIX and re.fullmatch(QUALIFIED_NAME, name) is not None


def check_inherited_policy(resource: Resource, namespace: Mapping[str, str]) -> Iterator[Finding]:
    """Check the policy that a manifest has from its Namespace.

    `namespace` has the annotations of the manifest's own Namespace.
    """
    value = namespace.get(RECONCILE_POLICY, "")
    # A policy of the resource itself wins, so the fault of its Namespace has no effect on it.
    if not value or value in set(Policy) or resource.annotations.get(RECONCILE_POLICY):
        return
    where = f"The Namespace {resource.key.namespace} sets the policy of this manifest: {RECONCILE_POLICY}"
    yield _make_policy_fault(("metadata", "namespace"), where, value)


def _make_policy_fault(path: FieldPath, where: str, value: str) -> Finding:
    """Make the finding of an unknown policy. `where` is the annotation, as the start of a sentence."""
    close = suggest(value, Policy)
    return Finding(
        code="ReconcilePolicy",
        path=path,
        message=f"{where} must be {join_with_or(policy.value for policy in Policy)}, but is {quote_scalar(value)}.",
        hint=f"Did you mean {close}?" if close else "A resource with an unknown policy is not reconciled.",
    )


def _check_annotation(key: str, value: str) -> Iterator[Finding]:
    if key in _USER_ANNOTATIONS:
        if value:  # an empty one counts as absent
            yield from _check_value(key, value)
        return
    if key in OPERATOR_ANNOTATIONS:
        return
    if key == DEFAULT_TAGS:
        path = ("metadata", "annotations", key)
        message = f"{key} is an annotation of a Namespace, and has no effect on a resource."
        yield Finding(code="UnknownAnnotation", path=path, message=message, hint="Write the tags into spec.")
        return
    close = suggest(key, _USER_ANNOTATIONS) or suggest(key, OPERATOR_ANNOTATIONS)
    if close is None and not key.startswith((ASO_PREFIX, OUR_PREFIX)):  # an annotation of another tool
        return
    same_prefix = {known for known in _USER_ANNOTATIONS if known.startswith(key[: key.find("/") + 1])}
    known_annotations = join_with_or(sorted(same_prefix or _USER_ANNOTATIONS))
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
            message=f"{OVERRIDE} must be an ARM id, but is {quote_scalar(value, LONGEST_SHOWN)}.",
            hint="Remove it to read the id from Azure, or set it as /subscriptions/<id>.",
        )


def _check_value(key: str, value: str) -> Iterator[Finding]:
    """Check the value of an annotation of the author. `ignore_annotation` and `hold_annotation` check those that depend
    on the kind or on the day.
    """
    path = ("metadata", "annotations", key)
    if key == RECONCILE_POLICY and value not in set(Policy):
        yield _make_policy_fault(path, key, value)
    elif key == CREDENTIAL_FROM and "/" in value:
        yield Finding(
            code="CredentialFrom",
            path=path,
            message=f"{key} cannot contain '/'. Secret must be in same namespace as resource.",
            hint="Name a Secret in the namespace of the resource.",
        )
    elif key == UPDATE_METHOD and value not in UPDATE_METHODS:
        close = suggest(value, UPDATE_METHODS)
        yield Finding(
            code="UpdateMethod",
            path=path,
            message=f"{key} must be {join_with_or(UPDATE_METHODS)}, but is {quote_scalar(value)}.",
            hint=f"Did you mean {close}?" if close else "`put` sends the whole resource, `patch` only what differs.",
        )
