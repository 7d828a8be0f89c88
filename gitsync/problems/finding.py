"""A problem that a check finds in one manifest, before it has a place in a file.

Separate, because checks know fields and not files: only `locate_finding` looks up lines.
"""

from __future__ import annotations

from dataclasses import dataclass

from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Resource
from gitsync.problems.field_path import FieldPath, format_field


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing wrong with one field; `message` and `hint` are full sentences. `invalidates` as in `Problem`."""

    code: str
    path: FieldPath
    message: str
    hint: str = ""
    level: Level = Level.ERROR
    invalidates: bool = True


def locate_finding(finding: Finding, resource: Resource) -> Problem:
    """The finding with its file, line and field; a missing field has the line of its nearest parent."""
    return Problem(
        code=finding.code,
        message=finding.message,
        hint=finding.hint,
        level=finding.level,
        path=resource.source.path,
        line=find_line(finding.path, resource),
        field=format_field(finding.path),
        invalidates=finding.invalidates,
        rendered_by=(resource.rendered_by,) if resource.rendered_by else (),
    )


def find_line(path: FieldPath, resource: Resource) -> int:
    """The line of a field, or of its nearest parent with a known line; else that of the manifest."""
    return resource.lines.find_nearest(path) if resource.lines else resource.source.line
