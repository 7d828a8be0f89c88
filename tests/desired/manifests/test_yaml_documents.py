"""Files into documents: values, lines, and what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.manifests import yaml_documents as documents
from gitsync.desired.manifests.yaml_documents import read_documents


def read(text, path="a.yaml"):
    return read_documents(path, text.encode() if isinstance(text, str) else text)


def only(text, path="a.yaml"):
    found = read(text, path)
    assert found.problems == []
    (document,) = found.documents
    return document


@pytest.mark.parametrize(
    ("text", "value", "why"),
    [
        ("a: 1\nb: [x, 'y', y]\n", {"a": 1, "b": ["x", "y", True]}, "quoted text is text, plain text is looked at"),
        ("a: |\n  08\n", {"a": "08\n"}, "a block is text"),
        ("y: 1\n8: 2\n1.5: 3\n", {"true": 1, "8": 2, "1.5": 3}, "keys are text"),
        ("a:\n", {"a": None}, "nothing is null"),
        ("{a: {}, b: []}", {"a": {}, "b": []}, "empty collections"),
        ("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}, "an alias stands for its anchor"),
        ("&k a: 1\nb: *k\n", {"a": 1, "b": "a"}, "a key can be an anchor"),
        ("a: &x {b: 1, c: 2}\nd: {<<: *x, b: 3}\n", {"a": {"b": 1, "c": 2}, "d": {"c": 2, "b": 3}}, "own keys win"),
        ("d: {<<: [{b: 1}, {b: 2, c: 3}]}\n", {"d": {"b": 1, "c": 3}}, "of several merged, the first wins"),
        ("d: {'<<': {b: 1}}\n", {"d": {"<<": {"b": 1}}}, "a quoted << is a key like others"),
        ("a: !!str 5\nb: ! 6\nc: !!int '7'\n", {"a": "5", "b": "6", "c": 7}, "tags decide"),
        ("a: !!map {b: 1}\nc: !!seq [1]\n", {"a": {"b": 1}, "c": [1]}, "tags of collections"),
        ("- 1\n", [1], "a list at the top"),
        ("\ufeffa: 1\n", {"a": 1}, "a byte order mark"),
        ("a: 1\r\nb: 2\r\n", {"a": 1, "b": 2}, "lines that end as on Windows"),
        ("%YAML 1.1\n---\na: 1\n", {"a": 1}, "a directive before the document"),
        ("# nothing\n---\na: 1\n...\n", {"a": 1}, "a comment before, an end behind"),
    ],
)
def test_a_document(text, value, why):
    assert only(text).value == value, why


def test_every_field_has_its_line():
    text = "# a comment\na:\n  b:\n  - c: 1\n    d: 2\n  - 3\ntags: {x/y.z: 1}\n"
    lines = only(text).lines
    assert {path: lines.find(path) for path in lines} == {
        (): 2,
        ("a",): 2,
        ("a", "b"): 3,
        ("a", "b", 0): 4,
        ("a", "b", 0, "c"): 4,
        ("a", "b", 0, "d"): 5,
        ("a", "b", 1): 6,
        ("tags",): 7,
        ("tags", "x/y.z"): 7,
    }


def test_documents_that_differ_in_a_line_or_a_level_have_lines_of_their_own():
    """Most manifests have the form of others, and share its lines."""
    texts = {
        "a: 1\nb: 2\n": {(): 1, ("a",): 1, ("b",): 2},
        "a: 3\n\nb: 4\n": {(): 1, ("a",): 1, ("b",): 3},
        "a:\n  b: 5\n": {(): 1, ("a",): 1, ("a", "b"): 2},
        "a: 6\nb: 7\n": {(): 1, ("a",): 1, ("b",): 2},
        "\na: 1\nb: 2\n": {(): 2, ("a",): 2, ("b",): 3},
    }
    for text, expected in texts.items():
        lines = only(text).lines
        assert {path: lines.find(path) for path in lines} == expected


def test_a_key_is_one_step_whatever_it_is_made_of():
    document = only("a: {b.c: [{d: 1}], e f: 2}\n[g]: 3\n".replace("[g]", "'[g]'"))
    expected = [
        ("a",),
        ("a", "b.c"),
        ("a", "b.c", 0),
        ("a", "b.c", 0, "d"),
        ("a", "e f"),
        ("[g]",),
    ]
    assert set(document.lines) == {(), *expected}


def test_lines_count_through_a_file_of_several_documents():
    found = read("---\na: 1\n--- # next\n\nb: 2\n---\n---\nc: 3\n")
    assert [(d.value, d.line()) for d in found.documents] == [({"a": 1}, 2), ({"b": 2}, 5), (None, 7), ({"c": 3}, 8)]


def test_a_field_that_is_not_there_has_the_line_of_its_document():
    assert only("\n\na: 1\n").line("spec", "x") == 3


def test_a_document_that_does_not_parse_hides_no_other():
    found = read("a: 1\n---\nb: [\n---\nc: 3\n---\nd: e: f\n")
    assert [d.value for d in found.documents] == [{"a": 1}, {"c": 3}]
    assert [(p.code, p.line) for p in found.problems] == [("InvalidYaml", 4), ("InvalidYaml", 7)]


def test_a_document_before_a_bad_one_counts_however_they_are_parted():
    found = read("a: 1\n...\n--- {b: [}\n")
    assert ([d.value for d in found.documents], [p.code for p in found.problems]) == ([{"a": 1}], ["InvalidYaml"])


@pytest.mark.parametrize("written", ["!hunter2", "*hunter2", "!hunter2 x", "!!int hunter2", "&hunter2 [", "@hunter2"])
def test_what_may_be_a_password_without_quotes_is_never_repeated(written):
    found = read(f"stringData:\n  password: {written}\n")
    problems = found.problems + [p for d in found.documents for p in d.problems]
    assert problems
    assert "hunter2" not in str(problems)


def test_a_line_of_dashes_inside_a_text_parts_nothing():
    assert only("a: |\n  ---\n  b\n").value == {"a": "---\nb\n"}


@pytest.mark.parametrize(
    ("text", "code", "line", "why"),
    [
        ("a: *b\n", "UnknownAlias", 1, "an alias without an anchor"),
        ("a: &x [*x]\n", "UnknownAlias", 1, "an alias inside its own anchor"),
        ("a: 1\n? [b]\n: c\n", "InvalidKey", 2, "a list as a key"),
        ("~: 1\n", "InvalidKey", 1, "null as a key"),
        ("a: 1\n\tb: 2\n", "InvalidYaml", 2, "a tab that indents"),
        ("a: {{ .Values.x }}\n", "Template", 1, "a template of Helm"),
        (b"a: 1\nb: \xff\n", "InvalidText", 2, "bytes that are no UTF-8"),
        (b"a: 1\nb: \x00\n", "InvalidText", 2, "a control character"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n", "InvalidText", 1, "a pointer"),
        ("%", "InvalidYaml", 1, "a directive that is none"),
        ("[" * 5000, "TooDeep", 1, "unclosed brackets"),
        ("a: " + "{a: " * 200 + "1" + "}" * 200, "TooDeep", 1, "nested beyond any use"),
    ],
)
def test_what_makes_a_document_unreadable(text, code, line, why):
    found = read(text)
    assert found.documents == []
    assert [(p.code, p.line, p.path) for p in found.problems] == [(code, line, "a.yaml")], why
    assert all(p.message and p.hint for p in found.problems)


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        (
            "a: 1\nb: {c: 1, c: 2}\na: 3\n",
            [("DuplicateKey", 2, "b.c"), ("DuplicateKey", 3, "a")],
            "keys that stand twice",
        ),
        (
            "kind: A\napiVersion: b\nspec: 1\nkind: C\napiVersion: d\nspec: {a: 1, a: 2}\n",
            [("DuplicateKey", 4, "kind"), ("DuplicateKey", 6, "spec.a")],
            "a separator is missing: one problem stands for all of the top",
        ),
        ("kind: A\nkind: B\n", [("DuplicateKey", 2, "kind")], "one key alone is no second manifest"),
        ("1: a\n'1': b\n", [("DuplicateKey", 2, "1")], "keys that are one once they are text"),
        ("a: !vault x\n", [("UnknownTag", 1, "a")], "a tag of somebody else"),
        ("a: !!set {b}\n", [("UnknownTag", 1, "a")], "a collection that JSON does not have"),
        ("a: !!int x\n", [("InvalidTag", 1, "a")], "a value that is not of its tag"),
        ("a: .nan\nb: -.inf\n", [("NotANumber", 1, "a"), ("NotANumber", 2, "b")], "numbers that JSON does not have"),
        ("a: {<<: 5}\n", [("InvalidMerge", 1, "a.<<")], "a merge of no mapping"),
    ],
)
def test_what_leaves_a_document_readable(text, expected, why):
    (document,) = read(text).documents
    assert [(p.code, p.line, p.field) for p in document.problems] == expected, why
    assert all(p.message and p.hint for p in document.problems)


def test_aliases_of_aliases_have_a_budget():
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    assert [p.code for p in read("\n".join(rows)).problems] == ["TooManyAliases"]


def test_a_file_has_a_budget():
    content = b"a: 1\n" + b"#" * documents.MAX_BYTES
    found = read(content)
    assert (found.documents, [p.code for p in found.problems]) == ([], ["FileTooLarge"])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=12,
    )
)
def test_json_reads_as_json(value):
    text = json.dumps({"value": value})
    found = read(text, "a.json")
    if '"\\ud8' in text or any(p.code == "InvalidYaml" for p in found.problems):  # half a character is not a text
        return
    assert found.documents[0].value == {"value": value}


def test_json_may_write_a_character_as_two_escapes():
    assert only(r'{"a": "\ud83d\ude00\ud83d\ude00", "b": "\\ud83d\\ude00"}', "a.json").value == {
        "a": "😀😀",
        "b": r"\ud83d\ude00",
    }


@given(st.binary(max_size=200))
def test_any_bytes_are_documents_or_problems(content):
    found = read(content)
    assert all(problem.line >= 1 for problem in found.problems)


PIECES = [
    "---\n",
    "{",
    "}",
    "[",
    "]",
    ": ",
    "- ",
    "&a ",
    "*a",
    "<<: ",
    "!x ",
    "'",
    "|\n",
    "\t",
    "a",
    "\n",
    "  ",
    "? ",
    "#",
    "%",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_anything_like_yaml_is_documents_or_problems(text):
    found = read(text)
    lines = text.count("\n") + 2
    assert all(1 <= p.line <= lines for p in found.problems)
    assert all(1 <= line <= lines for d in found.documents for line in map(d.lines.find, d.lines))


def test_a_document_of_too_many_problems_is_not_read():
    found = read("a: [" + "!x 1, " * 200 + "]\n---\nb: 1\n")
    assert [d.value for d in found.documents] == [{"b": 1}]
    assert [p.code for p in found.problems] == ["UnknownTag"] * documents.MAX_PROBLEMS + ["TooManyProblems"]


def test_long_keys_are_shown_in_part():
    (problem,) = only(f"? {'k' * 5000}\n: {{a: 1, a: 2}}\n").problems
    assert len(problem.field) < 1100


def test_the_first_of_several_merges_counts():
    assert only("<<: {a: 1, b: 1}\n<<: [{b: 2, c: 2}, {c: 3}]\nd: 4\n").value == {"a": 1, "b": 1, "c": 2, "d": 4}


def test_after_more_problems_than_are_requested_the_rest_is_not_read():
    text = b"---\n}\n" * 5 + b"---\na: 1\n"
    assert len(documents.read_documents("a.yaml", text, max_problems=2).problems) == 3
    assert len(documents.read_documents("a.yaml", text).documents) == 1


GROUP = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: a}\n"


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        (f"{GROUP}---\n\ufeff{GROUP}", 5, "behind a separator"),
        (f"{GROUP}--- # b\r\n\ufeff{GROUP}", 5, "on Windows"),
        (f"{GROUP}\ufeff---\n{GROUP}", 4, "before one"),
        (f"{GROUP}  \ufeffspec: 1\n", 4, "in a document"),
    ],
)
def test_a_byte_order_mark_inside_of_a_file_is_named_with_its_line(text, line, why):
    (problem,) = read(text).problems
    assert (problem.code, problem.line) == ("InvalidText", line), why
    assert "byte order mark" in problem.message


def test_a_byte_order_mark_in_a_text_is_a_character():
    assert only('a: "\ufeffb"\n').value == {"a": "\ufeffb"}
