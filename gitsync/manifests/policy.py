"""The reconcile policy of a resource (docs/reference/reconciliation.md#reconcile-policy)."""

from __future__ import annotations

from collections.abc import Mapping

from gitsync.model.policy import RECONCILE_POLICY, Policy
from gitsync.model.resource import Resource


def find_policy(resource: Resource, namespaces: Mapping[str, Mapping[str, str]], default: Policy) -> Policy | None:
    """The resource's own annotation, else its Namespace's, else the default; None if the text is not a policy.

    `namespaces` has the annotations of Namespace manifests by name. An empty text counts as absent. What Flux suspends
    is not written, and what it does not prune is kept.
    """
    policy = _read_policy(resource, namespaces, default)
    if resource.unit is None or policy is None:
        return policy
    if resource.unit.is_suspended:
        return Policy.SKIP
    return Policy.DETACH_ON_DELETE if policy is Policy.MANAGE and not resource.unit.prunes else policy


def _read_policy(resource: Resource, namespaces: Mapping[str, Mapping[str, str]], default: Policy) -> Policy | None:
    own = resource.annotations.get(RECONCILE_POLICY, "")
    text = own or namespaces.get(resource.key.namespace, {}).get(RECONCILE_POLICY, "")
    if not text:
        return default
    return next((policy for policy in Policy if policy.value == text), None)
