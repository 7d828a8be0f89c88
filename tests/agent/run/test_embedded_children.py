"""A parent and children that Azure embeds in it, changed in one commit."""

from __future__ import annotations

import pytest

from gitsync.emulator.faults import Move
from gitsync.model.verdict import Action, Verdict, Written
from gitsync.report.headline import format_headline
from tests.agent.run.test_review import apply, planned
from tests.support.fault_rules import rules
from tests.support.world import GROUP, GROUP_ID, SUBNET, SUBNET_ID, VNET, VNET_ID, World, annotated, of

NETWORK = "2024-03-01"
MOVED_VNET, MOVED_SUBNET = (text.replace("10.0.", "10.9.") for text in (VNET, SUBNET))
TWO = SUBNET.replace("name: one", "name: two").replace("10.0.0.0/24", "10.0.1.0/24")
MOVED_TWO = TWO.replace("10.0.", "10.9.")
LIST = ("properties", "subnets")
OUTSIDE = "NetcfgSubnetRangeOutsideVnet"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def of_group(kind: str, group: str, name: str, spec: str, owner: str = "core") -> str:
    """A manifest; the fields of `spec` are separated by semicolons."""
    fields = "".join(f"      {field.strip()}\n" for field in spec.split(";"))
    return f"""\
    apiVersion: {group}
    kind: {kind}
    metadata:
      name: {name}
    spec:
      owner:
        name: {owner}
{fields}    """


SET = "location: westeurope; sku: {name: Standard_B1s, capacity: 1}"
NET = "network.azure.com/v1api20240301"
PAIRS = {  # parent, its child, what changes in each, and the list in the parent
    "a network": (VNET, SUBNET, ("10.0.0.0/16", "10.0.0.0/15"), ("10.0.0.0/24", "10.0.9.0/24"), LIST),
    "a security group": (
        of_group("NetworkSecurityGroup", NET, "wall", "location: westeurope; tags: {a: b}"),
        of_group(
            "NetworkSecurityGroupsSecurityRule",
            NET,
            "rule",
            "access: Allow; direction: Inbound; priority: 100; protocol: Tcp; sourceAddressPrefix: '*';"
            " destinationAddressPrefix: '*'; sourcePortRange: '*'; destinationPortRange: '22'",
        ),
        ("a: b", "a: c"),
        ("priority: 100", "priority: 200"),
        ("properties", "securityRules"),
    ),
    "a route table": (
        of_group("RouteTable", NET, "table", "location: westeurope; tags: {a: b}"),
        of_group("RouteTablesRoute", NET, "out", "addressPrefix: 0.0.0.0/0; nextHopType: Internet"),
        ("a: b", "a: c"),
        ("Internet", "None"),
        ("properties", "routes"),
    ),
    "a load balancer": (
        of_group("LoadBalancer", NET, "front", "location: westeurope; tags: {a: b}"),
        of_group("LoadBalancersInboundNatRule", NET, "ssh", "backendPort: 22; frontendPort: 22; protocol: Tcp"),
        ("a: b", "a: c"),
        ("frontendPort: 22", "frontendPort: 2222"),
        ("properties", "inboundNatRules"),
    ),
    "a scale set": (
        of_group("VirtualMachineScaleSet", "compute.azure.com/v1api20220301", "web", SET + "; tags: {a: b}"),
        of_group(
            "VirtualMachineScaleSetsExtension",
            "compute.azure.com/v1api20220301",
            "agent",
            "publisher: p; type: t; typeHandlerVersion: '1.0'",
        ),
        ("a: b", "a: c"),
        ("'1.0'", "'2.0'"),
        ("properties", "virtualMachineProfile", "extensionProfile", "extensions"),
    ),
}


def _find(body, path):
    for step in path:
        body = body[step]
    return body


def read_member(text, member):
    return next(line.split()[-1] for line in text.splitlines() if line.strip().startswith(f"{member}:"))


