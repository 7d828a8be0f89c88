"""What a history needs of `report.json`: the run, and how each resource was found that was found otherwise before.

A report has a line for each resource, and most lines are those of the report before it. So only the others are parsed:
the reports of 2,000 runs over 1,000 resources have two million lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from gitsync.desired.formats.strict_json import read_json
from gitsync.model.clock import read_time
from gitsync.model.gvk import GVK, Key
from gitsync.model.result import Outcome
from gitsync.model.verdict import DRIFTED, Action, Verdict

MOST_FIELDS: Final = 20
_RESOURCE: Final = b'    {"apiVersion": '
_MEMBER: Final = re.compile(rb'  "(command|revision|target|finished|exitCode|headline|outcomes)": (.*?),?')


class Found(NamedTuple):
    """How a run found a resource in Azure."""

    key: Key
    verdict: str  # drifted, missing or conflict; "" for none of them
    is_repaired: bool  # the run has written git's values over it
    since: str  # when Azure changed by its own log, "" if that is not known
    fields: tuple[str, ...]  # JSON pointers of what differs, the first of many
    outside: tuple[str, ...]  # those of changes outside of git


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """A run, as far as its report shows it."""

    members: Mapping[str, Any]  # of the document: command, revision, target, finished, exitCode, headline, outcomes
    found: tuple[Found, ...]  # the resources whose line is not that of the report before

    def read_text(self, name: str) -> str:
        """Read a member that is a text, "" if it is none."""
        value = self.members.get(name)
        return value if isinstance(value, str) else ""

    @property
    def agent(self) -> str:
        target = self.members.get("target")
        agent = target.get("agent") if isinstance(target, Mapping) else None
        return agent if isinstance(agent, str) else ""

    @property
    def exit_code(self) -> int | None:
        code = self.members.get("exitCode")
        return code if isinstance(code, int) else None

    @property
    def outcomes(self) -> list[tuple[str, int]]:
        counts = self.members.get("outcomes")
        pairs = counts.items() if isinstance(counts, Mapping) else ()
        return [(name, count) for name, count in pairs if isinstance(count, int) and count]


class ReportReader:
    """Reads reports in the order of their runs."""

    def __init__(self) -> None:
        self._before: frozenset[bytes] = frozenset()

    def skip(self, content: bytes | None) -> None:
        """Take a report as the one before the next."""
        self._before = frozenset(_list_lines(content or b""))

    def read(self, content: bytes | None) -> RunReport | None:
        """Read the next report; None for what is none: it is for people and pages alone."""
        if content is None:
            return None
        lines = _list_lines(content)
        now = frozenset(lines)
        try:
            members, entries = self._read_lines(content, lines)
            # The layout of the lines is not that of this version, so nothing was found by it.
            if not members or (not lines and b'"resources": []' not in content):
                members, entries = _read_otherwise(content)
            found = tuple(_read_entry(entry) for entry in entries)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return None
        # Only now: after a report that cannot be read, the next one is compared with the one before both.
        self._before = now
        return RunReport(members=members, found=found)

    def _read_lines(self, content: bytes, lines: Iterable[bytes]) -> tuple[Mapping[str, Any], list[Any]]:
        """Read the members of a report, and the lines of resources that the one before does not have."""
        matches = (_MEMBER.fullmatch(line) for line in content.splitlines() if line.startswith(b'  "'))
        members = {match[1].decode(): json.loads(match[2]) for match in matches if match}
        return members, [json.loads(line) for line in lines if line not in self._before]


def _list_lines(content: bytes) -> list[bytes]:
    return [line.rstrip(b",") for line in content.splitlines() if line.startswith(_RESOURCE)]


def _read_otherwise(content: bytes) -> tuple[Mapping[str, Any], list[Any]]:
    """Read a report that has another layout: that of an earlier version."""
    document = read_json(content)
    if not isinstance(document, dict):
        raise TypeError("not an object")
    return document, document["resources"]


def _read_entry(entry: Mapping[str, Any]) -> Found:
    group = GVK.parse(entry["apiVersion"], entry["kind"]).group
    key = Key(group, entry["kind"], entry["namespace"], entry["name"])
    hold = entry.get("hold") or {}
    verdict = hold.get("verdict", entry["verdict"]) if entry["verdict"] == Verdict.HELD else entry["verdict"]
    is_drifted = verdict in DRIFTED
    # What the run itself has restored is over.
    outside = sorted(str(change["path"]) for change in entry.get("outside", ()) if "restored" not in change)
    return Found(
        key=key,
        verdict=str(verdict) if is_drifted else "",
        is_repaired=is_drifted and entry["action"] != Action.NONE and entry["outcome"] == Outcome.CHANGED,
        since=min((change["at"] for change in entry.get("changedBy", ()) if read_time(change["at"])), default=""),
        fields=tuple(str(each["path"]) for each in entry["differences"][:MOST_FIELDS]) if is_drifted else (),
        outside=tuple(outside[:MOST_FIELDS]),
    )
