"""The result of a rehearsal: the sync as it ran in the emulator, and what was not rehearsed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from gitsync.errors import ExitCode
from gitsync.model.gvk import Key
from gitsync.model.problem import SourceLocation
from gitsync.model.report import Report
from gitsync.model.schedule import Schedule
from gitsync.model.verdict import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsedWrite:
    """A write as Azure got it. `number` counts from 1; `key` is None if no resource of the run has the id. `method` and
    `status` are those of the request.
    """

    number: int
    arm_id: str
    method: str
    status: int
    key: Key | None = None
    action: Action = Action.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Stub:
    """A referenced resource without a record, which was created empty. `wanted_by` are sorted."""

    arm_id: str
    wanted_by: tuple[Key, ...]


class Blank(StrEnum):
    """What a rehearsal does not cover."""

    SEALS = "seals"  # of records: there is no key
    SECRETS = "secrets"  # made-up values
    STATEMENTS = "statements"  # of database users
    KINDS = "kinds"  # types without recorded responses
    POLICIES = "policies"  # Azure Policy, if the emulator script has none
    QUOTAS = "quotas"
    STUBS = "stubs"  # fields of resources without a record


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRehearsed:
    """Something that was not rehearsed: how many, their names (sorted), and `sentence`, which explains the effect."""

    blank: Blank
    sentence: str
    count: int = 0
    names: tuple[str, ...] = ()


class GapKind(StrEnum):
    """What git cannot restore in an empty subscription, in the order in which gaps are solved."""

    OWNER = "owner"  # an owner or a reference that is not in git: skip, armId
    VALUE = "value"  # a Secret or ConfigMap that only a cluster, a vault or the environment has
    ID = "id"  # an id in the manifest that a new resource will not have
    NAME = "name"  # a soft-deleted resource reserves the name
    DATA = "data"  # the resource is created without its data


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """`stops`: the resource, or one that depends on it, cannot be created until somebody acts. `message` names what is
    missing, in full sentences without the field; `hint` is an order. `field` is one of the manifest, "" for the whole
    manifest.
    """

    kind: GapKind
    key: Key
    message: str
    hint: str
    stops: bool
    source: SourceLocation | None = None
    field: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt:
    """A run that was killed after its write `number`, and resumed by the next run. `differences` are sentences about
    what ended differently than in the uninterrupted run. `sent_twice` are ids that were created twice.
    """

    number: int
    arm_id: str
    differences: tuple[str, ...] = ()
    sent_twice: tuple[str, ...] = ()

    @property
    def is_fine(self) -> bool:
        return not self.differences and not self.sent_twice


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """`first` is the sync; None if it was refused, for the reason in `refusal`. `second` is the next sync, which must
    write nothing; None if there was none. `writes` are those of the first, in the order in which Azure got them, and
    `later_writes` those of the second. `schedule` has the expected durations. `interrupts` are those of --interrupt,
    `gaps` those of --from-nothing, in the order in which they are solved.
    """

    from_nothing: bool
    first: Report | None
    second: Report | None = None
    refusal: str = ""
    writes: tuple[RehearsedWrite, ...] = ()
    later_writes: tuple[RehearsedWrite, ...] = ()
    schedule: Schedule = field(default_factory=Schedule)
    stubs: tuple[Stub, ...] = ()
    not_rehearsed: tuple[NotRehearsed, ...] = ()
    interrupts: tuple[Interrupt, ...] = ()
    gaps: tuple[Gap, ...] = ()

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
