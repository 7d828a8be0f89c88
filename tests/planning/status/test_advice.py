"""What to do about errors: which codes are known, and what a text must be."""

import json
import re
from dataclasses import replace

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.emulator.codes import CODES
from gitsync.errors import ArmError, ConfigError
from gitsync.model.arm_id import ArmId
from gitsync.planning.status.advice import BY_CODE, BY_TYPE, find_advice, find_condition_advice
from gitsync.planning.status.conditions import (
    READY,
    RECONCILING,
    make_failed,
    make_not_deleted,
    make_refused,
    make_unreadable,
    make_warning,
)
from gitsync.planning.status.error_classes import classify
from tests.support.recordings import FOLDER as RECORDINGS
from tests.support.recordings import needs_recordings

OF_CLIENTS = {"InvalidFilterInQueryString", "MissingApiVersionParameter", "OperationNotFound"}
"""Mistakes in a request itself, which gitsync does not make and no one who writes manifests can fix."""

TRAFFIC = RECORDINGS / "arm-traffic" / "errors"
VAULT, ROLE = "Microsoft.KeyVault/vaults", "microsoft.authorization/roleassignments"  # in any case
VAULT_ID = ArmId(f"/subscriptions/1/resourceGroups/g/providers/{VAULT}/it")


@pytest.mark.parametrize(
    ("code", "arm_type", "says", "why"),
    [
        ("RoleAssignmentUpdateNotPermitted", ROLE, "UUID made from the names", "why the name is the same"),
        ("RoleAssignmentExists", ROLE, "spec.azureName", "how to adopt the one that is there"),
        ("AuthorizationFailed", VAULT, "Contributor is enough", "most kinds"),
        ("AuthorizationFailed", ROLE, "Contributor may not assign roles", "a kind of its own"),
        ("LinkedAuthorizationFailed", VAULT, "the other resource", "rights on two resources"),
        ("PrincipalNotFound", ROLE, "not its application id", "the usual mistake"),
        ("RequestDisallowedByPolicy", VAULT, "exemption", "whom to ask"),
        ("ScopeLocked", VAULT, "Remove the lock", "what stands in the way"),
        ("QuotaExceeded", VAULT, "more quota", "an amount"),
        ("InsufficientQuota", VAULT, "more quota", "the same by another code"),
        ("SkuNotAvailable", VAULT, "list-skus", "how to find another"),
        ("MissingSubscriptionRegistration", VAULT, "az provider register", "what to run"),
        ("ConflictError", VAULT, "deleted vault", "soft-deleted names"),
        ("ConflictError", ROLE, "", "this code is a vault's"),
        ("VaultAlreadyExists", VAULT, "deleted one", "soft-deleted names"),
        ("InUseSubnetCannotBeDeleted", VAULT, "still uses it", "what is in use"),
        ("InvalidResourceReference", VAULT, "references", "what is missing"),
        ("LocationNotAvailableForResourceType", VAULT, "location", "another region"),
        ("ResourceGroupBeingDeleted", VAULT, "Once it is gone", "what the next run does"),
        ("StorageAccountAlreadyTaken", VAULT, "spec.azureName", "another name"),
        ("DnsRecordInUse", VAULT, "DNS name", "another name"),
        ("storageaccountalreadytaken", VAULT, "spec.azureName", "codes are spelled in more than one way"),
        ("SomethingNew", VAULT, "", "nothing is known of it"),
        ("", VAULT, "", "no code"),
    ],
)
def test_what_is_reported(code, arm_type, says, why):
    found = find_advice(code, arm_type)
    assert says in found, why
    assert bool(found) is bool(says), why


def test_many_codes_are_known():
    assert len(BY_CODE) >= 80


