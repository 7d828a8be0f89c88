"""`${NAME}` in texts, as Flux reads it. The expected texts are those of fluxcd/pkg/envsubst 1.9.0."""

import pytest

from gitsync.desired.manifests.expansions import MAX_NESTED, ExpansionBudget
from gitsync.desired.manifests.substitution import UnsetVariable, expand_text
from gitsync.errors import InvalidExpansionError, TooLargeExpansionError
from gitsync.model.secret import Secret
from gitsync.model.variables import VariableValues

VALUES = {"A": "abcABCabc", "EMPTY": "", "C": "a/b/c.d", "STARS": "*a*", "E": "foo.bar.txt", "N": "2", "U": "äöé"}


def expand(text, budget=None, **known):
    return expand_text(text, VariableValues(known={**VALUES, **known}), budget or ExpansionBudget())


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("no variable", "no variable", "a plain text"),
        ("${A}", "abcABCabc", "the value"),
        ("x-${N}-y", "x-2-y", "in the middle"),
        ("${EMPTY}", "", "an empty value is a value"),
        ("$A ${N} $", "$A 2 $", "braces are needed"),
        ("$${A}", "${A}", "a literal"),
        ("$$", "$", "two dollars are one"),
        ("$$$${A}", "$${A}", "twice"),
        ("$$${A}", "$abcABCabc", "a dollar before a variable"),
        ("${Z:-d}", "d", "a default"),
        ("${Z:=d}", "d", "the other spelling"),
        ("${Z=d}", "d", "the third spelling"),
        ("${EMPTY:-d}", "d", "an empty value takes the default"),
        ("${EMPTY=d}", "d", "with every spelling"),
        ("${N:-d}", "2", "a value before the default"),
        ("${Z:=}", "", "an empty default"),
        ("${Z:=a ${N} b}", "a 2 b", "a variable in a default"),
        ("${Z:=$x$$}", "$x$$", "dollars in a default stay"),
        ("${Z:-${Y:-${N}}}", "2", "nested defaults"),
        ("${N:?say}", "2", "a required value that is there"),
        ("${#A}", "9", "the length"),
        ("${#U}", "6", "the length in bytes"),
        ("${C^}", "A/b/c.d", "one capital"),
        ("${C^^}", "A/B/C.D", "all capitals"),
        ("${A,,}", "abcabcabc", "no capitals"),
        ("${U^}", "Äöé", "a capital beyond ASCII"),
        ("${EMPTY^}", "", "no first letter"),
        ("${A/abc/x}", "xABCabc", "replaced once"),
        ("${A//abc/x}", "xABCx", "replaced everywhere"),
        ("${A//abc/}", "ABC", "replaced with nothing"),
        ("${A/#abc/x}", "xABCabc", "at the start"),
        ("${A/%abc/x}", "abcABCx", "at the end"),
        ("${A/#abc/}", "abcABCabc", "nothing is no text to Flux, at the start"),
        (r"${C/\//-}", "a-b/c.d", "an escaped slash"),
        ("${C//b/${N}}", "a/2/c.d", "a variable as the new text"),
        ("${E#*.}", "bar.txt", "the shortest beginning"),
        ("${E##*.}", "txt", "the longest"),
        ("${E%.*}", "foo.bar", "the shortest end"),
        ("${E%%.*}", "foo", "the longest end"),
        ("${C#*/}", "b/c.d", "a star takes slashes too"),
        ("${E#f[n-p]?}", ".bar.txt", "a class and a question mark"),
        ("${E#[^a-c]}", "oo.bar.txt", "a negated class"),
        (r"${STARS#\*}", "a*", "an escaped star"),
        ("${E#x}", "foo.bar.txt", "no match"),
        ("${A:3}", "ABCabc", "from an offset"),
        ("${A:3:3}", "ABC", "a part"),
        ("${A:1:-1}", "bcABCab", "without the last"),
        ("${A:20}", "", "beyond the end"),
        ("${A:${N}}", "cABCabc", "a variable as the offset"),
        ("${A:x}", "abcABCabc", "an offset that is no number"),
    ],
)
def test_texts_become_what_flux_makes_of_them(text, expected, why):
    expanded = expand(text)
    assert (expanded.text, expanded.unset) == (expected, ()), why


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("${A", "no closing brace", "Close it"),
        ("${A:-x", "closing brace", "Close it"),
        ("${}", "not followed by the name of a variable", "$${"),
        ("${1}", "not followed by the name of a variable", "$${"),
        ("${ñ}", "not followed by the name of a variable", "$${"),
        ("${{ github.sha }}", "not followed by the name of a variable", "$${"),
        ("${a.b}", "does not support the text after", "$${"),
        ("${A-x}", "Flux does not support", "${A:-…}"),
        ("${A?x}", "Flux does not support", "${A:?…}"),
        ("${A:+x}", "opposite", "${A:-…}"),
        ("${A#}", "does not support the text after", "$${"),
        ("${A:}", "does not support the text after", "$${"),
        ("${A/x}", "", ""),
        ("${A#${N}x}", "does not support the text after", "$${"),
        ("${A#[a}", "[ without its ]", "Fix the pattern"),
        ("${A%[a]}", "backwards", "* and ?"),
        ("${U:1}", "splits a multi-byte character", "Change the offset"),
        ("${Z:=" * (MAX_NESTED + 1) + "}" * (MAX_NESTED + 1), "nested", "Set one variable"),
    ],
)
def test_what_is_not_an_expansion_is_refused(text, message, hint):
    with pytest.raises(InvalidExpansionError) as refused:
        expand(text)
    assert message in refused.value.message
    assert hint in refused.value.hint


