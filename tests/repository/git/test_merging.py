"""Laws of merging: nothing that only others changed is lost, and what adds nothing new is not a change."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.record import State
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.repository.git.state.store import Update, compute_changes
from gitsync.repository.git.state.store import find_changed_records as changes_of
from gitsync.repository.git.state.store import merge as merge_states
from gitsync.repository.git.state.store import overlay as merge
from tests.repository.git.remembered import a_record
from tests.support.parts import change

NAMES = "abcd"
records = st.dictionaries(
    st.sampled_from([a_record(name).key for name in NAMES]), st.integers(1, 3), max_size=len(NAMES)
).map(lambda drawn: {key: a_record(key.name, generation=generation) for key, generation in drawn.items()})
updates = st.tuples(records, st.sets(st.sampled_from([a_record(name).key for name in NAMES]))).map(
    lambda drawn: {**drawn[0], **dict.fromkeys(drawn[1])}
)


@given(records)
def test_what_was_loaded_is_not_a_change(base):
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
def test_times_and_request_ids_alone_are_not_a_change(base, time, request):
    later = {
        key: replace(record, condition=replace(record.condition, time=time, request_id=request))
        for key, record in base.items()
    }
    assert changes_of(base, later) == {}


ONE, TWO, THREE = "1" * 40, "2" * 40, "3" * 40
KEPT = {agent: a_record(agent, agent=agent) for agent in ("a", "b")}


def state(*agents, revision=None, revisions=()):
    return State({KEPT[agent].key: KEPT[agent] for agent in agents}, revision, {}, dict(revisions))


REVISIONS = [
    (state(), "a", {}, ONE, "the first run of one agent"),
    (state("a", revision=TWO), "a", {}, ONE, "another run of it"),
    (state("a", revision=TWO), "b", {"a": TWO, "b": ONE}, ONE, "the first run of a second agent"),
    (state("a", "b", revision=TWO), "b", {"b": ONE}, ONE, "two agents in a tree of an earlier version"),
    (
        state("a", "b", revision=TWO, revisions={"a": TWO, "b": THREE}),
        "b",
        {"a": TWO, "b": ONE},
        ONE,
        "each has its own from then on",
    ),
    (state("a", "b", revisions={"a": TWO, "b": THREE}), "b", {"a": TWO}, None, "a run without a revision has none"),
]


@pytest.mark.parametrize(("before", "agent", "expected", "revision", "why"), REVISIONS, ids=[r[4] for r in REVISIONS])
def test_each_agent_has_a_revision(before, agent, expected, revision, why):
    update = Update(
        records={KEPT[agent].key: KEPT[agent]}, revision=revision, summary=None, report=None, headline="", agent=agent
    )
    after = merge_states(before, compute_changes(before, update), revision, agent)
    assert (after.revisions, after.find_revision(agent)) == (expected, revision), why


@pytest.mark.parametrize(
    ("before", "agent", "expected", "why"),
    [
        (state("a", revision=ONE), "a", ONE, "one agent alone"),
        (state("a", revision=ONE), "b", None, "and not another's"),
        (state(revision=ONE), "b", ONE, "the revision at which the last resource went"),
        (state("a", "b", revision=ONE), "a", None, "two agents in a tree of an earlier version: either's"),
        (state("a", "b", revision=ONE, revisions={"a": TWO}), "b", None, "not known of this one"),
    ],
)
def test_the_revision_of_an_agent(before, agent, expected, why):
    assert before.find_revision(agent) == expected, why


def test_the_revisions_of_agents_are_read_as_they_were_written(tmp_path):
    store = StatusFolder(tmp_path / "status")
    for agent, revision in (("a", ONE), ("b", TWO), ("a", THREE)):
        record = change(KEPT[agent], generation=int(revision[0]))
        with store:
            store.load()
            store.save(
                Update(
                    records={record.key: record}, revision=revision, summary=None, report=None, headline="", agent=agent
                )
            )
    found = store.load()
    assert (found.revision, found.revisions) == (THREE, {"a": THREE, "b": TWO})
