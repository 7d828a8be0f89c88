"""An owner in another subscription: said offline where both subscriptions are known, and the advice is about the owner."""

from __future__ import annotations

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.desired.request.credential_choice import choose_offline
from gitsync.desired.request.owner_subscriptions import warn_owners_elsewhere
from tests.support.world import GROUP, GROUP_ID, SUBSCRIPTION, VNET, World, annotated, of

HERE, THERE = ("00000000-0000-0000-0000-00000000000" + digit for digit in "12")
NETWORK = VNET.replace("name: core", f"armId: /subscriptions/{THERE}/resourceGroups/web")
NAMED = annotated(NETWORK, credential_from="team")
SECRET = """\
apiVersion: v1
kind: Secret
metadata: {{name: {}}}
stringData: {{AZURE_SUBSCRIPTION_ID: {}, AZURE_TENANT_ID: t, AZURE_CLIENT_ID: c}}
"""


@pytest.mark.parametrize(
    ("texts", "subscription", "is_said", "why"),
    [
        ([NETWORK], HERE, True, "both are known"),
        ([NETWORK], THERE.upper(), False, "subscriptions have no case"),
        ([NETWORK], "", False, "no subscription is set"),
        ([NAMED], HERE, False, "the Secret is elsewhere, and names any"),
        ([NAMED, SECRET.format("team", THERE)], HERE, False, "the Secret is of that subscription"),
        ([NAMED, SECRET.format("team", HERE)], THERE, True, "the Secret is of another"),
        ([NETWORK, SECRET.format("aso-credential", HERE)], "", True, "the Secret of the namespace"),
        ([NETWORK, SECRET.format("aso-credential", THERE)], HERE, False, "it goes before the settings"),
        ([GROUP, VNET], HERE, False, "an owner by name"),
    ],
)
def test_validate_reports_that_an_owner_is_elsewhere(texts, subscription, is_said, why):
    manifests = read_manifests({f"{number}.yaml": text.encode() for number, text in enumerate(texts)})
    credential_of = choose_offline(manifests.objects.secrets, subscription)
    prepared = prepare(manifests, catalog=open_catalog(), subscription=subscription)
    said = [(problem.code, problem.field) for problem in warn_owners_elsewhere(prepared, credential_of)]
    assert said == [("SubscriptionMismatch", "spec.owner.armId")] * is_said, why


def test_a_run_reports_it_too_and_never_the_reverse(tmp_path):
    """Nothing was ever written there."""
    world = World(tmp_path).says(vnet=NETWORK)
    for report in (world.plan(), world.sync(), world.plan()):
        advice = of(report, "VirtualNetwork").condition.advice
        assert "spec.owner.armId is in another subscription" in advice
        assert f"Set --subscription to {THERE}" in advice
        assert " back " not in advice


def test_what_was_written_there_goes_back(tmp_path):
    world = World(tmp_path)
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    vnet = VNET.replace("name: core", f"armId: {GROUP_ID}")
    world.says(vnet=vnet).sync()
    advice = of(world.plan(subscription=HERE), "VirtualNetwork").condition.advice
    assert f"written in subscription {SUBSCRIPTION}" in advice
    assert " to that one" in advice
