"""Edits of texts: each to the byte, and laws over random documents."""

import copy
import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.manifests.yaml_documents import read_documents
from gitsync.desired.manifests.yaml_edits import EditRefused, edit_documents
from gitsync.desired.manifests.yaml_texts import TextLayout
from gitsync.desired.problems.field_path import find_member
from gitsync.model.edit import REMOVED, Edit

SURROGATE = re.compile("[\ud800-\udfff]")


def edit(text, *edits, document=0):
    """Edit one document; each edit is a path such as `a.b.0`, or its steps, and a value."""
    wanted = [Edit(path=steps(path), value=value) for path, value in edits]
    return edit_documents(text.encode(), {document: wanted}).decode()


def steps(path):
    if isinstance(path, tuple):
        return path
    return tuple(int(step) if step.isdigit() else step for step in path.split("."))


SCALARS = [
    ("a: 1\nb: 2\n", [("a", 3)], "a: 3\nb: 2\n", "a number"),
    ("a: x # why\n", [("a", "w")], "a: w # why\n", "the comment stays"),
    ("a:    x\n", [("a", "w")], "a:    w\n", "spaces that align stay"),
    ("a: 'x'\n", [("a", "y")], "a: 'y'\n", "single quotes stay"),
    ("a: 'x'\n", [("a", "it's")], "a: 'it''s'\n", "a quote in quotes is doubled"),
    ("a: 'x'\n", [("a", "x\ty")], 'a: "x\\ty"\n', "single quotes cannot escape"),
    ('a: "x"\n', [("a", 'y"\\')], 'a: "y\\"\\\\"\n', "double quotes stay"),
    ('a: "1"\n', [("a", 2)], "a: 2\n", "a number has no quotes"),
    ("a: 1\n", [("a", "2")], 'a: "2"\n', "a text that looks like a number is quoted"),
    ("a: x\nb: 'y'\n", [("a", "2")], "a: '2'\nb: 'y'\n", "with the quotes of the document"),
    ("a: x\n", [("a", "on")], 'a: "on"\n', "a text that looks like a boolean"),
    ("a: x\n", [("a", "~")], 'a: "~"\n', "a text that looks like null"),
    ("a: x\n", [("a", "2026-12-01")], 'a: "2026-12-01"\n', "a text that looks like a date"),
    ("a: 2026-11-01\n", [("a", "2026-12-01")], "a: 2026-12-01\n", "a date that had no quotes keeps none"),
    ("a: x\n", [("a", "1e3")], 'a: "1e3"\n', "a text that looks like a float"),
    ("a: x\n", [("a", "0o17")], 'a: "0o17"\n', "a text that is a number to some readers"),
    ("a: x\n", [("a", "12:30")], 'a: "12:30"\n', "a text that counts by sixty to some readers"),
    ("a: x\n", [("a", "")], 'a: ""\n', "an empty text"),
    ("a: x\n", [("a", None)], "a: null\n", "null"),
    ("a: yes\n", [("a", False)], "a: false\n", "a boolean"),
    ("a: 1.5\n", [("a", 2.25)], "a: 2.25\n", "a float"),
    ("a:\nb: 1\n", [("a", "x")], "a: x\nb: 1\n", "nothing becomes a value"),
    ("a: # why\nb: 1\n", [("a", "x")], "a: x # why\nb: 1\n", "before its comment"),
    ("a: &n 1\nb: 2\n", [("a", 3)], "a: &n 3\nb: 2\n", "an anchor that nothing uses stays"),
    ("a: plain\n  text # why\nb: 1\n", [("a", "x")], "a: x # why\nb: 1\n", "a plain text of two lines"),
    ('a: "quoted\n  text"\nb: 1\n', [("a", "x")], 'a: "x"\nb: 1\n', "a quoted text of two lines"),
    ("a:\n  x\nb: 1\n", [("a", "w")], "a:\n  w\nb: 1\n", "a text on a line of its own"),
    ("- x\n- y\n", [("1", "z")], "- x\n- z\n", "an item"),
    ("-\n- y\n", [("0", "z")], "- z\n- y\n", "an item that was nothing"),
    ("a: ü # é\r\nb: 😀 x\r\n", [("b", "ö😀")], "a: ü # é\r\nb: ö😀\r\n", "characters are not bytes; CRLF stays"),
    ("\ufeffa: 1\n", [("a", 2)], "\ufeffa: 2\n", "the byte order mark stays"),
    ("a: 1", [("a", 2)], "a: 2", "no break at the end"),
    ("%YAML 1.1\n---\na: 1\n...\n", [("a", 2)], "%YAML 1.1\n---\na: 2\n...\n", "a directive and an end"),
    ("'a b': 1\n", [("a b", 2)], "'a b': 2\n", "a quoted key"),
    ("8: 1\ny: 2\n", [(("8",), 3), ("true", 4)], "8: 3\ny: 4\n", "keys are texts as Kubernetes reads them"),
    ("? a\n: 1\n", [("a", 2)], "? a\n: 2\n", "a key behind a question mark"),
    ("a: !!str 5\n", [("a", "6")], 'a: !!str "6"\n', "a tag of a text stays"),
]

