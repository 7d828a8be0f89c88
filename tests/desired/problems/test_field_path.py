"""The grammar of fields: what is printed can be read, and means the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.problems.field_path import EVERY, Entry, FieldStep, FieldSyntaxError, format_field, parse_field

NAMES = st.sampled_from(
    ["spec", "sku", "a.b", "a/b", "/a", "*", "", "0", "x y", 'a"b', "a[0]", "a=b", "é", "a\\", "\n"]
)
TEXTS = NAMES | st.text(max_size=12)
STEPS = (
    TEXTS
    | st.integers(0, 999_999_999)
    | st.builds(Entry, st.sampled_from(["name", "id", "subnet.id", "properties.priority"]), TEXTS)
    | st.just(EVERY)
)


@given(st.lists(STEPS, min_size=1, max_size=8).map(tuple))
def test_what_is_printed_is_read_as_the_same_field(path: tuple[FieldStep, ...]) -> None:
    assert parse_field(format_field(path)) == path
    assert [type(step) for step in parse_field(format_field(path))] == [type(step) for step in path]


@pytest.mark.parametrize(
    ("text", "path", "why"),
    [
        ("spec.sku.capacity", ("spec", "sku", "capacity"), "names"),
        ('spec.tags["a.b"]', ("spec", "tags", "a.b"), "a name with a dot has quotes"),
        ("spec.tags.a/b-c_d$", ("spec", "tags", "a/b-c_d$"), "other signs need none"),
        ("spec.tags.8", ("spec", "tags", "8"), "a name of digits is a name"),
        ("spec.rules[0].port", ("spec", "rules", 0, "port"), "an index"),
        ("spec.rules[name=web].port", ("spec", "rules", Entry("name", "web"), "port"), "an entry by its name"),
        ("spec.x[subnet.id=/a/b=c d]", ("spec", "x", Entry("subnet.id", "/a/b=c d")), "a field inside of the entry"),
        ('spec.x[name="a]b"]', ("spec", "x", Entry("name", "a]b")), "a value with brackets has quotes"),
        ("spec.rules.*.port", ("spec", "rules", EVERY, "port"), "each entry"),
        ('["/subscriptions/1"].a', ("/subscriptions/1", "a"), "a name like a pointer has quotes where it is the first"),
    ],
)
def test_fields_are_written_one_way(text: str, path: tuple[FieldStep, ...], why: str) -> None:
    assert parse_field(text) == path, why
    assert format_field(path) == text, why


@pytest.mark.parametrize(
    ("text", "path", "why"),
    [
        ('spec["sku"].name', ("spec", "sku", "name"), "quotes that are not needed"),
        ("spec.tags.hidden-*", ("spec", "tags", "hidden-*"), "a pattern of names"),
        ("spec.tags.*-a*", ("spec", "tags", "*-a*"), "which may begin with a star"),
        ("spec.rules[*]", ("spec", "rules", EVERY), "each entry in brackets"),
        ('spec.x[name="web"]', ("spec", "x", Entry("name", "web")), "a value in quotes"),
    ],
)
def test_other_spellings_are_read(text: str, path: tuple[FieldStep, ...], why: str) -> None:
    assert parse_field(text) == path, why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "nothing"),
        (".spec", "a dot before the first"),
        ("spec.", "a dot at the end"),
        ("spec..sku", "two dots"),
        ("spec.[0]", "a dot before a bracket"),
        ("spec[0]name", "no dot behind a bracket"),
        ("spec[", "an open bracket"),
        ("spec[name]", "a name without quotes"),
        ("spec[-1]", "an index below 0"),
        ("spec[name=]", "no value"),
        ('spec["a]', "an open quote"),
        ('spec["\\x"]', "an escape that JSON does not have"),
        ("spec a", "a blank"),
        ("/sku/name", "a JSON pointer"),
        ("spec[9999999999]", "an index that no list has"),
    ],
)
def test_what_is_not_a_field_is_refused(text: str, why: str) -> None:
    with pytest.raises(FieldSyntaxError):
        parse_field(text)
    assert why


def test_a_long_path_is_truncated() -> None:
    assert format_field(("spec", "x" * 2000)) == f"spec.{'x' * 995}…"
