"""Patterns of RE2, spelled so that every engine reads them alike."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.editor.kind_schemas import allow_variables, ignore_case, spell_out
from gitsync.desired.validation.constraints import matches
from gitsync.model.gvk import GVK
from tests.desired.editor.schema_validation import CATALOG


@pytest.mark.parametrize(
    ("pattern", "spelled", "why"),
    [
        (r"^\d{2}$", "^[0-9]{2}$", "a class alone"),
        (r"^[\w\-]+$", r"^[0-9A-Za-z_\-]+$", "a class in brackets"),
        (r"^[^\s]+$", r"^[^\t\n\f\r ]+$", "in brackets that exclude"),
        (r"^\\d$", r"^\\d$", "an escaped backslash"),
        (r"^[]\d]$", r"^[]0-9]$", "a bracket that begins with its own end"),
        (r"^a\.b$", r"^a\.b$", "other escapes stay"),
    ],
)
def test_classes_are_spelled_out(pattern, spelled, why):
    assert spell_out(pattern) == spelled, why


def list_patterns():
    """Every pattern of the newest kinds."""
    kinds = [CATALOG.kind(GVK(g, CATALOG.versions(g, k)[-1], k)) for g in CATALOG.groups() for k in CATALOG.kinds(g)]
    fields = [field for kind in kinds for type_ in kind.types.values() for field in type_["fields"].values()]
    rules = [kind.azure_name for kind in kinds] + fields + [f["type"] for f in fields if isinstance(f["type"], dict)]
    return sorted({rule["pattern"] for rule in rules if "pattern" in rule})


PATTERNS = st.deferred(lambda: st.sampled_from(list_patterns()))
TEXTS = st.text(st.sampled_from("abzAZ019-_.:/ \té٣"), max_size=8)


@given(PATTERNS, TEXTS)
def test_a_spelled_pattern_matches_the_same_texts(pattern, text):
    assert bool(re.search(spell_out(pattern).replace("$", r"\Z"), text)) is matches(text, pattern)


def test_a_text_in_any_case():
    assert re.fullmatch(ignore_case("a-b"), "A-b")
    assert not re.fullmatch(ignore_case("a.b"), "axb")


def test_a_variable_fits_where_its_value_would_not_be_known():
    assert re.search(allow_variables("^[a-z]{3}$"), "${NAME}-net")
    assert not re.search(allow_variables("^[a-z]{3}$"), "$NAME")