def test_both_change_by_one_put_of_the_parent(world):
    before, then = {"group": GROUP}, {"group": GROUP}
    for number, (parent, orphan, of_parent, of_child, _) in enumerate(PAIRS.values()):
        child = orphan.replace("name: core", f"name: {read_member(parent, 'name')}")
        before |= {f"parent{number}": parent, f"child{number}": child}
        then |= {f"parent{number}": parent.replace(*of_parent), f"child{number}": child.replace(*of_child)}
    world.synced(**before)
    assert len(world.sent("PUT")) == len(before)
    plan, report = world.says(**then).plan(), world.sync()
    assert (report.exit_code, format_headline(report)) == (0, f"Updated {2 * len(PAIRS)}")
    bodies = {request.path: request.body for request in world.requests if request.method == "PUT"}
    assert len(world.writes) == len(bodies) == len(PAIRS)
    for case, (parent, child, _, _, path) in PAIRS.items():
        kinds = [read_member(text, "kind") for text in (parent, child)]
        found, foreseen = (of(plan, kind) for kind in kinds)
        pending = (Verdict.PENDING, Action.UPDATE)
        assert [(result.verdict, result.action) for result in (found, foreseen)] == [pending] * 2, case
        assert f"Its PUT also writes {kinds[1]}/" in found.condition.message, case
        brought = of(report, kinds[1])
        assert (brought.verdict, brought.action, brought.ending.written) == (*pending, Written.ACCEPTED), case
        assert brought.differences == foreseen.differences, case
        (sent,) = _find(bodies[found.arm_id], path)
        assert sent["properties"], case
    again = world.sync()
    assert (world.writes, {result.verdict for result in again.results}) == ([], {Verdict.IN_SYNC})


def test_a_network_and_its_subnets_move_together(world):
    world.synced(group=GROUP, vnet=VNET, one=SUBNET, two=TWO)
    report = world.says(group=GROUP, vnet=MOVED_VNET, one=MOVED_SUBNET, two=MOVED_TWO).sync()
    assert (report.exit_code, world.writes) == (0, [f"PUT {VNET_ID}"])
    subnets = world.read(VNET_ID, NETWORK)["properties"]["subnets"]
    assert [subnet["properties"]["addressPrefix"] for subnet in subnets] == ["10.9.0.0/24", "10.9.1.0/24"]
    assert not world.sync().exit_code
    assert world.writes == []


def test_what_failed_in_earlier_runs_moves_too(world):
    refusal = f"{{match: {{method: PUT, path: '{VNET_ID}', after: 1, times: 2}}, answer: {{code: {OUTSIDE}}}}}"
    world.settings = World(_new(world)).settings.__class__(limits=None, rules=rules(refusal))
    world.synced(group=GROUP, vnet=VNET, one=SUBNET)
    assert world.says(group=GROUP, vnet=MOVED_VNET, one=MOVED_SUBNET).sync().exit_code
    assert world.sync().exit_code == 0
    assert world.writes == [f"PUT {VNET_ID}"]


def _new(world):
    folder = world.folder.parent / "new"
    folder.mkdir()
    return folder


STAYS = {
    "it is held": {"gitsync/hold": "2030-01-01 we look into it"},
    "it is only watched": {"reconcile_policy": "skip"},
}


def test_the_plan_names_a_circle_that_it_cannot_solve(world):
    """Each row is a network of its own."""

    stay = [annotated(MOVED_SUBNET, **how) for how in STAYS.values()]
    world.synced(group=GROUP, **number_nets(VNET, [SUBNET] * len(STAYS)))
    plan = world.says(group=GROUP, **number_nets(MOVED_VNET, stay)).plan()
    report = world.sync()
    for number, why in enumerate(STAYS):
        assert of(plan, "VirtualNetwork", f"hub{number}").condition.message == (
            f"Azure refuses it: subnet one{number} (10.0.0.0/24) would be outside of its address space, and this run does "
            "not change that. Keep the old range in spec.addressSpace.addressPrefixes until the subnet has a new one."
        ), why
        assert of(report, "VirtualNetwork", f"hub{number}").condition.reason == OUTSIDE, why
        live = world.azure().resource(f"{VNET_ID}{number}/subnets/one{number}")
        assert live["properties"]["addressPrefix"] == "10.0.0.0/24", why
    both = VNET.replace("[10.0.0.0/16]", "[10.0.0.0/16, 10.9.0.0/16]")
    report = world.says(group=GROUP, **number_nets(both, stay)).sync()
    for number, why in enumerate(STAYS):
        assert of(report, "VirtualNetwork", f"hub{number}").condition.is_ready, f"{why}: as the plan says"


