"""The table of built-in roles: names to ids, and what a misspelt name may mean."""

import re
from importlib.resources import files

import pytest

from gitsync.desired.catalog.packed_tables import find_built_in_role, make_role_id, suggest_role
from gitsync.model.arm_id import ArmId

CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"


def test_the_table_has_one_name_and_one_id_a_role_sorted():
    rows = (files("gitsync.desired.catalog.data") / "built_in_roles.tsv").read_text().splitlines()
    names, ids = zip(*(row.split("\t") for row in rows), strict=True)
    assert list(rows) == sorted(rows)
    assert len(set(ids)) == len({name.casefold() for name in names}) == len(rows)
    assert all(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", role) for role in ids)


@pytest.mark.parametrize(
    ("name", "role", "near"),
    [
        ("Contributor", CONTRIBUTOR, None),
        ("contributor", CONTRIBUTOR, None),
        ("Contributer", None, "Contributor"),
        ("Storage Blob Data Contributer", None, "Storage Blob Data Contributor"),
        ("Made Up Role Of A Company", None, None),
    ],
)
def test_a_role_by_its_name(name, role, near):
    assert (find_built_in_role(name), suggest_role(name)) == (role, near)


@pytest.mark.parametrize(
    ("arm_id", "scope"),
    [
        ("/subscriptions/S/resourceGroups/r/providers/Microsoft.Authorization/roleAssignments/a", "/subscriptions/S"),
        ("/providers/Microsoft.Management/managementGroups/m/providers/Microsoft.Authorization/roleAssignments/a", ""),
    ],
)
def test_the_id_of_a_role_is_in_the_subscription_of_the_assignment(arm_id, scope):
    assert (
        make_role_id(ArmId(arm_id), CONTRIBUTOR)
        == f"{scope}/providers/Microsoft.Authorization/roleDefinitions/{CONTRIBUTOR}"
    )
