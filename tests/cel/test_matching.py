"""`matches`: regular expressions as RE2 reads them, in time that grows with the text and the pattern alone."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.cel.budget import EvaluationBudget
from gitsync.cel.evaluate import evaluate
from gitsync.cel.functions.matching import matches
from gitsync.cel.syntax.parser import parse
from gitsync.cel.values import EvaluationError


def found(text, pattern):
    return matches(EvaluationBudget(), text, pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "expected", "why"),
    [
        ("ell", "hello", True, "anywhere in the text"),
        ("", "hello", True, "nothing is everywhere"),
        ("", "", True, "even in nothing"),
        ("a", "", False, "something is not"),
        ("^ell", "hello", False, "not at the start"),
        ("^h.*o$", "hello", True, "from start to end"),
        ("o$", "hello\n", False, "the end is the end, and not a line before it"),
        ("(?m)o$", "hello\nworld", True, "unless lines are asked for"),
        ("(?m)^w", "hello\nworld", True, "their starts as well"),
        ("^w", "hello\nworld", False, "else there is one start"),
        ("a.c", "a\nc", False, "a point is no line break"),
        ("(?s)a.c", "a\nc", True, "unless it may be"),
        ("a\\.b", "axb", False, "a sign that is escaped stands for itself"),
        ("^[a-c]+$", "abcab", True, "a range of letters"),
        ("^[^a-c]+$", "xyz", True, "all but a range"),
        ("^[^a-c]+$", "xaz", False, "and nothing of it"),
        ("^[]a]+$", "]a", True, "a bracket that comes first is one of them"),
        ("^[a-]+$", "a-a", True, "a line at the end too"),
        ("^[\\d.-]+$", "1.2-3", True, "classes inside brackets"),
        ("^[[:alpha:]_]+$", "ab_", True, "classes by name"),
        ("^[[:^digit:]]+$", "ab1", False, "or all but them"),
        ("^\\d+\\s\\w+$", "12 ab_3", True, "digits, blanks, letters"),
        ("^\\D\\S\\W$", "ab!", True, "and all others"),
        ("^\\d$", "٣", False, "digits of ASCII"),
        ("^\\w$", "é", False, "letters of ASCII"),
        ("^\\pL+$", "héé", True, "letters of Unicode by their category"),
        ("^\\p{Lu}\\P{Lu}$", "Éa", True, "in detail, and all others"),
        ("^\\p{^Lu}$", "a", True, "all others, written otherwise"),
        ("^[\\pL\\pN]+$", "é٣", True, "inside brackets too"),
        ("^(ab|cd)+$", "abcdab", True, "one or the other, repeated"),
        ("^(?:a|b)?$", "", True, "or not at all"),
        ("^(?P<name>a)(?<other>b)$", "ab", True, "names of groups do not matter"),
        ("^a{2}$", "aa", True, "twice"),
        ("^a{2}$", "aaa", False, "and not three times"),
        ("^a{2,}$", "aaaa", True, "twice or more"),
        ("^a{1,3}$", "aaaa", False, "three times at most"),
        ("^a{0}$", "", True, "never"),
        ("^a{,2}$", "a{,2}", True, "a count needs its start, else it is text"),
        ("^a{x}$", "a{x}", True, "and a number"),
        ("^(a*)*$", "aaa", True, "a repetition of a repetition, in a group"),
        ("^(a|)*b$", "aab", True, "of nothing, too"),
        ("^a+?b*?c??$", "aabb", True, "whether it is greedy does not matter"),
        ("(?i)HELLO", "hello", True, "capitals or not"),
        ("(?i)^[a-c]É$", "Bé", True, "in ranges, and beyond ASCII"),
        ("(?i:A)b", "ab", True, "in a group alone"),
        ("(?i:A)b", "aB", False, "and not after it"),
        ("((?i)A)b", "aB", False, "nor after the group in which it is switched on"),
        ("(?i)a(?-i)b", "AB", False, "it can be switched off"),
        ("\\bcat\\b", "a cat!", True, "at the edges of words"),
        ("\\bcat\\b", "concat", False, "and only there"),
        ("\\Bcat", "concat", True, "or within them"),
        ("\\Ahe.*lo\\z", "hello", True, "other signs for start and end"),
        ("^\\x41\\x{1F642}\\101$", "A🙂A", True, "characters by their number"),
        ("^\\t\\n\\r\\f\\v\\a$", "\t\n\r\f\v\a", True, "and by their letter"),
        ("^\\Qa.b\\E+$", "a.b", True, "a text as it is"),
        ("^\\Qa.b", "a.b", True, "up to the end"),
        ("^\\Qa.b\\E$", "axb", False, "and not as a pattern"),
        ("^\\0$", "\0", True, "nothing by its number"),
        ("x*", "y" * 50, True, "none is enough"),
    ],
)
def test_patterns(pattern, text, expected, why):
    assert found(text, pattern) is expected, why


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(a)\\1", "a reference back"),
        ("(?=a)", "looking ahead"),
        ("(?!a)", "in vain"),
        ("(?<=a)b", "looking behind"),
        ("(?<!a)b", "in vain"),
        ("(?>a)", "a group that keeps what it has"),
        ("(?x)a", "a flag that RE2 does not know"),
        ("a**", "a repetition of a repetition"),
        ("a*+", "that keeps what it has"),
        ("a{2}{3}", "a count of a count"),
        ("*a", "a repetition of nothing"),
        ("a|+", "in a choice, too"),
        ("a{1001}", "too many repetitions"),
        ("a{3,2}", "fewer than at least"),
        ("(((a{900}){900}){900})", "too many by multiplication"),
        ("(a", "an open group"),
        ("a)", "one that closes nothing"),
        ("[a", "an open set"),
        ("[]", "one of nothing"),
        ("[b-a]", "a range backwards"),
        ("[a-\\d]", "to a class"),
        ("[[:letters:]]", "a class that is not known"),
        ("\\", "an escape of nothing"),
        ("\\C", "of a single byte"),
        ("\\Z", "of an end that RE2 does not know"),
        ("\\8", "of a group that cannot be"),
        ("\\x{110000}", "a character beyond Unicode"),
        ("\\xg", "a number that is none"),
        ("\\p{Greek}", "a script"),
        ("\\pX", "a category that is none"),
        ("(" * 31 + ")" * 31, "groups within groups within groups"),
        ("a" * 1001, "a long pattern"),
    ],
)
def test_patterns_that_are_refused(pattern, why):
    with pytest.raises(EvaluationError) as failed:
        found("aaa", pattern)
    assert failed.value.message.startswith("matches: "), why


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "^(a|a)*$", "a*a*a*a*a*a*a*a*c", "(.*)*c", "((a*)*)*c", "(a?){50}a{50}c"]
)
def test_a_pattern_that_would_keep_others_busy_for_ever(pattern):
    assert found("a" * 60 + "b", pattern) is False


def test_a_pattern_and_a_text_that_are_too_much_work_are_an_error():
    with pytest.raises(EvaluationError, match="too many steps"):
        found("a" * 10_000, "(a|b|c|d|e|f){20}z")


def test_a_set_of_hundreds_costs_more_than_one_letter():
    many = "".join(chr(0x4E00 + 2 * place) for place in range(900))
    assert found("a" * 20_000, "[bc]x") is False
    with pytest.raises(EvaluationError, match="too many steps"):
        found("a" * 20_000, f"[{many}]x")


def test_it_is_a_method_and_a_function():
    assert evaluate(parse("'abc'.matches('b') && matches('abc', '^a')"), {}) is True


letters = st.sampled_from("ab")
atoms = st.one_of(letters, st.sampled_from([".", "[ab]", "[^a]", "\\w", "\\b", "^", "$", "(?:)"]))
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "*?"])).map(lambda p: f"(?:{p[0]}){p[1]}"),
    ),
    max_leaves=6,
)


@given(patterns, st.text("abc\n", max_size=6))
def test_short_patterns_mean_what_they_mean_in_python(pattern, text):
    as_python = pattern.replace("$", "\\Z")
    assert found(text, pattern) is (re.search(as_python, text, re.ASCII) is not None)


@given(st.text("ab()[]{}|*+?.^$\\-dwsbzQE123,:<>P=!imx", max_size=15), st.text("ab1-", max_size=4))
def test_any_text_is_a_pattern_or_refused(pattern, text):
    try:
        assert found(text, pattern) in {True, False}
    except EvaluationError as failed:
        assert failed.message.startswith("matches: ")
