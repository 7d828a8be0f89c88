"""The lists of a run without Azure: who asks, who waits, and when a list is not asked for."""

import asyncio
from collections import Counter

import pytest

from gitsync.agent.reconcile.lists import Lists, is_settled
from gitsync.desired.catalog.collections import Collection
from gitsync.errors import ArmError
from gitsync.extensions.registry import Registry
from gitsync.model.arm_id import ArmId
from gitsync.model.facts import ListLevel
from gitsync.model.gvk import Key
from gitsync.model.live import Live
from gitsync.planning.list_cover import ListedResource, choose_cover
from tests.support.handmade_kinds import a_kind

KIND = a_kind(arm_type="Microsoft.X/parents/things")
PARENTS = "/subscriptions/s/resourceGroups/g/providers/Microsoft.X/parents"


def thing(parent, name):
    path = f"{PARENTS}/{parent}/things"
    return ListedResource(
        key=Key("x", "Thing", parent, name),
        arm_id=ArmId(f"{path}/{name}"),
        api_version="2024-01-01",
        principal=None,
        collections=(Collection(path, ListLevel.PARENT),),
    )


class Azure:
    """Lists of two things below each parent; `answer` makes the entries of a path, or raises."""

    def __init__(self, parents, answer):
        self.things = [thing(parent, name) for parent in parents for name in "ab"]
        self.answer = answer
        self.requested = Counter()
        self.at_once = self.most_at_once = 0
        self.lists = Lists(choose_cover(self.things), self.read)

    async def read(self, _key, difference):
        self.requested[difference.path] += 1
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        await asyncio.sleep(0.001)
        self.at_once -= 1
        yield self.answer(difference.path)

    async def look_up_every(self, evaluate=lambda entry: entry["id"]):
        async def find(resource):
            async def decide(entry):
                await asyncio.sleep(0)
                return evaluate(entry)

            return await self.lists.find_approval(resource.key, KIND, resource.arm_id, decide)

        return await asyncio.gather(*map(find, self.things))


def show_both(path):
    return [{"id": f"{path.upper()}/{name}"} for name in "ab"] + [{"id": f"{path}/stranger"}]


def refuse(status, code):
    def answer(_path):
        raise ArmError("no", status=status, code=code)

    return answer


async def test_a_list_is_asked_for_once_and_serves_all_that_wait():
    azure = Azure("12345678", show_both)
    assert [found.casefold() for found in await azure.look_up_every()] == [
        resource.arm_id.casefold() for resource in azure.things
    ]
    assert set(azure.requested.values()) == {1}
    assert azure.most_at_once > 1, "once the first has shown that lists are of use"
    assert await azure.look_up_every() == [None] * 16, "an entry is handed out once, and a list is not asked for again"
    assert azure.requested.total() == 8


@pytest.mark.parametrize(
    ("answer", "evaluate", "requested", "why"),
    [
        (refuse(405, "MethodNotAllowed"), None, 1, "a refusal counts for all lists of the type"),
        (refuse(404, "ResourceNotFound"), None, 8, "a parent that does not exist says nothing of the others"),
        (refuse(503, "Busy"), None, 8, "nor does an outage"),
        (lambda _path: [], None, 2, "three resources in a row without an entry"),
        (show_both, lambda _entry: None, 2, "three entries in a row that approve nothing"),
    ],
)
async def test_lists_that_are_of_no_use_are_given_up(answer, evaluate, requested, why):
    azure = Azure("12345678", answer)
    assert await azure.look_up_every(evaluate or (lambda entry: entry["id"])) == [None] * 16
    assert azure.requested.total() == requested, why


async def test_a_failed_judgement_leaves_the_turn_to_the_next():
    azure = Azure("12", show_both)

    def fail_once(entry):
        if entry["id"].endswith("1/THINGS/a"):
            raise ValueError("a bug in a rule")
        return entry["id"]

    async def evaluate(entry):
        return fail_once(entry)

    tasks = [azure.lists.find_approval(resource.key, KIND, resource.arm_id, evaluate) for resource in azure.things]
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(found[0], ValueError)
    assert None not in found[1:]


async def test_the_doubt_about_one_type_is_told_once_with_those_it_concerns():
    azure = Azure("1", show_both)
    await azure.look_up_every()
    one, other = (resource.key for resource in azure.things)
    azure.lists.note_approved(one, KIND)
    assert azure.lists.take_doubtful() == frozenset()
    azure.lists.distrust(other, KIND)
    azure.lists.distrust(one, KIND)
    assert azure.lists.take_doubtful() == {one}
    assert azure.lists.take_doubtful() == frozenset(), "they are read once"
    (warning,) = azure.lists.warn_distrusted()
    assert str(other) in warning.message


ENTRY = {"id": f"{PARENTS}/1/things/a", "type": "Microsoft.X/parents/things", "properties": {"size": 1}}


@pytest.mark.parametrize(
    ("changed", "settled", "why"),
    [
        ({}, True, "it is the resource"),
        ({"id": ENTRY["id"].upper()}, True, "in another case"),
        ({"id": f"{PARENTS}/2/things/a"}, False, "it is another one"),
        ({"id": None}, False, "it has no id"),
        ({"type": 5}, False, "a number for a type"),
        ({"properties": []}, False, "a list for properties"),
        ({"properties": {"provisioningState": "Updating"}}, False, "it is changing"),
    ],
)
def test_an_entry_shows_a_settled_resource(changed, settled, why):
    live = Live(body=ENTRY | changed)
    assert is_settled(live, ArmId(ENTRY["id"]), ("x", "Thing"), Registry(())) is settled, why
