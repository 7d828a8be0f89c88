"""No request of any check holds a secret, wherever in a body it is. The real client queries a scripted server."""

import asyncio
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from gitsync.agent.checks.check_table import Checks
from gitsync.agent.checks.planned_bodies import hide_values
from gitsync.model.check import CheckName
from gitsync.model.gvk import Key
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.template import ConfigMapKeyRef, ReferenceKeys, ResourceRef, SecretKeyRef, SecretMapRef, Text
from gitsync.model.verdict import Action
from tests.agent.checks.asking import GROUP, change
from tests.support.arm_rig import rigged
from tests.support.hypothesis_profile import scale
from tests.support.scripted_server import Say

MARK = "hunted-secret"
TYPES = [
    "Microsoft.Storage/storageAccounts",
    "Microsoft.KeyVault/vaults",
    "Microsoft.Compute/virtualMachines",
    "Microsoft.ContainerService/managedClusters",
    "Microsoft.Network/publicIPAddresses",
]
REF = ConfigMapKeyRef("a", "b")
GAPS = [
    SecretKeyRef(MARK, "b"),
    SecretMapRef(MARK),
    ResourceRef(Key("g", "K", "ns", "n")),
    REF,
    Text(("a", REF)),
    ReferenceKeys((f"/subscriptions/<{MARK}>",)),
]
LEAVES = st.one_of(
    st.builds(lambda number: Secret(f"{MARK}-{number}"), st.integers(0, 9)),
    st.builds(lambda number: Placeholder(f"{MARK}-{number}"), st.integers(0, 9)),
    st.sampled_from(GAPS),
    st.sampled_from(["plain", "[plain]", 1, True, None]),
)
NAMES = st.sampled_from(
    ["a", "b", "vmSize", "agentPoolProfiles", "hardwareProfile", "name", "publicIPAllocationMethod"]
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)
HEADS = st.sampled_from(["location", "name", "sku", "tags", "identity", "zones", "kind", "properties"])
BODIES = st.dictionaries(HEADS, VALUES, max_size=6)
PROPERTIES_ONLY = st.builds(
    lambda value: {"location": "westeurope", "properties": value}, st.dictionaries(NAMES, VALUES, max_size=4)
)


async def send_request(bodies):
    """The requests that all checks send about these bodies."""
    changes = [
        change(f"{GROUP}/providers/{kind}/n{number}", hide_values(body), called=f"{number}-{rank}")
        for number, body in enumerate(bodies)
        for rank, kind in enumerate(TYPES)
    ]
    deletes = [change(f"{GROUP}/providers/{TYPES[0]}/gone", action=Action.DELETE)]
    async with rigged() as rig:
        assignment = {"id": f"{GROUP}/providers/Microsoft.Authorization/policyAssignments/p", "properties": {}}
        lists = f"{GROUP}/providers/Microsoft.Authorization/policyAssignments"
        rig.server.on("GET", lists, Say(200, {"value": [assignment]}))
        checks = Checks(CheckName, rig.talk)
        found = await checks.check(
            [*changes, *deletes], dict.fromkeys((delete.key for delete in [*changes, *deletes]), rig.arm)
        )
        assert all(found[resource.key] for resource in changes), "each change has findings"
        return rig.server.seen


@settings(max_examples=scale(20), deadline=None)  # each runs all checks, and each run of the tests has others
@given(st.lists(st.one_of(BODIES, PROPERTIES_ONLY), min_size=1, max_size=3))
def test_no_check_holds_a_secret(bodies):
    for seen in asyncio.run(send_request([{"location": "westeurope"}, *bodies])):
        text = json.dumps([seen.path, seen.query, seen.body, dict(seen.headers)])
        assert MARK not in text, seen.line


def test_the_hunt_finds_what_is_sent():
    """The bodies of the hunt are sent, so that it would see a secret in them."""
    seen = asyncio.run(
        send_request([{"location": "westeurope", "properties": {"a": "in-the-open", "b": Secret(MARK)}}])
    )
    requests = [
        json.dumps(request.body)
        for request in seen
        if request.method == "POST" and "in-the-open" in json.dumps(request.body)
    ]
    assert len(requests) == 2 * len(TYPES), "one of preflight and one of policy for each type"
