"""Types: what fits, what comes of it, and what is reported where something does not fit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitsync.desired.cel.syntax.parser import parse
from gitsync.desired.cel.types.checker import check
from gitsync.desired.cel.types.signatures import list_namespaced, list_overloads
from gitsync.desired.cel.types.types import DYN, INT, STRING, make_list_type, make_map_type, make_struct_type
from gitsync.errors import ExpressionError
from tests.support.hypothesis_profile import scale

INNER = make_struct_type("Inner", {"port": INT, "names": make_list_type(STRING)})
SELF = make_struct_type(
    "Self",
    {
        "name": STRING,
        "port": INT,
        "inner": INNER,
        "inners": make_list_type(INNER),
        "tags": make_map_type(STRING, STRING),
        "free": make_map_type(STRING, DYN),
    },
)
VARIABLES = {"self": SELF, "secret": make_map_type(STRING, STRING), "any": DYN}


def checked(text, variables=VARIABLES):
    return check(parse(text), variables)


@pytest.mark.parametrize(
    ("text", "type_", "why"),
    [
        ("'a' + self.name", "string", "text and text"),
        ("1 + 2", "int", "numbers of one type"),
        ("1u * 2u", "uint", "unsigned"),
        ("1.5 / 2.0", "double", "doubles"),
        ("-self.port", "int", "a sign"),
        ("[1] + [2]", "list(int)", "lists"),
        ("[] + ['a']", "list(string)", "an empty list is of any type"),
        ("[]", "list(dyn)", "unless nothing tells which"),
        ("[1, 'a']", "list(dyn)", "items that differ"),
        ("[any, 'a']", "list(dyn)", "an item that may be anything"),
        ("[[], [1]]", "list(list(int))", "one item tells of another"),
        ("{}", "map(dyn, dyn)", "an empty map"),
        ("{'a': 'b'}", "map(string, string)", "a map of texts"),
        ("{'a': 'b', 'c': 1}", "map(string, dyn)", "values that differ"),
        ("{'a': self.free.x}", "map(string, dyn)", "a value of free-form JSON"),
        ("self.inner.port", "int", "a field of a field"),
        ("self.inners[0].names", "list(string)", "an item's field"),
        ("self.tags.anything", "string", "maps have any key"),
        ("self.tags['a b']", "string", "by index as well"),
        ("self.free.a.b[0].c", "dyn", "nothing is known of free-form JSON"),
        ("has(self.inner.port)", "bool", "a test"),
        ("true ? 'a' : self.name", "string", "both branches alike"),
        ("true ? 'a' : any", "dyn", "one branch may be anything"),
        ("true ? any : 'a'", "dyn", "in either order"),
        ("1 < 2.5 && 1u >= 0 && 2.5 > 1", "bool", "numbers compare across types"),
        ("dyn(1) == 1.0", "bool", "but are equal to their own type, or to anything"),
        ("'a' in self.tags && 1 in [1]", "bool", "membership"),
        ("type(1) == string", "bool", "types compare with each other"),
        ("type(self.name)", "type(string)", "the type of a type"),
        ("timestamp('x') - timestamp('y')", "duration", "points in time"),
        ("timestamp('x') + duration('1h')", "timestamp", "time and length"),
        ("timestamp('x').getHours('UTC')", "int", "with a zone"),
        ("timestamp('x') == null", "bool", "what may be null"),
        ("self.inner == null", "bool", "structs may be"),
        ("size(self.tags) + self.name.size()", "int", "as function and as method"),
        ("self.inners.map(i, i.port)", "list(int)", "a list made"),
        ("self.inners.filter(i, i.port > 1)[0].port", "int", "a list filtered"),
        ("self.tags.map(k, k + '!')", "list(string)", "keys of a map"),
        ("self.tags.filter(k, true)", "list(string)", "filtered keys are a list"),
        ("self.tags.all(k, v, k != v)", "bool", "keys and values"),
        ("self.inners.exists_one(i, n, i == 0 && n.port == 1)", "bool", "positions and items"),
        ("self.inners.transformList(i, n, n.port > 0, i + n.port)", "list(int)", "a list of two variables"),
        ("self.tags.transformMap(k, v, size(v))", "map(string, int)", "values made anew"),
        ("self.tags.transformMapEntry(k, v, {v: k})", "map(string, string)", "entries made anew"),
        ("self.inners.transformMap(i, n, n.port)", "map(int, int)", "a map from a list"),
        ("any.map(x, x.y)", "list(dyn)", "over anything"),
        ("any.filter(x, x.y)", "list(dyn)", "and a condition of anything"),
        ("self.?name", "optional_type(string)", "an optional field"),
        ("self.?inner.port.orValue(1)", "int", "what follows is optional too"),
        ("self.?inner.?port.optMap(p, string(p)).orValue('none')", "string", "mapped where it is there"),
        ("self.?inner.optFlatMap(i, i.?port).hasValue()", "bool", "mapped to an optional"),
        ("self.tags[?'a'].or(optional.none()).value()", "string", "one or the other"),
        ("[?self.?port, 1]", "list(int)", "an optional item"),
        ("{?'a': self.?name}", "map(string, string)", "an optional entry"),
        ("optional.none().orValue('a')", "string", "an optional of anything"),
        ("cel.bind(x, self.port, x + x)", "int", "a name for a value"),
        ("aso.parseResourceId('x').parent.resourceType.namespace", "string", "the parts of an id"),
        ("'%s %s'.format([1, 'a'])", "string", "a list of anything"),
        ("math.greatest(1, 2, 3)", "int", "numbers of one type"),
        ("math.least(1, 2.5)", "dyn", "of several"),
        ("math.greatest([1u])", "uint", "a list of them"),
        ("dyn(1) + 'a'", "string", "dyn fits anything"),
        ("any + any", "dyn", "and may be several things"),
        ("['a', 'b'].join(',')", "string", "texts of a list"),
        ("[].join()", "string", "of no texts"),
    ],
)
def test_what_comes_of_an_expression(text, type_, why):
    found = checked(text)
    assert (str(found.type), found.mistakes) == (type_, ()), why


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        ("self.name + 10", "1:11", "found no matching overload for '_+_' applied to '(string, int)'"),
        ("1 + 1.0", "1:3", "found no matching overload for '_+_' applied to '(int, double)'"),
        ("self.nme", "1:5", "undefined field 'nme'"),
        ("has(self.nme)", "1:9", "undefined field 'nme'"),
        ("self.inner.\nprt", "1:11", "undefined field 'prt'"),
        ("self.apiVersion", "1:5", "undefined field 'apiVersion'"),
        ("slef.name", "1:1", "undeclared reference to 'slef' (in container '')"),
        ("nosuch(1)", "1:7", "undeclared reference to 'nosuch' (in container '')"),
        ("self.name.nosuch()", "1:17", "undeclared reference to 'nosuch' (in container '')"),
        ("size(1)", "1:5", "found no matching overload for 'size' applied to '(int)'"),
        ("self.name.startsWith(1)", "1:21", "found no matching overload for 'startsWith' applied to 'string.(int)'"),
        (
            "startsWith(self.name, 'a')",
            "1:11",
            "found no matching overload for 'startsWith' applied to '(string, string)'",
        ),
        ("self.name.a", "1:10", "type 'string' does not support field selection"),
        ("{1: 2}.a", "1:7", "found no matching overload for '_[_]' applied to '(map(int, int), string)'"),
        ("self.name[0]", "1:10", "found no matching overload for '_[_]' applied to '(string, int)'"),
        ("self.inner['port']", "1:11", "found no matching overload for '_[_]' applied to '(Inner, string)'"),
        ("true ? 1 : 'a'", "1:6", "found no matching overload for '_?_:_' applied to '(bool, int, string)'"),
        ("self.name ? 1 : 2", "1:11", "found no matching overload for '_?_:_' applied to '(string, int, int)'"),
        ("self.name && true", "1:11", "found no matching overload for '_&&_' applied to '(string, bool)'"),
        ("self.name == null", "1:11", "found no matching overload for '_==_' applied to '(string, null)'"),
        ("self.name == 1", "1:11", "found no matching overload for '_==_' applied to '(string, int)'"),
        ("'a' < 1", "1:5", "found no matching overload for '_<_' applied to '(string, int)'"),
        ("1 in ['a']", "1:3", "found no matching overload for '@in' applied to '(int, list(string))'"),
        (
            "self.name.map(x, x)",
            "1:5",
            "expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
        ("[1].filter(x, x)", "1:15", "expected type 'bool' but found 'int'"),
        ("[1].map(x, 'a', x)", "1:12", "expected type 'bool' but found 'string'"),
        ("[1].all(x, y > 1)", "1:12", "undeclared reference to 'y' (in container '')"),
        ("[1].all(x, true) && x == 1", "1:21", "undeclared reference to 'x' (in container '')"),
        ("self.tags.transformMapEntry(k, v, v)", "1:35", "expected type 'map(dyn, dyn)' but found 'string'"),
        ("self.name.optMap(x, x)", "1:5", "found no matching overload for 'optMap' applied to 'string'"),
        ("self.?name.optFlatMap(x, x)", "1:26", "expected type 'optional_type(dyn)' but found 'string'"),
        ("[?self.name]", "1:7", "expected type 'optional_type(string)' but found 'string'"),
        ("1 == 1.0", "1:3", "found no matching overload for '_==_' applied to '(int, double)'"),
        ("1u != 1", "1:4", "found no matching overload for '_!=_' applied to '(uint, int)'"),
        ("1 in [1.0]", "1:3", "found no matching overload for '@in' applied to '(int, list(double))'"),
        ("duration(5)", "1:9", "found no matching overload for 'duration' applied to '(int)'"),
        ("'%d'.format(['a'])", "1:14", "error during formatting: %d cannot show a value of type string"),
        (
            "'%s'.format([[1, optional.of(1)]])",
            "1:29",
            "error during formatting: %s cannot show a value of type optional_type",
        ),
        ("'%s'.format([])", "1:12", "index 0 out of range: there are more clauses than values"),
        ("'%s'.format([1, 2])", "1:12", "too many arguments supplied to string.format (expected 1, got 2)"),
        (
            "'%y'.format([1])",
            "1:12",
            "could not parse formatting clause: unrecognized clause; use %s %d %f %e %b %o %x %X, or %% for a percent sign",
        ),
        ("[1, 2].join()", "1:12", "found no matching overload for 'join' applied to 'list(int).()'"),
        (
            "timestamp('x') + timestamp('y')",
            "1:16",
            "found no matching overload for '_+_' applied to '(timestamp, timestamp)'",
        ),
        (
            "optional.of(1).orValue('a')",
            "1:23",
            "found no matching overload for 'orValue' applied to 'optional_type(int).(string)'",
        ),
        ("1 +\n  self.name", "1:3", "found no matching overload for '_+_' applied to '(int, string)'"),
    ],
)
def test_what_does_not_fit_is_reported_in_cels_words(text, at, said):
    (mistake,) = checked(text).mistakes
    assert (f"{mistake.at.line}:{mistake.at.column}", mistake.said) == (at, said)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("self.nme", "Did you mean 'name'?"),
        ("slef.name", "Did you mean 'self'?"),
        ("self.name.lowerAsci()", "Did you mean 'lowerAscii'?"),
        ("'a' + 1", "Convert it first: string(…)."),
        ("1 + 1.0", ""),
    ],
)
def test_what_may_fix_it(text, hint):
    (mistake,) = checked(text).mistakes
    assert mistake.hint == hint


def test_every_mistake_is_reported_and_each_once():
    said = [mistake.said for mistake in checked("self.a + self.b + (1 + 'x')").mistakes]
    assert said == [
        "undefined field 'a'",
        "undefined field 'b'",
        "found no matching overload for '_+_' applied to '(int, string)'",
    ]


@pytest.mark.parametrize(
    ("text", "names", "complete", "why"),
    [
        ("secret.a + secret['b']", {"a", "b"}, False, "by field and by index"),
        ("secret.?a.orValue('')", {"a"}, False, "optionally"),
        ("has(secret.a) ? secret[?'b'].orValue('') : ''", {"a", "b"}, False, "a test needs it as well"),
        ("[1].map(x, secret.a)", {"a"}, False, "inside a macro"),
        ("secret", set(), True, "all of them"),
        ("secret[self.name]", set(), True, "a key that only the run can know"),
        ("secret.map(k, k)", set(), True, "over all of them"),
        ("['x'].map(secret, secret + 'a')", set(), False, "a variable of that name is another one"),
        ("'secret.a'", set(), False, "a text is no use of it"),
    ],
)
def test_which_secrets_an_expression_names(text, names, complete, why):
    found = checked(text)
    assert (found.secrets, found.uses_secret_object, found.mistakes) == (names, complete, ()), why


def test_the_table_of_overloads_is_read_in_full():
    assert {"strings.quote", "optional.of", "aso.parseResourceId"} <= list_namespaced()
    assert [str(row.result) for row in list_overloads()["split"]] == ["list(string)", "list(string)"]
    assert [tuple(map(str, row.args)) for row in list_overloads()["getDate"]] == [
        ("timestamp",),
        ("timestamp", "string"),
    ]
    assert all(row.args for row in list_overloads()["size"])


ATOMS = [
    "self",
    "self.name",
    "self.inner",
    "self.inners",
    "self.tags",
    "secret",
    "any",
    "x",
    "1",
    "2u",
    "1.5",
    "'a'",
    "b'a'",
    "true",
    "null",
    "[]",
    "{}",
    "int",
    "optional.none()",
]
FORMS = [
    "{0} + {1}", "{0} == {1}", "{0} < {1}", "{0} && {1}", "{0} in {1}", "{0}[{1}]", "{0}[?{1}]", "{0}.name", "{0}.?port", "has({0}.a)",
    "-{0}", "!{0}", "[{0}, {1}]", "[?{0}]", "{{'k': {0}}}", "{{?{0}: {1}}}", "{0}.map(x, {1})", "{0}.filter(x, {1})", "{0}.all(x, y, {1})",
    "{0}.transformMap(x, y, {1})", "{0}.transformMapEntry(x, y, {1})", "{0}.optMap(x, {1})", "{0}.optFlatMap(x, {1})", "{0}.orValue({1})",
    "cel.bind(x, {0}, {1})", "true ? {0} : {1}", "size({0})", "type({0})", "dyn({0})", "math.greatest({0}, {1})", "{0}.join({1})", "nosuch({0})",
]  # fmt: skip


def combined(parts):
    return st.builds(lambda form, one, other: f"({form.format(one, other)})", st.sampled_from(FORMS), parts, parts)


@settings(max_examples=scale(150), deadline=None)
@given(st.recursive(st.sampled_from(ATOMS), combined, max_leaves=12))
def test_whatever_can_be_read_can_be_checked(text):
    """And what is reported is in order: a location in the text, and a type where nothing is wrong."""
    try:
        tree = parse(text)
    except ExpressionError:
        return
    found = check(tree, VARIABLES)
    assert all(mistake.at.column <= len(text) and mistake.said for mistake in found.mistakes)
    assert "_var" not in str(found.type)


def test_a_large_expression_is_checked_in_one_go():
    assert str(checked("[" + "[]," * 5_000 + "]").type) == "list(list(dyn))"
