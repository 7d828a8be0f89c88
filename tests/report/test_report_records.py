"""What is recorded, as kubectl would show it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.condition import Severity
from gitsync.model.export import Address, ObjectKind
from gitsync.model.record import Claim, PendingOperation, WriteStreak
from gitsync.report.records import describe_record, list_records
from tests.report.report_builders import RECORDS, failed, key, record

GOLDEN = Path(__file__).parent / "golden"

FULL = record(
    key("VirtualNetwork", "hub", "network.azure.com"),
    failed("Reconciling", "The resource is being reconciled", Severity.INFO, request_id="11-22"),
    claim=Claim.EXPECTED,
    operation=PendingOperation("create", "2026-01-02T03:04:05Z"),
    owner=key("ResourceGroup", "core"),
    depends_on=(key("ResourceGroup", "core"),),
    applied={"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}},
    baseline=None,
    count=2,
    agent="gitsync",
    exports=(Address(ObjectKind.CONFIG_MAP, "default", "where"), Address(ObjectKind.SECRET, "default", "keys")),
    credential="aso-credential",
)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("status.txt", list_records(RECORDS)),
        ("describe-full.txt", describe_record(FULL, revision="0123456789abcdef")),
        ("describe-bare.txt", describe_record(RECORDS[2], revision=None)),
    ],
)
def test_records_read_as_they_should(name, lines):
    assert lines == (GOLDEN / name).read_text(encoding="utf-8").splitlines()


def test_one_namespace_is_not_named():
    assert list_records(RECORDS[:2])[0].split() == ["NAME", "READY", "SEVERITY", "REASON", "MESSAGE"]


def test_the_order_of_records_does_not_matter():
    assert list_records(RECORDS[::-1]) == list_records(RECORDS)


def test_colour_is_put_on_last():
    painted = "\n".join(list_records(RECORDS, colour=True))
    assert "\x1b[32mTrue\x1b[0m" in painted


@pytest.mark.parametrize(
    ("row", "line", "why"),
    [
        (WriteStreak(count=1, paths=("/tags/a",), at="2026-01-02T03:04:05Z"), "1 write in a row, last at 2026-01-02T03:04:05Z: /tags/a", "once"),
        (WriteStreak(count=3, paths=("/a", "/b"), at="x", paused="y"), "3 writes in a row, last at x: /a, /b; writes are paused", "flapping"),
        (WriteStreak(count=2, paths=("",), at="x"), "2 writes in a row, last at x: the complete resource", "it is deleted each time"),
    ],
)  # fmt: skip
def test_what_undoes_our_writes_is_reported(row, line, why):
    lines = describe_record(record(key("A", "a"), streak=row), revision=None)
    assert [told.partition(":")[2].strip() for told in lines if told.startswith("Set back after:")] == [line], why


@given(st.text(max_size=40))
def test_foreign_text_never_reaches_the_terminal_as_it_is(text):
    unexpected = record(key("A", text, text, text), failed(text, text), arm_id=text, agent=text, applied={text: text})
    lines = [*list_records([unexpected]), *describe_record(unexpected, revision=text, width=40)]
    assert all(line.isprintable() for line in lines)
