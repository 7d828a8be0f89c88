"""A plan of two revisions shows values that flow as what they are: expressions, and what is known offline."""

from __future__ import annotations

import pytest

from gitsync.agent.run import revision_plan
from gitsync.settings.config.config import Config
from tests.support.fake_clock import FakeClock
from tests.support.loose_git import LooseAccess
from tests.support.world import GROUP, World, of

ADDRESS = """
apiVersion: network.azure.com/v1api20201101
kind: PublicIPAddress
metadata: {name: egress, namespace: %s}
spec: {owner: {armId: /subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/core}, location: %s, publicIPAllocationMethod: Static, idleTimeoutInMinutes: %s}
"""
TABLE = """
apiVersion: network.azure.com/v1api20201101
kind: RouteTable
metadata: {name: routes, annotations: {gitsync/set: '%s'}}
spec: {owner: {name: core}, location: westeurope}
"""
OWN = ADDRESS % ("default", "westeurope", 4)
OTHERS = (ADDRESS % ("platform", "westeurope", 4)).replace("resourceGroups/core", "resourceGroups/platform")
MOVED = (ADDRESS % ("default", "northeurope", 4)).replace(
    "{name", "{annotations: {gitsync/replace: location=northeurope}, name"
)
IP = 'spec.tags.a: resource("PublicIPAddress/egress").status.ipAddress'


def plan(tmp_path, before, after):
    world = World(tmp_path)
    world.says(group=GROUP, others=OTHERS, **before)
    world.says(group=GROUP, others=OTHERS, **after)
    config = Config(source=str(world.folder), from_revision="HEAD~1")
    return revision_plan.plan_revisions(config, FakeClock(), world.redactions, LooseAccess())


@pytest.mark.parametrize(
    ("before", "after", "sides", "message", "why"),
    [
        ((OWN, IP), (OWN, IP), [], "", "nothing changes"),
        ((OWN, IP), (OWN, IP.replace("ipAddress", "id")), [("/tags/a", '<resource("PublicIPAddress/egress").status.ipAddress>', '<resource("PublicIPAddress/egress").status.id>')], None, "another expression"),
        ((OWN, IP), (ADDRESS % ("default", "westeurope", 5), IP), [], "", "an update may leave the value as it is"),
        ((OWN, IP), (MOVED, IP), [], "spec.tags.a would be computed again: it uses the status of PublicIPAddress/egress.", "a replaced source"),
        ((OWN, 'spec.tags.a: resource("PublicIPAddress/egress").spec.location'), (ADDRESS % ("default", "northeurope", 4), 'spec.tags.a: resource("PublicIPAddress/egress").spec.location'), [("/tags/a", "westeurope", "northeurope")], None, "a value that git has"),
        ((OWN, IP), (OWN, 'spec.tags.a: resource("platform/PublicIPAddress/egress").status.ipAddress'), [("/tags/a", '<resource("PublicIPAddress/egress").status.ipAddress>', '<resource("platform/PublicIPAddress/egress").status.ipAddress>')], None, "of another team"),
    ],
    ids=lambda value: value if isinstance(value, str) and value[:4] not in {"spec", ""} else "",
)  # fmt: skip
def test_a_value_that_flows(tmp_path, before, after, sides, message, why):
    report = plan(
        tmp_path,
        {"address": before[0], "table": TABLE % before[1]},
        {"address": after[0], "table": TABLE % after[1]},
    )
    result = of(report, "RouteTable")
    assert [(d.path, d.live, d.desired) for d in result.differences] == sides, why
    if message is not None:
        assert message in result.condition.message
        assert result.verdict.value == ("pending" if message else "in-sync")
