"""Reads one document of the status tree, field by field: each is checked when it is used, and errors have its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple, Self, TypeVar, cast

from gitsync.errors import StateError
from gitsync.git.state.yaml_text import load
from gitsync.manifests.yaml_documents import FileDocuments, read_documents
from gitsync.model.gvk import Key
from gitsync.problems.field_path import FieldPath, format_field

_Choice = TypeVar("_Choice", bound=StrEnum)

_HINT = (
    "Restore the file (see git log of the status branch), or remove it and its entry in "
    "inventory.yaml: gitsync then treats its resource as never recorded."
)


class DocumentFields(NamedTuple):
    """A mapping somewhere in the document of a file. `where` is its path in it, () for the top."""

    path: str
    content: bytes
    values: Mapping[str, Any]
    where: FieldPath = ()

    @classmethod
    def read(cls, path: str, content: bytes) -> Self:
        """Read the one document of a file, a mapping. StateError for anything else."""
        values = load(content)
        return cls(path, content, _read_mapping(path, content) if values is None else values)

    def refusal(self, name: str, problem: str, *, index: int | None = None) -> StateError:
        """Make the error for a field, or for one entry of it: `problem` completes a sentence that begins
        with its name.
        """
        path = (*self.where, name) if index is None else (*self.where, name, index)
        (document,) = _read_all(self.path, self.content).documents  # again, for its lines
        line = document.lines.find_nearest(path)
        return StateError(f"{self.path}:{line}: {format_field(path)} {problem}.", hint=_HINT)

    def check_schema(self, supported: int) -> None:
        """Raise StateError if the file is of another schema: a newer one needs a newer gitsync."""
        schema = self.count("schema")
        if schema > supported:
            raise StateError(
                f"{self.path}: written by a newer gitsync (schema {schema}; this one reads {supported}).",
                hint="Upgrade gitsync.",
            )
        if schema != supported:
            raise self.refusal("schema", f"is {schema}, not {supported}")

    def within(self, name: str, default: Mapping[str, Any] | None = None) -> DocumentFields:
        """Return the mapping under `name`."""
        values = self.mapping(name)
        values = default if values is None else values
        if values is None:
            raise self.refusal(name, "is missing")
        return DocumentFields(self.path, self.content, values, (*self.where, name))

    def each(self, name: str) -> Iterator[DocumentFields]:
        """Yield the mappings of a list; nothing if it is absent."""
        for number, value in enumerate(self._list(name)):
            if not isinstance(value, dict):
                raise self.refusal(name, "must be a mapping", index=number)
            yield DocumentFields(self.path, self.content, value, (*self.where, name, number))

    def mapping(self, name: str) -> Mapping[str, Any] | None:
        value: Mapping[str, Any] | None = self.values.get(name)
        if value is not None and not isinstance(value, dict):
            raise self.refusal(name, "must be a mapping")
        return value

    def text(self, name: str, default: str | None = None) -> str:
        value = self.values.get(name, default)
        if not isinstance(value, str):
            raise self.refusal(name, "is missing" if value is None else "must be a string")
        return value

    def count(self, name: str, default: int | None = None) -> int:
        value = self.values.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.refusal(name, "is missing" if value is None else "must be a whole number")
        return value

    def one_of(self, name: str, choices: type[_Choice], default: _Choice | None = None) -> _Choice:
        text = self.text(name, default)
        try:
            return cast(_Choice, _choose(choices, text))
        except ValueError:
            raise self.refusal(name, f"is {text!r}, not one of {', '.join(filter(None, choices))}") from None

    def texts(self, name: str) -> tuple[str, ...]:
        values = self._list(name)
        if not all(isinstance(value, str) for value in values):
            raise self.refusal(name, "must be a list of strings")
        return tuple(values)

    def moment(self, name: str) -> str:
        """Return a time as RFC 3339 writes it, with its zone."""
        text = self.text(name)
        try:
            has_zone = datetime.fromisoformat(text).tzinfo is not None
        except ValueError:
            has_zone = False
        if not has_zone:
            raise self.refusal(name, f"is {text!r}, not a time such as 2030-12-31T12:00:00Z")
        return text

    def key(self, name: str) -> Key | None:
        return self._key(name, self.text(name)) if name in self.values else None

    def keys(self, name: str) -> tuple[Key, ...]:
        return tuple(self._key(name, text, number) for number, text in enumerate(self._list(name)))

    def _key(self, name: str, text: Any, index: int | None = None) -> Key:
        try:
            return _parse_key(text)
        except (AttributeError, TypeError, ValueError):
            raise self.refusal(name, "must be Kind.group/namespace/name", index=index) from None

    def _list(self, name: str) -> list[Any]:
        value = self.values.get(name, [])
        if not isinstance(value, list):
            raise self.refusal(name, "must be a list")
        return value


@lru_cache(maxsize=256)
def _choose(choices: type[StrEnum], text: str) -> StrEnum:
    return choices(text)


@lru_cache(maxsize=4096)
def _parse_key(text: str) -> Key:
    """Parse a key, once for all that name it: most keys are those of owners too."""
    return Key.parse(text)


def _read_all(path: str, content: bytes) -> FileDocuments:
    """Read a file with the reader of all YAML. Its size was checked when it was listed."""
    return read_documents(path, content, max_bytes=len(content))


def _read_mapping(path: str, content: bytes) -> Mapping[str, Any]:
    file_contents = _read_all(path, content)
    problems = [
        *file_contents.problems,
        *(problem for document in file_contents.documents for problem in document.problems),
    ]
    if problems:
        first = min(problems, key=lambda problem: problem.order)
        raise StateError(f"{path}:{first.line}: {first.message}", hint=_HINT)
    is_whole = len(file_contents.documents) == 1 and content.endswith(b"\n")
    if not is_whole or not isinstance(file_contents.documents[0].value, Mapping):
        raise StateError(f"{path}:1: The file is not a single mapping, or is truncated.", hint=_HINT)
    values: Mapping[str, Any] = file_contents.documents[0].value
    return values
