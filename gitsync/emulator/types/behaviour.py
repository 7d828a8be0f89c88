"""The possible behaviour of types: how their writes run, and what their answers show.

The behaviour of each type is in `gitsync.emulator.types.recorded`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Style(StrEnum):
    """How a write shows that it takes time (resource-provider contract, async-api-reference)."""

    DONE = "done"  # 200 or 201, nothing else
    SETTLED = "settled"  # 200 or 201 with an Azure-AsyncOperation that has ended
    ASYNC = "async"  # 200 or 201, Azure-AsyncOperation
    ASYNC_LOCATION = "async-location"  # 200 or 201, Azure-AsyncOperation and Location
    STATE = "state"  # 200 or 201, and only provisioningState tells
    LOCATION = "location"  # 201, Location is the resource itself
    RELATIVE = "relative"  # 201, done, with a relative Location
    ACCEPTED = "accepted"  # 202, Location
    ACCEPTED_ASYNC = "accepted-async"  # 202, Azure-AsyncOperation and Location

    @property
    def is_accepted(self) -> bool:
        return self in {Style.ACCEPTED, Style.ACCEPTED_ASYNC}

    @property
    def is_over(self) -> bool:
        """Tell whether the answer completes the write."""
        return self in {Style.DONE, Style.SETTLED, Style.RELATIVE}

    @property
    def has_async(self) -> bool:
        return self in {Style.SETTLED, Style.ASYNC, Style.ASYNC_LOCATION, Style.ACCEPTED_ASYNC}


class AcceptedBody(StrEnum):
    """The body of a 202."""

    NOTHING = "nothing"
    RESOURCE = "resource"
    OPERATION = "operation"  # the name of the operation and its start
    STATUS = "status"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """`retry_after` is in seconds, 0 for no header; `creating` and `updating` are values of provisioningState;
    `running` is the status of an operation; `spelled` and `spelled_in_ids` are the type, or its first words, as
    answers say it; `kept_by` is in lower case.
    """

    put: Style = Style.DONE
    update: Style | None = None  # None: as put
    delete: Style = Style.DONE
    reply: AcceptedBody = AcceptedBody.NOTHING
    retry_after: int = 0
    creating: str = "Creating"
    updating: str = "Updating"
    running: str = "InProgress"
    state: bool = True  # provisioningState is shown
    system_data: bool = False
    etag: str = ""  # the member of the body that holds it
    group_word: str = "resourceGroups"
    long_name: bool = False  # "cluster/database" rather than "database"
    spelled: str = ""
    spelled_in_ids: str = ""
    lowers_types: bool = False
    lowers_ids: bool = False
    bare: bool = False  # the answer about an operation has only its status
    accepts_polls: bool = False  # an operation that runs answers 202 rather than 200
    gets: bool = True  # False: HEAD alone
    deletes: bool = True
    unlisted: tuple[str, ...] = ()  # members of the body that entries of lists lack
    ends_empty: bool = False  # the last page of a list has no entries
    kept_by: str = ""  # the nested type that must be deleted before this one