BLOCK_TEXTS = [
    ("a: |\n  x\n  y\nb: 1\n", [("a", "x\nz\n")], "a: |\n  x\n  z\nb: 1\n", "a block keeps its style"),
    (
        "a: | # why\n    x\n\n# c\nb: 1\n",
        [("a", "z\n")],
        "a: | # why\n    z\n\n# c\nb: 1\n",
        "indentation, blank lines",
    ),
    ("a: |\n  x\nb: 1\n", [("a", "z")], "a: |-\n  z\nb: 1\n", "without a break at its end it is stripped"),
    ("a: |-\n  x\nb: 1\n", [("a", "z\n")], "a: |\n  z\nb: 1\n", "with one it is clipped"),
    ("a: |-\n  x\nb: 1\n", [("a", "z\n\n\n")], "a: |+\n  z\n\n\nb: 1\n", "with several they are kept"),
    ("a: |+\n  x\n\nb: 1\n", [("a", "z\n")], "a: |+\n  z\nb: 1\n", "kept breaks are part of the text"),
    ("a: >\n  x\n  y\n", [("a", "p q\nr\n")], "a: >\n  p q\n\n  r\n", "a folded text has a blank line for a break"),
    ("a: |\n  x\nb: 1\n", [("a", " x\n")], 'a: " x\\n"\nb: 1\n', "a block cannot begin with a space"),
    ("a: |2\n   x\nb: 1\n", [("a", "  y\n")], "a: |2\n    y\nb: 1\n", "unless its indentation is given"),
    ("a: |\n  x\nb: 1\n", [("a", 5)], "a: 5\nb: 1\n", "a number is no block"),
    ("a: | # why\n  x\nb: 1\n", [("a", "\x07")], 'a: "\\u0007" # why\nb: 1\n', "a control character is escaped"),
    ("- |\n  x\n- y\n", [("0", "z\n")], "- |\n  z\n- y\n", "a block in a list"),
    ("a: x\nb: 1\n", [("a", "p\nq\n")], "a: |\n  p\n  q\nb: 1\n", "several lines become a block"),
    ("a: 'x' # why\n", [("a", "p\nq")], 'a: "p\\nq" # why\n', "but not where there are quotes"),
    ("a: |\r\n  x\r\nb: 1\r\n", [("a", "y\nz\n")], "a: |\r\n  y\r\n  z\r\nb: 1\r\n", "a block with CRLF"),
]

