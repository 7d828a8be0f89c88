"""A field that git no longer asks for is pending, shown as removed, and sent as such once."""

from __future__ import annotations

import pytest

from gitsync.model.verdict import Action, Verdict
from tests.support.fault_rules import rules
from tests.support.world import GROUP, GROUP_ID, VNET, VNET_ID, World, annotated, of

NETWORK = "2024-03-01"
TAGGED = GROUP.replace("location: westeurope", "location: westeurope\n      tags: {team: a, env: b}")
ONE_TAG = TAGGED.replace(", env: b", "")
DNS = VNET.replace("addressSpace:", "dhcpOptions:\n        dnsServers: [10.0.0.4]\n      addressSpace:")
BALANCER_ID = f"{GROUP_ID}/providers/Microsoft.Network/loadBalancers/front"
BALANCER = """\
    apiVersion: network.azure.com/v1api20240301
    kind: LoadBalancer
    metadata:
      name: front
    spec:
      location: westeurope
      owner:
        name: core
      probes:
        - {name: alive, port: 80, protocol: Http, requestPath: /alive}
        - {name: ready, port: 80, protocol: Http, requestPath: /ready}
    """
ONE_PROBE = BALANCER.replace("        - {name: alive, port: 80, protocol: Http, requestPath: /alive}\n", "")
NO_PATH = BALANCER.replace(", requestPath: /alive", "")


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def patched(document):
    return annotated(document, **{"gitsync/update-method": "patch"})


def last_body(world):
    return [request.body for request in world.requests if request.method in {"PUT", "PATCH"}][-1]


CASES = {
    "a tag": (TAGGED, ONE_TAG, "ResourceGroup", ["/tags/env"]),
    "all tags": (TAGGED, GROUP, "ResourceGroup", ["/tags/env", "/tags/team"]),
    "an object": (DNS, VNET, "VirtualNetwork", ["/properties/dhcpOptions/dnsServers"]),
    "an entry of a list": (BALANCER, ONE_PROBE, "LoadBalancer", ["/properties/probes/0"]),
    "a field of an entry": (BALANCER, NO_PATH, "LoadBalancer", ["/properties/probes/0/properties/requestPath"]),
}


def says(world, document):
    return world.says(one=document) if "kind: ResourceGroup" in document else world.says(group=GROUP, one=document)


def asked_for(document):
    """What Azure has of the fields in question."""
    probes = document["properties"].get("probes", [])
    return (
        document.get("tags") or {},
        document["properties"].get("dhcpOptions"),
        [(probe["name"], probe["properties"].get("requestPath")) for probe in probes],
    )


@pytest.mark.parametrize("method", ["put", "patch"])
@pytest.mark.parametrize("case", CASES)
def test_it_is_pending_and_shown_and_gone_after_one_write(world, tmp_path, case, method):
    before, after, kind, paths = CASES[case]
    dress = patched if method == "patch" else str
    says(world, dress(before)).sync()
    planned = of(says(world, dress(after)).plan(), kind)
    assert planned.verdict is Verdict.PENDING
    assert [(d.path, d.desired, d.rule) for d in planned.differences] == [
        (path, None, "removed from git") for path in paths
    ]
    assert all(difference.live is not None for difference in planned.differences), "what goes is shown"
    written = of(world.sync(), kind)
    assert (written.action, written.differences) == (Action.UPDATE, planned.differences)
    assert [line.split()[0] for line in world.writes] == [method.upper()]
    assert of(world.sync(), kind).verdict is Verdict.IN_SYNC
    assert world.writes == []
    version = "2020-06-01" if kind == "ResourceGroup" else NETWORK
    assert asked_for(world.read(written.arm_id, version)) == asked_for(
        _created(tmp_path, after).read(written.arm_id, version)
    )


def _created(tmp_path, document):
    """Another Azure, where it has never been otherwise."""
    folder = tmp_path / "other"
    folder.mkdir()
    world = World(folder)
    says(world, document).sync()
    return world


