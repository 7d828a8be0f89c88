"""Constraints on single values, as an API server reads them."""

import re

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.validation.constraints import LONGEST_MATCHED, check_constraints, list_violations, matches
from gitsync.model.gvk import GVK
from tests.support.handmade_kinds import a_kind, seen


@pytest.mark.parametrize(
    ("value", "rules", "broken", "why"),
    [
        ("A", {"enum": ["A", "B"]}, [], "one of them"),
        ("a", {"enum": ["A", "B"]}, ["enum"], "case counts at admission"),
        (1, {"enum": ["1"]}, ["enum"], "and so does the type"),
        (3, {"minimum": 3, "maximum": "3"}, [], "bounds are inclusive, and may be texts"),
        (2, {"minimum": 3}, ["minimum"], "below"),
        (4.5, {"maximum": 4}, ["maximum"], "above"),
        (2**63, {"maximum": "9223372036854775807"}, ["maximum"], "large numbers are compared exactly"),
        (True, {"maximum": 0}, [], "a boolean is no number"),
        (0.3, {"multipleOf": 0.1}, [], "three tenths are a multiple of a tenth"),
        (7, {"multipleOf": "2"}, ["multipleOf"], "odd"),
        ("é", {"maxLength": "1"}, [], "lengths count characters, not bytes"),
        ("", {"minLength": "1"}, ["minLength"], "empty"),
        ("abc", {"maxLength": 2, "pattern": "^[0-9]+$"}, ["maxLength", "pattern"], "every rule is told"),
        (["a"], {"minItems": "2"}, ["minItems"], "too few"),
        (["a", "b"], {"maxItems": 1}, ["maxItems"], "too many"),
        (5, {"pattern": "^x$", "maxLength": 0, "maxItems": 0}, [], "rules of other types do not apply"),
    ],
)
def test_violations(value, rules, broken, why):
    assert sorted(rule for rule, _ in list_violations(value, rules)) == sorted(broken), why


NUMBERS = a_kind(
    {"count": {"type": "integer"}, "share": {"type": "number"}, "small": {"type": {"base": "integer", "maximum": "5"}}}
)


@pytest.mark.parametrize(
    ("field", "value", "broken", "why"),
    [
        ("count", 2**63 - 1, [], "the largest"),
        ("count", -(2**63), [], "the smallest"),
        ("count", 2**63, ["range"], "one more"),
        ("count", -(2**63) - 1, ["range"], "one less"),
        ("count", 1e18, [], "a number without a fraction is an integer"),
        ("count", 1e23, ["range"], "unless it is too large"),
        ("small", 2**64, ["range", "maximum"], "a rule of the kind is told as well"),
        ("share", 2**64, [], "a number is a float of 64 bits"),
        ("share", 10**400, ["range"], "which has an end too"),
        ("share", float("inf"), ["range"], "JSON has no infinity"),
        ("share", float("nan"), ["range"], "nor what is no number"),
    ],
)
def test_numbers_fit_into_64_bits(field, value, broken, why):
    visit = seen(NUMBERS, {field: value}, ("spec", field))
    assert visit.fits
    assert [rule for rule, _ in list_violations(value, visit.rules)] == broken, why
    assert [constraint.code for constraint in check_constraints(visit)] == ["OutOfBounds"] * len(broken)


@pytest.mark.parametrize(
    ("text", "pattern", "expected", "why"),
    [
        ("abc", "b", True, "a pattern matches anywhere"),
        ("a\n", "^a$", False, "RE2's $ does not match before a last line break"),
        ("é", r"^\w$", False, "RE2's classes are ASCII"),
        ("٣", r"^\d$", False, "and so are its digits"),
        ("$", r"^[$]$", True, "a dollar in a class is a dollar"),
        ("a$", r"a\$$", True, "and so is an escaped one"),
        ("]$", r"^[]$]+$", True, "a bracket that comes first belongs to its class"),
        ("x" * (LONGEST_MATCHED + 1), "^y$", True, "a very long text is left to Azure"),
    ],
)
def test_patterns_are_read_as_re2(text, pattern, expected, why):
    assert matches(text, pattern) is expected, why


def every_pattern():
    catalog = open_catalog()
    found = set()
    for group in catalog.groups():
        for name in catalog.kinds(group):
            for version in catalog.versions(group, name):
                kind = catalog.kind(GVK(group, version, name))
                found.add(kind.azure_name.get("pattern"))
                for facts in kind.types.values():
                    for field in facts["fields"].values():
                        type_ = field["type"]
                        found |= {field.get("pattern"), type_.get("pattern") if isinstance(type_, dict) else None}
    return sorted(found - {None})


def test_every_pattern_of_the_catalog_is_understood_and_ends_soon():
    patterns = every_pattern()
    assert len(patterns) > 30
    for pattern in patterns:
        for letter in ("a", "a-", "a.", "1", "\0"):
            text = letter * (LONGEST_MATCHED // len(letter) - 1)
            assert matches(text + "!", pattern) in {True, False}


def test_a_pattern_that_cannot_be_read_is_a_fault_that_shows():
    with pytest.raises(re.error):
        matches("x", "(")


def test_what_is_reported():
    kind = a_kind({"tier": {"type": {"base": "string", "enum": ["Hot", "Cool"]}, "required": True}})
    (finding,) = check_constraints(seen(kind, {"tier": "hot"}, ("spec", "tier")))
    assert finding.code == "UnknownValue"
    assert finding.message == 'spec.tier must be Hot or Cool, but is "hot".'
    assert finding.hint == "Did you mean Hot? Case counts."
