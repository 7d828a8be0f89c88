"""A planned change, and the findings of checks about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import Any, Final

from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import AZURE_RESOURCE, Key
from gitsync.model.verdict import Action


class CheckName(StrEnum):
    """The checks, in the order of reports."""

    PREFLIGHT = "preflight"
    POLICY = "policy"
    NAMES = "names"
    LOCKS = "locks"
    QUOTA = "quota"
    VERSIONS = "versions"


class CheckVerdict(StrEnum):
    """The verdicts of a check about a change, the most urgent first."""

    REFUSED = "refused"  # Azure would refuse it
    WARNING = "warning"
    NOT_CHECKED = "not-checked"  # no answer, which is not the same as FINE
    FINE = "fine"


NO_CHECKS: Final = "none"
"""The value of `--checks` for no check at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """The finding of one check about one change."""

    check: CheckName
    verdict: CheckVerdict
    code: str = ""  # Azure's, or gitsync's if Azure returned none; `gitsync explain` describes it
    message: str = ""  # a sentence: Azure's answer, or why there is none
    advice: str = ""  # an order, what to change; "" if there is none
    contact: str = ""  # who can change what is not in git, "" if that is not needed
    path: str = ""  # JSON pointer of the field of the body, "" for the whole resource
    missing_right: str = ""  # the action that the identity is not allowed, if that is the reason

    @property
    def statement(self) -> str:
        """The message, with the code before it."""
        return f"{self.code}: {self.message}" if self.code else self.message


REFUSED: Final = "Refused"
"""The reason of the condition of a resource that a sync leaves out, since Azure would refuse it."""

Findings = list[tuple[Key, CheckFinding]]
"""The findings of one check: at least one for each change that it is about."""


class HiddenValue(Enum):
    """Marks a value in a body that a check must not see, or that is not known yet.

    It is not JSON, so a check that forgets to replace it cannot send it.
    """

    SECRET = auto()
    LATER = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChange:
    """A resource that would be created, updated, replaced or deleted."""

    key: Key
    action: Action
    arm_id: ArmId  # with `<...>` for the parts that are not known
    arm_type: str
    api_version: str
    body: Mapping[str, Any] | None = None  # of the PUT, which may have a `HiddenValue` in it; None for a delete
    live_body: Mapping[str, Any] | None = None  # what Azure has now; None if it has nothing, or if it was not read
    doubt: str = ""  # why the ARM id is not known, "" if it is
    replaces: bool = False  # the resource is deleted first and created again; its action is CREATE
    exports_secrets: bool = False  # the run reads the resource's keys after the write
    purges: bool = False  # the run first purges the deleted resource that reserves the name

    @property
    def deletes(self) -> bool:
        return self.action is Action.DELETE or self.replaces

    @property
    def creates(self) -> bool:
        return self.action is Action.CREATE

    @property
    def id_gap(self) -> str:
        """Why the ARM id is not known, as a sentence; "" if it is."""
        if self.doubt:
            return f"The ARM id is not known yet: {self.doubt.rstrip('.')}."
        return "The ARM id is not known yet." if "<" in self.arm_id else ""

    @property
    def is_any_type(self) -> bool:
        """Return whether its manifest is an AzureResource, which has the body as it is sent."""
        return self.key[:2] == AZURE_RESOURCE

    @property
    def location_field(self) -> str:
        """The field of its manifest that has the region."""
        return "spec.body.location" if self.is_any_type else "spec.location"

    @property
    def location(self) -> str:
        """The region of the body; "" if it has none, or if it is not known yet."""
        location = (self.body or {}).get("location")
        return location if isinstance(location, str) else ""
