"""What an import takes over from ASO: the manifests of a cluster, in the form of those that an import makes itself."""

from __future__ import annotations

from typing import Final

from gitsync.formats.arm_path import find_subscription
from gitsync.imports.cluster_export import ClusterExport, ExportedManifest
from gitsync.imports.found import FoundResource, LeftOut
from gitsync.imports.manifests import ImportedManifest, list_secrets
from gitsync.validation.annotations import CREDENTIAL_FROM

OTHER_OBJECTS: Final = "objects that are no manifests of Azure resources"


def find_only_subscription(export: ClusterExport) -> str | None:
    """The subscription of all resources of an export; None if there are several, or none is recorded."""
    found = {find_subscription(one.arm_id) for one in export.manifests.values() if one.arm_id}
    return found.pop() if len(found) == 1 else None


def take_manifests(export: ClusterExport) -> tuple[ImportedManifest, ...]:
    """The manifests of an export as an import writes them."""
    return tuple(_take(one) for one in export.manifests.values())


def _take(exported: ExportedManifest) -> ImportedManifest:
    document, key = exported.document, exported.key
    credential = document["metadata"].get("annotations", {}).get(CREDENTIAL_FROM)
    secrets = list_secrets(exported.kind, document["spec"], key.name, key.namespace)
    return ImportedManifest(
        key=key,
        document=document,
        resource=FoundResource(kind=exported.kind, arm_id=exported.arm_id, owner_id="", body={}),
        secrets=(*(((credential, ""),) if credential else ()), *secrets),
    )


def list_left_out(export: ClusterExport) -> tuple[LeftOut, ...]:
    """Each object without a manifest, by its kind."""
    return tuple(LeftOut(OTHER_OBJECTS, kind) for kind, count in export.left_out.items() for _ in range(count))
