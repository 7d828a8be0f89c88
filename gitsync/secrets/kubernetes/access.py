"""What a run needs of the API server, asked before the run: one review for each verb, kind and namespace.

A Role may name single objects (`resourceNames`): if a right on all objects is refused, each object is reviewed by
itself. Only `create` has no name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping

from gitsync.errors import ConfigError
from gitsync.secrets.kubernetes.refusals import RESOURCES
from gitsync.secrets.kubernetes.roles import Right, format_grant
from gitsync.secrets.protocols import ExportNeeds

_CREATE = "create"
_TO_WRITE = ("get", _CREATE, "update")
_TO_REMOVE = ("get", "delete")
_MOST_NAMED = 5

May = Callable[[Right, str], Awaitable[bool]]
"""Whether the account has a right, on the object of a name or on all ("")."""


def find_rights(needs: ExportNeeds) -> Mapping[Right, tuple[str, ...]]:
    """The rights that a run needs, sorted, each with the names of the objects."""
    names: dict[Right, set[str]] = defaultdict(set)
    for verbs, addresses in ((_TO_WRITE, needs.written), (_TO_REMOVE, needs.removed)):
        for verb in verbs:
            for address in addresses:
                right = Right(verb=verb, resource=RESOURCES[address.holder], namespace=address.namespace)
                names[right].add(address.name)
    return {right: tuple(sorted(names[right])) for right in sorted(names)}


async def find_missing_rights(rights: Mapping[Right, tuple[str, ...]], may: May) -> tuple[Right, ...]:
    """The rights that the account lacks, in their order."""
    return tuple([right for right, names in rights.items() if not await _has(right, names, may)])


async def _has(right: Right, names: Iterable[str], may: May) -> bool:
    if await may(right, ""):
        return True
    if right.verb == _CREATE:
        return False
    for name in names:
        if not await may(right, name):
            return False
    return True


def make_refusal(missing: tuple[Right, ...], account: str) -> ConfigError:
    """The error that names what is missing, and the Roles that grant it."""
    named = ", ".join(str(right) for right in missing[:_MOST_NAMED])
    more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
    who = f"The service account {account}" if account else "The service account of the job"
    return ConfigError(
        f"{who} may not do in the cluster what this run needs: {named}{more}.", hint=format_grant(missing, account)
    )
