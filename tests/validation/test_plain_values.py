"""What is passed over as plain: nothing that any check has something to say of."""

import pytest
from handmade import a_catalog, a_kind, a_resource
from hypothesis import example, given
from hypothesis import strategies as st

from gitsync.catalog.spec_visitor import visit_spec
from gitsync.model.secret import Placeholder, Secret
from gitsync.validation.plain_values import select_other_visits, select_visits
from gitsync.validation.references import select_named_references
from gitsync.validation.validate import validate_resource

FIELDS = {
    "owner": {"type": "knownOwner", "required": True},
    "azureName": {"type": "string", "maxLength": 3},
    "text": {"type": {"base": "string", "enum": ["a", "bb"]}},
    "textFromConfig": {"type": "configMapReference"},
    "code": {"type": "string", "pattern": "^[a-b]+$", "minLength": 1},
    "share": {"type": "number", "multipleOf": 0.5},
    "size": {"type": {"base": "integer", "minimum": "1", "maximum": "5"}, "required": True},
    "flag": {"type": "boolean"},
    "count": {"type": "integer"},
    "free": {"type": "any"},
    "chosen": {"type": "any", "enum": ["a", "b"]},
    "tags": {"type": {"map": "string"}},
    "list": {"type": {"list": "integer"}, "minItems": 1, "maxItems": 2},
    "reference": {"type": "reference"},
    "role": {"type": "wellKnownReference"},
    "scope": {"type": "arbitraryOwner"},
    "union": {"type": {"ref": "Union"}},
    "inners": {"type": {"map": {"list": {"ref": "Spec"}}}},
    "operatorSpec": {"type": {"ref": "Operator"}},
}
TYPES = {
    "Union": {"fields": {"a": {"type": "string"}, "b": {"type": "string"}, "kind": {"type": "string"}}, "oneOf": True},
    "Operator": {"fields": {"secrets": {"type": {"map": "secretDestination"}}}},
}
KIND = a_kind(FIELDS, types=TYPES, owner=("things.azure.com", "Parent"), azure_name={"maxLength": 3})
CATALOG = a_catalog({"things.azure.com": ["Thing", "Parent"]})

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 6),
    st.sampled_from([0.5, 1.0, 1.25, float("nan"), 1e300, 2**63, -(2**63) - 1, 10**400]),
    st.sampled_from(["", "a", "bb", "c", "abab", "true", "things.azure.com", "Parent", "/providers/A.B/c/d"]),
    st.sampled_from([Secret("a"), Placeholder("b")]),
)
NAMES = st.sampled_from(
    [*FIELDS, "name", "key", "group", "kind", "armId", "wellKnownName", "a", "b", "secrets", "other"]
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=6,
)
RIGHT = {"owner": {"name": "p"}, "size": 3}
"""A spec that is right, to which one value is added: most of a spec is right."""


@given(st.one_of(st.dictionaries(NAMES, VALUES, max_size=6), st.builds(lambda k, v: {**RIGHT, k: v}, NAMES, VALUES)))
@example({**RIGHT, "owner": {"name": ""}})
@example({**RIGHT, "owner": {"name": "/providers/A.B/c/d"}})
@example({**RIGHT, "owner": {"name": "p", "group": "things.azure.com"}})
@example({**RIGHT, "size": None})
@example({**RIGHT, "count": 2**63})
@example({**RIGHT, "share": 10**400})
@example({**RIGHT, "chosen": "c"})
@example({**RIGHT, "union": {"a": "x", "b": "y"}})
@example({**RIGHT, "reference": {"name": "p"}})
@example({**RIGHT, "text": "a", "textFromConfig": {"name": "settings", "key": "text"}})
def test_passing_over_plain_values_loses_no_problem_and_no_reference(spec):
    resource = a_resource(spec)
    every, some = visit_spec(KIND, spec), select_visits(KIND, spec)
    assert [visit for visit in some if visit not in every] == []
    assert validate_resource(resource, KIND, catalog=CATALOG, visits=some) == validate_resource(
        resource, KIND, catalog=CATALOG, visits=every
    )
    assert list(select_named_references(some, "default")) == list(select_named_references(every, "default"))


@pytest.mark.parametrize(
    ("others", "expected", "why"),
    [
        ({}, [], "as most"),
        ({"metadata": {"finalizers": ["a"], "generation": 3}}, [], "the notes of a cluster"),
        ({"metadata": {"uid": 5}}, ["metadata.uid"], "no text"),
        ({"tags": {}}, [""], "a field that no manifest has"),
        ({"metadata": {"ownerReferences": [{"kind": "x"}]}}, ["metadata.ownerReferences.0"], "fields are missing"),
    ],
)
def test_the_fields_beside_a_spec(others, expected, why):
    assert [".".join(map(str, visit.path)) for visit in select_other_visits(others)] == expected, why


@pytest.mark.parametrize(
    ("value", "expected", "why"),
    [
        ({"text": "bb", "tags": {"a": "b"}, "list": [1], "flag": True}, [], "everything is as it should be"),
        ({"text": "c"}, ["spec.text"], "no choice of the enum"),
        ({"tags": {"a": 1}}, ["spec.tags.a"], "no text"),
        ({"owner": {"name": "/providers/A.B/c/d"}}, ["spec.owner"], "may be an ARM id"),
        ({"other": 1}, ["spec"], "its members are not those of its type"),
    ],
)
def test_a_check_is_shown_what_it_may_have_something_to_say_of(value, expected, why):
    shown = select_visits(KIND, {**RIGHT, **value})
    assert [".".join(map(str, visit.path)) for visit in shown] == expected, why
