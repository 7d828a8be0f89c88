"""What `load` reads of the form that records are written in: the same as the reader of all YAML, or nothing."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.git.state.yaml_text import dump, load, sort_keys
from gitsync.manifests.yaml_documents import Unreadable, parse_documents

LONG = f"/subscriptions/{'1' * 130}"
NAMES = st.text("abcXYZ019-_./ :',;*?!%&<>~", min_size=1, max_size=12) | st.sampled_from(
    ["y", "null", "1e3", "08", "<<", "no", ".", "...", ".inf", "._", "$a", LONG]
)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | NAMES | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=12
)
LINES = st.builds(
    "{}{}{}{}\n".format,
    st.sampled_from(
        ["", "  ", "    ", "- ", "  - ", "- - ", " ", "? ", ": ", "  ? ", "  : ", "? a\n: ", "--- ", "---"]
    ),
    st.sampled_from(
        [
            "",
            "a: ",
            "b:",
            "a:",
            ".: ",
            "... ",
            "$a: ",
            "_: ",
            "a:  ",
            "'c': ",
            "1: ",
            "~: ",
            "? ",
            ": ",
            "a:b: ",
            "- ",
            '"d": ',
            "<<: ",
        ]
    ),
    st.sampled_from(
        [
            "",
            "x",
            ".",
            "..",
            "...",
            ".5",
            ".inf",
            "./x",
            "_x",
            "$x",
            "x y",
            "x  y",
            "x, y",
            "x &y",
            "x *y",
            "x ?",
            "x %y !z",
            "x: *y",
            "x#y",
            "x{y}",
            "x]",
            "x'y",
            "'it''s'",
            "'",
            '"it\'s # b"',
            '"\\n"',
            '"',
            "{}",
            "{a: b}",
            "[]",
            "[x]",
            "[10.9.0.0/16, 'y, z', -1, null]",
            "[x y]",
            "[x: y]",
            "[[x]]",
            "[x,y]",
            "[-x]",
            "null",
            "1.50",
            "1e999",
            "-1",
            "-x",
            "a: b",
            "#",
            "x #y",
            "&x y",
            "|",
            "!x",
            "\t",
            "x\ty",
            "é",
        ]
    ),
    st.sampled_from(["", "", " ", " # y", "# y", "\t# y", "\r"]),
)


def read_fully(content: bytes):
    """The one mapping that the reader of all YAML makes of a text, as a document; None where there are problems."""
    try:
        documents = [*parse_documents("a.yaml", content, 0)]
    except Unreadable:
        return None
    return documents[0] if len(documents) == 1 and not documents[0].problems else None


def is_same(content: bytes) -> bool:
    """Whether `load` leaves a text to the full reader, or reads the same."""
    members = load(content)
    if members is None:
        return True
    full = read_fully(content)
    return full is not None and repr(members) == repr(full.value)


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4))
def test_what_is_written_is_read_as_by_the_full_reader(value):
    assert is_same(dump(sort_keys(value)))


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), st.data())
def test_what_a_person_edits_is_read_as_by_the_full_reader(value, data):
    """As people write: what it means stays, or the full reader reports what is wrong."""
    lines = dump(sort_keys(value)).decode().splitlines()
    indents = st.sampled_from(["", "", "", "  "])
    ends = st.sampled_from(["", "", " ", " # c", "\n", "\n# c", "\n    # c: d"])
    text = "".join(f"{data.draw(indents)}{line}{data.draw(ends)}\n" for line in lines)
    assert is_same(text.encode())


@given(st.lists(LINES, max_size=8).map("".join))
def test_any_text_is_read_as_by_the_full_reader_or_left_to_it(text):
    assert is_same(text.encode())


def test_what_is_known_of_other_texts_is_not_another_text():
    """Deep in a text, where the same lines are read once: all texts of few lines, so that most parts are known of
    another location.
    """
    lines = ["a:", "  a:", "b: 1", "  b: 1", "- b: 1", "  - 1"]
    texts = ["".join(f"    {line}\n" for line in some) for size in (1, 2, 3) for some in product(lines, repeat=size)]
    wrong = [text for text in (*texts, *reversed(texts)) if not is_same(f"a:\n  b:\n{text}".encode())]
    assert wrong == []


RECORD = {
    "apiVersion": "network.azure.com/v1api20240301",
    "metadata": {"annotations": {"a/b": "1"}, "name": "web", "namespace": "default"},
    "status": {"conditions": [{"lastTransitionTime": "2030-12-31T12:00:00Z", "reason": "Succeeded", "status": "True"}]},
    "gitsync": {
        "applied": {
            "identity": {"userAssignedIdentities": {LONG: {}}},
            "properties": {"empty": {}, "list": [], "nothing": None, "enabled": True, "size": -1.5, "text": "08"},
        },
        "armId": "/subscriptions/1/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/web",
        "baseline": {"password": {"$secret": "hmac-sha256:1:2"}},
        "dependsOn": ["ResourceGroup.resources.azure.com/default/g"],
        "path": "_groups.yaml",
        "unit": ".",
    },
}


def test_a_record_needs_no_other_reader():
    """The reader is worth nothing if it leaves records to the other one."""
    assert load(dump(RECORD)) == RECORD


def test_a_list_and_a_mapping_belong_to_one_text_alone():
    first, second = load(b"a: []\nb: {}\n"), load(b"a: []\nb: {}\n")
    assert first["a"] is not second["a"]
    assert first["b"] is not second["b"]


def body_of(text):
    return load(text)["gitsync"]["applied"]


def test_what_records_share_is_kept_once():
    """The bodies of an estate have the same parts again and again, and nothing changes a part in its place."""
    first, second = body_of(dump(RECORD)), body_of(dump({**RECORD, "apiVersion": "network.azure.com/v2"}))
    assert first == RECORD["gitsync"]["applied"]
    assert first["properties"] is second["properties"]


def test_what_python_calls_equal_stays_apart():
    """The number 1 is true for Python: a part with the one is not that with the other."""
    values = [1, True, "1", [1], [True], {"a": 1}, {"a": True}]
    bodies = [{"properties": {"value": value}} for value in (*values, *reversed(values))]
    assert [repr(body_of(dump({"gitsync": {"applied": body}}))) for body in bodies] == list(map(repr, bodies))


def test_a_part_ends_where_its_lines_are_less_indented():
    """A line more belongs to the part, and is another part."""
    short = {"properties": {"a": {"b": 1}}, "tags": {}}
    longer = {"properties": {"a": {"b": 1, "c": 2}}, "tags": {}}
    nested = {"properties": {"a": {"b": 1}, "c": 2}, "tags": {}}
    for body in (short, longer, nested, short):
        assert body_of(dump({"gitsync": {"applied": body}})) == body


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: b",  # cut off
        "a: b\na: c\n",  # a duplicate key
        "1: b\n0x1: c\n",  # the same key, spelt otherwise
        "~: b\n",
        "a:\nb: c\n",  # null without a word
        "a: b\n  c\n",  # a text of two lines
        "a: b\n  c: d\n",
        "a: # b\n",
        "a: &b c\n",
        "a: b\n---\nc: d\n",
        "- a\n",
        "a: é\n",
        f"{'a' * 129}: b\n",
        "? a\n",  # a key without a value
        ": a\n",
        "? a: b\n: c\n",  # a mapping as a key
        "? a\n: b: c\n",
        "? {}\n: a\n",
        "a:\n? b\n: c\n",
        f"{'  ' * 60}a: b\n",
        "a:\n  b:\n    c:\n      d: e\n      - f\n",  # an entry of no list
        "a:\n  b:\n    c:\n      d: e\n        f: g\n",  # a member of a text
    ],
)
def test_other_forms_are_left_to_the_full_reader(text):
    assert load(text.encode()) is None