KEYS = [
    ("a: 1\n", [("b", 2)], "a: 1\nb: 2\n", "a key is added as the last"),
    ("a: 1", [("b", 2)], "a: 1\nb: 2", "at an end without a break"),
    ("a: 1\r\n", [("b", 2)], "a: 1\r\nb: 2\r\n", "with the breaks of the file"),
    ("s:\n    a: 1 # one\n    # more\n# t\nt: 2\n", [("s.b", 2)], "s:\n    a: 1 # one\n    # more\n    b: 2\n# t\nt: 2\n",
     "indented as its siblings, behind their comments, before that of the next key"),
    ("s:\n  a: 1\n\nt: 2\n", [("s.b", 2)], "s:\n  a: 1\n  b: 2\n\nt: 2\n", "before a blank line"),
    ("s: {}\nt: 2\n", [("s.b", "x")], "s:\n  b: x\nt: 2\n", "into an empty mapping"),
    ("s: {} # none\nt: 2\n", [("s.b", "x")], "s: # none\n  b: x\nt: 2\n", "the comment stays with its key"),
    ("s:\nt: 2\n", [("s.b", "x")], "s:\n  b: x\nt: 2\n", "into nothing"),
    ("s: null\nt: 2\n", [("s.b", "x")], "s:\n  b: x\nt: 2\n", "into null"),
    ("s:\n  a: 1\n", [("s.p.q.r", "x")], "s:\n  a: 1\n  p:\n    q:\n      r: x\n", "with its parents"),
    ("s:\n    a: 1\n", [("t.q", "x")], "s:\n    a: 1\nt:\n    q: x\n", "with the steps of the document"),
    ("s:\n  a: 1\n", [("s.b", ["x", {"w": 1, "z": []}])], "s:\n  a: 1\n  b:\n    - x\n    - w: 1\n      z: []\n", "a list"),
    ("l:\n- 1\ns:\n  a: 1\n", [("s.b", ["x"])], "l:\n- 1\ns:\n  a: 1\n  b:\n  - x\n", "with the items of the document"),
    ("- name: x\n- name: y\n", [("0.v", 1)], "- name: x\n  v: 1\n- name: y\n", "into an item"),
    ("a: 1\n", [("b: c", 2)], 'a: 1\n"b: c": 2\n', "a key that needs quotes"),

    ("a: 1\n", [(("b/c.d-e",), "x")], "a: 1\nb/c.d-e: x\n", "a key as labels have them"),
    ("a: |\n  x\n", [("b", 2)], "a: |\n  x\nb: 2\n", "behind a block"),
    ("a: |+\n  x\n\nb: 1\n", [("c", 2)], "a: |+\n  x\n\nb: 1\nc: 2\n", "a block that keeps its breaks"),
    ("a: 1\nb: 2\nc: 3\n", [("b", REMOVED)], "a: 1\nc: 3\n", "a key is removed"),
    ("a: 1\nb: 2 # two\nc: 3\n", [("b", REMOVED)], "a: 1\nc: 3\n", "with the comment on its line"),
    ("a: 1\n# one\n\n# two\n# and\nb: 2\n# three\nc: 3\n", [("b", REMOVED)], "a: 1\n# one\n\n# three\nc: 3\n",
     "with the comment lines directly above, not others"),
    ("# license\na: 1\nb: 2\n", [("a", REMOVED)], "# license\nb: 2\n", "but what is at the top stays"),
    ("a: 1\ns:\n  p:\n    q: 1\n    # old\n    # r: 2\n# t\nt: 3\n", [("s.p", REMOVED)], "a: 1\ns: {}\n# t\nt: 3\n",
     "the last key leaves an empty mapping"),
    ("s:\n  p:\n    q: 1\n    # r: 2\n  t: 3\n", [("s.p", REMOVED)], "s:\n  t: 3\n", "comments inside of it go too"),
    ("a: 1\nb: 2", [("b", REMOVED)], "a: 1\n", "at an end without a break"),
    ("a: 1\r\nb: 2\r\nc: 3\r\n", [("b", REMOVED)], "a: 1\r\nc: 3\r\n", "with CRLF"),
    ("- name: x\n  value: y\n- name: z\n", [("0.name", REMOVED)], "- value: y\n- name: z\n", "the first key of an item"),
    ("- name: x # n\n  # v\n  value: y\n", [("0.name", REMOVED)], "-\n  # v\n  value: y\n", "with a comment below"),
    ("- name: x\n", [("0.name", REMOVED)], "- {}\n", "the only key of an item"),
    ("a: 1\n", [("b", REMOVED)], "a: 1\n", "what is not there is not removed"),
    ("a: 1\n", [("a", REMOVED)], "{}\n", "the only key of a document"),
    ("a: &x 1\nb: *x\nc: 2\n", [("b", REMOVED)], "a: &x 1\nc: 2\n", "an alias may go"),
    ("a: 1\nb: 2\n", [("b", REMOVED), ("a", 3), ("c", 4)], "a: 3\nc: 4\n", "several edits"),
]  # fmt: skip

