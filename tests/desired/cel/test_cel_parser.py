"""Texts and trees: values, operators, macros, and what is not an expression."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitsync.desired.cel.syntax.parser import MOST_BRACKETS, MOST_DEPTH, parse
from gitsync.desired.cel.syntax.syntax_tree import (
    FunctionCall,
    Ident,
    IndexAccess,
    ListOf,
    Literal,
    Macro,
    MapOf,
    Select,
    iterate_children,
    iterate_depths,
)
from gitsync.desired.cel.values import Uint
from gitsync.errors import ExpressionError
from tests.support.hypothesis_profile import scale


def told(node):
    """A tree in one line, for tables: what it is made of, without locations."""
    match node:
        case Literal() | Ident():
            return node.name if isinstance(node, Ident) else repr(node.value)
        case Select():
            mark = "has:" if node.test else ".?" if node.optional else "."
            return f"{told(node.operand)}{mark}{node.field}"
        case IndexAccess():
            return f"{told(node.operand)}[{'?' * node.optional}{told(node.key)}]"
        case FunctionCall():
            target = f"{told(node.target)}->" if node.target is not None else ""
            return f"{target}{node.function}({', '.join(map(told, node.args))})"
        case ListOf():
            return f"[{', '.join('?' * optional + told(item) for item, optional in node.items)}]"
        case MapOf():
            return f"{{{', '.join('?' * o + f'{told(k)}: {told(v)}' for k, v, o in node.entries)}}}"
        case Macro():
            inside = "; ".join(map(told, node.args))
            return f"{node.name}<{' '.join(node.variables)}>({told(node.over)}; {inside})"


@pytest.mark.parametrize(
    ("text", "value", "why"),
    [
        ("true", True, "a keyword"),
        ("null", None, "null is a value"),
        ("0x1F", 31, "hexadecimal"),
        ("-9223372036854775808", -(2**63), "the least int needs its sign"),
        ("9223372036854775807", 2**63 - 1, "the greatest int"),
        ("18446744073709551615u", 2**64 - 1, "the greatest uint"),
        ("0xffU", 255, "a hexadecimal uint"),
        ("1.5e3", 1500.0, "a double with an exponent"),
        (".5", 0.5, "a double without a whole part"),
        ("-2.5", -2.5, "a negative double"),
        ("1e3", 1000.0, "an exponent makes a double"),
        ('"a\\tb"', "a\tb", "an escape by letter"),
        ("'it\\'s'", "it's", "an escaped quote"),
        ('"""a"b\nc"""', 'a"b\nc', "three quotes hold quotes and lines"),
        ("'''x'''", "x", "three single quotes"),
        ('r"a\\n"', "a\\n", "raw"),
        ("R'''a\\'''", "a\\", "raw in three quotes"),
        (r'"\u00e9\x41\101\U0001F600"', "éAA😀", "characters by number"),
        (r'b"\xff\101é"', b"\xffA\xc3\xa9", "bytes by number, and characters as UTF-8"),
        (r"b'\n'", b"\n", "a plain escape in bytes"),
        ('br"\\x"', b"\\x", "raw bytes"),
    ],
)
def test_a_literal_has_its_value(text, value, why):
    tree = parse(text)
    assert isinstance(tree, Literal), why
    assert (tree.value, type(tree.value) is bool) == (value, type(value) is bool), why


def test_a_uint_is_distinguished_from_an_int():
    assert type(parse("1u").value) is Uint
    assert type(parse("1").value) is int


