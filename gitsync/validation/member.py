"""One manifest of a set, for checks across manifests.

Separate, because all these checks use the same few facts, and not how ids and dependencies are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.resource import OwnerRef, Resource
from gitsync.problems.field_path import FieldPath


class Member(NamedTuple):
    """A manifest with what was derived from it.

    `kind` is None if the catalog does not have it. `owner` is None for kinds without one, and if the manifest's owner
    has an invalid form. `arm_id` is None if it is not known offline. `depends_on` has the dependencies in the same set
    (owner, references, producers of values); there may be cycles. `references` are those to other manifests, with their
    paths, as `find_named_references` finds them. `subscription` is that of its
    credential, "" if it has none. `is_written` tells that its policy allows writes, and
    `body` is that of its request, with placeholders; None if no request can be made.
    """

    resource: Resource
    kind: Kind | None
    owner: OwnerRef | None = None
    arm_id: str | None = None
    depends_on: tuple[Key, ...] = ()
    references: tuple[tuple[FieldPath, Key], ...] = ()
    subscription: str = ""
    is_written: bool = True
    body: Mapping[str, Any] | None = None

    @property
    def waits_for_owners(self) -> bool:
        """Whether its unit waits for owners that do not exist."""
        return self.resource.unit is not None and self.resource.unit.options.waits_for_owners

    @property
    def key(self) -> Key:
        return self.resource.key
