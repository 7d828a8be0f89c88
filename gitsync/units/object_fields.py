"""The fields of objects that a controller reads, each of its type."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gitsync.manifests.yaml_documents import Document
from gitsync.model.problem import Problem
from gitsync.problems.field_path import FieldPath, find_member, format_field
from gitsync.units.declarations import GitAddress, ObjectName, SourceName


class InvalidFieldError(Exception):
    """Ends the reading of one object. `where` is the field, and `hint` an order. `source` is what the object is built
    from, if that was read before.
    """

    source: SourceName | GitAddress | None = None

    def __init__(self, where: FieldPath, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.where, self.message, self.hint = where, message, hint

    def make_problem(self, document: Document, *, code: str, hint: str) -> Problem:
        """The problem of the object. `hint` is for errors without one."""
        return Problem(
            code=code,
            message=self.message,
            hint=self.hint or hint,
            path=document.path,
            line=document.line(*self.where),
            field=format_field(self.where),
        )


@contextmanager
def built_from(source: SourceName | GitAddress) -> Iterator[None]:
    """What cannot be read inside is of an object that is built from a source."""
    try:
        yield
    except InvalidFieldError as error:
        error.source = source
        raise


def find_type(document: Document) -> tuple[str, str]:
    """The group and the kind of an object."""
    return document.value["apiVersion"].partition("/")[0], document.value["kind"]


def read_key(document: Document, namespace: str) -> ObjectName:
    """The name of an object; `namespace` is that of one that names none."""
    read_mapping(document, ("spec",))  # for what is no mapping has no fields
    name = read_text(document, ("metadata", "name"))
    return ObjectName(read_text(document, ("metadata", "namespace"), default=namespace), name)


def find_field(document: Document, where: FieldPath) -> Any:
    """The value of a field; None if it or one above it is missing."""
    return find_member(document.value, *where)


def read_text(document: Document, where: FieldPath, default: str = "") -> str:
    value = find_field(document, where)
    if value is None and default:
        return default
    if not isinstance(value, str) or not value:
        raise InvalidFieldError(where, f"{format_field(where)} is not set to a text.")
    return value


def read_mapping(document: Document, where: FieldPath) -> Mapping[str, Any]:
    value = find_field(document, where)
    if not isinstance(value, dict | None):
        raise InvalidFieldError(where, f"{format_field(where)} is not a mapping.")
    return value or {}


def read_texts(document: Document, where: FieldPath) -> Mapping[str, str]:
    """A mapping of texts."""
    values = read_mapping(document, where)
    for name, value in values.items():
        if not isinstance(value, str):
            raise InvalidFieldError((*where, name), f"The value of {name} is not text.", "Quote it.")
    return values


def read_list(document: Document, where: FieldPath) -> list[Any]:
    value = find_field(document, where)
    if not isinstance(value, list | None):
        raise InvalidFieldError(where, f"{format_field(where)} is not a list.")
    return value or []


def read_switch(document: Document, where: FieldPath, *, default: bool = False) -> bool:
    value = find_field(document, where)
    if not isinstance(value, bool | None):
        raise InvalidFieldError(where, f"{format_field(where)} is neither true nor false.")
    return default if value is None else value


def read_path(document: Document, where: FieldPath) -> str:
    """The path of a folder from the root of its repository, "" for the root."""
    text = read_text(document, where, default="./")
    path = posixpath.normpath(f"./{text}")
    if path == ".." or path.startswith("../") or "\0" in path:
        raise InvalidFieldError(where, f"The path {text!r} leads out of the repository.")
    return "" if path == "." else path


def read_optional(document: Document, where: FieldPath) -> str:
    """A text, "" if it is not set."""
    return "" if find_field(document, where) in ("", None) else read_text(document, where)
