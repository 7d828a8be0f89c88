"""What expressions come to: operators, access, macros, optionals, and how they fail."""

import math
from dataclasses import dataclass

import pytest

from gitsync.desired.cel.evaluate import evaluate
from gitsync.desired.cel.syntax.parser import parse
from gitsync.desired.cel.syntax.syntax_tree import FunctionCall, Ident, Position
from gitsync.desired.cel.values import NONE, Duration, MapValue, Optional, TypeValue, Uint, name_type
from gitsync.errors import EvaluationError, GitsyncError
from tests.desired.cel import evaluating
from tests.desired.cel.evaluating import row

SELF = {
    "metadata": {"name": "cache", "annotations": {"team": "core", "cost centre": "7"}},
    "spec": {"sizes": [3, 1, 2], "tags": {"a": "x", "b": "y"}, "nothing": None, "share": 1.5, "deep": {"er": "down"}},
}
SECRET = {"primaryKey": "hunter2-hunter2"}


def value_of(text, **variables):
    return evaluating.value_of(text, **{"self": SELF, "secret": SECRET, **variables})


def failure_of(text, **variables):
    return evaluating.failure_of(text, **{"self": SELF, "secret": SECRET, **variables})


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        row("1 + 2 * 3 - 4", 3, "multiplication binds closer"),
        row("7 / 2", 3, "what is behind the point is dropped"),
        row("-7 / 2", -3, "towards zero, below zero too"),
        row("7 / -2", -3, "whichever side is negative"),
        row("-7 % 3", -1, "a remainder has the sign of what was divided"),
        row("7 % -3", 1, "and not that of the divisor"),
        row("7u / 2u", Uint(3), "uints divide as ints do"),
        row("7u % 4u", Uint(3), "and have remainders"),
        row("2u + 3u * 2u - 1u", Uint(7), "and the rest of arithmetic"),
        row("1.0 / 4.0", 0.25, "doubles keep what is behind the point"),
        row("1.0 / 0.0", math.inf, "a double divided by zero is endless"),
        row("-1.0 / 0.0", -math.inf, "in the direction of its sign"),
        row("1.0 / -0.0", -math.inf, "zero has a sign too"),
        row("string(0.0 / 0.0)", "NaN", "nothing in nothing is no number"),
        row("1.5 * 2.0 - 1.0", 2.0, "doubles with doubles"),
        row("-(1.5)", -1.5, "a double changes its sign"),
        row("-(3)", -3, "so does an int"),
        row("-9223372036854775808", -(2**63), "the smallest int can be written"),
        row("18446744073709551615u", Uint(2**64 - 1), "and the largest uint"),
        row("'a' + 'b'", "ab", "strings are put together"),
        row("b'a' + b'b'", b"ab", "bytes too"),
        row("[1] + [2, 3]", [1, 2, 3], "and lists"),
        row("!true", False, "not"),
        row("!!true", True, "not not"),
    ],
)
def test_operators_reckon(expression, expected):
    found = value_of(expression)
    assert (found, name_type(found)) == (expected, name_type(expected))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        row("1 / 0", "division by zero", "no int divides by nothing"),
        row("1 % 0", "modulus by zero", "nor leaves a remainder"),
        row("1u / 0u", "division by zero", "nor a uint"),
        row("9223372036854775807 + 1", "integer overflow", "an int has 64 bits"),
        row("-9223372036854775808 - 1", "integer overflow", "downwards too"),
        row("9223372036854775807 * 2", "integer overflow", "and by multiplication"),
        row("-9223372036854775808 / -1", "integer overflow", "the one quotient that does not fit"),
        row("-(-9223372036854775808)", "integer overflow", "its opposite does not fit either"),
        row("1u - 2u", "unsigned integer overflow", "a uint is never below zero"),
        row("18446744073709551615u + 1u", "unsigned integer overflow", "and has 64 bits"),
        row("dyn(1) + 1.0", "no such overload: _+_(int, double)", "there is no arithmetic of two types"),
        row("dyn('a') + 1", "no such overload: _+_(string, int)", "nor of text and number"),
        row("-dyn(1u)", "no such overload: -_(uint)", "a uint has no opposite"),
        row("dyn(1.0) % 2.0", "no such overload: _%_(double, double)", "a double has no remainder"),
        row("!dyn(1)", "no such overload: !_(int)", "a number is not a truth"),
    ],
)
def test_operators_refuse(expression, message):
    assert failure_of(expression) == message


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        row("1 == 1.0", True, "numbers are points on one line"),
        row("1u == 1", True, "whatever their types"),
        row("1.5 == dyn(1)", False, "and may differ"),
        row("9007199254740993 == 9007199254740992.0", False, "compared exactly, and not as doubles"),
        row("dyn(1) == true", False, "but true is no number"),
        row("dyn(0) == false", False, "and false is no zero"),
        row("dyn('1') == 1", False, "values of different types are not equal"),
        row("dyn(null) == 0", False, "null is nothing else either"),
        row("null == null", True, "but itself"),
        row("[1, 2] == [1.0, 2u]", True, "lists compare item by item"),
        row("[1, 2] == [1]", False, "of all items"),
        row("[dyn(1)] == [dyn(true)]", False, "in lists true is no number either"),
        row("{'a': 1} == {'a': 1.0}", True, "maps compare entry by entry"),
        row("{'a': 1} == {'b': 1}", False, "by their keys"),
        row("{'a': 1} == {'a': 2}", False, "and by their values"),
        row("{'a': 1} == {'a': 1, 'b': 2}", False, "all of them"),
        row("{1: 'a'} == {1u: 'a'}", True, "keys as numbers are"),
        row("{dyn(1): 'a'} == {dyn(true): 'a'}", False, "and true is none"),
        row("self.spec.tags == {'b': 'y', 'a': 'x'}", True, "the order of a map does not count"),
        row("double('NaN') == double('NaN')", False, "NaN equals nothing"),
        row("[double('NaN')].map(x, x == x) == [false]", True, "itself included"),
        row("cel.bind(l, [double('NaN')], l == l)", False, "in a list, too"),
        row("double('NaN') != 1.0", True, "so it differs from all"),
        row("optional.of(1) == optional.of(1.0)", True, "optionals compare by what they hold"),
        row("optional.none() == optional.none()", True, "none is none"),
        row("optional.none() == optional.of(null)", False, "and not null"),
        row("b'a' == bytes('a')", True, "bytes by their bytes"),
        row("b'a' == b'ab'", False, "all of them"),
        row("type(1) == int && type(1u) == uint && type(1.0) == double", True, "types are values"),
        row("type([]) == list && type({}) == map && type(null) == null_type", True, "of all kinds"),
        row("type(int) == type", True, "types have a type"),
        row("type(duration('1s')) == google.protobuf.Duration", True, "times have the names of their messages"),
        row("1 < 2 && 2 <= 2 && 3 > 2 && 2 >= 2", True, "whole numbers have an order"),
        row("1 < 1.5 && 2u > 1.5 && 1u < 2", True, "across types as well"),
        row("'a' < 'b' && b'a' < b'b' && false < true", True, "so have text, bytes and truths"),
        row("'Z' < 'a'", True, "by code point"),
        row("duration('1m') < duration('2m')", True, "lengths of time too"),
        row("timestamp('2024-01-01T00:00:00Z') < timestamp('2024-01-01T00:00:00.5Z')", True, "and points in time"),
        row("double('NaN') < 1.0 || 1.0 >= double('NaN')", False, "NaN is neither before nor behind"),
        row("dyn([1]) in {1: 2}", False, "a list is no key"),
        row("{'a': 1, 'a': 2} == {'a': 2}", True, "the last entry of a key counts"),
        row("{1.5: 'a'}[1.5] == 'a'", True, "a double may be a key"),
        row("2 in [1.0, 2.0]", True, "an item is found by equality"),
        row("dyn(true) in [dyn(1)]", False, "which tells true from 1"),
        row("'a' in {'a': 1}", True, "a key is found"),
        row("'b' in self.spec.tags", True, "in JSON as well"),
        row("dyn(1) in self.spec.tags", False, "where keys are strings alone"),
        row("dyn(1.0) in {1: 2}", True, "keys are found by equality"),
        row("dyn(true) in {1: 2}", False, "which tells true from 1 there, too"),
    ],
)
def test_comparisons(expression, expected):
    assert value_of(expression) is expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        row("dyn('a') < 1", "no such overload: _<_(string, int)", "text and numbers have no common order"),
        row("dyn([1]) < dyn([2])", "no such overload: _<_(list, list)", "lists have none"),
        row("1 in dyn('abc')", "no such overload: in(int, string)", "a string holds no items"),
    ],
)
def test_comparisons_refuse(expression, message):
    assert failure_of(expression) == message


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        row("true || 1 / 0 > 0", True, "the left side decides"),
        row("1 / 0 > 0 || true", True, "and so may the right, though the left fails"),
        row("false && 1 / 0 > 0", False, "the same for and"),
        row("1 / 0 > 0 && false", False, "whichever side it is"),
        row("dyn('x') || true", True, "what is no truth is such a failure"),
        row("false || false || true", True, "in rows"),
        row("true ? 1 : 1 / 0", 1, "a condition works out one side"),
        row("false ? 1 / 0 : 2", 2, "the one that it chooses"),
    ],
)
def test_what_is_not_needed_may_fail(expression, expected):
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        row("1 / 0 > 0 || false", "division by zero", "nothing else decides"),
        row("1 / 0 > 0 && true", "division by zero", "for and alike"),
        row("false || 1 / 0 > 0", "division by zero", "on the right as well"),
        row("1 / 0 > 0 || 1 % 0 > 0", "modulus by zero", "two failures are one"),
        row("true && dyn(1)", "no such overload: _&&_(int)", "a number decides nothing"),
        row("dyn(1) ? 2 : 3", "no such overload: _?_:_(int)", "nor does it choose"),
    ],
)
def test_what_is_needed_may_not(expression, message):
    assert failure_of(expression) == message


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        row("self.metadata.name", "cache", "a field of a map"),
        row("self.metadata.annotations['cost centre']", "7", "an entry by its key"),
        row("self.spec.sizes[0]", 3, "an item by its place"),
        row("self.spec.sizes[dyn(1u)]", 1, "a uint is a place"),
        row("self.spec.sizes[dyn(2.0)]", 2, "so is a whole double"),
        row("{1: 'a'}[dyn(1.0)]", "a", "and it is a key"),
        row("{true: 'a', false: 'b'}[false]", "b", "truths are keys"),
        row("{dyn(true): 'a', dyn(1): 'b'}[dyn(true)]", "a", "and differ from numbers"),
        row("has(self.metadata.name)", True, "what is there"),
        row("has(self.metadata.nope)", False, "what is not"),
        row("has(self.spec.nothing)", True, "null is there"),
        row("has(self.metadata.name.nope)", False, "text has no fields"),
        row("{'a': {'b': 1}}.a.b", 1, "fields of maps that the expression made"),
        row("self.spec.nothing == null", True, "null reads as null"),
    ],
)
def test_access(expression, expected):
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        row("self.nope", "no such key: nope", "a field is named as the expression says it"),
        row("self.spec.deep.er.nope", "no such key: nope", "text has no fields"),
        row("secret['other']", "no such key: other", "a key is named where it stands in the expression"),
        row("self.spec.tags[secret.primaryKey]", "no such key", "and never where it was worked out"),
        row("self.spec.sizes[7]", "index out of bounds: 7", "behind the last item"),
        row("self.spec.sizes[-1]", "index out of bounds: -1", "before the first"),
        row(
            "self.spec.sizes[size(secret.primaryKey)]", "index out of bounds", "a place that was worked out is not told"
        ),
        row("self.spec.sizes[dyn(0.5)]", "a list index must be a whole number", "there is no half place"),
        row("self.spec.sizes[double('NaN')]", "a list index must be a whole number", "nor one that is no number"),
        row("self.spec.sizes[dyn('a')]", "no such overload: list[string]", "nor a place of text"),
        row("dyn('abc')[0]", "no such overload: string[int]", "a string has no items"),
        row("self.spec.tags[dyn([1])]", "no such overload: map[list]", "a list is no key"),
        row("{b'a': 'a'}", "unsupported key type: bytes", "nor are bytes"),
        row("unknown", "undeclared reference to 'unknown'", "there is no such variable"),
    ],
)
def test_access_refuses(expression, message):
    assert failure_of(expression) == message


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        row("[1, 2, 3].all(x, x > 0)", True, "all"),
        row("[].all(x, false)", True, "all of none"),
        row("[1, 0].all(x, 1 / x > 5)", False, "one that decides outweighs one that fails"),
        row("[0, 1].all(x, 1 / x > 5)", False, "whichever comes first"),
        row("[1, 2].exists(x, x == 2)", True, "any"),
        row("[].exists(x, true)", False, "any of none"),
        row("[0, 1].exists(x, 1 / x == 1)", True, "a failure is forgotten where another item decides"),
        row("[1, 2, 2].exists_one(x, x == 2)", False, "exactly one, and not two"),
        row("[1, 2].exists_one(x, x == 2)", True, "exactly one"),
        row("[1, 2].existsOne(i, x, i == 1 && x == 2)", True, "with two variables, under its other name"),
        row("[1, 2, 3, 4].filter(x, x % 2 == 0)", [2, 4], "what fits"),
        row("{'b': 1, 'a': 2}.filter(k, k > 'a')", ["b"], "of a map, its keys"),
        row("[1, 2].map(x, x * 2)", [2, 4], "something of each"),
        row("[1, 2, 3].map(x, x > 1, x * 2)", [4, 6], "of each that fits"),
        row("self.spec.tags.map(k, k + '!')", ["a!", "b!"], "of the keys of a map"),
        row("['a', 'b'].transformList(i, x, string(i) + x)", ["0a", "1b"], "with places"),
        row("['a', 'b'].transformList(i, x, i > 0, x)", ["b"], "of some"),
        row("{'a': 'x'}.transformList(k, v, k + v)", ["ax"], "a list of a map"),
        row("self.spec.tags.transformMap(k, v, k + v)", {"a": "ax", "b": "by"}, "a map with the same keys"),
        row("self.spec.tags.transformMap(k, v, k == 'b', v)", {"b": "y"}, "of some of them"),
        row("['a', 'b'].transformMap(i, x, x)", {0: "a", 1: "b"}, "of a list, by places"),
        row("self.spec.tags.transformMapEntry(k, v, {v: k})", {"x": "a", "y": "b"}, "with other keys"),
        row("self.spec.tags.transformMapEntry(k, v, k == 'a', {v: k})", {"x": "a"}, "of some entries"),
        row("['a', 'b'].transformMapEntry(i, x, {x: i})", {"a": 0, "b": 1}, "of a list"),
        row("['a', 'b'].transformMapEntry(i, x, {})", {}, "nothing of each is nothing"),
        row("[1, 2].all(i, x, x == i + 1)", True, "all, with places"),
        row("self.spec.tags.exists(k, v, k == 'a' && v == 'x')", True, "any, with values"),
        row("[[1, 2], [3]].map(x, x.map(y, y + size(x)))", [[3, 4], [4]], "inside each other"),
        row("[1].map(x, [2].map(x, x))", [[2]], "the inner variable hides the outer"),
        row("['s'].map(self, self + secret.primaryKey.substring(0, 1))", ["sh"], "and hides those of outside"),
        row("cel.bind(x, 2, x * x)", 4, "a name for a value"),
    ],
)
def test_macros(expression, expected):
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        row("[1, 0].all(x, 1 / x > 0)", "division by zero", "nothing else decides"),
        row("[0].exists(x, 1 / x > 0)", "division by zero", "nor here"),
        row("[0, 1].exists_one(x, 1 / x == 1)", "division by zero", "exactly one asks every item"),
        row("[0].filter(x, 1 / x > 0)", "division by zero", "so does a filter"),
        row("[1].all(x, dyn(x))", "no such overload: all(int)", "a condition is a truth"),
        row("dyn(1).all(x, true)", "no such overload: a macro over int", "a number has no items"),
        row("dyn('ab').map(x, x)", "no such overload: a macro over string", "nor has text"),
        row("['a', 'b'].transformMapEntry(i, x, {'k': x})", "the map has the same key twice", "keys must differ"),
        row("['a'].transformMapEntry(i, x, dyn(x))", "transformMapEntry: the result is not a map", "entries are maps"),
        row("dyn(1).optMap(x, x)", "no such overload: int.optMap", "only optionals have a value or none"),
        row("optional.of(1).optFlatMap(x, dyn(x))", "optFlatMap: the result is not an optional", "it stays optional"),
    ],
)
def test_macros_refuse(expression, message):
    assert failure_of(expression) == message


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        row("self.?metadata.?name", Optional("cache"), "what is there"),
        row("self.?nope", NONE, "what is not"),
        row("self.?nope.deeper.still", NONE, "further access to none is none"),
        row("self.?metadata.name", Optional("cache"), "and to an optional is optional"),
        row("self.?metadata.annotations['team']", Optional("core"), "by key as well"),
        row("self.spec.sizes[?1]", Optional(1), "an item that is there"),
        row("self.spec.sizes[?9]", NONE, "one that is not"),
        row("self.spec.tags[?'z']", NONE, "a key that is not"),
        row("self.?nope[0]", NONE, "nothing in none"),
        row("has(self.?metadata.name)", True, "whether it is there, through an optional"),
        row("has(self.?nope.name)", False, "and that it is not"),
        row("self.?spec.?nothing", Optional(None), "null is a value"),
        row("optional.of(1).value()", 1, "what an optional holds"),
        row("optional.of(1).hasValue()", True, "whether it does"),
        row("optional.none().hasValue()", False, "or not"),
        row("optional.none().or(optional.of(2))", Optional(2), "the other where there is none"),
        row("optional.of(1).or(optional.of(1 / 0))", Optional(1), "which is else not worked out"),
        row("optional.none().orValue(3)", 3, "a value where there is none"),
        row("optional.of(1).orValue(1 / 0)", 1, "which is else not worked out"),
        row("optional.ofNonZeroValue('')", NONE, "empty text is nothing"),
        row("optional.ofNonZeroValue('a')", Optional("a"), "other text is something"),
        row("optional.ofNonZeroValue(0) == optional.none()", True, "zero is nothing"),
        row("optional.ofNonZeroValue(false)", NONE, "false is nothing"),
        row("optional.ofNonZeroValue([])", NONE, "an empty list is nothing"),
        row("optional.ofNonZeroValue({})", NONE, "an empty map is nothing"),
        row("optional.ofNonZeroValue(null)", NONE, "null is nothing"),
        row("optional.ofNonZeroValue(duration('0s'))", NONE, "no time is nothing"),
        row("optional.ofNonZeroValue(duration('1s'))", Optional(Duration(10**9)), "a second is something"),
        row("optional.of(2).optMap(x, x * 2)", Optional(4), "something of what it holds"),
        row("optional.none().optMap(x, 1 / 0)", NONE, "or nothing"),
        row("optional.of(2).optFlatMap(x, optional.of(x + 1))", Optional(3), "an optional of what it holds"),
        row("optional.of(2).optFlatMap(x, optional.none())", NONE, "or none"),
        row("optional.none().optFlatMap(x, optional.of(1 / 0))", NONE, "of none, none"),
        row("[?self.?nope, ?self.?metadata.?name, 1]", ["cache", 1], "items that may not be there"),
        row("{?'a': self.?nope, ?'b': optional.of(1)}", {"b": 1}, "entries that may not be there"),
    ],
)
def test_optionals(expression, expected):
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        row("optional.none().value()", "optional.none() dereference", "none holds nothing"),
        row("[?dyn(1)]", "no such overload: [?_](int)", "an item that may not be there is optional"),
        row("{?'a': dyn(1)}", "no such overload: {?_}(int)", "so is an entry"),
        row("dyn(1).orValue(2)", "no such overload: orValue(int)", "a number is always there"),
        row("optional.none().or(dyn(2))", "no such overload: or(int)", "the other is optional as well"),
    ],
)
def test_optionals_refuse(expression, message):
    assert failure_of(expression) == message