def number_nets(vnet, subnets):
    """A network of its own for each of these subnets."""
    texts = {}
    for number, subnet in enumerate(subnets):
        texts[f"vnet{number}"] = vnet.replace("name: hub", f"name: hub{number}")
        texts[f"one{number}"] = subnet.replace("name: hub", f"name: hub{number}").replace(
            "name: one", f"name: one{number}"
        )
    return texts


def test_a_subnet_of_no_one_is_named_too(world):
    world.synced(group=GROUP, vnet=VNET, one=SUBNET)
    world.outside("PUT", f"{VNET_ID}/subnets/theirs", {"properties": {"addressPrefix": "10.0.7.0/24"}}, NETWORK)
    planned_network = of(world.says(group=GROUP, vnet=MOVED_VNET, one=MOVED_SUBNET).plan(), "VirtualNetwork")
    assert "subnet theirs (10.0.7.0/24)" in planned_network.condition.message
    assert "subnet one" not in planned_network.condition.message


def test_a_run_that_is_not_about_the_child_leaves_it_as_it_is(world):
    world.synced(group=GROUP, vnet=VNET, one=SUBNET)
    wider, other = VNET.replace("/16", "/15"), SUBNET.replace("10.0.0.0/24", "10.0.8.0/24")
    world.says(group=GROUP, vnet=wider, one=other).sync(only=("VirtualNetwork/hub",))
    assert world.writes == [f"PUT {VNET_ID}"]
    assert world.read(SUBNET_ID, NETWORK)["properties"]["addressPrefix"] == "10.0.0.0/24"


def test_a_child_that_only_drifted_is_reverted_by_its_own_write(world):
    world.synced(group=GROUP, vnet=VNET, one=SUBNET)
    world.outside("PUT", SUBNET_ID, {"properties": {"addressPrefix": "10.0.3.0/24"}}, NETWORK)
    world.says(group=GROUP, vnet=VNET.replace("/16", "/15"), one=SUBNET).sync()
    assert world.writes == [f"PUT {VNET_ID}", f"PUT {SUBNET_ID}"]
    sent = next(r.body for r in world.requests if r.method == "PUT")
    assert sent["properties"]["subnets"][0]["properties"]["addressPrefix"] == "10.0.3.0/24"


def test_what_a_reviewer_has_not_seen_does_not_go_along(world):
    world.synced(group=GROUP, vnet=VNET, one=SUBNET)
    wider, other = VNET.replace("/16", "/15"), SUBNET.replace("10.0.0.0/24", "10.0.8.0/24")
    file = planned(world.says(group=GROUP, vnet=wider, one=other))
    world.outside("PUT", SUBNET_ID, {"properties": {"addressPrefix": "10.0.3.0/24"}}, NETWORK)
    report = apply(world, file)
    assert of(report, "VirtualNetworksSubnet").condition.reason == "PlanOutdated"
    assert world.read(SUBNET_ID, NETWORK)["properties"]["addressPrefix"] == "10.0.3.0/24"


def test_what_a_reviewer_has_seen_goes_along(world):
    world.synced(group=GROUP, vnet=VNET, one=SUBNET)
    file = planned(world.says(group=GROUP, vnet=MOVED_VNET, one=MOVED_SUBNET))
    assert (apply(world, file).exit_code, world.writes) == (0, [f"PUT {VNET_ID}"])


