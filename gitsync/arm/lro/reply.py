"""Azure's answer to a write, with what is needed to follow its operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gitsync.arm.http.answer import Response
from gitsync.arm.http.call import ArmRequest
from gitsync.model.live import Live


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedWrite:
    """An accepted write. `body` may contain secrets and the poll URL may be signed, so neither is shown.

    `status` is 404 for a DELETE of a resource that did not exist. Pass it to `Writer.wait` for the result.
    """

    arm_id: str
    api_version: str
    status: int
    body: Mapping[str, Any] = field(repr=False)
    etag: str | None = None
    call: ArmRequest = field(repr=False)
    answer: Response = field(repr=False)

    @property
    def live(self) -> Live:
        """The resource as the answer shows it; without properties if the answer has none."""
        return Live(body=self.body, etag=self.etag)


def read_live(answer: Response) -> Live:
    """The resource that a GET or PUT shows; its ETag comes from the header, else from the body."""
    body = answer.mapping()
    body_etag = body.get("etag")
    return Live(
        body=body, etag=answer.headers.get("etag") or (body_etag if isinstance(body_etag, str) and body_etag else None)
    )


def accept_write(call: ArmRequest, api_version: str, answer: Response) -> AcceptedWrite:
    """The reply to a write, from an answer that was expected."""
    live = read_live(answer)
    return AcceptedWrite(
        arm_id=call.path,
        api_version=api_version,
        status=answer.status,
        body=live.body,
        etag=live.etag,
        call=call,
        answer=answer,
    )
