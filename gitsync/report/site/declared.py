"""What manifests declare of the resources of the site, by key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.manifests.yaml_output import dump
from gitsync.model.gvk import Key
from gitsync.model.problem import SourceLocation
from gitsync.model.record import Record
from gitsync.model.resource import Prepared
from gitsync.model.secret import truncate
from gitsync.report.owner_graph import Edge, Relation, build_owner_graph
from gitsync.report.site.shapes import EdgeKind

LONGEST_TEXT: Final = 50_000
"""Characters of one manifest: a policy of half a megabyte is read at the host of the repository."""

_KINDS: Final[Mapping[Relation, EdgeKind]] = {
    Relation.OWNER: "owner",
    Relation.REFERENCE: "reference",
    Relation.VALUE: "set",
    Relation.NAMED: "depends-on",
    Relation.ORDER: "order",
}


_OWN: Final = ("gitsync/", "serviceoperator.azure.com/")
"""Annotations that gitsync reads. Those of other tools may hold anything, such as a copy of a Secret."""


class SiteNeed(NamedTuple):
    """What a resource needs another for."""

    target: str  # a key, or an ARM id
    kind: EdgeKind
    field: str  # that an expression computes, "" for none


class DeclaredManifest(NamedTuple):
    """A manifest as the site shows it."""

    source: SourceLocation
    text: str


class DeclaredManifests(NamedTuple):
    """The manifests of one revision."""

    manifests: Mapping[Key, DeclaredManifest] = {}
    needs: Mapping[str, Sequence[SiteNeed]] | None = None  # by key; None if no manifest was read
    root: str = ""  # paths are relative to this folder of the repository
    doubt: str = ""  # why no manifest was read, or why some of them may be of another revision


def declare(prepared: Sequence[Prepared], catalog: Catalog, mask: Callable[[str], str], root: str) -> DeclaredManifests:
    """Take from manifests what the site shows of them, with secrets masked."""
    needs: dict[str, list[SiteNeed]] = {}
    for edge in build_owner_graph(prepared, catalog).edges:
        needs.setdefault(edge.source, []).append(_make_need(edge))
    return DeclaredManifests(
        manifests={
            entry.key: DeclaredManifest(entry.resource.source, mask(_write_manifest(entry))) for entry in prepared
        },
        needs=needs,
        root=root,
    )


def _make_need(edge: Edge) -> SiteNeed:
    return SiteNeed(edge.target, _KINDS[edge.relation], edge.label)


def _write_manifest(prepared: Prepared) -> str:
    """Write a manifest without what other tools put beside its spec."""
    resource = prepared.resource
    own = (name for name in sorted(resource.annotations) if name.startswith(_OWN))
    annotations = {name: resource.annotations[name] for name in own}
    document = {
        "apiVersion": resource.gvk.api_version,
        "kind": resource.gvk.kind,
        "metadata": {
            "name": resource.key.name,
            "namespace": resource.key.namespace,
            **({"annotations": annotations} if annotations else {}),
        },
        "spec": resource.spec,
    }
    return truncate(dump(document, has_blocks=True).decode(), LONGEST_TEXT)


def list_recorded_needs(record: Record) -> Iterable[SiteNeed]:
    """List what a record has of the needs of a resource, whose manifest was not read."""
    manifest = record.manifest
    if manifest.owner:
        yield SiteNeed(str(manifest.owner), "owner", "")
    for key in manifest.depends_on:
        # The owner is one of these, too.
        if key != manifest.owner:
            yield SiteNeed(str(key), "order" if key in manifest.ordered_after else "reference", "")
