"""Roles by name, and which assignments and definitions are worth importing."""

from dataclasses import replace

import pytest

from gitsync.errors import GitsyncError
from gitsync.extensions.api import imported, skipped
from gitsync.extensions.builtin.authorization import ROLES, index_roles
from gitsync.model.arm_id import ArmId
from gitsync.model.live import Live
from tests.extensions.asking import REGISTRY, subject

GROUP = "authorization.azure.com"
SCOPE = "/subscriptions/1/resourceGroups/core"
PROVIDER = "/providers/Microsoft.Authorization"


def role(called, name, kind="BuiltInRole"):
    return {"name": name, "properties": {"roleName": called, "type": kind}}


LISTED = (
    role("Reader", "old"),
    role("Mine", "mine", "CustomRole"),
    role("READER", "new"),
    role("Shouting", "shouting", "BUILTINROLE"),
    {"name": "odd"},
    {"name": None, "properties": {"type": "BuiltInRole", "roleName": "Nameless"}},
)


def about(reference, arm_id=f"{SCOPE}{PROVIDER}/roleAssignments/a", answers=None):
    spec = {} if reference is None else {"roleDefinitionReference": reference}
    return replace(
        subject(GROUP, "RoleAssignment"), spec=spec, arm_id=ArmId(arm_id), answers=answers or {ROLES: LISTED}
    )


def test_roles_are_known_by_their_names_without_case_and_the_last_of_a_name_wins():
    assert index_roles(LISTED) == {"reader": "new"}


@pytest.mark.parametrize(
    ("reference", "lookups", "why"),
    [
        ({"wellKnownName": "Reader"}, (ROLES,), "a name"),
        ({"wellKnownName": "Reader", "armId": "/x"}, (ROLES,), "the name wins"),
        ({"wellKnownName": ""}, (), "an empty name is none"),
        ({"armId": "/x"}, (), "an id needs no look-up"),
        (None, (), "nothing"),
    ],
)
def test_only_names_are_looked_up(reference, lookups, why):
    assert REGISTRY.lookups(about(reference)) == lookups, why


@pytest.mark.parametrize(
    ("arm_id", "expected", "why"),
    [
        (f"{SCOPE}{PROVIDER}/roleAssignments/a", f"/subscriptions/1{PROVIDER}/roleDefinitions/new", "its subscription"),
        (
            f"/providers/Microsoft.Management/managementGroups/g{PROVIDER}/roleAssignments/a",
            f"{PROVIDER}/roleDefinitions/new",
            "above subscriptions there is only the tenant",
        ),
    ],
)
def test_the_id_of_a_role(arm_id, expected, why):
    found = REGISTRY.compared(
        {"properties": {"roleDefinitionId": "reader", "a": 1}}, about({"wellKnownName": "reader"}, arm_id)
    )
    assert found == {"properties": {"roleDefinitionId": expected, "a": 1}}, why


@pytest.mark.parametrize("called", ["Mine", "Shouting", "nothing such"])
def test_a_name_that_no_built_in_role_has_is_an_error(called):
    with pytest.raises(GitsyncError, match=f'well-known name "{called}"'):
        REGISTRY.compared({"properties": {}}, about({"wellKnownName": called}))


def test_a_reference_stays_as_it_is():
    body = {"properties": {"roleDefinitionId": "/x"}}
    assert REGISTRY.compared(body, about({"armId": "/x"})) == body


async def imported_as(kind, own, owner=None, answer=None):
    async def load(requested):
        return replace(requested, live=Live(body={"properties": own})), answer or imported()

    owned = replace(subject(GROUP, kind), owner=Live(body={"id": owner}) if owner else None)
    read, found = await REGISTRY.import_(owned, load)
    assert read.live is not None
    return found.skipped


@pytest.mark.parametrize(
    ("scope", "owner", "expected", "why"),
    [
        (SCOPE, SCOPE.upper(), "", "its own scope, however it is spelled"),
        ("/subscriptions/1", SCOPE, "role assignment is inherited from /subscriptions/1", "from further up"),
        ("/subscriptions/1", None, "", "the owner is not known"),
        (None, SCOPE, "", "the scope is not known"),
    ],
)
async def test_inherited_assignments_are_not_imported(scope, owner, expected, why):
    own = {} if scope is None else {"scope": scope}
    assert await imported_as("RoleAssignment", own, owner) == expected, why


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("CustomRole", ""),
        ("BuiltInRole", "role definition is a built-in role"),
        ("builtinrole", "role definition is a built-in role"),
    ],
)
async def test_built_in_roles_are_not_imported(kind, expected):
    assert await imported_as("RoleDefinition", {"type": kind}) == expected


@pytest.mark.parametrize("kind", ["RoleAssignment", "RoleDefinition"])
async def test_what_the_loader_skipped_stays_skipped(kind):
    own = {"scope": "/subscriptions/1", "type": "BuiltInRole"}
    assert await imported_as(kind, own, SCOPE, skipped("not found")) == "not found"
