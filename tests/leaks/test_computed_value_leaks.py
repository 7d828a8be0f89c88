"""A value of another resource that looks like a secret is sent, and in no output of the runs."""

from __future__ import annotations

import io

from gitsync.report import json as json_report
from gitsync.report import junit, markdown, sarif, text
from gitsync.report.html import page
from gitsync.settings.logging import set_up
from tests.leaks.hunting import Hunt, files
from tests.support.world import GROUP, GROUP_ID, World

ADDRESS_ID = f"{GROUP_ID}/providers/Microsoft.Network/publicIPAddresses/egress"
NETWORK_ID = f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks/hub"
KEY = "c3VwZXItc2VjcmV0LWtleS1vZi1hbi1hY2NvdW50LXRoYXQtaXMtbG9uZw=="
CONNECTION = f"DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={KEY};EndpointSuffix=core.windows.net"
ADDRESS = """
apiVersion: network.azure.com/v1api20201101
kind: PublicIPAddress
metadata: {name: egress}
spec: {owner: {name: core}, location: westeurope, publicIPAllocationMethod: Static, tags: {team: net}}
"""
NETWORK = """
apiVersion: network.azure.com/v1api20201101
kind: VirtualNetwork
metadata:
  name: hub
  annotations: {gitsync/set: 'spec.tags.copy: resource("PublicIPAddress/egress").status.?tags.?link.orValue("none")'}
spec: {owner: {name: core}, location: westeurope, addressSpace: {addressPrefixes: [10.0.0.0/16]}}
"""


FORMS = (text, markdown, page, json_report, junit, sarif)


def test_a_connection_string_that_flows_is_masked(tmp_path):
    world = World(tmp_path)
    world.says(group=GROUP, address=ADDRESS, network=NETWORK)
    stream = io.StringIO()
    set_up(level="debug", form="json", colour=False, mask=world.redactions.mask, stream=lambda: stream)
    world.sync()
    world.somebody_changes(ADDRESS_ID, {"/tags/link": CONNECTION})
    reports = [world.plan(), world.sync(), world.plan()]
    assert world.read(NETWORK_ID)["tags"]["copy"] == CONNECTION, "it is sent"
    assert {result.verdict.value for result in reports[-1].results} == {"in-sync"}
    shown = {
        f"{form.__name__} {number}": form.render(report) for form in FORMS for number, report in enumerate(reports)
    }
    shown |= {f"object {number}": repr(report) for number, report in enumerate(reports)}
    shown |= {"log": stream.getvalue(), **files(world.state)}
    assert Hunt(key=KEY).everywhere(shown) == {}
