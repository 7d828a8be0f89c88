"""A Secret or a ConfigMap of a cluster as a value: its owner, its desired state, and whether it has that state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitsync.desired.formats.repository_name import unify_name
from gitsync.model.export import OWNER, REPOSITORY, Address, Export, Owner

MANAGED_BY = {"app.kubernetes.io/managed-by": "gitsync"}
_OPERATOR = ".azure.com"  # the groups of Azure Service Operator's kinds end so


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """A Secret or a ConfigMap as the API server stores it."""

    address: Address
    data: Mapping[str, bytes] = field(repr=False)
    annotations: Mapping[str, str]
    labels: Mapping[str, str]
    version: str = ""  # "" for a new object
    is_immutable: bool = False  # the API server refuses a change of its data
    kind: str = ""
    owners: tuple[str, ...] = ()  # the apiVersions of its owner references
    has_binary_data: bool = False  # a ConfigMap has binary data, which gitsync does not write
    finalizers: tuple[str, ...] = ()  # what a delete waits for

    @property
    def owner(self) -> str:
        """The key of the resource that exported it. "" if none did, or Azure Service Operator owns it."""
        # ASO would write its object again, and both would change it in turn.
        if any(owner.partition("/")[0].endswith(_OPERATOR) for owner in self.owners):
            return ""
        return self.annotations.get(OWNER, "")

    @property
    def repository(self) -> str:
        """The repository of the agent that exported it; "" if that is not known, or the agent has a name."""
        return self.annotations.get(REPOSITORY, "")

    def is_owned_by(self, owner: Owner) -> bool:
        """Return whether this resource exported it, from the same repository as far as both are known."""
        repositories = {unify_name(self.repository), owner.repository} - {""}
        return self.owner == str(owner) and len(repositories) <= 1

    def is_same_as(self, other: StoredObject) -> bool:
        """Return whether the content of two objects is the same."""
        return (
            dict(self.data) == dict(other.data)
            and dict(self.annotations) == dict(other.annotations)
            and dict(self.labels) == dict(other.labels)
            and not self.owners  # a replacement drops them: see `make_object`
            and not self.has_binary_data
        )


def make_object(export: Export, existing: StoredObject | None) -> StoredObject:
    """Make the object that an export requests, as a replacement of the existing one."""
    # A repository that is not known now stays as an earlier run wrote it.
    repository = export.owner.repository or (existing.repository if existing else "")
    # There is no owner reference: the owner is not an object of the cluster, and Kubernetes collects objects without an
    # existing owner.
    return StoredObject(
        address=export.address,
        data={key: value.reveal().encode() for key, value in export.data.items()},
        annotations={
            **{name: text for name, text in export.annotations.items() if name != REPOSITORY},
            OWNER: str(export.owner),
            **({REPOSITORY: repository} if repository else {}),
        },
        # Manifests cannot change the marks of gitsync.
        labels={**export.labels, **MANAGED_BY},
        version=existing.version if existing else "",
        kind=existing.kind if existing else "",
        finalizers=existing.finalizers if existing else (),
    )
