"""A record survives the file, and a file that we did not write is refused with its line."""

import json
import re
from dataclasses import replace
from datetime import UTC, date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.errors import StateError
from gitsync.model.condition import Condition, ConditionStatus, Severity
from gitsync.model.gvk import Key
from gitsync.model.hold import HeldUntil
from gitsync.model.outside import RecordedOutside
from gitsync.model.provider import Kept
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim, Durations, FailedWrite, LastWrite, PendingOperation, Record, WriteStreak
from gitsync.model.secret import Secret
from gitsync.repository.git.state.documents import write_document
from gitsync.repository.git.state.record_files import decode_record, encode_record, is_record_path, make_record_path
from tests.support.parts import build, change

AWKWARD = [
    "", "~", "null", "y", "Y", "n", "NO", "on", "true", "1", "-1", "08", "0o17", "0x1F", "0b1", "1_000", "1e3", "6e5", "+.5", ".5", "5.",
    "1.0", ".inf", ".nan", "12:30:45", "1:30", "2020-01-01", "2020-13-45", "=", "<<", "- a", "a: b", "#", "a #b", "*a", "&a", "!a", "%a",
    "@a", "`a", "'", '"', "|", ">", "?", "? a", ":", "---", "...", "a\n---\nb", " a", "a ", "\ta", "a\r\nb", "a\x00b", "\x85", "\u2028",
    "\ufeff", "\ud7ff", "😀", "é", "{}", "[]", "{a", "a\\b", "x" * 300,
]  # fmt: skip

texts = st.one_of(st.sampled_from(AWKWARD), st.text(max_size=20))
names = st.text(st.characters(blacklist_characters="/", blacklist_categories=("Cs",)), min_size=1, max_size=20)
groups = st.from_regex(r"[a-z]{1,8}\.azure\.com", fullmatch=True)
kinds = st.from_regex(r"[A-Z][A-Za-z]{0,12}", fullmatch=True)
keys = st.builds(Key, group=groups, kind=kinds, namespace=names, name=names)
numbers = st.one_of(st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False, allow_infinity=False))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=12,
)
bodies = st.one_of(st.none(), st.dictionaries(texts, values, max_size=4))
conditions = st.builds(
    Condition,
    status=st.sampled_from(ConditionStatus),
    severity=st.sampled_from(Severity),
    reason=texts,
    message=texts,
    generation=st.integers(0, 10**6),
    time=texts,
    request_id=texts,
    advice=texts,
)


rows = st.builds(
    WriteStreak,
    count=st.integers(0, 10**6),
    paths=st.lists(texts, max_size=3).map(tuple),
    at=st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.isoformat()),
    paused=texts,
)


failures = st.builds(
    FailedWrite,
    st.sampled_from(["create", "update"]),
    st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.isoformat()),
    st.integers(0, 10**6),
    st.lists(texts, max_size=3).map(tuple),
)


last_writes = st.builds(
    LastWrite,
    correlation_id=texts,
    returned_id=texts,
    at=st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.isoformat()),
    revision=texts,
)


durations = st.builds(Durations, st.none() | st.integers(0, 10**6), st.none() | st.integers(0, 10**6))

outsides = st.builds(
    RecordedOutside,
    values=st.dictionaries(texts, values, max_size=4),
    types=texts,
    read=texts,
    changed=st.lists(texts, max_size=3).map(tuple),
)


@st.composite
def records(draw):
    key = draw(keys)
    return build(
        Record,
        key=key,
        api_version=f"{key.group}/{draw(st.sampled_from(['v1api20200601', 'v20240101']))}",
        arm_id=draw(texts),
        arm_api_version=draw(texts),
        claim=draw(st.sampled_from(Claim)),
        policy=draw(st.sampled_from(Policy)),
        generation=draw(st.integers(0, 10**6)),
        reconciled_generation=draw(st.integers(0, 10**6)),
        digest=draw(texts),
        applied=draw(bodies),
        baseline=draw(bodies),
        outside=draw(st.none() | outsides),
        operation=draw(st.none() | st.builds(PendingOperation, texts, texts)),
        count=draw(st.integers(0, 10**6)),
        failure=draw(st.none() | failures),
        streak=draw(st.none() | rows),
        last=draw(st.none() | last_writes),
        durations=draw(durations),
        owner=draw(st.none() | keys),
        depends_on=tuple(draw(st.lists(keys, max_size=3))),
        agent=draw(texts),
        operator=draw(texts),
        credential=draw(texts),
        subscription=draw(texts),
        unit=draw(texts),
        condition=draw(st.none() | conditions),
    )


