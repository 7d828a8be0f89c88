"""Recognizes documents that were meant as ASO manifests but have a wrong header, and explains the fault.

If such a document were ignored, its resource would count as removed. Documents of other tools are similar (Crossplane's
kinds have ASO's names, OpenShift's have no group), so each sign is one that those do not have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from gitsync.desired.catalog.type_words import join_with_or, quote_scalar
from gitsync.desired.catalog.unknown_kind import suggest_group
from gitsync.desired.manifests.aso_groups import ASO_VERSION, GROUPS, find_near_group, is_foreign, load_catalog
from gitsync.desired.manifests.document_forms import CIPHERTEXT
from gitsync.desired.manifests.headers import HEADER, PLACEHOLDER, Likeness, find_within_two_letters
from gitsync.desired.manifests.unparsed_text import IGNORE
from gitsync.desired.problems.finding import Finding
from gitsync.model.gvk import AZURE_GROUP, AZURE_RESOURCE
from gitsync.model.problem import UNKNOWN_GROUP, Level

FEEDING = ("ConfigMap", "Secret", "Namespace")
"""Kubernetes kinds that resources use; their group is the core group."""

ELSEWHERE = frozenset(
    {
        "Cluster",
        "Deployment",
        "Group",
        "Image",
        "Job",
        "Namespace",
        "Policy",
        "Project",
        "Route",
        "Secret",
        "Service",
        "User",
    }
)
"""ASO kinds whose names Kubernetes, OpenShift and others use without a group: the name alone is not a sign."""

ARM_TYPE = re.compile(r"([A-Za-z]+(?:\.[A-Za-z]+)+(?:/[A-Za-z]+)+)(@[-0-9a-zA-Z]+)?")
ARM_NAMESPACE = re.compile(r"microsoft\.[a-z]+/", re.IGNORECASE)
ARM_VERSION = re.compile(r"\d{4}-\d{2}-\d{2}(-[a-z]+)?")
_FILLED_IN = re.compile(rf"{PLACEHOLDER.pattern}|\$\{{")  # by a template tool, or by Flux variables


def find_header_fault(value: Any, likeness: Likeness) -> Finding | None:
    """Return the fault of a document that was meant for gitsync; None if it belongs to another tool.

    `value` is a document that `is_ours` does not recognize as a resource, and `likeness` its header.
    """
    if not isinstance(value, Mapping) or is_arm_template(value):  # an ARM template contains types that ASO has
        return None
    if (fault := _check_arm_type(value)) is not None:
        return fault
    if not _has_sign(likeness):
        return None
    return next(fault for diagnosis in DIAGNOSES if (fault := diagnosis(likeness)) is not None)


def note_unknown_group(likeness: Likeness) -> Finding | None:
    """Return a note about a document whose group ends like ASO's, without a sign that it was meant for gitsync: it
    belongs to another operator.
    """
    if not _has_unknown_group(likeness):
        return None
    return Finding(
        code=UNKNOWN_GROUP,
        path=("apiVersion",),
        message=f"{quote_scalar(likeness.group)} is not similar to any ASO group, so gitsync ignores the document.",
        hint="If it is meant for ASO, fix the group. Run `gitsync explain` to list all kinds.",
        level=Level.NOTE,
    )


def is_arm_template(value: Any) -> bool:
    """Return whether a document is an ARM template, which other tools deploy."""
    schema = value.get("$schema") if isinstance(value, Mapping) else None
    return isinstance(schema, str) and "deploymentTemplate.json" in schema and "resources" in value


@cache
def _map_kinds_to_groups() -> Mapping[str, tuple[str, ...]]:
    """Map each kind to the groups that have it."""
    groups: dict[str, tuple[str, ...]] = {}
    for group in load_catalog().groups():
        for kind in load_catalog().kinds(group):
            groups[kind] = (*groups.get(kind, ()), group)
    return groups


def _find_named_group(likeness: Likeness) -> str | None:
    """Find the ASO group that an apiVersion names, even if it is misspelt."""
    # A second slash, or a missing version, moves the group to another part of the text.
    for group in (likeness.group, likeness.api_version.partition("/")[0]):
        text = group.strip().casefold()
        near = find_near_group(text)
        # A known group of another operator may resemble an ASO group: only an ASO kind shows a mistake.
        if near and (not is_foreign(text) or likeness.kind in load_catalog().kinds(near)):
            return near
    return None


def _has_sign(likeness: Likeness) -> bool:
    """Return whether a header shows that its document was meant for gitsync."""
    if _find_named_group(likeness) is not None or _has_version_of_ours(likeness) or _is_encrypted(likeness):
        return True
    if _is_any_type(likeness):
        return True
    # A group that is filled in later may be any, so the other signs decide. Any other group is of another tool.
    if likeness.group and not (_has_unknown_group(likeness) or _FILLED_IN.search(likeness.group)):
        return False
    keys = likeness.keys
    if (
        likeness.kind in _map_kinds_to_groups()
        and likeness.kind not in ELSEWHERE
        and {"metadata", "spec"} & keys.keys()
    ):
        return True
    if keys.get("spec", "").casefold() == "spec" and (likeness.has_azure_name or likeness.has_owner):
        return True
    return not likeness.group and "metadata" in keys and _find_fed_kind(likeness) is not None


def _is_any_type(likeness: Likeness) -> bool:
    """Return whether a document has the kind AzureResource, and a spec of this kind or gitsync in its group."""
    if find_within_two_letters(likeness.kind, [AZURE_RESOURCE[1]]) is None:
        return False
    return likeness.has_arm_type or not likeness.group or "gitsync" in likeness.group.casefold()


def _has_unknown_group(likeness: Likeness) -> bool:
    """Return whether a group ends like ASO's, and does not belong to a known operator."""
    group = likeness.group.casefold()
    return group.endswith(GROUPS) and not is_foreign(group)


