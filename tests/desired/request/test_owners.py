"""The forms of an owner."""

import pytest

from gitsync.desired.request.arm_id_builder import find_owner
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.resource import OwnerRef
from tests.support.handmade_kinds import GROUP, a_kind, a_resource

KNOWN = a_kind(owner=(GROUP, "Parent"))
ANY = a_kind(any_owner=True)
ARM_ID = "/subscriptions/0/resourceGroups/rg"


def named(kind="Parent", group=GROUP):
    return OwnerRef(key=Key(group, kind, "team", "p"))


@pytest.mark.parametrize(
    ("kind", "said", "expected", "why"),
    [
        (KNOWN, {"name": "p"}, named(), "group and kind are known"),
        (KNOWN, {"name": "p", "group": "x", "kind": "y"}, named(), "and cannot be changed"),
        (KNOWN, {"armId": ARM_ID}, OwnerRef(arm_id=ArmId(ARM_ID)), "an owner by its id"),
        (KNOWN, {"name": "p", "armId": ARM_ID}, None, "both forms"),
        (KNOWN, {"name": "p", "armId": ""}, named(), "an empty id is none"),
        (KNOWN, {}, None, "no form"),
        (KNOWN, {"name": 5}, None, "a number is no name"),
        (KNOWN, {"armId": 5}, None, "a number is no id"),
        (KNOWN, "p", None, "text is no owner"),
        (KNOWN, None, None, "nothing said"),
        (ANY, {"group": GROUP, "kind": "Thing", "name": "p"}, named("Thing"), "an owner of any kind"),
        (ANY, {"name": "p"}, None, "an owner of any kind must say which"),
        (ANY, {"armId": ARM_ID}, OwnerRef(arm_id=ArmId(ARM_ID)), "or give its id"),
        (a_kind(), {"name": "p"}, None, "a kind that nothing owns"),
    ],
)
def test_which_identity_a_manifest_names(kind, said, expected, why):
    assert find_owner(a_resource({"owner": said}, namespace="team"), kind) == expected, why