@given(records())
def test_a_record_survives_the_file_and_has_the_same_bytes_after_any_number_of_trips(record):
    once = encode_record(record)
    read = decode_record(make_record_path(record.key), once)
    assert read == record
    assert encode_record(read) == once


@given(st.dictionaries(texts, values, max_size=4))
def test_order_of_keys_does_not_reach_the_file(body):
    turned = dict(reversed(body.items()))
    assert encode_record(change(RECORD, applied=body)) == encode_record(change(RECORD, applied=turned))


@pytest.mark.parametrize("text", AWKWARD)
def test_a_text_comes_back_and_no_terminal_takes_it_for_a_command(text):
    written = write_document({"key": text, text: ["x", text]})
    assert json.loads(written) == {"key": text, text: ["x", text]}
    assert all(character.isprintable() for line in written.decode().split("\n") for character in line)


def test_half_of_a_surrogate_pair_does_not_stop_the_writing():
    assert json.loads(write_document({"message": "a\ud800b"})) == {"message": "a?b"}


def test_people_read_their_own_letters():
    assert b"K\xc3\xb6ln" in write_document({"city": "K\u00f6ln"})


RECORD = build(
    Record,
    key=Key("resources.azure.com", "ResourceGroup", "default", "core"),
    api_version="resources.azure.com/v1api20200601",
    arm_id="/subscriptions/0/resourceGroups/core",
    arm_api_version="2020-06-01",
    claim=Claim.CREATED,
    policy=Policy.DETACH_ON_DELETE,
    generation=2,
    reconciled_generation=1,
    digest="1e3",
    applied={"location": "westeurope", "tags": {"on": "y", "count": 1}},
    baseline={"location": "westeurope"},
    operation=PendingOperation("update", "2024-05-01T10:00:00Z"),
    count=1,
    last=LastWrite(
        correlation_id="6a1f39c5-8f0a-5c1e-9d3b-2f7e4f1f0c11",
        returned_id="6a1f39c5-8f0a-5c1e-9d3b-2f7e4f1f0c11",
        at="2024-05-01T09:59:58Z",
        revision="a" * 40,
    ),
    durations=Durations(create=140, update=3),
    owner=Key("a.azure.com", "A", "default", "a"),
    depends_on=(Key("b.azure.com", "B", "default", "b"),),
    agent="gitsync",
    operator="gitsync",
    unit="infra/net",
    declared_by="Application",
    condition=Condition(
        status=ConditionStatus.FALSE,
        severity=Severity.WARNING,
        reason="ReferenceNotFound",
        message="first line\nsecond: line",
        generation=2,
        time="2024-05-01T10:00:00Z",
        request_id="abc",
        advice="The identity is missing a right.",
    ),
)
LOCATION = "default/resources.azure.com/ResourceGroup/core.json"
TEXT = """\
{
  "apiVersion": "resources.azure.com/v1api20200601",
  "gitsync": {
    "advice": "The identity is missing a right.",
    "agent": "gitsync",
    "applied": {
      "location": "westeurope",
      "tags": {
        "count": 1,
        "on": "y"
      }
    },
    "armApiVersion": "2020-06-01",
    "armId": "/subscriptions/0/resourceGroups/core",
    "baseline": {
      "location": "westeurope"
    },
    "claim": "created",
    "declaredBy": "Application",
    "dependsOn": [
      "B.b.azure.com/default/b"
    ],
    "durations": {
      "create": 140,
      "update": 3
    },
    "generation": 2,
    "lastWrite": {
      "at": "2024-05-01T09:59:58Z",
      "correlationId": "6a1f39c5-8f0a-5c1e-9d3b-2f7e4f1f0c11",
      "returnedId": "6a1f39c5-8f0a-5c1e-9d3b-2f7e4f1f0c11",
      "revision": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    },
    "operation": {
      "kind": "update",
      "startedAt": "2024-05-01T10:00:00Z"
    },
    "owner": "A.a.azure.com/default/a",
    "policy": "detach-on-delete",
    "requestId": "abc",
    "schema": 1,
    "specDigest": "1e3",
    "unit": "infra/net",
    "writes": 1
  },
  "kind": "ResourceGroup",
  "metadata": {
    "annotations": {
      "serviceoperator.azure.com/latest-reconciled-generation": "1",
      "serviceoperator.azure.com/operator-namespace": "gitsync",
      "serviceoperator.azure.com/resource-id": "/subscriptions/0/resourceGroups/core"
    },
    "generation": 2,
    "labels": {
      "serviceoperator.azure.com/owner-group-kind": "A.a.azure.com",
      "serviceoperator.azure.com/owner-name": "a"
    },
    "name": "core",
    "namespace": "default"
  },
  "status": {
    "conditions": [
      {
        "lastTransitionTime": "2024-05-01T10:00:00Z",
        "message": "first line\\nsecond: line",
        "observedGeneration": 2,
        "reason": "ReferenceNotFound",
        "severity": "Warning",
        "status": "False",
        "type": "Ready"
      }
    ]
  }
}
"""


