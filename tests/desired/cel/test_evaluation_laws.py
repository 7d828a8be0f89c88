"""What holds for every expression: it has a value or explains why not, whatever it is made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.cel.evaluate import evaluate
from gitsync.desired.cel.functions.functions import NAMES
from gitsync.desired.cel.syntax.syntax_tree import (
    FunctionCall,
    Ident,
    IndexAccess,
    ListOf,
    Literal,
    Macro,
    MapOf,
    Position,
    Select,
)
from gitsync.desired.cel.types.signatures import list_overloads
from gitsync.desired.cel.values import Uint
from gitsync.errors import EvaluationError

HERE = Position(1, 1)
LAZY = {"_&&_", "_||_", "_?_:_", "or", "orValue"}
ACCESS = {"_[_]", "_[?_]"}
ONE_VARIABLE = ("all", "exists", "exists_one", "filter", "map", "optMap", "optFlatMap", "bind")
TWO_VARIABLES = ("all", "exists", "exists_one", "transformList", "transformMap", "transformMapEntry")

words = st.one_of(
    st.text("ab1.%s-:()[\\", max_size=6),
    st.sampled_from(["1h", "2024-01-02T03:04:05Z", "/subscriptions/s/resourceGroups/g", "%d", "%.2f", "[a-z]+", "UTC"]),
)
literals = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)]),
    st.sampled_from([Uint(0), Uint(3), Uint(2**64 - 1)]),
    st.floats(),
    words,
    st.binary(max_size=3),
).map(lambda value: Literal(value, HERE))
names = st.sampled_from(["x", "y", "self", "gone", "int", "google.protobuf.Duration"]).map(
    lambda name: Ident(name, HERE)
)
variables = st.sampled_from([("x",), ("y",)])
pairs = st.just(("x", "y"))


def grown(inner):
    return st.one_of(
        st.builds(
            lambda name, args: FunctionCall(name, None, tuple(args), HERE),
            st.sampled_from(sorted(NAMES | LAZY)),
            st.lists(inner, max_size=3),
        ),
        st.builds(
            lambda name, target, args: FunctionCall(name, target, tuple(args), HERE),
            st.sampled_from(sorted(NAMES | LAZY)),
            inner,
            st.lists(inner, max_size=2),
        ),
        st.builds(
            lambda operand, field, optional, test: Select(operand, field, HERE, optional=optional, test=test),
            inner,
            st.sampled_from(["a", "b", "name", "parent"]),
            st.booleans(),
            st.booleans(),
        ),
        st.builds(
            lambda operand, key, optional: IndexAccess(operand, key, HERE, optional=optional),
            inner,
            inner,
            st.booleans(),
        ),
        st.builds(lambda items: ListOf(tuple(items), HERE), st.lists(st.tuples(inner, st.booleans()), max_size=3)),
        st.builds(lambda rows: MapOf(tuple(rows), HERE), st.lists(st.tuples(inner, inner, st.booleans()), max_size=3)),
        st.builds(
            lambda name, over, bound, arg: Macro(name, over, bound, (arg,), HERE),
            st.sampled_from(ONE_VARIABLE),
            inner,
            variables,
            inner,
        ),
        st.builds(
            lambda name, over, bound, arg: Macro(name, over, bound, (arg,), HERE),
            st.sampled_from(TWO_VARIABLES),
            inner,
            pairs,
            inner,
        ),
    )


trees = st.recursive(literals | names, grown, max_leaves=12)
SELF = {"a": [1, 2.5, "three", None], "b": {"c": True, "name": "n"}, "name": ""}


def outcome(tree):
    """The value, or that there is none."""
    try:
        return repr(evaluate(tree, {"self": SELF}))
    except EvaluationError:
        return EvaluationError


@given(trees)
def test_every_tree_has_a_value_or_is_refused(tree):
    assert outcome(tree) == outcome(tree)


@given(trees)
def test_evaluation_leaves_what_it_is_given_as_it_is(tree):
    before = repr(SELF)
    outcome(tree)
    assert repr(SELF) == before


@pytest.mark.parametrize("sign", ["_&&_", "_||_"])
@given(left=trees, right=trees)
def test_both_sides_of_and_and_or_are_alike(sign, left, right):
    assert outcome(FunctionCall(sign, None, (left, right), HERE)) == outcome(
        FunctionCall(sign, None, (right, left), HERE)
    )


@given(trees, trees)
def test_equality_is_the_same_from_both_sides(left, right):
    assert outcome(FunctionCall("_==_", None, (left, right), HERE)) == outcome(
        FunctionCall("_==_", None, (right, left), HERE)
    )


def test_what_the_checker_allows_is_supported_here():
    """Every function and operator that has a signature can be called, and nothing can be called that has none."""
    assert set(list_overloads()) == NAMES | LAZY | ACCESS