@dataclass(frozen=True)
class Server:
    """An object with declared fields, of which one is set."""

    def read_member(self, name):
        return {"host": "db.example", "port": 0, "tags": {}}[name]

    def has(self, name):
        return name == "host"

    def is_zero(self):
        return False

    def find_type_name(self):
        return "db.Server"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        row("server.host", "db.example", "a field that is set"),
        row("server.port", 0, "one that is not reads as its zero value"),
        row("has(server.host)", True, "has tells"),
        row("has(server.port)", False, "that it is not set"),
        row("server.?host", Optional("db.example"), "as an optional"),
        row("server.?port", NONE, "or none"),
        row("server == server", True, "an object equals itself"),
        row("dyn(server) == {'host': 'db.example'}", False, "and no map"),
    ],
)
def test_objects_with_declared_fields(expression, expected):
    assert value_of(expression, server=Server()) == expected


def test_an_object_is_not_entered_by_key():
    assert failure_of("dyn(server)['host']", server=Server()) == "no such overload: object[string]"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        row("base64.encode(b'hi')", "aGk=", "bytes as text"),
        row("base64.decode('aGk=')", b"hi", "and back"),
        row("base64.decode('aGk')", b"hi", "with or without padding"),
        row("math.greatest(1, 3.5, 2u)", 3.5, "the greatest of some"),
        row("math.least([4, 2, 3])", 2, "the least of a list"),
        row("math.least(5)", 5, "of one"),
        row("sets.contains([1, 2], [2.0])", True, "a set in a set"),
        row("sets.contains([1], [1, 2])", False, "all of it"),
        row("sets.equivalent([1, 2, 2], [2, 1])", True, "order and repetition do not count"),
        row("sets.equivalent([1], [1, 2])", False, "but what is there does"),
        row("sets.intersects([1, 2], [2, 3])", True, "something in common"),
        row("sets.intersects([], [1])", False, "nothing in common"),
    ],
)
def test_further_functions(expression, expected):
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        row("base64.decode('a*b')", "base64.decode: the text is not base64", "other signs are refused"),
        row("base64.decode('é')", "base64.decode: the text is not base64", "other letters too"),
        row("math.least([])", "math.least: the list of numbers is empty", "of none"),
        row("math.least(1, dyn('a'))", "no such overload: math.least(int, string)", "text is not a number"),
    ],
)
def test_further_functions_refuse(expression, message):
    assert failure_of(expression) == message


