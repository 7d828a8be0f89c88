"""The order that Flux gives units, as dependencies of their resources."""

import pytest

from gitsync.model.gvk import GVK, Key
from gitsync.model.policy import Policy
from gitsync.model.problem import SourceLocation
from gitsync.model.resource import Prepared, Resource
from gitsync.model.unit import Unit, UnitKind
from gitsync.request.unit_order import order_units

GROUP = "resources.azure.com"


def key(name):
    return Key(GROUP, "ResourceGroup", "default", name)


def make(name, unit, *needs, after=()):
    resource = Resource(
        key=key(name),
        gvk=GVK(GROUP, "v1api20200601", "ResourceGroup"),
        spec={},
        source=SourceLocation("a.yaml", 1),
        unit=Unit(name=unit, path=unit, kind=UnitKind.FLUX, depends_on=after),
    )
    return Prepared(
        resource=resource,
        policy=Policy.MANAGE,
        arm_id=None,
        api_version=None,
        owner=None,
        template=None,
        depends_on=tuple(map(key, needs)),
    )


CASES = {
    "the first of a unit come after the last of the unit before": (
        [make("a1", "a"), make("a2", "a", "a1"), make("b1", "b", after=("a",)), make("b2", "b", "b1", after=("a",))],
        {"b1": ["a2"], "b2": ["b1"]},
    ),
    "an own dependency stays": (
        [make("a1", "a"), make("x", "c"), make("b1", "b", "x", after=("a",))],
        {"b1": ["a1", "x"]},
    ),
    "a unit without resources is before none": ([make("b1", "b", after=("missing",))], {"b1": []}),
    "two units that wait for each other do not stop": (
        [make("a1", "a", after=("b",)), make("b1", "b", after=("a",))],
        {"a1": ["b1"], "b1": []},
    ),
    "an owner in the later unit goes first": (
        [make("a1", "a", "b1"), make("b1", "b", after=("a",))],
        {"a1": ["b1"], "b1": []},
    ),
}


@pytest.mark.parametrize(("prepared", "expected"), CASES.values(), ids=CASES)
def test_units_in_their_order(prepared, expected):
    ordered = {one.key.name: [other.name for other in one.depends_on] for one in order_units(prepared)}
    assert {name: ordered[name] for name in expected} == expected


def test_two_manifests_of_one_key_keep_their_own_dependencies():
    twice = [make("x", "a", "one"), make("x", "a", "two")]
    assert order_units([*twice, make("b1", "b", after=("a",))])[:2] == tuple(twice)