@pytest.mark.parametrize(
    ("text", "tree", "why"),
    [
        ("1 + 2 * 3", "_+_(1, _*_(2, 3))", "products bind closer"),
        ("1 - 2 - 3", "_-_(_-_(1, 2), 3)", "from the left"),
        ("a || b && c", "_||_(a, _&&_(b, c))", "and binds closer than or"),
        ("a == b || c in d", "_||_(_==_(a, b), @in(c, d))", "relations bind closer than both"),
        ("a ? b : c ? d : e", "_?_:_(a, b, _?_:_(c, d, e))", "conditions from the right"),
        ("-a.b", "-_(a.b)", "a sign applies to the whole member"),
        ("-1.size()", "-1->size()", "a number keeps its sign"),
        ("!!a", "a", "two signs cancel out"),
        ("!!!a", "!_(a)", "and the third does not"),
        ("a - -1", "_-_(a, -1)", "minus a negative number"),
        ("(a + b) * c", "_*_(_+_(a, b), c)", "parentheses"),
        (".a", "a", "a leading dot says nothing here"),
        ("a.b.c[0]", "a.b.c[0]", "members and positions"),
        ("a.?b.c[?d]", "a.?b.c[?d]", "optional members and positions"),
        ("[1, ?a, 2,]", "[1, ?a, 2]", "optional items, and a comma at the end"),
        ("{'a': 1, ?b: c}", "{'a': 1, ?b: c}", "optional entries"),
        ("{}", "{}", "an empty map"),
        ("a.const.package", "a.const.package", "reserved words are fields"),
        ("a.has.map.all", "a.has.map.all", "names of macros are fields"),
        ("has(a.b)", "ahas:b", "a test"),
        ("a.f(1, b)", "a->f(1, b)", "a method"),
        ("f()", "f()", "a function"),
        ("aso.parseResourceId(a).name", "aso.parseResourceId(a).name", "a function of a namespace"),
        ("optional.none()", "optional.none()", "another one"),
        ("strings.trim()", "strings->trim()", "a variable that is named like a namespace"),
        ("a.map(x, y)", "map<x>(a; y)", "map with one argument"),
        ("a.map(x, y, z)", "map<x>(a; y; z)", "map with a condition"),
        ("a.all(i, v, v)", "all<i v>(a; v)", "two variables"),
        ("a.existsOne(i, v, v)", "exists_one<i v>(a; v)", "the newer spelling, of two variables alone"),
        ("a.exists_one(i, v, v)", "exists_one<i v>(a; v)", "and the older with two variables"),
        ("a.transformList(i, v, c, v)", "transformList<i v>(a; c; v)", "a transformation with a condition"),
        ("a.transformMapEntry(k, v, {v: k})", "transformMapEntry<k v>(a; {v: k})", "entries"),
        ("a.optMap(v, v).orValue(1)", "optMap<v>(a; v)->orValue(1)", "optional values"),
        ("cel.bind(x, a, x)", "bind<x>(a; x)", "a name for a value"),
        ("a.map(x)", "a->map(x)", "with too few arguments a macro is a method, which nobody has"),
        ("a // b\n+ c", "_+_(a, c)", "a comment ends with its line"),
        ("type(a) == google.protobuf.Timestamp", "_==_(type(a), google.protobuf.Timestamp)", "a type with dots"),
    ],
)
def test_what_an_expression_returns(text, tree, why):
    assert told(parse(text)) == tree, why


