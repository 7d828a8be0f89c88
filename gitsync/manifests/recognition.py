"""Documents whose header is not that of an ASO manifest, but which were meant as one: the signs, and what is wrong.

Silence about such a document would be taken for its removal. What belongs to other tools looks alike in places
(Crossplane's kinds have our names, OpenShift's have no group), so each sign is one that those do not have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

from gitsync.catalog.catalog import Catalog, open_catalog
from gitsync.catalog.type_words import join_with_or, quote_scalar
from gitsync.catalog.unknown_kind import suggest_group
from gitsync.manifests.header_likeness import HEADER, Likeness, find_within_two_letters
from gitsync.manifests.sops_documents import CIPHERTEXT
from gitsync.problems.finding import Finding

GROUPS = ".azure.com"  # every group of ASO ends so: one that is misspelt before it is a problem, not passed over

FOREIGN = frozenset(
    {
        "acn.azure.com",
        "clusterconfig.azure.com",
        "containerstorage.azure.com",
        "fleet.azure.com",
        "networking.fleet.azure.com",
        "karpenter.azure.com",
    }
)
"""Groups of other operators that end as ASO's do."""

FEEDING = ("ConfigMap", "Secret", "Namespace")
"""Kinds of Kubernetes that resources draw on; their group is the core group."""

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
"""Kinds of ASO whose names Kubernetes, OpenShift and others use without a group, so that the name alone is no sign."""

ASO_VERSION = re.compile(r"v(1api|1beta)?\d{8}(preview|storage)?")
"""Versions that only ASO has: Kubernetes counts, ASO gives dates."""

ARM_TYPE = re.compile(r"([A-Za-z]+(?:\.[A-Za-z]+)+(?:/[A-Za-z]+)+)(@[-0-9a-zA-Z]+)?")
ARM_NAMESPACE = re.compile(r"microsoft\.[a-z]+/", re.IGNORECASE)
ARM_VERSION = re.compile(r"\d{4}-\d{2}-\d{2}(-[a-z]+)?")


def is_ours(api_version: str) -> bool:
    """Whether an apiVersion is of a group of ASO, or of one that is named like those."""
    group = api_version.rpartition("/")[0].casefold()
    return group.endswith(GROUPS) and group not in FOREIGN


def find_header_fault(value: Any) -> Finding | None:
    """What is wrong with a document that was meant for gitsync; None where it belongs to something else.

    `value` is a document that `is_ours` does not recognise as a resource.
    """
    if not isinstance(value, Mapping) or is_arm_template(value):
        return None
    if (wrong := _arm_type(value)) is not None:
        return wrong
    seen = Likeness.of(value)
    if not any(sign(seen) for sign in SIGNS):
        return None
    return next(wrong for diagnosis in DIAGNOSES if (wrong := diagnosis(seen)) is not None)


def is_arm_template(value: Any) -> bool:
    """Whether a document is a template of Azure Resource Manager, which other tools deploy."""
    schema = value.get("$schema") if isinstance(value, Mapping) else None
    return isinstance(schema, str) and "deploymentTemplate.json" in schema and "resources" in value


@cache
def _catalog() -> Catalog:
    return open_catalog()


@cache
def _homes() -> Mapping[str, tuple[str, ...]]:
    """The groups of each kind, by its name."""
    found: dict[str, tuple[str, ...]] = {}
    for group in _catalog().groups():
        for kind in _catalog().kinds(group):
            found[kind] = (*found.get(kind, ()), group)
    return found


@lru_cache(maxsize=1024)
def _near_group(text: str) -> str | None:
    return find_within_two_letters(text, _catalog().groups())


def _named_group(seen: Likeness) -> str | None:
    """The ASO group that an apiVersion names, misspelt or not."""
    for group in (seen.group, seen.api_version.partition("/")[0]):
        text = group.strip().casefold()
        near = _near_group(text)
        if text in FOREIGN:
            return near if near and seen.kind in _catalog().kinds(near) else None
        if near or text.endswith(GROUPS):
            return near or text
    return None


def _has_group_of_ours(seen: Likeness) -> bool:
    return _named_group(seen) is not None


def _has_version_of_ours(seen: Likeness) -> bool:
    return ASO_VERSION.fullmatch(seen.version) is not None


def _has_kind_of_ours(seen: Likeness) -> bool:
    is_known = seen.kind in _homes() and seen.kind not in ELSEWHERE
    return is_known and not seen.group and bool({"metadata", "spec"} & seen.keys.keys())


def _has_spec_of_ours(seen: Likeness) -> bool:
    is_spec = seen.keys.get("spec", "").casefold() == "spec"
    return is_spec and not seen.group and (seen.has_azure_name or seen.has_owner)


def _feeds_resources(seen: Likeness) -> bool:
    return not seen.group and "metadata" in seen.keys and _fed_kind(seen) is not None


