"""Annotations of deployment tools: what keeps a resource, and what is only said in other words."""

from __future__ import annotations

import pytest

from gitsync.manifests.deployment_annotations import read_wave
from gitsync.manifests.policy import decide_policy
from gitsync.manifests.reader import read_manifests
from gitsync.model.policy import Policy

OPTIONS = {
    "Prune=false": Policy.DETACH_ON_DELETE,
    "Delete=false": Policy.DETACH_ON_DELETE,
    "ServerSideApply=true, Prune=false": Policy.DETACH_ON_DELETE,
    "Prune=confirm": Policy.DETACH_ON_DELETE,
    "Prune=true": Policy.MANAGE,
    "PruneLast=true": Policy.MANAGE,
    "": Policy.MANAGE,
}
"""A person who would be asked in Argo CD is not there in a run, so the resource stays."""


@pytest.mark.parametrize(("options", "policy"), OPTIONS.items())
def test_sync_options_keep_a_resource_in_any_folder(options: str, policy: Policy) -> None:
    annotation = f'argocd.argoproj.io/sync-options: "{options}"'
    assert find_own_policy(annotation) is policy
    assert find_own_policy(f"{annotation}, serviceoperator.azure.com/reconcile-policy: skip") is Policy.SKIP


RESOURCE_POLICIES = {
    "keep": Policy.DETACH_ON_DELETE,
    " Keep ": Policy.DETACH_ON_DELETE,
    "delete": Policy.MANAGE,
    "": Policy.MANAGE,
}


@pytest.mark.parametrize(("value", "policy"), RESOURCE_POLICIES.items())
def test_the_resource_policy_of_helm_keeps_a_resource_in_any_folder(value: str, policy: Policy) -> None:
    annotation = f'helm.sh/resource-policy: "{value}"'
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
