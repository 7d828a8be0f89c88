"""The live state of a resource, or its absence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.provisioning_state import StateMeaning, read_state


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """Azure's answer that a resource does not exist, with ARM's code and message."""

    code: str
    message: str
    request_id: str = ""


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Live:
    """A resource as it was read."""

    body: Mapping[str, Any]  # of its GET
    etag: str | None = None  # None if the provider returned none
    bytes_read: int = field(default=0, compare=False)  # the size of the response, 0 if it is not known

    @property
    def provisioning_state(self) -> str | None:
        """`properties.provisioningState` as Azure spells it; None if there is none (which means Succeeded)."""
        properties = self.body.get("properties")
        state = properties.get("provisioningState") if isinstance(properties, Mapping) else None
        return state if isinstance(state, str) and state else None

    @property
    def state_meaning(self) -> StateMeaning:
        """The meaning of the provisioning state. A resource without one counts as succeeded."""
        state = self.provisioning_state
        if state is None or state == "Succeeded":  # the usual case
            return StateMeaning.SUCCEEDED
        # Without an id the type is unknown, and only the states of all types have a meaning.
        arm_id = self.body.get("id")
        return read_state(state, ArmId(arm_id) if isinstance(arm_id, str) else NO_ID)

    @property
    def is_moving(self) -> bool:
        """Return whether an operation is or may be under way, so that nothing may be sent."""
        return self.state_meaning in {StateMeaning.MOVING, StateMeaning.UNKNOWN}

    @property
    def has_unknown_state(self) -> bool:
        """Return whether it is unknown if an operation is under way."""
        return self.state_meaning is StateMeaning.UNKNOWN

    @property
    def has_succeeded(self) -> bool:
        return self.state_meaning is StateMeaning.SUCCEEDED

    @property
    def has_failed(self) -> bool:
        return self.state_meaning is StateMeaning.FAILED