FORMS = [
    ("a: x # why\nb: 1\n", [("a", {"p": 1})], "a: # why\n  p: 1\nb: 1\n", "a text becomes a mapping"),
    ("a: x\nb: 1\n", [("a", ["p"])], "a:\n  - p\nb: 1\n", "a text becomes a list"),
    ("a: |\n  x\nb: 1\n", [("a", {"p": 1})], "a:\n  p: 1\nb: 1\n", "a block becomes a mapping"),
    ("a:\n  # c\n  p: 1 # d\nb: 1\n", [("a", "x")], "a: x\nb: 1\n", "a mapping becomes a text"),
    ("a: # c\n  p: 1\nb: 1\n", [("a", [])], "a: [] # c\nb: 1\n", "a mapping becomes an empty list"),
    ("a:\n  p: 1\nb: 1\n", [("a", [1, 2])], "a:\n  - 1\n  - 2\nb: 1\n", "a mapping becomes a list"),
    ("- x\n- y\n", [("0", {"p": 1, "q": 2})], "- p: 1\n  q: 2\n- y\n", "an item becomes a mapping"),
    ("- x # c\n- y\n", [("0", {"p": 1})], "- # c\n  p: 1\n- y\n", "behind its comment"),
    ("- p: 1\n  q: 2\n- y\n", [("0", "x")], "- x\n- y\n", "an item becomes a text"),
    ("- - 1\n  - 2\n- y\n", [("0", "x")], "- x\n- y\n", "an item that was a list"),
    (
        "a:\n  p: 1 # p\n  q: 2 # q\n",
        [("a", {"p": 3, "r": 4})],
        "a:\n  p: 3 # p\n  r: 4\n",
        "of a mapping, only what differs",
    ),
    ("a: [1, 2]\nb: 1\n", [("a", {"p": [1]})], "a: {p: [1]}\nb: 1\n", "braces stay braces"),
]

LISTS = [
    (
        "l:\n- 1\n- 2\nm: 1\n",
        [("l.2", 3)],
        "l:\n- 1\n- 2\n- 3\nm: 1\n",
        "an item is added, items as far left as the key",
    ),
    ("l:\n- 1\n# m\nm: 1\n", [("l.1", 3)], "l:\n- 1\n- 3\n# m\nm: 1\n", "the comment there is that of the next key"),
    ("l:\n  - 1\n  # one\nm: 1\n", [("l.1", 3)], "l:\n  - 1\n  # one\n  - 3\nm: 1\n", "indented items"),
    (
        "l:\n- name: x\n  v: 1\n",
        [("l.1", {"name": "w", "v": [1]})],
        "l:\n- name: x\n  v: 1\n- name: w\n  v:\n  - 1\n",
        "a mapping",
    ),
    ("l: []\n", [("l.0", "x")], "l:\n  - x\n", "into an empty list"),
    ("l:\nm: 1\n", [("l.0", "x")], "l:\n  - x\nm: 1\n", "into nothing"),
    ("l:\n- 1\n- 2 # two\n- 3\n", [("l.1", REMOVED)], "l:\n- 1\n- 3\n", "an item is removed"),
    ("l:\n- 1\n- 2\n- 3\n", [("l.0", REMOVED), ("l.1", REMOVED)], "l:\n- 3\n", "paths are those before any edit"),
    ("l:\n- a: 1\n  b: 2\n# two\n- a: 2\n", [("l.1", REMOVED)], "l:\n- a: 1\n  b: 2\n", "with its comment"),
    ("l:\n- 1\n", [("l.0", REMOVED)], "l: []\n", "the last one leaves an empty list"),
    ("l:\n- - 1\n  - 2\n- - 3\n", [("l.0.0", REMOVED)], "l:\n- - 2\n- - 3\n", "a list in a list"),
    ("l:\n- - 1\n- - 3\n", [("l.0.1", 2)], "l:\n- - 1\n  - 2\n- - 3\n", "an item in a list in a list"),
    ("l:\n- a # A\n- b # B\n- c # C\n", [("l", ["a", "c"])], "l:\n- a # A\n- c # C\n", "of a list, only what differs"),
    (
        "l:\n- a # A\n- b # B\n",
        [("l", ["x", "a", "w", "b"])],
        "l:\n- x\n- a # A\n- w\n- b # B\n",
        "items before others",
    ),
    ("l:\n- a # A\n- b\n", [("l", ["a", "x", "w"])], "l:\n- a # A\n- x\n- w\n", "items that differ"),
]

