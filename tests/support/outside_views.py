"""Azure resources whose values beside git's are recorded and compared."""

import copy

from gitsync.desired.catalog.any_type import TypeAndVersion
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.request.secret_digest import Digests
from gitsync.model.arm_id import ArmId
from gitsync.model.secret import Secret
from gitsync.planning.outside.recorded_outside import OutsideView

ACCOUNT = ("Microsoft.Storage/storageAccounts", "2023-01-01")
NETWORK = ("Microsoft.Network/virtualNetworks", "2024-05-01")
SERVER = ("Microsoft.DBforPostgreSQL/flexibleServers", "2024-08-01")
VAULT = ("Microsoft.KeyVault/vaults", "2023-07-01")
CLUSTER = ("Microsoft.ContainerService/managedClusters", "2024-09-01")
SITE = ("Microsoft.Web/sites", "2023-12-01")
POOL = ("Microsoft.ContainerService/managedClusters/agentPools", "2024-09-01")
LOGIC = ("Microsoft.Logic/workflows", "2019-05-01")
GROUP = ("Microsoft.Network/networkSecurityGroups", "2024-05-01")
BALANCER = ("Microsoft.Network/loadBalancers", "2024-05-01")
ROLE = ("Microsoft.DocumentDB/databaseAccounts/mongodbRoleDefinitions", "2024-05-15")
CONTAINER_APP = ("Microsoft.App/containerApps", "2024-03-01")
ONE, TWO = (
    f"/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/id/{name}" for name in ("one", "two")
)


def view(resource_type, **settings):
    arm_type, version = resource_type
    kind = open_catalog().any_type(TypeAndVersion(arm_type, version))
    arm_id = ArmId(f"/subscriptions/s/resourceGroups/g/providers/{arm_type}/web")
    return OutsideView(kind=kind, **{"arm_id": arm_id, "digests": Digests(key=Secret("k"))} | settings)


def find(resource_type, cover, before, now, *, is_partial=False, **settings):
    """Path, value before, and value now of each change since a record was made."""
    of = view(resource_type, **settings)
    changes = of.find_changes(of.record(before, cover), copy.deepcopy(now), (cover, cover), is_partial=is_partial)
    return [(change.path, change.before, change.now) for change in changes]


def properties(**members):
    return {"properties": members}
