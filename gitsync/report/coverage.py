"""The coverage of a source: the sentence in every report, and the list of `-v`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitsync.logging import escape_controls
from gitsync.model.coverage import Coverage, format_title
from gitsync.model.manifests import UnreadDocument
from gitsync.report.headline import format_plural

MOST_KINDS = 10  # in a sentence


def format_coverage(coverage: Coverage) -> str:
    """What was read and what was not: `20 resources in 8 files; followed: 1 Application.argoproj.io; passed over: 12
    Deployment.apps; 2 files ignored`.
    """
    counts = f"{format_plural(coverage.resources, 'resource')} in {format_plural(coverage.files, 'file')}"
    return "; ".join([counts, *format_left_out(coverage)])


def format_left_out(coverage: Coverage) -> list[str]:
    """The parts of the sentence about documents that did not become resources; empty if all did."""
    parts = (
        _format_kinds("followed", coverage.followed),
        _format_kinds("passed over", coverage.passed_over),
        f"{format_plural(coverage.rejected, 'document')} rejected" if coverage.rejected else "",
        f"{format_plural(len(coverage.ignored), 'file')} ignored" if coverage.ignored else "",
        f"{format_plural(len(coverage.notes), 'problem')} in what is not used" if coverage.notes else "",
    )
    return [part for part in parts if part]


def _format_kinds(word: str, times: Mapping[str, int]) -> str:
    kinds = [f"{count} {kind}" for kind, count in times.items()]
    if len(kinds) > MOST_KINDS:
        kinds = [*kinds[:MOST_KINDS], f"{format_plural(len(kinds) - MOST_KINDS, 'more kind')}"]
    return f"{word}: {', '.join(kinds)}" if kinds else ""


def list_left_out(coverage: Coverage) -> Iterator[str]:
    """A line for each document and file that was left out, in the order of the files."""
    documents = [(document.source.path, document.source.line, _describe(document)) for document in coverage.unread]
    files = [(path, 0, "ignored") for path in coverage.ignored]
    notes = [
        (note.path, note.line, f"not used: {note.code}: {escape_controls(note.message)}") for note in coverage.notes
    ]
    for path, line, description in sorted([*documents, *files, *notes]):
        yield f"{escape_controls(path)}:{line}: {description}" if line else f"{escape_controls(path)}: {description}"


def _describe(document: UnreadDocument) -> str:
    if document.is_rejected and not (document.kind or document.name):
        return "rejected"
    title = f"{format_title(document)} {escape_controls(document.name)}".rstrip()
    word = "rejected" if document.is_rejected else "followed" if document.is_followed else "passed over"
    return f"{word}: {title}"


def build_coverage(coverage: Coverage) -> Mapping[str, Any]:
    """The counts as plain JSON values."""
    return {
        "files": coverage.files,
        "resources": coverage.resources,
        "followed": dict(coverage.followed),
        "passedOver": dict(coverage.passed_over),
        "rejected": coverage.rejected,
        "ignoredFiles": len(coverage.ignored),
        "notes": len(coverage.notes),
    }
