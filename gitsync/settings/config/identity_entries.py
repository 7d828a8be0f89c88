"""`allow-identities`: which identities the credential Secrets of which namespaces may name.

The key of an operator's file has it as a mapping. A flag, a variable or the key may also name a file with that mapping,
and a flag or a variable may contain it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from gitsync.errors import ConfigError
from gitsync.model.allowed_identities import AllowedIdentities, IdentityEntry, IdentityMode
from gitsync.model.problem import SourceLocation
from gitsync.settings.config.setting_values import is_uuid
from gitsync.settings.config.yaml_file import YamlNode, read_each, read_yaml

MOST_IDENTITIES: Final = 1000
_MOST_BYTES = 1_000_000

_NAMESPACE = re.compile(r"[a-z0-9*](?:[-a-z0-9*]*[a-z0-9*])?")
# No user before an `@`, and no path: the host alone decides where tokens are sent.
_CLOUD = re.compile(r"https://[^\s/?#@\\]+")
_INLINE = re.compile(r"\s*\{|.*?:(?:\s|$)", re.DOTALL)
"""How YAML begins, and no path: with a brace, or with a key."""


def read_allowed_identities(value: Any, origin: str) -> AllowedIdentities:
    """Read the list of a setting: the value of a file, its text, or the path of its file. `origin` is the location of
    the setting.

    Raises ConfigError, which lists every fault with its line.
    """
    if isinstance(value, AllowedIdentities):
        return value
    if not isinstance(value, str | Path):
        raise ConfigError(f"{origin}: expected a mapping with allow, its text or the path of its file.")
    value = str(value)
    if _INLINE.match(value):
        return _read_document(origin, value.encode(), is_file=False)
    try:
        with Path(value.strip()).open("rb") as file:
            # One byte more shows that a file is too large.
            return _read_document(value.strip(), file.read(_MOST_BYTES + 1), is_file=True)
    except OSError as error:
        raise ConfigError(
            f"{origin}: {value.strip()} cannot be read: {error.strerror}.",
            hint="Write the path of a file, or YAML such as {allow: [{namespaces: team-*, clients: CLIENT-ID}]}.",
        ) from error


def read_identity_value(node: YamlNode) -> tuple[tuple[Any, ...], list[str]]:
    """Read the value of the key in an operator's file: a mapping, or the path of a file with one; and its faults."""
    if node.is_null or node.is_list:
        # A list that lost its content must not allow everything.
        return (), [node.wrong("expected a mapping with allow, or the path of a file with it.").message]
    if not node.is_mapping:
        return (node.text(),), []
    found, faults = read_identity_mapping(node, node.file)
    return ((found,) if found else ()), faults


def _read_document(name: str, content: bytes, *, is_file: bool) -> AllowedIdentities:
    root = read_yaml(name, content, _MOST_BYTES)
    if root is None:  # as above
        raise ConfigError(f"{name}: expected a mapping with allow, and the text is empty.")
    found, faults = read_identity_mapping(root, name, is_file=is_file)
    if found is None:
        raise ConfigError("\n".join(faults))
    return found


def read_identity_mapping(
    node: YamlNode, name: str, *, is_file: bool = True
) -> tuple[AllowedIdentities | None, list[str]]:
    """Read the list of a mapping: the list, None if there is a fault, and a sentence for each fault."""
    faults: list[str] = []
    values = _read_members(node, _READERS, faults)
    entries, wrong = values.pop("entries", ((), ()))
    faults += wrong
    if not faults and "allow" not in node.members():
        faults.append(node.wrong("expected the key allow: the allowed identities. `allow: []` allows none.").message)
    if faults:
        return None, faults
    return AllowedIdentities(name=name, is_file=is_file, entries=entries, **values), []


def _read_entries(node: YamlNode) -> tuple[tuple[IdentityEntry, ...], list[str]]:
    """Read every entry, and collect the faults of all."""
    if not node.is_list:
        raise node.wrong("expected a list of mappings.")
    if len(node.items()) > MOST_IDENTITIES:
        raise node.wrong(f"expected at most {MOST_IDENTITIES} entries.")
    entries, faults = [], list[str]()
    for item in node.items():
        before = len(faults)
        values = _read_members(item, _ENTRY_READERS, faults)
        if len(faults) == before and not values.keys() - {"clouds"}:
            keys = ", ".join(key for key in _ENTRY_READERS if key != "clouds")
            faults.append(item.wrong(f"expected at least one of {keys}: an empty entry would allow all.").message)
        entries.append(IdentityEntry(source=SourceLocation(item.file, item.line), **values))
    return tuple(entries), faults


def _read_members(
    node: YamlNode, readers: Mapping[str, tuple[str, Callable[[YamlNode], Any]]], faults: list[str]
) -> dict[str, Any]:
    """Read the members of a mapping by a table of fields and readers, and add to the faults."""
    if not node.is_mapping:
        faults.append(node.wrong(f"expected a mapping with {', '.join(readers)}.").message)
        return {}
    values: dict[str, Any] = {}
    taken: set[str] = set()
    for key, value in node.pairs():
        try:
            word = key.key(readers, taken)
            taken.add(word)
            field, read = readers[word]
            values[field] = read(value)
        except ConfigError as fault:
            faults.append(fault.message)
    return values


def _read_some(read: Callable[[YamlNode], str]) -> Callable[[YamlNode], tuple[str, ...]]:
    """Make the reader of one value or a list."""

    def read_list(node: YamlNode) -> tuple[str, ...]:
        # An empty list might mean any, or none.
        if node.is_null or not node.items():
            raise node.wrong("expected at least one value. Remove the key to allow any.")
        return read_each(read)(node)

    return read_list


def _read_namespace(node: YamlNode) -> str:
    text = "" if node.is_null else node.text_of_one_line()
    if not _NAMESPACE.fullmatch(text):
        raise node.wrong(f"expected the name of a namespace, in which * stands for any text, not {text!r}.")
    return text


def _read_id(node: YamlNode) -> str:
    text = node.text_of_one_line()
    if not is_uuid(text):
        raise node.wrong(f"expected a UUID such as 01234567-89ab-cdef-0123-456789abcdef, not {text!r}.")
    return text.casefold()


def _read_cloud(node: YamlNode) -> str:
    text = node.text_of_one_line().rstrip("/").casefold()
    if not _CLOUD.fullmatch(text):
        raise node.wrong(f"expected an address such as https://management.chinacloudapi.cn, not {text!r}.")
    return text


_READERS: Final[Mapping[str, tuple[str, Callable[[YamlNode], Any]]]] = {
    "mode": ("mode", lambda node: node.choice(IdentityMode)),
    "global": ("of_global", read_each(_read_namespace)),
    "allow": ("entries", _read_entries),
}

_ENTRY_READERS: Final[Mapping[str, tuple[str, Callable[[YamlNode], Any]]]] = {
    "namespaces": ("namespaces", _read_some(_read_namespace)),
    "clients": ("clients", _read_some(_read_id)),
    "tenants": ("tenants", _read_some(_read_id)),
    "subscriptions": ("subscriptions", _read_some(_read_id)),
    "clouds": ("clouds", _read_some(_read_cloud)),
}