FLOWS = [
    ("s: {a: 1, b: x} # c\n", [("s.b", "w")], "s: {a: 1, b: w} # c\n", "a value in braces"),
    ("s: {a: 1}\n", [("s.a", "x, y")], 's: {a: "x, y"}\n', "a comma needs quotes there"),
    ("s: {a: 1}\n", [("s.b", {"c": [1]})], "s: {a: 1, b: {c: [1]}}\n", "a key is added"),
    ("s: {a: 1,}\n", [("s.b", 2)], "s: {a: 1, b: 2,}\n", "behind a comma"),
    ("s: {a: {}}\n", [("s.a.b", 2)], "s: {a: {b: 2}}\n", "into empty braces"),
    ("s: {a: , b}\n", [("s.a", 1), ("s.b", 2)], "s: {a: 1, b: 2}\n", "keys without a value"),
    ("s: {a: 1, b: 2, c: 3}\n", [("s.a", REMOVED)], "s: {b: 2, c: 3}\n", "the first key goes"),
    ("s: {a: 1, b: 2, c: 3}\n", [("s.b", REMOVED)], "s: {a: 1, c: 3}\n", "one in the middle"),
    ("s: {a: 1, b: 2, c: 3}\n", [("s.c", REMOVED)], "s: {a: 1, b: 2}\n", "the last"),
    ("s: {a: 1}\n", [("s.a", REMOVED)], "s: {}\n", "the only one"),
    ("l: [1, 2, 3]\n", [("l.3", 4)], "l: [1, 2, 3, 4]\n", "an item is added"),
    ("l: [1, 2, 3]\n", [("l.1", REMOVED)], "l: [1, 3]\n", "an item goes"),
    ("l: [1, 3]\n", [("l", [0, 1, 2, 3])], "l: [0, 1, 2, 3]\n", "items before others"),
    ("s: {\n  a: 1, # one\n  b: 2 # two\n}\n", [("s.c", 3)], "s: {\n  a: 1, # one\n  b: 2, # two\n  c: 3\n}\n", "several lines"),
    ("s: {\n  a: 1, # one\n  b: 2 # two\n}\n", [("s.b", REMOVED)], "s: {\n  a: 1 # one\n}\n", "the last of several lines"),
    ("s: {\n  a: 1, # one\n  b: 2 # two\n}\n", [("s.a", REMOVED)], "s: {\n  b: 2 # two\n}\n", "the first of several lines"),
    ('{"a": {"b": 1}}\n', [("a.c", "x")], '{"a": {"b": 1, "c": "x"}}\n', "JSON in a line"),
    ('{\n  "a": {},\n  "l": [1]\n}\n', [("a.c", {"d": [1]})],
     '{\n  "a": {\n    "c": {\n      "d": [\n        1\n      ]\n    }\n  },\n  "l": [1]\n}\n', "JSON in lines"),
    ('{\n  "a": 1,\n  "b": 2\n}', [("b", REMOVED), ("c", True)], '{\n  "a": 1,\n  "c": true\n}', "JSON has no comma at its end"),
    ('{"a": "\\ud83d\\ude00", "b": 1}', [("b", "😀\u2028")], '{"a": "\\ud83d\\ude00", "b": "😀\\u2028"}', "escapes of JSON"),
    ('\ufeff{\r\n\t"a": 1\r\n}\r\n', [("b", 2)], '\ufeff{\r\n\t"a": 1,\r\n\t"b": 2\r\n}\r\n', "a mark, CRLF, and tabs"),
    ("{}\n", [("a", 1)], '{"a": 1}\n', "an empty document in JSON"),
]  # fmt: skip

