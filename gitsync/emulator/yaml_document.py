"""Reads a YAML file strictly: every mapping is asked for the keys it may have, and what is wrong is told with its line.

It knows YAML and nothing of what the file says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import yaml

from gitsync.errors import ConfigError

_Choice = TypeVar("_Choice", bound=StrEnum)


class _Loader(yaml.SafeLoader):
    """YAML whose dates are texts, as in JSON."""


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
        """What to raise when this value is not what it should be."""
        return ConfigError(f"{self.where}: {message}", hint=hint)

    def members(self, *names: str) -> dict[str, YamlNode]:
        """The members of a mapping, by name; ConfigError for a name that is none of those."""
        if not isinstance(self._node, yaml.MappingNode):
            raise self.wrong("This should be a mapping.", f"It takes {', '.join(names)}.")
        found: dict[str, YamlNode] = {}
        for key, value in self._node.value:
            name = YamlNode(self._file, key, self._loader)
            word = name.text()
            if names and word not in names:
                raise name.wrong(f"The key {word!r} means nothing here.", f"Known keys: {', '.join(names)}.")
            if word in found:
                raise name.wrong(f"The key {word!r} stands twice.", "Keep one of the two.")
            found[word] = YamlNode(self._file, value, self._loader)
        return found

    def items(self) -> list[YamlNode]:
        """The items of a list; one that stands alone is a list of itself."""
        if isinstance(self._node, yaml.SequenceNode):
            return [YamlNode(self._file, item, self._loader) for item in self._node.value]
        return [self]

    def any(self) -> Any:
        """The value as JSON."""
        try:
            return self._loader.construct_object(self._node, deep=True)
        except yaml.YAMLError as error:
            raise self.wrong(f"This cannot be read: {error}") from error

    def text(self) -> str:
        """A scalar as it is written, be it a word, a number or a date."""
        if not isinstance(self._node, yaml.ScalarNode) or self.any() is None:
            raise self.wrong("This should be a text.")
        return str(self._node.value)

    def texts(self) -> tuple[str, ...]:
        """One text or a list of texts."""
        return tuple(item.text() for item in self.items())

    def number(self) -> float:
        """A number from 0."""
        value = self.any()
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise self.wrong("This should be a number from 0.")
        return float(value)

    def count(self) -> int:
        """A whole number from 0."""
        value = self.number()
        if value != int(value):
            raise self.wrong("This should be a whole number.")
        return int(value)

    def flag(self) -> bool:
        value = self.any()
        if not isinstance(value, bool):
            raise self.wrong("This should be true or false.")
        return value

    def choice(self, choices: type[_Choice]) -> _Choice:
        """A member of an enumeration, by its value."""
        value = self.text()
        try:
            return choices(value)
        except ValueError as error:
            raise self.wrong(f"There is no {value!r}.", f"It is one of {', '.join(choices)}.") from error


FieldReader = tuple[str, Callable[[YamlNode], Any]]
"""The field that a key sets, and how its value is read."""


def fields(node: YamlNode, table: Mapping[str, FieldReader]) -> dict[str, Any]:
    """The members of a mapping as the fields of a value: by a table of the keys that it may have."""
    return {table[key][0]: table[key][1](value) for key, value in node.members(*table).items()}


def read(path: Path) -> YamlNode | None:
    """The document in a file; None for an empty one, ConfigError for one that is no YAML or cannot be read."""
    try:
        loader = _Loader(path.read_bytes())
        node = loader.get_single_node()
    except OSError as error:
        raise ConfigError(
            f"The file {path} cannot be read: {error.strerror}.", hint="Give a file that is there."
        ) from error
    except yaml.YAMLError as error:
        raise ConfigError(f"The file {path} is no YAML: {error}", hint="Mend what the line above names.") from error
    return YamlNode(str(path), node, loader) if node is not None else None
