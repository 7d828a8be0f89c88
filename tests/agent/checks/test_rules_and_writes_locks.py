"""What the check `locks` reports before a change is what the emulator does at the write, for each rule of both."""

import pytest

from gitsync.agent.checks.locks import check_locks
from gitsync.model.verdict import Action
from tests.agent.checks.asking import GROUP, SUB, change, storage
from tests.agent.checks.writing import GROUP_API, compare

REFUSED, FINE, WARNING = "refused", "fine", "warning"

ACCOUNT = storage()
BLOBS = change(f"{ACCOUNT.arm_id}/blobServices/default", {"properties": {}})
OTHER = storage("other1")
UPDATE, DELETE = storage(action=Action.UPDATE), storage(action=Action.DELETE)
REPLACE = storage(replaces=True)
EXPORT = storage(action=Action.UPDATE, exports_secrets=True)
DELETE_GROUP = change(GROUP, action=Action.DELETE, api_version=GROUP_API)
UPDATE_GROUP = change(GROUP, action=Action.UPDATE, api_version=GROUP_API)
SCOPES = [SUB, GROUP, ACCOUNT.arm_id, BLOBS.arm_id, OTHER.arm_id, f"{GROUP}2", GROUP.upper()]


def lock(scope: str, level: str) -> dict:
    return {"locks": [{"scope": scope, "level": level, "name": "keep", "notes": "Not now."}]}


def deny(scope: str, *actions: str, **more) -> dict:
    return {"denyAssignments": [{"name": "stack", "scope": scope, "actions": list(actions), "everyone": True, **more}]}


ABOVE = {SUB, GROUP, GROUP.upper(), ACCOUNT.arm_id}
CASES = [
    *(
        (action, lock(scope, level), REFUSED if scope in ABOVE or (scope == BLOBS.arm_id and action.deletes) else FINE)
        for action in (DELETE, REPLACE)
        for scope in SCOPES
        for level in ("CanNotDelete", "ReadOnly")
    ),
    *((UPDATE, lock(scope, "CanNotDelete"), FINE) for scope in SCOPES),
    *((UPDATE, lock(scope, "ReadOnly"), REFUSED if scope in ABOVE else FINE) for scope in SCOPES),
    *((DELETE_GROUP, lock(scope, "CanNotDelete"), FINE if scope == f"{GROUP}2" else REFUSED) for scope in SCOPES),
    *(
        (UPDATE_GROUP, lock(scope, "ReadOnly"), REFUSED if scope in ABOVE - {ACCOUNT.arm_id} else FINE)
        for scope in SCOPES
    ),
    (storage("new1"), lock(GROUP, "ReadOnly"), REFUSED),
    (storage("new1"), lock(GROUP, "CanNotDelete"), FINE),
    (DELETE, {}, FINE),
    (DELETE, deny(GROUP, "*/delete"), REFUSED),
    (DELETE, deny(SUB, "Microsoft.Storage/*/delete"), REFUSED),
    (DELETE, deny(GROUP, "*/write"), FINE),
    (DELETE, deny(f"{GROUP}2", "*"), FINE),
    (DELETE, deny(GROUP, "*", notActions=["*/delete"]), FINE),
    (DELETE, deny(GROUP, "*", doNotApplyToChildScopes=True), FINE),
    (UPDATE_GROUP, deny(GROUP, "*", doNotApplyToChildScopes=True), REFUSED),
    (DELETE_GROUP, deny(GROUP, "Microsoft.Resources/subscriptions/resourceGroups/delete"), REFUSED),
    (REPLACE, deny(GROUP, "*/delete"), REFUSED),
    (UPDATE, deny(ACCOUNT.arm_id, "Microsoft.Storage/storageAccounts/write"), REFUSED),
    (storage("new1"), deny(GROUP, "*"), REFUSED),
    (EXPORT, lock(GROUP, "ReadOnly"), REFUSED),
    (EXPORT, deny(GROUP, "*/action"), WARNING),
    (UPDATE, deny(GROUP, "*/action"), FINE),
]


@pytest.mark.parametrize(("change", "settings", "verdict"), CASES)
def test_the_verdict_is_what_the_write_gets(change, settings, verdict):
    verdicts, code = compare(check_locks, change, settings, [ACCOUNT, BLOBS, OTHER])
    assert verdicts == {verdict}
    assert code in ({"ScopeLocked", "DenyAssignmentAuthorizationFailed"} if verdict == REFUSED else {""})


US, THEM = {"clientId": "us", "objectId": "object-us", "secret": "x"}, "object-them"
WHOM = [
    ({"everyone": False, "principals": ["object-us"]}, REFUSED),
    ({"everyone": False, "principals": [THEM, "OBJECT-US"]}, REFUSED),
    ({"everyone": True, "excludePrincipals": ["object-us"]}, FINE),
]


@pytest.mark.parametrize(("whom", "verdict"), WHOM)
def test_a_token_shows_whether_a_deny_assignment_is_ours(whom, verdict):
    settings = deny(GROUP, "*/delete", **whom) | {"requireToken": True, "principals": [US]}
    verdicts, code = compare(check_locks, DELETE, settings, [ACCOUNT])
    assert verdicts == {verdict}
    assert code == ("DenyAssignmentAuthorizationFailed" if verdict == REFUSED else "")


@pytest.mark.parametrize(
    "whom",
    [{"everyone": False, "principals": ["somebody"]}, {"excludePrincipals": ["somebody"]}],
)
def test_a_deny_assignment_of_others_may_be_ours(whom):
    """Without a token who asks is not known, so the write alone shows it."""
    verdicts, _ = compare(check_locks, DELETE, deny(GROUP, "*/delete", **whom), [ACCOUNT])
    assert verdicts == {WARNING}