ATTACKS = [
    ("a: x\n", [("a", value)], f"a: {text}\n", why)
    for value, text, why in [
        ("y #z", '"y #z"', "a comment"),
        ("y#z", "y#z", "no comment without a space"),
        ("y: z", '"y: z"', "a mapping"),
        ("y:", '"y:"', "a key"),
        ("- y", '"- y"', "an item"),
        ("? y", '"? y"', "a complex key"),
        ("&y", '"&y"', "an anchor"),
        ("*y", '"*y"', "an alias"),
        ("!!python/object y", '"!!python/object y"', "a tag"),
        ("%y", '"%y"', "a directive"),
        ("@y", '"@y"', "a reserved sign"),
        ("`y`", '"`y`"', "another"),
        ("{y}", '"{y}"', "braces"),
        ("[y", '"[y"', "a bracket"),
        ("'y'", "\"'y'\"", "quotes"),
        ("| y", '"| y"', "a block"),
        (" y ", '" y "', "spaces at its ends"),
        ("y\r\nz", '"y\\r\\nz"', "a break of Windows"),
        ("y\u2028z", '"y\\u2028z"', "a break of Unicode"),
        ("y\u202ez", '"y\\u202ez"', "a sign that turns the direction"),
        ("\x00\x1b[2J", '"\\u0000\\u001b[2J"', "control characters"),
        ("\U000e0041", '"\\U000e0041"', "an invisible tag"),
        ("<<", '"<<"', "a merge key"),
        ("=", '"="', "a default key"),
        ("$HOME", "$HOME", "a dollar alone"),
        ("x" * 100_000, "x" * 100_000, "a huge text"),
    ]
]


@pytest.mark.parametrize(
    ("text", "edits", "expected", "why"), [*SCALARS, *BLOCK_TEXTS, *KEYS, *FORMS, *LISTS, *FLOWS, *ATTACKS]
)
def test_an_edit_changes_its_field_and_nothing_else(text, edits, expected, why):
    assert edit(text, *edits) == expected, why
    if not any(value is REMOVED and isinstance(steps(path)[-1], int) for path, value in edits):
        assert edit(expected, *edits) == expected, "the same edit again"


REFUSED = [
    ("a: &x 1\nb: *x\n", [("a", 2)], 1, "Aliases of its anchor, &x, are used elsewhere.", "an anchor in use"),
    ("a: &x 1\nb: *x\n", [("b", 2)], 2, "The value is an alias of &x, which is defined elsewhere.", "an alias"),
    ("a: 1\nb: &x {c: 1}\nd: *x\n", [("b.c", 2)], 2, "Aliases of its anchor, &x, are used elsewhere.", "below an anchor"),
    ("a: 1\nb: &x {c: 1}\nd: *x\n", [("d.e", 2)], 3, "The value is an alias of &x, which is defined elsewhere.", "below an alias"),
    ("a: &x 1\nb: *x\n", [("a", REMOVED)], 1, "Aliases of its anchor, &x, are used elsewhere.", "an anchor that goes"),
    ("a:\n  b: &x 1\nc: *x\n", [("a", "z")], 1, "Aliases of its anchor, &x, are used elsewhere.", "an anchor inside of it"),
    ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 1\n", [("c.b", 2)], 3, "The value comes from a merge key (<<).", "a merged key"),
    ("a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\n", [("c.b", REMOVED)], 4, "The text cannot be edited without changing other values.", "one that would come back"),
    ("a: ${X}\n", [("a", "y")], 1, "The value comes from a variable or a template.", "a variable"),
    ("a: '{{ x }}'\n", [("a", "y")], 1, "The value comes from a variable or a template.", "a template"),
    ("b: 1\na: x\n", [("a", "${X}")], 2, "The new value contains ${ or {{, which Flux, Helm or gitsync may read as a variable.", "a new variable"),
    ("a: x\n", [("b", [{"{{ x }}": 1}])], 1, "The new value contains ${ or {{, which Flux, Helm or gitsync may read as a variable.", "in a new key"),
    ("a: x\n", [("a.b", 1)], 1, "a is not a mapping.", "a text has no keys"),
    ("a: {}\n", [("a.0", 1)], 1, "a is not a list.", "a mapping has no items"),
    ("a:\n- 1\n", [("a.3", 1)], 1, "a has only 1 items.", "a list has no gaps"),
    ("a: 1\n", [("b" * 2000, 1)], 1, "The text cannot be edited without changing other values.", "a key that YAML cannot have"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "edits", "line", "reason", "why"), REFUSED)
