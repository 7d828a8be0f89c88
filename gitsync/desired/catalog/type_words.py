"""Words for types, values and lists of choices, as messages and `explain` use them.

Separate, so that all messages name a type alike, and one module decides how much of a value is quoted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gitsync.desired.catalog.aso_types import SECRET_TYPES
from gitsync.desired.catalog.spec_visitor import Visit
from gitsync.desired.formats.long_text import cut_middle
from gitsync.model.facts import FieldType
from gitsync.model.gvk import Key
from gitsync.model.provider import Provider
from gitsync.model.secret import Secret

_SHAPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "any": "anything",
    "armBody": "a mapping",
    "mapping": "a mapping",
    "map": "a mapping",
    "list": "a list",
}
_NAMED = {
    "knownOwner": "a mapping of name or armId",
    "namedOwner": "a mapping of name",
    "arbitraryOwner": "a mapping of group, kind and name, or of armId",
    "azureOwner": "a mapping of group, kind and name, or of armId",
    "azureReference": "a mapping of group, kind and name, or of armId",
    "reference": "a mapping of group, kind and name, or of armId",
    "wellKnownReference": "a mapping of wellKnownName, or of group, kind and name, or of armId",
    "secretReference": "a mapping of name and key, of a Secret",
    "secretMapReference": "a mapping of name, of a Secret",
    "configMapReference": "a mapping of name and key, of a ConfigMap",
    "secretDestination": "a mapping of name and key, of a Secret to write",
    "configMapDestination": "a mapping of name and key, of a ConfigMap to write",
    "destinationExpression": "a mapping of name, key and value",
}
PROVIDER_NAMES: Final[Mapping[Provider, str]] = {
    Provider.ARM: "Azure",
    Provider.ENTRA: "Microsoft Entra ID",
    Provider.POSTGRESQL: "PostgreSQL",
    Provider.MYSQL: "MySQL",
    Provider.SQL: "Azure SQL",
}
_LONGEST = 60
_MOST_CHOICES = 12


def describe_expected(visit: Visit) -> str:
    """What a field expects: "an integer", "a mapping of name or armId"."""
    return _NAMED.get(visit.name) or _SHAPES[visit.shape]


def describe_type(type_: FieldType) -> str:
    """A type in a word, as `explain` lists it: "string", "list of reference", "map of Sku"."""
    if isinstance(type_, str):
        return type_
    if "base" in type_:
        return describe_type(type_["base"])
    if "ref" in type_:
        return str(type_["ref"])
    shape = "list" if "list" in type_ else "map"
    return f"{shape} of {describe_type(type_[shape])}"


def describe_actual(visit: Visit) -> str:
    """The actual value: a short scalar is quoted, unless a reference to a secret was expected."""
    return describe_value(visit.value, is_hidden=visit.name in SECRET_TYPES)


def describe_value(value: Any, *, is_hidden: bool = False) -> str:
    """A value with its type: a short scalar is quoted, unless it must be hidden."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "null"
    if isinstance(value, Secret):
        return "a string from a Secret"
    kind = "a boolean" if isinstance(value, bool) else "a string" if isinstance(value, str) else "a number"
    return kind if is_hidden else f"{kind}, {quote_scalar(value)}"


def describe_shape(shape: str) -> str:
    """A shape with its article: "an integer", "true or false"."""
    return _SHAPES[shape]


def quote_scalar(value: Any, most: int = _LONGEST) -> str:
    """A scalar as in JSON. One of more than `most` characters is cut in its middle: a fault is often at its end."""
    return cut_middle(json.dumps(value, ensure_ascii=False, default=str), most)


def join_with_or(choices: Iterable[Any], max_words: int = _MOST_CHOICES) -> str:
    """`a, b or c`; of a long list the first `max_words`, and the number of others."""
    words = [str(choice) for choice in choices]
    if len(words) > max_words:
        return f"{', '.join(words[:max_words])} or {len(words) - max_words} more"
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)


def join_with_and(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def format_count(number: int | str, noun: str) -> str:
    """`1 item`, `2 items`."""
    return f"{number} {noun}" if str(number) == "1" else f"{number} {noun}s"


def add_article(kind: str) -> str:
    """`a ResourceGroup`, `an Image`, `a User`."""
    # Names of kinds that begin with U are spoken as `you`: User, UserAssignedIdentity.
    return f"an {kind}" if kind.startswith(("A", "E", "I", "O")) else f"a {kind}"


def format_short_key(key: Key) -> str:
    """The short name of a resource in its namespace: `Kind/name`."""
    return f"{key.kind}/{key.name}"
