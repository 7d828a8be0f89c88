"""Manifests in a few lines, and the gaps that they have."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from datetime import date
from functools import partial

from gitsync.agent.run.prepared_manifests import prepare_resources, read_source
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.kind_names import choose_newest_version
from gitsync.desired.request.credential_choice import choose_offline
from gitsync.model.record import State
from gitsync.model.rehearsal import Gap
from gitsync.model.unit import Unit
from gitsync.planning.claims import assign_writers
from gitsync.settings.config.config import Config
from gitsync.settings.config.config_file import join_source_settings
from gitsync.workflows.rehearsal.rebuild import Rebuild
from gitsync.workflows.rehearsal.rehearse import collect_gaps

SUBSCRIPTION = "22222222-2222-2222-2222-222222222222"
OTHER = "11111111-1111-1111-1111-111111111111"
GUID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"

_GROUPS = {
    "apimanagement.azure.com": "Logger Service",
    "app.azure.com": "ManagedEnvironment",
    "appconfiguration.azure.com": "ConfigurationStore",
    "authorization.azure.com": "RoleAssignment",
    "cache.azure.com": "Redis",
    "compute.azure.com": "Disk",
    "containerservice.azure.com": "ManagedCluster",
    "dbforpostgresql.azure.com": "FlexibleServer FlexibleServersDatabase",
    "documentdb.azure.com": "DatabaseAccount SqlDatabase",
    "eventhub.azure.com": "Namespace NamespacesEventhub",
    "keyvault.azure.com": "Vault",
    "managedidentity.azure.com": "UserAssignedIdentity FederatedIdentityCredential",
    "network.azure.com": "VirtualNetwork VirtualNetworksSubnet VirtualNetworksVirtualNetworkPeering PublicIPAddress LoadBalancer PrivateLinkService PrivateDnsZone PrivateDnsZonesARecord NetworkInterface DnsZone",
    "operationalinsights.azure.com": "Workspace",
    "resources.azure.com": "ResourceGroup",
    "sql.azure.com": "Server ServersDatabase",
    "storage.azure.com": "StorageAccount StorageAccountsBlobService StorageAccountsBlobServicesContainer",
}
_HOMES = {kind: group for group, kinds in _GROUPS.items() for kind in kinds.split()}


def one(kind: str, name: str, spec: str = "", *, namespace: str = "default", **annotations: str) -> str:
    """A manifest. `annotations` are those of gitsync and ASO, by the end of their names."""
    names = {
        "policy": "serviceoperator.azure.com/reconcile-policy",
        "credential": "serviceoperator.azure.com/credential-from",
    }
    noted = "".join(f"    {names[short]}: {value}\n" for short, value in annotations.items())
    group = _HOMES[kind]
    version = choose_newest_version(group, kind, open_catalog())
    head = f"apiVersion: {group}/{version}\nkind: {kind}\nmetadata:\n  name: {name}\n  namespace: {namespace}\n"
    head += f"  annotations:\n{noted}" if noted else ""
    return f"{head}spec:\n{textwrap.indent(textwrap.dedent(spec).strip() or 'location: westeurope', '  ')}\n---\n"


GROUP = one("ResourceGroup", "rg")


def in_group(kind: str, name: str, spec: str = "", **more: str) -> str:
    """A manifest of a resource in the group `rg`."""
    return one(kind, name, f"owner: {{name: rg}}\nlocation: westeurope\n{textwrap.dedent(spec).strip()}", **more)


def any_in_group(type_: str, name: str, body: str) -> str:
    """A manifest of an AzureResource in the group `rg`."""
    owner = "{group: resources.azure.com, kind: ResourceGroup, name: rg}"
    head = f"apiVersion: azure.gitsync/v1\nkind: AzureResource\nmetadata: {{name: {name}}}\n"
    return f"{head}spec:\n  type: {type_}\n  owner: {owner}\n  body: {body}\n---\n"


def find(
    documents: str | Mapping[str, str],
    *,
    state: State | None = None,
    units: Iterable[Unit] = (),
    subscription: str = SUBSCRIPTION,
    **settings: object,
) -> tuple[Gap, ...]:
    """Find the gaps of documents, or of files."""
    files = {"estate.yaml": documents} if isinstance(documents, str) else documents
    config, catalog = Config(source=".", subscription=subscription, **settings), open_catalog()  # type: ignore[arg-type]
    source_settings = join_source_settings(config, None)
    manifests = read_source(config, "default", {path: text.encode() for path, text in files.items()}, {})
    prepare = partial(prepare_resources, config, source_settings, manifests, catalog)
    prepared = prepare(choose_offline(manifests.objects.secrets, subscription), date(2026, 11, 27))
    prepared = assign_writers(prepared, {})
    return collect_gaps(Rebuild(prepared, catalog), manifests, config, units, state or State({}))


def show(gaps: Iterable[Gap]) -> list[str]:
    """Each gap in a line: kind, resource, field, and a mark for those that stop a rebuild."""
    return [
        f"{gap.kind} {gap.key.kind}/{gap.key.name} {gap.field}".rstrip() + ("!" if gap.stops else "") for gap in gaps
    ]


def group_id(name: str, subscription: str = SUBSCRIPTION) -> str:
    return f"/subscriptions/{subscription}/resourceGroups/{name}"


def network_id(name: str, group: str = "rg", subscription: str = SUBSCRIPTION) -> str:
    return f"{group_id(group, subscription)}/providers/Microsoft.Network/virtualNetworks/{name}"
