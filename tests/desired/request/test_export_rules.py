"""From values and destinations to whole objects (docs/reference/reconciliation.md#export-values)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.request.exports import (
    Destination,
    ExportedValue,
    assign_exporters,
    collect_destinations,
    collect_fields,
    find_addresses,
    format_not_owned,
    merge_entries,
)
from gitsync.errors import ExportError
from gitsync.model.export import Address, ObjectKind, Owner
from gitsync.model.gvk import GVK, Key
from gitsync.model.problem import SourceLocation
from gitsync.model.resource import Resource
from gitsync.model.secret import Secret

OWNER = Key("storage.azure.com", "StorageAccount", "ns", "lake")


def a_resource(operator_spec, name="lake"):
    key = Key(OWNER.group, OWNER.kind, OWNER.namespace, name)
    gvk = GVK(OWNER.group, "v1api20230101", OWNER.kind)
    return Resource(key=key, gvk=gvk, spec={"operatorSpec": operator_spec}, source=SourceLocation("a.yaml", 1))


def a_secret(name="keys"):
    return Address(ObjectKind.SECRET, "ns", name)


def a_config_map(name="keys"):
    return Address(ObjectKind.CONFIG_MAP, "ns", name)


def to(key="k", address=None, **metadata):
    return Destination(address=address or a_secret(), key=key, **metadata)


def entry(key="k", value="v", address=None, **metadata):
    return ExportedValue(to=to(key, address, **metadata), value=Secret(value))


ADDRESSES = [
    (None, set(), "no operatorSpec"),
    ([], set(), "one of another shape, which validation tells of"),
    ({"secrets": {"a": {"name": "keys", "key": "k"}}}, {(a_secret(), "k")}, "a field"),
    ({"configMaps": {"a": {"name": "keys", "key": "k"}}}, {(a_config_map(), "k")}, "a field for a config map"),
    ({"secrets": {"a": None}}, set(), "a field without a destination"),
    ({"secretExpressions": [{"name": "keys", "key": "k", "value": "''"}]}, {(a_secret(), "k")}, "an expression"),
    ({"secretExpressions": [{"name": "keys", "value": "{}"}]}, {(a_secret(), None)}, "its keys are known at run time"),
    ({"configMapExpressions": [{"name": "keys", "value": "{}"}, 3]}, {(a_config_map(), None)}, "and what is none"),
]


@pytest.mark.parametrize("operator_spec, expected, why", ADDRESSES)
def test_where_a_resource_exports_to(operator_spec, expected, why):
    assert find_addresses(a_resource(operator_spec)) == expected, why


def test_destinations_are_those_of_fields_with_what_else_is_written():
    said = {"secrets": {"b": {"name": "keys", "key": "k", "annotations": {"x": "y"}}, "a": {"name": "n", "key": "m"}}}
    found = collect_destinations(a_resource(said), ObjectKind.SECRET)
    assert list(found.items()) == [("a", to("m", a_secret("n"))), ("b", to("k", annotations={"x": "y"}))]


def test_a_field_without_a_value_is_skipped_and_an_empty_one_is_reported():
    wanted = {"a": to("a"), "b": to("b"), "c": to("c", a_config_map("urls"))}
    assert collect_fields(wanted, {"a": Secret("v")}) == (entry("a", "v"),)
    with pytest.raises(ExportError) as failure:
        collect_fields(wanted, {"a": Secret("v"), "b": Secret(""), "c": Secret("")})
    assert failure.value.message == (
        '[could not find secret to save to \'Name: "keys", Key: "b"\', '
        'could not find value to save to \'Name: "urls", Key: "c"\']'
    )
    assert not failure.value.is_fatal


def test_entries_of_one_object_come_together_sorted():
    found = merge_entries(
        Owner(OWNER),
        [entry("b", labels={"l": "1"}), entry("a", annotations={"x": "y"}), entry("z", "w", a_secret("a"))],
    )
    assert [export.address for export in found] == [a_secret("a"), a_secret()]
    assert list(found[1].data) == ["a", "b"]
    assert (found[1].annotations, found[1].labels, found[1].owner) == ({"x": "y"}, {"l": "1"}, Owner(OWNER))


COLLISIONS = [
    ([entry("k"), entry("k")], "key collision, entry exists for key 'k' in StringData", "two values of one key"),
    (
        [entry("k", address=a_config_map()), entry("k", address=a_config_map())],
        "key collision, entry exists for key 'k' in Data",
        "a config map's are called otherwise",
    ),
    (
        [entry("a", labels={"l": "1"}), entry("b", labels={"l": "2"})],
        'label collision for secret "keys": key "l" is given two values',
        "two values of one label",
    ),
    (
        [entry("a", annotations={"l": "1"}), entry("b", annotations={"l": "2"})],
        'annotation collision for secret "keys": key "l" is given two values',
        "two values of one annotation",
    ),
    (
        [entry(str(number), value="v" * 300_000) for number in range(4)],
        "Secret ns/keys would have more than 1048576 characters",
        "values that are small alone",
    ),
    (
        [entry(annotations={"a": "v" * 1_100_000})],
        "Secret ns/keys would have more than 1048576 characters",
        "an annotation counts too",
    ),
]


@pytest.mark.parametrize("entries, says, why", COLLISIONS)
def test_what_cannot_be_one_object_is_refused(entries, says, why):
    with pytest.raises(ExportError, match=says) as failure:
        merge_entries(Owner(OWNER), entries)
    assert failure.value.is_fatal, why


def test_every_collision_is_reported_and_no_value():
    with pytest.raises(ExportError) as failure:
        merge_entries(Owner(OWNER), [entry(key, "hunter2") for key in "abab"])
    assert failure.value.message.count("key collision") == 2
    assert "hunter2" not in str(failure.value)


def test_the_same_metadata_twice_is_fine():
    assert merge_entries(Owner(OWNER), [entry("a", labels={"l": "1"}), entry("b", labels={"l": "1"})])[0].labels == {
        "l": "1"
    }


names = st.text("abc", min_size=1, max_size=2)


@given(st.dictionaries(st.tuples(names, names), names, max_size=8))
def test_nothing_is_lost_and_nothing_is_added(values):
    entries = [entry(key, value, a_secret(name)) for (name, key), value in values.items()]
    found = {
        (e.address.name, key): v.reveal() for e in merge_entries(Owner(OWNER), entries) for key, v in e.data.items()
    }
    assert found == values
    assert merge_entries(Owner(OWNER), entries) == merge_entries(Owner(OWNER), list(reversed(entries)))


def test_of_several_that_want_an_object_the_recorded_owner_has_it_and_else_the_first():
    said = {"secrets": {"a": {"name": "keys", "key": "k"}}}
    both = [a_resource(said, "pond"), a_resource(said, "lake")]
    lake, pond = both[1].key, both[0].key
    assert assign_exporters(both, {}) == {a_secret(): lake}
    assert assign_exporters(both, {a_secret(): pond}) == {a_secret(): pond}
    assert assign_exporters(both[1:], {a_secret(): pond}) == {a_secret(): lake}, "who was owner, and wants it no longer"


def test_the_sentence_on_what_is_not_ours_is_aso_s():
    assert format_not_owned(a_secret(), OWNER) == (
        "cannot overwrite Secret ns/keys which is not owned by StorageAccount.storage.azure.com ns/lake"
    )


@pytest.mark.parametrize("agent", ["gitsync", "shop", "team of two"])
def test_an_owner_is_written_down_with_its_agent_and_read_again(agent):
    text = str(Owner(OWNER, agent))
    assert Owner.parse(text) == Owner(OWNER, agent)
    assert (text == str(OWNER)) is (agent == "gitsync"), "an agent without a name of its own is not named"