def test_an_edit_that_would_change_more_is_refused(text, edits, line, reason, why):
    with pytest.raises(EditRefused) as caught:
        edit(text, *edits)
    assert (caught.value.line, caught.value.reason) == (line, reason), why


TWO = "# licence\n---\n# first\na: 1\n# end\n--- # second\na: 2\n...\n# between\n---\n{{ broken\n---\na: 3\n"


@pytest.mark.parametrize(
    ("text", "edits", "expected", "why"),
    [
        (TWO, {1: [Edit(path=("a",), value=5)]}, TWO.replace("2", "5"), "a document in the middle"),
        (TWO, {2: [Edit(path=("a",), value=5)]}, TWO.replace("3", "5"), "one behind a text that cannot be read"),
        (TWO, {0: REMOVED}, TWO.replace("---\n# first\na: 1\n# end\n", ""), "a document goes with its comments"),
        (TWO, {2: REMOVED}, TWO.removesuffix("---\na: 3\n"), "the last one"),
        (TWO, {1: REMOVED, 2: [Edit(path=("b",), value=5)]},
         TWO.replace("--- # second\na: 2\n...\n# between\n", "") + "b: 5\n", "one goes, another changes"),
        ("a: 1\n...\n--- {b: 2}\n--- {c: 3}\n", {1: REMOVED}, "a: 1\n...\n--- {c: 3}\n", "documents in one part"),
        ("a: 1\n...\n--- {b: 2}\n", {0: REMOVED}, "--- {b: 2}\n", "the first of them"),
        ("# c\na: 1\n", {0: REMOVED}, "", "the only document leaves an empty file"),
        ("a: 1\n---\n# nothing\n", {0: REMOVED}, "", "and so does the last that says something"),
        ('{"a": 1}', {0: REMOVED}, "", "JSON"),
        ("apiVersion: v1\nkind: List\nitems:\n# one\n- kind: A\n  a: 1\n- kind: B\n", {0: [Edit(path=("items", 0), value=REMOVED)]},
         "apiVersion: v1\nkind: List\nitems:\n- kind: B\n", "an item of a List"),
        ("kind: List\nitems:\n- kind: A\n  a: 1\n", {0: [Edit(path=("items", 0, "a"), value=2)]},
         "kind: List\nitems:\n- kind: A\n  a: 2\n", "a field of an item"),
        ("a: 1\r\n---\r\nb: 2\r\n", {1: [Edit(path=("c",), value=3)]}, "a: 1\r\n---\r\nb: 2\r\nc: 3\r\n", "with CRLF"),
    ],
)  # fmt: skip
def test_documents_of_one_file(text, edits, expected, why):
    assert edit_documents(text.encode(), edits).decode() == expected, why


