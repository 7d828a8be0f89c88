"""The text of a notification: the state of the estate in a few words, what it was before, the target, counts and a
link.

It contains no names of people and no texts from Azure: it may go to a channel that many read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import date
from typing import Final, NamedTuple

from gitsync.model.gvk import Key
from gitsync.model.record import Record
from gitsync.model.report import Report
from gitsync.model.result import Outcome, Result
from gitsync.model.verdict import DRIFTED, Action
from gitsync.report.author_texts import clean
from gitsync.report.headline import format_headline
from gitsync.report.wording import shorten_revision
from gitsync.settings.config.hosts import find_job_url

WELL: Final = "all is well"

_DRIFTED, _FAILED, _OUTSIDE, _DUE = "drifted", "failed", "outside", "due"
_LONGEST = 300  # characters of a line
_WORDS: Final[Mapping[str, str]] = {
    _FAILED: "something failed",
    _DRIFTED: "resources had drifted",
    _OUTSIDE: "values changed outside of git",
    _DUE: "a hold has ended, and its changes are due",
}
"""What each word of a state means, in their order in the message."""

_DIGITS: Final = 8  # of the digest behind a word


class Message(NamedTuple):
    title: str
    body: str


def find_state(report: Report, before: Mapping[Key, Record], today: date) -> str:
    """Return the words for the state of the estate, in their order and with commas; "" if all is well. `before` are the
    records of earlier runs.
    """
    found = set()
    for result in report.results:
        if result.outcome is Outcome.FAILED:
            found.add(_FAILED)
        # Drift counts also if the run has reverted it: somebody should know that there was some.
        if result.found in DRIFTED and result.manifest.hold is None:
            found.add(_DRIFTED)
        if _is_due(result, before.get(result.key), today):
            found.add(_DUE)
    changed = [
        f"{result.key} {change.path}"
        for result in report.results
        for change in result.comparison.outside
        if result.manifest.hold is None
    ]
    # Changes outside of git stay until somebody decides, so their word has a digest of what they are: one more is
    # another state.
    digest = hashlib.sha256("\n".join(sorted(changed)).encode("utf-8", "replace")).hexdigest()[:_DIGITS]
    state = {word: word for word in found} | ({_OUTSIDE: f"{_OUTSIDE}:{digest}"} if changed else {})
    return ", ".join(state[word] for word in _WORDS if word in state)


def _is_due(result: Result, record: Record | None, today: date) -> bool:
    """Return whether a hold has ended that left something to be done."""
    has_ended = record is not None and record.manifest.hold is not None and not record.manifest.hold.lasts(today)
    return has_ended and result.manifest.hold is None and result.action is not Action.NONE


def make_message(state: str, before: str, report: Report, variables: Mapping[str, str]) -> Message:
    """Make the message of a change from one state to another. `variables` is the environment, which has the page of the
    job in a pipeline.
    """
    target = report.target
    revision = shorten_revision(target.revision)
    words = _name_words(state)
    meaning = "; ".join(_WORDS[word] for word in words) or WELL
    weakening = sum(bool(change.weakens) for result in report.results for change in result.comparison.outside)
    lines = [
        f"{meaning[:1].upper()}{meaning[1:]}. Before: {', '.join(_name_words(before)) or WELL}.",
        format_headline(report),
        f"Changes outside of git that weaken the estate: {weakening}" if weakening else "",
        f"Source: {target.repository} at {revision}" if target.repository else f"Revision: {revision}",
        f"Subscription: {target.subscription}" if target.subscription else "",
        f"Agent: {target.agent}" if target.agent else "",
        find_job_url(variables),
    ]
    body = "\n".join(clean(line, _LONGEST) for line in lines if line)
    return Message(f"gitsync: {', '.join(words) or WELL}", body)


def _name_words(state: str) -> list[str]:
    """List the words of a state without digests."""
    return [word.partition(":")[0] for word in state.split(", ") if word]
