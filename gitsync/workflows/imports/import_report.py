"""What an import did, as text and as JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitsync.errors import ExitCode
from gitsync.model.arm_id import ArmId
from gitsync.model.problem import Problem
from gitsync.report.escape import format_sides
from gitsync.report.json import build_problem
from gitsync.report.problem_lines import format_problems
from gitsync.report.wording import format_plural
from gitsync.workflows.imports.conversion.found_resources import ImportedManifest, Omission
from gitsync.workflows.imports.conversion.import_proof import ImportProof
from gitsync.workflows.imports.resource_reader import NO_RIGHT
from gitsync.workflows.imports.takeovers import TakeoverRow, count_outcomes

_LONGEST_LIST = 5
_WIDEST = 60
"""Columns of an address: one with long keys has its line to itself."""

_SCOPE = re.compile(r"^/subscriptions/[^/]+/(resourceGroups/|providers/)?", re.IGNORECASE)
_PROVIDERS = re.compile("/providers/", re.IGNORECASE)
"""What ids of one subscription have in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did."""

    folder: str
    files: Mapping[str, list[ImportedManifest]]  # the manifests by path
    proofs: tuple[ImportProof, ...]  # one for each manifest
    skipped: tuple[str, ...]  # ARM ids that a manifest stood for before
    left_out: tuple[Omission, ...]  # resources that are not imported, each with its reason
    unread: tuple[str, ...]  # collections that were not read, or refused
    requests: int | None  # their number, None if Azure was not read
    problems: tuple[Problem, ...] = ()
    """Those of ids that are not imported, or of the files that were read instead of Azure."""

    source: str = ""  # what named the resources, such as `Terraform state`; "" for a search
    outcomes: tuple[TakeoverRow, ...] = ()  # what became of each resource that the source names
    forgetting: tuple[str, ...] = ()  # the files by which Terraform forgets what was taken
    steps: tuple[str, ...] = ()  # what to do before the first sync

    @property
    def proven(self) -> int:
        return sum(proof.holds for proof in self.proofs)

    @property
    def exit_code(self) -> ExitCode:
        """FAILED if a manifest is wrong or differs, or if something could not be read."""
        is_refused = any(is_refusal(line) for line in self.unread) or any(problem.is_error for problem in self.problems)
        return ExitCode.FINE if self.proven == len(self.proofs) and not is_refused else ExitCode.FAILED


def is_refusal(line: str) -> bool:
    return line.endswith(NO_RIGHT)


def format_lines(report: ImportReport) -> Iterator[str]:
    """Format the report as text."""
    yield from _format_files(report)
    yield from _format_list(f"Resources of the {report.source}:", _list_outcomes(report))
    yield from _format_list(
        "By which Terraform forgets what was taken, in this order, and destroys nothing:", report.forgetting
    )
    if report.problems:
        yield from format_problems(report.problems)
        yield ""
    yield from _format_left_out(report)
    yield from _format_list("Not read:", report.unread)
    yield from _format_list("To provide before a sync:", _list_secrets(report))
    yield from _format_list("Values that look like secrets, written in plain text:", _list_plain_secrets(report))
    yield from _format_list("Values that the kind does not allow, left out:", _list_unfit(report))
    title = "Different from Azure:" if report.requests is not None else "Invalid, or different from what ASO recorded:"
    yield from _format_list(title, [line for proof in report.proofs for line in _describe(proof)])
    yield from _format_list("Before the first sync:", report.steps)
    yield _format_summary(report)


def _format_files(report: ImportReport) -> Iterator[str]:
    if not report.files:
        return
    width = max(map(len, report.files))
    yield f"Written to {report.folder}:"
    for path, manifests in report.files.items():
        kinds = Counter(manifest.key.kind for manifest in manifests)
        yield f"  {path:<{width}}  {', '.join(_format_kind(kind, count) for kind, count in kinds.items())}"
    yield ""


def _list_outcomes(report: ImportReport) -> Iterator[str]:
    addresses = _shorten_addresses(report.outcomes)
    width = max(map(len, addresses), default=0)
    for address, each in zip(addresses, report.outcomes, strict=True):
        name = f"{each.manifest.kind}/{each.manifest.name}" if each.manifest else ""
        what = ": ".join(filter(None, (name, each.reason)))
        yield f"{each.outcome:<7}  {address:<{min(width, _WIDEST)}}  {what}"
    if report.outcomes:
        yield ", ".join(f"{count} {outcome}" for outcome, count in count_outcomes(report.outcomes).items())


def _shorten_addresses(outcomes: Sequence[TakeoverRow]) -> list[str]:
    """List the addresses: ids in the most common subscription without it and ARM's own words. The JSON has the ids."""
    subscriptions = [(ArmId(each.address).subscription or "").casefold() for each in outcomes]
    usual = next((subscription for subscription, _ in Counter(filter(None, subscriptions)).most_common(1)), None)
    return [
        _PROVIDERS.sub("/", _SCOPE.sub("", each.address)) if subscription == usual else each.address
        for each, subscription in zip(outcomes, subscriptions, strict=True)
    ]


def _format_kind(kind: str, count: int) -> str:
    return kind if count == 1 else f"{count} {kind}"


