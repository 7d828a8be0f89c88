"""A field that git no longer requests is pending, shown as removed, and sent as such once."""

from __future__ import annotations

import json
import re

import pytest

from gitsync.model.verdict import Action, Verdict
from tests.support.fault_rules import rules
from tests.support.world import GROUP, GROUP_ID, SUBSCRIPTION, VNET, VNET_ID, World, annotated, of

NETWORK = "2024-03-01"
TAGGED = GROUP.replace("location: westeurope", "location: westeurope\n      tags: {team: a, env: b}")
ONE_TAG = TAGGED.replace(", env: b", "")
DNS = VNET.replace("addressSpace:", "dhcpOptions:\n        dnsServers: [10.0.0.4]\n      addressSpace:")
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


def list_bodies(world):
    """What the last run has sent, by the id of its resource."""
    return {request.path: request.body for request in world.requests if request.method in {"PUT", "PATCH"}}


CASES = {
    "a tag": (TAGGED, ONE_TAG, "ResourceGroup", ["/tags/env"]),
    "all tags": (TAGGED, GROUP, "ResourceGroup", ["/tags/env", "/tags/team"]),
    "an object": (DNS, VNET, "VirtualNetwork", ["/properties/dhcpOptions/dnsServers"]),
    "an entry of a list": (BALANCER, ONE_PROBE, "LoadBalancer", ["/properties/probes/0"]),
    "a field of an entry": (BALANCER, NO_PATH, "LoadBalancer", ["/properties/probes/0/properties/requestPath"]),
}


ROWS = [(f"{case}, {method}", method, *CASES[case]) for case in CASES for method in ("put", "patch")]


def rename(document, name):
    return re.sub(r"(?m)^      name: \S+", f"      name: {name}", document, count=1)


def make_documents(select):
    """A resource for each row, as it was before or is after."""
    documents = {"group": GROUP}
    for number, (_, method, before, after, _, _) in enumerate(ROWS):
        document = rename(select(before, after), f"row{number}")
        documents[f"row{number}"] = patched(document) if method == "patch" else document
    return documents


def in_azure(world):
    return {stored.id: stored.body for _, stored in world.store.below("/")}


def requested(document):
    """What Azure has of the fields in question."""
    properties = document.get("properties", {})
    probes = properties.get("probes", [])
    return (
        document.get("tags") or {},
        properties.get("dhcpOptions"),
        [(probe["name"], probe["properties"].get("requestPath")) for probe in probes],
    )


def test_it_is_pending_and_shown_and_gone_after_one_write(world, tmp_path):
    """In the end, Azure is as if it had never been otherwise."""
    world.says(**make_documents(lambda before, after: before)).sync()
    planned = world.says(**make_documents(lambda before, after: after)).plan()
    report, sent, bodies, there = world.sync(), world.writes, list_bodies(world), in_azure(world)
    again = world.sync()
    assert world.writes == []
    other = make_world(tmp_path / "other")
    other.says(**make_documents(lambda before, after: after)).sync()
    for number, (why, method, _, _, kind, paths) in enumerate(ROWS):
        name = f"row{number}"
        pending, written = of(planned, kind, name), of(report, kind, name)
        assert pending.verdict is Verdict.PENDING, why
        assert [(d.path, d.desired, d.rule) for d in pending.differences] == [
            (path, None, "removed from git") for path in paths
        ], why
        assert all(difference.live is not None for difference in pending.differences), f"{why}: what goes is shown"
        assert (written.action, written.differences) == (Action.UPDATE, pending.differences), why
        assert [line for line in sent if line.endswith(f"/{name}")] == [f"{method.upper()} {written.arm_id}"], why
        assert of(again, kind, name).verdict is Verdict.IN_SYNC, why
        assert requested(there[written.arm_id]) == requested(in_azure(other)[written.arm_id]), why
        if why == "an object, patch":
            assert bodies[written.arm_id] == {"properties": {"dhcpOptions": None}}
        elif why == "an object, put":
            assert "dhcpOptions" not in bodies[written.arm_id]["properties"]
            assert "dhcpOptions" not in there[written.arm_id]["properties"]
    assert len(sent) == len(ROWS)


