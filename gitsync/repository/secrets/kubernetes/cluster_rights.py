"""What a run needs of the API server, asked before the run: one review for each verb, kind and namespace.

A Role may name single objects (`resourceNames`): if a right on all objects is refused, each object is reviewed by
itself. Only `create` has no name. A hint has the missing rights as a Role and its RoleBinding that `kubectl apply`
takes: one line of YAML, since a hint may be part of a condition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

from gitsync.desired.formats.name_list import name_first
from gitsync.errors import ConfigError
from gitsync.model.export import ObjectKind
from gitsync.repository.secrets.protocols import ExportNeeds

_API = "rbac.authorization.k8s.io"
RESOURCES = {ObjectKind.SECRET: "secrets", ObjectKind.CONFIG_MAP: "configmaps"}
"""As a Role names them."""

_CREATE = "create"
_TO_WRITE = ("get", _CREATE, "update")
_TO_REMOVE = ("get", "delete")
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Right:
    """One verb on one resource (`secrets`, `configmaps`) of a namespace."""

    namespace: str
    resource: str
    verb: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource} in namespace {self.namespace}"


May = Callable[[Right, str], Awaitable[bool]]
"""Whether the account has a right, on the object of a name or on all ("")."""


def collect_rights(needs: ExportNeeds) -> Mapping[Right, tuple[str, ...]]:
    """Collect the rights that a run needs, sorted, each with the names of the objects."""
    names: dict[Right, set[str]] = defaultdict(set)
    for verbs, addresses in ((_TO_WRITE, needs.written), (_TO_REMOVE, needs.removed)):
        for verb in verbs:
            for address in addresses:
                right = Right(verb=verb, resource=RESOURCES[address.object_kind], namespace=address.namespace)
                names[right].add(address.name)
    return {right: tuple(sorted(names[right])) for right in sorted(names)}


async def list_missing_rights(rights: Mapping[Right, tuple[str, ...]], may: May) -> tuple[Right, ...]:
    """List the rights that the account lacks, in their order."""
    return tuple([right for right, names in rights.items() if not await _has(right, names, may)])


async def _has(right: Right, names: Iterable[str], may: May) -> bool:
    if await may(right, ""):
        return True
    if right.verb == _CREATE:  # a Role cannot name an object that does not exist yet
        return False
    for name in names:
        if not await may(right, name):
            return False
    return True


def make_refusal(missing: tuple[Right, ...], account: str) -> ConfigError:
    """Make the error that names what is missing, and the Roles that grant it."""
    named = name_first(missing, _MOST_NAMED)
    who = f"The service account {account}" if account else "The service account of the job"
    return ConfigError(f"{who} lacks permissions that this run needs: {named}.", hint=format_grant(missing, account))


def format_grant(rights: Iterable[Right], account: str) -> str:
    """Format the hint that grants rights. `account` is the service account as namespace:name; "" if it is not known."""
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
