"""The result of a rehearsal: the sync as it ran in the emulator, and what was not rehearsed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from gitsync.errors import ExitCode
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.problem import SourceLocation
from gitsync.model.report import Report
from gitsync.model.schedule import Schedule
from gitsync.model.verdict import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsedWrite:
    """A write as Azure got it."""

    number: int  # from 1
    arm_id: ArmId
    method: str  # of the request
    status: int  # the HTTP status of the response
    key: Key | None = None  # None if no resource of the run has the id
    action: Action = Action.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Stub:
    """A referenced resource without a record, which was created empty."""

    arm_id: ArmId
    wanted_by: tuple[Key, ...]  # sorted


class Blank(StrEnum):
    """What a rehearsal does not cover."""

    SEALS = "seals"  # of records: there is no key
    SECRETS = "secrets"  # made-up values
    VALUES = "values"  # of expressions: only Azure has them
    STATEMENTS = "statements"  # of database users
    KINDS = "kinds"  # types without recorded responses
    POLICIES = "policies"  # Azure Policy, if the emulator script has none
    QUOTAS = "quotas"
    STUBS = "stubs"  # fields of resources without a record


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRehearsed:
    """Something that was not rehearsed."""

    blank: Blank
    sentence: str  # explains the effect
    count: int = 0  # how many there are, also of those without a name
    names: tuple[str, ...] = ()  # sorted


class GapKind(StrEnum):
    """What git cannot restore in an empty subscription, in the order in which gaps are solved."""

    OWNER = "owner"  # an owner or a reference that is not in git: skip, armId
    VALUE = "value"  # a Secret or ConfigMap that only a cluster, a vault or the environment has
    ID = "id"  # an id in the manifest that a new resource will not have
    NAME = "name"  # a soft-deleted resource reserves the name
    DATA = "data"  # the resource is created without its data


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Something that a sync from nothing lacks."""

    kind: GapKind
    key: Key
    message: str  # names what is missing, in full sentences without the field
    hint: str  # an order
    stops: bool  # the resource, or one that depends on it, cannot be created until somebody acts
    source: SourceLocation | None = None  # the location of the field, or of the manifest
    field: str = ""  # one of the manifest, "" for the whole manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt:
    """A run that was killed after a write, and resumed by the next run."""

    number: int  # of the write
    arm_id: ArmId
    differences: tuple[str, ...] = ()  # sentences about what ended differently than in the uninterrupted run
    sent_twice: tuple[str, ...] = ()  # ids that were created twice

    @property
    def is_fine(self) -> bool:
        return not self.differences and not self.sent_twice


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """A sync against the emulator, and the next one."""

    from_nothing: bool  # in an empty subscription
    first: Report | None  # the sync; None if it was refused
    second: Report | None = None  # the next sync, which must write nothing; None if there was none
    refusal: str = ""  # why the sync was refused, "" if it was not
    writes: tuple[RehearsedWrite, ...] = ()  # those of the first, in the order in which Azure got them
    later_writes: tuple[RehearsedWrite, ...] = ()  # those of the second, in the same order
    schedule: Schedule = field(default_factory=Schedule)  # the expected durations
    stubs: tuple[Stub, ...] = ()
    not_rehearsed: tuple[NotRehearsed, ...] = ()
    interrupts: tuple[Interrupt, ...] = ()  # those of --interrupt
    gaps: tuple[Gap, ...] = ()  # those of --from-nothing, in the order in which they are solved

    @property
    def is_silent(self) -> bool:
        """Return whether the second run wrote nothing. Refused writes do not count."""
        return self.second is not None and all(write.status >= 400 for write in self.later_writes)

    @property
    def exit_code(self) -> ExitCode:
        """FAILED if the sync fails, is refused, writes again in the second run, or does not survive an interrupt."""
        if self.first is None or self.first.exit_code is not ExitCode.FINE or not self.is_silent:
            return ExitCode.FAILED
        is_stopped = any(gap.stops for gap in self.gaps)
        return (
            ExitCode.FAILED
            if is_stopped or not all(interrupt.is_fine for interrupt in self.interrupts)
            else ExitCode.FINE
        )
