"""Which resources of a Terraform state are taken, covered or kept, and what Terraform can forget then."""

import pytest

from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.workflows.imports.acceptance import AS_MADE, IN_PARENT, LEAVING
from gitsync.workflows.imports.conversion.scope import Filters
from gitsync.workflows.imports.takeovers import ImportedResources, decide_outcomes, list_claims
from gitsync.workflows.imports.terraform.forgetting import choose_forgetting, format_files
from gitsync.workflows.imports.terraform.state import read_state
from gitsync.workflows.imports.terraform.state_claims import claim_resources
from tests.support.terraform_states import resource, state
from tests.workflows.imports.found import GROUP, SUBSCRIPTION, TREE, at, find

CLUSTER = at("Microsoft.ContainerService/managedClusters/c")
POOL = f"{CLUSTER}/agentPools/system"
VAULT = at("Microsoft.KeyVault/vaults/v")
OTHER = "11111111-1111-4111-8111-111111111111"


def decide(content, found, *, unproven=(), unwritten=(), left_out=None):
    """The outcomes of a state by address, and what Terraform can forget, if `found` was read and is in manifests."""
    read = read_state("s", content)
    claims = claim_resources(read, TREE, Filters(), SUBSCRIPTION)
    manifests = {ArmId(arm_id).key: Key("g", "Kind", "default", ArmId(arm_id).name) for arm_id in found}
    done = ImportedResources(
        manifests=manifests,
        proven={key for key in manifests.values() if key.name not in unproven},
        claims=list_claims(claims, [find(arm_id) for arm_id in found]),
        left_out={ArmId(arm_id).key: reason for arm_id, reason in (left_out or {}).items()},
        unwritten={key for key in manifests.values() if key.name in unwritten},
    )
    outcomes = decide_outcomes(claims, done)
    rows = {row.address: (row.outcome.value, row.manifest and row.manifest.name) for row in outcomes}
    return rows, choose_forgetting(read, outcomes)


GROUPS = resource("azurerm_resource_group", "g", (0, GROUP), (1, f"{GROUP}2"))
DEPOSED = resource("azurerm_resource_group", "g", GROUP, GROUP)
DEPOSED["instances"][1]["deposed"] = "0a1b"
MIXED = (resource("azurerm_resource_group", "g", GROUP, module="module.a"),
         resource("azurerm_resource_group", "g", f"{GROUP}2", module='module.b["x"]'))  # fmt: skip
