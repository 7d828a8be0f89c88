"""The write of an attempt: what a run sent for one resource, and what came of it.

Members that change together are a part. All resources that are not written share one write and its parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.extensions.api import ActionCall
from gitsync.model.condition import Condition
from gitsync.model.template import Request
from gitsync.model.verdict import Action, Written
from gitsync.planning.removed_values import KeptValue
from gitsync.providers.arm.lro.poll import AcceptedWrite


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request that Azure accepted, or may have."""

    request: Request
    reply: AcceptedWrite | None = None  # the response to it, until its operation is followed


@dataclass(frozen=True, slots=True)
class Precondition:
    """The state of the resource that a write demands, by its ETag (RFC 9110 section 13.1.1)."""

    if_match: str | None = None  # None if the write demands no ETag
    outrun: str | None = None  # the ETag of a refused write


@dataclass(frozen=True, slots=True)
class Unseen:
    """Reads that do not show yet what Azure accepted."""

    reads: int = 0  # that did not find it
    is_resent: bool = False  # after these reads, it was sent again


@dataclass(frozen=True, slots=True)
class ValueRemoval:
    """The removal of values that Azure kept when they were left out."""

    demands: tuple[KeptValue, ...] = ()  # what the next write must remove
    demanded: frozenset[JsonPath] = frozenset()  # all of that so far
    keeps: bool = False  # Azure keeps some of it anyway


_NO_PRECONDITION, _SEEN, _NO_REMOVAL = Precondition(), Unseen(), ValueRemoval()


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Write:
    """What this run sent for a resource, and what came of it."""

    tried: bool = False  # it has begun to write
    existed: bool = False  # the resource existed before the first try
    sent: SentRequest | None = None  # the last request; None if Azure refused it
    done: Action = Action.NONE  # the write that was accepted
    unfinished: bool = False  # its operation goes on after the run
    has_failed: bool = False  # Azure refused the last write, or its operation failed
    pending_delete: Written = Written.NOTHING  # whether Azure accepted a delete that is not over
    precondition: Precondition = _NO_PRECONDITION
    unseen: Unseen = _SEEN
    removal: ValueRemoval = _NO_REMOVAL
    given_id: str = ""  # the id that another provider than ARM gave the resource
    called: tuple[ActionCall, ...] = ()  # the actions that were called for a check
    durations: Mapping[Action, float] = field(default_factory=dict)
    """How many seconds Azure worked on a create, and on an update, that this run saw from the request to its end."""

    refused_body: Condition | None = None
    """Why Azure refused it with the children that would go along: it is sent without them since."""
