"""How a body is split into what a state keeps and its secrets. The merge below is azapi's (MergeObject, 2.12.0)."""

from typing import Any

import pytest

from gitsync.workflows.exports.terraform.hcl import SensitiveExpression
from gitsync.workflows.exports.terraform.sensitive_parts import split_body

S = SensitiveExpression("var.secret")
T = SensitiveExpression("var.other")

ROWS = [
    ({"a": 1}, {"a": 1}, {}, "no secret"),
    ({"a": S}, {}, {"a": S}, "nothing but a secret"),
    ({"p": {"a": 1, "b": S}}, {"p": {"a": 1}}, {"p": {"b": S}}, "beside others"),
    ({"p": {"b": S}, "q": {}}, {"q": {}}, {"p": {"b": S}}, "an object that is empty stays, one of secrets does not"),
    (
        {"l": [{"name": "x", "v": S}, {"name": "y"}]},
        {"l": [{"name": "x"}, {"name": "y"}]},
        {"l": [{"name": "x", "v": S}]},
        "named entries are merged by name",
    ),
    ({"l": [{"v": 1}, {"v": S}]}, {"l": [{"v": 1}, {}]}, {"l": [{}, {"v": S}]}, "others by position"),
    ({"l": [S, T]}, {}, {"l": [S, T]}, "a list of secrets is one"),
    ({"l": ["a", S]}, {}, {"l": ["a", S]}, "a list that has one cannot be merged"),
    (
        {"l": [{"name": "x", "v": S}, {"name": "x", "v": T}]},
        {},
        {"l": [{"name": "x", "v": S}, {"name": "x", "v": T}]},
        "names that are not unique",
    ),
    ({"l": [{"name": "x"}, {"v": S}]}, {}, {"l": [{"name": "x"}, {"v": S}]}, "only some have a name"),
    ({"l": [{"name": S}, {"name": "y"}]}, {}, {"l": [{"name": S}, {"name": "y"}]}, "a name is a secret"),
]


@pytest.mark.parametrize(("body", "plain", "sensitive", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_split(body, plain, sensitive, why):
    parts = split_body(body)
    assert parts == (plain, sensitive), why
    assert merge(parts.plain, parts.sensitive) == body, "azapi sends it as git has it"


def merge(old: Any, new: Any) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        return {key: merge(old[key], new[key]) if key in old and key in new else (new | old)[key] for key in old | new}
    if not (isinstance(old, list) and isinstance(new, list)):
        return new
    if not old or not new:
        return new
    if name_of(old[0]) and name_of(new[0]):
        by_name = {name_of(entry): entry for entry in new}
        return [merge(entry, by_name[name_of(entry)]) if name_of(entry) in by_name else entry for entry in old]
    return new if len(old) != len(new) else [merge(*pair) for pair in zip(old, new, strict=True)]


def name_of(entry: Any) -> str:
    name = entry.get("name") if isinstance(entry, dict) else None
    return name if isinstance(name, str) else ""
