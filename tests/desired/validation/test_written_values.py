"""What YAML takes for a number or a boolean: a hint quotes what the file has, since another text is another value."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.variable_values import VariableSet
from gitsync.desired.manifests.yaml_documents import read_documents
from gitsync.desired.manifests.yaml_scalars import resolve
from gitsync.desired.validation.validate import validate_resource
from gitsync.model.problem import Level, SourceLocation
from gitsync.model.secret import Secret
from gitsync.model.unit import Unit
from gitsync.model.unit_kind import UnitKind
from gitsync.model.variables import VariableValues

GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core}
spec:
  location: westeurope
  tags:
    sort: %s
"""


def read(text, unit=None, known=None):
    values = VariableValues(known=known) if known else None
    variables = VariableSet(by_unit={unit.name: values} if unit else {}, everywhere=values)
    return read_manifests({"a.yaml": text.encode()}, units={"a.yaml": unit} if unit else {}, variables=variables)


def check(resource):
    catalog = open_catalog()
    return (*resource.problems, *validate_resource(resource, catalog.kind_of(resource), catalog=catalog))


def only_hint(text, unit=None, known=None):
    (resource,) = read(text, unit, known).resources
    (problem,) = check(resource)
    return problem.hint


@pytest.mark.parametrize(
    ("text", "quoted", "why"),
    [
        ("NO", "NO", "a country"),
        ("on", "on", "a switch"),
        ("true", "true", "as JSON has it"),
        ("004", "004", "digits, which are octal"),
        ("010", "010", "digits that are another number in octal"),
        ("0x1F", "0x1F", "hexadecimal"),
        ("1_000", "1_000", "an underscore"),
        ("6063e25", "6063e25", "a revision of git"),
        ("1.30", "1.30", "a version"),
        ("+5", "+5", "a sign"),
        ("8080", "8080", "as JSON has it"),
        ("1.30 # a version", "1.30", "a comment is none of it"),
        ("!!float 1.30", "1.30", "a tag is none of it"),
        ("&v 1.30", "1.30", "an anchor is none of it"),
    ],
)
def test_a_hint_quotes_the_text_of_the_file(text, quoted, why):
    assert only_hint(GROUP % text) == f'Put it in quotes: "{quoted}".', why


def test_an_alias_has_the_text_of_its_anchor():
    (resource,) = read(GROUP % "&v 1.30\n    other: *v").resources
    assert [problem.hint for problem in check(resource)] == ['Put it in quotes: "1.30".'] * 2


def test_an_item_of_a_list_has_its_text():
    item = "\n".join(f"  {line}" for line in (GROUP % "1.30").splitlines())
    assert only_hint(f"apiVersion: v1\nkind: List\nitems:\n-{item[1:]}\n") == 'Put it in quotes: "1.30".'


def test_what_the_file_does_not_have_is_not_quoted():
    """A patch has set another value than the file, and a very long number helps no one."""
    (resource,) = read(GROUP % "1.30").resources
    patched = {("spec", "tags", "sort"): SourceLocation("patch.yaml", 3)}
    (problem,) = check(replace(resource, patched=patched))
    assert (problem.hint, problem.location) == ("Put it in quotes.", "patch.yaml:3")
    (problem,) = check(replace(resource, lines=None))
    assert problem.hint == "Put it in quotes."
    (problem,) = check(replace(resource, spec={**resource.spec, "tags": {"sort": 7}}))
    assert problem.hint == "Put it in quotes."
    assert only_hint(GROUP % f"1.{'0' * 500}") == "Put it in quotes."


@pytest.mark.parametrize("value", ["1.30", Secret("1.30")])
def test_a_variable_is_quoted_and_not_its_value(value):
    hint = only_hint(GROUP % "${BUILD}", known={"BUILD": value})
    assert hint == 'Put it in quotes: "${BUILD}".'


@pytest.mark.parametrize("written", ["${BUILD}", '"${BUILD}"', "'${BUILD}'"])
def test_flux_removes_quotes_around_a_variable(written):
    text = GROUP % written
    origin = "annotations: {config.kubernetes.io/origin: 'path: ../source/a.yaml'}"
    built = text.replace("name: core", f"name: core, {origin}")
    unit = Unit(name="apps", path="apps", kind=UnitKind.FLUX, file="apps.yaml", contents={"a.yaml": text.encode()})
    assert only_hint(built, unit, {"BUILD": "1.30"}) == (
        "Flux removed the quotes: write ${quote}${BUILD}${quote}, with a variable quote that has the value '\"'."
    )


@pytest.mark.parametrize(
    ("header", "code", "hint", "why"),
    [
        ("metadata: {name: 004}", "InvalidName", 'Put it in quotes: "004".', "a name"),
        ("metadata: {name: a, namespace: NO}", "InvalidName", 'Put it in quotes: "NO".', "a namespace"),
        ("metadata: {name: a, labels: {b: 1.30}}", "InvalidMetadata", 'Put it in quotes: "1.30".', "a label"),
        ("metadata: {name: a, annotations: {b: y}}", "InvalidMetadata", 'Put it in quotes: "y".', "an annotation"),
    ],
)
def test_so_does_a_hint_about_the_header(header, code, hint, why):
    found = read((GROUP % "a").replace("metadata: {name: core}", header))
    (problem,) = [*found.problems, *(problem for resource in found.resources for problem in resource.problems)]
    assert (problem.code, problem.hint) == (code, hint), why


@pytest.mark.parametrize(
    ("key", "read_as", "why"),
    [
        ("no", "false", "a word of YAML 1.1"),
        ("True", "true", "another case"),
        ("1.10", "1.1", "a version"),
        ("010", "8", "octal"),
        ("1e3", "1000", "a float"),
    ],
)
def test_a_key_that_yaml_changed_is_a_warning(key, read_as, why):
    (resource,) = read(GROUP % f"a\n    {key}: b").resources
    assert resource.spec["tags"][read_as] == "b"
    (problem,) = check(resource)
    assert (problem.code, problem.level, problem.line) == ("ChangedKey", Level.WARNING, 8), why
    assert (problem.message, problem.hint) == (
        f'YAML reads the key {key} as "{read_as}".',
        f'Put it in quotes: "{key}".',
    )


@pytest.mark.parametrize("key", ["'no'", "8080", "1.5", "!!str no", "nope", "true"])
def test_a_key_that_stays_is_none(key):
    (resource,) = read(GROUP % f"a\n    {key}: b").resources
    assert check(resource) == ()


def test_keys_of_documents_of_other_tools_are_not_reported():
    """A workflow of GitHub has `on:`, and an ASO reader has nothing to say of that."""
    workflow = "on: {push: {}}\njobs: {}\n"
    table = "".join(f"{number}.0: a\n" for number in range(1000))
    found = read_manifests({"a.yaml": workflow.encode(), "b.yaml": table.encode()})
    assert found.problems == ()


@given(st.from_regex(r"[-+]?[0-9_.eEx]{1,8}|[yYnN]|[oO][nN]|[Nn][oO]", fullmatch=True))
def test_a_text_in_the_quotes_of_a_hint_is_what_the_file_has(text):
    (document,) = read_documents("a.yaml", f"a: {text}\n".encode()).documents
    value = document.value["a"]
    if isinstance(value, bool | int | float):
        written = document.lines.find_written(("a",))
        assert resolve(written.text if written else text) == value
        assert written is None or written.text == text
