"""Correct manifests have no problems: manifests that Azure Service Operator takes have no errors."""

import json
from pathlib import Path

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from tests.support.recordings import FOLDER as RECORDINGS
from tests.support.recordings import needs_recordings

ROOT = Path(__file__).resolve().parents[3]
CASES = sorted((RECORDINGS / "conformance" / "cases").glob("*/expected.json"))
CATALOG = open_catalog()
NOT_OF_A_CLUSTER = {"ObjectName", "NoEffect"}
"""One sample has a name that no API server takes, and one a group and a kind of its owner."""

OF_OTHER_SAMPLES = {"OwnerNotFound"}
"""Users of databases are in a folder of their own, without their server; ASO sends no request for them."""

MARKS = ("unresolved", "unknownFields", "twice")


def errors_of(folder):
    """The errors of each resource, and those of files."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    manifests = read_manifests(files)
    assert manifests.problems == ()
    prepared = prepare(manifests, catalog=CATALOG, subscription="00000000-0000-0000-0000-000000000000")
    return {
        resource: [problem for problem in resource.problems if problem.is_error]
        for resource in map(Evaluated, prepared)
    }


class Evaluated:
    """A resource by what it is called, for the table of what is expected."""

    def __init__(self, prepared):
        self.problems = prepared.problems
        self.name = (prepared.resource.gvk.api_version, prepared.key.kind, prepared.key.name)


@needs_recordings(RECORDINGS / "conformance" / "cases")
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.parent.name)
def test_samples_of_the_operator(case):
    expected = {(e["apiVersion"], e["kind"], e["name"]): e for e in json.loads(case.read_text())}
    for evaluated, errors in errors_of(case.parent / "manifests").items():
        entry = expected.get(evaluated.name)
        if any(mark in (entry or {}) for mark in MARKS):
            assert errors, (evaluated.name, entry)
        else:
            fine = NOT_OF_A_CLUSTER if entry else {*NOT_OF_A_CLUSTER, *OF_OTHER_SAMPLES}
            assert [problem for problem in errors if problem.code not in fine] == [], evaluated.name


@needs_recordings(RECORDINGS / "conformance" / "cases")
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.parent.name)
def test_misspelt_fields_are_reported_by_name(case):
    expected = {(e["apiVersion"], e["kind"], e["name"]): e for e in json.loads(case.read_text())}
    for evaluated, errors in errors_of(case.parent / "manifests").items():
        unknown = {problem.field for problem in errors if problem.code == "UnknownField"}
        assert set(expected.get(evaluated.name, {}).get("unknownFields", ())) <= unknown


def test_the_examples():
    errors = errors_of(ROOT / "examples" / "manifests")
    assert len(errors) >= 30
    assert [found for found in errors.values() if found] == []
    assert [
        error.name for error in errors if any(problem.code == "VersionNotServed" for problem in error.problems)
    ] == []
