"""What must come before a manifest."""

import pytest

from gitsync.desired.request.dependencies import Dependencies, Needs
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.resource import OwnerRef
from gitsync.model.template import ConfigMapKeyRef, ResourceRef, SecretKeyRef, SecretMapRef
from tests.support.handmade_kinds import GROUP, a_resource

RG_ID = "/subscriptions/1/resourceGroups/Core"


def key(name, namespace="default"):
    return Key(GROUP, "Thing", namespace, name)


RESOURCES = [
    a_resource(name="rg"),
    a_resource(name="net"),
    a_resource({"operatorSpec": {"secrets": {"key1": {"name": "keys", "key": "one"}}}}, name="account"),
    a_resource({"operatorSpec": {"secretExpressions": [{"name": "keys", "value": "x"}]}}, name="mapper"),
    a_resource({"operatorSpec": {"configMaps": {"id": {"name": "ids", "key": "principal"}}}}, name="identity"),
    a_resource({"operatorSpec": {"configMapExpressions": [{"name": "ids", "key": "client"}]}}, name="other"),
    a_resource(
        {"operatorSpec": {"configMaps": {"id": {"name": "ids", "key": "principal"}}}}, name="x", namespace="far"
    ),
    a_resource({"operatorSpec": {"configMaps": [], "secretExpressions": {"a": 1}, "secrets": {"a": 5}}}, name="odd"),
    a_resource({"operatorSpec": "odd"}, name="odder"),
    a_resource(name="me"),
]
EDGES = Dependencies(
    RESOURCES,
    {
        key("rg"): ArmId(RG_ID),
        key("net"): ArmId(f"{RG_ID}/providers/M.N/nets/net"),
        key("me"): ArmId(f"{RG_ID}/providers/M.T/me/m"),
    },
)


def needs(*refs, owner=None, arm_ids=()):
    return Needs(key=key("me"), owner=owner, refs=refs, arm_ids=tuple(map(ArmId, arm_ids)))


@pytest.mark.parametrize(
    ("needed", "expected", "why"),
    [
        (needs(), [], "nothing"),
        (needs(owner=OwnerRef(key=key("rg"))), ["rg"], "the owner"),
        (needs(owner=OwnerRef(key=key("nobody"))), [], "an owner that is not there is a problem, not an edge"),
        (needs(ResourceRef(key("net")), ResourceRef(key("rg"))), ["net", "rg"], "references, sorted"),
        (needs(ResourceRef(key("me"))), [], "never itself"),
        (needs(SecretKeyRef("keys", "one")), ["account", "mapper"], "who exports the key, or a whole map"),
        (needs(SecretKeyRef("keys", "two")), ["mapper"], "a key that only a map can hold"),
        (needs(SecretMapRef("keys")), ["account", "mapper"], "all who export to the Secret"),
        (needs(SecretKeyRef("ids", "principal")), [], "a ConfigMap is no Secret"),
        (needs(ConfigMapKeyRef("ids", "principal")), ["identity"], "who exports the value, in this namespace"),
        (needs(ConfigMapKeyRef("ids", "client")), ["other"], "by an expression"),
        (needs(ConfigMapKeyRef("elsewhere", "k")), [], "a value that nobody exports"),
        (
            needs(owner=OwnerRef(arm_id=ArmId(RG_ID.lower()))),
            ["rg"],
            "an owner by its id that is a manifest, without case",
        ),
        (
            needs(arm_ids=(f"{RG_ID}/providers/M.N/nets/net/subnets/a",)),
            ["net"],
            "an id below a manifest's, the nearest",
        ),
        (needs(arm_ids=(f"{RG_ID}/providers/M.N/nets/other/",)), ["rg"], "an id below a group"),
        (needs(arm_ids=(f"{RG_ID}2/providers/M.N/nets/net",)), [], "a group whose name only begins alike"),
        (needs(arm_ids=(f"{RG_ID}/providers/M.T/me/m/parts/p", "", "odd")), [], "an id below its own"),
    ],
)
def test_what_comes_first(needed, expected, why):
    assert [found.name for found in EDGES.of(needed)] == expected, why
