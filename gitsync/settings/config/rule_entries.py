"""`ignore` and `tags` in gitsync.yaml: the rules of a source for many resources.

Only their outer form is checked here. What is inside depends on the kinds of the catalog, which checks it with the
manifests (`desired.validation.field_rules`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from gitsync.errors import ConfigError
from gitsync.model.problem import SourceLocation
from gitsync.model.written_rules import RuleEntry
from gitsync.settings.config.setting import SettingForm
from gitsync.settings.config.yaml_file import YamlNode

MOST_RULES = 1000
_MOST_KEYS = 20  # of an entry

_Part = TypeVar("_Part")

Entries = tuple[RuleEntry, ...]


def read_rule_entries(form: SettingForm, node: YamlNode) -> tuple[Entries, list[str]]:
    """The entries of a value, and a sentence for each fault."""
    if node.is_null:
        return (), []
    try:
        return (_read_tags(node) if form is SettingForm.TAGS else _read_ignore(node)), []
    except ConfigError as fault:
        return (), [fault.message]


def _read_ignore(node: YamlNode) -> Entries:
    if not node.is_list:
        raise node.wrong("expected a list of paths, or of mappings with path or tags.")
    items = _limit(node, node.items(), MOST_RULES)
    return tuple(RuleEntry(_read_entry(item), SourceLocation(item.file, item.line)) for item in items)


def _read_entry(node: YamlNode) -> Any:
    if not node.is_mapping:
        return _read_scalar(node)
    entry: dict[str, Any] = {}
    for key, value in _limit(node, list(node.pairs()), _MOST_KEYS):
        entry[key.key((), entry)] = _read_values(value)
    return entry


def _read_values(node: YamlNode) -> Any:
    """Read a scalar or a list of them."""
    if not node.is_list:
        return _read_scalar(node)
    # An alias may stand for a value of any size, so nothing else is read.
    return [_read_scalar(item) for item in _limit(node, node.items(), MOST_RULES)]


def _read_scalar(node: YamlNode) -> Any:
    if node.is_mapping or node.is_list:
        raise node.wrong("expected a text.")
    return node.any()


def _limit(node: YamlNode, parts: list[_Part], most: int) -> list[_Part]:
    if len(parts) > most:
        raise node.wrong(f"expected at most {most} entries.")
    return parts


def _read_tags(node: YamlNode) -> Entries:
    if not node.is_mapping:
        raise node.wrong("expected a mapping of names of tags to values.")
    pairs = _limit(node, list(node.pairs()), MOST_RULES)
    return tuple(RuleEntry((key.text(), value.text()), SourceLocation(key.file, key.line)) for key, value in pairs)


def make_entries(form: SettingForm, value: Any) -> Entries:
    """Make the entries that a program gives: a list as in a file, or values of tags by name.

    Raises ValueError for anything else.
    """
    nowhere = SourceLocation("", 0)
    if isinstance(value, tuple) and all(isinstance(each, RuleEntry) for each in value):
        return value
    if form is SettingForm.TAGS and isinstance(value, Mapping):
        return tuple(RuleEntry(pair, nowhere) for pair in value.items())
    if form is SettingForm.IGNORE and isinstance(value, list | tuple):
        return tuple(RuleEntry(each, nowhere) for each in value)
    raise ValueError("expected values by name" if form is SettingForm.TAGS else "expected a list")
