"""The values of variables: the replacements of `${NAME}` in the manifests of a unit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gitsync.model.secret import Secret

VARIABLE_NAME: Final = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
"""The names that Flux allows (`varsubRegex` of fluxcd/pkg/kustomize)."""

MARK: Final = "gitsync_missing_"
"""The prefix of a variable that represents one without a value, where a Flux object passes it on. There it is written
as a marker, a word that is valid anywhere in YAML.
"""

_MARKER: Final = re.compile(rf"{MARK}(\w+?)_gitsync")

_DOLLAR: Final = re.compile(r"\$(?:\{(\w+)\})?")
_BRACELESS: Final = re.compile(r"\$\$|\$([_a-zA-Z][_a-zA-Z0-9]*)")
_MENTIONED: Final = re.compile(r"\$\{?(\w+)")


def make_marker(name: str) -> str:
    """Return the marker of a variable without a value, also for the name of one that represents it."""
    return f"{MARK}{name.removeprefix(MARK)}_gitsync"


def replace_markers(text: str, replacement: str = r"${\1}") -> str:
    """Replace the markers of a text: by the variable as its author wrote it, or by a pattern for its name."""
    return _MARKER.sub(replacement, text) if MARK in text else text


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableFault:
    """What is wrong with the use of a variable."""

    name: str
    code: str  # of the problem (`gitsync explain`)
    message: str
    hint: str  # an order
    where: str = ""  # the field of a Flux object where its value belongs, "" for none


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableValues:
    """The variables of one unit: text, or a `Secret` if the value comes from a Secret."""

    known: Mapping[str, str | Secret] = field(default_factory=dict)
    """The values; those of the operator for a unit without variables."""

    unread: tuple[str, ...] = ()
    """For each unread Secret or ConfigMap why its values are not known. It may have any variable that is not in
    `known`, so defaults do not apply either.
    """

    is_to_come: bool = False  # a sync will read them all
    labels: Mapping[str, str] = field(default_factory=dict)
    """If set, only these are variables, each with its name in messages."""

    takes_braceless: bool = False  # `$NAME` is replaced like `${NAME}`
    is_partial: bool = False  # the unit has no variables, and `known` are those of the operator
    has_defaults: bool = True
    """If not, a text with a variable outside of a partial set stays as it is, even with a default."""

    missing: Mapping[str, VariableFault] = field(default_factory=dict)
    """Known variables that refer to a missing one; their values are those that Flux would make."""

    marks_missing: bool = False
    """A variable without a value leaves a marker in its text: a variable whose name starts with `MARK`."""

    def are_mentioned(self, text: str) -> bool:
        """Return whether a text mentions a known variable, with braces or without."""
        return "$" in text and any(name in self.known for name in _MENTIONED.findall(text))

    def concern(self, text: str) -> bool:
        """Return whether a text may have a variable."""
        return ("$" in text or MARK in text) and (not self.labels or any(name in text for name in self.labels))

    def normalize(self, text: str) -> str:
        """Put braces around each variable of a text. If only some names are variables, any other `$` is literal."""
        if self.takes_braceless:
            # `$$` stays: it stands for one `$`, and what follows it is not a variable.
            text = _BRACELESS.sub(lambda found: f"${{{found[1]}}}" if found[1] else found[0], text)
        elif self.labels:
            # A doubled `$` is one `$` after the substitution.
            text = _DOLLAR.sub(lambda found: found[0] if found[1] in self.labels else f"${found[0]}", text)
        return replace_markers(text, rf"${{{MARK}\1}}") if self.missing else text
