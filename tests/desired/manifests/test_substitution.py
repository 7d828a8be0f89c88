"""Variables in whole documents: what a field becomes, with its line."""

from textwrap import dedent

import pytest

from gitsync.desired.manifests.expansions import ExpansionBudget
from gitsync.desired.manifests.substitution import is_shown, substitute
from gitsync.desired.manifests.yaml_documents import read_documents
from gitsync.errors import TooLargeExpansionError
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.unit import Unit
from gitsync.model.unit_kind import UnitKind
from gitsync.model.variables import VariableValues

FLUX = Unit(name="clusters/apps", path="apps", kind=UnitKind.FLUX, file="clusters/apps.yaml")
VALUES = {
    "TEXT": "text",
    "NUMBER": "42",
    "YES": "true",
    "NOTHING": "",
    "LIST": "[a, 1]",
    "MAP": "{a: 1}",
    "PAIR": "a: b",
    "quote": '"',
    "SECRET": Secret("hush-hush"),
    "PIN": Secret("1234"),
    "KEY": Secret("id"),
}


def make(text, unit=None, values=VALUES):
    (document,) = read_documents("a.yaml", dedent(text).encode(), marks_quotes=True).documents
    return substitute(document, VariableValues(known=values), ExpansionBudget(), unit)


@pytest.mark.parametrize(
    ("written", "plain", "flux", "why"),
    [
        ("${TEXT}", "text", "text", "a text"),
        ("${NUMBER}", 42, 42, "a number stays a number"),
        ("${N:-3}", 3, 3, "a default too"),
        ("${YES}", True, True, "a boolean"),
        ("${NOTHING}", None, None, "an empty value is none"),
        ("${LIST}", ["a", 1], ["a", 1], "a list"),
        ("${MAP}", {"a": 1}, {"a": 1}, "a mapping"),
        ("x${NUMBER}", "x42", "x42", "part of a text"),
        ('"${NUMBER}"', "42", 42, "quotes are lost in Flux"),
        ("'${NUMBER}'", "42", 42, "single ones too"),
        ("${quote}${NUMBER}${quote}", "42", "42", "as one writes quotes for Flux"),
        ('"${TEXT}: x"', "text: x", "text: x", "Flux quotes what needs quotes"),
        ('"${NOTHING}"', "", None, "an empty text"),
        ("$${TEXT}", "${TEXT}", "${TEXT}", "a literal"),
        ("|\n    ${NUMBER}\n", "42\n", "42\n", "a block is text"),
        (">-\n    ${NUMBER}\n", "42", 42, "a block of one line is none to Flux"),
        ("ü${TEXT}", "ütext", "ütext", "letters beyond ASCII"),
        ("${PAIR}", Placeholder("a: b"), Placeholder("a: b"), "a value cannot add a field"),
        ("${TEXT} #x", "text", "text", "a comment is none of ours"),
    ],
)
def test_a_field_is_read_again(written, plain, flux, why):
    text = f"spec:\n  a: {written}"
    assert make(text).document.value == {"spec": {"a": plain}}, why
    assert make(text, FLUX).document.value == {"spec": {"a": flux}}, why


TEXT = """\
kind: A
metadata:
  name: ${TEXT}
spec:
  ${TEXT}-key:
    inner: ${NONE}
  list:
    - ${a.b}
    - ${PAIR}
  plain: x
status:
  x: ${NONE}
"""


def test_every_field_keeps_its_line():
    found = make(TEXT)
    assert found.document.lines.find(("spec", "text-key", "inner")) == 6
    assert found.document.lines.find(("spec", "plain")) == 10
    assert [(use.variable.name, use.line) for use in found.uses] == [("NONE", 6)]
    assert [(problem.code, problem.line, problem.field) for problem in found.document.problems] == [
        ("InvalidVariable", 8, "spec.list[0]"),
        ("InvalidVariable", 9, "spec.list[1]"),
    ]


def test_a_status_is_not_looked_at():
    assert "status" not in make(TEXT).document.value


def test_what_is_not_known_is_a_placeholder_in_a_spec_and_as_written_elsewhere():
    found = make("metadata: {name: '${NONE}'}\nspec: {location: '${NONE}'}")
    assert found.document.value == {"metadata": {"name": "${NONE}"}, "spec": {"location": Placeholder("${NONE}")}}


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("'${NONE}'", "", "an empty text"),
        ("${NONE}", None, "no value, as in YAML"),
        ("a-${NONE}-${TEXT}", "a--text", "a part of a text"),
        ("${NONE/a/b}${NONE^^}", None, "what a form makes of an empty text"),
        ("${NONE:=5}", 5, "a default is a value"),
        ("'${#NONE}'", "0", "the length of an empty text"),
    ],
)
def test_what_has_no_value_is_empty_where_it_identifies_nothing(text, expected, why):
    found = make(f"spec:\n  a: {text}\n")
    assert found.document.value == {"spec": {"a": expected}}, why
    assert {use.variable.name for use in found.uses} == (set() if ":=" in text else {"NONE"})


def test_a_label_without_a_value_has_none():
    found = make("metadata:\n  labels:\n    a: ${NONE}\n  annotations:\n    gitsync/ignore: ${NONE}\n")
    metadata = found.document.value["metadata"]
    assert metadata == {"labels": {"a": None}, "annotations": {"gitsync/ignore": "${NONE}"}}, "one decides what is done"


