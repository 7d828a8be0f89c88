"""Rings of manifests that wait for each other."""

from graphlib import CycleError, TopologicalSorter

from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.validation.relations import Member, check_cycles, collect_cycles
from gitsync.model.gvk import Key
from gitsync.model.resource import OwnerRef
from tests.support.handmade_kinds import a_kind, a_resource

KEYS = [Key("things.azure.com", "Thing", "default", name) for name in "abcdefg"]
A, B, C, D, E, *_ = KEYS


def test_the_shortest_cycle_is_shown_from_its_first_key():
    edges = {B: [C], C: [A], A: [B, D], D: [E], E: []}
    assert collect_cycles(edges) == {A: (A, B, C), B: (A, B, C), C: (A, B, C)}


def test_each_key_gets_the_shortest_cycle_through_itself():
    assert collect_cycles({A: [B], B: [A, C], C: [D], D: [B]}) == {A: (A, B), B: (A, B), C: (B, C, D), D: (B, C, D)}


def test_a_key_that_waits_for_itself_is_a_cycle():
    assert collect_cycles({A: [A]}) == {A: (A,)}


def test_what_is_between_two_cycles_is_in_none():
    assert set(collect_cycles({A: [B], B: [A, C], C: [D], D: [D]})) == {A, B, D}


GRAPHS = st.dictionaries(st.sampled_from(KEYS), st.lists(st.sampled_from(KEYS), unique=True))


@given(GRAPHS)
def test_a_cycle_is_found_exactly_where_there_is_one(edges):
    found = collect_cycles(edges)
    try:
        list(TopologicalSorter(edges).static_order())
    except CycleError:
        assert found
    else:
        assert not found
    for key, ring in found.items():
        assert key in ring
        assert ring[0] == min(ring)
        assert len(set(ring)) == len(ring)
        assert all(after in edges[before] for before, after in zip(ring, (*ring[1:], ring[0]), strict=True))


@given(GRAPHS)
def test_taking_away_a_key_of_no_cycle_changes_no_cycle(edges):
    found = collect_cycles(edges)
    rest = {key: targets for key, targets in edges.items() if key in found}
    assert collect_cycles(rest) == found


def member(key, *targets, owner=None):
    resource = a_resource(name=key.name)
    return Member(resource=resource, kind=a_kind(), owner=OwnerRef(key=owner) if owner else None, depends_on=targets)


def test_what_is_reported_and_where():
    found = list(check_cycles([member(A, B, owner=B), member(B, C), member(C, A), member(D, A)]))
    assert [(m.key.name, ".".join(f.path)) for m, f in found] == [("a", "spec.owner"), ("b", "spec"), ("c", "spec")]
    assert {f.message for _, f in found} == {"Dependency cycle: Thing/a → Thing/b → Thing/c → Thing/a."}


def test_a_manifest_that_names_itself_as_its_owner():
    """Nothing waits for itself, so it is in no ring."""
    ((found, finding),) = check_cycles([member(A, owner=A), member(B, A, owner=A)])
    assert (found.key, finding.code, finding.path) == (A, "Cycle", ("spec", "owner"))
    assert finding.message == "Thing/a names itself as its owner."
    assert finding.hint == "Name the resource that it is below or extends."


def test_a_long_ring_is_not_reported_in_full():
    keys = [Key("things.azure.com", "Thing", "default", f"n{number:03}") for number in range(100)]
    members = [member(key, keys[number - 1]) for number, key in enumerate(keys)]
    (_, finding), *_ = check_cycles(members)
    assert "(100 in all)" in finding.message
    assert len(finding.message) < 300
