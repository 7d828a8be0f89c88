"""Import each recorded resource, and compare the request of its manifest with what was recorded.

usage: import_round_trip.py [--any-type] RECORDINGS

RECORDINGS is a folder of JSON lines with `path`, `apiVersion` and `get`, Azure's answer to a GET. Each resource is
imported, its manifest written as YAML, read, validated and rendered, and the request compared with the recording, as
`gitsync import` does at its end. Prints the counts by type, what differs, and the values that were left out because the
kind does not allow them. With --any-type, all are imported as `AzureResource`, also what ASO has a kind for. Types
that gitsync does not write, such as deployments, are counted apart. Exits 1 if anything differs or is not valid.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gitsync.desired.catalog.any_type import TypeAndVersion
from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.catalog import Catalog, open_catalog
from gitsync.desired.catalog.refused_types import find_refusal
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.desired.request.placeholders import show
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import GVK
from gitsync.workflows.imports.conversion.found_resources import FoundResource
from gitsync.workflows.imports.conversion.import_proof import ImportProof, prove
from gitsync.workflows.imports.conversion.imported_manifests import ManifestStyle, format_manifests, make_manifests

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
NAMESPACE = "default"


def read_recordings(folder: Path) -> Iterator[Mapping[str, Any]]:
    for file in sorted(folder.glob("*.jsonl")):
        yield from map(json.loads, file.read_text(encoding="utf-8").splitlines())


def find_resource(recording: Mapping[str, Any], catalog: Catalog) -> FoundResource | None:
    """The recorded resource. At an api-version that the catalog lacks, the next version of the kind reads it, or its
    last one. What ASO has no kind for is an `AzureResource` at the version of the recording; None if that is not known.
    """
    arm_id = ArmId(recording["path"])
    arm_type, api_version = arm_id.arm_type, recording["apiVersion"]
    group_kind = catalog.group_kind_of(arm_type)
    if group_kind is None:
        return find_any_resource(recording, catalog)
    group, name = group_kind
    kinds = [kind for version in catalog.versions(group, name) if (kind := catalog.kind(GVK(group, version, name)))]
    later = (kind for kind in kinds if kind.api_version > api_version)
    kind = catalog.by_arm_type(arm_type, api_version) or next(later, kinds[-1])
    return FoundResource(kind=kind, arm_id=arm_id, owner_id=arm_id.parent, body=recording["get"])


def find_any_resource(recording: Mapping[str, Any], catalog: Catalog) -> FoundResource | None:
    """The recorded resource as an `AzureResource`; None if the version of the recording is not known."""
    arm_id = ArmId(recording["path"])
    if open_arm_types().find_body(arm_id.arm_type, recording["apiVersion"]) is None:
        return None
    kind = catalog.any_type(TypeAndVersion(arm_id.arm_type, recording["apiVersion"]))
    return FoundResource(kind=kind, arm_id=arm_id, owner_id=arm_id.parent, body=recording["get"])


def try_round_trip(resource: FoundResource, catalog: Catalog) -> tuple[ImportProof, tuple[str, ...]]:
    """The proof of one import, and the fields that the kind does not allow."""
    (manifest,) = make_manifests([resource], ManifestStyle(existing={}, namespace=NAMESPACE))
    text = format_manifests([manifest])
    manifests = read_manifests({"manifest.yaml": text}, namespace=NAMESPACE)
    prepared = prepare(manifests, catalog=catalog, subscription=SUBSCRIPTION)
    (proof,) = prove({manifest.key: resource}, show(prepared, {}, keeps_secrets=True))
    return proof, manifest.unfit


def format_proof(proof: ImportProof, unfit: tuple[str, ...]) -> Iterator[str]:
    yield from (f"{problem.code} {problem.field}: {problem.message}" for problem in proof.problems)
    yield from (
        f"{difference.path}: {difference.live!r} became {difference.desired!r} ({difference.rule})"
        for difference in proof.differences
    )
    yield from (f"{location}: not allowed by the kind, left out" for location in unfit)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Import recorded resources, and compare.")
    parser.add_argument("recordings", type=Path)
    parser.add_argument("--any-type", action="store_true", help="Import all as AzureResource.")
    options = parser.parse_args(argv)
    catalog = open_catalog()
    total, proven, unknown, refused = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    notes = Counter[str]()
    for recording in read_recordings(options.recordings):
        arm_type = ArmId(recording["path"]).arm_type
        if find_refusal(arm_type):
            refused[arm_type] += 1
            continue
        find = find_any_resource if options.any_type else find_resource
        resource = find(recording, catalog)
        if resource is None:
            unknown[arm_type] += 1
            continue
        proof, unfit = try_round_trip(resource, catalog)
        total[arm_type] += 1
        proven[arm_type] += proof.holds
        notes.update(f"{arm_type} {recording['apiVersion']} {line}" for line in format_proof(proof, unfit))
    for arm_type in sorted(total):
        print(f"{proven[arm_type]:>4} of {total[arm_type]:>4}  {arm_type}")
    for note, count in sorted(notes.items()):
        print(f"{count:>4} × {note}")
    print(
        f"{proven.total()} of {total.total()} without a difference; {unknown.total()} of versions that are not "
        f"known, {refused.total()} of types that gitsync does not write."
    )
    return 0 if proven == total else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
