"""The page on expressions is correct: its manifest is good, and its tables are what comes out."""

import json
import re
from pathlib import Path

import pytest
import yaml

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.cel.evaluate import evaluate
from gitsync.desired.cel.expressions import build_environment, compile_expression
from gitsync.desired.cel.objects import make_self
from gitsync.desired.cel.syntax.lexer import LONGEST
from gitsync.desired.cel.syntax.parser import MOST_BRACKETS, MOST_DEPTH
from gitsync.desired.cel.types.kinds import escape_name
from gitsync.desired.exports.export_expressions import check_expressions
from gitsync.model.gvk import GVK, Key
from gitsync.model.problem import SourceLocation
from gitsync.model.resource import Resource

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "expressions.md").read_text(encoding="utf-8")
KIND = open_catalog().kind(GVK("storage.azure.com", "v1api20230101", "StorageAccount"))
STATUS = {
    "id": "/subscriptions/s/resourceGroups/shop/providers/Microsoft.Storage/storageAccounts/photos",
    "primaryEndpoints": {"blob": "https://photos.blob.core.windows.net/"},
    "creationTime": "2026-01-02T03:04:05Z",
}


def rows(title):
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^\| `(.+?)` \| `(.+)` \|$", section, flags=re.MULTILINE)


def manifest():
    shown = yaml.safe_load(re.search(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)[1])
    return Resource(
        key=Key("storage.azure.com", shown["kind"], shown["metadata"]["namespace"], shown["metadata"]["name"]),
        gvk=KIND.gvk,
        spec=shown["spec"],
        source=SourceLocation("photos.yaml", 1),
    )


def with_expression(text):
    good = manifest()
    expressions = [{"name": "n", "key": "k", "value": text}]
    spec = {**good.spec, "operatorSpec": {"secretExpressions": expressions}}
    return Resource(key=good.key, gvk=good.gvk, spec=spec, source=good.source)


def test_the_manifest_is_good():
    assert check_expressions(manifest(), KIND) == ()


@pytest.mark.parametrize(("text", "shown"), rows("Operators and functions"))
def test_an_expression_gives_what_the_page_describes(text, shown):
    good = manifest()
    spec = {**good.spec, "tags": {"team": "media", "cost-centre": "42"}}
    subject = make_self(Resource(key=good.key, gvk=good.gvk, spec=spec, source=good.source), KIND, STATUS)
    found = evaluate(
        compile_expression(text, build_environment(KIND)).tree, {"self": subject, "secret": {"key1": "k1=="}}
    )
    assert (found if isinstance(found, str) else json.dumps(dict(found), sort_keys=True)) == shown


@pytest.mark.parametrize(("text", "shown"), rows("Errors"))
def test_an_expression_is_refused_as_the_page_describes(text, shown):
    (problem,) = check_expressions(with_expression(text), KIND)
    assert shown in problem.message


def test_names_are_escaped_as_the_page_describes():
    pairs = rows("Variables")
    assert len(pairs) == 5
    for written, spelt in pairs:
        names, spellings = (re.findall(r"[^`, ]+", text) for text in (written, spelt))
        assert [escape_name(name) for name in names] == spellings


def test_the_bounds_are_those_of_the_code():
    said = f"at most {LONGEST:,} characters, {MOST_BRACKETS} brackets inside one another, and a tree {MOST_DEPTH} deep"
    assert said in PAGE
