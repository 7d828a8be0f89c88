"""References among blocks: an ARM id in a text becomes the id of its block, unless that would be a cycle.

Terraform refuses cycles also where Azure does not need an order: a gateway names its own parts by id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gitsync.desired.catalog.children import find_embedding
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.resource import Prepared
from gitsync.workflows.exports.terraform.hcl import Expression, Interpolation

RESOURCE: Final = "azapi_resource"

_ID: Final = re.compile(r"/(?:subscriptions|providers)/[^\s\"'<>|;,\[\]{}]+")


class BlockReferences:
    """The blocks by the ids of their resources. Its mutable state is the graph of references."""

    def __init__(self, blocks: Mapping[Key, Prepared], names: Mapping[Key, str]) -> None:
        self._keys = {str(prepared.arm_id): key for key, prepared in blocks.items()}
        self._names = names
        self._needs = {
            key: {other for other in prepared.relations.depends_on if other in blocks}
            for key, prepared in blocks.items()
        }
        self._used: dict[Key, set[Key]] = {key: set() for key in blocks}

    def express(self, text: str, user: Key) -> str | Expression | Interpolation:
        """Return a text with the ids of blocks in it as expressions."""
        parts = list(self._split(text, user))
        if not any(isinstance(part, Expression) for part in parts):
            return text
        first = parts[0]
        return first if len(parts) == 1 and isinstance(first, Expression) else Interpolation(tuple(parts))

    def refer(self, target: Key, user: Key) -> str | None:
        """Return the address of a block to refer to; None if there is none, or if it would need the user itself."""
        if target not in self._names or not self._may_need(user, target):
            return None
        self._used[user].add(target)
        return f"{RESOURCE}.{self._names[target]}"

    def list_unused(self, user: Prepared) -> list[Expression]:
        """List the blocks that must come first, and that nothing in the block refers to."""
        # A configuration has no units and waves, whose order alone puts these first.
        wanted = set(user.relations.depends_on) - set(user.relations.ordered_after)
        first = sorted(wanted & self._needs[user.key] - self._used[user.key])
        return [Expression(f"{RESOURCE}.{self._names[key]}") for key in first]

    def list_embedded(self, parent: ArmId) -> set[str]:
        """List the lists in the body of a resource whose entries have blocks of their own."""
        below = (arm_id for arm_id in map(ArmId, self._keys) if arm_id.parent == parent)
        return {find_embedding(arm_id.arm_type) for arm_id in below}

    def has(self, key: Key) -> bool:
        """Return whether a resource has a block."""
        return key in self._names

    def _split(self, text: str, user: Key) -> Iterator[str | Expression]:
        at = 0
        for found in _ID.finditer(text):
            prefix, address = self._find_prefix(found.group(), user)
            if not address:
                continue
            if found.start() > at:
                yield text[at : found.start()]
            yield Expression(f"{address}.id")
            at = found.start() + len(prefix)
        if at < len(text):
            yield text[at:]

    def _find_prefix(self, arm_id: str, user: Key) -> tuple[str, str]:
        """Find the longest id that an id is, or is below, and to whose block the user may refer; "" for none. With it,
        the address of the block.
        """
        while arm_id:
            if arm_id in self._keys and (address := self.refer(self._keys[arm_id], user)):
                return arm_id, address
            arm_id = arm_id.rpartition("/")[0]
        return "", ""

    def _may_need(self, user: Key, target: Key) -> bool:
        if target in self._needs[user]:
            return True
        # Terraform refuses a cycle of references.
        if target == user or self._reaches(target, user):
            return False
        # From now on, a reference in the other direction would close a cycle.
        self._needs[user].add(target)
        return True

    def _reaches(self, start: Key, end: Key) -> bool:
        waiting, seen = [start], {start}
        while waiting:
            for key in self._needs[waiting.pop()] - seen:
                if key == end:
                    return True
                seen.add(key)
                waiting.append(key)
        return False
