"""Reads the documents of the status tree: each is one mapping, and the errors of its fields have a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.errors import StateError
from gitsync.git.state.yaml_text import load
from gitsync.manifests.yaml_documents import FileDocuments, read_documents
from gitsync.problems.checked_mapping import CheckedMapping
from gitsync.problems.field_path import FieldPath, format_field

_HINT = (
    "Restore the file (see git log of the status branch), or remove it and its entry in "
    "inventory.yaml: gitsync then treats its resource as never recorded."
)


def read_document(path: str, content: bytes) -> CheckedMapping:
    """Read the one document of a file, a mapping. StateError for anything else."""

    def refuse(where: FieldPath, problem: str) -> StateError:
        (document,) = _read_all(path, content).documents  # again, for its lines
        line = document.lines.find_nearest(where)
        return StateError(f"{path}:{line}: {format_field(where)} {problem}.", hint=_HINT)

    values = load(content)
    return CheckedMapping(_read_mapping(path, content) if values is None else values, refuse)


def check_schema(fields: CheckedMapping, path: str, supported: int) -> None:
    """Raise StateError if a file is of another schema: a newer one needs a newer gitsync."""
    schema = fields.count("schema")
    if schema > supported:
        raise StateError(
            f"{path}: written by a newer gitsync (schema {schema}; this one reads {supported}).",
            hint="Upgrade gitsync.",
        )
    if schema != supported:
        raise fields.refusal("schema", f"is {schema}, not {supported}")


def _read_all(path: str, content: bytes) -> FileDocuments:
    """Read a file with the reader of all YAML. Its size was checked when it was listed."""
    return read_documents(path, content, max_bytes=len(content))


def _read_mapping(path: str, content: bytes) -> Mapping[str, Any]:
    file_contents = _read_all(path, content)
    problems = [
        *file_contents.problems,
        *(problem for document in file_contents.documents for problem in document.problems if problem.is_error),
    ]
    if problems:
        first = min(problems, key=lambda problem: problem.order)
        raise StateError(f"{path}:{first.line}: {first.message}", hint=_HINT)
    is_whole = len(file_contents.documents) == 1 and content.endswith(b"\n")
    if not is_whole or not isinstance(file_contents.documents[0].value, Mapping):
        raise StateError(f"{path}:1: The file is not a single mapping, or is truncated.", hint=_HINT)
    values: Mapping[str, Any] = file_contents.documents[0].value
    return values