def make_world(folder, **settings):
    folder.mkdir()
    return World(folder, **settings)


def ignoring(document, method="put"):
    return annotated(document, **{"gitsync/ignore": "[/tags/env]", "gitsync/update-method": method})


def test_groups_that_azure_has_otherwise_or_git_ignores(world):
    """Each is a resource group with two tags, of which git drops one."""
    former = {"lost": TAGGED, "changed": TAGGED, "now": TAGGED}
    former |= {method: ignoring(TAGGED, method) for method in ("put", "patch")}
    world.synced(**{name: rename(document, name) for name, document in former.items()})
    body = {"location": "westeurope", "tags": {"team": "a"}}
    world.outside("PUT", id_of("lost"), body)
    world.outside("PUT", id_of("changed"), {**body, "tags": {"team": "a", "env": "azure"}})

    said = {"lost": ONE_TAG, "changed": ONE_TAG, "now": ignoring(ONE_TAG)}
    said |= {method: ignoring(ONE_TAG, method) for method in ("put", "patch")}
    report = world.says(**{name: rename(document, name) for name, document in said.items()}).sync()
    assert of(report, "ResourceGroup", "lost").verdict is Verdict.IN_SYNC, "Azure lost it already"
    (difference,) = of(report, "ResourceGroup", "changed").differences
    shown = (difference.path, difference.live, difference.rule)
    assert shown == ("/tags/env", "azure", "removed from git"), "what somebody changed before is shown as it is"
    assert of(report, "ResourceGroup", "now").verdict is Verdict.IN_SYNC, "ignoring it only now keeps it"
    for method in ("put", "patch"):
        assert of(report, "ResourceGroup", method).verdict is Verdict.IN_SYNC, "what is ignored does not leave Azure"
    assert world.writes == [f"PUT {id_of('changed')}"]
    assert in_azure(world)[id_of("now")]["tags"] == {"team": "a", "env": "b"}

    said |= {method: said[method].replace("team: a", "team: new") for method in ("put", "patch")}
    world.says(**{name: rename(document, name) for name, document in said.items()}).sync()
    for method in ("put", "patch"):
        assert in_azure(world)[id_of(method)]["tags"] == {"team": "new", "env": "b"}, method


def id_of(name):
    """The id of a resource group."""
    return GROUP_ID.replace("/core", f"/{name}")


IDS = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/ids/providers/Microsoft.ManagedIdentity/userAssignedIdentities"
ACCOUNT_ID = f"{GROUP_ID}/providers/Microsoft.DocumentDB/databaseAccounts/cosmos"
TWO = f"          - reference: {{armId: {IDS}/two}}\n"
IDENTITY = f"""\
      identity:
        type: UserAssigned
        userAssignedIdentities:
          - reference: {{armId: {IDS}/one}}
{TWO}"""
IP_RULES = "      ipRules: [{ipAddressOrRange: 1.1.1.1}, {ipAddressOrRange: 2.2.2.2}]\n"
TAGS = "      tags: {team: a, env: b}\n"
TLS = "      minimalTlsVersion: Tls12\n"
ACCOUNT = f"""\
    apiVersion: documentdb.azure.com/v1api20231115
    kind: DatabaseAccount
    metadata:
      name: cosmos
    spec:
      owner:
        name: core
      location: westeurope
      databaseAccountOfferType: Standard
      locations: [{{locationName: westeurope}}]
{TLS}{IP_RULES}{TAGS}{IDENTITY}    """
OF_ACCOUNT = (
    "{match: {method: PUT, type: Microsoft.DocumentDB/databaseAccounts}, keep: [/identity, /properties, /tags]}"
)

_TWO_AT = "/identity/userAssignedIdentities/" + f"{IDS}/two".replace("/", "~1")