def test_the_file_is_the_kubernetes_object():
    assert encode_record(RECORD).decode() == TEXT


def test_a_file_of_before_units_were_kept_is_read_and_written_as_it_was():
    older = TEXT.replace('    "unit": "infra/net",\n', "").encode()
    assert decode_record(LOCATION, older) == change(RECORD, unit="")
    assert encode_record(change(RECORD, unit="")) == older


def test_a_file_of_before_the_last_write_was_kept_is_read_and_written_as_it_was():
    lines = TEXT.splitlines(keepends=True)
    begin = lines.index('    "lastWrite": {\n')
    older = "".join([*lines[:begin], *lines[begin + 6 :]]).encode()
    assert decode_record(LOCATION, older) == change(RECORD, last=None)
    assert encode_record(change(RECORD, last=None)) == older


def test_a_file_of_before_durations_were_kept_is_read_and_written_as_it_was():
    older = TEXT.replace('    "durations": {\n      "create": 140,\n      "update": 3\n    },\n', "").encode()
    assert decode_record(LOCATION, older) == change(RECORD, durations=Durations())
    assert encode_record(change(RECORD, durations=Durations())) == older


@pytest.mark.parametrize(
    "kept",
    [
        Kept(given_id="3f6d0f0e-0000-4000-8000-000000000001"),
        Kept(administrator="ops", password_from=("postgres", "admin")),
        Kept(administrator="ops", alias="short"),
    ],
    ids=["a group has an id", "a user is managed with a password", "a user with an alias is managed with a token"],
)
def test_what_another_provider_needs_is_kept(kept):
    record = replace(RECORD, kept=kept)
    assert decode_record(LOCATION, encode_record(record)) == record
    assert b"provider" not in encode_record(RECORD)


def test_a_hold_is_kept():
    held = change(RECORD, hold=HeldUntil(date(2026, 12, 1), "incident: 4711"))
    written = encode_record(held)
    assert json.loads(written)["gitsync"]["hold"] == {"reason": "incident: 4711", "until": "2026-12-01"}
    assert decode_record(LOCATION, written) == held


OUTSIDE = RecordedOutside(
    values={"properties": {"publicNetworkAccess": "Enabled"}, "tags": {"cost": "a1b2"}},
    types="2026-11-01",
    read="9f86d081",
    changed=("/properties/publicNetworkAccess", "/tags/owner"),
)


def test_outside_values_are_kept():
    written = encode_record(change(RECORD, outside=OUTSIDE))
    assert json.loads(written)["gitsync"]["outside"] == {
        "changed": ["/properties/publicNetworkAccess", "/tags/owner"],
        "read": "9f86d081",
        "types": "2026-11-01",
        "values": {"properties": {"publicNetworkAccess": "Enabled"}, "tags": {"cost": "a1b2"}},
    }
    assert decode_record(LOCATION, written) == change(RECORD, outside=OUTSIDE)


def test_a_record_without_outside_values_differs_from_one_that_has_none_yet():
    nothing = change(RECORD, outside=RecordedOutside(values={}, types="2026-11-01", read="9f86d081"))
    written = encode_record(nothing)
    assert json.loads(written)["gitsync"]["outside"] == {"read": "9f86d081", "types": "2026-11-01", "values": {}}
    assert decode_record(LOCATION, written) == nothing


def test_a_file_of_before_outside_values_were_kept_is_read_and_written_as_it_was():
    assert decode_record(LOCATION, TEXT.encode()) == change(RECORD, outside=None)
    assert b"outside" not in encode_record(RECORD)