POLICY = resource("azurerm_key_vault_access_policy", "p", f"{VAULT}/objectId/{OTHER}")
FAR = resource("azurerm_resource_group", "far", GROUP.replace(SUBSCRIPTION, OTHER))
CASES = [
    # state, what was read, more, outcomes, blocks, single instances, why
    ([GROUPS], [GROUP, f"{GROUP}2"], {}, {"azurerm_resource_group.g[0]": ("taken", "Core"),
     "azurerm_resource_group.g[1]": ("taken", "Core2")}, ["azurerm_resource_group.g"], [], "all instances"),
    ([GROUPS], [GROUP], {}, {"azurerm_resource_group.g[0]": ("taken", "Core"),
     "azurerm_resource_group.g[1]": ("kept", None)}, [], ["azurerm_resource_group.g[0]"], "one instance is gone"),
    ([GROUPS], [GROUP, f"{GROUP}2"], {"unproven": ["Core2"]}, {"azurerm_resource_group.g[0]": ("taken", "Core"),
     "azurerm_resource_group.g[1]": ("kept", "Core2")}, [], ["azurerm_resource_group.g[0]"], "one is not proven"),
    ([resource("azurerm_key_vault", "v", VAULT), POLICY], [VAULT], {"unwritten": ["v"]},
     {"azurerm_key_vault.v": ("kept", "v"), "azurerm_key_vault_access_policy.p": ("kept", "v")}, [], [],
     "no tool would write what gitsync only reads"),
    ([DEPOSED], [GROUP], {}, {"azurerm_resource_group.g": ("kept", None)}, [], [],
     "to forget what it still has to destroy would leave it in Azure"),
    (MIXED, [GROUP, f"{GROUP}2"], {}, {"module.a.azurerm_resource_group.g": ("taken", "Core"),
     'module.b["x"].azurerm_resource_group.g': ("taken", "Core2")}, [],
     ["module.a.azurerm_resource_group.g", 'module.b["x"].azurerm_resource_group.g'], "modules"),
    ([resource("azurerm_key_vault", "v", VAULT), POLICY], [VAULT], {}, {"azurerm_key_vault.v": ("taken", "v"),
     "azurerm_key_vault_access_policy.p": ("covered", "v")},
     ["azurerm_key_vault.v", "azurerm_key_vault_access_policy.p"], [], "a part"),
    ([resource("azurerm_resource_group", "g", GROUP), POLICY], [GROUP], {},
     {"azurerm_resource_group.g": ("taken", "Core"), "azurerm_key_vault_access_policy.p": ("kept", None)},
     ["azurerm_resource_group.g"], [], "a part of what has no manifest is not covered by its group"),
    ([resource("azurerm_key_vault", "v", VAULT), POLICY], [VAULT], {"unproven": ["v"]},
     {"azurerm_key_vault.v": ("kept", "v"), "azurerm_key_vault_access_policy.p": ("kept", "v")}, [], [],
     "a part of what is not proven"),
    ([resource("azurerm_kubernetes_cluster", "c", CLUSTER), resource("azurerm_kubernetes_cluster_node_pool", "p", POOL)],
     [CLUSTER], {"left_out": {POOL: IN_PARENT}}, {"azurerm_kubernetes_cluster.c": ("taken", "c"),
     "azurerm_kubernetes_cluster_node_pool.p": ("covered", "c")},
     ["azurerm_kubernetes_cluster.c", "azurerm_kubernetes_cluster_node_pool.p"], [], "a pool that its cluster names"),
    ([resource("azurerm_kubernetes_cluster", "c", CLUSTER), resource("azurerm_kubernetes_cluster_node_pool", "p", POOL)],
     [CLUSTER], {"left_out": {POOL: AS_MADE}}, {"azurerm_kubernetes_cluster.c": ("taken", "c"),
     "azurerm_kubernetes_cluster_node_pool.p": ("covered", "c")},
     ["azurerm_kubernetes_cluster.c", "azurerm_kubernetes_cluster_node_pool.p"], [],
     "what Azure makes with its parent needs no manifest"),
    ([resource("azurerm_kubernetes_cluster", "c", CLUSTER), resource("azurerm_kubernetes_cluster_node_pool", "p", POOL)],
     [CLUSTER], {"left_out": {POOL: LEAVING}}, {"azurerm_kubernetes_cluster.c": ("taken", "c"),
     "azurerm_kubernetes_cluster_node_pool.p": ("kept", None)}, ["azurerm_kubernetes_cluster.c"], [], "left out"),
    ([resource("azurerm_resource_group", "g", GROUP), FAR], [GROUP], {}, {"azurerm_resource_group.g": ("taken", "Core"),
     "azurerm_resource_group.far": ("kept", None)}, ["azurerm_resource_group.g"], [], "another subscription"),
    ([resource("azurerm_key_vault_of_later", "v", VAULT), resource("azurerm_key_vault", "v", VAULT)], [VAULT], {},
     {"azurerm_key_vault_of_later.v": ("kept", None), "azurerm_key_vault.v": ("taken", "v")}, ["azurerm_key_vault.v"], [],
     "two types with one id: the second may be settings that the manifest does not have"),
    ([resource("azapi_update_resource", "u", VAULT), resource("azurerm_key_vault", "v", VAULT)], [VAULT], {},
     {"azapi_update_resource.u": ("covered", "v"), "azurerm_key_vault.v": ("taken", "v")},
     ["azapi_update_resource.u", "azurerm_key_vault.v"], [], "fields of a resource that the state has"),
    ([resource("azapi_update_resource", "u", VAULT)], [VAULT], {}, {"azapi_update_resource.u": ("taken", "v")},
     ["azapi_update_resource.u"], [], "fields of a resource that the state does not have"),
    ([resource("azurerm_resource_group", "a", GROUP), resource("azurerm_resource_group", "b", GROUP.upper().replace(
     "/SUBSCRIPTIONS", "/subscriptions"))], [GROUP], {}, {"azurerm_resource_group.a": ("taken", "Core"),
     "azurerm_resource_group.b": ("taken", "Core")}, ["azurerm_resource_group.a", "azurerm_resource_group.b"], [],
     "one resource at two addresses"),
]  # fmt: skip


@pytest.mark.parametrize(("resources", "found", "more", "outcomes", "blocks", "instances", "why"), CASES,
                         ids=[row[-1] for row in CASES])  # fmt: skip
def test_outcomes(resources, found, more, outcomes, blocks, instances, why):
    rows, forgetting = decide(state(*resources), found, **more)
    assert rows == outcomes, why
    assert (list(forgetting.blocks), list(forgetting.instances)) == (blocks, instances), why


def test_only_the_files_that_are_needed_are_made():
    _, both = decide(state(GROUPS), [GROUP])
    assert list(format_files(both, "removed.tf", "tofu")) == ["removed.sh"]
    assert b"tofu state rm 'azurerm_resource_group.g[0]'\n" in format_files(both, "removed.tf", "tofu")["removed.sh"]
    _, more = decide(state(GROUPS, resource("azurerm_key_vault", "v", VAULT)), [GROUP, VAULT])
    assert list(format_files(more, "gone.tf", "tofu")) == ["gone.sh", "gone.tf"], "in the order of their use"
    assert (
        b"# First run gone.sh: without its blocks, an apply would destroy"
        in format_files(more, "gone.tf", "tofu")["gone.tf"]
    )
    _, single = decide(state(resource("azurerm_key_vault", "v", VAULT)), [VAULT])
    assert b"First run" not in format_files(single, "gone.tf", "tofu")["gone.tf"]
    _, none = decide(state(GROUPS), [])
    assert format_files(none, "removed.tf", "terraform") == {}
