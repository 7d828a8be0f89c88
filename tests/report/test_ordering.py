"""Rows are in the order of resource groups, and an owner is before what it owns."""

from __future__ import annotations

import random
import sys

import pytest

from gitsync.report.ordering import order_results
from tests.report.report_builders import key, result

SUBSCRIPTION = "/subscriptions/0000"
NET = "network.azure.com"
ONE, TWO = key("ResourceGroup", "one"), key("ResourceGroup", "two")
HUB = key("VirtualNetwork", "hub", NET)


def of(key, path, **more):
    return result(key, arm_id=f"{SUBSCRIPTION}{path}" if path is not None else None, **more)


ESTATE = [
    of(key("Alias", "first", "subscription.azure.com"), "/providers/a/first"),
    of(ONE, "/resourceGroups/ONE"),
    of(key("Zone", "a", NET), "/resourceGroups/one/providers/z/a", owner=ONE),
    of(TWO, "/resourceGroups/two"),
    of(HUB, "/resourceGroups/two/providers/v/hub", owner=TWO),
    of(key("Subnet", "a", NET), "/resourceGroups/two/providers/v/hub/s/a", owner=HUB),
    of(key("Subnet", "b", NET), None, owner=HUB),
    of(key("Account", "lake", "storage.azure.com"), "/resourceGroups/two/providers/a/lake", owner=TWO),
    of(
        key("Account", "sea", "storage.azure.com"),
        "/resourceGroups/xenon/providers/a/sea",
        owner=key("ResourceGroup", "x"),
    ),
    of(key("Account", "nowhere", "storage.azure.com"), None),
]


def test_an_estate_is_read_from_its_groups_down():
    shuffled = list(ESTATE)
    random.Random(7).shuffle(shuffled)
    assert [str(shown.key) for shown in order_results(shuffled)] == [str(resource.key) for resource in ESTATE]


def test_namespaces_are_together_among_siblings():
    rows = [of(key("A", "x", namespace=space), "/resourceGroups/one/a/x") for space in ("b", "a")]
    rows += [of(key("B", "x", namespace="a"), "/resourceGroups/one/b/x")]
    assert [(shown.key.namespace, shown.key.kind) for shown in order_results(rows)] == [
        ("a", "A"),
        ("a", "B"),
        ("b", "A"),
    ]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_owners_in_a_circle_are_listed_anyway(count):
    keys = [key("A", f"n{number}") for number in range(count)]
    rows = [of(key, None, owner=keys[number - 1]) for number, key in enumerate(keys)]
    assert {shown.key for shown in order_results(rows)} == set(keys)


def test_a_deep_chain_is_not_a_problem():
    """It has more owners than Python has calls in each other."""
    keys = [key("A", f"n{number}") for number in range(sys.getrecursionlimit() + 500)]
    rows = [of(key, None, owner=keys[number - 1] if number else None) for number, key in enumerate(keys)]
    assert [shown.key for shown in order_results(reversed(rows))] == keys
