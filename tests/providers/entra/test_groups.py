"""One group from its search to its end: what is shown, what is sent, and what is not."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitsync.emulator.faults import Canned, Drop, FaultRule, Match, Move
from gitsync.errors import ArmError
from gitsync.model.live import Absence, Live
from gitsync.providers.arm.client import open_arm
from tests.providers.entra.graph_rig import ADMINS, body_of, graph, make_resource
from tests.support.arm_rig import anonymous
from tests.support.hypothesis_profile import scale


@pytest.fixture
async def rig():
    async with graph() as rig:
        yield rig


async def test_a_group_is_created_found_changed_and_deleted(rig):
    resource = make_resource()
    assert isinstance(await rig.find(resource), Absence)
    assert await rig.put(resource) is None
    live = await rig.find(resource)
    assert body_of(live) == ADMINS
    assert live.body["id"] == rig.groups.find_given_id(resource.arm_id) == rig.ids()[0]
    assert rig.sent() == [("GET", 200), ("POST", 201), ("GET", 200)]

    changed = make_resource({**ADMINS, "displayName": "Operators"})
    await rig.put(changed)
    assert body_of(await rig.find(changed)) == changed.body
    assert [(request.method, request.body) for request in rig.azure.requests if request.method != "GET"] == [
        ("PATCH", {"displayName": "Operators"})
    ], "only what differs is sent"

    await rig.delete(changed)
    assert rig.ids() == []
    assert isinstance(await rig.find(changed), Absence)


async def test_a_put_of_what_is_there_sends_nothing(rig):
    resource = make_resource()
    await rig.put(resource)
    rig.sent()
    await rig.put(resource)
    assert rig.sent() == [("GET", 200)]


async def test_the_body_of_a_create(rig):
    await rig.put(make_resource({"displayName": "A", "mailNickname": "a"}))
    assert rig.azure.requests[-1].body == {
        "displayName": "A",
        "mailNickname": "a",
        "groupTypes": [],
        "securityEnabled": True,
        "mailEnabled": False,
    }


async def test_what_graph_decides_of_a_microsoft_365_group_is_not_shown(rig):
    resource = make_resource({**ADMINS, "membershipType": "assignedm365"})
    await rig.put(resource)
    rig.sent()
    assert body_of(await rig.find(resource)) == resource.body
    await rig.put(resource)
    assert rig.sent() == [("GET", 200), ("GET", 200)], "mailEnabled: true and visibility are no difference"


CHANGES = {
    "a new description": ({"description": "b"}, {"description": "b"}),
    "an empty description": ({"description": ""}, {"description": None}),
    "a nickname": ({"mailNickname": "ops"}, {"mailNickname": "ops"}),
    "another case": ({"displayName": "ADMINS"}, {"displayName": "ADMINS"}),
    "all at once": (
        {"displayName": "Ops", "mailNickname": "ops", "description": "b"},
        {"displayName": "Ops", "mailNickname": "ops", "description": "b"},
    ),
}


@pytest.mark.parametrize(("change", "sent"), CHANGES.values(), ids=CHANGES)
async def test_what_a_change_sends(rig, change, sent):
    await rig.put(make_resource())
    changed = make_resource({**ADMINS, **change})
    await rig.put(changed)
    assert rig.azure.requests[-1].body == sent
    assert body_of(await rig.find(changed)) == changed.body


async def test_a_description_that_git_no_longer_states_is_taken_away_only_if_gitsync_sent_it(rig):
    without = {name: value for name, value in ADMINS.items() if name != "description"}
    group_id = await rig.make()
    await rig.put(make_resource(without, given_id=group_id))
    assert rig.sent() == [("GET", 200)], "somebody else's"
    await rig.next_run().put(make_resource(without, given_id=group_id, applied=ADMINS))
    assert rig.azure.requests[-1].body == {"description": None}


FIXED = {
    "another type": ("membershipType", "assignedm365", "membershipType of the group .* is assigned, and git states"),
    "for roles": ("isAssignableToRole", True, "isAssignableToRole of the group .* is false, and git states true"),
}


@pytest.mark.parametrize(("name", "value", "message"), FIXED.values(), ids=FIXED)
async def test_what_graph_fixes_needs_a_new_group(rig, name, value, message):
    group_id = await rig.make()
    with pytest.raises(ArmError, match=message) as caught:
        await rig.put(make_resource({**ADMINS, name: value}, given_id=group_id))
    assert caught.value.code == "PropertyChangeNotAllowed"
    assert "another name" in caught.value.hint
    assert rig.sent() == [("GET", 200)], "nothing is sent that Graph refuses"


async def test_a_group_with_dynamic_members_is_not_created_without_its_rule(rig):
    with pytest.raises(ArmError, match="membershipType enabled needs a membership rule") as caught:
        await rig.put(make_resource({**ADMINS, "membershipType": "enabled"}))
    assert caught.value.code == "PropertyChangeNotAllowed"
    assert rig.sent() == []


async def test_one_that_has_its_rule_is_adopted(rig):
    rig.azure.put(
        "/v1.0/groups/00000000-0000-4000-8000-00000000000d",
        {**{n: ADMINS[n] for n in ("displayName", "mailNickname", "description")}, "groupTypes": ["DynamicMembership"]},
    )
    resource = make_resource({**ADMINS, "membershipType": "enabled"})
    assert body_of(await rig.find(resource)) == resource.body


NAMES = {
    "a quote": "O'Brien's admins",
    "only quotes": "''",
    "an end of a literal": "x' or displayName ne '",
    "an emoji": "Admins 🦊👩‍👧",
    "percent": "100% of %20",
    "URL": "a&b=c#d?e/f+g",
    "braces": "{id} {0}",
    "backslash": "a\\b",
    "blanks": " a  b ",
    "another script": "管理者 Ünïcödé",
    "long": "n" * 256,
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
async def test_a_name_finds_its_group_and_no_other(rig, name):
    await rig.make({"displayName": "Somebody else's"})
    group_id = await rig.make({"displayName": name})
    live = await rig.find(make_resource({**ADMINS, "displayName": name}))
    assert isinstance(live, Live)
    assert (live.body["id"], live.body["displayName"]) == (group_id, name)


async def test_a_search_reads_every_page():
    async with graph(page_size=100) as rig:
        for number in range(250):
            group_id = f"00000000-0000-4000-8000-{number:012x}"
            is_security = number == 249
            rig.azure.put(
                f"/v1.0/groups/{group_id}",
                {"displayName": "Admins", "mailNickname": f"n{number}", "securityEnabled": is_security},
            )
        live = await rig.find(make_resource())
        assert isinstance(live, Live)
        assert live.body["mailNickname"] == "n249", "on the third page, after 249 that are no security groups"
        assert rig.sent() == [("GET", 200)] * 3


async def test_several_groups_of_a_name_are_named_and_none_is_taken(rig):
    ids = sorted([await rig.make(), await rig.make({"displayName": "ADMINS"})])
    with pytest.raises(ArmError, match="2 security groups have the displayName 'Admins'") as caught:
        await rig.find(make_resource())
    assert f"{ids[0]}, {ids[1]}" in caught.value.message
    assert "AlwaysCreate" in caught.value.hint


async def test_a_group_that_is_no_security_group_is_not_adopted(rig):
    rig.azure.put(
        "/v1.0/groups/00000000-0000-4000-8000-000000000001",
        {"displayName": "Admins", "mailNickname": "admins", "groupTypes": ["Unified"], "securityEnabled": False},
    )
    assert isinstance(await rig.find(make_resource()), Absence)


async def test_an_adopted_group_keeps_its_id_and_is_changed(rig):
    group_id = await rig.make({"description": "old"})
    resource = make_resource()
    assert (await rig.find(resource)).body["description"] == "old"
    await rig.put(resource)
    assert rig.ids() == [group_id]
    assert rig.sent() == [("GET", 200), ("GET", 200), ("PATCH", 204)]


async def test_always_create_searches_nothing_and_creates_another(rig):
    group_id = await rig.make()
    resource = make_resource(mode="AlwaysCreate")
    assert isinstance(await rig.find(resource), Absence)
    assert rig.sent() == []
    await rig.put(resource)
    assert len(rig.ids()) == 2
    assert (await rig.find(resource)).body["id"] != group_id


async def test_a_group_of_the_record_is_read_by_its_id_whatever_its_name(rig):
    group_id = await rig.make({"displayName": "Renamed by somebody"})
    live = await rig.find(make_resource(given_id=group_id))
    assert live.body["displayName"] == "Renamed by somebody"
    assert rig.sent() == [("GET", 200)]


async def test_a_group_that_is_gone_is_created_again_and_none_is_searched(rig):
    resource = make_resource(given_id="00000000-0000-4000-8000-000000000001")
    absence = await rig.find(resource)
    assert (absence.code, absence.request_id != "") == ("Request_ResourceNotFound", True)
    await rig.put(resource)
    assert rig.sent() == [("GET", 404), ("POST", 201)]
    assert body_of(await rig.find(resource)) == ADMINS


async def test_a_prune_deletes_by_the_id_of_the_record_alone(rig):
    group_id = await rig.make()
    unknown = make_resource(None)
    assert isinstance(await rig.find(unknown), Absence)
    await rig.delete(unknown)
    assert rig.sent() == [], "without an id nothing is looked for, nor deleted"

    pruned = make_resource(None, name="pruned", given_id=group_id)
    assert body_of(await rig.find(pruned)) == ADMINS
    await rig.delete(pruned)
    await rig.delete(pruned)
    assert rig.sent() == [("GET", 200), ("DELETE", 204)]
    assert rig.ids() == []


async def test_what_is_gone_is_deleted(rig):
    await rig.delete(make_resource(None, given_id="00000000-0000-4000-8000-000000000001"))
    assert rig.sent() == [("DELETE", 404)]


async def test_an_id_of_a_record_leads_nowhere_else(rig):
    with pytest.raises(ArmError, match="is not the id of a group"):
        await rig.find(make_resource(given_id="../users/me"))
    assert rig.sent() == []


async def test_somebody_switches_security_off_and_a_write_repairs_it(rig):
    group_id = await rig.make()
    rig.azure.change(f"/v1.0/groups/{group_id}", "/securityEnabled", value=False)
    await rig.put(make_resource(given_id=group_id))
    assert rig.azure.requests[-1].body == {"securityEnabled": True}


async def test_drift_by_a_script_shows():
    move = Move(set={"/description": "changed by hand"}, by="ana@contoso.com")
    rule = FaultRule(match=Match(methods=("GET",), type="microsoft.graph/groups", lists=False, nth=(1,)), move=(move,))
    async with graph(rules=[rule]) as rig:
        resource = make_resource(given_id=await rig.make())
        assert (await rig.find(resource)).body["description"] == ADMINS["description"]
        assert (await rig.find(resource)).body["description"] == "changed by hand"


async def test_two_manifests_do_not_share_a_group(rig):
    group_id = await rig.make()
    first, second = make_resource(), make_resource(name="second")
    await rig.find(first)
    with pytest.raises(ArmError, match=f"The group {group_id} already belongs to {first.arm_id}") as caught:
        await rig.find(second)
    assert caught.value.code == "GroupInUse"


async def test_two_manifests_that_are_created_at_once_do_not_make_two_groups(rig):
    first, second = make_resource(), make_resource({**ADMINS, "displayName": "ADMINS"}, name="second")
    for resource in (first, second):
        assert isinstance(await rig.find(resource), Absence), "both searched before either was created"
    await rig.put(first)
    with pytest.raises(ArmError, match=f"{first.arm_id} creates the group with the displayName 'ADMINS'") as caught:
        await rig.put(second)
    assert (caught.value.code, len(rig.ids())) == ("GroupInUse", 1)


async def test_another_credential_may_create_a_group_of_that_name(rig):
    """It may be one of another tenant. The emulator has one, and so finds both."""
    async with open_arm(anonymous(rig.azure.url), rig.clock) as arm:
        elsewhere = replace(rig, arm=arm)
        first, second = make_resource(), make_resource(name="second")
        for run, resource in ((rig, first), (elsewhere, second)):
            assert isinstance(await run.find(resource), Absence)
        await rig.put(first)
        await elsewhere.put(second)
    assert len(rig.ids()) == 2


async def test_groups_that_are_always_created_may_share_a_name(rig):
    for name in ("first", "second"):
        await rig.put(make_resource(name=name, mode="AlwaysCreate"))
    assert len(rig.ids()) == 2


async def test_records_of_two_manifests_with_one_group_are_both_refused(rig):
    group_id = await rig.make()
    both = [make_resource(name=name, given_id=group_id) for name in ("first", "second")]
    readers = [rig.reader(resource) for resource in both]
    for reader, resource in zip(readers, both, strict=True):
        with pytest.raises(ArmError, match=f"The group {group_id} already belongs to") as caught:
            await reader.find(resource.arm_id, "v1.0")
        assert caught.value.code == "GroupInUse"


async def test_a_manifest_that_was_renamed_keeps_its_group(rig):
    """Under its new name it adopts the group, and the prune of the old name must not delete it."""
    group_id = await rig.make()
    pruned, renamed = make_resource(None, name="old", given_id=group_id), make_resource(name="new")
    assert isinstance(await rig.find(pruned), Live)
    assert (await rig.find(renamed)).body["id"] == group_id
    with pytest.raises(ArmError, match=r"already belongs to .*default\.new"):
        await rig.delete(pruned)
    assert rig.ids() == [group_id]


async def test_a_group_that_this_run_has_deleted_is_not_adopted():
    async with graph(gone=3600) as rig:
        group_id = await rig.make()
        await rig.delete(make_resource(None, name="old", given_id=group_id))
        assert isinstance(await rig.find(make_resource(name="new")), Absence), "the search still shows it"


LOST = {
    "the answer": (FaultRule(match=Match(methods=("POST",), nth=(1,)), drop=Drop.AFTER), 1),
    "the request": (FaultRule(match=Match(methods=("POST",), nth=(1,)), drop=Drop.BEFORE), 0),
    "a gateway's": (FaultRule(match=Match(methods=("POST",), nth=(1,)), timeout=True), 1),
    "503 instead": (
        FaultRule(match=Match(methods=("POST",), nth=(1,)), answer=Canned(status=503, code="ServiceUnavailable")),
        0,
    ),
}


@pytest.mark.parametrize("mode", ["AdoptOrCreate", "AlwaysCreate"])
@pytest.mark.parametrize(("rule", "done"), LOST.values(), ids=LOST)
async def test_a_lost_answer_to_a_post_makes_no_second_group(rule, done, mode):
    async with graph(rules=[rule], filter=20) as rig:
        resource = make_resource(mode=mode)
        assert isinstance(await rig.find(resource), Absence)
        with pytest.raises(ArmError) as caught:
            await rig.put(resource)
        assert caught.value.outcome_unknown
        found = await rig.find(resource)
        assert isinstance(found, Live if done else Absence)
        await rig.put(resource)
        assert len(rig.ids()) == 1
        assert body_of(await rig.find(resource)) == ADMINS


@pytest.mark.parametrize("mode", ["AdoptOrCreate", "AlwaysCreate"])
async def test_a_run_that_was_killed_after_its_post_is_resumed_without_a_second_group(mode):
    async with graph() as rig:
        await rig.put(make_resource(mode=mode))
        resumed = make_resource(mode=mode, is_expected=True)
        assert isinstance(await rig.next_run().find(resumed), Live)


OTHERS = {
    "of other values": ({"description": "another"}, 0),
    "made days ago": ({}, 2 * 86400),
}


@pytest.mark.parametrize(("difference", "age"), OTHERS.values(), ids=OTHERS)
async def test_a_group_that_is_always_created_is_not_taken_for_somebody_elses(rig, difference, age):
    await rig.make(difference)
    rig.clock.elapsed += age
    assert isinstance(await rig.find(make_resource(mode="AlwaysCreate", is_expected=True)), Absence)


@st.composite
def bodies(draw):
    text = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=60)
    nickname = st.text(st.sampled_from("abcXYZ019.-_'!#$%&*+/=?^`{|}~"), min_size=1, max_size=64)
    optional = {
        "description": st.one_of(st.just(""), text),
        "membershipType": st.sampled_from(["assigned", "assignedm365"]),
        "isAssignableToRole": st.booleans(),
    }
    return draw(st.fixed_dictionaries({"displayName": text, "mailNickname": nickname}, optional=optional))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=scale(30))
@given(body=bodies(), changed=bodies())
async def test_any_body_that_was_put_is_found_and_sent_once(rig, body, changed):
    """A law: what was put is what is found, whatever was there; and the same again sends nothing."""
    for group_id in rig.ids():
        rig.azure.remove(f"/v1.0/groups/{group_id}")
    rig = rig.next_run()
    resource = make_resource(body, mode="AlwaysCreate")
    await rig.put(resource)
    changed = {**changed, **{name: body[name] for name in ("membershipType", "isAssignableToRole") if name in body}}
    changed = {name: value for name, value in changed.items() if name in body or name == "description"}
    for wanted in (body, changed):
        target = make_resource(wanted, applied=body)
        await rig.put(target)
        found = body_of(await rig.find(target))
        assert {name: found.get(name) for name in wanted} == wanted
        rig.sent()
        await rig.put(target)
        assert rig.sent() == [("GET", 200)]