KEPT = {  # what is removed from git, the methods that take it away, its name, and how Azure has it in spite of them
    "an identity": (TWO, ["PUT", "PUT"], f'spec.identity.userAssignedIdentities["{IDS}/two"]', {_TWO_AT: {}}),
    "the identities": (IDENTITY, ["PUT", "PUT"], "spec.identity.type", {"/identity/type": "UserAssigned"}),
    "a tag": (", env: b", ["PUT", "PATCH"], "spec.tags.env", {"/tags/env": "b"}),
    "all tags": (TAGS, ["PUT", "PATCH"], "spec.tags.env, spec.tags.team", {"/tags": {"team": "a", "env": "b"}}),
    "a field": (TLS, ["PUT", "PUT"], "spec.minimalTlsVersion", {"/properties/minimalTlsVersion": "Tls12"}),
    "a list": (
        IP_RULES,
        ["PUT", "PUT"],
        "spec.ipRules[ipAddressOrRange=1.1.1.1], spec.ipRules[ipAddressOrRange=2.2.2.2]",
        {"/properties/ipRules": [{"ipAddressOrRange": "1.1.1.1"}, {"ipAddressOrRange": "2.2.2.2"}]},
    ),
}


NAMES = {case: f"cosmos{number}" for number, case in enumerate(KEPT)}
"""Of the accounts of all rows."""


def with_all(case):
    return ACCOUNT


def with_less(case):
    return ACCOUNT.replace(KEPT[case][0], "")


def make_accounts(make, cases=tuple(KEPT)):
    return {"group": GROUP, **{NAMES[case]: rename(make(case), NAMES[case]) for case in cases}}


def find_methods(world, case):
    return [line.split()[0] for line in world.writes if line.endswith(f"/{NAMES[case]}")]


def test_what_a_put_does_not_take_away_is_demanded_once(tmp_path):
    world = World(tmp_path, rules=rules(OF_ACCOUNT))
    world.says(**make_accounts(with_all)).sync()
    report = world.says(**make_accounts(with_less)).sync()
    for case, (_, methods, _, _) in KEPT.items():
        assert find_methods(world, case) == methods, case
    new = make_world(tmp_path / "new")
    new.says(**make_accounts(with_less)).sync()
    again = world.sync()
    assert world.writes == []
    for case, name in NAMES.items():
        result = of(report, "DatabaseAccount", name)
        assert (result.condition.is_ready, result.action, {d.rule for d in result.differences}) == (
            True,
            Action.UPDATE,
            {"removed from git"},
        ), case
        there, expected = (requested_of_account(in_azure(each)[result.arm_id]) for each in (world, new))
        assert there == expected, case
        assert of(again, "DatabaseAccount", name).verdict is Verdict.IN_SYNC, case


def requested_of_account(body):
    identity = body.get("identity") or {}
    return (
        body.get("tags") or {},
        sorted(identity.get("userAssignedIdentities") or {}),
        body["properties"].get("minimalTlsVersion"),
        body["properties"].get("ipRules") or [],
    )


def test_what_azure_keeps_in_any_case_is_reported_until_git_or_azure_changes(tmp_path):
    cases = tuple(case for case in KEPT if case != "a field")
    back = (
        f"{{match: {{method: [PUT, PATCH], path: '*/{NAMES[case]}', after: 1}}, move: [{{set: {json.dumps(KEPT[case][3])}}}]}}"
        for case in cases
    )
    world = World(tmp_path, rules=rules(*back))
    world.says(**make_accounts(with_all, cases)).sync()
    report = world.says(**make_accounts(with_less, cases)).sync()
    for case in cases:
        assert find_methods(world, case) == KEPT[case][1], case
    later = [world.plan(), world.sync()]
    assert world.writes == []
    later.append(world.sync())
    assert world.writes == []
    for each in (report, *later):
        for case in cases:
            result = of(each, "DatabaseAccount", NAMES[case])
            assert (result.condition.reason, result.is_fine) == ("KeptByAzure", False), case
            assert result.condition.message == f"Azure kept {KEPT[case][2]}, which git no longer has."
            assert each is report or result.action is Action.NONE, case
    planned = world.says(**make_accounts(lambda case: with_less(case).replace("team: a", "team: z"), cases)).plan()
    report = world.says(**make_accounts(with_all, cases)).sync()
    assert world.writes == []
    for case in cases:
        found = of(planned, "DatabaseAccount", NAMES[case])
        assert (found.action is Action.UPDATE) is ("team" in with_less(case)), case
        assert of(report, "DatabaseAccount", NAMES[case]).condition.is_ready, case


