"""The order that Flux and Argo CD give units, as dependencies of their resources."""

import pytest

from gitsync.desired.request.dependencies import order_units
from gitsync.model.gvk import GVK, Key
from gitsync.model.problem import SourceLocation
from gitsync.model.reconcile_policy import Policy
from gitsync.model.resource import Prepared, Relations, Resource
from gitsync.model.unit import ObjectSettings, Unit
from gitsync.model.unit_kind import UnitKind

GROUP = "resources.azure.com"


def key(name):
    return Key(GROUP, "ResourceGroup", "default", name)


def make(name, unit, *needs, after=(), wave="", outer=()):
    kind = UnitKind.APPLICATION if wave or outer else UnitKind.FLUX
    resource = Resource(
        key=key(name),
        gvk=GVK(GROUP, "v1api20200601", "ResourceGroup"),
        spec={},
        source=SourceLocation("a.yaml", 1),
        annotations={"argocd.argoproj.io/sync-wave": wave},
        unit=Unit(name=unit, path=unit, kind=kind, settings=ObjectSettings(depends_on=after, waves=outer)),
    )
    return Prepared(
        resource=resource,
        policy=Policy.MANAGE,
        arm_id=None,
        api_version=None,
        template=None,
        relations=Relations(depends_on=tuple(map(key, needs))),
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
    ordered = {unit.key.name: [other.name for other in unit.relations.depends_on] for unit in order_units(prepared)}
    assert {name: ordered[name] for name in expected} == expected


WAVES = {
    "a lower wave goes first, and none in between is needed": (
        [make("a", "u", wave="7"), make("b", "u", wave="-3"), make("c", "u", wave="0")],
        {"a": ["c"], "b": [], "c": ["b"]},
    ),
    "all of a wave go before all of the next": (
        [make("a", "u", wave="1"), make("b", "u", wave="1"), make("c", "u", wave="2"), make("d", "u", wave="2")],
        {"a": [], "b": [], "c": ["a", "b"], "d": ["a", "b"]},
    ),
    "what is no number counts as 0, as in Argo CD": (
        [make("a", "u", wave="first"), make("b", "u", wave="-1")],
        {"a": ["b"], "b": []},
    ),
    "an owner in a later wave goes first, and the others keep their order": (
        [make("a", "u", "owner", wave="1"), make("b", "u", wave="1"), make("owner", "u", wave="2")],
        {"a": ["owner"], "b": [], "owner": ["b"]},
    ),
    "waves of two Applications have nothing to do with each other": (
        [make("a", "u", wave="1"), make("b", "v", wave="2")],
        {"a": [], "b": []},
    ),
    "Applications in waves of the one that declares them, with what they lead to": (
        [
            make("a", "inner", outer=(("root", 1), ("outer", 5))),
            make("b", "other", outer=(("root", 2),)),
            make("c", "first", outer=(("root", 0),)),
        ],
        {"a": ["c"], "b": ["a"], "c": []},
    ),
    "a plain folder has no waves": ([make("a", "u", wave=""), make("b", "u", wave="")], {"a": [], "b": []}),
}


@pytest.mark.parametrize(("prepared", "expected"), WAVES.values(), ids=WAVES)
def test_sync_waves_are_an_order_among_equals(prepared, expected):
    assert {
        unit.key.name: [other.name for other in unit.relations.depends_on] for unit in order_units(prepared)
    } == expected


def test_what_only_the_order_puts_first_is_distinguished_from_what_a_manifest_needs():
    prepared, _ = WAVES[next(iter(WAVES))]
    needed = {resource.key: resource.relations.depends_on for resource in prepared}
    ordered = order_units(prepared)
    assert any(result.relations.ordered_after for result in ordered)
    for row in ordered:
        assert {*row.relations.depends_on} - {*row.relations.ordered_after} == {*needed[row.key]}


def test_many_applications_in_two_waves_are_ordered_in_no_time():
    prepared = [make(f"r{n}", f"u{n}", outer=(("root", n % 2),)) for n in range(400)]
    ordered = order_units(prepared)
    assert sum(len(result.relations.depends_on) for result in ordered) == 200 * 200


def test_two_manifests_of_one_key_keep_their_own_dependencies():
    twice = [make("x", "a", "one"), make("x", "a", "two")]
    assert order_units([*twice, make("b1", "b", after=("a",))])[:2] == tuple(twice)