def test_a_value_with_aliases_cannot_become_any_number_of_values():
    bomb = "{a: &a [x, x], b: &b [*a, *a], c: &c [*b, *b], d: [*c, *c]}"
    text = "spec:\n" + "".join(f"  f{number}: ${{BOMB}}\n" for number in range(3000))
    with pytest.raises(TooLargeExpansionError):
        make(text, values={"BOMB": bomb})


def test_two_keys_cannot_become_one():
    (problem,) = make("spec: {tags: {'${TEXT}': 1, text: 2}}").document.problems
    assert (problem.code, "twice" in problem.message) == ("InvalidVariable", True)


@pytest.mark.parametrize("member", ["annotations", "labels"])
def test_a_document_turns_it_off_for_itself(member):
    text = f"metadata: {{{member}: {{kustomize.toolkit.fluxcd.io/substitute: disabled}}}}\nspec: {{a: '${{TEXT}}'}}"
    value = make(text).document.value
    assert value["spec"] == {"a": "${TEXT}"}
    assert type(value["spec"]["a"]) is str


def test_what_sops_encrypted_stays_as_it_is():
    """Its values are read from the decrypted file, and its name is one as that of any document."""
    value = make("sops: {a: '${TEXT}'}\nmetadata: {name: '${TEXT}'}\ndata: {a: '${TEXT}'}\nstringData: {b: '${TEXT}'}")
    assert value.document.value == {
        "sops": {"a": "${TEXT}"},
        "metadata": {"name": "text"},
        "data": {"a": "${TEXT}"},
        "stringData": {"b": "${TEXT}"},
    }


@pytest.mark.parametrize(
    ("written", "expected", "why"),
    [
        ("password: ${SECRET}", {"password": Secret("hush-hush")}, "a text"),
        ("password: x-${SECRET}-y", {"password": Secret("x-hush-hush-y")}, "the whole text"),
        ("password: ${X:=${SECRET}}", {"password": Secret("hush-hush")}, "a default"),
        ("password: ${SECRET^^}", {"password": Secret("HUSH-HUSH")}, "what a function makes of it"),
        ("list: '[${SECRET}]'", {"list": Secret("[hush-hush]")}, "a text in brackets"),
        ("port: ${PIN}", {"port": 1234}, "a number cannot be hidden"),
        ("azureName: ${SECRET}", {"azureName": "hush-hush"}, "a name"),
        ("tags: {'${KEY}': x}", {"tags": {"id": "x"}}, "a key"),
        ("owner: {armId: '/${SECRET}'}", {"owner": {"armId": "/hush-hush"}}, "an owner"),
    ],
)
def test_a_value_from_a_secret_is_hidden_but_in_ids_names_locations_and_owners(written, expected, why):
    found = make(f"spec:\n  {written}")
    assert found.document.value == {"spec": expected}, why
    hidden = any(isinstance(value, Secret) for value in expected.values())
    assert bool(found.hidden) == (hidden or "port" in expected)
    assert bool(found.shown) != bool(found.hidden)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("metadata", "name"), True),
        (("spec", "location"), True),
        (("spec", "owner", "name"), True),
        (("spec", "operatorSpec", "secrets", "a", "name"), True),
        (("spec", "subnets", 0, "name"), True),
        (("spec", "locations", 0, "locationName"), True),
        (("spec", "locations", 0), True),
        (("spec", "tenantId"), True),
        (("spec", "subnetReference", "armId"), True),
        (("spec", "objectIds", 1), True),
        (("spec", "administratorLoginPassword"), False),
        (("spec", "userName"), False),
        (("spec", "tags", "token"), False),
        (("data", "name"), False),
        (("stringData", "id"), False),
    ],
)
def test_the_fields_that_show_a_secret(path, expected):
    assert is_shown(path) is expected


def test_words_of_a_body_mean_the_same_in_every_unit():
    text = """
        apiVersion: azure.gitsync/v1
        kind: AzureResource
        spec:
          body:
            $connections: {$secret: {name: $TEXT, key: "${TEXT}"}}
            $$secret: $schema
            list: [{$$$reference: $$x}]
    """
    expected = {
        "$connections": {"$secret": {"name": "$TEXT", "key": "text"}},
        "$$secret": "$schema",
        "list": [{"$$$reference": "$x"}],
    }
    for unit in (None, FLUX):
        assert make(text, unit).document.value["spec"]["body"] == expected


def test_words_elsewhere_are_texts():
    assert make("apiVersion: v1\nspec: {body: {$$secret: 1}}\n", FLUX).document.value["spec"] == {
        "body": {"$secret": 1}
    }


def test_default_tags_take_no_value_of_a_secret():
    found = make("kind: Namespace\nmetadata:\n  annotations:\n    gitsync/tags: |\n      team: ${SECRET}\n")
    (problem,) = found.document.problems
    assert (problem.field, problem.is_error) == ("metadata.annotations.gitsync/tags", True)
    assert "hush" not in f"{found.document.value} {problem}"


def test_the_body_in_an_annotation_takes_no_value_of_a_secret():
    text = (
        "metadata:\n  annotations:\n    gitsync/body: |\n      properties: {password: '${SECRET}', owner: '${TEXT}'}\n"
    )
    found = make(text)
    (problem,) = found.document.problems
    assert (problem.field, problem.is_error) == ("metadata.annotations.gitsync/body", True)
    assert "hush" not in f"{found.document.value} {problem}"
    plain = make(text.replace("${SECRET}", "x"))
    assert (
        plain.document.value["metadata"]["annotations"]["gitsync/body"]
        == "properties: {password: 'x', owner: 'text'}\n"
    )
    assert not plain.document.problems
