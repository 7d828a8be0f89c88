"""Annotations of a resource: its reconcile policy (docs/reference/reconciliation.md#reconcile-policy), and those of
deployment tools for its order and against its delete.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitsync.desired.manifests.creation_mode import ADOPT_ONLY, ENTRA_GROUP, read_creation_mode
from gitsync.model.reconcile_policy import RECONCILE_POLICY, Policy, PolicyDecision
from gitsync.model.resource import Resource


def decide_policy(
    resource: Resource, namespaces: Mapping[str, Mapping[str, str]], default: Policy
) -> PolicyDecision | None:
    """Decide the policy of a resource: its own annotation, else that of its Namespace, else the default. None if the
    text is not a policy.

    `namespaces` has the annotations of Namespace manifests by name. An empty text counts as absent. A resource that
    CAPZ manages or a controller suspends is not written, and neither is an Entra ID object that is only adopted; one
    that a controller does not prune is kept.
    """
    own = resource.annotations.get(RECONCILE_POLICY, "")
    text = own or namespaces.get(resource.key.namespace, {}).get(RECONCILE_POLICY, "")
    policy = next((policy for policy in Policy if policy.value == text), None) if text else default
    if policy is None:  # the intention is unknown, so the caller does not write the resource
        return None
    if reason := _explain_skip(resource):
        return PolicyDecision(Policy.SKIP, reason)
    # Only a resource that a prune would delete needs to be kept: the other policies never delete.
    if policy is Policy.MANAGE and (reason := _explain_keeping(resource)):
        return PolicyDecision(Policy.DETACH_ON_DELETE, reason)
    return PolicyDecision(policy)


def _explain_skip(resource: Resource) -> str:
    """Explain why a resource is not written despite its annotation; "" if it may be."""
    unit, wrapper = resource.unit, resource.wrapper
    if only_adopts(resource):
        return f"Its creationMode is {ADOPT_ONLY}."
    if wrapper and wrapper.is_template:
        return f"It is part of a template, {wrapper.kind}, from which CAPZ creates clusters."
    if wrapper and not (unit and unit.options.manages_capz):
        return f"CAPZ manages it: it is part of an {wrapper.kind}."
    return f"The {unit.title} is suspended." if unit and unit.settings.is_suspended else ""


def only_adopts(resource: Resource) -> bool:
    """Return whether a manifest only looks for an Entra ID object that somebody else manages."""
    return resource.gvk.group == ENTRA_GROUP and bool(read_creation_mode(resource.spec) == ADOPT_ONLY)


def _explain_keeping(resource: Resource) -> str:
    """Explain why a resource is kept after it was removed from git; "" if it is not."""
    if keeper := find_keeper(resource.annotations):
        return f"The annotation {keeper} keeps it."
    unit = resource.unit
    return f"The {unit.title} does not prune." if unit and not unit.settings.prunes else ""


WAVE: Final = "argocd.argoproj.io/sync-wave"
SYNC_OPTIONS: Final = "argocd.argoproj.io/sync-options"
RESOURCE_POLICY: Final = "helm.sh/resource-policy"

_KEEPING: Final = frozenset({"Prune=false", "Delete=false", "Prune=confirm", "Delete=confirm"})
_LONGEST_WAVE: Final = 9


def read_wave(annotations: Mapping[str, Any]) -> int:
    """Read the sync wave of an object: lower waves go first. A text that is not a number counts as 0, as in Argo CD."""
    text = annotations.get(WAVE)
    digits = text[text[:1] in {"-", "+"} :] if isinstance(text, str) else ""
    # `isdigit` alone is true for digits of other scripts, and int() would read those.
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_WAVE
    return int(str(text)) if is_number else 0


def keeps_resources(options: str) -> bool:
    """Return whether sync options, separated by commas, keep a resource that is removed from git. Options that need a
    confirmation keep it too.
    """
    return not _KEEPING.isdisjoint(option.strip() for option in options.split(","))


def find_keeper(annotations: Mapping[str, str]) -> str:
    """Return the annotation that protects a resource from deletes; "" for none. Helm has one with the value keep
    (https://helm.sh/docs/howto/charts_tips_and_tricks/#tell-helm-not-to-uninstall-a-resource).
    """
    if not annotations:
        return ""
    if keeps_resources(annotations.get(SYNC_OPTIONS, "")):
        return SYNC_OPTIONS
    # Helm compares the word without blanks and case, too.
    return RESOURCE_POLICY if annotations.get(RESOURCE_POLICY, "").strip().casefold() == "keep" else ""