def test_a_parent_does_not_fail_for_its_child(world):
    """What Azure refuses with the child in it is sent once more without."""
    bad = "{match: {method: PUT, path: '*/virtualnetworks/hub', nth: 2}, answer: {code: InUseSubnetCannotBeUpdated, status: 400}}"
    world.settings = type(world.settings)(limits=None, rules=rules(bad))
    world.synced(group=GROUP, vnet=VNET, one=SUBNET)
    wider, other = VNET.replace("/16", "/15"), SUBNET.replace("10.0.0.0/24", "10.0.8.0/24")
    report = world.says(group=GROUP, vnet=wider, one=other).sync()
    assert (report.exit_code, world.writes) == (0, [f"PUT {VNET_ID}", f"PUT {VNET_ID}", f"PUT {SUBNET_ID}"])


FIRST = ("NetcfgInvalidSubnet", "Subnet one is not valid.")
FIXED = ("PropertyChangeNotAllowed", "The address space is fixed.")
SECOND = [
    (FIRST, FIRST, "", "the same again"),
    (
        ("InUseSubnetCannotBeDeleted", "Subnet one is in use."),
        FIRST,
        "InUseSubnetCannotBeDeleted: Subnet one is in use.",
        "another",
    ),
    (FIXED, FIXED, "", "one that leads to a replacement"),
]


ENDS = (
    "answer: {{code: {0}, message: {1}, status: 400}}",
    "operation: {{style: async, polls: 1, result: Failed, error: {{code: {0}, message: {1}}}}}",
)


def test_of_two_refusals_the_one_of_the_body_in_git_is_shown(world):
    """Each row is a network of its own, which Azure refuses when it is changed, and then without its child."""
    rows = [(*second, ends) for second in SECOND for ends in ENDS]
    match = "match: {{method: PUT, path: '*/virtualnetworks/hub{0}', nth: {1}}}"
    refusals = (
        f"{{{match.format(number, nth)}, {ends.format(*refusal)}}}"
        for number, (second, _, _, _, ends) in enumerate(rows)
        for nth, refusal in ((2, FIRST), (3, second))
    )
    world.settings = type(world.settings)(limits=None, rules=rules(*refusals))
    wider, other = VNET.replace("/16", "/15"), SUBNET.replace("10.0.0.0/24", "10.0.8.0/24")
    for vnet, subnet in ((VNET, SUBNET), (wider, other)):
        report = world.says(group=GROUP, **number_nets(vnet, [subnet] * len(rows))).sync()
    for number, (_, shown, added, why, ends) in enumerate(rows):
        found = of(report, "VirtualNetwork", f"hub{number}").condition
        assert (found.reason, found.message) == shown, (why, ends)
        assert (added in found.advice, "without its children" in found.advice) == (True, bool(added)), (why, ends)


def test_the_registration_of_a_provider_is_not_covered_by_a_refusal(world):
    match = "match: {{method: PUT, path: '*/virtualnetworks/hub', {}}}"
    answer = "answer: {{code: {}, status: {}}}"
    refusals = [("nth: 2", FIRST[0], 400), ("after: 2", "MissingSubscriptionRegistration", 409)]
    lines = (f"{{{match.format(when)}, {answer.format(code, status)}}}" for when, code, status in refusals)
    world.settings = type(world.settings)(limits=None, rules=rules(*lines))
    world.synced(group=GROUP, vnet=VNET, one=SUBNET)
    wider, other = VNET.replace("/16", "/15"), SUBNET.replace("10.0.0.0/24", "10.0.8.0/24")
    report = world.says(group=GROUP, vnet=wider, one=other).sync(register_providers=True, resource_timeout=60.0)
    assert of(report, "VirtualNetwork").condition.reason == "Reconciling"


WALL = of_group("NetworkSecurityGroup", NET, "wall", "location: westeurope")
WALL_ID = f"{GROUP_ID}/providers/Microsoft.Network/networkSecurityGroups/wall"


