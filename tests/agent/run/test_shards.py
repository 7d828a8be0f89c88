"""The cut of an estate: what stays together, how even it is, and that every worker makes the same one."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.agent.run.shards import cut_shards
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.shard import Account, Shard, ShardMember

SUBSCRIPTIONS = [f"{number:08}-0000-4000-8000-000000000000" for number in range(4)]


def key(name: str, kind: str = "Thing") -> Key:
    return Key("things.azure.com", kind, "default", name)


def group_id(name: str, subscription: int = 0) -> str:
    return f"/subscriptions/{SUBSCRIPTIONS[subscription]}/resourceGroups/{name}"


def make_group(name: str, things: int, subscription: int = 0, credential: str = "", **refers: str) -> list[ShardMember]:
    """A resource group with some resources; `refers` has for a name the one that it refers to."""
    group = key(name, "ResourceGroup")
    members = [ShardMember(key=group, arm_id=ArmId(group_id(name, subscription)), credential=credential)]
    for number in range(things):
        thing = f"{name}-{number}"
        other = refers.get(f"x{number}")
        members.append(
            ShardMember(
                key=key(thing),
                arm_id=ArmId(f"{group_id(name, subscription)}/providers/Things/things/{thing}"),
                owner=group,
                credential=credential,
                references=(key(other),) if other else (),
            )
        )
    return members


def find_shard(shards: Sequence[Shard], name: str, kind: str = "Thing") -> int:
    return next(shard.number for shard in shards if key(name, kind) in shard.keys)


def list_sizes(shards: Sequence[Shard]) -> list[int]:
    return [shard.size for shard in shards]


def test_a_group_stays_with_what_is_in_it() -> None:
    shards = cut_shards([*make_group("a", 3), *make_group("b", 3), *make_group("c", 3)], 3)
    assert list_sizes(shards) == [4, 4, 4]
    for name in "abc":
        assert {find_shard(shards, f"{name}-{number}") for number in range(3)} == {
            find_shard(shards, name, "ResourceGroup")
        }


def test_a_group_larger_than_a_fair_share_is_not_cut() -> None:
    shards = cut_shards([*make_group("a", 9), *make_group("b", 1)], 4)
    assert list_sizes(shards) == [10, 2, 0, 0]


def test_accounts_are_complete_as_long_as_they_fit() -> None:
    members = [member for number in range(4) for name in "ab" for member in make_group(f"{name}{number}", 4, number)]
    shards = cut_shards(members, 4)
    assert [shard.sizes for shard in shards] == [{Account(subscription): 10} for subscription in SUBSCRIPTIONS]


def test_credentials_of_a_subscription_are_accounts_of_their_own() -> None:
    shards = cut_shards([*make_group("a", 4), *make_group("b", 4, credential="default/other")], 2)
    assert [list(shard.sizes) for shard in shards] == [
        [Account(SUBSCRIPTIONS[0])],
        [Account(SUBSCRIPTIONS[0], "default/other")],
    ]


def test_a_large_account_is_cut_where_few_references_cross() -> None:
    """Two pairs of groups refer to each other, and one reference leads from pair to pair."""
    members = [
        *make_group("a", 4, x0="c-0", x1="c-1"),
        *make_group("b", 4, x0="d-0", x1="d-1", x2="a-0"),
        *make_group("c", 4),
        *make_group("d", 4),
    ]
    shards = cut_shards(members, 2)
    assert list_sizes(shards) == [10, 10]
    assert find_shard(shards, "a-0") == find_shard(shards, "c-0")
    assert find_shard(shards, "b-0") == find_shard(shards, "d-0")
    assert [shard.waits_for for shard in shards] == [(), ((key("b-2"), key("a-0")),)]


@pytest.mark.parametrize(
    ("member", "why"),
    [
        pytest.param(
            ShardMember(key=key("child"), owner=key("a-0")),
            "the owner is known, the id is not",
            id="owner without an id",
        ),
        pytest.param(
            ShardMember(key=key("other"), arm_id=ArmId(f"{group_id('A').upper()}/providers/Other/others/other")),
            "the same group in another spelling, though no manifest names it as owner",
            id="group by id",
        ),
        pytest.param(
            ShardMember(
                key=key("reader"),
                arm_id=ArmId(
                    f"{group_id('a')}/providers/Things/things/a-1/providers/Microsoft.Authorization/roles/reader"
                ),
            ),
            "it extends a resource of the group",
            id="extension",
        ),
        pytest.param(
            ShardMember(key=key("before"), arm_id=ArmId(f"{group_id('a')}/providers/Things/things/a-2")),
            "a record of the same resource under the key that it had before",
            id="the same id",
        ),
    ],
)
def test_what_must_be_in_one_process(member: ShardMember, why: str) -> None:
    shards = cut_shards([*make_group("a", 3), *make_group("b", 3), member], 2)
    assert find_shard(shards, member.key.name) == find_shard(shards, "a", "ResourceGroup"), why


def test_a_child_outside_of_groups_stays_with_its_parent() -> None:
    parent = f"/subscriptions/{SUBSCRIPTIONS[0]}/providers/Things/parents/parent"
    members = [
        ShardMember(key=key("parent"), arm_id=ArmId(parent)),
        ShardMember(key=key("child"), arm_id=ArmId(f"{parent}/children/child")),
        ShardMember(
            key=key("stranger"), arm_id=ArmId(f"/subscriptions/{SUBSCRIPTIONS[0]}/providers/Things/parents/parent2")
        ),
    ]
    shards = cut_shards(members, 3)
    assert find_shard(shards, "parent") == find_shard(shards, "child") != find_shard(shards, "stranger")


def test_an_empty_estate_has_empty_shards() -> None:
    assert list_sizes(cut_shards([], 3)) == [0, 0, 0]


@st.composite
def estates(draw: st.DrawFn) -> list[ShardMember]:
    members: list[ShardMember] = []
    for number in range(draw(st.integers(0, 12))):
        things, subscription = draw(st.integers(0, 6)), draw(st.integers(0, 3))
        members += make_group(f"g{number}", things, subscription, draw(st.sampled_from(["", "default/other"])))
    names = [member.key for member in members]
    linked = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=20)) if names else []
    references: dict[Key, set[Key]] = {}
    for one, other in linked:
        if one != other:
            references.setdefault(one, set()).add(other)
    return [
        ShardMember(
            key=member.key,
            arm_id=member.arm_id,
            owner=member.owner,
            credential=member.credential,
            references=tuple(sorted(references.get(member.key, set()))),
        )
        for member in members
    ]


@given(estates(), st.integers(1, 8), st.randoms(use_true_random=False))
def test_laws_of_a_cut(members: list[ShardMember], workers: int, shuffle: random.Random) -> None:
    shards = cut_shards(members, workers)
    assert [shard.number for shard in shards] == list(range(1, workers + 1))
    # Each resource is in one shard.
    times = Counter(key for shard in shards for key in shard.keys)
    assert times == {member.key: 1 for member in members}
    # Owners are never cut.
    by_key = {member.key: shard.number for shard in shards for member in members if member.key in shard.keys}
    assert all(by_key[member.key] == by_key[member.owner] for member in members if member.owner)
    # Every worker makes the same cut, in whatever order it reads.
    shuffled = members.copy()
    shuffle.shuffle(shuffled)
    assert cut_shards(shuffled, workers) == shards
    # A shard has all that it waits for.
    across = {(member.key, ref) for member in members for ref in member.references if by_key[member.key] != by_key[ref]}
    assert {pair for shard in shards for pair in shard.waits_for} == across
    # No worker has more than twice the fair share, unless one part alone is larger.
    share = -(-len(members) // workers)
    largest = max(Counter(member.owner or member.key for member in members).values(), default=0) + 1
    assert max(list_sizes(shards)) <= max(2 * share, share + largest)


def test_a_resource_is_in_the_shard_of_its_values() -> None:
    """A shared source keeps together those that read it, and the others are still spread."""
    members = [member for name in "abcdefgh" for member in make_group(name, 3)]
    source = key("a-0")
    reading = {key("b-0"), key("c-0")}
    read = [replace(member, values_of=(source,)) if member.key in reading else member for member in members]
    for workers in range(1, 5):
        shards = cut_shards(read, workers)
        assert len({find_shard(shards, f"{name}-0") for name in "abc"}) == 1
        assert max(list_sizes(shards)) <= max(12, -(-32 // workers))


SUBSCRIPTION_ID = f"/subscriptions/{SUBSCRIPTIONS[0]}"
LOCKS = "providers/Microsoft.Authorization/locks"


def make_lock(scope: str, *, moves: bool) -> ShardMember:
    held = ArmId(scope) if moves else ArmId()
    return ShardMember(key=key("keep", "AzureResource"), arm_id=ArmId(f"{scope}/{LOCKS}/keep"), holds_for=held)


OF_LOCKS = [
    (SUBSCRIPTION_ID, True, "that of a subscription"),
    (SUBSCRIPTION_ID, False, "one that stays holds nothing together"),
    (group_id("a"), True, "that of a group is in the shard of the group anyway"),
]


@pytest.mark.parametrize(("scope", "moves", "why"), OF_LOCKS)
def test_a_lock_that_changes_stays_with_what_it_holds_for(scope: str, moves: bool, why: str) -> None:
    in_first = [*make_group("a", 2), *make_group("b", 2)]
    members = [*in_first, *make_group("c", 2, 1), make_lock(scope, moves=moves)]
    shards = cut_shards(members, 3)
    together = {find_shard(shards, "keep", "AzureResource")}
    if moves:
        held = [member for member in in_first if ArmId(scope).key in member.arm_id.lineage]
        assert {find_shard(shards, member.key.name, member.key.kind) for member in held} == together, why
    assert sum(list_sizes(shards)) == len(members), why


@given(st.integers(1, 4), st.booleans())
def test_every_worker_of_any_number_gets_the_lock_with_what_it_holds_for(workers: int, moves: bool) -> None:
    members = [*make_group("a", 3), *make_group("b", 3), make_lock(SUBSCRIPTION_ID, moves=moves)]
    shards = cut_shards(members, workers)
    assert not moves or sorted(list_sizes(shards)) == [0] * (workers - 1) + [len(members)]
