"""The page of one resource: `data/resources/TARGET/SHARD`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from gitsync.model.gvk import Key
from gitsync.model.hold import HeldUntil
from gitsync.model.problem import SourceLocation
from gitsync.model.record import Record
from gitsync.model.secret import truncate
from gitsync.model.verdict import Difference
from gitsync.planning.status.advice import find_condition_advice
from gitsync.report.html.difference_rows import MOST_ROWS, DifferenceRow, make_difference_row
from gitsync.report.html.links import Forge, link_to_portal
from gitsync.report.site.declared import DeclaredManifests, SiteNeed
from gitsync.report.site.shapes import (
    MOST_REFERRERS,
    BodyShape,
    ConditionShape,
    EdgeKind,
    HoldShape,
    ManifestTextShape,
    ResourceShape,
    WriteShape,
)
from gitsync.report.wording import format_plural

LONGEST_MESSAGE: Final = 4000
LONGEST_BODY: Final = 50_000
_MOST_PATHS: Final = 200


class ResourceContext(NamedTuple):
    """What the pages of all resources of a target share."""

    declarations: DeclaredManifests
    needs: Mapping[str, Sequence[SiteNeed]]  # by key
    referrers: Mapping[str, Sequence[tuple[str, EdgeKind, str]]]  # by key
    entries: Mapping[Key, Mapping[str, Any]]  # of the last report
    portal: str  # the address of the Azure portal, "" for an emulator
    forge: Forge | None  # None if the repository has no pages
    revision: str  # of the records


def build_resource(record: Record, state: str, context: ResourceContext) -> ResourceShape:
    """Build all that the site has of a resource."""
    key, entry = str(record.key), context.entries.get(record.key, {})
    durations, operation = record.writes.durations, record.writes.operation
    needs = context.needs.get(key, ())
    outside = record.spec.outside
    return {
        "state": state,
        "trust": record.trust.value if record.trust.is_refused else "",
        "condition": _build_condition(record),
        "manifest": _build_manifest(record, context),
        "body": _build_body(record),
        "differences": _build_rows(entry.get("differences", ())),
        "outside": list(outside.changed) if outside else [],
        "outsideRows": _build_outside(entry.get("outside", ())),
        "unverified": [str(path) for path in entry.get("unverified", ())][:_MOST_PATHS],
        "owner": next((need.target for need in needs if need.kind == "owner"), ""),
        "refersTo": [(need.target, need.kind, need.field) for need in needs],
        "referredBy": list(context.referrers.get(key, ()))[:MOST_REFERRERS],
        "exports": [f"{address.object_kind}/{address.name}" for address in record.exports],
        "identity": {
            "credential": record.access.credential,
            "clientId": record.access.ids.client_id,
            "tenantId": record.access.ids.tenant_id,
            "subscription": record.access.subscription,
        },
        "lastWrite": _build_write(record),
        "durations": (durations.create, durations.update),
        "armId": str(record.arm_id),
        "armApiVersion": record.arm_api_version,
        "apiVersion": record.manifest.api_version,
        "portal": link_to_portal(context.portal, record.arm_id),
        "policy": record.manifest.policy.value,
        "claim": record.claim.value,
        "agent": record.agent,
        "generation": record.spec.generation,
        "writes": record.writes.count,
        "hold": build_hold(record.key, record.manifest.hold) if record.manifest.hold else None,
        "operation": f"{operation.kind}, begun {operation.started_at}" if operation else "",
        "notes": list(_list_notes(record)),
    }


def _build_condition(record: Record) -> ConditionShape | None:
    condition = record.condition
    if condition is None:
        return None
    return {
        "status": condition.status.value,
        "severity": condition.severity.value,
        "reason": condition.reason,
        "message": truncate(condition.message, LONGEST_MESSAGE),
        "advice": truncate(find_condition_advice(condition, record.arm_id), LONGEST_MESSAGE),
        "time": condition.time,
        "generation": condition.generation,
        "requestId": condition.request_id,
    }


def _build_manifest(record: Record, context: ResourceContext) -> ManifestTextShape:
    declared = context.declarations.manifests.get(record.key)
    source = declared.source if declared else SourceLocation(record.manifest.path, 0)
    doubt = "" if declared else context.declarations.doubt or "The revision has no manifest of it."
    return {
        "path": source.path,
        "line": source.line,
        "url": _link_to_line(source, context),
        "text": declared.text if declared else "",
        "doubt": doubt,
    }


def _link_to_line(source: SourceLocation, context: ResourceContext) -> str:
    root = context.declarations.root
    path = f"{root}/{source.path}" if root else source.path
    return context.forge.make_line_link(context.revision, path, source.line) if context.forge and source.path else ""


def _build_body(record: Record) -> BodyShape:
    spec = record.spec
    return {
        "sent": _write_body(spec.applied),
        "shown": _write_body(spec.baseline),
        "outside": _write_body(spec.outside.values if spec.outside else None),
    }


def _write_body(body: Mapping[str, Any] | None) -> str:
    if body is None:
        return ""
    return truncate(json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False), LONGEST_BODY)


def _build_rows(differences: Iterable[Mapping[str, Any]]) -> list[dict[str, object]]:
    """Build the rows of differences, as the page of a report has them."""
    rows = (
        make_difference_row(Difference(path, entry.get("desired"), entry.get("live"), str(entry.get("rule", ""))), path)
        for entry in list(differences)[:MOST_ROWS]
        for path in (str(entry.get("path", "")),)
    )
    return [dump_row(row) for row in rows]


def _build_outside(changes: Iterable[Mapping[str, Any]]) -> list[dict[str, object]]:
    """Build the rows of changes outside of git: before and now."""
    rows = (
        make_difference_row(
            Difference("", change.get("now"), change.get("before"), str(change.get("weakens", ""))),
            str(change.get("field", "")),
        )
        for change in list(changes)[:MOST_ROWS]
    )
    return [dump_row(row) for row in rows]


def dump_row(row: DifferenceRow) -> dict[str, object]:
    """Write a row of differences as plain JSON values."""
    return {
        "path": row.path,
        "why": row.why,
        "live": row.live._asdict(),
        "desired": row.desired._asdict(),
        "lines": [list(line) for line in row.lines],
    }


def _build_write(record: Record) -> WriteShape | None:
    last = record.writes.last
    if last is None:
        return None
    return {
        "at": last.at,
        "revision": last.revision,
        "correlationId": last.correlation_id,
        "returnedId": last.returned_id,
    }


def build_hold(key: Key, hold: HeldUntil) -> HoldShape:
    """Build the hold of a resource."""
    return {"key": str(key), "until": str(hold.day), "reason": hold.reason}


def _list_notes(record: Record) -> Iterable[str]:
    streak, failure = record.writes.streak, record.writes.failure
    if streak:
        fields = ", ".join(path or "the complete resource" for path in streak.paths)
        times = format_plural(streak.count, "write")
        yield f"{times} in a row reverted a change in Azure, the last at {streak.at}: {fields}."
        if streak.paused:
            yield "Its writes are paused, since something reverts them."
    if failure:
        yield f"The last {failure.kind} failed, first at {failure.since}."
    if record.manifest.last_revision:
        yield f"It was removed from git; the last revision that declares it is {record.manifest.last_revision}."
