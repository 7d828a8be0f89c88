"""The check `locks`: what management locks and deny assignments mean for a change, and what is requested for it."""

from dataclasses import replace

import pytest

from gitsync.agent.checks.check_requests import CheckRequests
from gitsync.agent.checks.locks import check_locks, evaluate, read_deny_assignment, read_lock
from gitsync.model.arm_id import ArmId
from gitsync.model.check import CheckVerdict, PlannedChange
from gitsync.model.gvk import Key
from gitsync.model.verdict import Action
from gitsync.providers.arm.auth.principal import Principal
from tests.support.arm_rig import GROUP, OBJECT, SUBSCRIPTION, TENANT, StaticCredential, anonymous, rigged
from tests.support.scripted_server import Say

SUB = f"/subscriptions/{SUBSCRIPTION}"
ACCOUNT = f"{GROUP}/providers/Microsoft.Storage/storageAccounts/app"
BLOBS = f"{ACCOUNT}/blobServices/default"
LOCKS = "/providers/Microsoft.Authorization/locks"
DENIALS = "/providers/Microsoft.Authorization/denyAssignments"
NOBODY = "99999999-9999-9999-9999-999999999999"
EVERYONE = {"id": "00000000-0000-0000-0000-000000000000", "type": "SystemDefined"}
US = {"id": OBJECT.upper(), "type": "ServicePrincipal"}
THEM = {"id": NOBODY, "type": "User"}
A_GROUP = {"id": NOBODY, "type": "Group"}


def change(action: Action = Action.CREATE, arm_id: str = ACCOUNT, **more) -> PlannedChange:
    body = None if action is Action.DELETE else {"location": "westeurope"}
    arm_type = "Microsoft.Resources/resourceGroups" if arm_id == GROUP else "Microsoft.Storage/storageAccounts"
    key = Key("storage.azure.com", "StorageAccount", "default", arm_id.rpartition("/")[2])
    return PlannedChange(
        **{
            "key": key,
            "action": action,
            "arm_id": ArmId(arm_id),
            "arm_type": arm_type,
            "api_version": "2023-01-01",
            "body": body,
            **more,
        }
    )


CREATE, UPDATE, DELETE = change(), change(Action.UPDATE), change(Action.DELETE)
REPLACE = change(replaces=True)
EXPORT = change(Action.UPDATE, exports_secrets=True)


def lock(scope: str, level: str, **properties) -> dict:
    return {"id": f"{scope}{LOCKS}/keep", "name": "keep", "properties": {"level": level, **properties}}


def denial(scope: str, *actions: str, to=(EVERYONE,), **properties) -> dict:
    permissions = [{"actions": list(actions), "notActions": properties.pop("notActions", [])}]
    return {
        "name": "stack",
        "properties": {
            "denyAssignmentName": "stack",
            "scope": scope,
            "permissions": permissions,
            "principals": list(to),
            "excludePrincipals": [],
            **properties,
        },
    }


def verdicts(change: PlannedChange, locks=(), denials=(), principal=None) -> list[str]:
    found = evaluate(
        change,
        [read_lock(row) for row in locks],
        [read_deny_assignment(row) for row in denials],
        principal=principal,
    )
    return [finding.verdict.value for finding in found]


