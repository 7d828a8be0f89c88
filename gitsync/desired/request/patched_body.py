"""The body of an ASO manifest with the members of its annotation `gitsync/body`, and the check of both by ARM's type.

Separate from `validation.body_annotation`, which reads the annotation: only a converted body shows what is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from gitsync.desired.catalog.version_annotation import BODY, read_api_version
from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.formats.merge_patch import merge_patch
from gitsync.desired.problems.field_path import FieldPath, find_member, format_field
from gitsync.desired.problems.finding import Finding, locate_finding
from gitsync.desired.request.body import Converted, convert, convert_words, find_field
from gitsync.desired.validation.any_type_rules import check_body_words
from gitsync.desired.validation.body_annotation import BODY_PATH, has_path, locate_member, read_body
from gitsync.model.facts import Kind
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Resource
from gitsync.model.secret import Placeholder
from gitsync.model.template import Gap, ReferenceKeys

_LEVEL_OF_SPEC: Final = Level.ERROR
"""What the conversion of a spec makes is checked for errors only: its own schema has checked the rest."""


def patch_body(converted: Converted, members: Mapping[str, Any], namespace: str) -> Converted:
    """Merge the members of the annotation over a converted body.

    Raises UnusableReferenceError for a word without a value.
    """
    patch = convert_words(members, namespace)
    return Converted(merge_patch(converted.body, patch.body), (*converted.arm_ids, *patch.arm_ids))


def check_patched_body(
    resource: Resource, kind: Kind, body: Mapping[str, Any] | None, unknown: Level
) -> Iterator[Problem]:
    """Check what both annotations make of a body (None if it cannot be made) by ARM's type at the version."""
    patch = read_body(resource)
    words = list(check_body_words(patch, BODY_PATH))
    yield from (_locate(finding, resource) for finding in words)
    # The body of an AzureResource is checked where it is written.
    if words or body is None or kind.is_any_type or not kind.is_arm:
        return
    from gitsync.desired.validation.arm_body import check_body  # noqa: PLC0415 - few runs have such bodies

    base = convert(kind, resource.spec, "", resource.key.namespace).body
    yield from (_locate(finding, resource) for finding in _find_replaced_keys(base, patch))
    # The conversion puts the name into the body, and no manifest has it there.
    sent = {key: _hide_gaps(value) for key, value in body.items() if key != "name" or key in patch}
    name = str(body.get("name") or "")
    for finding in check_body(sent, kind.arm_type, kind.api_version, name=name, unknown=unknown, path=BODY_PATH):
        inside = finding.path[len(BODY_PATH) :]
        if patch and has_path(patch, inside):
            yield _locate(finding, resource)
        elif finding.level is _LEVEL_OF_SPEC and read_api_version(resource.annotations):
            yield locate_finding(_move_to_spec(finding, inside, resource, kind), resource)


def _locate(finding: Finding, resource: Resource) -> Problem:
    location = locate_member(finding.path, resource)
    return replace(locate_finding(finding, resource), path=location.path, line=location.line)


def _move_to_spec(finding: Finding, inside: JsonPath, resource: Resource, kind: Kind) -> Finding:
    """Return a finding in a member that the spec gives with the field of the spec."""
    field = find_field(kind, inside, resource) or ("spec",)
    message = finding.message.replace(format_field(finding.path), format_field(field), 1)
    where = f"{kind.arm_type} at {kind.api_version}"
    hint = f"The annotation names {where}. Set another version, or remove the member with null in {BODY}."
    return replace(finding, path=field, message=message, hint=hint)


def _find_replaced_keys(body: Any, patch: Any, path: FieldPath = ()) -> Iterator[Finding]:
    """Find maps whose keys are ARM ids of references: the ids are known after the merge."""
    if isinstance(body, ReferenceKeys):
        where = (*BODY_PATH, *path)
        yield Finding(
            code="BodyAnnotation",
            path=where,
            message=f"{format_field(where)} is a map that spec fills with the ids of references.",
            hint="Write all entries in spec.",
        )
    elif isinstance(patch, Mapping):
        for key, value in patch.items():
            yield from _find_replaced_keys(find_member(body, key), value, (*path, key))


def _hide_gaps(value: Any) -> Any:
    """Return a body with values that are not known yet in place of its gaps."""
    if isinstance(value, Gap):
        return Placeholder("", why="a value of another object")
    if isinstance(value, Mapping):
        return {key: _hide_gaps(member) for key, member in value.items()}
    return [_hide_gaps(entry) for entry in value] if isinstance(value, list) else value
