"""What ASO does not read of manifests that gitsync reads (docs/from-aso.md#manifests-that-aso-reads-too)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gitsync.desired.catalog.body_words import SET
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.positions import find_root
from gitsync.desired.catalog.type_words import join_with_and
from gitsync.desired.catalog.version_annotation import API_VERSION, BODY, read_api_version
from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.finding import Finding
from gitsync.desired.validation.body_annotation import BODY_PATH, read_body
from gitsync.desired.validation.depends_on_annotation import DEPENDS_ON, DEPENDS_ON_PATH
from gitsync.desired.validation.directory_links import list_links
from gitsync.desired.validation.set_annotation import SET_PATH, list_set_entries
from gitsync.model.facts import Kind
from gitsync.model.gvk import AZURE_GROUP
from gitsync.model.problem import Level
from gitsync.model.resource import Resource

_CODE: Final = "NotPortable"
_MOST_MEMBERS: Final = 5


def check_portability(resource: Resource, catalog: Catalog) -> Iterator[Finding]:
    """Warn of a kind that ASO lacks, and of what its PUT would leave out of the body of one that it has."""
    yield from _warn_of_order(resource)
    yield from _warn_of_values(resource, catalog)
    yield from _warn_of_links(resource)
    if resource.gvk.group == AZURE_GROUP:
        yield _warn_of_kind(resource, catalog)
        return
    kind = catalog.kind(resource.gvk)
    if kind is None or not kind.is_arm:
        return
    version = read_api_version(resource.annotations)
    # An annotation with ASO's own version changes nothing, so the manifest stays portable.
    if version and version != kind.api_version:
        yield Finding(
            code=_CODE,
            path=("metadata", "annotations", API_VERSION),
            message=f"ASO ignores {API_VERSION}: it sends {kind.arm_type} at {kind.api_version}, not at {version}.",
            hint="Keep the manifest where ASO does not apply it, or accept ASO's version.",
            level=Level.WARNING,
        )
    if members := list(_list_members(read_body(resource))):
        yield Finding(
            code=_CODE,
            path=BODY_PATH,
            message=f"ASO ignores {BODY}: its next PUT would change {_join_first(members)} of the body.",
            hint="Keep the manifest where ASO does not apply it, or remove the annotation.",
            level=Level.WARNING,
        )

    if tags := sorted(resource.default_tags, key=str):
        yield Finding(
            code=_CODE,
            path=("spec",),
            message=f"ASO sets no default tags: its next PUT would remove {_join_first(tags)}.",
            hint="Keep the manifest where ASO does not apply it, or write the tags into it.",
            level=Level.WARNING,
        )


def _warn_of_order(resource: Resource) -> Iterator[Finding]:
    if resource.annotations.get(DEPENDS_ON, "").strip():
        yield Finding(
            code=_CODE,
            path=DEPENDS_ON_PATH,
            message=f"ASO ignores {DEPENDS_ON}: it neither waits for these resources, nor deletes them last.",
            hint="Keep the manifest where ASO does not apply it, or remove the annotation.",
            level=Level.WARNING,
        )


def _warn_of_links(resource: Resource) -> Iterator[Finding]:
    for links in list_links(resource):
        yield Finding(
            code=_CODE,
            path=links.path,
            message=f"ASO ignores {links.relation.annotation}: it changes no {links.relation.name}.",
            hint="Keep the manifest where ASO does not apply it, or remove the annotation.",
            level=Level.WARNING,
        )


def _warn_of_values(resource: Resource, catalog: Catalog) -> Iterator[Finding]:
    """Warn of each field that ASO would not get: a cluster refuses a manifest without a required one."""
    kind = catalog.kind(resource.gvk)
    for entry in list_set_entries(resource) if kind and kind.is_arm else ():
        if entry.fault or entry.is_word:
            continue
        field = format_field(entry.field)
        is_required = kind is not None and _is_required(kind, entry.field)
        effect = f"a cluster refuses the manifest without {field}" if is_required else f"it sends no {field}"
        yield Finding(
            code=_CODE,
            path=SET_PATH,
            message=f"ASO ignores {SET}: {effect}.",
            hint="Keep the manifest where ASO does not apply it, or write the value.",
            level=Level.ERROR if is_required else Level.WARNING,
        )


def _is_required(kind: Kind, field: FieldPath) -> bool:
    """Return whether ASO's schema requires a field, where the object that has it is set."""
    position = find_root(kind)
    for step in field[1:-1]:
        if position.shape == "mapping" and step not in position.fields:
            return False
        position = position.members[str(step)] if position.shape == "mapping" else position.entry
    return field[-1] in position.required


def _join_first(paths: Sequence[JsonPath]) -> str:
    shown = [format_field(path) for path in paths[:_MOST_MEMBERS]]
    more = len(paths) - len(shown)
    return join_with_and([*shown, f"{more} more"] if more else shown)


def _warn_of_kind(resource: Resource, catalog: Catalog) -> Finding:
    kind = catalog.kind_of(resource)
    own = kind.counterpart if kind else None
    return Finding(
        code=_CODE,
        path=("kind",),
        message=f"ASO has no kind {resource.gvk.kind}, and a cluster refuses the manifest.",
        hint=f"Declare it as a {own[1]} of {own[0]}, or keep it in a folder that ASO's tools do not read."
        if own
        else "Keep it in a folder that ASO's tools do not read.",
        level=Level.WARNING,
    )


def _list_members(patch: Mapping[str, Any], path: JsonPath = ()) -> Iterator[JsonPath]:
    """List the members of the annotation, those of an object one by one."""
    for key, value in patch.items():
        if isinstance(value, Mapping) and value:
            yield from _list_members(value, (*path, key))
        else:
            yield (*path, key)
