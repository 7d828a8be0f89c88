"""What a request is counted as."""

import pytest

from gitsync.providers.arm.http.messages import ArmRequest
from gitsync.providers.arm.http.throttle import classify_request, find_type
from tests.support.arm_rig import API, GROUP, VNET, Rig
from tests.support.scripted_server import Say

NETWORK = "Microsoft.Network/virtualNetworks"
SUBSCRIPTION = GROUP.partition("/resourceGroups")[0]
VAULT = f"{GROUP}/providers/Microsoft.KeyVault/vaults/v"

COUNTED = [
    ("GET", VNET, {}, "get", NETWORK, "a resource"),
    ("HEAD", VNET, {}, "get", NETWORK, "one that can only be asked for"),
    ("PUT", f"{VNET}/subnets/a", {}, "put", f"{NETWORK}/subnets", "a child"),
    ("PATCH", VNET, {}, "patch", NETWORK, "a patch"),
    ("DELETE", GROUP, {}, "delete", "Microsoft.Resources/resourceGroups", "a group"),
    ("GET", VNET, {"is_poll": True}, "poll", NETWORK, "an operation counts for its resource"),
    ("GET", f"{VNET}/subnets", {"is_list": True}, "list", f"{NETWORK}/subnets", "a list counts for its entries"),
    ("GET", f"{SUBSCRIPTION}/providers/{NETWORK}", {"is_list": True}, "list", NETWORK, "in a subscription too"),
    (
        "GET",
        f"{SUBSCRIPTION}/resourcegroups",
        {"is_list": True},
        "list",
        "Microsoft.Resources/resourceGroups",
        "groups",
    ),
    ("POST", f"{VAULT}/listKeys", {}, "listKeys", "Microsoft.KeyVault/vaults", "keys"),
    ("POST", f"{VAULT}/sharedKeys", {}, "listKeys", "Microsoft.KeyVault/vaults", "keys by another name"),
    ("POST", f"{VAULT}/start", {}, "action", "Microsoft.KeyVault/vaults", "any other action"),
]


@pytest.mark.parametrize(
    ("method", "path", "more", "kind", "arm_type", "why"), COUNTED, ids=[row[-1] for row in COUNTED]
)
def test_a_request_counts_for_a_type_and_a_kind(method, path, more, kind, arm_type, why):
    call = ArmRequest(method=method, path=path, target=path, resource_id=path, accepts=frozenset(), **more)
    assert (classify_request(call), find_type(call)) == (kind, arm_type), why


async def test_a_run_knows_what_its_requests_were_for(rig: Rig):
    rig.server.on("GET", VNET, *[Say(200, {"id": VNET, "properties": {}})] * 2)
    for _ in range(2):
        await rig.reader.get(VNET, API)
    assert rig.arm.use.by_type == {NETWORK: {"get": 2}}
    assert rig.arm.use.hour_shares == {"reads": 2 / (250 + 3600 * 25)}
