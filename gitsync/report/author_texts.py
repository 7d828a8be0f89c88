"""Writes the words of all forms of a report for who changed resources in Azure (docs/how-to/drift.md).

Names of people are personal data: a form shows them only with `names`, and `a person` otherwise. Names are also text
from Azure: each is one short line, which `quote` makes code where the form has markup.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from gitsync.desired.formats.name_list import name_first
from gitsync.model.attribution import A_PERSON, Attribution, AuthorKind
from gitsync.model.gvk import Key
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.report.differences import list_changes, name_path
from gitsync.report.escape import shorten
from gitsync.report.wording import format_plural, shorten_revision
from gitsync.settings.logging import escape_controls

Quote = Callable[[str], str]

_MOST_CHANGES: Final = 5  # of one resource
_MOST_FIELDS: Final = 3  # of one change
_MOST_AUTHORS: Final = 5  # in a summary
_MANY: Final = 3  # resources by one author, which are worth a line in a summary
_FEW: Final = 2  # resources that a sentence names
_LONGEST: Final = 100  # characters of a name
LONGEST_DOUBT: Final = 400  # characters; it may quote Azure
_DELETE: Final = "/delete"
_NAMELESS: Final = frozenset({AuthorKind.AZURE, AuthorKind.GITSYNC})  # one author each, without a name
_MINUTE = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)")
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def list_authors(result: Result, *, names: bool = False, quote: Quote = str) -> list[str]:
    """List who changed a resource in Azure, a line for each change that is known, the newest first."""
    changes = [change for change in result.changed_by if not change.doubt]
    outside = [change.path for change in result.comparison.outside]
    differing = {*(difference.path for difference in result.differences), *outside}
    lines = []
    for change in changes[:_MOST_CHANGES]:
        # The fields of a change are named where others have changed other ones.
        is_all = differing <= set(change.paths)
        fields = [] if is_all else [part.name for part in list_changes(result, only=change.paths)]
        fields += [name_path(result, path) for path in outside if path in change.paths and not is_all]
        lines.append(format_change(change, fields=fields, names=names, quote=quote))
    more = len(changes) - _MOST_CHANGES
    return [*lines, *([f"… and {format_plural(more, 'earlier change')}; report.json has all."] if more > 0 else [])]


def format_change(
    change: Attribution, *, fields: list[str] | None = None, names: bool = False, quote: Quote = str
) -> str:
    """Format who made one change, with what and when: `Changed by rob@contoso.com with Azure Portal, 2026-11-23 22:41
    UTC (correlation …)`. `fields` are those that it changed, if that needs a word.
    """
    time = _format_span([change.at])
    shown = name_first([quote(clean(field)) for field in fields or ()], _MOST_FIELDS)
    # Azure gives the id of zeros to what it did by itself: no row of the activity log has it.
    has_id = change.correlation_id.strip("0-")
    correlation = f" (correlation {quote(clean(change.correlation_id))})" if has_id else ""
    done = _format_deed(change, names=names, quote=quote)
    return f"{done}{time}{': ' if shown else ''}{shown}{correlation}"


def format_creation(change: Attribution, *, names: bool = False, quote: Quote = str) -> str:
    """Format the author and the time of a creation, as far as they are known: `created by rob@contoso.com, 2026-11-23
    22:41 UTC`; "" if nothing is.
    """
    time = _format_span([change.at])
    if change.author is AuthorKind.UNKNOWN:
        return f"created{time.replace(',', '', 1)}" if time else ""
    return f"created by {format_author(change, names=names, quote=quote)}{time}"


def _format_deed(change: Attribution, *, names: bool, quote: Quote) -> str:
    """Format what was done, and who did it."""
    return f"{'Deleted' if _is_delete(change) else 'Changed'} by {format_author(change, names=names, quote=quote)}"


def format_author(change: Attribution, *, names: bool, quote: Quote = str) -> str:
    """Format who made a change, and with what."""
    change = change if names else change.hide_name()
    name, label, client = (quote(clean(text)) for text in (change.name, change.label, change.client))
    # The id of a client without a known name needs a word before it.
    tool = f" with {'the client ' if _GUID.fullmatch(change.client) else ''}{client}" if client else ""
    commit = f" (commit {quote(shorten_revision(change.commit))})" if change.commit else ""
    application = f"the application {label or name}" if label or name else "an application"
    if label and name:
        application = f"the application {label} ({name})"
    assignment = quote(clean(change.label or change.name.rpartition("/")[2]))
    authors = {
        AuthorKind.PERSON: f"{name or A_PERSON}{tool}",
        AuthorKind.APPLICATION: f"{application}{tool}",
        AuthorKind.POLICY: f"the policy assignment {assignment}" if assignment else "a policy",
        AuthorKind.AZURE: "Azure itself",
        AuthorKind.GITSYNC: f"gitsync{commit}",
        AuthorKind.UNKNOWN: f"an author that Azure has not named{tool}",
    }
    return authors[change.author]


def find_authors(result: Result) -> tuple[Attribution, ...]:
    """Find who changed a resource in Azure, each once and without when, the last one first."""
    return tuple(dict.fromkeys(_leave_out_event(change) for change in result.changed_by if not change.doubt))


def list_common_authors(results: Sequence[Result], *, names: bool = False, quote: Quote = str) -> list[str]:
    """List who changed resources that have the same authors, a line for each, with when the first and the last of them
    was changed.
    """
    lines = []
    for author in find_authors(results[0]):
        changes = (change for result in results for change in result.changed_by if not change.doubt)
        times = [change.at for change in changes if _leave_out_event(change) == author]
        lines.append(f"{_format_deed(author, names=names, quote=quote)}{_format_span(times)}")
    return lines


def _leave_out_event(change: Attribution) -> Attribution:
    """Leave out of a change what differs each time that the same author makes it."""
    # A delete stays apart from changes, since its words differ.
    operation = _DELETE if _is_delete(change) else ""
    return replace(change, at="", correlation_id="", paths=(), source=None, operation=operation)


def _is_delete(change: Attribution) -> bool:
    return change.operation.casefold().endswith(_DELETE)


def clean(text: str, most: int = _LONGEST) -> str:
    """Make one short line of a text from Azure, which may be anything."""
    return shorten(escape_controls(" ".join(text.split())), most)


def _format_span(times: list[str]) -> str:
    """Format from when until when these times (RFC 3339, UTC) are, to the minute, after a comma; "" if none is one."""
    known = [found for found in map(_MINUTE.match, sorted(times)) if found]
    if not known:
        return ""
    first, last = known[0], known[-1]
    end = "" if first[0] == last[0] else f" to {last[2]}" if first[1] == last[1] else f" to {last[1]} {last[2]}"
    return f", {first[1]} {first[2]}{end} UTC"


def list_busy_authors(report: Report, *, names: bool = False, quote: Quote = str) -> list[str]:
    """List the authors of many changes, the busiest first: a line for each, with how many and when."""
    times: defaultdict[Attribution, list[str]] = defaultdict(list)
    keys: defaultdict[Attribution, set[Key]] = defaultdict(set)
    for result in report.results:
        for change in result.changed_by:
            # Changes without a name may be of several authors.
            if not change.doubt and (change.name or change.author in _NAMELESS):
                author = _leave_out_event(change)
                times[author].append(change.at)
                keys[author].add(result.key)
    busy = [author for author in keys if len(keys[author]) >= _MANY]
    lines = []
    # Ties have one order, so that equal reports are equal bytes.
    for author in sorted(busy, key=lambda author: (-len(keys[author]), min(times[author]), min(keys[author])))[
        :_MOST_AUTHORS
    ]:
        count = format_plural(len(keys[author]), "resource")
        lines.append(f"{_format_deed(author, names=names, quote=quote)}: {count}{_format_span(times[author])}.")
    return lines


class Doubt(NamedTuple):
    """Resources of which it is not known who changed them, for one reason."""

    reason: str
    keys: tuple[Key, ...]

    @property
    def subject(self) -> str:
        return "who changed it"

    @property
    def text(self) -> str:
        few = ", ".join(f"{key.kind}/{key.name}" for key in self.keys) if len(self.keys) <= _FEW else ""
        return f"Who changed it is not known ({few or format_plural(len(self.keys), 'resource')}): {self.reason}"


def list_doubts(report: Report) -> list[Doubt]:
    """List why it is not known who changed resources, each reason once; what concerns most resources first."""
    keys: defaultdict[str, set[Key]] = defaultdict(set)
    for result in report.results:
        for change in result.changed_by:
            if change.doubt:
                keys[clean(change.doubt, LONGEST_DOUBT)].add(result.key)
    rows = [Doubt(reason, tuple(sorted(found))) for reason, found in keys.items()]
    return sorted(rows, key=lambda row: (-len(row.keys), row.reason))
