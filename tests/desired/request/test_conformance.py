"""The requests of whole cases, against what Azure Service Operator sends for the same manifests.

The cases lie outside the project; where they are not available, there is nothing to compare with.
"""

import json

import pytest

from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.desired.request.placeholders import show
from tests.support.recordings import FOLDER as RECORDINGS
from tests.support.recordings import needs_recordings

CASES = RECORDINGS / "conformance" / "cases"
SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"

pytestmark = needs_recordings(CASES)


def bare(value):
    """Without nulls and empty collections, which do not count."""
    if isinstance(value, dict):
        cleaned = {key: bare(child) for key, child in value.items()}
        return {key: child for key, child in cleaned.items() if child not in (None, {}, [])}
    return [bare(child) for child in value] if isinstance(value, list) else value


def rendered(case, catalog):
    folder = case / "manifests"
    files = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    read = read_manifests(files)
    everything = prepare(read, catalog=catalog, subscription=SUBSCRIPTION)
    shown = show(everything, read.objects.config_maps)
    return {(s.prepared.resource.gvk.api_version, s.prepared.key.kind, s.prepared.key.name): s for s in shown}


@pytest.mark.parametrize("case", sorted(CASES.glob("*")) if CASES.is_dir() else [], ids=lambda case: case.name)
def test_a_case(catalog, case):
    found = rendered(case, catalog)
    for entry in json.loads((case / "expected.json").read_text()):
        shown = found[entry["apiVersion"], entry["kind"], entry["name"]]
        errors = {problem.code for problem in shown.prepared.problems if problem.is_error}
        # one sample has a name that no API server takes, and one a group and a kind of its owner
        has_errors = bool(errors - {"ObjectName", "NoEffect"})
        if "unresolved" in entry:
            assert has_errors, entry["name"]
            continue
        assert has_errors == bool(entry.get("unknownFields") or entry.get("twice")), entry["name"]
        assert (shown.arm_id, shown.prepared.api_version) == (entry["armId"], entry["armApiVersion"])
        assert {str(key) for key in shown.prepared.relations.depends_on} >= set(entry["dependsOn"])
        if "body" in entry:
            assert bare(shown.request.body) == bare(entry["body"])
