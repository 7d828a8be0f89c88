"""The values of variables: whose counts, and what is not known."""

import pytest

from gitsync.desired.manifests.variable_values import ReferencedValues, make_variables
from gitsync.model.secret import Secret
from gitsync.model.unit import Substitution, Unit, UnitOptions, ValuesReference
from gitsync.model.unit_kind import UnitKind
from gitsync.model.variables import VariableValues

FIRST = ValuesReference(kind="ConfigMap", namespace="flux-system", name="first")
SECOND = ValuesReference(kind="Secret", namespace="flux-system", name="second")
OPTIONAL = ValuesReference(kind="Secret", namespace="flux-system", name="maybe", optional=True)


def find(references=(), found=(), given=(), **values):
    unit = Unit(
        name="apps",
        path="apps",
        options=UnitOptions(substitution=Substitution(values=values, references=tuple(references))),
    )
    return make_variables([unit], given, dict(found)).find(unit)


def all_of(**values):
    return ReferencedValues(values=values)


@pytest.mark.parametrize(
    ("found", "expected", "why"),
    [
        (find(A="unit"), {"A": "unit"}, "the unit's own"),
        (find(A="unit", given=[("A", "operator"), ("B", "b")]), {"A": "operator", "B": "b"}, "the operator before all"),
        (find([FIRST], [(FIRST, all_of(A="first"))], A="unit"), {"A": "unit"}, "the unit before what it names"),
        (
            find([FIRST, SECOND], [(FIRST, all_of(A="1", B="1")), (SECOND, all_of(A=Secret("2")))]),
            {"A": Secret("2"), "B": "1"},
            "the later before the earlier",
        ),
        (find(A="two\nlines\n"), {"A": "twolines"}, "without line breaks, as in Flux"),
        (find([OPTIONAL], [(OPTIONAL, all_of())], A="a"), {"A": "a"}, "an optional one that is missing"),
    ],
)
def test_the_nearest_value_counts(found, expected, why):
    assert found == VariableValues(known=expected), why


def test_what_was_not_read_may_have_another_value_for_what_is_before_it():
    missing = ReferencedValues(values={"C": Secret("c")}, fault="Secret a/b cannot be read", is_to_come=True)
    found = find([FIRST, SECOND], [(FIRST, all_of(A="first")), (SECOND, missing)], B="unit")
    assert found.known == {"B": "unit", "C": Secret("c")}
    assert (found.unread, found.is_to_come) == (("Secret a/b cannot be read",), True)


def test_a_sync_reads_all_or_reports_what_it_cannot():
    to_come = ReferencedValues(fault="only a sync reads it", is_to_come=True)
    assert not find([FIRST, SECOND], [(FIRST, to_come), (SECOND, ReferencedValues(fault="gone"))]).is_to_come


def test_what_no_one_looked_up_is_unknown():
    assert find([FIRST]).unread == ("ConfigMap flux-system/first was not looked up",)


def test_what_the_operator_gives_counts_in_every_unit_but_those_of_flux():
    folder = Unit(name="a", path="a")
    flux = Unit(name="b/c", path="a", kind=UnitKind.FLUX)
    variables = make_variables([folder, flux], [("A", "a")])
    given = VariableValues(known={"A": "a"}, is_partial=True, has_defaults=False)
    assert variables.find(None) == variables.find(folder) == given
    assert variables.find(flux) is None
    off = make_variables([folder, flux], [])
    assert (off.find(None), off.find(folder), off.find(flux)) == (None, None, None)
