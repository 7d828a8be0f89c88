"""Reads one status for the site: its records, the report of the last run, the heartbeats, and what happened since an
earlier site.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from gitsync.desired.formats.strict_json import read_json
from gitsync.errors import SourceError
from gitsync.model.gvk import GVK, Key
from gitsync.model.record import State
from gitsync.report.hidden_people import leave_out_of_record
from gitsync.report.html.links import find_forge
from gitsync.report.site.declared import DeclaredManifests
from gitsync.report.site.estate import EstateHistory, EstateName, SiteEstate
from gitsync.repository.git.source.checkout import Checkout, find_repository
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.repository.git.state.store_choice import DEFAULT_BRANCH, DEFAULT_FOLDER
from gitsync.workflows.site.chronicle import Chronicle
from gitsync.workflows.site.earlier_site import Read, read_earlier
from gitsync.workflows.site.histories import follow

Store = StatusBranch | StatusFolder

_NOT_IN_AN_ID: Final = re.compile(r"[^a-z0-9]+")
_LONGEST_ID: Final = 60


class StatusLocation(NamedTuple):
    """Where a status is."""

    repository: str  # host and path of the remote, "" for none
    folder: str  # the name of the local folder, "" for a URL
    branch: str  # of the status, "" for a folder


def locate_status(source: Checkout, store: Store) -> StatusLocation:
    """Find where a status is."""
    folder = source.folder.name if source.folder else ""
    branch = store.branch if isinstance(store, StatusBranch) else ""
    return StatusLocation(find_repository(source), folder, branch)


def make_unread(name: EstateName, why: str) -> SiteEstate:
    """Make the estate of a status that cannot be read."""
    return SiteEstate(name=name, state=State({}), unread=why)


def name_estates(locations: Sequence[StatusLocation]) -> list[EstateName]:
    """Name estates so that each id is another, and stays the same beside other estates where it can."""
    names: list[EstateName] = []
    for location in locations:
        source = _find_source(location)
        title = source.rpartition("/")[2]
        # Several environments of one repository have status branches of their own.
        if location.branch not in {"", DEFAULT_BRANCH}:
            title = f"{title} ({location.branch})"
        taken = {name.id for name in names}
        plain = _NOT_IN_AN_ID.sub("-", title.casefold()).strip("-")[:_LONGEST_ID] or "estate"
        free = next(id_ for id_ in _number(plain) if id_ not in taken)
        titles = {name.title for name in names}
        names.append(
            EstateName(
                id=free,
                title=next(text for text in (title, source, f"{title} [{free}]") if text not in titles),
                source=source,
                branch=location.branch or DEFAULT_FOLDER,
            )
        )
    return names


def _find_source(location: StatusLocation) -> str:
    """Find what to call a repository. The path of a folder may have the name of a person."""
    if not location.repository or location.repository.startswith("/"):
        return (location.repository.rstrip("/").rpartition("/")[2] or location.folder).removesuffix(".git") or "estate"
    return location.repository


def _number(text: str) -> Iterator[str]:
    yield text
    for number in range(2, 1_000_000):
        yield f"{text}-{number}"


def read_estate(
    store: Store, name: EstateName, remote: str, read: Read, declare: Callable[[State], DeclaredManifests]
) -> SiteEstate:
    """Read one status. `remote` is the URL of its repository, `read` reads the earlier site, `declare` the manifests of
    the records. StateError if it cannot be read.
    """
    state = _leave_out_people(store.load())
    report = _read_report(store)
    return SiteEstate(
        name=name,
        state=state,
        commit=store.commit if isinstance(store, StatusBranch) else "",
        heartbeats=store.read_heartbeats(),
        report={member: value for member, value in report.items() if member != "resources"},
        entries=_index_entries(report.get("resources")),
        history=_read_history(store, state, name.id, read),
        declarations=declare(state),
        forge=find_forge(remote),
    )


def _leave_out_people(state: State) -> State:
    """Leave names of people out of conditions: an earlier version, or somebody else, may have written them."""
    hidden = ((key, leave_out_of_record(record)) for key, record in state.records.items())
    return replace(state, records={key: record for key, record in hidden if record})


def _read_report(store: Store) -> Mapping[str, Any]:
    """Read the report of the last run; empty if it cannot be read: it is for people."""
    try:
        report = read_json(store.read_report() or b"{}")
    except (ValueError, SourceError):
        return {}
    return report if isinstance(report, dict) else {}


def _index_entries(resources: Any) -> Mapping[Key, Mapping[str, Any]]:
    """Find the entry of each resource that differs, or is not compared in full."""
    found: dict[Key, Mapping[str, Any]] = {}
    for entry in resources if isinstance(resources, list) else ():
        try:
            if entry["differences"] or entry.get("outside") or entry["unverified"]:
                group = GVK.parse(entry["apiVersion"], entry["kind"]).group
                lists = {name: _read_list(entry.get(name)) for name in ("differences", "outside")}
                found[Key(group, entry["kind"], entry["namespace"], entry["name"])] = {**entry, **lists}
        # An entry of another form must not take the others with it.
        except (LookupError, TypeError, AttributeError):
            continue
    return found


def _read_list(value: Any) -> Sequence[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _read_history(store: Store, state: State, target: str, read: Read) -> EstateHistory:
    if not isinstance(store, StatusBranch):
        return EstateHistory(notes=("The status is in a folder, so it has no history.",))
    earlier = read_earlier(read, target)
    log = store.read_log(earlier.commit, earlier.time)
    # A rewritten branch has another history, and the earlier one would contradict it.
    chronicle = earlier.chronicle if log.continues else Chronicle(target)
    follow(log, chronicle, state.records.values())
    is_cut = log.is_cut or (log.continues and CUT in earlier.notes)
    return EstateHistory(
        histories=chronicle.histories,
        runs=chronicle.runs,
        open=list(chronicle.open.values()),
        past=chronicle.past,
        days=chronicle.days,
        notes=(CUT,) if is_cut else (),
    )


CUT: Final = "The history before the first commit was not read: the repository is shallow."
"""Which an earlier site notes too."""