def test_what_the_parent_cannot_know_yet_comes_with_the_child(world):
    """The new security group is created after the network, or beside it."""
    world.synced(group=GROUP, vnet=VNET, one=SUBNET)
    reference = "networkSecurityGroup: {reference: {group: network.azure.com, kind: NetworkSecurityGroup, name: wall}}"
    guarded = f"{MOVED_SUBNET.rstrip()}\n      {reference}\n"
    report = world.says(group=GROUP, vnet=MOVED_VNET, one=guarded, wall=WALL).sync()
    assert report.exit_code == 0
    sent = {r.path: r.body for r in world.requests if r.method == "PUT"}
    assert sent[VNET_ID]["properties"]["subnets"][0]["properties"] == {"addressPrefix": "10.9.0.0/24"}
    assert world.read(SUBNET_ID, NETWORK)["properties"]["networkSecurityGroup"]["id"] == WALL_ID


def test_what_is_ignored_in_the_child_stays(world):
    ignoring = {"gitsync/ignore": "[/properties/privateEndpointNetworkPolicies]"}
    policy = "privateEndpointNetworkPolicies: {}\n"
    text = annotated(f"{SUBNET.rstrip()}\n      {policy.format('Enabled')}", **ignoring)
    world.synced(group=GROUP, vnet=VNET, one=text)
    live = {"properties": {"addressPrefix": "10.0.0.0/24", "privateEndpointNetworkPolicies": "Disabled"}}
    world.outside("PUT", SUBNET_ID, live, NETWORK)
    world.says(group=GROUP, vnet=MOVED_VNET, one=text.replace("10.0.", "10.9.")).sync()
    assert world.writes == [f"PUT {VNET_ID}"]
    assert world.read(SUBNET_ID, NETWORK)["properties"] == {
        "addressPrefix": "10.9.0.0/24",
        "privateEndpointNetworkPolicies": "Disabled",
        "provisioningState": "Succeeded",
    }


def test_a_network_waits_for_the_delete_of_what_does_not_fit_it(world):
    world.synced(group=GROUP, vnet=VNET, one=SUBNET, two=TWO)
    world.says(group=GROUP, vnet=MOVED_VNET, one=MOVED_SUBNET)
    assert "outside" not in of(world.plan(prune=True), "VirtualNetwork").condition.message
    report = world.sync(prune=True)
    assert report.exit_code == 0
    assert [member["name"] for member in world.read(VNET_ID, NETWORK)["properties"]["subnets"]] == ["one"]


def test_a_child_with_a_secret_stays_as_it_is(world):
    parent, child, of_parent, of_child, _ = PAIRS["a scale set"]
    child = child.replace("name: core", "name: web").replace(
        "typeHandlerVersion: '1.0'", "typeHandlerVersion: '1.0'\n      protectedSettings: {name: settings}"
    )
    kept = """\
    apiVersion: v1
    kind: Secret
    metadata: {name: settings}
    stringData: {key: value}
    """
    world.synced(group=GROUP, kept=kept, parent=parent, child=child)
    changed = {"parent": parent.replace(*of_parent), "child": child.replace(*of_child)}
    assert world.says(group=GROUP, kept=kept, **changed).sync().exit_code == 0
    assert len(world.writes) == 2


def test_a_child_that_its_parent_overwrites_is_reported_as_it_was(world):
    """Somebody's change in Azure goes by the PUT of the parent: the report and `--fail-on` are about it."""
    world.synced(group=GROUP, vnet=VNET, one=SUBNET)
    world.somebody_moves(SUBNET_ID, Move(set={"/properties/addressPrefix": "10.0.5.0/24"}))
    changed = {"vnet": VNET.replace("0.0/16", "0.0/15"), "one": SUBNET.replace("10.0.0.0/24", "10.0.9.0/24")}
    report = world.says(group=GROUP, **changed).sync(fail_on=("conflict",))
    subnet = of(report, "VirtualNetworksSubnet")
    assert (subnet.verdict, subnet.action, report.exit_code) == (Verdict.CONFLICT, Action.UPDATE, 1)
    assert [(difference.live, difference.desired) for difference in subnet.differences] == [
        ("10.0.5.0/24", "10.0.9.0/24")
    ]
    assert world.writes == [f"PUT {VNET_ID}"]
    assert (world.sync(fail_on=("conflict",)).exit_code, world.writes) == (0, [])
