"""The POST requests that a plan may send: the list in the docs is the one in the program, and all others are refused."""

import re
from pathlib import Path

import pytest

from gitsync.errors import ArmError
from gitsync.providers.arm.client import CHECK_PATHS, is_check
from tests.support.arm_rig import API, GROUP, VNET, Rig
from tests.support.scripted_server import Say

SECURITY = Path(__file__).resolve().parents[3] / "docs" / "security.md"
SUBSCRIPTION = GROUP.partition("/resourceGroups")[0]
VALIDATE = "/providers/Microsoft.Resources/validateResources"
POLICY = "providers/Microsoft.PolicyInsights/checkPolicyRestrictions"
STORAGE = f"{SUBSCRIPTION}/providers/Microsoft.Storage"

PATHS = [
    (VALIDATE, True, "preflight"),
    (VALIDATE.upper(), True, "in any case"),
    (f"{GROUP}/{POLICY}", True, "policy in a group"),
    (f"{SUBSCRIPTION}/{POLICY}", True, "policy in a subscription"),
    (f"{STORAGE}/checkNameAvailability", True, "a name"),
    (f"{STORAGE}/locations/westeurope/checkNameAvailability", True, "a name in a region"),
    ("/providers/Microsoft.ResourceGraph/resources", True, "who changed a resource"),
    ("/providers/Microsoft.ResourceGraph/resources/moveResources", False, "something below it"),
    (f"{VNET}/listKeys", False, "keys"),
    (f"{VNET}/{POLICY}", False, "no scope of the table"),
    (f"{GROUP}/validateMoveResources", False, "it needs a right to write"),
    (f"{GROUP}/providers/Microsoft.Resources/deployments/d/validate", False, "so does this"),
    (f"{STORAGE}/storageAccounts/a/regenerateKey", False, "it changes a key"),
    (f"{VALIDATE}/more", False, "something below a question"),
    (f"{VNET}{VALIDATE}", False, "something that ends as a question does"),
    (f"{STORAGE}/checkNameAvailability/../register", False, "a path that climbs"),
    (f"{STORAGE}/a/b/checkNameAvailability", False, "an action of a resource"),
]


@pytest.mark.parametrize(("path", "expected", "why"), PATHS, ids=[row[-1] for row in PATHS])
def test_what_changes_nothing(path, expected, why):
    assert is_check(path) is expected, why


def test_the_docs_list_what_a_plan_may_send():
    listed = re.findall(r"^\| `(/[^`]+)` \|", SECURITY.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert all(map(is_check, listed))
    for pattern in CHECK_PATHS:
        assert any(re.fullmatch(pattern, path.casefold()) for path in listed), f"no line of the docs is {pattern}"


async def test_a_reader_sends_no_other_post(rig: Rig):
    with pytest.raises(AssertionError):
        await rig.reader.check(f"{VNET}/listKeys", API, {})
    assert rig.server.lines == []


async def test_a_question_is_asked_and_counted_apart_from_writes(rig: Rig):
    rig.server.on("POST", VALIDATE, Say(200, {"properties": {}}))
    assert await rig.reader.check(VALIDATE, API, {"a": 1}) == {"properties": {}}
    assert (rig.arm.requests.checks, rig.arm.requests.writes) == (1, 0)
    assert rig.arm.use.by_type == {"Microsoft.Resources/validateResources": {"question": 1}}


@pytest.mark.parametrize("answer", [Say(200, [1]), Say(200)], ids=["a list", "nothing"])
async def test_an_odd_answer_is_no_answer(rig: Rig, answer):
    rig.server.on("POST", VALIDATE, answer)
    with pytest.raises(ArmError) as failed:
        await rig.reader.check(VALIDATE, API, {})
    assert failed.value.code == "UnusableAnswer"
