"""The table of codes: every one of gitsync's codes is in it, no other is, and its examples are real."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import gitsync
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.problems.problem_codes import (
    TOPICS,
    describe_common_field,
    find_code_meaning,
    find_verdict_meaning,
    load_codes,
    load_field_words,
)
from gitsync.desired.request.build import prepare
from gitsync.model.condition import WaitReason
from gitsync.model.verdict import Verdict
from gitsync.planning.status.advice import BY_CODE, BY_TYPE

PACKAGE = Path(gitsync.__file__).parent
CODES = {meaning.code: meaning for meaning in load_codes()}
NOT_OURS = {"ErrorRule"}
"""Calls whose codes are Azure's."""
NO_CODES = {"Opaque", "NamespaceTerminating"}
"""Kubernetes words in the position of a code."""


@cache
def trees():
    files = (file for file in sorted(PACKAGE.rglob("*.py")) if "emulator" not in file.parts)
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}


@cache
def nodes(*kinds):
    """All nodes of some kinds. Each walk through the package takes a second."""
    return [node for node in all_nodes() if isinstance(node, kinds)]


@cache
def all_nodes():
    wanted = (ast.AnnAssign, ast.Call, ast.Constant, ast.FunctionDef)
    return [node for tree in trees().values() for node in ast.walk(tree) if isinstance(node, wanted)]


@cache
def constants():
    """Texts that modules give names to, by name: two modules may have one name for different texts."""
    named = defaultdict(set)
    for tree in trees().values():
        for node in tree.body:
            value = getattr(node, "value", None)
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(value, ast.Constant):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        named[target.id].add(value.value)
    return named


@cache
def code_parameters():
    """Functions with a parameter that is a code, and its location."""
    return {
        node.name: location
        for node in nodes(ast.FunctionDef)
        for location, argument in enumerate(arg.arg for arg in node.args.args if arg.arg not in {"self", "cls"})
        if argument in {"code", "reason"}
    }


def codes_of(node):
    """The codes that an expression can be."""
    if isinstance(node, ast.Constant):
        return {node.value}
    if isinstance(node, ast.Name):
        return constants().get(node.id, set())
    branches = [node.body, node.orelse] if isinstance(node, ast.IfExp) else []
    return {code for branch in branches for code in codes_of(branch)}


@cache
def used_codes():
    found = {reason.value for reason in WaitReason}
    for node in nodes(ast.AnnAssign):
        if getattr(node.target, "id", "") == "_code":
            found |= codes_of(node.value)
    for node in nodes(ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in NOT_OURS:
            continue
        location = code_parameters().get(name, len(node.args))
        given = [*node.args[location : location + 1], *(k.value for k in node.keywords if k.arg in {"code", "reason"})]
        found |= {code for module in given for code in codes_of(module)}
    return {code for code in found - NO_CODES if isinstance(code, str) and re.fullmatch(r"[A-Z][a-z]+[A-Za-z]*", code)}


def test_every_code_has_its_entry():
    of_azure = {*BY_CODE, *(code for code, _ in BY_TYPE)}  # which checks use as well
    assert {code for code in used_codes() - CODES.keys() if code.casefold() not in of_azure} == set()
    assert len(used_codes()) > 100, "the search finds them"


def test_every_entry_is_used():
    texts = {node.value for node in nodes(ast.Constant) if isinstance(node.value, str)}
    assert CODES.keys() - texts == set()


@pytest.mark.parametrize("meaning", load_codes(), ids=lambda meaning: meaning.code)
def test_an_entry_reports_cause_and_fix_and_has_one_example(meaning):
    for sentence in (meaning.cause, meaning.fix):
        assert sentence.endswith("."), meaning
        assert sentence[:1].isupper() or sentence.startswith(
            ("${", "$", "data ", "metadata", "apiVersion", "spec", "kustomize")
        ), meaning
    assert bool(meaning.example) != bool(meaning.shown)


def codes_in(text):
    manifests = read_manifests({"example.yaml": text.encode()})
    prepared = prepare(manifests, catalog=open_catalog(), subscription="0")
    return {problem.code for problem in (*manifests.problems, *(p for resource in prepared for p in resource.problems))}


@pytest.mark.parametrize("meaning", [code for code in load_codes() if code.example], ids=lambda meaning: meaning.code)
def test_an_example_gives_its_code(meaning):
    assert meaning.code in codes_in(meaning.example)


@cache
def fragments():
    """The fixed parts of all texts of the package, the longest first."""
    constants = (node.value for node in nodes(ast.Constant) if isinstance(node.value, str))
    texts = {part.strip(" .\"'") for text in constants for part in re.split(r"{[a-z]+}", text)}  # filled in later
    return sorted((text for text in texts if len(text) >= 5), key=len, reverse=True)


@pytest.mark.parametrize("meaning", [code for code in load_codes() if code.shown], ids=lambda meaning: meaning.code)
def test_a_message_is_one_that_gitsync_prints(meaning):
    found = [text for text in fragments() if text in meaning.shown]
    covered = meaning.shown
    for text in found:
        covered = covered.replace(text, "")
    assert len(covered) <= len(meaning.shown) * 0.5, f"no text of the package is like {meaning.shown!r}"


def test_look_ups():
    assert find_code_meaning("ownernotfound") is CODES["OwnerNotFound"]
    assert find_code_meaning("Nothing") is None
    assert {meaning.topic for meaning in load_codes()} == set(TOPICS)


def test_no_code_is_the_name_of_a_kind():
    catalog = open_catalog()
    kinds = {kind for group in catalog.groups() for kind in catalog.kinds(group)}
    assert {code.casefold() for code in CODES} & {kind.casefold() for kind in kinds} == set()


def test_every_verdict_has_a_meaning():
    meanings = [find_verdict_meaning(verdict.value) for verdict in Verdict]
    assert all(meaning and meaning.means.endswith(".") and meaning.does.endswith(".") for meaning in meanings)
    assert find_verdict_meaning("Drifted") == find_verdict_meaning("drifted")
    assert find_verdict_meaning("Nothing") is None


def test_a_hundred_fields_have_words_and_the_longest_end_of_a_path_counts():
    assert len(load_field_words()) >= 100
    assert all(words.endswith(".") and words[0].isupper() for words in load_field_words().values())
    assert describe_common_field("spec.sku.name").startswith("The name of the size")
    assert describe_common_field("spec.tags") != describe_common_field("spec.name") == ""
