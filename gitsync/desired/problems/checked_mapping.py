"""Reads the fields of an untrusted mapping, each of which is checked when it is used.

Where the mapping is from, and how its lines are found, depends on its format: a file of the status tree, a plan file, a
line of JSON. So a format gives the function that makes the error of a field.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

from gitsync.desired.formats.strict_json import read_json
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.errors import SourceError
from gitsync.model.gvk import Key

_Choice = TypeVar("_Choice", bound=StrEnum)

Refuse = Callable[[FieldPath, str], Exception]
"""Makes the error of a field. The text completes a sentence that begins with its name."""


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class CheckedMapping:
    """A mapping somewhere in a document."""

    values: Mapping[str, Any]
    refuse: Refuse
    where: FieldPath = ()  # its path in the document, () for the top

    def refusal(self, name: str, problem: str, *, index: int | None = None) -> Exception:
        """Make the error of a field, or of one entry of it."""
        return self.refuse((*self.where, name) if index is None else (*self.where, name, index), problem)

    def check_names(self, names: Collection[str]) -> None:
        """Refuse a mapping that lacks one of these members, or has another."""
        # Only the first is raised, and it must be the same one in every run.
        for name in sorted(self.values.keys() ^ set(names)):
            raise self.refusal(name, "is missing" if name in names else "is not a known member")

    def within(self, name: str, default: Mapping[str, Any] | None = None) -> CheckedMapping:
        """Return the mapping under `name`."""
        values = self.mapping(name)
        values = default if values is None else values
        if values is None:
            raise self.refusal(name, "is missing")
        return CheckedMapping(values, self.refuse, (*self.where, name))

    def each(self, name: str) -> Iterator[CheckedMapping]:
        """Yield the mappings of a list; nothing if it is absent."""
        for index, value in enumerate(self._list(name)):
            if not isinstance(value, dict):
                raise self.refusal(name, "must be a mapping", index=index)
            yield CheckedMapping(value, self.refuse, (*self.where, name, index))

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

    def switch(self, name: str) -> bool:
        value = self.values.get(name)
        if not isinstance(value, bool):
            raise self.refusal(name, "is missing" if value is None else "must be true or false")
        return value

    def count(self, name: str, default: int | None = None) -> int:
        value = self.values.get(name, default)
        # For Python, true is an int as well.
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
        # Without a zone, the time would be another one on each machine.
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
        # A value that is not text has no parts, and the cache cannot even hash a list.
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


_parse_key: Final = lru_cache(maxsize=4096)(Key.parse)
"""Parse a key, once for all that name it: most keys are those of owners too."""


def read_json_line(line: bytes, number: int) -> CheckedMapping:
    """Read the object in one line of JSON; a null is as if it was not there. Errors name the number of the line."""
    position, hint = f"Line {number}", "Write one JSON object per line."
    try:
        members = read_json(line.rstrip())
    # The first two are ValueErrors too, and tell the column or the byte.
    except json.JSONDecodeError as error:
        raise SourceError(f"{position} is not JSON: {error.msg} at column {error.colno}.", hint=hint) from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{position} is not JSON: byte {error.start + 1} is not UTF-8.", hint=hint) from error
    except ValueError as error:
        raise SourceError(f"{position} is not JSON: {error}.", hint=hint) from error
    if not isinstance(members, dict):
        raise SourceError(f"{position} is not a JSON object.", hint=hint)

    def refuse(where: FieldPath, problem: str) -> SourceError:
        return SourceError(f"{position}: {format_field(where)} {problem}.", hint="Fix this member of the line.")

    return CheckedMapping({name: value for name, value in members.items() if value is not None}, refuse)
