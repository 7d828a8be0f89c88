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


def last_body(world):
    return [request.body for request in world.requests if request.method in {"PUT", "PATCH"}][-1]


CASES = {
    "a tag": (TAGGED, ONE_TAG, "ResourceGroup", ["/tags/env"]),
    "all tags": (TAGGED, GROUP, "ResourceGroup", ["/tags/env", "/tags/team"]),
    "an object": (DNS, VNET, "VirtualNetwork", ["/properties/dhcpOptions/dnsServers"]),
    "an entry of a list": (BALANCER, ONE_PROBE, "LoadBalancer", ["/properties/probes/0"]),
    "a field of an entry": (BALANCER, NO_PATH, "LoadBalancer", ["/properties/probes/0/properties/requestPath"]),
}


ROWS = [(f"{case}, {method}", method, *CASES[case]) for case in CASES for method in ("put", "patch")]


def rename(document, name):
    return re.sub(r"(?<=metadata:\n      )name: \S+", f"name: {name}", document)


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
    report, sent, there = world.sync(), world.writes, in_azure(world)
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
    assert len(sent) == len(ROWS)


def make_world(folder, **settings):
    folder.mkdir()
    return World(folder, **settings)


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
    for _ in range(2):
        planned = world.plan()
        for case in cases:
            result, found = (of(each, "DatabaseAccount", NAMES[case]) for each in (report, planned))
            assert (result.condition.reason, result.is_fine) == ("KeptByAzure", False), case
            assert result.condition.message == f"Azure kept {KEPT[case][2]}, which git no longer has."
            assert (found.condition.reason, found.is_fine, found.action) == ("KeptByAzure", False, Action.NONE), case
        report = world.sync()
        assert world.writes == []
    planned = world.says(**make_accounts(lambda case: with_less(case).replace("team: a", "team: z"), cases)).plan()
    report = world.says(**make_accounts(with_all, cases)).sync()
    assert world.writes == []
    for case in cases:
        found = of(planned, "DatabaseAccount", NAMES[case])
        assert (found.action is Action.UPDATE) is ("team" in with_less(case)), case
        assert of(report, "DatabaseAccount", NAMES[case]).condition.is_ready, case


DEFAULTS = {
    "Azure fills it in again": "move: [{set: {/properties/minimalTlsVersion: Tls12}}]",
    "Azure takes no null for it": "answer: {code: InvalidRequestContent, status: 400, message: 'No null, please.'}",
}


@pytest.mark.parametrize("why", DEFAULTS)
def test_a_field_that_has_its_value_without_git_has_azures_default(tmp_path, why):
    first = f"{{match: {{method: PUT, path: '{ACCOUNT_ID}', nth: 2}}, move: [{{set: {{/properties/minimalTlsVersion: Tls12}}}}]}}"
    world = World(
        tmp_path, rules=rules(first, f"{{match: {{method: PUT, path: '{ACCOUNT_ID}', nth: 3}}, {DEFAULTS[why]}}}")
    )
    world.synced(group=GROUP, account=ACCOUNT)
    result = of(world.says(group=GROUP, account=ACCOUNT.replace(TLS, "")).sync(), "DatabaseAccount")
    assert (result.condition.is_ready, result.action, len(world.writes)) == (True, Action.UPDATE, 2)
    assert (of(world.sync(), "DatabaseAccount").verdict, world.writes) == (Verdict.IN_SYNC, [])
    assert of(world.says(group=GROUP, account=ACCOUNT).plan(), "DatabaseAccount").verdict is Verdict.IN_SYNC


def test_an_entry_that_azure_keeps_in_a_list_is_named(tmp_path):
    """Nothing more can be shown than the list without it."""
    world = World(tmp_path, rules=rules(OF_ACCOUNT))
    world.synced(group=GROUP, account=ACCOUNT)
    less = ACCOUNT.replace(", {ipAddressOrRange: 2.2.2.2}", "")
    planned = of(world.says(group=GROUP, account=less).plan(), "DatabaseAccount")
    assert [field.name for field in planned.comparison.fields.values()] == ["spec.ipRules[ipAddressOrRange=2.2.2.2]"]
    result = of(world.sync(), "DatabaseAccount")
    assert result.condition.message == "Azure kept spec.ipRules[ipAddressOrRange=2.2.2.2], which git no longer has."
    assert len(world.writes) == 1


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


