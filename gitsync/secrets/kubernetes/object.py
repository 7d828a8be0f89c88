"""A Secret or a ConfigMap of a cluster as a value: whose it is, what it should be, and whether it is so already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitsync.model.export import OWNER, Address, Export

MANAGED_BY = {"app.kubernetes.io/managed-by": "gitsync"}
_OPERATOR = ".azure.com"  # the groups of Azure Service Operator's kinds end so


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """`version` is "" for a new object; `owners` are the apiVersions of its owner references.

    `has_more` means that a ConfigMap has binary data, which gitsync does not write.
    """

    address: Address
    data: Mapping[str, bytes] = field(repr=False)
    annotations: Mapping[str, str]
    labels: Mapping[str, str]
    version: str = ""
    is_immutable: bool = False
    kind: str = ""
    owners: tuple[str, ...] = ()
    has_more: bool = False
    finalizers: tuple[str, ...] = ()

    @property
    def owner(self) -> str:
        """The key of the resource that exported it. "" where none did, or where Azure Service Operator owns it."""
        if any(owner.partition("/")[0].endswith(_OPERATOR) for owner in self.owners):
            return ""
        return self.annotations.get(OWNER, "")

    def is_as(self, other: Held) -> bool:
        """Whether what people wrote in two objects is the same."""
        return (
            dict(self.data) == dict(other.data)
            and dict(self.annotations) == dict(other.annotations)
            and dict(self.labels) == dict(other.labels)
            and not self.owners
            and not self.has_more
        )


def make_object(export: Export, there: Held | None) -> Held:
    """The object that an export asks for, in the place of what is there.

    It has no owner reference: its owner is no object of the cluster, and Kubernetes collects what refers to none. What
    marks it as ours is not for manifests to say.
    """
    return Held(
        address=export.address,
        data={key: value.reveal().encode() for key, value in export.data.items()},
        annotations={**export.annotations, OWNER: str(export.owner)},
        labels={**export.labels, **MANAGED_BY},
        version=there.version if there else "",
        kind=there.kind if there else "",
        finalizers=there.finalizers if there else (),
    )