def test_a_function_that_is_not_there_is_refused():
    here = Position(1, 1)
    with pytest.raises(EvaluationError, match=r"no such overload: launch\(string\)"):
        evaluate(FunctionCall("launch", None, (Ident("x", here),), here), {"x": "y"})


def nested(inner, levels):
    return f"{'['.join([''] * (levels + 1))}{inner}{']'.join([''] * (levels + 1))}"


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("self.n.map(a, self.n.map(b, self.n.map(c, self.n.map(d, 1))))", id="nested macros"),
        pytest.param(
            "self.n.all(a, self.n.exists(b, self.n.all(c, self.n.all(d, 1/0>0) || true)))", id="forgotten, or-ed"
        ),
        pytest.param("self.n.map(a, self.t).join('').replace('x', self.t).replace('x', self.t)", id="text times text"),
        pytest.param("self.n.map(a, self.t.replace('', self.t)).map(b, b.replace('', b))", id="between all letters"),
        pytest.param("self.n.map(a, self.n.map(b, '%s'.format([self.n.map(c, self.t)])))", id="formatted lists"),
        pytest.param("self.n.map(a, self.n.map(b, self.t.contains(self.t + 'y')))", id="much reading"),
        pytest.param("self.t.replace('x', self.t).matches('(x+x+)+y')", id="a pattern on a long text"),
        pytest.param("self.n.exists(a, self.t.matches('((x{90}){90}){90}'))", id="a pattern that grows"),
        pytest.param(
            "cel.bind(a, self.n + self.n, cel.bind(b, [a, a, a, a], cel.bind(c, [b, b, b, b], cel.bind(d, [c, c, c, c], "
            "cel.bind(e, [d, d, d, d], cel.bind(f, [e, e, e, e], cel.bind(g, [f, f, f, f, f, f], g == g + []))))))) "
            "&& self.n.all(x, self.n.all(y, true))",
            id="a list of lists of lists, compared",
        ),
        pytest.param(
            "cel.bind(a, self.n + self.n, cel.bind(b, a + a + a + a + a + a, cel.bind(c, b + b + b + b + b + b + b, "
            "cel.bind(d, c + c + c + c + c + c + c, cel.bind(e, d + d + d + d + d + d + d, cel.bind(f, e + e + e + e + e + e, "
            "size(f + f + f + f + f + f)))))))",
            id="lists that double",
        ),
    ],
)
def test_a_hostile_expression_ends(expression):
    told = failure_of(expression, self={"n": list(range(60)), "t": "x" * 5000})
    assert told in {
        "the expression takes too many steps",
        "the expression processes too much text",
        "matches: the pattern has an invalid repetition count; the maximum is 1000, nested counts multiplied",
    }


