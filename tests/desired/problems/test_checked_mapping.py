"""Fields of an untrusted mapping: each is checked when it is used, and the error reports where it is."""

import pytest

from gitsync.desired.problems.checked_mapping import CheckedMapping, read_json_line
from gitsync.desired.problems.field_path import format_field
from gitsync.errors import SourceError
from gitsync.model.reconcile_policy import Policy


def make(values):
    return CheckedMapping(values, lambda where, problem: ValueError(f"{format_field(where)} {problem}"))


FAULTS = [
    (lambda fields: fields.text("absent"), "absent is missing", "no default"),
    (lambda fields: fields.text("list"), "list must be a string", "another type"),
    (lambda fields: fields.count("text"), "text must be a whole number", "a text"),
    (lambda fields: fields.count("yes"), "yes must be a whole number", "a truth value is a number in Python"),
    (lambda fields: fields.switch("text"), "text must be true or false", "a text"),
    (lambda fields: fields.texts("list"), "list must be a list of strings", "a number in a list"),
    (lambda fields: fields.moment("text"), "text is 'x', not a time such as", "no time"),
    (lambda fields: fields.moment("day"), "day is '2030-12-31T12:00:00', not a time", "a time without a zone"),
    (lambda fields: fields.key("text"), "text must be Kind.group/namespace/name", "no key"),
    (lambda fields: fields.keys("list"), "list[0] must be Kind.group/namespace/name", "a number for a key"),
    (lambda fields: fields.one_of("text", Policy), "text is 'x', not one of", "none of the choices"),
    (lambda fields: fields.within("text"), "text must be a mapping", "a text"),
    (lambda fields: fields.within("absent"), "absent is missing", "no mapping"),
    (lambda fields: fields.within("inner").text("n"), "inner.n must be a string", "a field further in"),
    (lambda fields: list(fields.each("list")), "list[0] must be a mapping", "an entry that is none"),
    (lambda fields: fields.within("inner").check_names({"n", "m"}), "inner.m is missing", "one that is needed"),
    (lambda fields: fields.within("inner").check_names(()), "inner.n is not a known member", "one too many"),
]  # fmt: skip
VALUES = {"text": "x", "day": "2030-12-31T12:00:00", "yes": True, "list": [1], "inner": {"n": 1}}


@pytest.mark.parametrize(("read", "said", "why"), FAULTS, ids=[f"{row[1]} ({row[-1]})" for row in FAULTS])
def test_a_fault_names_the_field(read, said, why):
    with pytest.raises(ValueError) as refused:
        read(make(VALUES))
    assert str(refused.value).startswith(said), why


def test_a_line_of_json_has_its_number_and_a_null_is_as_nothing():
    check = read_json_line(b'{"a": null, "b": {"c": 1}}\n', 7)
    assert check.text("a", "default") == "default"
    with pytest.raises(SourceError, match=r"^Line 7: b\.c must be a string\."):
        check.within("b").text("c")