def test_a_node_has_its_location():
    tree = parse("a.b +\n  c(1)")
    assert (tree.at.line, tree.at.column) == (1, 5)
    assert (tree.args[0].at.line, tree.args[0].at.column) == (1, 2)
    assert (tree.args[1].at.line, tree.args[1].at.column) == (2, 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: Syntax error: unexpected end of expression, expecting an expression"),
        ("this expression", "1:6: Syntax error: mismatched input 'expression', expecting <EOF>"),
        ("a +\n  * b", "2:3: Syntax error: mismatched input '*', expecting an expression"),
        ("a.", "1:3: Syntax error: unexpected end of expression, expecting a field's name"),
        ("a.in", "1:3: Syntax error: mismatched input 'in', expecting a field's name"),
        ("(1", "1:3: Syntax error: unexpected end of expression, expecting ')'"),
        ("a ? b", "1:6: Syntax error: unexpected end of expression, expecting ':'"),
        ("f(a,)", "1:5: Syntax error: mismatched input ')', expecting an expression"),
        ("[1 2]", "1:4: Syntax error: mismatched input '2', expecting ']'"),
        ("{1}", "1:3: Syntax error: mismatched input '}', expecting ':'"),
        ("a @ b", "1:3: Syntax error: token recognition error at: '@'"),
        ("'a", '1:1: Syntax error: token recognition error at: "\'"'),
        ("if", "1:1: Syntax error: reserved identifier: if"),
        ("T{a: 1}", "1:2: Syntax error: 'T' cannot be built here: only lists and maps have literals"),
        ("'\\q'", "1:1: Syntax error: \\q is not an escape"),
        ("'\\ud800'", "1:1: Syntax error: \\ud800 is not a character"),
        ("b'\\u00e9'", "1:1: Syntax error: \\u00e9 is not allowed in bytes"),
        ("9223372036854775808", "1:1: Syntax error: invalid int literal: 9223372036854775808 does not fit 64 bits"),
        (
            "18446744073709551616u",
            "1:1: Syntax error: invalid uint literal: 18446744073709551616u does not fit 64 bits",
        ),
        ("1e999", "1:1: Syntax error: invalid double literal: 1e999 is too large"),
        ("1" * 500, f"1:1: Syntax error: invalid int literal: {'1' * 40}… does not fit 64 bits"),
        ("has(a)", "1:5: invalid argument to has() macro"),
        ("has(a.b, c)", "1:4: has() takes one field, as in has(self.spec.location)"),
        ("a.all(1, b)", "1:6: argument is not an identifier"),
        ("a.all(x, x, b)", "1:6: variable 'x' is used twice"),
        ("cel.bind(x, 1)", "1:9: cel.bind() takes a variable, its value, and an expression"),
        (" " * 100_001, "1:1: expression has 100001 characters, more than 100000"),
    ],
)
def test_what_is_not_an_expression(text, message):
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert caught.value.message == f"ERROR: <input>:{message}"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("(" * 5000, "brackets"),
        ("[" * 5000 + "]" * 5000, "brackets"),
        ("a.f(" * 50 + "1" + ")" * 50, "brackets"),
        ("a ? b : " * 5000 + "c", "brackets"),
        ("a[" * 50 + "0" + "]" * 50, "brackets"),
        ("1" + " + 1" * MOST_DEPTH, "expression"),
        ("a" + ".b" * MOST_DEPTH, "expression"),
    ],
)
def test_hostile_depth_is_refused(text, word):
    with pytest.raises(ExpressionError, match=f"{word}.* nested deeper than"):
        parse(text)


def test_as_much_as_is_allowed_is_read():
    parse("(" * MOST_BRACKETS + "1" + ")" * MOST_BRACKETS)
    tree = parse("1" + " + 1" * (MOST_DEPTH - 1))
    assert max(iterate_depths(tree)) == MOST_DEPTH
    parse("!" * 5001 + "a")


@given(st.text(max_size=40))
def test_any_text_is_a_tree_or_a_refusal(text):
    try:
        tree = parse(text)
    except ExpressionError as error:
        assert error.message.startswith("ERROR: <input>:")
    else:
        assert all(isinstance(child.at.line, int) for child in iterate_children(tree))


PIECES = [
    "self",
    ".a",
    "?",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ":",
    ",",
    "'x'",
    "1",
    "-",
    "!",
    " in ",
    "+",
    "map",
    "has(",
    "&&",
    "b'",
    "//",
    "\n",
    "\\",
    '"""',
]


@settings(max_examples=scale(150))
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_any_row_of_words_is_a_tree_or_a_refusal(text):
    try:
        parse(text)
    except ExpressionError as error:
        assert error.message.startswith("ERROR: <input>:")


def written(value):
    """A value as a literal: in the plainest spelling that CEL has for it."""
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(letter):08x}" if letter in '"\\\n\r' else letter for letter in value) + '"'
    if isinstance(value, bytes):
        return 'b"' + "".join(f"\\x{byte:02x}" for byte in value) + '"'
    return f"{value}u" if isinstance(value, Uint) else repr(value)


VALUES = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 2**64 - 1).map(Uint),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.binary(),
)


@given(VALUES)
def test_a_value_that_is_written_down_is_read_as_itself(value):
    read = parse(written(value)).value
    assert (read, type(read)) == (value, type(value))
