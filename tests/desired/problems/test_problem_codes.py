"""The table of codes: every one of gitsync's codes is in it, no other is, and its examples are real."""

from __future__ import annotations

import pytest

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
from gitsync.model.verdict import Verdict

CODES = {meaning.code: meaning for meaning in load_codes()}


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
