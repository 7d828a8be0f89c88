"""One manifest among the others of its set: what the checks across manifests look at.

Apart, because every such check takes the same few facts, and none of them may know how ids and edges are made.
"""

from __future__ import annotations

from dataclasses import dataclass

from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.resource import OwnerRef, Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A manifest with what was worked out of it.

    `kind` is None where the catalog does not have it. `owner` is None for kinds without one, and where the manifest's
    owner has no usable form. `arm_id` is None where it is not known offline. `depends_on` holds the edges of the walk
    (owner, references, producers of values) to keys of the same set; an edge may close a cycle.
    """

    resource: Resource
    kind: Kind | None
    owner: OwnerRef | None = None
    arm_id: str | None = None
    depends_on: tuple[Key, ...] = ()

    @property
    def key(self) -> Key:
        return self.resource.key