def _has_version_of_ours(likeness: Likeness) -> bool:
    return ASO_VERSION.fullmatch(likeness.version) is not None


def _find_fed_kind(likeness: Likeness) -> str | None:
    if likeness.kind in FEEDING:
        return likeness.kind
    # An ASO kind may resemble a Kubernetes kind without being a misspelt one.
    return find_within_two_letters(likeness.kind, FEEDING) if likeness.kind not in _map_kinds_to_groups() else None


def _is_encrypted(likeness: Likeness) -> bool:
    return any(CIPHERTEXT.match(text) for text in (likeness.api_version, likeness.kind)) and "metadata" in likeness.keys


def _check_keys(likeness: Likeness) -> Finding | None:
    word = next((word for word in HEADER if word in likeness.misspelt), None)
    if word is None:
        return None
    return Finding(
        code="MisspeltField",
        path=(likeness.keys[word],),
        message=f"{likeness.keys[word]} is not a field of a manifest.",
        hint=f"Did you mean {word}?",
    )


def _check_encryption(likeness: Likeness) -> Finding | None:
    if not _is_encrypted(likeness):
        return None
    return Finding(
        code="EncryptedManifest",
        path=("apiVersion",),
        message="apiVersion and kind are encrypted with SOPS, so the document cannot be recognized.",
        hint="Encrypt only the values: `sops encrypt --encrypted-regex '^(data|stringData)$'`.",
    )


def _check_kind(likeness: Likeness) -> Finding | None:
    if likeness.kind:
        return None
    message = (
        f"The document has the apiVersion {likeness.api_version}, but no kind." if likeness.api_version else NAMELESS
    )
    kinds = load_catalog().kinds(_find_named_group(likeness) or "")
    hint = f"Add kind. Known kinds: {join_with_or(kinds)}." if kinds else "Add apiVersion and kind."
    return Finding(code="MissingKind", path=("kind",), message=message, hint=hint)