def _format_left_out(report: ImportReport) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for left_out in report.left_out:
        reasons.setdefault(left_out.reason, []).append(left_out.subject)
    if report.skipped:
        reasons["a manifest declares it already"] = list(report.skipped)
    rows = [f"{len(subjects):>5}  {reason}{_name_types(subjects)}" for reason, subjects in sorted(reasons.items())]
    yield from _format_list("Left out:", rows)


def _name_types(subjects: list[str]) -> str:
    """Return the names of types, which are the subjects of some reasons; ids are in the JSON."""
    counts = Counter(subject for subject in subjects if not subject.startswith("/"))
    types = [_format_kind(*row) for row in counts.items()]
    more = [f"{len(types) - _LONGEST_LIST} more"] if len(types) > _LONGEST_LIST else []
    return f": {', '.join([*types[:_LONGEST_LIST], *more])}" if types else ""


def _format_list(title: str, rows: Any) -> Iterator[str]:
    rows = list(rows)
    if rows:
        yield title
        yield from (f"  {row}" for row in rows)
        yield ""


def _list_secrets(report: ImportReport) -> list[str]:
    return [
        f"Secret {name}, {f'key {key}' if key else 'all keys'}: {path}, {manifest.key.kind}/{manifest.key.name}"
        for path, manifests in report.files.items()
        for manifest in manifests
        for name, key in manifest.secrets
    ]


def _list_plain_secrets(report: ImportReport) -> list[str]:
    return [
        f"{path}, {manifest.key.kind}/{manifest.key.name}: {secret.field}: {secret.way}"
        for path, manifests in report.files.items()
        for manifest in manifests
        for secret in manifest.plain_secrets
    ]


def _list_unfit(report: ImportReport) -> list[str]:
    return [
        f"{manifest.key.kind}/{manifest.key.name}: {pointer}"
        for manifests in report.files.values()
        for manifest in manifests
        for pointer in manifest.unfit
    ]


def _describe(proof: ImportProof) -> Iterator[str]:
    name = f"{proof.key.kind}/{proof.key.name}"
    for problem in proof.problems:
        where = f" {problem.field}" if problem.field else ""
        yield f"{name}: {problem.code}{where}: {problem.message} {problem.hint}".rstrip()
    for difference in proof.differences:
        shown, desired = format_sides(difference.live, difference.desired)
        yield f"{name}: {difference.path}: {shown} in Azure, {desired} in the manifest ({difference.rule})"


def _format_summary(report: ImportReport) -> str:
    count = len(report.proofs)
    if report.requests is None:
        return f"{format_plural(count, 'manifest')} imported, {report.proven} for the resource that ASO has recorded."
    each = f" ({report.requests / count:.2f} a resource)" if count else ""
    proven = f"{report.proven} with nothing to change"
    return f"{format_plural(count, 'resource')} imported, {proven}; {format_plural(report.requests, 'request')}{each}."


def build_document(report: ImportReport) -> dict[str, Any]:
    """Build the report as plain JSON."""
    proofs = {proof.key: proof for proof in report.proofs}
    return {
        "folder": report.folder,
        "imported": len(report.proofs),
        "nothingToChange": report.proven,
        "requests": report.requests,
        "exitCode": report.exit_code,
        "problems": [build_problem(problem) for problem in report.problems],
        "files": [
            {"path": path, "resources": [_build_resource(manifest, proofs[manifest.key]) for manifest in manifests]}
            for path, manifests in report.files.items()
        ],
        "skipped": list(report.skipped),
        "leftOut": [{"reason": left_out.reason, "subject": left_out.subject} for left_out in report.left_out],
        "unread": list(report.unread),
        "source": report.source or None,
        "outcomes": [_build_outcome(outcome) for outcome in report.outcomes],
        "forgetting": list(report.forgetting),
        "steps": list(report.steps),
    }


def _build_outcome(outcome: TakeoverRow) -> dict[str, Any]:
    key = outcome.manifest
    manifest = {"group": key.group, "kind": key.kind, "namespace": key.namespace, "name": key.name} if key else None
    return {
        "address": outcome.address,
        "outcome": outcome.outcome,
        "manifest": manifest,
        "armId": outcome.arm_id or None,
        "reason": outcome.reason,
    }


def _build_resource(manifest: ImportedManifest, proof: ImportProof) -> dict[str, Any]:
    return {
        "apiVersion": manifest.resource.kind.gvk.api_version,
        "kind": manifest.key.kind,
        "namespace": manifest.key.namespace,
        "name": manifest.key.name,
        "armId": manifest.resource.arm_id,
        "armApiVersion": manifest.resource.kind.api_version,
        "secrets": [{"name": name, "key": key or None} for name, key in manifest.secrets],
        "plainSecrets": [{"field": secret.field, "way": secret.way} for secret in manifest.plain_secrets],
        "leftOut": list(manifest.unfit),
        "problems": [build_problem(problem) for problem in proof.problems],
        "differences": [
            {"path": difference.path, "desired": difference.desired, "live": difference.live, "rule": difference.rule}
            for difference in proof.differences
        ],
    }