@pytest.mark.parametrize("text", sorted({*BY_CODE.values(), *BY_TYPE.values()}))
def test_a_text_is_a_line_of_sentences_in_plain_characters(text):
    assert text == " ".join(text.split())
    assert text.isascii()
    assert re.fullmatch(r"[A-Zg`].*\.", text)
    assert 15 <= len(text) <= 400
    assert text.count("`") % 2 == 0
    assert not re.search(r"[<>*|\[\]]", text), "it stands in Markdown and in HTML as it is"


def test_no_code_is_in_two_rows():
    from gitsync.planning.status import advice

    codes = [code for table in advice._TABLES for codes in table for code in codes.casefold().split()]
    assert sorted(codes) == sorted(set(codes))


def test_the_types_that_are_spoken_of_exist():
    catalog = open_catalog()
    assert [arm_type for _, arm_type in BY_TYPE if not catalog.group_kind_of(arm_type)] == []
    spoken = {word for text in (*BY_CODE.values(), *BY_TYPE.values()) for word in re.findall(r"\bServers\w+", text)}
    assert spoken <= set(catalog.kinds("sql.azure.com"))


def test_what_is_reported_of_a_type_comes_before_what_is_reported_of_all():
    both = [(code, arm_type) for code, arm_type in BY_TYPE if code in BY_CODE]
    assert both
    assert all(find_advice(*entry) == BY_TYPE[entry] != BY_CODE[entry[0]] for entry in both)


LOCKED = ArmError("Locked.", code="ScopeLocked", status=409)


@pytest.mark.parametrize(
    ("condition", "expected", "why"),
    [
        (None, "", "there is none"),
        (READY, "", "all is well"),
        (RECONCILING, "", "it is at work"),
        (make_refused(LOCKED, classify(LOCKED)), BY_CODE["scopelocked"], "a write"),
        (make_not_deleted(LOCKED), BY_CODE["scopelocked"], "a delete"),
        (make_unreadable(LOCKED), BY_CODE["scopelocked"], "a read, whose reason is Failed"),
        (make_warning("Failed", "ScopeLocked"), BY_CODE["scopelocked"], "a message that is a code alone"),
        (make_warning("Failed", "The manifest is invalid: no owner."), "", "a message of ours"),
    ],
)
def test_what_is_reported_of_a_condition(condition, expected, why):
    assert find_condition_advice(condition, VAULT_ID) == expected, why


HINTED = ArmError("Locked.", code="ScopeLocked", status=409, hint="Ask the owner.")


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (make_refused(HINTED, classify(HINTED)), "Locked."),
        (make_not_deleted(HINTED), "Locked."),
        (make_unreadable(HINTED), "ScopeLocked: Locked."),
        (make_failed(ConfigError("It is wrong.", hint="Ask the owner.")), "It is wrong."),
    ],
)
def test_a_hint_is_advice_and_never_in_the_message(condition, message):
    assert (condition.message, condition.advice) == (message, "Ask the owner.")
    assert find_condition_advice(condition, VAULT_ID).startswith("Ask the owner.")


def test_advice_does_not_make_another_condition():
    condition = make_refused(HINTED, classify(HINTED))
    assert condition.says_the_same(replace(condition, advice=""))
    assert not condition.says_the_same(replace(condition, message=""))


@pytest.mark.parametrize("code", sorted(CODES))
def test_something_is_reported_of_what_the_emulator_refuses(code):
    assert bool(find_advice(code, VAULT)) is (code not in OF_CLIENTS)


@needs_recordings(TRAFFIC)
def test_something_is_reported_of_most_that_azure_was_recorded_to_refuse():
    lines = [json.loads(line) for path in sorted(TRAFFIC.glob("*.jsonl")) for line in path.read_text().splitlines()]
    errors = [line["body"].get("error", line["body"]) for line in lines if isinstance(line.get("body"), dict)]
    codes = [str(error["code"]) for error in errors if error.get("code")]
    known = [code for code in codes if find_advice(code, VAULT)]
    assert len(known) / len(codes) > 0.8, sorted(set(codes) - set(known))
