"""Laws of merging: nothing that only others changed is lost, and what says nothing new is no change."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from remembered import a_record

from gitsync.git.state.merging import find_changed_records as changes_of
from gitsync.git.state.merging import overlay as merge

NAMES = "abcd"
records = st.dictionaries(
    st.sampled_from([a_record(name).key for name in NAMES]), st.integers(1, 3), max_size=len(NAMES)
).map(lambda drawn: {key: a_record(key.name, generation=generation) for key, generation in drawn.items()})
updates = st.tuples(records, st.sets(st.sampled_from([a_record(name).key for name in NAMES]))).map(
    lambda drawn: {**drawn[0], **dict.fromkeys(drawn[1])}
)


@given(records)
def test_what_was_loaded_is_no_change(base):
    assert changes_of(base, base) == {}


@given(records, updates)
def test_saving_and_saving_again_changes_nothing(base, update):
    after = merge(base, changes_of(base, update))
    assert changes_of(after, update) == {}
    assert {key: after.get(key) for key in update} == update


@given(records, records, updates)
def test_others_changes_stay_unless_the_same_key_changed_here(base, theirs, update):
    ours = changes_of(base, update)
    after = merge(theirs, ours)
    for key in base.keys() | theirs.keys() | update.keys():
        assert after.get(key) == (update[key] if key in ours else theirs.get(key))


@given(records, updates)
def test_the_order_of_an_update_does_not_show(base, update):
    turned = dict(reversed(update.items()))
    assert list(changes_of(base, update)) == list(changes_of(base, turned))
    assert list(merge(base, changes_of(base, update))) == sorted(merge(base, changes_of(base, turned)))


@given(records, st.text(max_size=3), st.text(max_size=3))
def test_times_and_request_ids_alone_are_no_change(base, time, request):
    later = {
        key: replace(record, condition=replace(record.condition, time=time, request_id=request))
        for key, record in base.items()
    }
    assert changes_of(base, later) == {}
