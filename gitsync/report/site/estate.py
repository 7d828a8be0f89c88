"""What the site is made of: one estate for each status branch, with all that was read of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitsync.model.gvk import Key
from gitsync.model.record import Heartbeat, State
from gitsync.report.html.links import Forge
from gitsync.report.site.declared import DeclaredManifests
from gitsync.report.site.shapes import DriftShape, History, RunShape


@dataclass(frozen=True, slots=True, kw_only=True)
class EstateName:
    """How the site calls an estate."""

    id: str  # in routes and names of files
    title: str
    source: str  # the repository without credentials, or the name of a folder
    branch: str  # of the status


@dataclass(frozen=True, slots=True, kw_only=True)
class EstateHistory:
    """What happened to an estate."""

    histories: Mapping[str, Sequence[History]] = field(default_factory=dict)  # by key, oldest first
    runs: Sequence[RunShape] = ()  # oldest first
    open: Sequence[DriftShape] = ()  # oldest first
    past: Sequence[DriftShape] = ()  # by their end, oldest first
    days: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    """Resources, open drift and failures at the end of each day with a commit."""

    notes: tuple[str, ...] = ()  # what of it could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteEstate:
    """All that was read of one status."""

    name: EstateName
    state: State
    commit: str = ""  # of the status branch, "" for a folder
    heartbeats: tuple[Heartbeat, ...] = ()
    report: Mapping[str, Any] = field(default_factory=dict)  # that of the last run, empty if it cannot be read
    entries: Mapping[Key, Mapping[str, Any]] = field(default_factory=dict)  # its resources, by key
    history: EstateHistory = field(default_factory=EstateHistory)
    declarations: DeclaredManifests = DeclaredManifests()  # noqa: RUF009 - a tuple
    forge: Forge | None = None  # None if the repository has no pages
    unread: str = ""  # why its status cannot be read, "" if it was

    @property
    def revision(self) -> str:
        return self.state.revision or ""
