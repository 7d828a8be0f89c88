"""How types fit: what is learnt of open types, what is undone, and what is never so."""

from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.cel.types.inference import Inference
from gitsync.desired.cel.types.types import (
    BOOL,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    make_list_type,
    make_map_type,
    make_optional_type,
    make_struct_type,
)

TYPES = st.recursive(
    st.sampled_from([DYN, BOOL, INT, STRING, TIMESTAMP, NULL, make_struct_type("S", {})]),
    lambda inner: inner.map(make_list_type) | inner.map(make_optional_type) | st.builds(make_map_type, inner, inner),
    max_leaves=6,
)


def test_what_is_learnt_is_kept_if_all_fits_and_forgotten_if_not():
    known = Inference()
    one, other = known.make_fresh(), known.make_fresh()
    assert known.fits([one, other], [STRING, INT])
    assert not known.fits([one, BOOL], [DYN, INT])
    assert (known.resolve(one), known.resolve(other)) == (STRING, INT)
    third = known.make_fresh()
    assert not known.fits([third, BOOL], [STRING, INT])
    assert known.settle(third) == DYN


def test_of_two_types_the_wider_is_kept():
    known = Inference()
    variable = known.make_fresh()
    assert known.fits(
        [variable, variable, variable], [make_list_type(STRING), make_list_type(DYN), make_list_type(STRING)]
    )
    assert known.resolve(variable) == make_list_type(DYN)


def test_types_that_stand_for_each_other_learn_together():
    known = Inference()
    one, other, third = known.make_fresh(), known.make_fresh(), known.make_fresh()
    assert known.fits([one, other], [other, third])
    assert known.fits([third], [STRING])
    assert known.fits([third], [DYN])
    assert {known.resolve(type_) for type_ in (one, other, third)} == {DYN}


def test_no_type_holds_itself():
    known = Inference()
    variable = known.make_fresh()
    assert not known.fits([variable], [make_list_type(variable)])
    assert not known.fits([make_list_type(variable)], [variable])


def test_different_numbers_of_types_do_not_fit():
    assert not Inference().fits([STRING], [])


@given(TYPES)
def test_a_type_fits_itself_and_what_may_be_anything(type_):
    assert Inference().fits([type_, type_, DYN], [type_, DYN, type_])


@given(TYPES, TYPES)
def test_fitting_is_mutual(one, other):
    assert Inference().fits([one], [other]) == Inference().fits([other], [one])


@given(TYPES)
def test_an_open_type_becomes_what_it_meets(type_):
    known = Inference()
    variable = known.make_fresh()
    assert known.fits([variable], [type_])
    assert known.settle(variable) == type_


@given(st.lists(TYPES, min_size=1, max_size=4))
def test_a_lists_items_all_fit_the_type_that_is_found_for_them(types):
    known = Inference()
    joined = known.settle(known.join(types))
    assert all(Inference().fits([joined], [type_]) for type_ in types)