@pytest.mark.parametrize(
    ("change", "scope", "level", "expected", "why"),
    [
        (DELETE, GROUP, "CanNotDelete", ["refused"], "a lock holds for all below its scope"),
        (DELETE, SUB, "CanNotDelete", ["refused"], "also far below it"),
        (DELETE, ACCOUNT.upper(), "CanNotDelete", ["refused"], "ids compare without case"),
        (DELETE, BLOBS, "CanNotDelete", ["refused"], "the delete would take the locked child along"),
        (change(Action.DELETE, GROUP), ACCOUNT, "CanNotDelete", ["refused"], "a group with one locked resource stays"),
        (DELETE, GROUP, "ReadOnly", ["refused"], "read-only forbids deletes too"),
        (DELETE, BLOBS, "readonly", ["refused"], "below as well, in any case"),
        (REPLACE, GROUP, "CanNotDelete", ["refused"], "a replacement deletes first"),
        (DELETE, f"{GROUP}2", "CanNotDelete", ["fine"], "another group whose name begins alike"),
        (DELETE, f"{ACCOUNT}2", "CanNotDelete", ["fine"], "another resource"),
        (CREATE, GROUP, "CanNotDelete", ["fine"], "what may not be deleted may be written"),
        (UPDATE, ACCOUNT, "CanNotDelete", ["fine"], "and changed"),
        (CREATE, GROUP, "ReadOnly", ["refused"], "nothing new in a read-only group"),
        (UPDATE, ACCOUNT, "ReadOnly", ["refused"], "no change of a read-only resource"),
        (UPDATE, BLOBS, "ReadOnly", ["fine"], "a read-only child does not hold its parent"),
        (EXPORT, GROUP, "ReadOnly", ["refused"], "the write is forbidden, and the keys are too"),
        (EXPORT, GROUP, "CanNotDelete", ["fine"], "keys may be listed there"),
        (UPDATE, GROUP, "NotSpecified", ["warning"], "what this level forbids is not known"),
    ],
)
def test_what_a_lock_means_for_a_change(change, scope, level, expected, why):
    assert verdicts(change, [lock(scope, level)]) == expected, why


@pytest.mark.parametrize(
    ("change", "denial", "expected", "why"),
    [
        (DELETE, denial(GROUP, "*/delete"), ["refused"], "everyone, and nobody is excluded"),
        (DELETE, denial(GROUP, "Microsoft.Storage/storageAccounts/DELETE"), ["refused"], "actions have no case"),
        (DELETE, denial(GROUP, "*/write"), ["fine"], "another action"),
        (DELETE, denial(GROUP, "*", notActions=["*/delete"]), ["fine"], "an action that is left out"),
        (CREATE, denial(GROUP, "*", notActions=["*/delete"]), ["refused"], "and one that is not"),
        (REPLACE, denial(GROUP, "*/delete"), ["refused"], "a replacement deletes"),
        (CREATE, denial(GROUP, "*/delete"), ["fine"], "a create deletes nothing"),
        (CREATE, denial(f"{GROUP}2", "*"), ["fine"], "another group"),
        (CREATE, denial("/", "*/write"), ["refused"], "the whole tenant"),
        (CREATE, denial("/providers/Microsoft.Management/managementGroups/m", "*"), ["refused"], "from above"),
        (CREATE, denial(GROUP, "*", doNotApplyToChildScopes=True), ["fine"], "for the group alone"),
        (change(Action.UPDATE, GROUP), denial(GROUP, "*", doNotApplyToChildScopes=True), ["refused"], "that group"),
        (change(Action.DELETE, GROUP), denial(ACCOUNT, "*/delete"), ["warning"], "what is below may hold the group"),
        (change(Action.DELETE, GROUP), denial(GROUP, "Microsoft.Resources/subscriptions/*/delete"), ["refused"], "sub"),
        (EXPORT, denial(GROUP, "*/listKeys/action"), ["warning"], "the write works, the export does not"),
        (UPDATE, denial(GROUP, "*/listKeys/action"), ["fine"], "nothing is exported"),
        (DELETE, denial(GROUP, "*", excludePrincipals=[THEM]), ["refused"], "somebody else is excluded"),
        (DELETE, denial(GROUP, "*", excludePrincipals=[US]), ["fine"], "we are excluded"),
        (DELETE, denial(GROUP, "*", excludePrincipals=[A_GROUP]), ["warning"], "we may be in the group"),
        (DELETE, denial(GROUP, "*", to=[US]), ["refused"], "we are named"),
        (DELETE, denial(GROUP, "*", to=[THEM]), ["fine"], "somebody else is named"),
        (DELETE, denial(GROUP, "*", to=[A_GROUP]), ["warning"], "a token does not tell our groups"),
    ],
)
def test_what_a_deny_assignment_means_for_a_change(change, denial, expected, why):
    assert verdicts(change, denials=[denial], principal=Principal(TENANT, "client", OBJECT)) == expected, why


