"""An application from its search to its end: each field as it is set, changed and given up."""

import pytest

from gitsync.emulator.faults import Canned, Drop, FaultRule, Match
from gitsync.errors import ArmError
from gitsync.model.live import Absence, Live
from tests.providers.entra.graph_rig import body_of, graph, make_resource

NAMED = {"displayName": "Shop"}
FULL = {
    "displayName": "Shop",
    "description": "The web shop",
    "signInAudience": "AzureADMultipleOrgs",
    "identifierUris": ["api://shop", "https://contoso.com/shop"],
    "tags": ["web", "shop"],
    "web": {
        "redirectUris": ["https://shop.contoso.com/signin", "http://localhost:5001/signin"],
        "implicitGrantSettings": {"enableIdTokenIssuance": True, "enableAccessTokenIssuance": True},
    },
    "spa": {"redirectUris": ["https://shop.contoso.com/spa"]},
    "publicClient": {"redirectUris": ["myapp://auth"]},
    "isFallbackPublicClient": True,
    "groupMembershipClaims": "SecurityGroup",
}
ID = "00000000-0000-4000-8000-00000000000a"


@pytest.fixture
async def rig():
    async with graph() as rig:
        yield rig


def application(body=NAMED, **members):
    return make_resource(body, kind="Application", name="shop", **members)


def change(body, path, value):
    """A body with another value at a path; None takes the field away."""
    first, *rest = path
    inside = change(body.get(first, {}), rest, value) if rest else value
    kept = {name: member for name, member in body.items() if name != first}
    return kept if inside is None else {**kept, first: inside}


def find(body, path):
    for step in path:
        body = body[step]
    return body


GRANTS = ("web", "implicitGrantSettings")
FIELDS = [
    # path, a value, another, and what a PATCH sends to remove it
    (("description",), "one", "two", None),
    (("signInAudience",), "AzureADMultipleOrgs", "PersonalMicrosoftAccount", "AzureADMyOrg"),
    (("identifierUris",), ["api://one"], ["api://two", "api://three"], []),
    (("tags",), ["one"], ["two", "three"], []),
    (("web", "redirectUris"), ["https://one.example"], ["https://two.example"], []),
    ((*GRANTS, "enableIdTokenIssuance"), True, False, False),
    ((*GRANTS, "enableAccessTokenIssuance"), True, False, False),
    (("spa", "redirectUris"), ["https://one.example"], ["https://two.example"], []),
    (("publicClient", "redirectUris"), ["http://localhost"], ["app://auth"], []),
    (("isFallbackPublicClient",), True, False, None),
    (("groupMembershipClaims",), "All", "SecurityGroup", None),
]
IDS = [".".join(path) for path, *_ in FIELDS]


async def test_all_fields_are_created_and_found_and_sent_once(rig):
    resource = application(FULL)
    assert isinstance(await rig.find(resource), Absence)
    await rig.put(resource)
    live = await rig.find(resource)
    app_id = live.body["appId"]
    assert body_of(live) == {**FULL, "appId": app_id}
    assert app_id not in {live.body["id"], None}
    rig.sent()
    await rig.put(resource)
    assert rig.sent() == [("GET", 200)]


@pytest.mark.parametrize(("path", "one", "two", "none"), FIELDS, ids=IDS)
async def test_a_field_is_set_changed_and_given_up(rig, path, one, two, none):
    bare, first, second = (application(change(NAMED, path, value)) for value in (None, one, two))
    await rig.put(bare)
    await rig.put(first)
    assert rig.azure.requests[-1].body == change({}, path, one), "only the field is sent"
    assert find(body_of(await rig.find(first)), path) == one
    await rig.put(second)
    assert find(rig.azure.requests[-1].body, path) == two or (two is False and none is None)
    given_up = application(NAMED, applied=second.body)
    if two not in (None, False):
        await rig.put(given_up)
        assert rig.azure.requests[-1].body == _nest(path, none)
    live = await rig.find(given_up)
    assert set(body_of(live)) == {"displayName", "appId"}, "a value that stands for none is not shown"
    rig.sent()
    await rig.put(given_up)
    assert rig.sent() == [("GET", 200)]


def _nest(path, value):
    for step in reversed(path):
        value = {step: value}
    return value


@pytest.mark.parametrize(("path", "one"), [row[:2] for row in FIELDS], ids=IDS)
async def test_what_git_never_had_stays(rig, path, one):
    """In an application that gitsync adopts, unlike ASO, which empties it."""
    object_id = await rig.make(change(NAMED, path, one), kind="Application")
    resource = application(given_id=object_id)
    await rig.put(resource)
    assert rig.sent() == [("GET", 200)]
    assert find((await rig.find(resource)).body, path) == one, "a read shows it"


@pytest.mark.parametrize(
    ("path", "none"),
    [(path, none) for path, _, _, none in FIELDS if none in ([], False)],
    ids=[name for name, (*_, none) in zip(IDS, FIELDS, strict=True) if none in ([], False)],
)
async def test_an_empty_value_in_git_empties_it(rig, path, none):
    object_id = await rig.make(FULL, kind="Application")
    resource = application(change(NAMED, path, none), given_id=object_id)
    await rig.put(resource)
    assert rig.azure.requests[-1].body == _nest(path, none)
    assert find((await rig.find(resource)).body, path) == none


