"""Plans of resources whose credential is a Secret of the cluster: what a plan takes from the records instead, what it
shows that it did not check, and what it reads if it may.
"""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from gitsync.emulator.settings import TENANT, Denial
from gitsync.model.condition import Severity
from gitsync.model.verdict import Action, Verdict
from gitsync.repository.secrets.kubernetes.kubernetes import open_kubernetes
from gitsync.repository.secrets.stores import SecretStores
from tests.agent.run.tenants import OTHER, Tenants, group_id, principal
from tests.agent.run.test_review import apply, planned
from tests.support import private_ca
from tests.support.fake_kubernetes import FakeKubernetes
from tests.support.world import GROUP, SUBSCRIPTION, VNET, annotated, of

OTHER_GROUP = GROUP.replace("name: core", "name: other")
CORE, NETWORK = group_id("core", OTHER), f"{group_id('core', OTHER)}/providers/Microsoft.Network/virtualNetworks/hub"


class Cluster(Tenants):
    """Tenants whose credentials are Secrets of a cluster."""

    def __init__(self, folder, *names, **settings):
        super().__init__(folder, *names, **settings)
        (folder / "cluster").mkdir()
        self.cluster = FakeKubernetes(private_ca.make(folder / "cluster"), folder / "account")

    @asynccontextmanager
    async def azure(self):
        async with (
            super().azure() as azure,
            self.cluster as cluster,
            open_kubernetes(cluster.environment, self.clock, cluster.folder) as kubernetes,
        ):
            self.secret_stores = SecretStores(order=("manifests", "kubernetes"), sources={"kubernetes": kubernetes})
            yield azure

    def has(self, who, name="aso-credential", subscription=OTHER):
        """Put the Secret of a credential into the cluster."""
        keys = {
            "AZURE_SUBSCRIPTION_ID": subscription,
            "AZURE_TENANT_ID": TENANT,
            "AZURE_CLIENT_ID": principal(who).client,
            "AZURE_CLIENT_SECRET": principal(who).secret,
        }
        self.cluster.make("secrets", "default", name, keys)
        return self


@pytest.fixture
def world(tmp_path):
    return Cluster(tmp_path, "team").has("team")


def warnings(report):
    return [problem.message for problem in report.problems if problem.code == "CredentialNotLookedUp"]


def test_a_plan_after_the_first_sync_uses_the_recorded_subscription_and_its_own_identity(world):
    world.says(group=GROUP, vnet=VNET).sync()
    world.cluster.requests.clear()
    report = world.plan(detailed_exitcode=True)
    assert (report.exit_code, {result.verdict for result in report.results}) == (0, {Verdict.IN_SYNC})
    assert [result.arm_id for result in report.results] == [NETWORK, CORE]
    assert (world.issued, world.cluster.requests) == (["global-client"], [])
    (said,) = warnings(report)
    assert "does not read the credential Secrets default/aso-credential" in said
    assert "did not check that the Secrets still exist, name the same identity and subscription, and sign in." in said


def test_a_new_resource_has_the_subscription_of_its_namespace(world):
    world.says(group=GROUP).sync()
    report = world.says(group=GROUP, vnet=VNET, other=OTHER_GROUP).plan()
    assert {result.arm_id: result.action for result in report.results} == {
        CORE: Action.NONE,
        NETWORK: Action.CREATE,
        group_id("other", OTHER): Action.CREATE,
    }


def test_what_was_removed_from_git_is_shown_as_a_delete(world):
    world.says(group=GROUP, vnet=VNET).sync()
    found = of(world.says(group=GROUP).plan(prune=True), "VirtualNetwork")
    assert (found.verdict, found.arm_id) == (Verdict.DELETE, NETWORK)


def test_a_plan_that_may_read_the_secret_signs_in_with_it(world):
    world.says(group=GROUP).sync()
    report = world.plan(plan_secrets=True)
    assert (of(report, "ResourceGroup").verdict, world.issued) == (Verdict.IN_SYNC, ["team-client"])
    assert warnings(report) == []
    world.has("team", subscription=SUBSCRIPTION)
    found = of(world.plan(plan_secrets=True), "ResourceGroup")
    assert (found.condition.severity, found.condition.reason) == (Severity.ERROR, "SubscriptionMismatch")


