"""Annotations whose text is YAML: read by the reader of all YAML, with its limits, and located line by line."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gitsync.desired.manifests.yaml_documents import Document, read_documents
from gitsync.desired.problems.field_path import FieldPath
from gitsync.desired.problems.finding import find_location
from gitsync.model.problem import SourceLocation
from gitsync.model.resource import Resource


class AnnotationText(NamedTuple):
    """An annotation as it was read: its documents that are not empty, or what is wrong, and in which of its lines."""

    documents: tuple[Document, ...]
    fault: str = ""  # a sentence
    line: int = 1


@lru_cache(maxsize=1024)  # each difference looks for its field
def read_annotation(annotation: str, text: str) -> AnnotationText:
    """Read the text of an annotation."""
    contents = read_documents(annotation, text.encode("utf-8", "replace"))
    found = [*contents.problems, *(problem for document in contents.documents for problem in document.problems)]
    if faults := [problem for problem in found if problem.is_error]:
        return AnnotationText((), faults[0].message, faults[0].line or 1)
    return AnnotationText(tuple(document for document in contents.documents if document.value is not None))


def locate_in_annotation(annotation: str, path: FieldPath, resource: Resource) -> SourceLocation:
    """Find the line of a value inside the text of an annotation; that of the annotation if it is not a block."""
    at = ("metadata", "annotations", annotation)
    start = find_location(at, resource)
    text = resource.annotations.get(annotation, "")
    read = read_annotation(annotation, text) if text else AnnotationText(())
    inside = read.documents[0].lines.find_nearest(path) if len(read.documents) == 1 else read.line
    # A quoted or patched text has no lines of its own in the file, so only the line of its key is right.
    if at in resource.patched or not _is_block(text, start.line, resource):
        return start
    return SourceLocation(start.path, start.line + inside)


def _is_block(text: str, line: int, resource: Resource) -> bool:
    """Return whether the file has the lines of the text below the key, and not in a quoted text: then nothing else is
    there.
    """
    if resource.lines is None or "\n" not in text:
        return False
    others = (
        *(("metadata", "annotations", key) for key in resource.annotations),
        *(("metadata", name) for name in ("labels", "name", "namespace")),
        ("spec",),
    )
    below = (found for path in others if (found := resource.lines.find(path)) is not None and found > line)
    last = line + text.count("\n") + (not text.endswith("\n"))
    return all(found > last for found in below)
