"""What git does not have, as text, Markdown and JSON."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple

from gitsync.desired.formats.arm_path import name_resource
from gitsync.desired.formats.json_members import read_mapping, read_text
from gitsync.errors import ExitCode
from gitsync.model.arm_id import ArmId
from gitsync.model.attribution import Attribution
from gitsync.report.author_texts import clean, format_creation
from gitsync.report.escape import format_block, format_code, shorten
from gitsync.report.json import build_change
from gitsync.report.markdown import select_fitting
from gitsync.report.metrics import MANAGED, UNMANAGED
from gitsync.report.progress import Figures
from gitsync.report.wording import format_plural
from gitsync.workflows.unmanaged.subscription_scope import ASSIGNMENTS
from gitsync.workflows.unmanaged.unmanaged_search import Estate, Stray

BY_LISTS: Final = "lists"
BY_GRAPH: Final = "resource-graph"

_LATE: Final = (
    "Resource Graph may be hours late, and has neither children nor extension resources. Run without --fast for all."
)
_ROOM: Final = 50_000  # characters of a table, since a comment has at most 65,536
_LONGEST: Final = 200  # characters of a name
_MOST_IDS: Final = 20  # in a command: the next search names the others


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmanagedReport:
    """What a search for unmanaged resources found."""

    source: str
    scopes: Mapping[str, Sequence[str]]  # the groups that were looked into, by subscription
    estate: Estate
    creations: Mapping[ArmId, Attribution]  # one of each stray, by ARM id
    doubts: tuple[str, ...] = ()  # sentences on why the author is not known
    without_id: tuple[str, ...] = ()  # manifests without an ARM id
    requests: int  # the number of those that were sent
    limit: int | None = None  # the number of strays above which the exit code is not 0; None for no limit

    @property
    def managed(self) -> int:
        """How many of the resources in the scope git has."""
        return sum(self.estate.managed.values())

    @property
    def share(self) -> float:
        """The share of the resources in the scope that git has; 1 if there are none."""
        total = self.managed + len(self.estate.strays)
        return self.managed / total if total else 1.0

    @property
    def exit_code(self) -> ExitCode:
        """FAILED if something could not be read: there may be more than was found."""
        # Before the limit: a search that could not see all must not pass as below it.
        if self.estate.gaps:
            return ExitCode.FAILED
        is_above = self.limit is not None and len(self.estate.strays) > self.limit
        return ExitCode.DRIFT if is_above else ExitCode.FINE


def join_estates(estates: Sequence[Estate]) -> Estate:
    """Join what was found in several subscriptions."""
    managed: Counter[str] = Counter()
    for estate in estates:
        managed.update(estate.managed)
    return Estate(
        strays=tuple(stray for estate in estates for stray in estate.strays),
        managed=dict(sorted(managed.items())),
        left_out=tuple(sorted({left for estate in estates for left in estate.left_out})),
        unread=tuple(sorted({line for estate in estates for line in estate.unread})),
        gaps=tuple(sorted({line for estate in estates for line in estate.gaps})),
        closed=sum(estate.closed for estate in estates),
    )


class Assigned(NamedTuple):
    """What a role assignment grants."""

    role: str  # its name or id
    principal_type: str  # such as "Group"
    principal_id: str
    scope: str  # an ARM id


def read_assignment(stray: Stray) -> Assigned | None:
    """Read what a role assignment grants, as far as Azure showed it; None for any other resource."""
    if stray.arm_type != ASSIGNMENTS:
        return None
    properties = read_mapping(stray.body, "properties")
    role = stray.role or read_text(properties, "roleDefinitionId").rpartition("/")[2]
    kind, principal = read_text(properties, "principalType"), read_text(properties, "principalId")
    return Assigned(role, kind, principal, stray.arm_id.parent)


def _name(stray: Stray) -> str:
    """Name a stray; a role assignment by who has which role where, since its own name has no meaning."""
    assigned = read_assignment(stray)
    if assigned is None or not (assigned.role and assigned.principal_id):
        return clean(name_resource(stray.arm_id))
    is_root = assigned.scope.count("/") == 2  # /subscriptions/S
    scope = "the subscription" if is_root else name_resource(assigned.scope)
    principal = f"{assigned.principal_type or 'principal'} {assigned.principal_id}"
    return clean(f"{assigned.role} for {principal} on {scope}")


def _locate(stray: Stray) -> str:
    """Name the group of a stray, or the subscription that it is directly in."""
    return clean(stray.group or f"subscription {stray.arm_id.subscription}")


def _group(strays: Iterable[Stray]) -> list[tuple[tuple[str, str], list[tuple[str, list[Stray]]]]]:
    """Group strays by the id and the name of their resource group, and those by kind."""
    by_group: defaultdict[tuple[str, str], list[Stray]] = defaultdict(list)
    for stray in strays:
        # Groups of several subscriptions may have the same name.
        folder = "/".join(stray.arm_id.split("/")[: 5 if stray.group else 3])
        by_group[folder.casefold(), _locate(stray)].append(stray)

    def order(stray: Stray) -> tuple[str, str]:
        return stray.label, stray.arm_id.key

    return [
        (group, [(label, list(same)) for label, same in groupby(sorted(inside, key=order), lambda stray: stray.label)])
        for group, inside in sorted(by_group.items())
    ]


def list_imports(report: UnmanagedReport) -> list[str]:
    """List the commands that write manifests of the strays: one for each group, and one for what is directly in a
    subscription, by its ids. What has a manifest is skipped.
    """
    groups: dict[tuple[str, str], str] = {}
    by_id: defaultdict[str, list[str]] = defaultdict(list)
    for stray in report.estate.strays:
        if stray.kind and not stray.group:
            by_id[stray.arm_id.split("/")[2]].append(shlex.quote(stray.arm_id))
        elif stray.kind:
            subscription = stray.arm_id.split("/")[2]
            named = f" --subscription {shlex.quote(subscription)}" if len(report.scopes) > 1 else ""
            command = f"gitsync import --resource-group {shlex.quote(stray.group)}{named} --out azure"
            groups.setdefault((subscription.casefold(), stray.group.casefold()), command)
    direct = [f"gitsync import {' '.join(ids[:_MOST_IDS])} --out azure" for _, ids in sorted(by_id.items())]
    return [*(groups[key] for key in sorted(groups)), *direct]


def format_lines(report: UnmanagedReport, *, names: bool) -> Iterator[str]:
    """Format the report as text; with names of people if `names`."""
    for (_, group), kinds in _group(report.estate.strays):
        yield f"{group}:"
        for label, strays in kinds:
            yield f"  {clean(label)}{'' if strays[0].kind else ' (gitsync cannot manage this type)'}"
            width = max(len(_name(stray)) for stray in strays)
            for stray in strays:
                created = format_creation(report.creations[stray.arm_id], names=names)
                yield f"    {_name(stray):<{width}}  {created}".rstrip()
        yield ""
    yield from _format_list("To write manifests for them:", list_imports(report))
    counts = Counter(left.reason for left in report.estate.left_out)
    yield from _format_list("Left out:", [f"{count:>5}  {reason}" for reason, count in sorted(counts.items())])
    for title, lines in _list_notes(report):
        yield from _format_list(title, lines)
    shares = [row for row in _list_kinds(report) if row[1] < row[2]]
    width = max((len(label) for label, _, _ in shares), default=0)
    rows = [f"{label:<{width}}  {count} of {total}" for label, count, total in shares]
    yield from _format_list("Git has:", rows)
    yield _format_summary(report)


def _format_list(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield title
        yield from (f"  {line}" for line in lines)
        yield ""


def _list_notes(report: UnmanagedReport) -> list[tuple[str, Sequence[str]]]:
    """List what limits the findings, by title."""
    unseen = [_LATE] if report.source == BY_GRAPH else []
    if report.estate.closed:
        groups = format_plural(report.estate.closed, "resource group")
        unseen.append(
            f"The content of {groups} not in git is not listed. Name one with --resource-group, or '*' for all."
        )
    return [
        ("Could not be read, so there may be more:", report.estate.gaps),
        ("Not read; --full reads all:", report.estate.unread),
        ("Manifests without an ARM id; their resources may be listed above:", report.without_id),
        ("The creator is not known for some resources:", report.doubts),
        ("Limits of this search:", unseen),
    ]


def _list_kinds(report: UnmanagedReport) -> list[tuple[str, int, int]]:
    """List all kinds in the scope: how many git has, of how many."""
    strays, managed = Counter(stray.label for stray in report.estate.strays), report.estate.managed
    labels = sorted({*strays, *managed})
    return [(label, managed.get(label, 0), managed.get(label, 0) + strays[label]) for label in labels]


def _format_summary(report: UnmanagedReport) -> str:
    total = report.managed + len(report.estate.strays)
    groups = format_plural(sum(map(len, report.scopes.values())), "resource group")
    share = f"{int(report.share * 100)} %"  # not rounded up: 100 % are all
    strays = format_plural(len(report.estate.strays), "resource")
    known = f"Git has {report.managed} of {format_plural(total, 'resource')} in {groups} ({share})"
    return f"{strays} not in git. {known}; {format_plural(report.requests, 'request')}."


def list_figures(report: UnmanagedReport) -> Figures:
    """List what is counted for metrics."""
    kinds = _list_kinds(report)
    return {
        MANAGED: [((label,), count) for label, count, _ in kinds],
        UNMANAGED: [((label,), total - count) for label, count, total in kinds],
    }


def format_markdown(report: UnmanagedReport, *, names: bool) -> str:
    """Format the report as Markdown, for the summary of a job. All names are code, since they may be anything."""

    def format_row(group: str, label: str, stray: Stray) -> str:
        created = format_creation(report.creations[stray.arm_id], names=names, quote=format_code)
        cells = [format_code(shorten(text, _LONGEST)) for text in (group, label, _name(stray))]
        return f"| {' | '.join([*cells, created])} |"

    rows = [
        format_row(group, label, stray)
        for (_, group), kinds in _group(report.estate.strays)
        for label, strays in kinds
        for stray in strays
    ]
    parts = [f"### {_format_summary(report)}"]
    if rows:
        fitting = select_fitting(rows, _ROOM, "resource")
        # The note on what does not fit is not a row of the table.
        more = [] if fitting[-1].startswith("|") else ["", fitting.pop()]
        parts.append("\n".join(["| Group | Kind | Name | Created |", "|---|---|---|---|", *fitting, *more]))
    if commands := list_imports(report)[:20]:
        parts.append(format_block(commands, "sh"))
    for title, lines in _list_notes(report):
        if lines:
            parts.append("\n".join([title, "", *(f"- {format_code(shorten(line, _LONGEST))}" for line in lines[:20])]))
    return "\n\n".join(parts) + "\n"


def build_document(report: UnmanagedReport, *, names: bool) -> dict[str, Any]:
    """Build the report as plain JSON; with names of people if `names`."""
    return {
        "source": report.source,
        "scopes": [{"subscription": id_, "groups": list(groups)} for id_, groups in sorted(report.scopes.items())],
        "unmanaged": len(report.estate.strays),
        "managed": report.managed,
        "share": round(report.share, 4),
        "kinds": [
            {"kind": label, "managed": count, "unmanaged": total - count} for label, count, total in _list_kinds(report)
        ],
        "resources": [
            {
                "armId": stray.arm_id,
                "type": stray.arm_type,
                "kind": stray.kind or None,
                "resourceGroup": stray.group,
                **_build_assignment(stray),
                "created": build_change(report.creations[stray.arm_id], names=names),
            }
            for stray in report.estate.strays
        ],
        "imports": list_imports(report),
        "leftOut": [{"reason": left.reason, "subject": left.subject} for left in report.estate.left_out],
        "unread": list(report.estate.unread),
        "gaps": list(report.estate.gaps),
        "withoutId": list(report.without_id),
        "doubts": list(report.doubts),
        "requests": report.requests,
        "exitCode": report.exit_code,
    }


def _build_assignment(stray: Stray) -> dict[str, Any]:
    """Build what a role assignment grants; nothing for any other resource."""
    assigned = read_assignment(stray)
    if assigned is None:
        return {}
    return {
        "role": clean(assigned.role),
        "principal": {"type": clean(assigned.principal_type), "id": clean(assigned.principal_id)},
        "scope": assigned.scope,
    }
