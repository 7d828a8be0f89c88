"""What an export did, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from gitsync.errors import ExitCode
from gitsync.model.gvk import Key
from gitsync.report.ordering import has_namespaces, make_reading_order, shorten_names
from gitsync.report.wording import format_plural
from gitsync.workflows.exports.terraform.configuration import Configuration, list_changes


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What an export did."""

    folder: str

    configuration: Configuration
    has_errors: bool  # whether some file or manifest has errors

    @property
    def exit_code(self) -> ExitCode:
        """FAILED if a manifest has errors, so that its resource may be missing."""
        is_wrong = self.has_errors or any(each.is_error for each in self.configuration.left_out)
        return ExitCode.FAILED if is_wrong else ExitCode.FINE

    @property
    def changes(self) -> list[tuple[str, Key, str]]:
        """The resources that the first plan changes: address, manifest, and why."""
        changes = list_changes(self.configuration.blocks)
        return [(each.address, each.prepared.key, reason) for each, reason in changes]

    @property
    def notes(self) -> list[tuple[str, Key, str]]:
        """What gitsync does for a resource and Terraform does not: address, manifest, and what."""
        return [(each.address, each.prepared.key, note) for each in self.configuration.blocks for note in each.notes]


def format_lines(report: ExportReport) -> Iterator[str]:
    """Format the report as text."""
    configuration = report.configuration
    if configuration.files:
        yield f"Written to {report.folder}:"
        yield from (f"  {name}" for name in configuration.files)
        yield ""
    yield from _format_rows("To change in the first plan:", report.changes)
    if configuration.variables:
        yield "Variables to give:"
        names = configuration.variables.values()
        width = max(map(len, names))
        yield from (f"  {name:<{width}}  {variable.origin}" for variable, name in configuration.variables.items())
        yield ""
    yield from _format_rows("What Terraform does otherwise:", report.notes)
    if configuration.left_out:
        yield "Not exported:"
        yield from _format_left_out(configuration)
        yield ""
    yield _format_summary(report)


def _format_rows(title: str, rows: list[tuple[str, Key, str]]) -> Iterator[str]:
    if not rows:
        return
    yield title
    width = max(len(address) for address, _, _ in rows)
    yield from (f"  {address:<{width}}  {text}" for address, _, text in rows)
    yield ""


def _format_left_out(configuration: Configuration) -> Iterator[str]:
    """Format what is not exported, below the name of its namespace if there are several."""
    keys = [each.key for each in configuration.left_out] + [each.prepared.key for each in configuration.blocks]
    names, shows_namespace = shorten_names(keys), has_namespaces(keys)
    margin = "    " if shows_namespace else "  "
    width = max(len(names[each.key]) for each in configuration.left_out)
    ordered = sorted(configuration.left_out, key=lambda each: make_reading_order(each.key))
    for namespace, inside in groupby(ordered, key=lambda each: each.key.namespace):
        if shows_namespace:
            yield f"  {namespace}:"
        yield from (f"{margin}{names[each.key]:<{width}}  {each.reason}" for each in inside)


def _format_summary(report: ExportReport) -> str:
    configuration = report.configuration
    changed = len({address for address, _, _ in report.changes})
    return (
        f"{format_plural(len(configuration.blocks), 'resource')} to import, {changed} to change; "
        f"{len(configuration.left_out)} not exported."
    )


def build_document(report: ExportReport) -> dict[str, Any]:
    """Build the report as plain JSON."""
    configuration = report.configuration
    return {
        "folder": report.folder,
        "exitCode": report.exit_code,
        "files": list(configuration.files),
        "resources": [
            {
                **_build_key(each.prepared.key),
                "armId": str(each.request.arm_id),
                "armApiVersion": each.request.api_version,
                "address": each.address,
                "variables": sorted(configuration.variables[variable] for variable in each.variables),
            }
            for each in configuration.blocks
        ],
        "changes": [_build_row(*row) for row in report.changes],
        "variables": [
            {"name": name, "origin": variable.origin, "sensitive": variable.is_secret}
            for variable, name in configuration.variables.items()
        ],
        "notes": [_build_row(*row) for row in report.notes],
        "notExported": [{**_build_key(each.key), "reason": each.reason} for each in configuration.left_out],
    }


def _build_row(address: str, key: Key, text: str) -> Mapping[str, Any]:
    return {**_build_key(key), "address": address, "text": text}


def _build_key(key: Key) -> Mapping[str, Any]:
    return {"group": key.group, "kind": key.kind, "namespace": key.namespace, "name": key.name}
