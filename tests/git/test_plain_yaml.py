"""The quick reader of records: it reads what gitsync writes, and nothing otherwise than the reader of all YAML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.git.state.plain_yaml import read_plain
from gitsync.git.state.yaml_text import dump, sort_keys
from gitsync.manifests.yaml_documents import read_documents

LONG = f"/subscriptions/{'1' * 130}"
NAMES = st.text("abcXYZ019-_./ :',;*?!%&<>~", min_size=1, max_size=12) | st.sampled_from(
    ["y", "null", "1e3", "08", "<<", "no", LONG]
)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | NAMES | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=12
)
LINES = st.builds(
    "{}{}{}\n".format,
    st.sampled_from(["", "  ", "    ", "- ", "  - ", "- - ", " ", "? ", ": ", "  ? ", "  : ", "? a\n: "]),
    st.sampled_from(["", "a: ", "b:", "a:", "'c': ", "1: ", "~: ", "? ", ": ", "a:b: ", "- "]),
    st.sampled_from(
        [
            "",
            "x",
            "x y",
            "x, y",
            "x &y",
            "x *y",
            "x ?",
            "x %y !z",
            "x: *y",
            "'it''s'",
            "'",
            "{}",
            "[]",
            "null",
            "1.50",
            "-1",
            "a: b",
            "#",
            "x #y",
            "&x y",
            "|",
            "é",
        ]
    ),
)


def read_fully(content: bytes):
    """What the reader of all YAML makes of a text; None where it does not read it as one mapping without problems."""
    read = read_documents("a.yaml", content)
    if read.problems or len(read.documents) != 1 or read.documents[0].problems:
        return None
    return read.documents[0].value


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4))
def test_what_is_written_is_read_as_by_the_full_reader(value):
    written = dump(sort_keys(value))
    assert read_plain(written) in (None, read_fully(written))


@given(st.lists(LINES, max_size=8).map("".join))
def test_any_text_is_read_as_by_the_full_reader_or_left_to_it(text):
    plain = read_plain(text.encode())
    assert plain is None or repr(plain) == repr(read_fully(text.encode()))


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
        "dependsOn": ["ResourceGroup.resources.azure.com/default/g"],
    },
}


def test_a_record_needs_no_other_reader():
    """The reader is worth nothing if it leaves records to the other one."""
    assert read_plain(dump(RECORD)) == RECORD


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
        "a:\n  - b\n",  # as people indent lists
        "a: é\n",
        f"{'a' * 129}: b\n",
        "? a\n",  # a key without a value
        ": a\n",
        "? a: b\n: c\n",  # a mapping as a key
        "? a\n: b: c\n",
        "? {}\n: a\n",
        "a:\n? b\n: c\n",
        f"{'  ' * 60}a: b\n",
    ],
)
def test_other_forms_are_left_to_the_full_reader(text):
    assert read_plain(text.encode()) is None
