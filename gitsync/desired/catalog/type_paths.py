"""Finds the ARM type for a text that a person typed: `Microsoft.Logic/workflows`, with `@VERSION`, with `.fields`.

Separate from `kind_names`: ARM types have versions of their own, and bodies in place of specs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gitsync.desired.catalog.arm_types import ArmType, TypeVersion, open_arm_types
from gitsync.desired.catalog.type_words import join_with_or
from gitsync.desired.problems.suggest import suggest
from gitsync.errors import ConfigError

_FORM: Final = re.compile(r"[A-Za-z][\w-]*(?:\.[\w-]+)+(?:/[^@]*)(?:@.*)?")
_GROUPS: Final = (".azure.com", "azure.gitsync")
"""The ends of API groups, which precede a slash too: `storage.azure.com/v20230101/StorageAccount`."""

_ALL: Final = 1000


@dataclass(frozen=True, slots=True)
class TypeMatch:
    """A type at one of its versions, and the path of members after its name."""

    type: ArmType
    version: TypeVersion
    fields: tuple[str, ...]


def names_type(text: str) -> bool:
    """Return whether a text has the form of an ARM type, known or not."""
    namespace = text.partition("/")[0].casefold()
    return bool(_FORM.fullmatch(text)) and not namespace.endswith(_GROUPS)


def find_type_path(text: str, version: str | None = None) -> TypeMatch:
    """Find a type and the members after its name. Without a version, the newest stable one is used, else the newest
    preview; of a type that can only be read, the newest.

    ConfigError for an unknown type, with what is like it, and for an unknown version.
    """
    path, at, rest = text.partition("@")
    arm_type, fields = _find_type(path)
    if at:
        version, _, after = rest.partition(".")
        fields = (*fields, *after.split("."))
    if version is None:
        version = arm_type.newest_stable or arm_type.newest_preview or list(arm_type.versions)[-1]
    found = arm_type.find_version(version)
    if found is None:
        close = suggest(version, arm_type.versions)
        known = f"Known versions: {join_with_or(reversed([*arm_type.versions]), _ALL)}."
        raise ConfigError(
            f"gitsync has no facts about {arm_type.name} at {version or 'no version'}.",
            hint=f"Did you mean {close}? {known}" if close else known,
        )
    return TypeMatch(arm_type, found, tuple(filter(None, fields)))


def list_types(namespace: str) -> Sequence[str]:
    """List the types of a namespace, in any case; none for any other text."""
    if "." not in namespace or "/" in namespace:
        return ()
    start = f"{namespace.casefold()}/"
    return [name for name in open_arm_types().list_names() if name.casefold().startswith(start)]


def _find_type(path: str) -> tuple[ArmType, tuple[str, ...]]:
    """Find the longest type that a path begins with, since names of types may have dots too; and what follows it."""
    types = open_arm_types()
    above, slash, last = path.rpartition("/")
    steps = last.split(".")
    for count in range(len(steps), 0, -1):
        if (arm_type := types.find_type(f"{above}{slash}{'.'.join(steps[:count])}")) is not None:
            return arm_type, tuple(steps[count:])
    name = f"{above}{slash}{steps[0]}"
    close = types.suggest_types(name)
    namespace = path.partition("/")[0]
    inside = [known.partition("/")[2] for known in list_types(namespace)]
    hint = "Fix the namespace, which is what precedes the slash."
    if close:
        hint = f"Did you mean {join_with_or(close)}?"
    elif inside:
        hint = f"Types of {namespace}: {join_with_or(inside)}."
    raise ConfigError(f"There is no ARM type {name}.", hint=hint)
