"""Annotations of deployment tools: what keeps a resource, and what is only said in other words."""

from __future__ import annotations

import pytest

from gitsync.desired.manifests.policy_annotations import decide_policy, read_wave
from gitsync.desired.manifests.reader import read_manifests
from gitsync.model.reconcile_policy import Policy

SYNC_OPTIONS = "argocd.argoproj.io/sync-options"
RESOURCE_POLICY = "helm.sh/resource-policy"
KEEPERS = [
    (SYNC_OPTIONS, "Prune=false", Policy.DETACH_ON_DELETE),
    (SYNC_OPTIONS, "Delete=false", Policy.DETACH_ON_DELETE),
    (SYNC_OPTIONS, "ServerSideApply=true, Prune=false", Policy.DETACH_ON_DELETE),
    (SYNC_OPTIONS, "Prune=confirm", Policy.DETACH_ON_DELETE),
    (SYNC_OPTIONS, "Prune=true", Policy.MANAGE),
    (SYNC_OPTIONS, "PruneLast=true", Policy.MANAGE),
    (SYNC_OPTIONS, "", Policy.MANAGE),
    (RESOURCE_POLICY, "keep", Policy.DETACH_ON_DELETE),
    (RESOURCE_POLICY, " Keep ", Policy.DETACH_ON_DELETE),
    (RESOURCE_POLICY, "delete", Policy.MANAGE),
    (RESOURCE_POLICY, "", Policy.MANAGE),
]
"""A person who would confirm it in Argo CD is not there in a run, so the resource stays."""


@pytest.mark.parametrize(("name", "value", "policy"), KEEPERS)
def test_annotations_keep_a_resource_in_any_folder(name: str, value: str, policy: Policy) -> None:
    annotation = f'{name}: "{value}"'
    assert find_own_policy(annotation) is policy
    assert find_own_policy(f"{annotation}, serviceoperator.azure.com/reconcile-policy: skip") is Policy.SKIP


def find_own_policy(annotations: str) -> Policy | None:
    text = f"""\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: rg, annotations: {{{annotations}}}}}
spec: {{location: westeurope}}
"""
    (resource,) = read_manifests({"rg.yaml": text.encode()}).resources
    decision = decide_policy(resource, {}, Policy.MANAGE)
    return decision.policy if decision else None


WAVES = {"5": 5, "-10": -10, "+3": 3, "": 0, "one": 0, "1.5": 0, "--1": 0, "٣": 0, "9" * 5000: 0}


@pytest.mark.parametrize(("text", "wave"), WAVES.items(), ids=map(repr, range(len(WAVES))))
def test_a_wave_is_a_number_and_anything_else_is_0(text: str, wave: int) -> None:
    assert read_wave({"argocd.argoproj.io/sync-wave": text}) == wave