NAMELESS = "The document has the spec of an ASO resource, but neither apiVersion nor kind."


def _check_group(likeness: Likeness) -> Finding | None:
    if likeness.group:
        return None
    code = UNKNOWN_GROUP if likeness.api_version else "MissingApiVersion"
    message = f"The apiVersion {quote_scalar(likeness.api_version)} of this {likeness.kind} has no group."
    message = message if likeness.api_version else f"This {likeness.kind} has no apiVersion."
    return Finding(code=code, path=("apiVersion",), message=message, hint=_suggest_api_version(likeness))


def _suggest_api_version(likeness: Likeness) -> str:
    """Suggest the apiVersion of the kind."""
    if (fed_kind := _find_fed_kind(likeness)) is not None and not (
        likeness.has_owner or likeness.has_azure_name or _has_version_of_ours(likeness)
    ):
        return f"Did you mean apiVersion: v1 and kind: {fed_kind}?"
    group_kinds = [(group, likeness.kind) for group in _map_kinds_to_groups().get(likeness.kind, ())]
    if _is_any_type(likeness):
        group_kinds = [AZURE_RESOURCE]
    if not group_kinds:
        return "Write apiVersion as group/version. Run `gitsync explain` to list all kinds."
    newest = [f"{group}/{load_catalog().versions(group, kind)[-1]}" for group, kind in group_kinds]
    return f"Write the group and the version, for example apiVersion: {join_with_or(newest)}."


def _make_unknown_group(likeness: Likeness) -> Finding:
    near = AZURE_GROUP if _is_any_type(likeness) else _find_named_group(likeness)
    hint = (
        f"Did you mean {near}?"
        if near in load_catalog().all_groups()
        else suggest_group(likeness.group, likeness.kind, load_catalog())
    )
    message = f"{quote_scalar(likeness.group)} is not an ASO group."
    return Finding(code=UNKNOWN_GROUP, path=("apiVersion",), message=message, hint=hint)


# The fault that explains the others comes first: a misspelt `kind` is a missing one too. The last always has one.
DIAGNOSES: tuple[Callable[[Likeness], Finding | None], ...] = (
    _check_keys,
    _check_encryption,
    _check_kind,
    _check_group,
    _make_unknown_group,
)


def _check_arm_type(value: Mapping[str, Any]) -> Finding | None:
    """Check for a resource in the format of ARM or Bicep: with the ARM type of an ASO kind, or with any ARM type in its
    header.
    """
    for field in ("apiVersion", "kind", "type"):
        text = value.get(field)
        match = ARM_TYPE.fullmatch(text) if isinstance(text, str) else None
        # `type` is a common field: it counts only with an ARM api-version.
        is_namespaced = field != "type" and isinstance(text, str) and ARM_NAMESPACE.match(text) is not None
        group_kind = load_catalog().group_kind_of(match[1]) if match else None
        is_versioned = match is not None and (match[2] or ARM_VERSION.fullmatch(str(value.get("apiVersion"))))
        if is_namespaced or (group_kind and is_versioned):
            fault = _make_arm_type(field, text, group_kind)
            # Without metadata and spec, it is the body of a request or a response, which may be there on purpose.
            is_arms = field == "type" and not ({"metadata", "spec"} & value.keys())
            return replace(fault, level=Level.WARNING, hint=f"{fault.hint} {IGNORE}") if is_arms else fault
    return None


def _make_arm_type(field: str, text: Any, group_kind: tuple[str, str] | None) -> Finding:
    return Finding(
        code="ArmType",
        path=(field,),
        message=f"{field} is {quote_scalar(text)}: this is the format of ARM and Bicep, not of ASO.",
        hint=f"Use kind {group_kind[1]} of group {group_kind[0]}."
        if group_kind
        else "Use apiVersion and kind as in ASO.",
    )
