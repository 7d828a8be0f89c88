"""A strict YAML reader: unknown keys are errors, and each error has its line.

It knows nothing about the content of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import yaml

from gitsync.errors import ConfigError

_Choice = TypeVar("_Choice", bound=StrEnum)


class _Loader(yaml.SafeLoader):
    """YAML that reads dates as strings, as JSON does."""


_Loader.yaml_implicit_resolvers = {
    first: [rule for rule in rules if rule[0] != "tag:yaml.org,2002:timestamp"]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class YamlNode:
    """One value of a document, with its place in the file."""

    def __init__(self, file: str, node: yaml.Node, loader: yaml.SafeLoader) -> None:
        self._file = file
        self._node = node
        self._loader = loader

    @property
    def where(self) -> str:
        return f"{self._file}:{self._node.start_mark.line + 1}"

    def wrong(self, message: str, hint: str = "") -> ConfigError:
        """Make the error for this value."""
        return ConfigError(f"{self.where}: {message}", hint=hint)

    def members(self, *names: str) -> dict[str, YamlNode]:
        """Read the members of a mapping, by name; ConfigError for an unknown name."""
        if not isinstance(self._node, yaml.MappingNode):
            raise self.wrong("Expected a mapping.", f"Known keys: {', '.join(names)}.")
        members: dict[str, YamlNode] = {}
        for key, value in self._node.value:
            name = YamlNode(self._file, key, self._loader)
            text = name.text()
            if names and text not in names:
                raise name.wrong(f"Unknown key {text!r}.", f"Known keys: {', '.join(names)}.")
            if text in members:
                raise name.wrong(f"Duplicate key {text!r}.", "Remove one of them.")
            members[text] = YamlNode(self._file, value, self._loader)
        return members

    def items(self) -> list[YamlNode]:
        """Return the items of a list; a single value counts as a list with one item."""
        if isinstance(self._node, yaml.SequenceNode):
            return [YamlNode(self._file, item, self._loader) for item in self._node.value]
        return [self]

    def any(self) -> Any:
        """Read the value as JSON."""
        try:
            return self._loader.construct_object(self._node, deep=True)
        except yaml.YAMLError as error:
            raise self.wrong(f"Cannot read this value: {error}") from error

    def text(self) -> str:
        """Read a scalar as it is written, be it a word, a number or a date."""
        if not isinstance(self._node, yaml.ScalarNode) or self.any() is None:
            raise self.wrong("Expected a string.")
        return str(self._node.value)

    def texts(self) -> tuple[str, ...]:
        """One text or a list of texts."""
        return tuple(item.text() for item in self.items())

    def number(self) -> float:
        """Read a number from 0."""
        value = self.any()
        # In Python a truth value is a number too.
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise self.wrong("Expected a number of 0 or more.")
        return float(value)

    def count(self) -> int:
        """Read a whole number from 0."""
        value = self.number()
        if value != int(value):
            raise self.wrong("Expected an integer.")
        return int(value)

    def time(self) -> datetime:
        """Read a date or a time, in UTC unless it says otherwise."""
        try:
            time = datetime.fromisoformat(self.text())
        except ValueError as error:
            raise self.wrong(f"{self.text()!r} is no date.", "Write 2027-01-01 or 2027-01-01T12:00:00Z.") from error
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)

    def flag(self) -> bool:
        value = self.any()
        if not isinstance(value, bool):
            raise self.wrong("Expected true or false.")
        return value

    def choice(self, choices: type[_Choice]) -> _Choice:
        """Read a member of an enumeration, by its value."""
        value = self.text()
        try:
            return choices(value)
        except ValueError as error:
            raise self.wrong(f"Unknown value {value!r}.", f"Use one of {', '.join(choices)}.") from error


FieldReader = tuple[str, Callable[[YamlNode], Any]]
"""The field that a key sets, and how its value is read."""


def read_fields(node: YamlNode, table: Mapping[str, FieldReader]) -> dict[str, Any]:
    """Read the members of a mapping as fields, by a table of the allowed keys."""
    return {table[key][0]: table[key][1](value) for key, value in node.members(*table).items()}


def read_document(path: Path) -> YamlNode | None:
    """Read the document of a file; None if it is empty, ConfigError if it is not valid YAML or cannot be read."""
    try:
        loader = _Loader(path.read_bytes())
        node = loader.get_single_node()
    except OSError as error:
        raise ConfigError(
            f"The file {path} cannot be read: {error.strerror}.", hint="Set --script to an existing file."
        ) from error
    except yaml.YAMLError as error:
        raise ConfigError(
            f"The file {path} is not valid YAML: {error}", hint="Fix the line that the error names."
        ) from error
    return YamlNode(str(path), node, loader) if node is not None else None