LESS_RULES = ACCOUNT.replace(", {ipAddressOrRange: 2.2.2.2}", "")
KEPT_RULE = "Azure kept spec.ipRules[ipAddressOrRange=2.2.2.2], which git no longer has."
KEPT_TAG = "Azure kept spec.tags.env, which git no longer has. Azure refused to remove it: MethodNotAllowed: No."
FILLED = "move: [{set: {/properties/minimalTlsVersion: Tls12}}]"
NO_NULL = "answer: {code: InvalidRequestContent, status: 400, message: 'No null, please.'}"
NO_PATCH = "answer: {code: MethodNotAllowed, status: 405, message: 'No.'}"
ANSWERED = [  # without a field, and when and how Azure answers what of it; how many writes it takes; what remains
    ("filled", ACCOUNT.replace(TLS, ""), [("PUT", "nth: 2", FILLED), ("PUT", "nth: 3", FILLED)], 2, ""),
    ("no-null", ACCOUNT.replace(TLS, ""), [("PUT", "nth: 2", FILLED), ("PUT", "nth: 3", NO_NULL)], 2, ""),
    ("entry", LESS_RULES, [], 1, KEPT_RULE),
    ("default", LESS_RULES.replace(TLS, ""), [("PUT", "after: 1", FILLED.replace("Tls12", "Tls"))], 1, KEPT_RULE),
    ("refused", ACCOUNT.replace(", env: b", ""), [("PATCH", "after: 0", NO_PATCH)], 2, KEPT_TAG),
]


def test_what_azure_answers_to_the_demand(tmp_path):
    """A field that has its value without git has Azure's default: Azure fills it in again, or takes no null for it. An
    entry that it keeps in a list is named. It is not sent again for what has Azure's default by now. A demand that
    Azure refuses leaves what it accepted.
    """
    answers = [
        f"{{match: {{method: {method}, path: '*/{name}', {when}}}, {answer}}}"
        for name, _, of_name, _, _ in ANSWERED
        for method, when, answer in of_name
    ]
    keep = [OF_ACCOUNT.replace("type: Microsoft.DocumentDB/databaseAccounts", f"path: '*/{name}'") for name in KEEPING]
    world = World(tmp_path, rules=rules(*keep, *answers))
    before = {name: rename(ACCOUNT, name) for name, *_ in ANSWERED}
    world.says(group=GROUP, **before).sync()
    world.says(group=GROUP, **{name: rename(less, name) for name, less, *_ in ANSWERED})
    fields = of(world.plan(), "DatabaseAccount", "entry").comparison.fields
    assert [field.name for field in fields.values()] == ["spec.ipRules[ipAddressOrRange=2.2.2.2]"]
    report, writes = world.sync(), world.writes
    again = world.sync()
    assert world.writes == []
    later = world.sync()
    assert world.writes == []
    planned = world.says(group=GROUP, **before).plan()
    for name, _, _, count, message in ANSWERED:
        assert len([line for line in writes if line.endswith(f"/{name}")]) == count, name
        result, *others = (of(each, "DatabaseAccount", name) for each in (report, again, later))
        assert result.action is Action.UPDATE, name
        if message:
            assert [each.condition.message for each in (result, *others)] == [message] * 3
        else:
            assert result.condition.is_ready, name
            assert [other.verdict for other in others] == [Verdict.IN_SYNC] * 2, name
            assert of(planned, "DatabaseAccount", name).verdict is Verdict.IN_SYNC, name


KEEPING = ("entry", "default", "refused")
"""The accounts of which Azure keeps what a PUT leaves out."""