def test_what_has_azures_default_by_now_is_not_sent_again_for_what_azure_keeps(tmp_path):
    tls = "{match: {method: PUT, path: '%s', after: 1}, move: [{set: {/properties/minimalTlsVersion: Tls}}]}"
    world = World(tmp_path, rules=rules(OF_ACCOUNT, tls.replace("%s", ACCOUNT_ID)))
    world.synced(group=GROUP, account=ACCOUNT)
    less = ACCOUNT.replace(", {ipAddressOrRange: 2.2.2.2}", "").replace(TLS, "")
    result = of(world.says(group=GROUP, account=less).sync(), "DatabaseAccount")
    for _ in range(2):
        assert result.condition.message == "Azure kept spec.ipRules[ipAddressOrRange=2.2.2.2], which git no longer has."
        result = of(world.sync(), "DatabaseAccount")
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


def test_a_demand_that_azure_refuses_leaves_what_it_accepted(tmp_path):
    world = World(
        tmp_path,
        rules=rules(
            OF_ACCOUNT,
            f"{{match: {{method: PATCH, path: '{ACCOUNT_ID}'}}, answer: {{code: MethodNotAllowed, status: 405, message: 'No.'}}}}",
        ),
    )
    world.synced(group=GROUP, account=ACCOUNT)
    result = of(world.says(group=GROUP, account=ACCOUNT.replace(", env: b", "")).sync(), "DatabaseAccount")
    assert result.condition.message == (
        "Azure kept spec.tags.env, which git no longer has. Azure refused to remove it: MethodNotAllowed: No."
    )
    again = of(world.sync(), "DatabaseAccount")
    assert (again.condition.message, world.writes) == (result.condition.message, [])


def test_a_run_that_was_cut_off_does_not_forget_what_git_gave_up(tmp_path):
    """Its record is of the new body; whether the old one's rest is gone, only the next run sees."""
    slow = "{match: {method: PUT, nth: 3}, operation: {seconds: 100000}}"
    world = World(tmp_path, rules=rules(OF_ACCOUNT, slow))
    world.synced(group=GROUP, account=ACCOUNT)
    less = ACCOUNT.replace(TWO, "")
    assert not of(world.says(group=GROUP, account=less).sync(resource_timeout=60), "DatabaseAccount").is_fine
    world.clock.elapsed += 200000
    assert of(world.sync(), "DatabaseAccount").condition.is_ready
    assert requested_of_account(in_azure(world)[ACCOUNT_ID])[1] == [f"{IDS}/one"]
    assert of(world.sync(), "DatabaseAccount").verdict is Verdict.IN_SYNC


def test_what_somebody_changed_before_is_shown_as_it_is(world):
    world.synced(group=TAGGED)
    world.outside("PUT", GROUP_ID, {"location": "westeurope", "tags": {"team": "a", "env": "azure"}})
    (difference,) = of(world.says(group=ONE_TAG).plan(), "ResourceGroup").differences
    assert (difference.path, difference.live, difference.rule) == ("/tags/env", "azure", "removed from git")


@pytest.mark.parametrize("method", ["put", "patch"])
def test_what_is_ignored_may_be_removed_from_git_without_leaving_azure(world, method):
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


def test_ignoring_it_only_now_keeps_it(world):
    world.synced(group=TAGGED)
    report = world.says(group=annotated(ONE_TAG, **{"gitsync/ignore": "[/tags/env]"})).sync()
    assert (of(report, "ResourceGroup").verdict, world.writes) == (Verdict.IN_SYNC, [])
    assert world.read(GROUP_ID)["tags"] == {"team": "a", "env": "b"}
