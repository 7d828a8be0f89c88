"""Reads and writes the documents of the status tree: each is one JSON object, and the errors of its fields have a line.

Documents of earlier versions are YAML, which the reader of manifests reads. It finds lines in JSON too: that is a form
of YAML.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from gitsync.desired.formats.strict_json import read_json
from gitsync.desired.manifests.yaml_documents import FileDocuments, read_documents
from gitsync.desired.manifests.yaml_scalars import INTEGER_BELOW
from gitsync.desired.problems.checked_mapping import CheckedMapping
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.errors import StateError

FORMER_SUFFIX: Final = ".yaml"
_HINT = (
    "Restore the file (see git log of the status branch), or remove it and its entry in the "
    "inventory: gitsync then treats its resource as never recorded."
)
_AT_ONCE: Final = 1000  # pieces of text that are joined
_ENCODER = json.JSONEncoder(indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)


def write_document(values: Mapping[str, Any]) -> bytes:
    """Write a document of plain JSON: the same bytes for the same values. TypeError or ValueError for anything else.

    Characters that a terminal does not show as they are get escaped; halves of surrogate pairs become `?`.
    """
    content = bytearray()
    pieces = _ENCODER.iterencode(values)
    # Some at once: all pieces of an index of an estate would take many times its bytes.
    while text := "".join(islice(pieces, _AT_ONCE)):
        content += (text if text.isascii() else _escape(text)).encode()
    return bytes(content + b"\n")


def _escape(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def sort_keys(value: Any) -> Any:
    """Sort the keys of every mapping in plain JSON, and write numbers as Kubernetes does: 1, not 1.0.

    TypeError for what is not JSON: a secret, above all.
    """
    match value:
        case str():
            return str(value)
        case dict() | Mapping():
            return {str(key): sort_keys(value[key]) for key in sorted(value)}
        case list() | tuple():
            return [sort_keys(member) for member in value]
        case float() if value.is_integer() and abs(value) < INTEGER_BELOW:
            return int(value)
        case bool() | int() | None:
            return value
        case float() if math.isfinite(value):
            return value
        case _:
            raise TypeError(f"{type(value).__name__} is not a value that can be written")


def read_document(path: str, content: bytes) -> CheckedMapping:
    """Read the one document of a file, an object. StateError for anything else."""

    def refuse(where: FieldPath, problem: str) -> StateError:
        return StateError(f"{path}:{_find_line(path, content, where)}: {format_field(where)} {problem}.", hint=_HINT)

    read = _read_former if path.endswith(FORMER_SUFFIX) else _read_json
    return CheckedMapping(read(path, content), refuse)


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


def _read_json(path: str, content: bytes) -> Mapping[str, Any]:
    try:
        values: Any = read_json(content, are_names_unique=True)
    except json.JSONDecodeError as error:
        raise StateError(f"{path}:{error.lineno}: The file is not JSON: {error.msg}.", hint=_HINT) from error
    except ValueError as error:
        fault = f"byte {error.start + 1} is not UTF-8" if isinstance(error, UnicodeDecodeError) else error
        raise StateError(f"{path}:1: The file is not JSON: {fault}.", hint=_HINT) from error
    if not isinstance(values, dict) or not content.endswith(b"\n"):
        raise StateError(f"{path}:1: The file is not a single object, or is truncated.", hint=_HINT)
    return values


def _read_former(path: str, content: bytes) -> Mapping[str, Any]:
    file_contents = _read_all(path, content)
    problems = [
        *file_contents.problems,
        *(problem for document in file_contents.documents for problem in document.problems if problem.is_error),
    ]
    if problems:
        first = min(problems, key=lambda problem: problem.order)
        raise StateError(f"{path}:{first.line}: {first.message}", hint=_HINT)
    is_complete = len(file_contents.documents) == 1 and content.endswith(b"\n")
    if not is_complete or not isinstance(file_contents.documents[0].value, Mapping):
        raise StateError(f"{path}:1: The file is not a single mapping, or is truncated.", hint=_HINT)
    values: Mapping[str, Any] = file_contents.documents[0].value
    return values


def _find_line(path: str, content: bytes, where: FieldPath) -> int:
    """Find the line of a field, from 1; that of the document if the reader of YAML does not read its JSON."""
    documents = _read_all(path, content).documents
    return documents[0].lines.find_nearest(where) if documents else 1


def _read_all(path: str, content: bytes) -> FileDocuments:
    """Read a file with the reader of all YAML. Its size was checked when it was listed."""
    return read_documents(path, content, max_bytes=len(content))
