"""`matches`: regular expressions as Go's regexp reads them, and limits of what RE2 spends on them."""

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.cel.budget import EvaluationBudget
from gitsync.desired.cel.evaluate import evaluate
from gitsync.desired.cel.functions.matching import matches
from gitsync.desired.cel.syntax.parser import parse
from gitsync.errors import EvaluationError


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
        ("^\\p{Greek}+$", "αβ", True, "a script of Unicode"),
        ("(?i)^k$", "\u212a", True, "all forms of a letter: this one is the sign of Kelvin"),
        ("^" + "(" * 300 + "a" + ")" * 300 + "$", "a", True, "groups within groups"),
        ("^[\\pL\\pN_.-]{1,63}$", "é" * 63, True, "a name of any script"),
        ("^.\ud800$", "\ud800\ud800", True, "half of a surrogate pair is a character too"),
        ("^\\\\C$", "\\C", True, "a backslash and a letter, and not an escape"),
        ("^\\Q\\C\\E$", "\\C", True, "the same as it is"),
    ],
)
def test_patterns(pattern, text, expected, why):
    assert found(text, pattern) is expected, why


ESCAPE = "has an escape that RE2 does not support here (RE2 has no backreferences)"
GROUP = "has a lookahead, a lookbehind, or another group that RE2 does not support"
TWICE = "repeats a repetition without a group around it"
COUNT = "has an invalid repetition count; the maximum is 1000, nested counts multiplied"
CLASS = "has an unknown character class, or a range that ends before it starts"


@pytest.mark.parametrize(
    ("pattern", "expected", "why"),
    [
        ("(a)\\1", ESCAPE, "a reference back"),
        ("(?=a)", GROUP, "looking ahead"),
        ("(?!a)", GROUP, "in vain"),
        ("(?<=a)b", GROUP, "looking behind"),
        ("(?<!a)b", GROUP, "in vain"),
        ("(?>a)", GROUP, "a group that keeps what it has"),
        ("(?x)a", GROUP, "a flag that RE2 does not know"),
        ("(?P<>a)", "has an invalid group name", "a group without its name"),
        ("a**", TWICE, "a repetition of a repetition"),
        ("a*+", TWICE, "that keeps what it has"),
        ("a{2}{3}", TWICE, "a count of a count"),
        ("*a", "has a repetition with nothing to repeat", "a repetition of nothing"),
        ("a|+", "has a repetition with nothing to repeat", "in a choice, too"),
        ("a{1001}", COUNT, "too many repetitions"),
        ("a{3,2}", COUNT, "fewer than at least"),
        ("(((a{900}){900}){900})", COUNT, "too many by multiplication"),
        ("\\pL{999}", "is too large after its repetitions are expanded", "a large set, repeated"),
        ("(a", "has a group without a closing parenthesis", "an open group"),
        ("a)", "has a closing parenthesis without a group", "one that closes nothing"),
        ("[a", "has a set without a closing bracket", "an open set"),
        ("[]", "has a set without a closing bracket", "one of nothing"),
        ("[b-a]", CLASS, "a range backwards"),
        ("[a-\\d]", ESCAPE, "to a class"),
        ("[[:letters:]]", CLASS, "a class that is not known"),
        ("\\", "ends with a backslash", "an escape of nothing"),
        ("\\C", ESCAPE, "of a single byte, which Go does not have"),
        ("\\Qa\\E\\C", ESCAPE, "after a text as it is, too"),
        ("\\Z", ESCAPE, "of an end that RE2 does not know"),
        ("\\8", ESCAPE, "of a group that cannot be"),
        ("\\x{110000}", ESCAPE, "a character beyond Unicode"),
        ("\\xg", ESCAPE, "a number that is none"),
        ("\\p{Geek}", CLASS, "a script that is none"),
        ("\\pX", CLASS, "a category that is none"),
        ("a" * 1001, "is longer than 1000 characters", "a long pattern"),
    ],
)
def test_patterns_that_are_refused(pattern, expected, why):
    with pytest.raises(EvaluationError) as failed:
        found("aaa", pattern)
    assert failed.value.message == f"matches: the pattern {expected}", why


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "^(a|a)*$", "a*a*a*a*a*a*a*a*c", "(.*)*c", "((a*)*)*c", "(a?){50}a{50}c"]
)
def test_a_pattern_that_would_keep_others_busy_without_end(pattern):
    assert found("a" * 60 + "b", pattern) is False


@pytest.mark.parametrize(
    ("pattern", "text", "spends", "why"),
    [
        ("b", "a" * 10_000, range(10, 1_000), "a pattern that is looked for in a long text"),
        ("(a|b|c|d|e|f){20}z", "a" * 10_000, range(500, 5_000), "several ways at each letter"),
        ("(?s)a.{900}z", "a" * 10_000, range(200_000, 2_000_000), "hundreds of them"),
        ("\\pL{60}", "a", range(10_000, 100_000), "a program of thousands, before it runs"),
        ("\\pL{999}", "a", range(5_000, 50_000), "one that is too large"),
        ("(" + "a" * 900, "a", range(9_000, 50_000), "reading what is no pattern"),
    ],
)
def test_what_a_pattern_spends(pattern, text, spends, why):
    """Each is charged in proportion to the work: no more than the budget, and no less than what comes close to it."""
    with pytest.raises(EvaluationError, match="too many steps"):
        matches(EvaluationBudget(steps=spends.start), text, pattern)
    try:
        matches(EvaluationBudget(steps=spends.stop), text, pattern)
    except EvaluationError as failed:
        assert failed.message.startswith("matches: "), why


def test_nothing_is_logged(capfd):
    """RE2's log would repeat the pattern, which may be a secret."""
    for pattern in ("(hush", "\\pL{999}hush"):
        with pytest.raises(EvaluationError):
            found("a", pattern)
    assert found("ab" * 2_000, "[ab]*a[ab]{300}hush") is False
    assert capfd.readouterr() == ("", "")


def test_a_run_without_patterns_imports_no_re2():
    code = "import gitsync.desired.cel.functions.functions, sys; sys.exit('re2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


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