def _fed_kind(seen: Likeness) -> str | None:
    if seen.kind in FEEDING:
        return seen.kind
    return find_within_two_letters(seen.kind, FEEDING) if seen.kind not in _homes() else None


def _is_encrypted(seen: Likeness) -> bool:
    return any(CIPHERTEXT.match(text) for text in (seen.api_version, seen.kind)) and "metadata" in seen.keys


SIGNS: tuple[Callable[[Likeness], bool], ...] = (
    _has_group_of_ours,
    _has_version_of_ours,
    _has_kind_of_ours,
    _has_spec_of_ours,
    _feeds_resources,
    _is_encrypted,
)


def _wrong_key(seen: Likeness) -> Finding | None:
    word = next((word for word in HEADER if word in seen.misspelt), None)
    if word is None:
        return None
    return Finding(
        code="MisspeltField",
        path=(seen.keys[word],),
        message=f"{seen.keys[word]} is not a field of a manifest.",
        hint=f"Did you mean {word}?",
    )


def _encrypted_header(seen: Likeness) -> Finding | None:
    if not _is_encrypted(seen):
        return None
    return Finding(
        code="EncryptedManifest",
        path=("apiVersion",),
        message="apiVersion and kind are encrypted with SOPS, so the document cannot be recognised.",
        hint="Encrypt only the values: `sops encrypt --encrypted-regex '^(data|stringData)$'`.",
    )


def _no_kind(seen: Likeness) -> Finding | None:
    if seen.kind:
        return None
    message = f"The document has the apiVersion {seen.api_version}, but no kind." if seen.api_version else NAMELESS
    kinds = _catalog().kinds(_named_group(seen) or "")
    hint = f"Add kind. Known kinds: {join_with_or(kinds)}." if kinds else "Add apiVersion and kind."
    return Finding(code="MissingKind", path=("kind",), message=message, hint=hint)


NAMELESS = "The document has the spec of an ASO resource, but neither apiVersion nor kind."


def _no_group(seen: Likeness) -> Finding | None:
    if seen.group:
        return None
    code = "UnknownGroup" if seen.api_version else "MissingApiVersion"
    message = f"The apiVersion {quote_scalar(seen.api_version)} of this {seen.kind} has no group."
    message = message if seen.api_version else f"This {seen.kind} has no apiVersion."
    return Finding(code=code, path=("apiVersion",), message=message, hint=_spelled(seen))


def _spelled(seen: Likeness) -> str:
    """A hint with the apiVersion that the kind has."""
    if (fed := _fed_kind(seen)) is not None and not (
        seen.has_owner or seen.has_azure_name or _has_version_of_ours(seen)
    ):
        return f"Did you mean apiVersion: v1 and kind: {fed}?"
    homes = _homes().get(seen.kind, ())
    if not homes:
        return "Write apiVersion as group/version. `gitsync explain` lists all kinds."
    newest = [f"{home}/{_catalog().versions(home, seen.kind)[-1]}" for home in homes]
    return f"Write the group and the version, for example apiVersion: {join_with_or(newest)}."


def _unknown_group(seen: Likeness) -> Finding:
    near = _named_group(seen)
    hint = f"Did you mean {near}?" if near in _catalog().groups() else suggest_group(seen.group, seen.kind, _catalog())
    message = f"{quote_scalar(seen.group)} is not a group of ASO."
    return Finding(code="UnknownGroup", path=("apiVersion",), message=message, hint=hint)


DIAGNOSES: tuple[Callable[[Likeness], Finding | None], ...] = (
    _wrong_key,
    _encrypted_header,
    _no_kind,
    _no_group,
    _unknown_group,
)


def _arm_type(value: Mapping[str, Any]) -> Finding | None:
    """A resource written as ARM or Bicep write it: the type of one of our kinds, or ARM's type in the header."""
    for field in ("apiVersion", "kind", "type"):
        text = value.get(field)
        found = ARM_TYPE.fullmatch(text) if isinstance(text, str) else None
        is_namespaced = field != "type" and isinstance(text, str) and ARM_NAMESPACE.match(text) is not None
        home = _catalog().home_of(found[1]) if found else None
        is_versioned = found is not None and (found[2] or ARM_VERSION.fullmatch(str(value.get("apiVersion"))))
        if is_namespaced or (home and is_versioned):
            return _as_aso(field, text, home)
    return None


def _as_aso(field: str, text: Any, home: tuple[str, str] | None) -> Finding:
    return Finding(
        code="ArmType",
        path=(field,),
        message=f"{field} is {quote_scalar(text)}: this is the form of ARM and Bicep, not of ASO.",
        hint=f"Write it as kind {home[1]} of {home[0]}." if home else "Write apiVersion and kind as ASO does.",
    )
