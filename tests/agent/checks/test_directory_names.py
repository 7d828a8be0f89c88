"""What deleted applications hold, as plans and syncs report it."""

import pytest

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.model.check import CheckName, CheckVerdict
from tests.support.world import World

DELETED = "/v1.0/directory/deletedItems"
ID, APP_ID = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"
NAMES = (CheckName.NAMES,)


def manifest(kind, **spec):
    lines = "".join(f"\n  {name}: {value}" for name, value in spec.items())
    return f"apiVersion: entra.azure.com/v1\nkind: {kind}\nmetadata: {{name: shop}}\nspec:{lines}\n"


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    body = {"displayName": "Shop", "identifierUris": ["api://shop", "api://more"], "appId": APP_ID}
    world.azure().put(f"/v1.0/applications/{ID}", body)
    world.outside("DELETE", f"/v1.0/applications/{ID}")
    return world


HELD = [
    # the manifest, the verdict, the message, what follows a restore
    (
        manifest("Application", displayName="Shop", identifierUris="[api://SHOP]"),
        CheckVerdict.REFUSED,
        f"The deleted application 'Shop' ({ID}) holds the identifier URI api://SHOP until 2026-03-31.",
        "/restore`: gitsync adopts it.",
    ),
    (
        manifest("Application", displayName="Store", identifierUris="[api://shop, api://more]"),
        CheckVerdict.REFUSED,
        "holds the identifier URI api://shop, api://more until",
        "/restore`: declare it as 'Shop', and gitsync adopts it.",
    ),
    (
        manifest("Application", displayName="SHOP"),
        CheckVerdict.WARNING,
        "has this displayName until 2026-03-31. The create makes another application, with another client id.",
        "/restore`: gitsync adopts it.",
    ),
    (
        manifest("ServicePrincipal", appId=APP_ID.upper()),
        CheckVerdict.REFUSED,
        f"holds the appId {APP_ID} until 2026-03-31.",
        "Otherwise set the appId of another application.",
    ),
]


@pytest.mark.parametrize(("text", "verdict", "message", "then"), HELD, ids=["URI", "two URIs", "name", "appId"])
def test_a_plan_names_what_holds_a_value_and_the_options(world, text, verdict, message, then):
    (result,) = world.says(shop=text).plan(checks=NAMES).results
    (finding,) = result.change.checks
    assert (finding.verdict, finding.code) == (verdict, "HeldByDeletedApplication")
    assert message in finding.message
    assert then in finding.advice
    assert "`az rest --method POST --url http://127.0.0.1:" in finding.advice
    assert f"{DELETED}/{ID}`" in finding.advice.partition("az rest --method DELETE --url")[2]


def test_a_sync_leaves_out_what_is_refused_and_adopts_what_is_restored(world):
    text = manifest("Application", displayName="Shop", identifierUris="[api://shop]")
    (result,) = world.says(shop=text).sync(checks=NAMES).results
    assert (result.condition.reason, world.writes) == ("Refused", [])
    world.outside("POST", f"{DELETED}/{ID}/restore")
    (result,) = world.sync(checks=NAMES).results
    assert (result.condition.is_ready, result.arm_id is not None) == (True, True)
    assert world.sent("POST") == []


def test_it_is_created_after_the_deleted_one_is_gone_for_good(world):
    world.says(shop=manifest("Application", displayName="Shop", identifierUris="[api://shop]"))
    world.outside("DELETE", f"{DELETED}/{ID}")
    (result,) = world.sync(checks=NAMES).results
    assert (result.condition.is_ready, world.sent("POST")) == (True, ["/v1.0/applications"])


def test_a_uri_that_an_update_adds_is_looked_at_too(world):
    world.says(shop=manifest("Application", displayName="Store", identifierUris="[api://store]")).sync()
    world.says(shop=manifest("Application", displayName="Store", identifierUris="[api://store, api://shop]"))
    (finding,) = world.plan(checks=NAMES).results[0].change.checks
    assert finding.verdict is CheckVerdict.REFUSED
    assert "adopts" not in finding.advice


@pytest.mark.parametrize(
    "text",
    [
        manifest("Application", displayName="Store", identifierUris="[api://store]"),
        manifest("ServicePrincipal", appId=ID),
    ],
    ids=["application", "principal"],
)
def test_what_holds_nothing_is_fine(world, text):
    (finding,) = world.says(shop=text).plan(checks=NAMES).results[0].change.checks
    assert finding.verdict is CheckVerdict.FINE


def test_a_group_needs_no_list(world):
    world.says(team=manifest("SecurityGroup", displayName="Shop", mailNickname="shop")).plan(checks=NAMES)
    assert not [request for request in world.requests if DELETED in request.path]


def test_a_missing_permission_is_named(tmp_path):
    denied = Canned(status=403, code="Authorization_RequestDenied", message="Insufficient privileges.")
    rule = FaultRule(match=Match(path=f"{DELETED}*".casefold()), answer=denied)
    world = World(tmp_path, rules=(rule,))
    world.says(shop=manifest("Application", displayName="Shop"))
    (finding,) = world.plan(checks=NAMES).results[0].change.checks
    assert (finding.verdict, finding.code) == (CheckVerdict.NOT_CHECKED, "Authorization_RequestDenied")
    assert "Application.Read.All" in finding.advice
    assert world.sync(checks=NAMES).exit_code == 0