def test_an_exhausted_budget_is_forgotten_by_nothing():
    """Neither by macros nor by operators that forget errors."""
    told = failure_of("self.n.all(a, self.n.all(b, self.n.all(c, self.n.all(d, true)))) || true", self={"n": [1] * 60})
    assert told == "the expression takes too many steps"


def test_values_that_lie_too_deep_are_an_error_and_not_a_crash():
    deep = []
    for _ in range(20_000):
        deep = [deep]
    assert failure_of("self == self", self=deep) == "the expression or its input is nested too deeply"


@pytest.mark.parametrize(
    "expression",
    [
        "int(secret.primaryKey)",
        "uint(secret.primaryKey)",
        "double(secret.primaryKey)",
        "bool(secret.primaryKey)",
        "timestamp(secret.primaryKey)",
        "duration(secret.primaryKey)",
        "secret.primaryKey.matches('(' + secret.primaryKey)",
        "'x'.matches(secret.primaryKey + '\\\\1')",
        "aso.parseResourceId(secret.primaryKey)",
        "base64.decode(secret.primaryKey + '*')",
        "secret.primaryKey.format([])[0]",
        "secret.primaryKey.substring(99)",
        "secret.primaryKey.charAt(99)",
        "(secret.primaryKey + '%q').format([1])",
        "'%d'.format([secret.primaryKey])",
        "'%.99999d'.format([secret.primaryKey])",
        "timestamp('2024-01-01T00:00:00Z').getHours(secret.primaryKey)",
        "{'a': 1}[secret.primaryKey]",
        "[secret.primaryKey, dyn(1)].join()",
        "secret[secret.primaryKey]",
        "secret.primaryKey.nope",
        "dyn(secret.primaryKey) + 1",
        "dyn(secret.primaryKey) ? 1 : 2",
        "['a', 'b'].transformMapEntry(i, v, {secret.primaryKey: v})",
        "[1].all(x, dyn(secret.primaryKey))",
    ],
)
def test_no_failure_reveals_a_secret(expression):
    tree = parse(expression)
    with pytest.raises(EvaluationError) as failed:
        evaluate(tree, {"self": SELF, "secret": SECRET})
    chain = [failed.value, failed.value.__cause__ if not failed.value.__suppress_context__ else None]
    assert [str(error) for error in chain if error and "hunter2" in str(error)] == []


def test_a_failure_is_one_that_a_person_can_act_on():
    with pytest.raises(GitsyncError):
        value_of("1 / 0")


def test_maps_of_expressions_show_no_values_and_keep_truths_apart_from_numbers():
    made = MapValue([(True, "yes"), (1, "one"), ("k", "v")])
    assert (made[True], made[1], made["k"], len(made), list(made)) == ("yes", "one", "v", 3, [True, 1, "k"])
    assert repr(made) == "<map of 3>"
    assert value_of("type(self)") == TypeValue("map")
