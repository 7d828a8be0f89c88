"""Several credentials in one run: which one each resource has, and what comes of one that does not do
(docs/reference/reconciliation.md#credential-selection).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from gitsync.emulator.settings import TENANT, Denial
from gitsync.errors import ConfigError, SecretStoreError
from gitsync.model.condition import ConditionStatus, Severity
from gitsync.model.export import Address
from gitsync.model.secret import Secret
from gitsync.model.verdict import Action, Verdict
from gitsync.repository.secrets.stores import SecretStores
from tests.agent.run.tenants import OTHER, Tenants, group_id, inside, principal, secret
from tests.support.world import GROUP, GROUP_ID, SUBSCRIPTION, VNET, VNET_ID, World, annotated, of

READY = (ConditionStatus.TRUE, Severity.NONE, "Succeeded")
NOT_YET = (ConditionStatus.FALSE, Severity.WARNING, "Failed")
NEVER = (ConditionStatus.FALSE, Severity.ERROR, "Failed")
LACKS = 'credential Secret "default/aso-credential" does not contain key "{}"'
OTHER_GROUP = GROUP.replace("name: core", "name: other")


def said(result):
    return (result.condition.status, result.condition.severity, result.condition.reason)


def record(world, kind="ResourceGroup", namespace="default", name="core"):
    path = world.state / namespace / "resources.azure.com" / kind / f"{name}.json"
    return path.read_text()


def test_11_a_child_whose_subscription_is_not_its_groups_is_an_error(tmp_path):
    world = Tenants(tmp_path, "team")
    own = annotated(VNET, credential_from="mine")
    world.says(group=GROUP, vnet=own, mine=secret("team", "mine", subscription=OTHER))
    found = of(world.sync(), "VirtualNetwork")
    assert said(found) == NEVER
    text = f'resource subscription "{OTHER}" does not match parent subscription "{SUBSCRIPTION}"'
    assert text in found.condition.message
    assert world.writes == [f"PUT {GROUP_ID}"], "the rest goes on"
    assert "team-client" not in world.issued, "who has nothing to do does not sign in"


def no_rights(where: str = "*") -> Denial:
    return Denial(principal="team-client", scope=where)


@pytest.mark.parametrize("how", ["namespace", "resource"])
def test_35_a_credential_without_rights_is_a_warning_and_without_it_all_goes_well(tmp_path, how):
    world = Tenants(tmp_path, "team", denied=(no_rights(),))
    if how == "namespace":
        world.says(group=GROUP, own=secret("team"))
    else:
        world.says(group=annotated(GROUP, credential_from="mine"), own=secret("team", "mine"))
    found = of(world.sync(), "ResourceGroup")
    assert said(found)[:2] == (ConditionStatus.FALSE, Severity.WARNING)
    assert "does not have authorization to perform action" in found.condition.message
    assert world.issued == ["team-client"], "nobody needs the global one"
    assert said(of(world.says(group=GROUP).sync(), "ResourceGroup")) == READY
    assert world.issued == ["global-client"]


def test_the_resources_own_goes_before_its_namespaces_and_that_before_the_global_one(tmp_path):
    world = Tenants(tmp_path, "team", "own")
    world.says(
        a=annotated(GROUP.replace("name: core", "name: a"), credential_from="mine"),
        b=GROUP.replace("name: core", "name: b"),
        c=inside(GROUP.replace("name: core", "name: c"), "elsewhere"),
        team=secret("team"),
        mine=secret("own", "mine"),
    )
    report = world.sync()
    assert [said(result) for result in report.results] == [READY] * 3
    assert world.callers() == {
        group_id("a"): "own-client",
        group_id("b"): "team-client",
        group_id("c"): "global-client",
    }
    assert [
        ('"credential": "mine"' in record(world, name=n), "aso-credential" in record(world, name=n)) for n in "ab"
    ] == [
        (True, False),
        (False, True),
    ]
    assert "credential:" not in record(world, namespace="elsewhere", name="c")


def test_two_namespaces_have_two_subscriptions_in_one_run(tmp_path):
    world = Tenants(tmp_path, "red", "blue")
    world.says(
        red=inside(GROUP, "red"),
        vnet=inside(VNET, "red"),
        blue=inside(GROUP, "blue"),
        red_s=secret("red", namespace="red"),
        blue_s=secret("blue", namespace="blue", subscription=OTHER),
    )
    report = world.sync(subscription=None)
    assert [said(result) for result in report.results] == [READY] * 3
    assert world.callers() == {
        GROUP_ID: "red-client",
        VNET_ID: "red-client",
        group_id("core", OTHER): "blue-client",
    }
    assert sorted(world.issued) == ["blue-client", "red-client"], "one token for each credential, and no global one"
    assert report.requests.writes == 3, "what everybody sent"
    assert world.sync(subscription=None).requests.writes == 0


def test_a_token_is_one_for_all_that_sign_in_alike(tmp_path):
    world = Tenants(tmp_path, "team")
    groups = {f"g{n}": annotated(GROUP.replace("name: core", f"name: g{n}"), credential_from=f"s{n}") for n in range(4)}
    subscriptions = [SUBSCRIPTION, SUBSCRIPTION, OTHER, OTHER]
    secrets = {
        f"s{n}": secret("team", f"s{n}", subscription=subscription) for n, subscription in enumerate(subscriptions)
    }
    assert world.says(**groups, **secrets).sync().exit_code == 0
    assert world.issued == ["team-client"]


BROKEN = [
    (
        {"AZURE_CLIENT_ID": None, "AZURE_TENANT_ID": None},
        f"{LACKS.format('AZURE_TENANT_ID')}; {LACKS.format('AZURE_CLIENT_ID')}",
        "all that is missing at once",
    ),
    ({"AUTH_MODE": "magic", "AZURE_CLIENT_SECRET": None}, 'authorization mode "magic" not valid', "ASO's words"),
    ({"AZURE_SUBSCRIPTION_ID": "x/../y"}, "AZURE_SUBSCRIPTION_ID of credential Secret", "it goes into ids"),
    ({"AZURE_TENANT_ID": "../evil"}, "AZURE_TENANT_ID of credential Secret", "it goes into URLs"),
    ({"AZURE_ADDITIONAL_TENANTS": "a, b/c"}, "AZURE_ADDITIONAL_TENANTS of credential Secret", "these too"),
    (
        {"AZURE_RESOURCE_MANAGER_ENDPOINT": "https://evil.example"},
        "names another Azure cloud (AZURE_RESOURCE_MANAGER_ENDPOINT)",
        "a token would go there",
    ),
    ({"AZURE_AUTHORITY_HOST": "https://evil.example"}, "names another Azure", "the secret itself would"),
    (
        {"AZURE_CLIENT_SECRET": None, "AZURE_CLIENT_CERTIFICATE": "bm90aGluZw=="},
        "The certificate of credential Secret",
        "no certificate",
    ),
    (
        {"AZURE_CLIENT_SECRET": None, "AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS": "/etc/passwd"},
        "names a file outside the identity folder",
        "no file of the machine",
    ),
]


def test_a_namespaces_credential_that_does_not_do_is_not_skipped(tmp_path):
    """Each row is a namespace of its own."""
    world = Tenants(tmp_path, "team")
    documents = {"far": inside(OTHER_GROUP, "elsewhere")}
    for row, (broken, _, _) in enumerate(BROKEN):
        documents[f"group{row}"] = inside(GROUP.replace("name: core", f"name: core{row}"), f"row{row}")
        documents[f"own{row}"] = secret("team", namespace=f"row{row}", **broken)
    report = world.says(**documents).sync()
    for row, (_, words, why) in enumerate(BROKEN):
        found = of(report, "ResourceGroup", f"core{row}")
        assert said(found) == NOT_YET, why
        assert words.replace("default/", f"row{row}/") in found.condition.message, why
    assert said(of(report, "ResourceGroup", "other")) == READY, "others go on"
    assert world.callers() == {group_id("other"): "global-client"}
    assert set(world.issued) == {"global-client"}
    assert report.exit_code == 1
    assert "s3cret" not in repr(report)


def test_a_secret_that_a_resource_names_must_be_there(tmp_path):
    world = Tenants(tmp_path, "team")
    world.says(group=annotated(GROUP, credential_from="mine"), elsewhere=secret("team", "mine", namespace="other"))
    found = of(world.sync(), "ResourceGroup")
    assert said(found) == NOT_YET
    assert 'credential Secret "default/mine" does not exist' in found.condition.message
    assert (world.writes, world.issued) == ([], [])
    world.says(group=annotated(GROUP, credential_from="mine"), mine=secret("team", "mine"))
    assert said(of(world.sync(), "ResourceGroup")) == READY, "repaired"


def test_a_slash_in_the_name_does_not_lead_into_another_namespace(tmp_path):
    world = Tenants(tmp_path, "team")
    world.says(group=annotated(GROUP, credential_from="other/mine"), mine=secret("team", "mine", namespace="other"))
    (problem,) = world.sync().problems
    assert problem.message == (
        "serviceoperator.azure.com/credential-from cannot contain '/'. Secret must be in same namespace as resource."
    )
    assert (world.writes, "team-client" in world.issued) == ([], False)


def test_a_wrong_secret_stops_those_that_have_it(tmp_path):
    world = Tenants(tmp_path, "team")
    world.says(group=GROUP, own=secret("team", AZURE_CLIENT_SECRET="wr0ng-s3cret"), far=inside(OTHER_GROUP, "far"))
    report = world.sync()
    found = of(report, "ResourceGroup", "core")
    assert said(found) == NOT_YET
    assert "AADSTS7000215" in found.condition.message
    assert 'credential Secret "default/aso-credential" (client-secret)' in found.condition.message
    assert said(of(report, "ResourceGroup", "other")) == READY
    assert "wr0ng" not in repr(report)


def test_who_has_no_credential_at_all_is_reported_in_asos_words(tmp_path):
    world = Tenants(tmp_path, "team")
    world.says(group=GROUP, own=secret("team"), far=inside(OTHER_GROUP, "far"))
    report = world.sync(subscription=None)
    assert said(of(report, "ResourceGroup", "core")) == READY
    found = of(report, "ResourceGroup", "other")
    words = "global credential not configured, you must use either namespaced or per-resource credentials"
    assert (said(found), found.condition.message) == (NOT_YET, words)
    assert world.issued == ["team-client"]


def test_no_one_with_any_credential_refuses_the_run(tmp_path):
    world = Tenants(tmp_path)
    with pytest.raises(ConfigError, match="No subscription is set") as refused:
        world.says(group=GROUP).sync(subscription=None)
    assert "--emulator" in refused.value.hint
    assert world.requests == []


def test_another_subscription_in_the_same_credential_breaks_what_it_made(tmp_path):
    world = Tenants(tmp_path, "team")
    world.synced(group=GROUP, vnet=VNET, own=secret("team"))
    world.says(group=GROUP, vnet=VNET, own=secret("team", subscription=OTHER))
    found = of(world.sync(), "ResourceGroup")
    assert (found.condition.severity, found.condition.reason) == (Severity.ERROR, "SubscriptionMismatch")
    assert found.condition.message == (
        f'SubscriptionID "{SUBSCRIPTION}" for "{GROUP_ID}" resource does not match with Client Credential: "{OTHER}"'
    )
    assert world.writes == []


def test_what_was_removed_from_git_is_deleted_as_the_identity_that_made_it(tmp_path):
    world = Tenants(tmp_path, "team")
    group = annotated(GROUP, credential_from="mine")
    world.synced(group=group, mine=secret("team", "mine"), far=inside(OTHER_GROUP, "far"))
    report = world.says(mine=secret("team", "mine"), far=inside(OTHER_GROUP, "far")).sync(prune=True)
    assert of(report, "ResourceGroup", "core").action is Action.DELETE
    assert world.callers("DELETE") == {GROUP_ID: "team-client"}


def test_what_was_removed_from_git_stays_while_its_credential_is_gone(tmp_path):
    world = Tenants(tmp_path, "team")
    world.synced(group=annotated(GROUP, credential_from="mine"), mine=secret("team", "mine"))
    found = of(world.says().sync(prune=True, max_deletes=1), "ResourceGroup")
    assert (found.verdict, said(found)) == (Verdict.BLOCKED, NOT_YET)
    assert 'credential Secret "default/mine" does not exist' in found.condition.message
    assert world.read(GROUP_ID)["name"] == "core"


def test_what_was_removed_with_its_namespaces_credential_is_not_deleted_elsewhere(tmp_path):
    """It falls back to the global one, as in ASO, whose subscription is another."""
    world = Tenants(tmp_path, "team")
    world.synced(group=GROUP, own=secret("team", subscription=OTHER))
    found = of(world.says().sync(prune=True, max_deletes=1), "ResourceGroup")
    assert (found.verdict, found.condition.reason) == (Verdict.BLOCKED, "SubscriptionMismatch")
    assert world.writes == []


def test_nothing_is_pruned_while_it_is_unknown_where_something_stands(tmp_path):
    world = Tenants(tmp_path, "team")
    world.synced(group=GROUP, far=inside(OTHER_GROUP, "far"), own=secret("team"))
    renamed = GROUP.replace("name: core", "name: new").replace("spec:", "spec:\n      azureName: core")
    world.says(group=renamed, far=inside(OTHER_GROUP, "far"), own=secret("team", AZURE_TENANT_ID=None))
    report = world.sync(prune=True)
    assert of(report, "ResourceGroup", "core").condition.reason == "PruneHeld", "it may be the one with another name"
    assert world.sent("DELETE") == []


def test_a_plan_signs_in_as_each_and_writes_nothing(tmp_path):
    world = Tenants(tmp_path, "team")
    world.says(group=GROUP, own=secret("team"))
    report = world.plan()
    assert of(report, "ResourceGroup").action is Action.CREATE
    assert (world.writes, world.issued) == ([], ["team-client"])


def test_ids_show_and_secrets_do_not(tmp_path):
    world = Tenants(tmp_path, "team")
    world.synced(group=GROUP, own=secret("team"))
    assert world.redactions.mask(f"{principal('team').secret} in {GROUP_ID}") == f"<secret> in {GROUP_ID}"


class Far:
    """A remote source of secrets with one credential, of the namespace `far`."""

    name = "key-vault"
    is_remote = True

    def __init__(self) -> None:
        self.requested: list[str] = []

    async def read(self, address: Address, _keys: Sequence[str]) -> Mapping[str, Secret] | None:
        self.requested.append(str(address))
        if (address.namespace, address.name) == ("down", "aso-credential"):
            raise SecretStoreError("The vault answered 403.")
        if (address.namespace, address.name) != ("far", "aso-credential"):
            return None
        keys = {
            "AZURE_SUBSCRIPTION_ID": OTHER,
            "AZURE_TENANT_ID": TENANT,
            "AZURE_CLIENT_ID": "team-client",
            "AZURE_CLIENT_SECRET": "team-s3cret",
        }
        return {key: Secret(value) for key, value in keys.items()}


def test_a_remote_source_is_read_by_a_sync_and_a_plan_reports_what_it_cannot_compare(tmp_path):
    world, far = Tenants(tmp_path, "team"), Far()
    world.secret_stores = SecretStores(order=("manifests", "key-vault"), sources={"key-vault": far})
    world.says(group=inside(GROUP, "far"))
    report = world.plan()
    assert far.requested == []
    assert [problem.code for problem in report.problems] == ["CredentialNotLookedUp"]
    assert of(report, "ResourceGroup").arm_id == GROUP_ID, "of the global credential, as far as is known"
    assert of(report, "ResourceGroup").condition.message.startswith("The ARM id is not known yet")
    assert said(of(world.sync(), "ResourceGroup")) == READY
    assert world.callers() == {group_id("core", OTHER): "team-client"}


def test_a_source_that_does_not_answer_stops_those_that_need_it_and_no_one_falls_back(tmp_path):
    world = Tenants(tmp_path, "team")
    world.secret_stores = SecretStores(order=("manifests", "key-vault"), sources={"key-vault": Far()})
    world.says(group=inside(GROUP, "down"), other=inside(OTHER_GROUP, "else"))
    report = world.sync()
    assert said(of(report, "ResourceGroup", "core")) == NOT_YET
    assert "The vault answered 403." in of(report, "ResourceGroup", "core").condition.message
    assert world.callers() == {group_id("other"): "global-client"}


def test_where_no_one_signs_in_a_secret_still_reports_which_subscription(tmp_path):
    world = World(tmp_path)
    world.says(group=GROUP, own=secret("team", subscription=OTHER))
    assert said(of(world.sync(), "ResourceGroup")) == READY
    assert world.writes == [f"PUT {group_id('core', OTHER)}"]