async def test_other_spellings_of_none_are_no_difference(rig):
    spelt = {**NAMED, "description": "", "groupMembershipClaims": "None", "isFallbackPublicClient": False}
    resource = application(spelt)
    await rig.put(resource)
    assert {**body_of(await rig.find(resource)), "appId": 0} == {**spelt, "appId": 0}
    rig.sent()
    await rig.put(resource)
    assert rig.sent() == [("GET", 200)]
    body = {"displayName": "Other", "description": "None"}
    named_none = make_resource(body, kind="Application", name="other")
    await rig.put(named_none)
    assert (await rig.find(named_none)).body["description"] == "None"


async def test_the_order_of_lists_is_no_difference(rig):
    object_id = await rig.make(FULL, kind="Application")
    turned = {**FULL, "tags": [*reversed(FULL["tags"])], "identifierUris": [*reversed(FULL["identifierUris"])]}
    resource = application(turned, given_id=object_id)
    live = await rig.find(resource)
    assert (live.body["tags"], live.body["identifierUris"]) == (turned["tags"], turned["identifierUris"])
    await rig.put(resource)
    assert {method for method, _ in rig.sent()} == {"GET"}


async def test_one_of_the_name_is_adopted_and_several_are_an_error(rig):
    object_id = await rig.make({"displayName": "SHOP"}, kind="Application")
    assert (await rig.find(application())).body["id"] == object_id
    other_id = await rig.make({"displayName": "shop"}, kind="Application")
    with pytest.raises(ArmError, match="2 applications have the displayName 'Shop'") as caught:
        await rig.next_run().find(application())
    assert caught.value.code == "AmbiguousApplication"
    assert all(entry in caught.value.message for entry in (object_id, other_id))
    assert isinstance(await rig.next_run().find(application(mode="AlwaysCreate")), Absence)


async def test_a_group_of_the_name_is_no_application(rig):
    await rig.make({"displayName": "Shop"})
    assert isinstance(await rig.find(application()), Absence)


async def test_one_that_may_only_be_adopted_is_searched_again_if_it_was_made_anew(rig):
    before = await rig.make(NAMED, kind="Application")
    rig.azure.remove(f"/v1.0/applications/{before}")
    rig.clock.elapsed += 3600
    resource = application(mode="AdoptOnly", given_id=before)
    assert isinstance(await rig.find(resource), Absence)
    after = await rig.make(NAMED, kind="Application")
    assert (await rig.next_run().find(resource)).body["id"] == after


async def test_a_deleted_application_holds_its_uri(rig):
    object_id = await rig.make(FULL, kind="Application")
    await rig.delete(application(None, given_id=object_id))
    with pytest.raises(ArmError, match="identifierUris already exists") as caught:
        await rig.next_run().put(application(FULL))
    assert caught.value.details[0]["code"] == "ObjectConflict"
    await rig.restore(object_id)
    assert (await rig.next_run().find(application(FULL))).body["id"] == object_id


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"appId": None}, "it has no appId"),
        ({"appId": "x"}, "it has no appId"),
        ({"displayName": None}, "it has no displayName"),
        ({"identifierUris": "api://x"}, "its identifierUris is not a list of strings"),
        ({"tags": [1]}, "its tags is not a list of strings"),
        ({"web": {"redirectUris": {}}}, "its web.redirectUris is not a list of strings"),
        ({"isFallbackPublicClient": "no"}, "its isFallbackPublicClient is not a boolean"),
        ({"signInAudience": 7}, "its signInAudience is not a string"),
    ],
)
async def test_an_answer_that_is_no_application_is_an_error(members, fault):
    body = {"id": ID, "appId": ID, **NAMED, **members}
    rule = FaultRule(match=Match(methods=("GET",)), answer=Canned(status=200, body=body))
    async with graph(rules=[rule]) as rig:
        with pytest.raises(ArmError, match=fault) as caught:
            await rig.find(application(given_id=ID))
        assert caught.value.code == "MalformedApplication"


@pytest.mark.parametrize("mode", ["AdoptOrCreate", "AlwaysCreate"])
async def test_a_lost_answer_to_a_post_makes_no_second_application(mode):
    rule = FaultRule(match=Match(methods=("POST",), nth=(1,)), drop=Drop.AFTER)
    async with graph(rules=[rule], filter=20) as rig:
        resource = application(FULL, mode=mode)
        with pytest.raises(ArmError):
            await rig.put(resource)
        assert isinstance(await rig.find(resource), Live)
        await rig.put(resource)
        assert len(rig.ids("applications")) == 1


DENIED = [
    ("find", (), "Application.Read.All"),
    ("create", ("Application.Read.All",), "Application.ReadWrite.OwnedBy"),
    ("change", ("Application.ReadWrite.OwnedBy",), "grant Application.ReadWrite.All instead"),
    ("delete", ("Application.Read.All",), "Application.ReadWrite.OwnedBy"),
]


@pytest.mark.parametrize(("act", "permissions", "missing"), DENIED, ids=[row[0] for row in DENIED])
async def test_a_permission_that_is_missing_is_named(act, permissions, missing):
    async with graph(permissions=permissions) as rig:
        rig.azure.put(f"/v1.0/applications/{ID}", NAMED)
        changed = application({**NAMED, "description": "new"}, given_id=ID)
        acts = {
            "find": lambda: rig.find(application()),
            "create": lambda: rig.put(application(mode="AlwaysCreate")),
            "change": lambda: rig.put(changed),
            "delete": lambda: rig.delete(application(None, given_id=ID)),
        }
        with pytest.raises(ArmError) as caught:
            await acts[act]()
        assert (caught.value.status, caught.value.code) == (403, "Authorization_RequestDenied")
        assert missing in caught.value.hint
