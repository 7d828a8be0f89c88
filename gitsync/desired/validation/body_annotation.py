"""The annotation `gitsync/body`: YAML with members that ASO's version of a kind lacks, which is merged over the body
by RFC 7396 before the body is compared and sent (docs/manifests.md#newer-api-versions).

The words of an `AzureResource` stand for a value there too (`catalog.body_words`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.arm_types import ArmType, open_arm_types
from gitsync.desired.catalog.type_words import quote_scalar
from gitsync.desired.catalog.version_annotation import API_VERSION, BODY, read_api_version
from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.manifests.yaml_documents import Document
from gitsync.desired.problems.field_path import FieldPath
from gitsync.desired.problems.finding import Finding
from gitsync.desired.validation.annotation_text import locate_in_annotation, read_annotation
from gitsync.model.facts import Kind
from gitsync.model.problem import Level, SourceLocation
from gitsync.model.resource import Resource

BODY_PATH: Final[FieldPath] = ("metadata", "annotations", BODY)
_VERSION_PATH: Final[FieldPath] = ("metadata", "annotations", API_VERSION)

_FORM: Final = "Write a mapping with members of the ARM body, such as {properties: {allowSharedKeyAccess: false}}."


class _Read(NamedTuple):
    """The annotation as it was read: its document, or what is wrong."""

    document: Document | None
    fault: str = ""


def read_body(resource: Resource) -> Mapping[str, Any]:
    """Read the members that a manifest has in the annotation; empty without it, or if it cannot be used."""
    text = resource.annotations.get(BODY)
    document = _read(text).document if text else None
    return document.value if document else {}


def has_path(patch: Mapping[str, Any], path: JsonPath, *, is_leaf: bool = False) -> bool:
    """Return whether the annotation gives what a body has at a path. With `is_leaf`, an object does not count: the spec
    may give other members of it.
    """
    value: Any = patch
    for step in path:
        # A merge patch replaces lists and scalars as one, so the annotation gives everything below.
        if not isinstance(value, Mapping):
            return True
        if step not in value:
            return False
        value = value[step]
    return bool(patch) and not (isinstance(value, Mapping) and is_leaf)


def locate_member(path: FieldPath, resource: Resource) -> SourceLocation:
    """Find the line of a member inside the text of the annotation; that of the annotation if it is not a block."""
    return locate_in_annotation(BODY, path[len(BODY_PATH) :], resource)


def check_version_and_body(resource: Resource, kind: Kind) -> Iterator[Finding]:
    """Check the form of both annotations, and that they can have an effect. `request.patched_body` checks members."""
    for path, annotation in ((_VERSION_PATH, API_VERSION), (BODY_PATH, BODY)):
        if resource.annotations.get(annotation) and (kind.is_any_type or not kind.is_arm):
            yield _make_useless(path, annotation, kind)
            return
    if resource.annotations.get(API_VERSION):
        yield from _check_version(resource, kind)
    if text := resource.annotations.get(BODY):
        read = _read(text)
        if read.document is None:
            yield Finding(code="BodyAnnotation", path=BODY_PATH, message=f"{BODY}: {read.fault}", hint=_FORM)


def _make_useless(path: FieldPath, annotation: str, kind: Kind) -> Finding:
    hint = "Remove it: ARM does not have this kind."
    if kind.is_any_type:
        field = "behind the @ of spec.type" if annotation == API_VERSION else "into spec.body"
        hint = f"Move it {field}."
    code = "ApiVersionAnnotation" if annotation == API_VERSION else "BodyAnnotation"
    message = f"{annotation} is not allowed on {kind.gvk.kind}."
    return Finding(code=code, path=path, message=message, hint=hint)


def _check_version(resource: Resource, kind: Kind) -> Iterator[Finding]:
    text = resource.annotations[API_VERSION]
    arm_type = open_arm_types().find_type(kind.arm_type)
    version = read_api_version(resource.annotations)
    if not version:
        message = f"{API_VERSION} must be an api-version such as 2026-03-01, but is {quote_scalar(text)}."
        hint = _name_newest(arm_type) or "Write an api-version of the type."
        yield Finding(code="ApiVersionAnnotation", path=_VERSION_PATH, message=message, hint=hint)
        return
    newest = _name_newest(arm_type)
    known = arm_type.find_version(version) if arm_type else None
    if known is None:
        yield Finding(
            code="TypeNotKnown",
            path=_VERSION_PATH,
            message=f"The body is not checked: gitsync has no facts about {kind.arm_type} at {version}.",
            hint=f"If it is misspelt: s{newest[1:]}" if newest else "Check the version.",
            level=Level.WARNING,
        )
    # Azure would refuse the PUT, and without this, only after the plan was approved.
    elif not known.writable:
        yield Finding(
            code="ApiVersionAnnotation",
            path=_VERSION_PATH,
            message=f"Resources of {kind.arm_type} can only be read at {version}.",
            hint=newest or "Remove the annotation.",
        )


def _name_newest(arm_type: ArmType | None) -> str:
    newest = arm_type.newest_stable if arm_type else None
    return f"Set it to {newest}, the newest stable version of {arm_type.name}." if arm_type and newest else ""


def _read(text: str) -> _Read:
    read = read_annotation(BODY, text)
    if read.fault:
        return _Read(None, f"{read.fault} It is in line {read.line} of the annotation.")
    if len(read.documents) != 1 or not isinstance(read.documents[0].value, dict):
        return _Read(None, "It is not one YAML mapping.")
    return _Read(read.documents[0])