@pytest.mark.parametrize("text", ["${Z}", "${Z^^}", "${#Z}", "${Z:1}", "${Z//a/b}", "${Z#a}", "${Y:=${Z}}"])
def test_a_variable_without_a_value_is_unset(text):
    assert expand(text).unset == (UnsetVariable("Z"),)


def test_a_required_variable_reports_why():
    assert expand("${Z:?set it to ${N}} ${Z}").unset == (UnsetVariable("Z", "set it to 2"),)


def test_a_variable_that_no_default_needs_is_not_missing():
    assert expand("${A:-${Z}}").unset == ()


def test_a_value_is_not_looked_into():
    assert expand("${X}", X="${A} $$").text == "${A} $$"


def test_a_value_that_was_not_read_has_no_default():
    values = VariableValues(known={"A": "a"}, unread=("Secret ns/x is in no secret source",))
    expanded = expand_text("${A} ${Z:=d}", values, ExpansionBudget())
    assert expanded.unset == (UnsetVariable("Z", is_unread=True),)


def test_the_secrets_and_names_of_a_text():
    secret = Secret("hush")
    expanded = expand_text("${P^^} ${Q:=${A}}", VariableValues(known={"P": secret, "Q": "q"}), ExpansionBudget())
    assert (expanded.text, expanded.secrets) == ("HUSH q", (secret,))
    assert expanded.names == {"P", "Q", "A"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("${BIG}${BIG}", "values"),
        ("${BIG//x/${BIG}}", "a replacement"),
        ("${BIG///${BIG}}", "a replacement between all letters"),
        ("${BIG#*a*b*c*d*e*f*}", "a glob"),
        ("${Z:=${BIG}}${Z:=${BIG}}", "defaults"),
    ],
)
def test_few_variables_cannot_become_any_number_of_characters(text, why):
    with pytest.raises(TooLargeExpansionError):
        expand(text, ExpansionBudget(left=2000), BIG="x" * 1500)


def test_a_glob_of_many_stars_costs_no_more_than_its_length_times_that_of_the_value():
    budget = ExpansionBudget()
    assert expand("${BIG##" + "*a" * 40 + "*b}", budget, BIG="a" * 2000).text == "a" * 2000
    assert budget.left > 0