@pytest.mark.parametrize(
    ("member", "value", "said"),
    [
        ("values", None, "gitsync.outside.values is missing"),
        ("values", ["Enabled"], "gitsync.outside.values must be a mapping"),
        ("types", None, "gitsync.outside.types is missing"),
        ("types", 20261101, "gitsync.outside.types must be a string"),
        ("read", None, "gitsync.outside.read is missing"),
        ("read", {"digest": "9f86d081"}, "gitsync.outside.read must be a string"),
        ("changed", "/tags/owner", "gitsync.outside.changed must be a list"),
        ("changed", ["/tags/owner", 1], "gitsync.outside.changed must be a list of strings"),
        ("", ["/tags/owner"], "gitsync.outside must be a mapping"),
    ],
)
def test_outside_values_that_no_run_wrote_are_refused(member, value, said):
    document = json.loads(encode_record(change(RECORD, outside=OUTSIDE)))
    if member:
        document["gitsync"]["outside"] |= {member: value}
    else:
        document["gitsync"]["outside"] = value
    with pytest.raises(StateError, match=re.escape(said)) as refused:
        decode_record(LOCATION, write_document(document))
    assert re.search(r"core\.json:\d+: ", str(refused.value))


def test_a_secret_among_outside_values_is_never_written():
    with pytest.raises(TypeError, match="Secret"):
        encode_record(change(RECORD, outside=replace(OUTSIDE, values={"password": Secret("hunter2")})))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"until": "2026-12-01"', '"until": "soon"', "gitsync.hold.until is 'soon', not a date"),
        ('"until": "2026-12-01"', '"till": "x"', "gitsync.hold.until is missing"),
        ('"reason": "x"', '"reason": ["x"]', "gitsync.hold.reason must be a string"),
    ],
)
def test_a_hold_that_no_run_wrote_is_refused(before, after, said):
    written = encode_record(change(RECORD, hold=HeldUntil(date(2026, 12, 1), "x"))).decode()
    with pytest.raises(StateError, match=re.escape(said)):
        decode_record(LOCATION, written.replace(before, after).encode())


def test_a_resource_that_is_not_claimed_has_no_id_yet():
    annotations = json.loads(encode_record(replace(RECORD, claim=Claim.NONE)))["metadata"]["annotations"]
    assert "serviceoperator.azure.com/resource-id" not in annotations


def test_a_record_that_was_written_before_the_annotations_of_the_operator_is_read():
    lines = [line for line in TEXT.splitlines(keepends=True) if '-generation": "' not in line and "advice" not in line]
    older = "".join(line for line in lines if "operator-namespace" not in line)
    condition = replace(RECORD.condition, advice="")
    assert decode_record(LOCATION, older.encode()) == change(
        RECORD, reconciled_generation=0, operator="", condition=condition
    )


def test_a_secret_is_never_written():
    with pytest.raises(TypeError, match="Secret"):
        encode_record(change(RECORD, applied={"password": Secret("hunter2")}))