@pytest.mark.parametrize(
    ("denial", "expected"),
    [
        (denial(GROUP, "*/delete"), "refused"),
        (denial(GROUP, "*/delete", excludePrincipals=[THEM]), "warning"),
        (denial(GROUP, "*/delete", to=[US]), "warning"),
    ],
)
def test_a_deny_assignment_may_be_for_an_unknown_identity(denial, expected):
    (finding,) = evaluate(DELETE, [], [read_deny_assignment(denial)])
    assert finding.verdict == expected
    assert (" may forbid " in finding.message) == (expected == "warning")


def test_a_finding_names_the_lock_its_scope_its_notes_and_who_can_remove_it():
    (finding,) = evaluate(DELETE, [read_lock(lock(GROUP, "CanNotDelete", notes="Billing\nneeds it."))], [])
    assert (
        finding.message
        == f"The lock keep (CanNotDelete) at {GROUP} forbids the delete. Notes of the lock: Billing needs it."
    )
    assert finding.advice == f"Remove the lock: `az lock delete --ids {GROUP}{LOCKS}/keep`."
    assert finding.contact == f"Ask an Owner or User Access Administrator of {GROUP}."
    assert finding.code == "ScopeLocked"


def test_a_read_only_lock_forbids_the_keys_of_an_export_too():
    (finding,) = evaluate(EXPORT, [read_lock(lock(ACCOUNT, "ReadOnly"))], [])
    forbids = "forbids the write and reading the keys that the manifest exports."
    assert finding.message == f"The lock keep (ReadOnly) at the resource itself {forbids}"
    assert finding.contact == "Ask an Owner or User Access Administrator of the resource itself."


def test_a_lock_of_an_application_is_not_removed_by_a_person():
    (finding,) = evaluate(DELETE, [read_lock(lock(GROUP, "CanNotDelete", owners=[{"applicationId": "app-1"}]))], [])
    assert "az lock delete" not in finding.advice
    assert finding.contact == "Ask the owner of the application app-1."


def test_many_locks_are_counted():
    rows = [lock(f"{GROUP}/providers/Microsoft.Storage/storageAccounts/app{n}", "CanNotDelete") for n in range(8)]
    found = evaluate(change(Action.DELETE, GROUP), [read_lock(row) for row in rows], [])
    assert len(found) == 6
    assert found[-1].message == "3 more locks affect this change."
    assert {finding.verdict for finding in found} == {CheckVerdict.REFUSED}


def test_an_id_that_is_not_known_yet_is_checked_as_far_as_it_is_known():
    unknown = change(arm_id=f"{GROUP}/providers/Microsoft.Storage/storageAccounts/<name>")
    assert verdicts(unknown) == ["not-checked"]
    assert verdicts(unknown, [lock(GROUP, "ReadOnly")]) == ["refused"]


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"id": "x", "properties": {"level": "ReadOnly"}},
        {"id": f"{GROUP}{LOCKS}/a", "properties": {"level": 1}},
        {"id": f"{GROUP}{LOCKS}/a"},
    ],
)
def test_an_unexpected_lock_is_not_a_lock(row):
    assert read_lock(row) is None


@pytest.mark.parametrize(
    "properties",
    [{"scope": 1}, {"permissions": {}}, {"permissions": [1]}, {"principals": None}, {"excludePrincipals": [1]}],
)
def test_an_unexpected_deny_assignment_does_not_count(properties):
    row = denial(GROUP, "*")
    row["properties"] |= properties
    assert read_deny_assignment(row) is None


