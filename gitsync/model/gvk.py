"""What a resource is (group, version, kind) and which one it is (its key).

Apart from the resource itself, because graphs, records and reports speak of keys only. A key has no version:
identity survives an upgrade of the API version. Both are tuples, since everything is looked up and sorted by them.
"""

from __future__ import annotations

from typing import NamedTuple


class GVK(NamedTuple):
    """Group, version and kind of a manifest, as its apiVersion and kind spell them."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """`group/version`; the core group has no slash."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @classmethod
    def parse(cls, api_version: str, kind: str) -> GVK:
        """Split an `apiVersion`; "v1" alone is the core group."""
        group, _, version = api_version.rpartition("/")
        return cls(group, version, kind)

    def __str__(self) -> str:
        return f"{self.kind}.{self.version}.{self.group}"


class Key(NamedTuple):
    """Identity of a resource across revisions: printed as `Kind.group/namespace/name`."""

    group: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Key:
        """Read what `str` wrote; ValueError where it did not."""
        group_kind, namespace, name = text.split("/")
        kind, _, group = group_kind.partition(".")
        return cls(group, kind, namespace, name)

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}/{self.namespace}/{self.name}"
