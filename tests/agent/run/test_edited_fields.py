"""A plan names what differs as a person edits it: by field, file and line; a list by its elements."""

from __future__ import annotations

import pytest

from gitsync.report import markdown, text
from tests.support.world import GROUP, World

SERVERS = "\n".join(f"      - 10.0.0.{number}" for number in range(40))
NETWORK = f"""\
apiVersion: network.azure.com/v1api20201101
kind: VirtualNetwork
metadata: {{name: hub}}
spec:
  owner: {{name: core}}
  location: westeurope
  addressSpace: {{addressPrefixes: [10.0.0.0/16]}}
  tags: {{team: ops}}
  dhcpOptions:
    dnsServers:
{SERVERS}
"""
CHANGED = NETWORK.replace("10.0.0.7\n", "10.9.0.7\n").replace("  tags: {team: ops}\n", "")


@pytest.fixture
def report(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, network=NETWORK)
    return world.says(group=GROUP, network=CHANGED).plan()


def test_text_has_a_line_for_each_field_that_changed(report):
    lines = text.render(report, width=80).splitlines()
    assert '    ~ spec.dhcpOptions.dnsServers[7]: "10.0.0.7" → "10.9.0.7" (network.yaml:17)' in lines
    assert '    - spec.tags.team: "ops" (removed from git)' in lines
    assert sum("10.0.0." in line for line in lines) == 1


def test_the_path_of_the_request_is_for_who_asks(report):
    assert "/properties/dhcpOptions" not in text.render(report)
    assert "(network.yaml:17, /properties/dhcpOptions/dnsServers/7)" in text.render(report, verbose=True)


def test_a_comment_has_the_element_too(report):
    assert (
        "  spec.dhcpOptions.dnsServers[7] (network.yaml:17)\n"
        '- "10.0.0.7"\n+ "10.9.0.7"\n'
        '  spec.tags.team (removed from git)\n- "ops"\n```'
    ) in markdown.render(report)
