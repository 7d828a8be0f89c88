"""Shape and constraints against another evaluator: JSON Schema, as an API server holds it against a manifest.

The types are turned into a schema, values are made at random, and both must agree on whether a value is right. Nulls in
mappings are left out: an API server drops them before it looks.
"""

import jsonschema
import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.spec_visitor import visit_spec
from gitsync.desired.validation.constraints import check_constraints
from gitsync.desired.validation.spec_schema import check_shape
from gitsync.model.gvk import GVK
from gitsync.model.problem import Level
from tests.support.handmade_kinds import a_kind

TYPES = {
    "Inner": {
        "fields": {
            "name": {"type": "string", "required": True, "maxLength": 3},
            "size": {"type": {"base": "integer", "minimum": "1", "maximum": "5"}},
            "inner": {"type": {"ref": "Inner"}},
        }
    }
}
FIELDS = {
    "text": {"type": {"base": "string", "enum": ["a", "bb"]}},
    "code": {"type": "string", "pattern": "^[a-b]+$", "minLength": 1},
    "share": {"type": "number", "multipleOf": 0.5},
    "flag": {"type": "boolean", "required": True},
    "free": {"type": "any"},
    "tags": {"type": {"map": "string"}},
    "list": {"type": {"list": "integer"}, "minItems": 1, "maxItems": 2},
    "inner": {"type": {"ref": "Inner"}},
    "inners": {"type": {"map": {"list": {"ref": "Inner"}}}},
}
KIND = a_kind(FIELDS, types=TYPES)
LIMITS = {"minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"}


def schema_of(types, type_, rules=()):
    limits = {k: float(v) if k in LIMITS else v for k, v in dict(rules).items() if k in {*LIMITS, "pattern", "enum"}}
    if isinstance(type_, str):
        return {} if type_ == "any" else {"type": type_, **limits}
    if "base" in type_:
        return schema_of(types, type_["base"], {**dict(rules), **type_})
    if "ref" in type_:
        return {"$ref": f"#/$defs/{type_['ref']}"}
    if "list" in type_:
        return {"type": "array", "items": schema_of(types, type_["list"]), **limits}
    return {"type": "object", "additionalProperties": schema_of(types, type_["map"])}


def definition(types, facts):
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: schema_of(types, field["type"], field) for name, field in facts["fields"].items()},
        "required": [name for name, field in facts["fields"].items() if field.get("required")],
    }


def validator(kind):
    definitions = {name: definition(kind.types, facts) for name, facts in kind.types.items()}
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{kind.spec}", "$defs": definitions})


def is_right(kind, spec):
    return not any(
        finding
        for visit in visit_spec(kind, spec)
        for finding in (*check_shape(visit, Level.ERROR), *(check_constraints(visit) if visit.fits else ()))
    )


SCALARS = st.one_of(
    st.booleans(),
    st.integers(-1, 6),
    st.sampled_from([0.5, 1.0, 1.25, 2.5]),
    st.sampled_from(["", "a", "bb", "abab", "true", "3"]),
)
NAMES = st.sampled_from([*FIELDS, *TYPES["Inner"]["fields"], "other"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner | st.none(), max_size=3), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=8,
)
ORACLE = validator(KIND)


def plausible(type_, rules=()):
    """Values that are right more often than not, so that both answers are met."""
    good = {
        "string": st.sampled_from(["a", "bb", "ab"]),
        "integer": st.integers(1, 5),
        "number": st.sampled_from([0.5, 1, 2.0]),
        "boolean": st.booleans(),
        "any": VALUES,
    }
    if isinstance(type_, str):
        return st.one_of(good[type_], good[type_], good[type_], SCALARS)
    if "base" in type_:
        return plausible(type_["base"])
    if "list" in type_:
        return st.lists(plausible(type_["list"]), max_size=3)
    if "map" in type_:
        return st.dictionaries(NAMES, plausible(type_["map"]), max_size=2)
    return st.fixed_dictionaries(
        {"name": st.sampled_from(["a", "abc", "abcd"])}, optional={"size": plausible("integer")}
    )


SPECS = st.fixed_dictionaries(
    {"flag": st.booleans()},
    optional={name: plausible(field["type"]) for name, field in FIELDS.items() if name != "flag"},
)


@given(st.one_of(VALUES, SPECS))
def test_both_evaluators_agree(spec):
    assert is_right(KIND, spec) == ORACLE.is_valid(spec)


def test_values_are_made_of_which_much_is_right():
    """Else the two might agree on nothing but that everything is wrong."""
    assert find(SPECS, lambda spec: len(spec) > 4 and is_right(KIND, spec))


@pytest.mark.parametrize(
    ("api_version", "name"),
    [
        ("containerservice.azure.com/v20251002preview", "ManagedCluster"),
        ("storage.azure.com/v20250601", "StorageAccount"),
        ("network.azure.com/v20240301", "VirtualNetworksSubnet"),
    ],
)
def test_both_evaluators_take_an_empty_spec_for_what_it_is(api_version, name):
    group, version = api_version.split("/")
    kind = open_catalog().kind(GVK(group, version, name))
    missing = {
        f.path[-1] for v in visit_spec(kind, {}) for f in check_shape(v, Level.ERROR) if f.code == "MissingField"
    }
    assert missing == set(definition(kind.types, kind.types[kind.spec])["required"])
