"""Names of blocks: legal in Terraform, readable, unique, and the same in every export.

The name of a resource is its kind and its name. Where two would have one name, both get a longer one, whatever their
order: with the namespace, or the names in Azure. The last resort is a part of a digest.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from gitsync.model.gvk import AZURE_GROUP
from gitsync.model.resource import Prepared

_WORDS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ILLEGAL: Final = re.compile(r"[^a-z0-9]+")
_DIGITS: Final = 8
_LONGEST: Final = 100

RESERVED: Final = frozenset(
    {"count", "depends_on", "for_each", "lifecycle", "locals", "provider", "providers", "source", "version"}
)
"""Names that Terraform allows for no variable."""


class NamedParts(NamedTuple):
    """The parts of a name: what is usual, what may be added if that is not unique, and the text of the digest."""

    usual: tuple[str, ...]
    more: tuple[tuple[str, ...], ...]  # the shortest first
    identity: str


def describe_resource(prepared: Prepared) -> NamedParts:
    """The parts of the name of a resource."""
    key, arm_id, kind = prepared.key, prepared.arm_id, prepared.key.kind
    if key.group == AZURE_GROUP and arm_id is not None:  # one kind for all types: a reader looks for the type
        kind = arm_id.arm_type.rpartition("/")[2]
    # Environments have resources of one key.
    in_azure = tuple(dict.fromkeys((arm_id.resource_group or "", arm_id.name))) if arm_id else ()
    return NamedParts((_WORDS.sub("_", kind), key.name), ((key.namespace,), in_azure), f"{key} {arm_id}")


def choose_names(parts: Sequence[NamedParts], reserved: Collection[str] = ()) -> list[str]:
    """Choose a name for each, in their order."""
    names: dict[int, str] = {}
    used = set(reserved)
    for form in range(max((len(each.more) for each in parts), default=0) + 2):
        made = {index: _make_name(each, form) for index, each in enumerate(parts) if index not in names}
        counts = Counter(made.values())
        chosen = {
            index: name
            for index, name in made.items()
            # If two made the same name, neither gets it: else the order would decide, and a new manifest rename an old
            # block.
            if name and counts[name] == 1 and name not in used and len(name) <= _LONGEST
        }
        names |= chosen
        used |= set(chosen.values())
    return [names[index] for index in range(len(parts))]


def clean_name(texts: Iterable[str], joint: str = "_") -> str:
    """Join texts to a name that begins with a letter; "" if nothing of them is legal."""
    words = (_ILLEGAL.sub(joint, text.casefold()).strip(joint) for text in texts)
    name = joint.join(filter(None, words))
    return name if not name or name[0].isalpha() else f"n{joint}{name}"


def _make_name(parts: NamedParts, form: int) -> str:
    """Make the name in one of its forms, from the shortest to the one that is always unique."""
    if form <= len(parts.more):
        return clean_name((*parts.usual, *(parts.more[form - 1] if form else ())))
    digest = hashlib.sha256(parts.identity.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{clean_name(parts.usual)[: _LONGEST - _DIGITS - 2] or 'n'}_{digest}"
