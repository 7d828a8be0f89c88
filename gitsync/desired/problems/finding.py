"""Defines a problem that a check finds in one manifest, before it has a location in a file.

Separate, because checks know fields and not files: only `locate_finding` looks up lines.
"""

from __future__ import annotations

from dataclasses import dataclass

from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.resource import Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing wrong with one field."""

    code: str
    path: FieldPath
    message: str  # full sentences
    hint: str = ""  # full sentences
    level: Level = Level.ERROR
    invalidates: bool = True  # the manifest, so nothing is sent (as in `Problem`)
    source: SourceLocation | None = None  # what is wrong, if it is not the field itself
    retyped: bool | float | None = None  # a number or a boolean that must be text, None in any other finding


def locate_finding(finding: Finding, resource: Resource) -> Problem:
    """Locate a finding: its file, line and field; a missing field has the line of its nearest parent."""
    location = finding.source or find_location(finding.path, resource)
    return Problem(
        code=finding.code,
        message=finding.message,
        hint=finding.hint,
        level=finding.level,
        path=location.path,
        line=location.line,
        field="" if finding.source else format_field(finding.path),
        invalidates=finding.invalidates,
        rendered_by=(resource.rendered_by,) if resource.rendered_by else (),
    )


def find_location(path: FieldPath, resource: Resource) -> SourceLocation:
    """Find the file and the line of a field, or of its nearest parent that is known; else those of the manifest."""
    for end in range(len(path), -1, -1):
        # The line of the base would send people to a file in which the value is right.
        if path[:end] in resource.patched:
            return resource.patched[path[:end]]
        if resource.lines and path[:end] in resource.lines:
            break
    line = resource.lines.find_nearest(path) if resource.lines else resource.source.line
    return SourceLocation(resource.source.path, line)
