"""What ARM paths say: write locks, rights, URLs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.formats.arm_path import name_lock
from gitsync.errors import ArmError
from gitsync.providers.arm.http.failures import name_rbac_action
from gitsync.providers.arm.http.messages import format_target

SUB = "/subscriptions/S"
RG = f"{SUB}/resourceGroups/G"
NET = f"{RG}/providers/Microsoft.Network"
AKS = f"{RG}/providers/Microsoft.ContainerService/managedClusters/c"


@pytest.mark.parametrize(
    ("one", "other", "together", "why"),
    [
        (f"{NET}/virtualNetworks/v", f"{NET}/virtualNetworks/v/subnets/a", True, "a network and its subnet"),
        (f"{NET}/virtualNetworks/v/subnets/a", f"{NET}/virtualNetworks/v/subnets/b", True, "sibling subnets"),
        (f"{AKS}/agentPools/a", f"{AKS}/agentPools/b", True, "sibling agent pools"),
        (f"{NET}/virtualNetworks/v", f"{NET.upper()}/VIRTUALNETWORKS/V", True, "the same without case"),
        (
            f"{RG}/providers/Microsoft.DocumentDB/databaseAccounts/d/sqlDatabases/x/containers/c",
            f"{RG}/providers/Microsoft.DocumentDB/databaseAccounts/d/tables/t",
            True,
            "at any depth below one account",
        ),
        (
            AKS,
            f"{AKS}/providers/Microsoft.KubernetesConfiguration/fluxConfigurations/f",
            True,
            "what extends a resource shares its lock",
        ),
        (f"{NET}/virtualNetworks/v", f"{NET}/virtualNetworks/w", False, "two networks of one group"),
        (f"{NET}/virtualNetworks/v", f"{NET}/routeTables/v", False, "the same name of another type"),
        (RG, f"{NET}/virtualNetworks/v", False, "a group is a container"),
        (RG, f"{SUB}/resourceGroups/H", False, "two groups"),
        (
            f"{RG}/providers/Microsoft.Authorization/roleAssignments/1",
            f"{RG}/providers/Microsoft.Authorization/roleAssignments/2",
            False,
            "extensions of a group go in parallel",
        ),
        (
            "/providers/Microsoft.Management/managementGroups/m/providers/Microsoft.Authorization/roleAssignments/1",
            "/providers/Microsoft.Management/managementGroups/m/providers/Microsoft.Authorization/roleAssignments/2",
            False,
            "and of a management group",
        ),
        (
            f"{SUB}/providers/Microsoft.Authorization/roleAssignments/1",
            f"{SUB}/providers/Microsoft.Authorization/roleAssignments/2",
            False,
            "and of a subscription",
        ),
        (
            "/providers/Microsoft.Subscription/aliases/a",
            "/providers/Microsoft.Subscription/aliases/b",
            False,
            "resources of the tenant",
        ),
    ],
)
def test_which_resources_share_a_write_lock(one: str, other: str, *, together: bool, why: str):
    assert (name_lock(one) == name_lock(other)) is together, why


@pytest.mark.parametrize(
    ("method", "path", "action"),
    [
        ("PUT", f"{NET}/virtualNetworks/v", "Microsoft.Network/virtualNetworks/write"),
        ("PATCH", f"{NET}/virtualNetworks/v/subnets/s", "Microsoft.Network/virtualNetworks/subnets/write"),
        ("GET", f"{NET}/virtualNetworks/v", "Microsoft.Network/virtualNetworks/read"),
        ("HEAD", f"{NET}/virtualNetworks/v", "Microsoft.Network/virtualNetworks/read"),
        ("DELETE", f"{AKS}/agentPools/a", "Microsoft.ContainerService/managedClusters/agentPools/delete"),
        (
            "POST",
            f"{AKS}/listClusterAdminCredential",
            "Microsoft.ContainerService/managedClusters/listClusterAdminCredential/action",
        ),
        (
            "PUT",
            f"{AKS}/providers/Microsoft.Authorization/roleAssignments/1",
            "Microsoft.Authorization/roleAssignments/write",
        ),
        ("PUT", RG, "Microsoft.Resources/subscriptions/resourceGroups/write"),
        ("GET", SUB, "Microsoft.Resources/subscriptions/read"),
        ("GET", f"{SUB}/providers/Microsoft.Kusto", "Microsoft.Resources/subscriptions/providers/read"),
        ("POST", f"{SUB}/providers/Microsoft.Kusto/register", "Microsoft.Kusto/register/action"),
    ],
)
def test_the_right_that_a_request_needs(method: str, path: str, action: str):
    assert name_rbac_action(method, path) == action


@given(st.text(max_size=30))
def test_whatever_a_name_is_it_stays_one_segment_of_the_path(name: str):
    try:
        sent = format_target(f"/subscriptions/{name}", "2024-01-01")
    except ArmError:
        return
    path, _, query = sent.partition("?")
    assert query == "api-version=2024-01-01"
    assert "#" not in path
    assert path.count("/") == 2 + name.count("/")
    assert "/../" not in f"{path}/"
