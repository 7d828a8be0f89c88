"""How many requests checks may send, and which changes come first."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.agent.checks.allowance import ALL_OF, FOR_EACH_MORE, MOST, Budget, Rank, RequestClaim, rank_by_risk
from gitsync.model.check import CheckName
from gitsync.model.verdict import Action
from tests.agent.checks.asking import GROUP, change, storage

ADDRESS = f"{GROUP}/providers/Microsoft.Network/publicIPAddresses/ip"
NETWORK = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/"
OPEN = {"properties": {"publicNetworkAccess": "Enabled"}}

ORDER = [
    ({"zz": storage("zz", action=Action.DELETE), "zy": storage("zy", replaces=True)}, "they lose data"),
    ({"b1": storage("b1", action=Action.UPDATE, body=OPEN)}, "an update of what the internet can reach"),
    ({"b0": storage("b0", action=Action.UPDATE)}, "any other update"),
    ({"ip": change(ADDRESS), "zw": storage("zw", body=OPEN)}, "creates that the internet can reach"),
    ({"a1": storage("a1"), "n1": change(f"{NETWORK}n1")}, "the first of each type before the second"),
    ({"a2": storage("a2"), "n2": change(f"{NETWORK}n2")}, "the second of each type"),
]


def test_the_riskiest_change_comes_first():
    ranks = rank_by_risk(change for changes, _ in reversed(ORDER) for change in changes.values())
    names = [key.name for key in sorted(ranks, key=ranks.__getitem__)]
    for changes, why in ORDER:
        first, names = names[: len(changes)], names[len(changes) :]
        assert set(first) == set(changes), why


def many(count: int):
    return [storage(f"st{number:05}") for number in range(count)]


def claim(rank: int, size: int = 1, risk: int = 2, check: CheckName = CheckName.NAMES) -> RequestClaim:
    return RequestClaim(check, Rank(risk, rank), size)


@given(st.integers(1, 4000), st.integers(1, 4), st.integers(0, 400))
def test_requests_beyond_a_hundred_changes_are_a_tenth_and_never_more_than_the_most(count, for_each, sent):
    budget = Budget(lambda: sent)
    budget.make_allowance(many(count), 1)
    wanted = [claim(rank) for rank in range(count) for _ in range(for_each)]
    granted = budget.grant(wanted)
    assert sum(granted) <= max(0, MOST - sent)
    more = sum(request.is_more for request, is_granted in zip(wanted, granted, strict=True) if is_granted)
    assert more <= max(0, count - ALL_OF) * FOR_EACH_MORE
    assert granted == sorted(granted, reverse=True)  # no request before one of a riskier change


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (claim(900, risk=0), claim(200, size=50), "a delete comes before all creates"),
        (claim(900, size=50), claim(200), "what answers for many comes before what answers for one"),
        (claim(200), claim(900), "the order of changes decides the rest"),
    ],
)
def test_what_is_granted_if_little_is_left(first, second, why):
    budget = Budget()
    budget.make_allowance(many(ALL_OF + 10), 1)
    assert budget.grant([second, first]) == [False, True], why


def test_what_is_granted_later_counts_with_what_was_granted_before():
    budget = Budget()
    budget.make_allowance(many(ALL_OF + 20), 1)
    assert [budget.grant([claim(ALL_OF + 1)]) for _ in range(3)] == [[True], [True], [False]]


def test_the_checks_of_a_sync_have_what_those_of_a_plan_took():
    budget = Budget()
    budget.make_allowance(many(ALL_OF + 20), 1)
    names, policies = [claim(ALL_OF + 2)] * 4, [claim(ALL_OF + 1, check=CheckName.POLICY)] * 4
    assert sum(budget.grant([*policies, *names])) == 2
    assert budget.count_others([CheckName.NAMES]) == 2
    assert budget.count_others([CheckName.POLICY]) == 0


@given(st.permutations(range(6)))
def test_which_check_claims_first_decides_nothing(order):
    changes = many(10)

    async def claim_all():
        allowance = Budget(lambda: MOST - 36).make_allowance(changes, 6)
        found = {}

        async def check(number: int):
            found[number] = await allowance.claim(None, [[changes[number]], [changes[9 - number]]])
            allowance.leave()

        await asyncio.gather(*(check(number) for number in order))
        return found

    found = asyncio.run(claim_all())
    assert sum(may for granted in found.values() for may in granted) == 6
    assert all(found[number][0] for number in range(3))


async def test_a_check_that_ends_without_a_claim_holds_up_no_other():
    allowance = Budget().make_allowance(many(2), 3)
    claimed = asyncio.ensure_future(allowance.claim(None, [many(1)]))
    await asyncio.sleep(0)
    allowance.leave()
    assert not claimed.done()
    allowance.leave()
    assert await claimed == [True]


@pytest.mark.parametrize(("sent", "is_used_up"), [(MOST - 1, False), (MOST, True)])
def test_what_follows_from_an_answer_ends_at_the_most(sent, is_used_up):
    assert Budget(lambda: sent).make_allowance(many(1), 1).is_used_up is is_used_up