def test_an_entry_with_several_members_is_not_drift_while_azure_keeps_it(tmp_path):
    tenant = "00000000-0000-0000-0000-00000000000f"
    policy = (
        "          - {{tenantId: {}, objectId: 00000000-0000-0000-0000-00000000000{}, permissions: {{keys: [{}]}}}}\n"
    )
    one, two = (policy.format(tenant, *end) for end in (("a", "get"), ("b", "get, list")))
    vault = f"""\
    apiVersion: keyvault.azure.com/v1api20230701
    kind: Vault
    metadata:
      name: keys
    spec:
      owner:
        name: core
      location: westeurope
      properties:
        tenantId: {tenant}
        sku: {{family: A, name: standard}}
        accessPolicies:
{one}{two}    """
    kept = "{match: {method: PUT, type: Microsoft.KeyVault/vaults}, keep: [/properties/accessPolicies]}"
    world = World(tmp_path, rules=rules(kept))
    world.synced(group=GROUP, vault=vault)
    less = vault.replace(two, "").replace("keys: [get]", "keys: [list]")
    name = "spec.properties.accessPolicies[objectId=00000000-0000-0000-0000-00000000000b]"
    result = of(world.says(group=GROUP, vault=less).sync(), "Vault")
    assert len(world.writes) == 1
    for _ in range(2):
        assert result.condition.message == f"Azure kept {name}, which git no longer has."
        result = of(world.sync(), "Vault")
        assert (result.verdict, world.writes) == (Verdict.PENDING, [])
    world.somebody_changes(result.arm_id, {}, remove=["/properties/accessPolicies/1"])
    assert of(world.sync(), "Vault").verdict is Verdict.IN_SYNC
    assert world.writes == []


def test_what_azure_kept_is_fine_once_somebody_takes_it_away(tmp_path):
    kept = rules(
        f"{{match: {{method: [PUT, PATCH], path: '{GROUP_ID}', after: 1}}, move: [{{set: {{/tags/env: b}}}}]}}"
    )
    world = World(tmp_path, rules=kept)
    world.synced(group=TAGGED)
    assert not of(world.says(group=ONE_TAG).sync(), "ResourceGroup").is_fine
    world.somebody_changes(GROUP_ID, {}, remove=["/tags/env"])
    assert of(world.sync(), "ResourceGroup").condition.is_ready
    assert world.writes == []


def test_what_azure_kept_may_be_left_to_it(tmp_path):
    kept = rules(
        f"{{match: {{method: [PUT, PATCH], path: '{GROUP_ID}', after: 1}}, move: [{{set: {{/tags/env: b}}}}]}}"
    )
    world = World(tmp_path, rules=kept)
    world.synced(group=TAGGED)
    world.synced(group=ONE_TAG)
    ignored = annotated(ONE_TAG, **{"gitsync/ignore": "[/tags/env]"})
    assert of(world.says(group=ignored).sync(), "ResourceGroup").condition.is_ready
    assert of(world.says(group=ONE_TAG).sync(), "ResourceGroup").condition.is_ready
    assert world.writes == []


def test_a_run_that_was_cut_off_does_not_forget_what_git_gave_up(tmp_path):
    """Its record is of the new body; whether the old one's rest is gone, only the next run sees."""
    slow = "{match: {method: PUT, nth: 3}, operation: {seconds: 100000}}"
    world = World(tmp_path, rules=rules(OF_ACCOUNT, slow))
    world.synced(group=GROUP, account=ACCOUNT)
    less = ACCOUNT.replace(TWO, "")
    assert not of(world.says(group=GROUP, account=less).sync(resource_timeout=6), "DatabaseAccount").is_fine
    world.clock.elapsed += 200000
    assert of(world.sync(), "DatabaseAccount").condition.is_ready
    assert requested_of_account(in_azure(world)[ACCOUNT_ID])[1] == [f"{IDS}/one"]
    assert of(world.sync(), "DatabaseAccount").verdict is Verdict.IN_SYNC


def test_what_surrounds_something_ignored_leaves_without_it(world):
    notes = {"gitsync/ignore": "[/properties/dhcpOptions/dnsServers]", "gitsync/update-method": "patch"}
    world.synced(group=GROUP, vnet=annotated(DNS, **notes))
    widened = VNET.replace("10.0.0.0/16", "10.0.0.0/8")
    found = of(world.says(group=GROUP, vnet=annotated(widened, **notes)).sync(), "VirtualNetwork")
    assert [difference.path for difference in found.differences] == ["/properties/addressSpace/addressPrefixes"]
    assert list_bodies(world)[VNET_ID] == {"properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/8"]}}}
    assert world.read(VNET_ID, NETWORK)["properties"]["dhcpOptions"] == {"dnsServers": ["10.0.0.4"]}