def test_what_the_plans_own_identity_may_not_read_is_unknown(tmp_path):
    world = Cluster(tmp_path, "team", denied=(Denial(principal="global-client", scope="*"),)).has("team")
    world.says(group=GROUP).sync()
    found = of(world.plan(), "ResourceGroup")
    assert (found.verdict, found.action) == (Verdict.UNKNOWN, Action.NONE)
    assert "does not have authorization" in found.condition.message
    assert of(world.plan(plan_secrets=True), "ResourceGroup").verdict is Verdict.IN_SYNC


def test_before_the_first_sync_the_id_is_not_known_yet(world):
    report = world.says(group=GROUP, vnet=VNET).plan()
    for result in report.results:
        assert result.condition.message == (
            "The ARM id is not known yet: its subscription is that of the Secret default/aso-credential if there is one, "
            "which this plan does not read; the global credential is assumed."
        )
    (said,) = warnings(report)
    assert "so the ARM ids of new resources there are not known yet" in said


NAMED = {"group": annotated(GROUP, credential_from="mine"), "vnet": annotated(VNET, credential_from="mine")}


def test_before_the_first_sync_a_secret_that_is_named_leaves_the_subscription_open(world):
    world.has("team", "mine")
    report = world.says(**NAMED).plan()
    assert [result.action for result in report.results] == [Action.CREATE] * 2
    root = "/subscriptions/<subscription of mine in default>/resourceGroups/core"
    assert of(report, "ResourceGroup").arm_id == root
    assert of(report, "VirtualNetwork").arm_id.startswith(root)
    assert "is that of the Secret default/mine, which this plan" in of(report, "ResourceGroup").condition.message
    assert world.requests == [], "nothing can be read"
    assert of(world.plan(plan_secrets=True), "ResourceGroup").arm_id == CORE


@pytest.mark.parametrize("documents", [NAMED, {"group": GROUP, "vnet": VNET}], ids=["its own", "its namespace's"])
def test_a_first_plan_passes_its_review(world, documents):
    world.has("team", "mine").says(**documents)
    report = apply(world, planned(world))
    assert (report.exit_code, world.callers()) == (0, {CORE: "team-client", NETWORK: "team-client"})


def test_without_a_global_credential_a_plan_does_not_report_that_there_is_none(world):
    found = of(world.says(group=GROUP).plan(subscription=None), "ResourceGroup")
    assert (found.action, found.arm_id) == (
        Action.CREATE,
        "/subscriptions/<subscription of aso-credential in default>/resourceGroups/core",
    )


def test_groups_of_one_name_in_two_namespaces_are_not_duplicates_while_their_ids_are_unknown(world):
    far = GROUP.replace("    metadata:\n", "    metadata:\n      namespace: far\n")
    report = world.says(group=GROUP, far=far).plan()
    assert {problem.code for problem in report.problems} == {"CredentialNotLookedUp"}


def test_the_global_credential_stays_that_of_a_namespace_which_had_it(world):
    world.cluster = FakeKubernetes(world.cluster._ca, world.cluster.folder)
    world.says(group=GROUP).sync()
    report = world.says(group=GROUP, other=OTHER_GROUP).plan()
    assert [result.arm_id for result in report.results] == [group_id("core"), group_id("other")]
    assert warnings(report) == []


def test_the_record_keeps_the_name_of_the_secret_its_subscription_and_the_ids_of_the_identity(world):
    world.says(group=GROUP).sync()
    text = (world.state / "default/resources.azure.com/ResourceGroup/core.json").read_text()
    assert '"credential": "aso-credential"' in text
    assert f'"subscription": "{OTHER}"' in text
    assert f'"identity": {{\n      "clientId": "team-client",\n      "tenantId": "{TENANT}"' in text, text
