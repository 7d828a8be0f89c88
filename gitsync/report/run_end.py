"""The end of a run as those who watch it need it, also if there is no report: for metrics and traces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gitsync.model.gvk import Key
from gitsync.model.report import Report
from gitsync.report.timeline import StageVisit


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """`report` is None if the run was refused or broke off; it is masked. `started` is `started_at` in the clock's
    monotonic seconds, in which `visits` are. `is_whole` says that the run was not restricted to some resources.

    `source` is a URL without a password, or a folder; `status` is the branch or folder that the settings name, "" for
    the default. With agent and command they tell this run from others that are watched in the same place.
    """

    command: str
    agent: str
    source: str
    status: str
    started_at: datetime
    ended_at: datetime
    started: float
    exit_code: int
    is_success: bool
    is_whole: bool
    report: Report | None
    visits: Mapping[Key, list[StageVisit]]
