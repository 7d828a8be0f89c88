"""The deleted applications of a tenant. Each can be restored for 30 days, and holds its client id and its URIs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, NamedTuple

from gitsync.model.arm_id import NO_ID
from gitsync.providers.arm.client import Arm
from gitsync.providers.arm.cloud import choose_graph
from gitsync.providers.arm.session import Session
from gitsync.providers.entra.application_conversion import APPLICATION
from gitsync.providers.entra.graph_pages import iterate_entries
from gitsync.providers.entra.graph_requests import GraphRequest, advise_read, check_object
from gitsync.providers.entra.object_access import read_time

_DELETED: Final = "/v1.0/directory/deletedItems"
_LIST: Final = f"{_DELETED}/microsoft.graph.application"
_KEPT: Final = timedelta(days=30)


class DeletedApplication(NamedTuple):
    """An application that was deleted."""

    object_id: str
    app_id: str
    display_name: str
    uris: tuple[str, ...]  # that no other application may have
    kept_until: str  # the day on which it is deleted permanently; "" if Graph does not show when it was deleted
    url: str  # the URL of its entry in the deleted items

    @property
    def restore(self) -> str:
        """The command that restores it, for a POSIX shell."""
        return shlex.join(["az", "rest", "--method", "POST", "--url", f"{self.url}/restore"])

    @property
    def purge(self) -> str:
        """The command that deletes it permanently, for a POSIX shell."""
        return shlex.join(["az", "rest", "--method", "DELETE", "--url", self.url])


async def list_deleted_applications(arm: Arm, session: Session) -> list[DeletedApplication]:
    """List the deleted applications that the principal of `arm` may see. Raises ArmError if Graph gives no usable
    answer, and ConfigError if Graph of its cloud is not known.
    """
    cloud = choose_graph(arm.cloud)
    retrier = arm.reach_service(cloud)

    def make_request(next_page: str | None) -> GraphRequest:
        return GraphRequest(
            method="GET",
            path=_LIST,
            target=next_page or _LIST,
            resource_id=NO_ID,
            accepts=frozenset({200}),
            is_list=True,
            is_optional=True,
            advice=advise_read(APPLICATION),
        )

    return [
        _read(check_object(APPLICATION, entry, answer, request), cloud.endpoint)
        async for entry, answer, request in iterate_entries(
            _LIST, make_request, lambda request: retrier.send(request, session), cloud
        )
    ]


def _read(entry: Mapping[str, Any], endpoint: str) -> DeletedApplication:
    deleted = read_time(entry.get("deletedDateTime"))
    return DeletedApplication(
        object_id=entry["id"],
        app_id=entry["appId"],
        display_name=entry["displayName"],
        uris=tuple(entry.get("identifierUris") or ()),
        kept_until=(deleted + _KEPT).date().isoformat() if deleted else "",
        url=f"{endpoint}{_DELETED}/{entry['id']}",
    )
