"""The events of a resource retell its record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim
from gitsync.report.site.events import LONGEST_TEXT, RecordFacts, format_paths, list_events, retell

TEXTS = st.sampled_from(["", "a", "b", "</script>", "\u2028", "x" * 1000])
CONDITIONS = st.none() | st.tuples(st.sampled_from(["ready", "failed", "waiting"]), TEXTS)
FACTS = st.builds(
    RecordFacts,
    claim=st.sampled_from(Claim),
    arm_id=TEXTS,
    policy=st.sampled_from(Policy),
    path=TEXTS,
    generation=st.integers(0, 3),
    writes=st.integers(0, 3),
    reverted=TEXTS,
    outside=st.lists(TEXTS, max_size=3).map(tuple),
    hold=TEXTS,
    condition=CONDITIONS,
)
VERSIONS = st.lists(st.none() | FACTS, max_size=8)


@given(VERSIONS)
def test_the_events_of_a_resource_retell_its_record(versions):
    facts = None
    for before, after in zip([None, *versions], versions, strict=False):
        events = list_events(before, after)
        assert bool(events) == (before != after)
        assert all(len(event.text) <= LONGEST_TEXT + 100 for event in events)
        facts = retell(events, facts)
        assert facts == after


CHANGES = (
    ({}, {"claim": Claim.EXPECTED}, "expected", "a create is recorded first"),
    (None, {"claim": Claim.EXPECTED}, "expected", "and begins the record"),
    (None, {}, "recorded", "a resource that is only read"),
    ({"claim": Claim.EXPECTED}, {"claim": Claim.CREATED, "writes": 1, "arm_id": "/a"}, "created", "one event a create"),
    ({}, {"claim": Claim.ADOPTED}, "adopted", "no write"),
    ({"writes": 1}, {"writes": 2}, "updated", "git changed"),
    ({"writes": 1}, {"writes": 2, "reverted": "2026"}, "repaired", "Azure changed"),
    ({"writes": 2, "reverted": "2026"}, {"writes": 3, "reverted": "2027"}, "repaired", "once more"),
    ({}, {"outside": ("/tags/a",)}, "drifted", "outside of git"),
    ({"outside": ("/tags/a",)}, {"outside": ("/tags/a", "/tags/b")}, "drifted", "one more"),
    ({"outside": ("/tags/a", "/tags/b")}, {"outside": ("/tags/b",)}, "settled", "one less"),
    ({}, {"hold": "until 2030-01-01: why"}, "held", ""),
    ({"hold": "until 2030-01-01: why"}, {}, "released", ""),
    ({"path": "a.yaml"}, {"path": "b.yaml"}, "moved", "to another file"),
    ({"arm_id": "/a"}, {"arm_id": "/b"}, "renamed", "the claim is the same"),
    ({}, {"policy": Policy.SKIP}, "policy", ""),
    ({"generation": 1}, {"generation": 2}, "generation", ""),
    ({}, {"condition": ("failed", "Conflict: no")}, "failed", ""),
    ({"condition": ("failed", "Conflict: no")}, {"condition": ("ready", "")}, "ready", ""),
    ({}, None, "removed", ""),
)


@pytest.mark.parametrize(("before", "after", "kind", "why"), CHANGES)
def test_each_change_is_one_event(before, after, kind, why):
    old, new = (None if facts is None else RecordFacts(**facts) for facts in (before, after))
    assert [event.kind for event in list_events(old, new)] == [kind], why


def test_many_paths_are_counted():
    assert format_paths(["/a", "", "/c", "/d", "/e", "/f", "/g"]) == "/a, the complete resource, /c, /d, /e and 2 more"
