"""What version 0.1.0 wrote before records named their unit is read as it was: status, plan file and report."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from gitsync.model.record import Claim
from gitsync.repository.git.source.worktree import FolderListing
from gitsync.repository.git.state.former_tree import convert_file
from gitsync.repository.git.state.plan_file import decode_plan, encode_plan
from gitsync.repository.git.state.record_files import decode_record, encode_record
from gitsync.repository.git.state.status_tree import read_state
from tests.support.json_schemas import read_schema

FOLDER = Path(__file__).with_name("written_before")
STATUS = FOLDER / "status"
RECORDS = sorted(p for p in STATUS.rglob("*.yaml") if p.name != "inventory.yaml" and p.parent.name != "ConfigMap")


def test_a_status_is_read_in_full():
    state = read_state(FolderListing(root=STATUS))
    assert len(state.records) == len(RECORDS) > 15
    assert {record.claim for record in state.records.values()} == {Claim.CREATED}
    assert {record.manifest.unit for record in state.records.values()} == {""}, (
        "unknown, so it is held while anything is unread"
    )


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_is_written_as_json_as_it_was_read(path):
    content = path.read_bytes()
    record = decode_record(path.relative_to(STATUS).as_posix(), content)
    present, converted = convert_file(path.relative_to(STATUS).as_posix(), content)
    assert json.loads(converted) == yaml.safe_load(content)
    assert decode_record(present, converted) == record
    assert encode_record(record) == converted


def test_a_plan_file_is_read_and_written_as_it_was():
    content = (FOLDER / "plan.json").read_bytes()
    assert encode_plan(decode_plan(content)).encode() == content


@pytest.mark.parametrize("path", [FOLDER / "report.json", STATUS / "report.json"], ids=["report", "status"])
def test_a_report_fits_the_schema(path):
    jsonschema.validate(json.loads(path.read_text()), read_schema("report"))
