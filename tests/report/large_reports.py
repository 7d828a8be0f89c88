"""Reports as large as one likes: resource groups with networks and what is in them, some not in sync."""

from gitsync.model.condition import Severity
from gitsync.model.problem import SourceLocation
from gitsync.model.verdict import Action, Difference, Verdict
from tests.report.report_builders import NET, READY, REFUSED, failed, key, report, result
from tests.support.parts import change

_SUBSCRIPTION = "/subscriptions/11111111-2222-3333-4444-555555555555"
_KINDS = (
    ("StorageAccount", "storage.azure.com", "Microsoft.Storage/storageAccounts"),
    ("Vault", "keyvault.azure.com", "Microsoft.KeyVault/vaults"),
    ("ManagedCluster", "containerservice.azure.com", "Microsoft.ContainerService/managedClusters"),
    ("FlexibleServer", "dbforpostgresql.azure.com", "Microsoft.DBforPostgreSQL/flexibleServers"),
    ("UserAssignedIdentity", "managedidentity.azure.com", "Microsoft.ManagedIdentity/userAssignedIdentities"),
)
_POLICY = """<policies>
  <inbound>
    <base />
    <rate-limit calls="20" renewal-period="90" />
  </inbound>
</policies>"""

A_GROUP = 13  # resources in each resource group


def landing_zone(*, groups, every, command="plan"):
    """A hub and so many resource groups of 13 resources; every so many of them has something to report."""
    hub, hub_net = key("ResourceGroup", "platform-hub"), key("VirtualNetwork", "hub-network", NET)
    base = f"{_SUBSCRIPTION}/resourceGroups/platform-hub"
    results = [
        result(hub, arm_id=base),
        result(hub_net, arm_id=f"{base}/providers/Microsoft.Network/virtualNetworks/hub", owner=hub, depends_on=(hub,)),
    ]
    for number in range(groups):
        results += _group(number, hub_net, "default" if groups < 4 else f"team-{number % 7}")
    told = [
        _told(shown, number // every) if number % every == every - 2 else shown for number, shown in enumerate(results)
    ]
    return report(*sorted(told, key=lambda resource: resource.key), command=command, exit_code=4)


def _group(number, hub_net, namespace):
    app = f"app-{number:03}"
    base, folder = f"{_SUBSCRIPTION}/resourceGroups/{app}-prod-rg", f"apps/{app}"
    group, net = key("ResourceGroup", f"{app}-prod-rg", namespace=namespace), key("VirtualNetwork", app, NET, namespace)
    net_id = f"{base}/providers/Microsoft.Network/virtualNetworks/{app}"
    subnets = [key("VirtualNetworksSubnet", f"{app}-{name}", NET, namespace) for name in ("front", "back")]
    yield result(group, arm_id=base, source=SourceLocation(f"{folder}/group.yaml", 1))
    yield result(
        net, arm_id=net_id, owner=group, depends_on=(group, hub_net), source=SourceLocation(f"{folder}/net.yaml", 1)
    )
    for line, subnet in enumerate(subnets, 20):
        source = SourceLocation(f"{folder}/net.yaml", line)
        yield result(subnet, arm_id=f"{net_id}/subnets/{subnet.name}", owner=net, depends_on=(net,), source=source)
    for line in range(A_GROUP - 4):
        kind, asos, arm = _KINDS[line % len(_KINDS)]
        name, source = f"{app}-{kind.casefold()}-{line}", SourceLocation(f"{folder}/{kind.casefold()}.yaml", line + 1)
        needs = (group, subnets[0]) if kind in {"ManagedCluster", "FlexibleServer"} else (group,)
        unverified = ("/properties/administratorLoginPassword",) if kind == "FlexibleServer" else ()
        yield result(
            key(kind, name, asos, namespace), arm_id=f"{base}/providers/{arm}/{name}", owner=group, depends_on=needs,
            source=source, unverified=unverified,
        )  # fmt: skip


def _told(resource, number):
    """A resource with something to report, in turns."""
    drifted = (
        Difference("/tags/env", "prod", None, "changed in Azure since it was last seen"),
        Difference("/properties/subnet/id", f"{resource.arm_id}/one", f"{resource.arm_id}/two", "changed in Azure"),
    )
    pending = (
        Difference("/properties/sku/capacity", 4, 2, "changed in git since it was last written"),
        Difference("/properties/value", _POLICY.replace('"20"', '"200"'), _POLICY, "XML that means something else"),
    )
    both = (Difference("/properties/rules", [{"name": "a", "port": 443}], [{"name": "a", "port": 80}], "by name"),)
    forbidden = failed(
        "AuthorizationFailed", f"The client has no right to write {resource.arm_id}.", request_id="5c1d-11"
    )
    waiting = failed("WaitingForOwner", "ResourceGroup/core is not Ready.", Severity.WARNING)
    turns = (
        {"verdict": Verdict.DRIFTED, "action": Action.UPDATE, "differences": drifted, "unverified": ("/properties/p",)},
        {"verdict": Verdict.PENDING, "action": Action.UPDATE, "differences": pending},
        {"verdict": Verdict.CREATE, "condition": forbidden, "is_fine": False, "attempts": REFUSED.attempts},
        {"verdict": Verdict.MISSING, "action": Action.CREATE, "condition": READY},
        {"verdict": Verdict.BLOCKED, "condition": waiting, "is_fine": False},
        {"verdict": Verdict.CONFLICT, "action": Action.UPDATE, "differences": both},
        {"verdict": Verdict.DELETE, "action": Action.DELETE, "source": None},
    )
    return change(resource, **turns[number % len(turns)])
