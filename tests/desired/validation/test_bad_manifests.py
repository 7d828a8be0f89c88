"""Manifests that are wrong, with all of their problems beside them, as text.

Each file under bad/ is one set of manifests; the expected output is in the .txt of the same name: for each problem its
line, level, code and field, then the message and the hint.
"""

import ast
import re
from pathlib import Path

import pytest

import gitsync
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.desired.validation.validate import MAX_PROBLEMS, validate_resource

FOLDER = Path(__file__).parent / "bad"
FILES = sorted(FOLDER.glob("*.yaml"))
CATALOG = open_catalog()
LOCATIONS = re.compile(r"bad\.yaml:\d+")


def problems(content, path="bad.yaml", **more):
    manifests = read_manifests({path: content})
    prepared = prepare(manifests, catalog=CATALOG, subscription="0", **more)
    found = [*manifests.problems, *(problem for resource in prepared for problem in resource.problems)]
    return sorted(found, key=lambda problem: problem.order)


def said(content, **more):
    lines = []
    for problem in problems(content, **more):
        lines.append(f"{problem.line}: {problem.level}: {problem.code} {problem.field}")
        lines += [f"    {text}" for text in (problem.message, problem.hint) if text]
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_all_that_is_wrong_is_reported(file):
    assert said(file.read_bytes()) == file.with_suffix(".txt").read_text()


SPEAKS_FOR_ITSELF = {
    "AzureName",
    "OutOfBounds",
    "PatternMismatch",
    "UnknownValue",
    "WrongItemCount",
    "WrongLength",
    "WrongType",
    "InvalidSpec",
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_problem_reports_where_it_is_and_how_to_fix_it(file):
    lines = file.read_text().splitlines()
    for problem in problems(file.read_bytes(), path="some/bad.yaml"):
        assert problem.path == "some/bad.yaml"
        assert 1 <= problem.line <= len(lines)
        assert problem.message.endswith((".", "?")), problem
        assert problem.hint or problem.code in SPEAKS_FOR_ITSELF, problem


MODULES = (
    "catalog.unknown_kind",
    "validation.annotations",
    "validation.any_type_rules",
    "validation.constraints",
    "validation.export_destinations",
    "validation.missing_targets",
    "validation.name_rules",
    "validation.references",
    "validation.relations",
    "validation.spec_schema",
)
NO_CODES = {"AzureManaged", "AzureManagedDomain", "FromConfig", "FromSecret"}
KINDS = {
    "AzureResource",
    "VirtualNetwork",
    "VirtualNetworksSubnet",
    "RoleAssignment",
    "RoleDefinition",
    "SqlRoleAssignment",
    "SenderUsername",
}


def codes_of(module):
    """Every text in a module that is written as a code is."""
    source = (Path(gitsync.__path__[0]) / "desired" / f"{module.replace('.', '/')}.py").read_text()
    texts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return {text for text in texts if isinstance(text, str) and re.fullmatch(r"([A-Z][a-z]+){2,}", text)}


def test_every_code_has_an_example():
    known = {code for module in MODULES for code in codes_of(module)} - NO_CODES - KINDS
    texts = (file.with_suffix(".txt").read_text() for file in FILES)
    shown = {code for text in texts for code in re.findall(r"^\d+: \w+: (\w+)", text, re.MULTILINE)}
    assert len(known) > 25
    assert known - shown == set()


def test_secrets_are_never_repeated():
    assert "hunter2" not in said((FOLDER / "secrets.yaml").read_bytes())


def test_unknown_fields_can_be_warnings_and_nothing_else_changes():
    content = (FOLDER / "fields.yaml").read_bytes()
    strict, lenient = said(content), said(content, unknown_fields="warn")
    dropped = strict.replace(" To drop it as an API server does, use --unknown-fields warn.", "")
    assert lenient == dropped.replace("error: UnknownField", "warning: UnknownField")
    assert lenient != strict


def locations_apart(found):
    return sorted((p.code, p.field, LOCATIONS.sub("", p.message), p.hint) for p in found)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_order_of_documents_changes_nothing_but_lines(file):
    """An error stays one, and is reported of the same field; only what is first among equals may be another."""
    documents = file.read_text().split("---\n")
    turned = "---\n".join(reversed([text if text.endswith("\n") else f"{text}\n" for text in documents]))
    assert locations_apart(problems(turned.encode())) == locations_apart(problems(file.read_bytes()))


def test_a_manifest_of_too_many_problems_shows_some(catalog):
    text = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: a}\n"
    (resource,) = read_manifests(
        {"a.yaml": f"{text}spec: {{{''.join(f'k{n}: 1, ' for n in range(2000))}}}".encode()}
    ).resources
    found = validate_resource(resource, catalog.kind_of(resource), catalog=catalog, unknown_fields="warn")
    assert len(found) == MAX_PROBLEMS + 1
    assert [problem.code for problem in found if problem.is_error] == ["TooManyProblems"], (
        "it is an error, whatever the others are"
    )