@pytest.mark.parametrize(
    ("content", "edits", "line", "reason", "why"),
    [
        (b"a: 1\n", {1: REMOVED}, 1, "The file has no document 2 that can be read.", "too few documents"),
        ("a: 1\n".encode("utf-16"), {0: [Edit(path=("a",), value=2)]}, 1, "The file is not in UTF-8.", "other characters"),
        (b"b: 1\n---\na: ENC[x]\nsops: {mac: x}\n", {1: [Edit(path=("a",), value=2)]}, 3, "The document is encrypted.", "a seal"),
        (b"a: &x 1\nb: 2\n---\nc: 1\nd: *x\n", {1: [Edit(path=("c",), value=2)]}, 1,
         "The file has no document 2 that can be read.", "an alias without an anchor"),
        (b"{{- if x }}\na: 1\n{{- end }}\n", {0: [Edit(path=("a",), value=2)]}, 1,
         "The file has no document 1 that can be read.", "a template"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_edited_is_refused(content, edits, line, reason, why):
    with pytest.raises(EditRefused) as caught:
        edit_documents(content, edits)
    assert (caught.value.line, caught.value.reason) == (line, reason), why


NAMES = st.sampled_from(["name", "tier", "kind-of", "a/b", "on", "8", "key with: colon", "é"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: math.isfinite(number) and not number.is_integer())
    | st.sampled_from(["", "x", "on", "null", "08", "1e3", "- x", "a: b", "#", " ", "a\nb", "a\nb\n", "\n", " a\n", "a\tb", "~", "€", "\x7f"])
    | st.text(max_size=8).filter(lambda text: "{{" not in text and "${" not in text and not SURROGATE.search(text)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@st.composite
def documents(draw):
    """Write a mapping as people do: with comments, blank lines, styles and steps that differ from place to place."""
    value = draw(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4))
    step, list_step, line_end = (
        draw(st.sampled_from([2, 4])),
        draw(st.sampled_from([0, 2])),
        draw(st.sampled_from(["\n", "\r\n"])),
    )
    layout = TextLayout(line_end="\n", step=step, list_step=list_step, quote=draw(st.sampled_from("\"'")))
    lines = ["# top", "---"] if draw(st.booleans()) else []
    for key, part in value.items():
        lines += draw(st.sampled_from([[], ["# above"], ["", "# apart", ""]]))
        name = layout.write_scalar(key, in_flow=False, is_key=True)
        if draw(st.booleans()):
            text = layout.write_behind_key(part, 0)
            first, _, rest = text.partition("\n")
            is_text = isinstance(part, str) and rest
            comment = draw(st.sampled_from(["", " # behind"]))
            lines += (
                [name + ":" + first + comment, *rest.split("\n")] if rest or is_text else [name + ":" + first + comment]
            )
        else:
            lines.append(f"{name}: {layout.write_flow(part)}")
    text = line_end.join(lines) + draw(st.sampled_from([line_end, ""]))
    return (
        text
        if read_documents("a.yaml", text.encode()).documents[-1].value == value
        else line_end.join(["a: 1", "b: {c: x}", ""])
    )


def list_paths(value, path=()):
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in parts:
        yield from list_paths(part, (*path, step))


@st.composite
def edits_of(draw, value):
    path = draw(st.sampled_from([path for path in list_paths(value) if path]))
    if draw(st.booleans()) and isinstance(find_member(value, *path), dict):
        path = (*path, draw(NAMES))
    return Edit(path=path, value=draw(st.just(REMOVED) | VALUES))


def put(value, edit):
    """Apply an edit to a value, in another way than the package does."""
    value = copy.deepcopy(value)
    *parents, last = edit.path
    holder = value
    for step in parents:
        holder = holder[step]
    if edit.value is not REMOVED:
        holder[last] = edit.value
    elif isinstance(holder, list):
        del holder[last]
    else:
        holder.pop(last, None)
    return value


@given(st.data())
def test_a_random_edit_reports_what_it_should_in_the_lines_of_its_field(data):
    text = data.draw(documents())
    (document,) = read_documents("a.yaml", text.encode()).documents
    edit = data.draw(edits_of(document.value))
    edited = edit_documents(text.encode(), {0: [edit]})
    (after,) = read_documents("a.yaml", edited).documents
    assert after.value == put(document.value, edit)
    if edit.value is not REMOVED or isinstance(edit.path[-1], str):
        assert edit_documents(edited, {0: [edit]}) == edited
    # All other lines are there as they were, except comments directly above a key that goes.
    top = sorted(document.lines.find((key,)) for key in document.value)
    own = document.lines.find(edit.path[:1])
    lines, new = text.splitlines(keepends=True), edited.decode()
    above = lines[: own - 1]
    while above and above[-1].startswith("# above"):
        above.pop()
    assert new.startswith("".join(above).rstrip())
    assert new.endswith("".join(lines[min((line for line in top if line > own), default=len(lines) + 1) - 1 :]))


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), st.sampled_from([None, 1, 2, 4]), st.data())
def test_json_stays_json_in_the_form_that_it_has(value, indent, data):
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    if not text.replace("\n", "").isprintable() or data.draw(st.booleans()):
        text = json.dumps(value, indent=indent)
    (document,) = read_documents("a.json", text.encode()).documents
    edit = data.draw(edits_of(document.value))
    edited = edit_documents(text.encode(), {0: [edit]}).decode()
    expected = put(document.value, edit)
    assert json.loads(edited) == expected
    assert all(line.strip() for line in edited.split("\n")), "no line is left empty"
