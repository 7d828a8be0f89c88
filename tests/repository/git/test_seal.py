"""Seals of records: what a run with the key wrote is known again, and nothing else is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitsync.model.condition import Condition, ConditionStatus
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim, Trust
from gitsync.model.secret import Secret
from gitsync.repository.git.state.documents import write_document
from gitsync.repository.git.state.record_files import UNSEALED, decode_record, encode_record, make_record_path
from gitsync.repository.git.state.seal import RecordSeals, name_source
from tests.support.builders import record, vnet, vnet_id
from tests.support.former_seals import make_former_seal
from tests.support.parts import change

KEY, OTHER, OLD = (Secret(letter * 32) for letter in "abc")
OURS = RecordSeals("us", KEY)
PATH = make_record_path(vnet())
RECORD = record(
    vnet(),
    vnet_id(),
    agent="us",
    count=3,
    unit="net",
    applied={"location": "westeurope", "properties": {"size": 1.5, "list": [1, True, None, "é"]}},
    condition=Condition(status=ConditionStatus.TRUE, reason="Succeeded", time="2026-01-01T00:00:00Z"),
)


def changed(**members):
    """The signed file with other members under `gitsync`."""
    document = json.loads(encode_record(RECORD, OURS))
    document["gitsync"] |= members
    return write_document(document)


def find_trust(content, seals=OURS):
    return decode_record(PATH, content, seals).trust


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"armId": vnet_id("other")}, "another resource"),
        ({"claim": "adopted"}, "another claim"),
        ({"policy": "skip"}, "another policy"),
        ({"writes": 4}, "another number of writes"),
        ({"agent": ""}, "no agent any more"),
        ({"unit": "elsewhere"}, "another folder"),
        ({"exports": ["Secret/taken"]}, "an export that it does not have"),
        ({"applied": {"location": "westeurope"}}, "another body"),
        ({"lastWrite": {"at": "2026-01-01T00:00:00Z", "correlationId": "x"}}, "a write of somebody else as our own"),
        ({"durations": {"create": 5}}, "a duration, though it decides nothing"),
        ({"outside": {"read": "1", "types": "2", "values": {}}}, "what Azure showed beside the fields of git"),
        ({"dependsOn": []}, "a member more, even an empty one"),
    ],
)
def test_a_changed_record_is_altered(members, why):
    assert find_trust(changed(**members)) is Trust.ALTERED, why


@pytest.mark.parametrize(
    ("content", "seals", "trust", "why"),
    [
        (encode_record(RECORD, OURS), OURS, Trust.SIGNED, "as it was written"),
        (encode_record(RECORD), OURS, Trust.UNSIGNED, "written without a key"),
        (encode_record(RECORD, RecordSeals("us", OTHER)), OURS, Trust.OTHER_KEY, "a key that we do not have"),
        (
            encode_record(RECORD, RecordSeals("us", OLD)),
            RecordSeals("us", KEY, OLD),
            Trust.SIGNED_BEFORE,
            "keys are rotated",
        ),
        (encode_record(RECORD, OURS), RecordSeals("us"), Trust.NO_KEY, "without a key a seal cannot be checked"),
        (encode_record(RECORD), RecordSeals("us"), Trust.UNCHECKED, "and without a seal there is nothing to check"),
        (encode_record(RECORD), RecordSeals("them", KEY), Trust.UNCHECKED, "other agents check their own"),
        (encode_record(RECORD, OURS), RecordSeals("them", KEY), Trust.SIGNED, "but a seal with this key is known"),
        (encode_record(RECORD, OURS), RecordSeals("them", OTHER, KEY), Trust.SIGNED, "and is not for others to renew"),
        (
            encode_record(RECORD, OURS),
            RecordSeals("them", OTHER),
            Trust.UNCHECKED,
            "a seal with another key is their affair",
        ),
        (
            encode_record(RECORD),
            RecordSeals("them", KEY, checks_all=True),
            Trust.UNSIGNED,
            "unless all are to be checked",
        ),
        (
            encode_record(replace(RECORD, agent="")),
            RecordSeals("them", KEY),
            Trust.UNSIGNED,
            "a record of no agent is ours",
        ),
        (changed(seal=""), OURS, Trust.OTHER_KEY, "an empty seal is not a valid one"),
        (changed(seal=7), OURS, Trust.UNSIGNED, "nor is a number"),
        (changed(requestId="r-1"), OURS, Trust.SIGNED, "the id of a request belongs to the condition"),
    ],
)
def test_what_the_seal_of_a_file_has(content, seals, trust, why):
    assert find_trust(content, seals) is trust, why


def test_a_seal_cannot_be_moved_to_another_resource():
    moved = encode_record(RECORD, OURS).decode().replace('"name": "hub"', '"name": "spoke"')
    assert decode_record(make_record_path(vnet("spoke")), moved.encode(), OURS).trust is Trust.ALTERED


HERE, THERE = name_source("github.com/acme/estate", "gitsync/status"), name_source("github.com/acme/other")
FORMER = "hmac-sha256:34e91cfc:26516244856addbb58b8780dd294114592fda77cae112aa24414194863f4e9d0"
"""Of `FORMER_RECORD` with `KEY`, as version 0.1.0 made it before seals had a location."""
FORMER_RECORD = record(
    vnet(), vnet_id(), agent="us", count=3, unit="net",
    applied={"location": "westeurope", "size": 1.5, "list": [1, True, None, "é"]},
)  # fmt: skip


def at(location, key=KEY, **more):
    return RecordSeals("us", key, source_name=location, **more)


@pytest.mark.parametrize(
    ("signed", "read", "trust", "why"),
    [
        (at(HERE), at(HERE), Trust.SIGNED, "where it was signed"),
        (at(HERE), at(THERE), Trust.OTHER_BRANCH, "another repository"),
        (at(HERE), at(name_source("github.com/acme/estate", "other")), Trust.OTHER_BRANCH, "another branch of it"),
        (at(HERE), at(name_source("github.com/acme/estate")), Trust.OTHER_BRANCH, "a folder of it"),
        (at(HERE), at(""), Trust.OTHER_BRANCH, "a source without a name"),
        (at(HERE), at(None), Trust.SIGNED, "a reader who does not know where it was signed"),
        (at(HERE, OLD), at(HERE, previous=OLD), Trust.SIGNED_BEFORE, "keys are rotated there"),
        (at(HERE, OLD), at(THERE, previous=OLD), Trust.OTHER_BRANCH, "which makes no copy good"),
        (at(HERE), at(THERE, OTHER), Trust.OTHER_KEY, "another key, wherever it is"),
        (
            at(HERE),
            RecordSeals("them", KEY, source_name=THERE),
            Trust.UNCHECKED,
            "a copy with the name of another agent",
        ),
    ],
)
def test_a_seal_belongs_to_a_repository_and_a_branch(signed, read, trust, why):
    assert find_trust(encode_record(RECORD, signed), read) is trust, why


def test_the_location_in_a_seal_cannot_be_changed_or_removed():
    scheme, name, location, digest = json.loads(encode_record(RECORD, at(HERE)))["gitsync"]["seal"].split(":")
    other = json.loads(encode_record(RECORD, at(THERE)))["gitsync"]["seal"].split(":")[2]
    assert location != other
    for seal in ([scheme, name, other, digest], [scheme, name, digest], [scheme, name, "", digest], [scheme, name]):
        assert find_trust(changed(seal=":".join(seal)), at(HERE)) is Trust.ALTERED
        assert find_trust(changed(seal=":".join(seal)), at(THERE)) is Trust.ALTERED


@pytest.mark.parametrize("reader", [at(HERE), at(None), at(HERE, OTHER, previous=KEY)])
def test_a_seal_of_an_older_version_is_known_as_one_without_a_location(reader):
    document = json.loads(encode_record(FORMER_RECORD, UNSEALED))
    assert make_former_seal(KEY.reveal(), document) == FORMER
    document["gitsync"]["seal"] = FORMER
    assert find_trust(write_document(document), reader) is Trust.UNPLACED
    document["gitsync"]["writes"] = 4
    assert find_trust(write_document(document), reader) is Trust.ALTERED


NO_NAME, FOLDER = name_source("", "gitsync/status"), name_source("github.com/acme/estate")
MINE, THEIRS = "1" * 32, "2" * 32
OF_MINE = (at(HERE).of_status(MINE), at(FOLDER).of_status(MINE), at(NO_NAME).of_status(MINE), at("#").of_status(MINE))


@pytest.mark.parametrize("seals", OF_MINE)
def test_a_seal_belongs_to_a_status(seals):
    content = encode_record(RECORD, seals)
    assert find_trust(content, seals) is Trust.SIGNED
    assert find_trust(content, replace(seals, source_name=None)) is Trust.SIGNED
    for identity in (THEIRS, ""):
        assert find_trust(content, seals.of_status(identity)) is Trust.OTHER_STATUS, "also once the identity is gone"
        assert find_trust(content, replace(seals, source_name=None, identity=identity)) is Trust.OTHER_STATUS
    assert find_trust(content, replace(seals, source_name=THERE)) is Trust.OTHER_BRANCH, "a copy of the whole status"
    rotated = replace(seals, key=OTHER, previous=KEY)
    assert find_trust(content, rotated) is Trust.SIGNED_BEFORE
    assert find_trust(content, rotated.of_status(THEIRS)) is Trust.OTHER_STATUS, "which makes no copy good"


@pytest.mark.parametrize(
    ("location", "identity", "trust", "why"),
    [
        (HERE, "", Trust.SIGNED, "a branch of a repository with a name is one status, as it was before"),
        (HERE, MINE, Trust.SIGNED_BEFORE, "so its seals count, and are made again"),
        (FOLDER, "", Trust.UNIDENTIFIED, "a repository may have many folders"),
        (FOLDER, MINE, Trust.UNIDENTIFIED, "in one with an identity, too"),
        (NO_NAME, "", Trust.UNIDENTIFIED, "all repositories without a remote have the same branch"),
        (NO_NAME, MINE, Trust.UNIDENTIFIED, "with an identity, too"),
        ("#", "", Trust.UNIDENTIFIED, "all folders without a remote are one place"),
        ("#", MINE, Trust.UNIDENTIFIED, "with an identity, too"),
    ],
)
def test_a_seal_without_a_status_counts_where_there_can_be_one_only(location, identity, trust, why):
    document = json.loads(encode_record(RECORD, UNSEALED))
    document["gitsync"]["seal"] = make_former_seal(KEY.reveal(), document, location)
    assert document == json.loads(encode_record(RECORD, at(location))), "as an older version wrote it"
    assert find_trust(write_document(document), at(location).of_status(identity)) is trust, why
    document["gitsync"]["writes"] = 9
    assert find_trust(write_document(document), at(location).of_status(identity)) is Trust.ALTERED


def test_the_status_in_a_seal_cannot_be_changed_or_removed():
    seals = at(HERE).of_status(MINE)
    scheme, name, location, status, digest = json.loads(encode_record(RECORD, seals))["gitsync"]["seal"].split(":")
    other = json.loads(encode_record(RECORD, seals.of_status(THEIRS)))["gitsync"]["seal"].split(":")[3]
    forged = (
        [location, other, digest],
        [location, digest],
        [status, digest],
        [digest],
        [location, "", digest],
        ["", status, digest],
        ["", "", digest],
        [location, status, "", digest],
        [location, status, digest, digest],
        [],
    )
    for parts in forged:
        for identity in (MINE, THEIRS, ""):
            content = changed(seal=":".join([scheme, name, *parts]))
            assert find_trust(content, seals.of_status(identity)) is Trust.ALTERED, parts


def test_the_condition_is_not_covered():
    other = replace(RECORD, condition=Condition(status=ConditionStatus.FALSE, reason="Failed", message="No."))
    assert (
        json.loads(encode_record(other, OURS))["gitsync"]["seal"]
        == json.loads(encode_record(RECORD, OURS))["gitsync"]["seal"]
    )


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@example(
    applied={"a": -(1 << 63) - 1, "b": 10**30, "c": 1 << 64, "d": 2.0, "e": 1e22},
    claim=Claim.NONE,
    policy=Policy.MANAGE,
)
@given(
    applied=st.dictionaries(st.text(max_size=5), VALUES, max_size=4),
    claim=st.sampled_from(Claim),
    policy=st.sampled_from(Policy),
)
def test_whatever_is_written_is_known_again(applied, claim, policy):
    written = change(RECORD, applied=applied, claim=claim, policy=policy)
    assert find_trust(encode_record(written, OURS)) is Trust.SIGNED
