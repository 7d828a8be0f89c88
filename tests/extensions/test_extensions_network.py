"""Approvals, and refusals of what is made in parts."""

import pytest

from gitsync.errors import GitsyncError
from gitsync.planning.status.error_classes import Classification
from tests.extensions.asking import class_of, post_check, with_

GROUP = "network.azure.com"


def connection(status="Approved", **more):
    return {"id": "/one", "properties": {"privateLinkServiceConnectionState": {"status": status}}, **more}


def waits_for(*ids):
    shown = " ".join(f'"{id_}"' for id_ in ids)
    return f"Private connection(s) '[{shown}]' to the PrivateEndpoint requires approval"


@pytest.mark.parametrize(
    ("connections", "expected", "why"),
    [
        (None, "", "none has to be approved by hand"),
        ([], "", "none has to be approved by hand"),
        ([connection()], "", "approved"),
        ([connection("Pending")], waits_for("/one"), "nobody has said yes yet"),
        ([connection("Rejected")], waits_for("/one"), "somebody said no"),
        ([connection("approved")], waits_for("/one"), "the state has case"),
        (
            [connection("Pending"), connection(), connection("Pending", id="/two")],
            waits_for("/one", "/two"),
            "two of three",
        ),
        ([{"id": "/one", "properties": {}}], waits_for("/one"), "no state is no approval"),
        ([{"name": "one"}], waits_for("one"), "named as well as can be"),
    ],
)
async def test_a_private_endpoint_waits_for_approval(connections, expected, why):
    own = with_(manualPrivateLinkServiceConnections=connections)
    assert await post_check(GROUP, "PrivateEndpoint", own) == expected, why


@pytest.mark.parametrize("connections", [5, "", {}, "x", [None], ["x"]])
async def test_an_odd_list_of_connections_approves_nothing(connections):
    with pytest.raises(GitsyncError, match="is not a list of objects"):
        await post_check(GROUP, "PrivateEndpoint", with_(manualPrivateLinkServiceConnections=connections))


async def test_connections_that_need_no_approval_are_not_looked_at():
    assert (
        await post_check(GROUP, "PrivateEndpoint", with_(privateLinkServiceConnections=[connection("Pending")])) == ""
    )


@pytest.mark.parametrize(
    ("kind", "code", "message", "status", "expected", "why"),
    [
        (
            "AzureFirewall",
            "AzfwAddToFirewallPolicyFailed",
            "Put failed to reference firewall policy x",
            400,
            Classification.RETRYABLE,
            "as its status says, whatever the case",
        ),
        (
            "DnsForwardingRuleset",
            "LocationRequired",
            "The endpoint was not found",
            400,
            Classification.RETRYABLE,
            "any code, even a fatal one",
        ),
        (
            "DnsForwardingRuleset",
            "BadRequest",
            "The endpoint was not found",
            400,
            Classification.RETRYABLE,
            "with its own speed",
        ),
        ("DnsForwardingRuleset", "LocationRequired", "No.", 400, Classification.FATAL, "another message"),
        (
            "DnsZonesARecord",
            "BadRequest",
            "The referenced resource /a/b was not found",
            400,
            Classification.RETRYABLE,
            "it may be made yet",
        ),
        (
            "DnsZonesAAAARecord",
            "BadRequest",
            "The referenced resource /a/b was not found",
            400,
            Classification.RETRYABLE,
            "it may be made yet",
        ),
        (
            "DnsZonesCNAMERecord",
            "BadRequest",
            "The referenced resource /a/b was not found",
            400,
            Classification.RETRYABLE,
            "it may be made yet",
        ),
        (
            "DnsZonesARecord",
            "InvalidRequestContent",
            "The referenced resource /a/b was not found",
            400,
            Classification.FATAL,
            "any other code is left as it is",
        ),
        (
            "NetworkWatchersFlowLog",
            "NetworkSecurityGroupNotFoundForFlowLog",
            "No.",
            400,
            Classification.RETRYABLE,
            "as its status says",
        ),
        (
            "NetworkWatchersFlowLog",
            "StorageProvisioningStateNotSucceeded",
            "No.",
            400,
            Classification.RETRYABLE,
            "the account is still being created",
        ),
        (
            "PublicIPAddress",
            "ReferencedResourceNotProvisioned",
            "No.",
            400,
            Classification.RETRYABLE,
            "it is still being created",
        ),
        (
            "VirtualNetworksSubnet",
            "NetcfgSubnetRangeOutsideVnet",
            "No.",
            400,
            Classification.RETRYABLE,
            "as its status says",
        ),
        (
            "VirtualNetworksVirtualNetworkPeering",
            "ReferencedResourceNotProvisioned",
            "No.",
            429,
            Classification.RETRYABLE,
            "as its status says",
        ),
    ],
)
def test_what_a_refusal_means(kind, code, message, status, expected, why):
    assert class_of(GROUP, kind, code, message, status) is expected, why
