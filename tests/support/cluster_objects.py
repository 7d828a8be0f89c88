"""Objects of a cluster that runs ASO, as `kubectl get -o yaml` prints them, made of manifests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

READY = {"type": "Ready", "status": "True", "reason": "Succeeded", "observedGeneration": 2}


def make_object(
    manifest: Mapping[str, Any],
    arm_id: str,
    *,
    owner: Mapping[str, str] | None = None,
    live: Mapping[str, Any] | None = None,
    notes_apply: bool = True,
) -> dict[str, Any]:
    """The object of a manifest that ASO has reconciled. `owner` is the resource that contains it, `live` Azure's
    answer. `notes_apply`: it was applied by `kubectl apply`, and not by Flux or Argo CD.
    """
    given = manifest["metadata"]
    version, name = manifest["apiVersion"], given["name"]
    applied = {kubectl("last-applied-configuration"): json.dumps(manifest)} if notes_apply else {}
    metadata: dict[str, Any] = {
        "annotations": {
            **applied,
            aso("latest-reconciled-generation"): "2",
            aso("operator-namespace"): "azureserviceoperator-system",
            aso("resource-id"): str(arm_id),  # YAML writes no other class
            **given.get("annotations", {}),
        },
        "creationTimestamp": "2025-11-03T09:14:06Z",
        "finalizers": [aso("finalizer")],
        "generation": 2,
        "labels": {
            aso("last-reconciled-version"): "v2.14.0",
            "kustomize.toolkit.fluxcd.io/name": "infra",
            "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
            **given.get("labels", {}),
        },
        "managedFields": [
            {
                "manager": "kustomize-controller",
                "operation": "Apply",
                "apiVersion": version,
                "time": "2025-11-03T09:14:06Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {".": {}}},
            }
        ],
        "name": name,
        "namespace": given.get("namespace", "default"),
        "resourceVersion": "912345",
        "uid": "5f0c9a0e-1d3c-4a51-b0cd-53a1c1f8a7d1",
    }
    if owner is not None:
        metadata["ownerReferences"] = [{"blockOwnerDeletion": True, "controller": True, "uid": "8c1d", **owner}]
        metadata["labels"][aso("owner-name")] = owner["name"]
    return {
        "apiVersion": version,
        "kind": manifest["kind"],
        "metadata": metadata,
        "spec": {"azureName": arm_id.rpartition("/")[2], **manifest["spec"]},
        "status": {"conditions": [READY], **(live or {"id": str(arm_id), "name": name})},
    }


def make_list(objects: Iterable[Mapping[str, Any]]) -> str:
    """`kubectl get KINDS -o yaml`."""
    found = {"apiVersion": "v1", "items": list(objects), "kind": "List", "metadata": {"resourceVersion": ""}}
    return str(yaml.safe_dump(found))


def aso(name: str) -> str:
    return f"serviceoperator.azure.com/{name}"


def kubectl(name: str) -> str:
    return f"kubectl.kubernetes.io/{name}"
