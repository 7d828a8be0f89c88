"""What `dump` writes is read as the same value, by Kubernetes and by Python."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.manifests.yaml_documents import read_documents
from gitsync.desired.manifests.yaml_output import dump

AWKWARD = [
    "", "~", "null", "y", "Y", "n", "NO", "on", "true", "1", "-1", "08", "0o17", "0x1F", "0b1", "1_000", "1e3", "6e5", "+.5", ".5", "5.",
    "1.0", ".inf", ".nan", "12:30:45", "1:30", "2020-01-01", "2020-13-45", "=", "<<", "- a", "a: b", "#", "a #b", "*a", "&a", "!a", "%a",
    "@a", "`a", "'", '"', "|", ">", "?", "? a", ":", "---", "...", "a\n---\nb", " a", "a ", "\ta", "a\r\nb", "a\x00b", "\x85", "\u2028",
    "\ufeff", "\ud7ff", "😀", "é", "{}", "[]", "{a", "a\\b", "x" * 300,
]  # fmt: skip

TEXTS = (
    st.text(alphabet="ab:#-? '\"\n\t0.,{}[]/$é|>&*!%@`~=\x85\u2028\r", max_size=8)
    | st.text(max_size=5)
    | st.sampled_from(
        ["x" * 128, "x" * 129, "é" * 64, "é" * 65, "true", "1e3", "08", "2020-01-01", "=", "<<", "- a", "a\ud800b"]
    )
)
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=14)


@given(st.dictionaries(TEXTS, VALUES))
def test_a_document_is_read_as_the_same_value(value):
    readable = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    written = dump(readable)
    (document,) = read_documents("a.yaml", written).documents
    assert document.value == readable


@pytest.mark.parametrize("text", AWKWARD)
def test_text_comes_back_as_text_in_kubernetes_and_in_python(text):
    written = dump({"key": text, text: ["x", text]})
    (document,) = read_documents("a.yaml", written).documents
    assert document.value == {"key": text, text: ["x", text]}
    assert yaml.safe_load(written) == document.value


def test_half_of_a_surrogate_pair_does_not_stop_the_writing():
    assert yaml.safe_load(dump({"message": "a\ud800b"})) == {"message": "a?b"}


@given(st.dictionaries(TEXTS, VALUES))
def test_a_document_with_blocks_is_read_as_the_same_value(value):
    readable = json.loads(json.dumps(value).encode("utf-8", "replace"))
    assert yaml.load(dump(readable, has_blocks=True), yaml.CSafeLoader) == yaml.load(dump(readable), yaml.CSafeLoader)
