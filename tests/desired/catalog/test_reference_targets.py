"""The kinds that references are to: what the names of fields say, and what manifests do."""

from pathlib import Path

import pytest
import yaml

from gitsync.desired.catalog import reference_targets
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.kind_names import find_kind
from gitsync.desired.catalog.reference_targets import (
    Referrer,
    find_target,
    list_children,
    list_references,
    list_referrers,
)
from tests.support.recordings import FOLDER as RECORDINGS
from tests.support.recordings import needs_recordings

CATALOG = open_catalog()
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "manifests"
CASES = RECORDINGS / "conformance" / "cases"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@pytest.mark.parametrize(
    ("kind", "path", "target", "why"),
    [
        ("NetworkInterface", "ipConfigurations.subnet.reference", "VirtualNetworksSubnet", "the field around it"),
        ("aks", "agentPoolProfiles.vnetSubnetReference", "VirtualNetworksSubnet", "the last word of the field"),
        ("ApiDiagnostic", "loggerReference", "Logger", "a kind of the same group"),
        ("NatGateway", "publicIpAddresses.reference", "PublicIPAddress", "a word in the plural"),
        ("NatGateway", "publicIpPrefixes.reference", "PublicIPPrefix", "in the plural with es"),
        ("Component", "workspaceResourceReference", "Workspace", "Log Analytics, of several workspaces"),
        ("FleetsMember", "clusterResourceReference", "ManagedCluster", "a kind that its words do not say"),
        ("MetricAlert", "scopesReferences", None, "any resource"),
        ("PrivateEndpoint", "privateLinkServiceConnections.privateLinkServiceReference", None, "any with a private link"),
    ],
)  # fmt: skip
def test_what_the_name_of_a_field_has(kind, path, target, why):
    found = find_target(find_kind(kind, CATALOG).kind, f"spec.{path}", CATALOG)
    assert (found[1] if found else None) == target, why


def test_every_kind_of_the_tables_exists():
    homes = [*reference_targets._TARGETS, *reference_targets._OTHERS.values()]
    assert [home for home in homes if home[1] not in CATALOG.kinds(home[0])] == []
    fields = {
        (kind.gvk.kind, path.removesuffix(".reference").rpartition(".")[2])
        for kind in reference_targets._list_kinds(CATALOG)
        for path in list_references(kind)
    }
    assert reference_targets._OTHERS.keys() - fields == set()


def test_children_and_referrers():
    network = ("network.azure.com", "VirtualNetwork")
    assert ("network.azure.com", "VirtualNetworksSubnet") in list_children(network, CATALOG)
    assert Referrer("network.azure.com", "DnsResolver", "spec.virtualNetwork.reference") in list_referrers(
        network, CATALOG
    )
    assert list_referrers(("network.azure.com", "RouteTablesRoute"), CATALOG) == ()


def find_used_targets(folder):
    """What the references of manifests are to: the kind, the path, and the target."""
    for file in sorted(folder.rglob("*.yaml")):
        for document in yaml.load_all(file.read_bytes(), LOADER):
            if document and ".azure.com/" in document["apiVersion"] and "spec" in document:
                header = f"{document['apiVersion']}/{document['kind']}"
                yield from ((header, path, target) for path, target in _find_references(document["spec"], "spec"))


def _find_references(value, path):
    if isinstance(value, dict) and {"group", "kind", "name"} <= value.keys() and path != "spec.owner":
        yield path, (value["group"], value["kind"])
    members = (
        value.items()
        if isinstance(value, dict)
        else [("", member) for member in value]
        if isinstance(value, list)
        else ()
    )
    for name, member in members:
        yield from _find_references(member, f"{path}.{name}".rstrip("."))


@pytest.mark.parametrize("folder", [EXAMPLES, pytest.param(CASES, marks=needs_recordings(CASES))], ids=["own", "ASO"])
def test_no_manifest_refers_to_another_kind(folder):
    used = set(find_used_targets(folder))
    assert used
    wrong = {
        (header, path, target)
        for header, path, target in used
        if find_target(find_kind(header, CATALOG).kind, path, CATALOG) not in {None, target}
    }
    assert wrong == set()
