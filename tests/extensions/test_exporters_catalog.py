"""The exporters and the facts keep step: what a manifest may request, something can give."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.extensions.factories.private_endpoints import FIELD
from gitsync.extensions.registry import BUILT_IN
from gitsync.model.gvk import GVK
from tests.extensions.exporting import exporters
from tests.support.recordings import FOLDER as RECORDINGS
from tests.support.recordings import needs_recordings, read_aso_list

SPEC = RECORDINGS / "spec" / "extensions.yaml"
TOLD: dict[str, Any] = read_aso_list()
NOT_EXPORTED_BY_ASO = {("containerservice.azure.com", "Fleet")}
"""ASO accepts the field, and writes nothing; docs/extensions.md lists it."""


@cache
def declared(part: str) -> dict[tuple[str, str], dict[str, frozenset[str]]]:
    """By kind and version: the fields of `operatorSpec.<part>`, except those that the facts alone list."""
    catalog = open_catalog()
    found: dict[tuple[str, str], dict[str, frozenset[str]]] = {}
    for group in catalog.groups():
        for kind in catalog.kinds(group):
            for version in catalog.versions(group, kind):
                fields = _fields(catalog.kind(GVK(group, version, kind)), part)
                if fields:
                    found.setdefault((group, kind), {})[version] = fields
    return found


def _fields(kind, part):
    types = kind.types
    operator = types[kind.spec]["fields"].get("operatorSpec")
    entry = types[operator["type"]["ref"]]["fields"].get(part) if operator else None
    told = frozenset(kind.config_maps) if part == "configMaps" else frozenset()
    return frozenset(types[entry["type"]["ref"]]["fields"]) - told if entry else frozenset()


def test_the_facts_declare_secrets_at_all():
    assert len(declared("secrets")) > 25
    assert sum(len(versions) for versions in declared("secrets").values()) > 60


def test_every_kind_with_secrets_has_an_exporter_and_no_other():
    assert declared("secrets").keys() == exporters().keys()


@pytest.mark.parametrize("kind", sorted(exporters()), ids="-".join)
def test_an_exporter_supports_every_field_in_every_version_and_no_other(kind):
    assert declared("secrets")[kind] == dict.fromkeys(declared("secrets")[kind], exporters()[kind].fields)


def test_every_config_map_that_the_status_does_not_have_has_an_exporter():
    own = {(e.group, e.kind) for e in BUILT_IN if e.export_config_maps}
    assert declared("configMaps").keys() == own
    assert {
        field for versions in declared("configMaps").values() for fields in versions.values() for field in fields
    } == {FIELD}


@needs_recordings(SPEC)
def test_the_exporters_are_asos_and_one_more():
    theirs = {(row["group"], row["kind"]): frozenset(row["map"]) for row in TOLD["secrets"]}
    ours = {kind: keys.fields for kind, keys in exporters().items()}
    assert {kind for kind in ours if kind not in theirs} == NOT_EXPORTED_BY_ASO
    assert {kind: fields for kind, fields in ours.items() if kind in theirs} == theirs


@needs_recordings(SPEC)
def test_the_actions_are_asos():
    theirs = {
        (row["group"], row["kind"], call["suffix"], str(call["apiVersion"]), bool(call.get("paged")))
        for row in TOLD["secrets"]
        for call in row.get("calls", {}).values()
    }
    from tests.extensions.test_exporters_tables import ACTIONS

    ours = {(c[0], c[1], c[3], c[4], c[2] == "PAGES") for c in ACTIONS if c[:2] not in NOT_EXPORTED_BY_ASO}
    assert ours == theirs
