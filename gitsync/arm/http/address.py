"""What an ARM path says and how it is written into a URL.

Ids come from manifests, which are not trusted: a `?` or `#` in one would cut the path and drop the api-version, a `..`
would reach another resource. So every id is checked and quoted here, before anything is sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from gitsync.errors import ArmError

_FORBIDDEN = re.compile(r"[?#\\\x00-\x1f\x7f]")
_CONTAINER = re.compile(
    r"^(/subscriptions/[^/]+(/resourceGroups/[^/]+)?|/providers/Microsoft\.Management/managementGroups/[^/]+)"
    r"(?=/providers/)",
    re.IGNORECASE,
)
_VERBS = {"GET": "read", "HEAD": "read", "PUT": "write", "PATCH": "write", "DELETE": "delete", "POST": "action"}


def format_target(path: str, api_version: str, query: Mapping[str, str] | None = None) -> str:
    """Path and query of a request, quoted: `/a b` becomes `/a%20b?api-version=…`.

    Raises ArmError (code InvalidResourceId) for a path that is not absolute, has an empty, `.` or `..` segment, or a
    character that means something else in a URL.
    """
    _check(path)
    parameters = {"api-version": api_version, **(query or {})}
    return f"{quote(path, safe=_SAFE)}?{urlencode(parameters, quote_via=quote, safe=_SAFE)}"


_SAFE = "/:@!$'()*,;-._~"


def _check(path: str) -> None:
    segments = path.split("/")[1:]
    if path.startswith("/") and not _FORBIDDEN.search(path) and not {"", ".", ".."} & set(segments):
        return
    raise ArmError(
        f"{path!r} is not a valid ARM id.",
        code="InvalidResourceId",
        resource_id=path,
        hint="An id starts with '/', has no empty, '.' or '..' segment, and none of the characters ? # \\.",
    )


def find_lock_name(arm_id: str) -> str:
    """The name of the write lock of a resource: its top-most ancestor that is a resource, or itself.

    So a virtual network and its subnets exclude each other, and so do sibling agent pools and their cluster, at any
    depth: providers lock the top resource while an operation runs below it (Network, Kusto, Cosmos DB, AKS) and answer
    409 or 429 to all others. A resource group, a subscription and a management group are containers, not resources:
    writes directly below one run in parallel. An extension resource (role assignment, flux configuration) shares
    the lock of the resource that it extends; at a container it has its own.
    """
    container = _CONTAINER.match(arm_id)
    prefix = container[0] if container else ""
    segments = arm_id[len(prefix) :].strip("/").split("/")
    is_resource = segments[0].casefold() == "providers"
    kept = segments[:4] if is_resource else segments  # providers, namespace, type, name
    return "/".join((prefix, *kept)).casefold()


def find_rbac_action(method: str, path: str) -> str:
    """The right that a request needs, in Azure's words: `Microsoft.Network/virtualNetworks/write`."""
    verb = _VERBS[method]
    _, marker, rest = path.rpartition("/providers/")
    if not marker:
        depth = "subscriptions/resourceGroups" if "/resourcegroups/" in path.casefold() else "subscriptions"
        return f"Microsoft.Resources/{depth}/{verb}"
    namespace, *names = rest.strip("/").split("/")
    if not names:
        return f"Microsoft.Resources/subscriptions/providers/{verb}"
    if verb == "action":
        return "/".join((namespace, *names[:-1:2], names[-1], verb))
    return "/".join((namespace, *names[::2], verb))
