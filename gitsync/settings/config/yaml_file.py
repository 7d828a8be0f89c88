"""Reads a YAML file that people write for gitsync, value by value: its settings, and scripts of the emulator.

Each value has its file, its line and its key, and names them when it is not what was expected. YAML's composer gives
all of them, so nothing of an untrusted file is constructed before it is checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any, TypeVar

import yaml

from gitsync.errors import ConfigError
from gitsync.settings.config.setting_values import OFF, ON

_NULL = "tag:yaml.org,2002:null"

_Choice = TypeVar("_Choice", bound=str)
_Item = TypeVar("_Item")


class _Loader(yaml.SafeLoader):
    """YAML that reads dates as strings, as JSON does."""


_Loader.yaml_implicit_resolvers = {
    first: [rule for rule in rules if rule[0] != "tag:yaml.org,2002:timestamp"]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class YamlNode:
    """One value of a file, or one key. `name` is its key below those above: `units[0].path`; "" at the top."""

    def __init__(self, file: str, node: yaml.Node, name: str = "") -> None:
        self._file = file
        self._node = node
        self.name = name

    @property
    def line(self) -> int:
        return self._node.start_mark.line + 1

    @property
    def file(self) -> str:
        return self._file

    @property
    def where(self) -> str:
        return f"{self._file}:{self.line}"

    @property
    def is_mapping(self) -> bool:
        return isinstance(self._node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        return isinstance(self._node, yaml.SequenceNode)

    @property
    def is_null(self) -> bool:
        return isinstance(self._node, yaml.ScalarNode) and self._node.tag == _NULL

    def wrong(self, sentence: str, hint: str = "") -> ConfigError:
        """Make the error for this value."""
        return ConfigError(": ".join(filter(None, (self.where, self.name, sentence))), hint=hint)

    def pairs(self) -> Iterator[tuple[YamlNode, YamlNode]]:
        """Iterate over the keys and the values of a mapping."""
        if not isinstance(self._node, yaml.MappingNode):
            raise self.wrong("expected a mapping.")
        for key, value in self._node.value:
            text = key.value if isinstance(key, yaml.ScalarNode) else "?"
            name = f"{self.name}.{text}" if self.name else text
            yield YamlNode(self._file, key, name), YamlNode(self._file, value, name)

    def key(self, known: Collection[str], taken: Collection[str]) -> str:
        """Read a key. It is none of those that are taken, and one of those that are known, if any are."""
        text = self.text()
        if text in taken:
            raise self.wrong("is given twice. Remove one of them.")
        if known and text not in known:
            near = next(iter(get_close_matches(text, known, n=1)), None)
            meant = f" Did you mean {near}?" if near else ""
            raise self.wrong(f"there is no such key.{meant}", f"Known keys: {', '.join(known)}.")
        return text

    def members(self, *names: str) -> dict[str, YamlNode]:
        """Read the members of a mapping, by name; with names, no others."""
        members: dict[str, YamlNode] = {}
        for key, value in self.pairs():
            members[key.key(names, members)] = value
        return members

    def items(self) -> list[YamlNode]:
        """Return the items of a list; a single value counts as a list with one item."""
        if not isinstance(self._node, yaml.SequenceNode):
            return [self]
        return [YamlNode(self._file, item, f"{self.name}[{index}]") for index, item in enumerate(self._node.value)]

    def any(self) -> Any:
        """Read the value as JSON."""
        try:
            return _Loader("").construct_document(self._node)
        except yaml.YAMLError as error:
            raise self.wrong(f"cannot be read: {error}") from error

    def text(self) -> str:
        """Read a scalar as it is written, be it a word, a number or a date."""
        if not isinstance(self._node, yaml.ScalarNode) or self.is_null:
            raise self.wrong("expected a text.")
        return str(self._node.value)

    def texts(self) -> tuple[str, ...]:
        """Read one text or a list of texts."""
        return tuple(item.text() for item in self.items())

    def text_of_one_line(self) -> str:
        """Read a text without the blanks around it, and with no control characters inside."""
        text = self._node.value.strip() if isinstance(self._node, yaml.ScalarNode) else ""
        if not text or not text.isprintable():
            raise self.wrong("expected a text of one line.")
        return str(text)

    def number(self, least: int = 0) -> float:
        """Read a number from `least`."""
        value = self.any()
        # In Python a truth value is a number too.
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not least <= value < math.inf:
            raise self.wrong(f"expected a number of {least} or more.")
        return float(value)

    def count(self, least: int = 0) -> int:
        """Read a whole number from `least`."""
        value = self.number(least)
        if value != int(value):
            raise self.wrong("expected a whole number.")
        return int(value)

    def positive(self) -> int:
        """Read a whole number from 1."""
        return self.count(least=1)

    def time(self) -> datetime:
        """Read a date or a time, in UTC unless it has another offset."""
        try:
            time = datetime.fromisoformat(self.text())
        except ValueError as error:
            raise self.wrong(f"{self.text()!r} is not a date.", "Write 2027-01-01 or 2027-01-01T12:00:00Z.") from error
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)

    def flag(self) -> bool:
        """Read true or false, in each of the ways in which flags and variables say it."""
        text = self.text_of_one_line()
        if text.casefold() not in ON | OFF:
            raise self.wrong(f"expected true or false, not {text!r}.")
        return text.casefold() in ON

    def choice(self, choices: Iterable[_Choice]) -> _Choice:
        """Read one of some texts, such as the members of an enumeration."""
        text = self.text_of_one_line()
        by_text = {str(choice): choice for choice in choices}
        if text not in by_text:
            raise self.wrong(f"expected {' or '.join(by_text)}, not {text!r}.")
        return by_text[text]


FieldReader = tuple[str, Callable[[YamlNode], Any]]
"""The field that a key sets, and how its value is read."""


def read_fields(node: YamlNode, table: Mapping[str, FieldReader], *needed: str) -> dict[str, Any]:
    """Read the members of a mapping as fields, by a table of the allowed keys; some are needed."""
    values = {table[key][0]: table[key][1](value) for key, value in node.members(*table).items()}
    if missing := [key for key in needed if table[key][0] not in values]:
        raise node.wrong(f"missing keys: {', '.join(missing)}.", f"Set {' and '.join(missing)}.")
    return values


def read_as(make: Callable[..., _Item], table: Mapping[str, FieldReader], *needed: str) -> Callable[[YamlNode], _Item]:
    """Make the reader of a mapping whose fields make a value."""
    return lambda node: make(**read_fields(node, table, *needed))


def read_each(read: Callable[[YamlNode], _Item]) -> Callable[[YamlNode], tuple[_Item, ...]]:
    """Make the reader of a list, or of one value, of the reader of an item."""
    return lambda node: tuple(read(item) for item in node.items())


def read_yaml(path: str, content: bytes, most: int) -> YamlNode | None:
    """Read the document of a file of at most so many bytes; None if it is empty. Raises ConfigError, with the line, if
    it is not valid YAML.
    """
    if len(content) > most:
        raise ConfigError(f"{path} has more than {most} bytes.", hint="Remove everything but settings from it.")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"The file {path} cannot be read: it is not UTF-8.") from error
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.reader.ReaderError as error:  # the only one that has a position and no line
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(f"{path}:{line}: this is not YAML: {error.reason}.") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        origin = f"{path}:{mark.line + 1}" if mark else path
        raise ConfigError(f"{origin}: this is not YAML: {getattr(error, 'problem', None) or error}.") from error
    except RecursionError:
        raise ConfigError(f"{path} nests values too deeply.", hint="Write one `key: value` per line.") from None
    return None if node is None else YamlNode(path, node)
