"""Azure's lists beside its reads, where the recordings are available: what an entry approves, its read approves."""

import json
from collections import Counter
from copy import deepcopy
from itertools import chain

import pytest

from gitsync.desired.catalog.collections import list_collections
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.desired.request.placeholders import show
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import GVK
from gitsync.model.secret import Secret
from gitsync.model.verdict import Verdict
from gitsync.planning.diff.hints import make_kind_hints
from gitsync.planning.diff.three_way import Remembered, compare, make_baseline
from gitsync.workflows.imports.conversion.found_resources import FoundResource
from gitsync.workflows.imports.conversion.imported_manifests import ManifestStyle, format_manifests, make_manifests
from tests.support.recordings import FOLDER, needs_recordings

RECORDED = FOLDER / "arm-traffic-az" / "list-get-pairs"
PAIRS = {file.stem: file for file in sorted(RECORDED.glob("*.jsonl"))}

pytestmark = needs_recordings(RECORDED)


def find_kind(catalog, recording):
    """The kind of a recording, at the next version if the catalog lacks its own."""
    arm_type, api_version = ArmId(recording["path"]).arm_type, recording["apiVersion"]
    group, name = catalog.group_kind_of(arm_type)
    kinds = [catalog.kind(GVK(group, version, name)) for version in catalog.versions(group, name)]
    later = (kind for kind in kinds if kind.api_version > api_version)
    return catalog.by_arm_type(arm_type, api_version) or next(later, kinds[-1])


def read_pairs(catalog, provider):
    """Every recorded entry with the read of it, and whether a run may request its list."""
    for recording in map(json.loads, PAIRS[provider].read_text("utf-8").splitlines()):
        kind = find_kind(catalog, recording)
        lists = {ArmId(collection.path).key for collection in list_collections(kind, ArmId(recording["path"]))}
        yield kind, recording, ArmId(recording["list"]).key in lists


@pytest.fixture(scope="module")
def pairs(catalog):
    """All pairs by their providers, each with the request of a manifest that sets all that its read shows."""
    return {
        provider: [
            (kind, pair, is_requested, request_all(catalog, kind, pair["path"], pair["get"]))
            for kind, pair, is_requested in read_pairs(catalog, provider)
        ]
        for provider in PAIRS
    }


def request_all(catalog, kind, arm_id, shown):
    """The request of a manifest that sets all that it can to what Azure shows; secrets are never compared."""
    found = FoundResource(kind=kind, arm_id=ArmId(arm_id), owner_id=ArmId(arm_id).parent, body=shown)
    manifests = make_manifests([found], ManifestStyle(existing={}, namespace="default"))
    read = read_manifests({"manifest.yaml": format_manifests(manifests)}, namespace="default")
    subscription = "00000000-0000-0000-0000-000000000000"
    (one,) = show(prepare(read, catalog=catalog, subscription=subscription), {}, keeps_secrets=True)
    return without_secrets(one.request.body)


def without_secrets(value):
    if isinstance(value, dict):
        return {name: without_secrets(call) for name, call in value.items() if not isinstance(call, Secret)}
    return [without_secrets(entry) for entry in value] if isinstance(value, list) else value


def approves(kind, body, before, shown):
    """Return whether what Azure shows approves a resource that was written with a body, and read as `before` then."""
    remembered = Remembered(applied=body, baseline=make_baseline(body, before))
    comparison = compare(body, shown, remembered, make_kind_hints(kind))
    return comparison.verdict is Verdict.IN_SYNC and not (comparison.differences or comparison.because)


def list_leaves(requested, shown, path=()):
    """The paths of the values that are set, and shown just so."""
    if isinstance(requested, dict) and isinstance(shown, dict):
        for name in requested.keys() & shown.keys() - {"name", "type", "id"}:
            yield from list_leaves(requested[name], shown[name], (*path, name))
    elif isinstance(requested, list) and isinstance(shown, list) and len(requested) == len(shown):
        for index, (one, other) in enumerate(zip(requested, shown, strict=True)):
            yield from list_leaves(one, other, (*path, index))
    elif isinstance(requested, str | int | float) and requested == shown:
        yield path