def test_a_patch_takes_it_away_with_a_null(world):
    world.synced(group=GROUP, vnet=patched(DNS))
    world.synced(group=GROUP, vnet=patched(VNET))
    assert last_body(world) == {"properties": {"dhcpOptions": None}}


def test_a_put_leaves_it_out(world):
    world.synced(group=GROUP, vnet=DNS)
    world.synced(group=GROUP, vnet=VNET)
    assert "dhcpOptions" not in last_body(world)["properties"]
    assert "dhcpOptions" not in world.read(VNET_ID, NETWORK)["properties"]


def test_what_azure_lost_already_is_not_pending(world):
    world.synced(group=TAGGED)
    world.outside("PUT", GROUP_ID, {"location": "westeurope", "tags": {"team": "a"}})
    report = world.says(group=ONE_TAG).sync()
    assert (of(report, "ResourceGroup").verdict, world.writes) == (Verdict.IN_SYNC, [])


def test_what_azure_keeps_all_the_same_is_asked_for_once(tmp_path):
    """Many providers take a member that is left out for one that is to stay."""
    kept = rules(f"{{match: {{method: PUT, path: '{GROUP_ID}', nth: 2}}, move: [{{set: {{/tags/env: b}}}}]}}")
    world = World(tmp_path, rules=kept)
    world.synced(group=TAGGED)
    world.synced(group=ONE_TAG)
    assert world.writes == [f"PUT {GROUP_ID}"]
    assert world.read(GROUP_ID)["tags"] == {"team": "a", "env": "b"}
    assert (of(world.sync(), "ResourceGroup").verdict, world.writes) == (Verdict.IN_SYNC, [])


def test_what_somebody_changed_before_is_shown_as_it_is(world):
    world.synced(group=TAGGED)
    world.outside("PUT", GROUP_ID, {"location": "westeurope", "tags": {"team": "a", "env": "azure"}})
    (difference,) = of(world.says(group=ONE_TAG).plan(), "ResourceGroup").differences
    assert (difference.path, difference.live, difference.rule) == ("/tags/env", "azure", "removed from git")


@pytest.mark.parametrize("method", ["put", "patch"])
def test_what_is_ignored_may_leave_git_without_leaving_azure(world, method):
    notes = {"gitsync/ignore": "[/tags/env]", "gitsync/update-method": method}
    world.synced(group=annotated(TAGGED, **notes))
    report = world.says(group=annotated(ONE_TAG, **notes)).sync()
    assert (of(report, "ResourceGroup").verdict, world.writes) == (Verdict.IN_SYNC, [])
    world.synced(group=annotated(ONE_TAG.replace("team: a", "team: new"), **notes))
    assert world.read(GROUP_ID)["tags"] == {"team": "new", "env": "b"}


def test_what_surrounds_something_ignored_leaves_without_it(world):
    notes = {"gitsync/ignore": "[/properties/dhcpOptions/dnsServers]", "gitsync/update-method": "patch"}
    world.synced(group=GROUP, vnet=annotated(DNS, **notes))
    widened = VNET.replace("10.0.0.0/16", "10.0.0.0/8")
    found = of(world.says(group=GROUP, vnet=annotated(widened, **notes)).sync(), "VirtualNetwork")
    assert [difference.path for difference in found.differences] == ["/properties/addressSpace/addressPrefixes"]
    assert last_body(world) == {"properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/8"]}}}
    assert world.read(VNET_ID, NETWORK)["properties"]["dhcpOptions"] == {"dnsServers": ["10.0.0.4"]}


def test_whoever_ignores_it_only_now_keeps_it(world):
    world.synced(group=TAGGED)
    report = world.says(group=annotated(ONE_TAG, **{"gitsync/ignore": "[/tags/env]"})).sync()
    assert (of(report, "ResourceGroup").verdict, world.writes) == (Verdict.IN_SYNC, [])
    assert world.read(GROUP_ID)["tags"] == {"team": "a", "env": "b"}