async def _query(changes, answers, credential=None):
    """The findings by name of the resource, and the lines of what was requested."""
    async with rigged(credential=credential, access=anonymous) as rig:
        for path, answer in answers.items():
            rig.server.on("GET", path, answer)
        requests = CheckRequests(rig.arm, rig.talk)
        found = await check_locks(changes, requests)
        return [(key.name, finding) for key, finding in found], rig.server.lines


def say(*rows):
    return Say(200, {"value": list(rows)})


def forbid(action: str) -> Say:
    message = (
        f"The client 'c' with object id 'o' does not have authorization to perform action '{action}' over scope 's'."
    )
    return Say(403, {"error": {"code": "AuthorizationFailed", "message": message}})


async def test_one_list_of_locks_and_one_of_deny_assignments_serve_a_subscription():
    changes = [change(arm_id=f"{GROUP}{n % 4}/providers/Microsoft.Storage/storageAccounts/app{n}") for n in range(20)]
    found, lines = await _query(changes, {SUB + LOCKS: say(lock(f"{GROUP}0", "ReadOnly")), SUB + DENIALS: say()})
    assert sorted(lines) == [f"GET {SUB}{DENIALS}", f"GET {SUB}{LOCKS}"]
    assert {name for name, finding in found if finding.verdict == "refused"} == {
        "app0",
        "app4",
        "app8",
        "app12",
        "app16",
    }
    assert len(found) == 20


async def test_who_may_not_list_a_subscription_is_shown_the_locks_of_the_group():
    changes = [DELETE, change(Action.DELETE, f"{GROUP}2/providers/Microsoft.Storage/storageAccounts/other")]
    denied = forbid("Microsoft.Authorization/locks/read")
    answers = {
        SUB + LOCKS: denied,
        GROUP + LOCKS: say(lock(ACCOUNT, "CanNotDelete")),
        f"{GROUP}2{LOCKS}": denied,
        SUB + DENIALS: say(),
    }
    found, lines = await _query(changes, answers)
    assert [(name, finding.verdict.value) for name, finding in found] == [("app", "refused"), ("other", "not-checked")]
    assert found[1][1].missing_right == "Microsoft.Authorization/locks/read"
    assert len(lines) == 4


@pytest.mark.parametrize(
    "answer",
    [
        Say(503, {"error": {"code": "ServerBusy", "message": "no"}}),
        Say(404, {"error": {"code": "NotFound", "message": "no"}}),
        Say(200, {}),
        say({"id": "odd"}),
    ],
)
async def test_no_answer_is_not_fine(answer):
    found, _ = await _query([DELETE], {SUB + LOCKS: answer, SUB + DENIALS: say()})
    assert [finding.verdict.value for _, finding in found] == ["not-checked"]


async def test_the_token_says_who_is_denied():
    answers = {SUB + LOCKS: say(), SUB + DENIALS: say(denial(GROUP, "*", to=[US]))}
    found, lines = await _query([DELETE], answers, StaticCredential())
    assert [finding.verdict.value for _, finding in found] == ["refused"]
    assert len(lines) == 2


async def test_a_resource_outside_of_subscriptions_is_not_concerned():
    tenant = replace(CREATE, arm_id=ArmId("/providers/Microsoft.Subscription/aliases/one"))
    assert await _query([tenant], {}) == ([], [])


@pytest.mark.parametrize(
    ("arm_id", "doubt", "message"),
    [
        ("/subscriptions/<id>/resourceGroups/rg", "", "The ARM id is not known yet."),
        (ACCOUNT, "no Secret has it", "The ARM id is not known yet: no Secret has it."),
    ],
)
async def test_nothing_is_asked_of_a_subscription_that_is_not_known(arm_id, doubt, message):
    found, lines = await _query([change(arm_id=arm_id, doubt=doubt)], {})
    assert [finding.message for _, finding in found] == [message]
    assert lines == []
