"""What an accept did, as text and as JSON. Names of people are in the JSON, and in the text on request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gitsync.desired.problems.field_path import format_field
from gitsync.model.attribution import Attribution
from gitsync.model.edit import REMOVED
from gitsync.model.problem import SourceLocation
from gitsync.report.author_texts import format_change
from gitsync.report.escape import format_value
from gitsync.report.json import build_change
from gitsync.report.wording import format_plural
from gitsync.settings.logging import escape_controls
from gitsync.workflows.accept.drift import Accepted, DriftedField, DriftedResource, NotAccepted
from gitsync.workflows.accept.publish import Published


def format_lines(accepted: Accepted, published: Sequence[Published] = (), *, names: bool = False) -> Iterator[str]:
    """Format what was taken, what was skipped and why, and where the new texts are; with the names of people only if
    `names`.
    """
    yield _format_headline(accepted)
    for resource in accepted.resources:
        yield from ("", f"{resource.key.kind}/{resource.key.name}  {resource.source}")
        if resource.is_gone:
            yield "  - its manifest is removed, since it was deleted in Azure"
        for field in resource.fields:
            yield f"  {_format_field(field)}"
        yield from (f"    {author}" for author in _list_authors(resource, names=names))
    if accepted.left:
        yield from ("", *format_left(accepted))
    yield from _list_locations(accepted, published)


def _list_locations(accepted: Accepted, published: Sequence[Published]) -> list[str]:
    """List where the new texts are: in the files, or in branches."""
    edited = [f"{path} {'is edited' if text is not None else 'is removed'}" for path, text in accepted.texts.items()]
    lines = [outcome.sentence for outcome in published] or edited
    return ["", *lines] if lines else []


def _format_headline(accepted: Accepted) -> str:
    if not accepted.resources:
        return "Nothing was accepted." if accepted.left else "There is no drift to accept."
    fields = sum(len(resource.fields) for resource in accepted.resources)
    gone = sum(resource.is_gone for resource in accepted.resources)
    counts = [format_plural(fields, "field")] * bool(fields) + [format_plural(gone, "delete")] * bool(gone)
    left = f" {format_plural(len(accepted.left), 'change')} skipped." if accepted.left else ""
    return f"Accepted {' and '.join(counts)} of {format_plural(len(accepted.resources), 'resource')}.{left}"


def _format_field(field: DriftedField) -> str:
    name, old, new = escape_controls(format_field(field.path)), _format_side(field.old), _format_side(field.new)
    if field.old is REMOVED:
        return f"+ {name}: {new}"
    return f"- {name}: {old}" if field.new is REMOVED else f"~ {name}: {old} → {new}"


def _format_side(value: Any) -> str:
    return format_value(None if value is REMOVED else value)


def _list_authors(resource: DriftedResource, *, names: bool) -> list[str]:
    """List who made what is accepted, each change once; with its fields, if there are several."""
    fields: dict[Attribution, list[str]] = {change: [] for change in resource.changed_by[:1] if not resource.fields}
    for field in resource.fields:
        if field.changed_by:
            fields.setdefault(field.changed_by, []).append(format_field(field.path))
    known = {change: paths for change, paths in fields.items() if not change.doubt}
    return [
        format_change(change, fields=paths if len(fields) > 1 else None, names=names) for change, paths in known.items()
    ]


def format_left(accepted: Accepted) -> Iterator[str]:
    """Format what was skipped, and why; nothing if there is none."""
    if accepted.left:
        yield "Skipped:"
    for refusal in accepted.left:
        yield from _format_one_left(refusal)


def _format_one_left(refusal: NotAccepted) -> Iterator[str]:
    yield f"  {refusal.key.kind}/{refusal.key.name}{' ' if refusal.field else ''}{escape_controls(refusal.field)}"
    yield f"    {escape_controls(refusal.reason)}"
    if refusal.advice:
        yield f"    {escape_controls(refusal.advice)}"
    yield from (f"    {location}" for location in refusal.locations)


def build(accepted: Accepted, published: Sequence[Published] = (), *, names: bool) -> dict[str, Any]:
    """Build the JSON of what was taken, what was skipped, and the branches and pull requests for it; with names of
    people if `names`.
    """
    return {
        "accepted": [_build_resource(resource, names=names) for resource in accepted.resources],
        "left": [
            {
                "resource": str(refusal.key),
                "field": refusal.field,
                "reason": refusal.reason,
                "advice": refusal.advice,
                "places": _build_locations(refusal.locations),
            }
            for refusal in accepted.left
        ],
        "files": [{"path": path, "removed": text is None} for path, text in accepted.texts.items()],
        "published": [
            {"action": outcome.action.value, "branch": outcome.branch, "url": outcome.url, "message": outcome.sentence}
            for outcome in published
        ],
    }


def _build_resource(resource: DriftedResource, *, names: bool) -> dict[str, Any]:
    return {
        "resource": str(resource.key),
        "armId": resource.arm_id,
        "unit": resource.unit,
        "deleted": resource.is_gone,
        **_build_locations([resource.source])[0],
        "fields": [
            {
                "field": format_field(field.path),
                "pointer": field.pointer,
                **({} if field.old is REMOVED else {"old": field.old}),
                **({} if field.new is REMOVED else {"new": field.new}),
                "changedBy": build_change(field.changed_by, names=names) if field.changed_by else None,
            }
            for field in resource.fields
        ],
        "changedBy": [build_change(change, names=names) for change in resource.changed_by],
    }


def _build_locations(locations: Iterable[SourceLocation]) -> list[dict[str, Any]]:
    return [{"path": location.path, "line": location.line} for location in locations]
