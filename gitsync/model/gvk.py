"""The group, version and kind of a resource, and its key.

Separate from the resource, because graphs, records and reports use keys only. A key has no version, so it survives an
upgrade of the API version. Both are tuples, for lookups and sorting.
"""

from __future__ import annotations

from sys import intern
from typing import Final, NamedTuple

AZURE_GROUP: Final = "azure.gitsync"
AZURE_RESOURCE: Final = (AZURE_GROUP, "AzureResource")
"""The kind of gitsync's own for a resource of any ARM type."""


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
    kind: str  # without the version, which may change
    namespace: str  # the default if the manifest has none
    name: str  # of the manifest, not the one in Azure

    @classmethod
    def parse(cls, text: str) -> Key:
        """Parse the text of `str`. Raises ValueError if it is another text."""
        group_kind, namespace, name = text.split("/")
        kind, _, group = group_kind.partition(".")
        return cls(intern(group), intern(kind), intern(namespace), intern(name))  # most texts are in many keys

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}/{self.namespace}/{self.name}"
