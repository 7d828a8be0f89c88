"""A Role and its RoleBinding as text that `kubectl apply` takes, for hints: what the service account lacks.

The text is one line of YAML, since a hint may be part of a condition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

_API = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Right:
    """One verb on one resource (`secrets`, `configmaps`) of a namespace."""

    namespace: str
    resource: str
    verb: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource} in namespace {self.namespace}"


def format_grant(rights: Iterable[Right], account: str) -> str:
    """The hint that grants rights. `account` is the service account as namespace:name; "" if it is not known."""
    by_namespace: dict[str, list[Right]] = defaultdict(list)
    for right in sorted(set(rights)):
        by_namespace[right.namespace].append(right)
    items = [item for namespace, group in by_namespace.items() for item in _list_items(namespace, group, account)]
    text = items[0] if len(items) == 1 else f"{{apiVersion: v1, kind: List, items: [{', '.join(items)}]}}"
    more = "" if account else ", and bind it to the service account of the job"
    return f"Apply this Role with `kubectl apply -f FILE`{more}: {text}"


def _list_items(namespace: str, rights: list[Right], account: str) -> list[str]:
    verbs = sorted({right.verb for right in rights})
    resources = sorted({right.resource for right in rights})
    name = "-".join(["gitsync", *verbs, *resources])
    metadata = f"metadata: {{name: {name}, namespace: {namespace}}}"
    role = f"{{apiVersion: {_API}/v1, kind: Role, {metadata}, rules: [{', '.join(_list_rules(rights))}]}}"
    if not account:
        return [role]
    account_namespace, _, account_name = account.partition(":")
    binding = (
        f"{{apiVersion: {_API}/v1, kind: RoleBinding, {metadata}, "
        f"roleRef: {{apiGroup: {_API}, kind: Role, name: {name}}}, "
        f"subjects: [{{kind: ServiceAccount, name: {account_name}, namespace: {account_namespace}}}]}}"
    )
    return [role, binding]


def _list_rules(rights: list[Right]) -> list[str]:
    """One rule for each set of verbs, so that no resource gets a verb that another one lacks."""
    by_verbs: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for resource in sorted({right.resource for right in rights}):
        by_verbs[tuple(right.verb for right in rights if right.resource == resource)].append(resource)
    return [
        f'{{apiGroups: [""], resources: [{", ".join(resources)}], verbs: [{", ".join(verbs)}]}}'
        for verbs, resources in by_verbs.items()
    ]
