"""The names that Kubernetes allows for Secrets, ConfigMaps, namespaces and keys (RFC 1123).

Such a name becomes a path, a variable or part of an address, so every source and sink refuses other names. Separate
from the sinks, so that offline validation finds an invalid name before a resource is created whose values could not be
exported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gitsync.desired.catalog.spec_visitor import Visit
from gitsync.desired.formats.long_text import cut_middle
from gitsync.desired.problems.field_path import format_field
from gitsync.desired.problems.finding import Finding

_LABEL: Final = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class NameRule:
    """The rule for one type of name."""

    what: str  # the type of name, for people
    pattern: re.Pattern[str]
    most: int  # in characters
    words: str  # describe the rule to people

    def explain_fault(self, text: str) -> str:
        """Return how a text breaks the rule, as the end of a sentence that starts with "its name"; "" if valid."""
        if len(text) > self.most:
            return f"has {len(text)} characters; at most {self.most} are allowed"
        return "" if self.pattern.fullmatch(text) else f"{format_name(text)!r} is not made of {self.words}"


NAME: Final = NameRule(
    "name",
    re.compile(rf"{_LABEL}(?:\.{_LABEL})*"),
    253,
    "lower-case letters, digits, - and ., as RFC 1123 has them",
)
NAMESPACE: Final = NameRule(
    "namespace", re.compile(_LABEL), 63, "lower-case letters, digits and -, as RFC 1123 has them"
)
KEY: Final = NameRule(
    "key", re.compile(r"(?!\.\.|\.\Z)[-._a-zA-Z0-9]+"), 253, "letters, digits, -, _ and ., and not .. at its start"
)

_TYPES_WITH_NAMES: Final = frozenset(
    {
        "secretReference",
        "secretMapReference",
        "secretDestination",
        "configMapReference",
        "configMapDestination",
        "destinationExpression",
    }
)
"""Types of fields that name an object and, in most cases, a key of it."""


def check_object_names(visit: Visit) -> Iterator[Finding]:
    """Check the name and the key of a reference or a destination. An empty key counts as absent."""
    if visit.name not in _TYPES_WITH_NAMES or not visit.fits:
        return
    for rule in (NAME, KEY):
        text = visit.value.get(rule.what)
        if not isinstance(text, str) or (rule is KEY and not text):
            continue
        if fault := rule.explain_fault(text):
            path = (*visit.path, rule.what)
            yield Finding(
                code="ObjectName",
                path=path,
                message=f"{format_field(path)} {fault}.",
                hint="Use a name that Kubernetes allows.",
            )


def format_name(text: str) -> str:
    """Format a name for messages: printable, and shortened in the middle."""
    printable = text if text.isprintable() else ascii(text)[1:-1]
    return cut_middle(printable, _LONGEST_SHOWN)
