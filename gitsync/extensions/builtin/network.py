"""network.azure.com: parents that embed their children, which a PUT without them would delete
(docs/reference/kinds.md#embedded-children), a check after the write, an address to export, and what refusals mean.

The shapes are what may be sent of a child, by the first api-version that has a member
(docs/reference/kinds.md#embedded-children).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from gitsync.desired.formats.address_ranges import AddressRange, is_inside, parse_range
from gitsync.desired.problems.field_path import find_member
from gitsync.extensions.api import Extension, Extensions, Subject
from gitsync.extensions.factories.error_rules import ANY_CODE, ErrorRule, make_classifiers
from gitsync.extensions.factories.kept_children import ChildShape, keep_children, merge_by_name, replace
from gitsync.extensions.factories.private_endpoints import check_connections, export_private_address
from gitsync.model.arm_id import ArmId

GROUP = "network.azure.com"
ID: ChildShape = {"id": None}


def leaves(names: str) -> ChildShape:
    """Members of any value, from their names."""
    return dict.fromkeys(names.split())


def subnet(api_version: str) -> ChildShape:
    """What may be sent of a subnet; the 2020 version spells one member otherwise."""
    endpoint = dict(leaves("locations service"))
    properties = {
        **leaves("addressPrefix addressPrefixes privateEndpointNetworkPolicies privateLinkServiceNetworkPolicies"),
        "delegations": [{"name": None, "properties": leaves("serviceName")}],
        "ipAllocations": [ID],
        "natGateway": ID,
        "networkSecurityGroup": ID,
        "routeTable": ID,
        "serviceEndpointPolicies": [ID],
        "serviceEndpoints": [endpoint],
    }
    gateways = "applicationGatewayIPConfigurations" if api_version >= "2024" else "applicationGatewayIpConfigurations"
    properties[gateways] = [ID]
    if api_version >= "2024-03-01":
        properties |= leaves("defaultOutboundAccess sharingScope")
        endpoint["networkIdentifier"] = ID
    if api_version >= "2025-03-01":
        properties["ipamPoolPrefixAllocations"] = [{"numberOfIpAddresses": None, "pool": ID}]
    return {**leaves("id name type"), "properties": properties}


def describe_outside(subject: Subject) -> str:
    """Say in a plan that the network and its subnets do not fit each other, as a PUT of the network has them."""
    texts = find_member(dict(subject.spec), "addressSpace", "addressPrefixes")
    space = [parse_range(text) for text in texts] if isinstance(texts, list) else []
    subnets = find_member(dict(subject.live.body), "properties", "subnets") if subject.live else None
    ranges = [network for network in space if network]
    # A range that cannot be read may have the subnet.
    if not ranges or len(ranges) < len(space) or not isinstance(subnets, list):
        return ""
    known = (entry for entry in subnets if isinstance(entry, dict))
    outside = ", ".join(filter(None, (_name_outside(entry, subject, ranges) for entry in known)))
    return outside and (
        f"Azure refuses it: {outside} would be outside of its address space, and this run does not change that. Keep "
        "the old range in spec.addressSpace.addressPrefixes until the subnet has a new one."
    )


def _name_outside(subnet: Any, subject: Subject, space: list[AddressRange]) -> str:
    """Name a subnet that is outside of an address space, as it is sent; "" for any other, and for one that leaves."""
    key = ArmId(find_member(subnet, "id")).key
    properties = find_member(dict(subject.children.get(key, subnet)), "properties")
    prefixes = find_member(properties, "addressPrefixes")
    texts = [find_member(properties, "addressPrefix"), *(prefixes if isinstance(prefixes, list) else ())]
    ranges = [network for text in texts if (network := parse_range(text))]
    is_outside = key not in subject.leaving and not all(is_inside(network, space) for network in ranges)
    return f"subnet {find_member(subnet, 'name')} ({', '.join(map(str, ranges))})" if is_outside else ""


def security_rule(_api_version: str) -> ChildShape:
    return {
        **leaves("id name type"),
        "properties": {
            **leaves("access description direction priority protocol"),
            **leaves("destinationAddressPrefix destinationAddressPrefixes destinationPortRange destinationPortRanges"),
            **leaves("sourceAddressPrefix sourceAddressPrefixes sourcePortRange sourcePortRanges"),
            "destinationApplicationSecurityGroups": [ID],
            "sourceApplicationSecurityGroups": [ID],
        },
    }


def route(_api_version: str) -> ChildShape:
    return {**leaves("id name type"), "properties": leaves("addressPrefix nextHopIpAddress nextHopType")}


def inbound_nat_rule(api_version: str) -> ChildShape:
    properties = {
        **leaves("backendPort enableFloatingIP enableTcpReset frontendPort idleTimeoutInMinutes protocol"),
        "frontendIPConfiguration": ID,
    }
    if api_version >= "2024-03-01":
        properties |= {**leaves("frontendPortRangeStart frontendPortRangeEnd"), "backendAddressPool": ID}
    return {"name": None, "properties": properties}


_TARGET_NOT_FOUND = "The referenced resource.*was not found"
_REFUSALS = (
    ErrorRule(
        kind="AzureFirewall", code="AzfwAddToFirewallPolicyFailed", matches="(?i)failed to reference Firewall Policy"
    ),
    ErrorRule(kind="DnsForwardingRuleset", code=ANY_CODE, says=("was not found",)),
    ErrorRule(kind="DnsZonesAAAARecord", code="BadRequest", matches=_TARGET_NOT_FOUND),
    ErrorRule(kind="DnsZonesARecord", code="BadRequest", matches=_TARGET_NOT_FOUND),
    ErrorRule(kind="DnsZonesCNAMERecord", code="BadRequest", matches=_TARGET_NOT_FOUND),
    ErrorRule(kind="NetworkWatchersFlowLog", code="NetworkSecurityGroupNotFoundForFlowLog"),
    ErrorRule(kind="NetworkWatchersFlowLog", code="StorageProvisioningStateNotSucceeded"),
    ErrorRule(kind="PublicIPAddress", code="ReferencedResourceNotProvisioned"),
    ErrorRule(kind="VirtualNetworksSubnet", code="NetcfgSubnetRangeOutsideVnet"),
    ErrorRule(kind="VirtualNetworksVirtualNetworkPeering", code="ReferencedResourceNotProvisioned"),
)

EXTENSIONS: Extensions = (
    Extension(
        group=GROUP,
        # Merged, unlike the lists below: a manifest may have rules itself, while ASO has no field for the other
        # children.
        kind="LoadBalancer",
        modify=keep_children(("properties", "inboundNatRules"), inbound_nat_rule, merge_by_name),
    ),
    Extension(
        group=GROUP,
        kind="NetworkSecurityGroup",
        modify=keep_children(("properties", "securityRules"), security_rule, replace),
    ),
    Extension(
        group=GROUP,
        kind="PrivateEndpoint",
        post_check=check_connections,
        export_config_maps=export_private_address,
        calls=(("export_config_maps", "Microsoft.Network/networkInterfaces/read"),),
    ),
    Extension(group=GROUP, kind="RouteTable", modify=keep_children(("properties", "routes"), route, replace)),
    Extension(
        group=GROUP,
        kind="VirtualNetwork",
        modify=dataclasses.replace(
            keep_children(("properties", "subnets"), subnet, replace), foretells=describe_outside
        ),
    ),
    *make_classifiers(GROUP, _REFUSALS),
)