def change(body, path):
    """A body with another value at a path."""
    changed = deepcopy(body)
    above = changed
    for step in path[:-1]:
        above = above[step]
    value = above[path[-1]]
    above[path[-1]] = not value if isinstance(value, bool) else f"{value}-else" if isinstance(value, str) else value + 7
    return changed


NEVER_REQUESTED = {
    "associations": 1,  # of a rule of data collection: associations are listed at what they extend
    "databases": 1,  # of an elastic pool
    "replicas": 4,  # of a PostgreSQL server: entries have an empty `sku.name`, and neither version nor administrator
    "aliases": 1,  # subscriptions of the tenant
}
"""The last words of recorded lists that a run requests in no case."""

SHOWN_BY_READS_ONLY = {
    ("Microsoft.Compute/virtualMachines", "properties.instanceView"),  # a read that asked for $expand=instanceView
    ("Microsoft.ContainerInstance/containerGroups", "properties.instanceView"),
    ("Microsoft.ContainerInstance/containerGroups", "properties.containers.properties.instanceView"),
    ("Microsoft.ContainerService/fleets/updateStrategies", "eTag"),
}
"""Members of reads that the entries lack, by type: nothing that a manifest can set or export to a config map."""


def list_missing(shown, read, path=""):
    """The members of a read that an entry lacks, without what is below them."""
    if isinstance(shown, dict) and isinstance(read, dict):
        yield from (f"{path}{name}" for name in read.keys() - shown.keys())
        for name in read.keys() & shown.keys():
            yield from list_missing(shown[name], read[name], f"{path}{name}.")
    elif isinstance(shown, list) and isinstance(read, list) and len(shown) == len(read):
        for one, other in zip(shown, read, strict=True):
            yield from list_missing(one, other, path)


def test_the_recorded_lists_are_those_that_a_run_requests(pairs):
    rows = list(chain(*pairs.values()))
    assert (
        Counter(pair["list"].rpartition("/")[2] for _, pair, is_requested, _ in rows if not is_requested)
        == NEVER_REQUESTED
    )
    assert len(rows) == 198


@pytest.mark.parametrize("provider", PAIRS)
def test_what_an_entry_approves_is_not_contradicted_by_the_read(catalog, pairs, provider):
    contradicted = []
    for kind, pair, is_requested, _ in pairs[provider]:
        if not is_requested:
            continue
        body = request_all(catalog, kind, pair["path"], pair["entry"])
        assert approves(kind, body, pair["entry"], pair["entry"]), pair["path"]
        if not approves(kind, body, pair["entry"], pair["get"]):
            contradicted.append(pair["path"])
    assert contradicted == []


@pytest.mark.parametrize("provider", PAIRS)
def test_an_entry_approves_no_value_that_the_read_shows_as_changed(pairs, provider):
    """Of each value that can be set: another one was set, and read before. Lists that no run requests count too."""
    hidden = []
    for kind, pair, _, body in pairs[provider]:
        for path in list_leaves(body, pair["get"]):
            other, before = change(body, path), change(pair["get"], path)
            if approves(kind, other, before, pair["entry"]) and not approves(kind, other, before, pair["get"]):
                hidden.append((pair["path"], path))
    assert hidden == []


@pytest.mark.parametrize("provider", PAIRS)
def test_an_entry_shows_all_that_can_be_set(pairs, provider):
    """So no list is requested in vain."""
    in_vain = []
    for kind, pair, is_requested, body in pairs[provider]:
        if not is_requested:
            continue
        assert approves(kind, body, pair["get"], pair["get"]), pair["path"]
        if not approves(kind, body, pair["get"], pair["entry"]):
            in_vain.append(pair["path"])
    assert in_vain == []


def test_what_entries_lack_is_known(pairs):
    rows = [(kind, pair) for kind, pair, is_requested, _ in chain(*pairs.values()) if is_requested]
    lacking = {(kind.arm_type, name) for kind, pair in rows for name in list_missing(pair["entry"], pair["get"])}
    assert lacking == SHOWN_BY_READS_ONLY
    exported = {(kind.arm_type, path) for kind, _ in rows for path in kind.config_maps.values()}
    assert lacking.isdisjoint((arm_type, f"properties.{path}") for arm_type, path in exported)