@pytest.mark.parametrize(
    ("old", "new", "message", "why"),
    [
        (
            'latest-reconciled-generation": "1"',
            'latest-reconciled-generation": "one"',
            r"""latest-reconciled-generation"\] is 'one', not a whole number""",
            "a generation is a number",
        ),
        ('"schema": 1', '"schema": 2', r"newer gitsync \(schema 2.*Upgrade", "a newer gitsync wrote it"),
        ('"schema": 1', '"schema": 0', r"core\.json:41: gitsync\.schema is 0", "a schema that never was"),
        ('"schema": 1', '"schema": "one"', r"core\.json:41: gitsync\.schema must be a whole", "no number"),
        ('    "schema": 1,\n', "", r"gitsync\.schema is missing", "not ours"),
        ('"gitsync": {', '"other": {', "gitsync is missing", "not ours"),
        (
            '"claim": "created"',
            '"claim": "stolen"',
            r"core\.json:18: gitsync\.claim is 'stolen', not one of none,",
            "a word",
        ),
        ('"detach-on-delete"', '"Manage"', r"gitsync\.policy is 'Manage'", "a word in another case"),
        ('"claim": "created"', '"claim": ["created"]', r"gitsync\.claim must be a string", "a wrong type"),
        ('    "claim": "created",\n', "", r"core\.json:3: gitsync\.claim is missing", "a field is gone"),
        ('"name": "core"', '"name": "other"', r"names .*core\.json|metadata names", "content and path disagree"),
        ('"default"', '"../../etc"', "metadata names", "a name that would lead elsewhere"),
        (
            '    "generation": 2,\n    "last',
            '    "generation": 3,\n    "last',
            "does not match metadata",
            "edited once",
        ),
        ('"create": 140', '"create": 1.5', r"durations\.create must be a whole number", "no whole seconds"),
        ('"durations": {', '"durations": [140], "x": {', r"durations must be a mapping", "a list"),
        ('"writes": 1', '"writes": -1', "must be a whole number", "below nothing"),
        ('"writes": 1', '"writes": true', "must be a whole number", "a truth is no number"),
        ('"writes": 1', '"writes": NaN', "NaN is not JSON", "a word of JavaScript"),
        ('"writes": 1', f'"writes": {"1" * 101}', "more than 100 digits", "a number that takes hours"),
        ("A.a.azure.com/default/a", "A", r"gitsync\.owner must be", "no key"),
        ('"B.b.azure.com/default/b"', "5", r"gitsync\.dependsOn\[0\] must be", "no key"),
        ('"dependsOn": [', '"dependsOn": "x", "x": [', "must be a list", "a wrong type"),
        ('"startedAt"', '"at"', r"operation\.startedAt is missing", "half an operation"),
        ('"conditions": [', '"conditions": ["x", ', r"conditions\[0\] must be a mapping", "no condition"),
        (
            '"status": "False"',
            '"status": false',
            r"core\.json:69: status.*must be a string",
            "a truth is no status",
        ),
        ('"claim": "created"', '"claim": "created", "claim": "adopted"', '"claim" is there twice', "which counts?"),
        ('"gitsync": {', '"gitsync": {{', r"core\.json:3: The file is not JSON", "it does not parse"),
        ('"kind": "Res', '"kind": "\\ud800Res', r"core\.json:1: The file is not JSON", "half of a surrogate pair"),
        ('"tags": {', f'"tags": {{"x": {"[" * 200 + "]" * 200}, ', "100 levels deep", "a tower"),
    ],
)
def test_what_was_edited_is_refused_with_its_line(old, new, message, why):
    assert old in TEXT
    changed = TEXT.replace(old, new, 1).encode()
    with pytest.raises(StateError, match=message) as refused:
        decode_record(LOCATION, changed)
    assert refused.value.hint, why


def is_refused(text):
    try:
        decode_record(LOCATION, text.encode())
    except StateError:
        return True
    return False


def test_a_file_that_was_cut_off_anywhere_is_refused():
    assert [text for size in range(len(TEXT)) if not is_refused(text := TEXT[:size])] == []
    assert not is_refused(TEXT)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_record_or_refused(content):
    with pytest.raises(StateError):
        decode_record(LOCATION, content)


@given(keys, keys)
def test_another_key_has_another_path(one, other):
    assert (make_record_path(one) == make_record_path(other)) == (one == other)


@given(keys)
def test_a_location_is_a_path_that_leads_to_no_other(key):
    location = make_record_path(key)
    assert is_record_path(location)
    parts = location.split("/")
    assert len(parts) == 4
    assert all(part and not part.startswith(".") and len(part) < 255 for part in parts)
    assert location.isascii()
    assert location.isprintable()


@pytest.mark.parametrize(
    ("key", "location"),
    [
        (Key("g.azure.com", "Kind", "default", "name"), "default/g.azure.com/Kind/name.json"),
        (Key("g", "K", "ns", "a.b-c_d"), "ns/g/K/a.b-c_d.json"),
        (Key("g", "K", "..", ".git"), "%2E%2E/g/K/%2Egit.json"),
        (Key("g", "K", "inventory.json", "git~1"), "inventory%2Ejson/g/K/git%7E1.json"),
        (Key("g", "K", "", "a\x00 b"), "%/g/K/a%00%20b.json"),
    ],
)
def test_locations(key, location):
    assert make_record_path(key) == location


def test_long_names_are_distinguished_and_fit_a_file_system():
    one, other = (Key("g", "K", "default", "n" * 252 + last) for last in "ab")
    assert make_record_path(one) != make_record_path(other)
    assert len(make_record_path(one).rpartition("/")[2]) < 255
