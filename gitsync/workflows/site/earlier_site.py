"""The history that an earlier site in the same folder has, so that only the commits since then are read.

Its files may be anyone's: they count only if they are as this version of gitsync has written them, and what they hold
has the form of a history. Whether the status branch still has the commit, the reader of the branch finds out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, Final, NamedTuple, cast, get_args, get_type_hints

import gitsync
from gitsync.model.verdict import OUTSIDE_WORD
from gitsync.report.site.data_files import decode_data, name_data_file
from gitsync.report.site.shapes import FORMAT, DriftShape, EventKind, History, RunShape
from gitsync.workflows.site.chronicle import Chronicle

_KINDS: Final = frozenset(get_args(EventKind))

Read = Callable[[str], bytes | None]
"""Reads a file of the site by its path; None if it has none. ValueError for one that is not as gitsync wrote it."""


class EarlierHistory(NamedTuple):
    """The history of a target up to a commit."""

    chronicle: Chronicle
    commit: str  # "" for an empty history
    time: str  # of the commit
    notes: tuple[str, ...] = ()  # of the card of the target


def read_earlier(read: Read, target: str) -> EarlierHistory:
    """Read the history of a target, by its id; an empty one if the site has none that counts."""
    try:
        return _read(read, target)
    except (ValueError, LookupError, TypeError, AttributeError):
        return EarlierHistory(Chronicle(target), "", "")


def _read(read: Read, target: str) -> EarlierHistory:
    site = _decode(read, "site")
    # Another version may have counted or worded events in another way, and a history must be of one kind.
    if (site["format"], site["version"]) != (FORMAT, gitsync.__version__):
        raise ValueError("of another version")
    # A site without the target leads to a LookupError below, and so to an empty history.
    card = next(card for card in (*site["targets"], {}) if card.get("id") in {target, None})
    runs = [run for month in reversed(site["months"]) for run in _read_runs(read, month) if run["target"] == target]
    last = runs[-1]
    # A write that was cut short leaves files of two moments.
    if last["commit"] != card["commit"]:
        raise ValueError("not of one moment")
    drift = _decode(read, "drift")
    open_drift = [_check_drift(each) for each in reversed(drift["open"]) if each["target"] == target]
    chronicle = Chronicle(
        target,
        histories=dict(_read_histories(read, target)),
        runs=runs,
        open={(each["key"], each["verdict"] == OUTSIDE_WORD): each for each in open_drift},
        past=[_check_drift(each) for each in reversed(drift["past"]) if each["target"] == target],
        days={str(day): (int(total), int(drifted), int(failed)) for day, total, drifted, failed in card["days"]},
    )
    return EarlierHistory(chronicle, last["commit"], last["at"], tuple(map(str, card["notes"])))


def _decode(read: Read, name: str) -> Any:
    content = read(name_data_file(name))
    if content is None:
        raise ValueError(f"there is no {name}")
    return decode_data(name, content)


def _read_runs(read: Read, month: str) -> list[RunShape]:
    """Read the runs of a month, oldest first."""
    return [_check_run(run) for run in reversed(_decode(read, f"activity/{month}")["runs"])]


def _read_histories(read: Read, target: str) -> Iterator[tuple[str, list[History]]]:
    """Read the histories of all resources, each oldest first."""
    for number in count():
        name = f"history/{target}/{number}"
        if read(name_data_file(name)) is None:
            return
        for key, history in _decode(read, name).items():
            yield key, [_check_event(event) for event in reversed(history)]


def _check_event(event: Any) -> History:
    time, commit, kind, text = event
    if kind not in _KINDS or not all(isinstance(part, str) for part in event):
        raise ValueError("not an event")
    return time, commit, kind, text


def _check_run(run: Any) -> RunShape:
    if run.keys() != get_type_hints(RunShape).keys():
        raise ValueError("not a run")
    texts = ("at", "commit", "target", "revision", "command", "agent", "headline")
    _check_texts(run[name] for name in texts)
    outcomes = [(str(name), int(number)) for name, number in run["outcomes"]]
    changed = [(str(key), kind, str(text)) for key, kind, text in run["changed"]]
    events = [(kind, int(number)) for kind, number in run["events"]]
    exit_code = None if run["exitCode"] is None else int(run["exitCode"])
    if not {*(kind for _, kind, _ in changed), *(kind for kind, _ in events)} <= _KINDS:
        raise ValueError("not a run")
    known = {"outcomes": outcomes, "changed": changed, "exitCode": exit_code, "events": events}
    return cast("RunShape", {**run, **known})


def _check_drift(drift: Mapping[str, Any]) -> DriftShape:
    if drift.keys() != get_type_hints(DriftShape).keys():
        raise ValueError("not a drift")
    _check_texts(value for name, value in drift.items() if name != "fields")
    _check_texts(drift["fields"])
    return cast("DriftShape", {**drift, "fields": list(drift["fields"])})


def _check_texts(values: Any) -> None:
    if not all(isinstance(value, str) for value in values):
        raise ValueError("not a text")
