"""What a plan has of a resource that a sync would change."""

import pytest

from gitsync.model.secret import Placeholder
from gitsync.model.verdict import Difference
from gitsync.planning.diff.three_way import COMMITTED, MOVED, REMOVED
from gitsync.planning.foreseen_values import foresee_body

LATER = Placeholder("later", why="known after the sync of Kind/name", is_public=True)
OTHER = Placeholder("other", why="known after the sync of Kind/other", is_public=True)
RULES = [{"name": "a", "port": 1, "state": "Up"}, {"name": "b", "port": 2, "state": "Up"}]


def changed(path, rule=COMMITTED):
    return Difference(path, "new", "old", rule)


ROWS = [
    ("tags are independent", {"tags": {"a": 1, "b": 2}}, {"tags": {"a": 9}}, changed("/tags/a"), {"tags": {"a": LATER, "b": 2}}),
    ("a tag in another case", {"tags": {"Team": 1}}, {"tags": {"team": 9}}, changed("/tags/team"), {"tags": {"Team": LATER}}),
    ("a name of digits", {"tags": {"2024": 1}}, {"tags": {"2024": 9}}, changed("/tags/2024"), {"tags": {"2024": LATER}}),
    ("so are properties", {"properties": {"a": 1, "b": 2}}, {"properties": {"a": 9}}, changed("/properties/a"), {"properties": {"a": LATER, "b": 2}}),
    ("Azure sets the name by the label", {"properties": {"dns": {"label": "x", "fqdn": "x.y"}}}, {"properties": {"dns": {"label": "z"}}}, changed("/properties/dns/label"), {"properties": {"dns": {"label": LATER, "fqdn": LATER}}}),
    ("and the tier by the SKU", {"sku": {"name": "S1", "tier": "Standard"}}, {"sku": {"name": "P1"}}, changed("/sku/name"), {"sku": {"name": LATER, "tier": LATER}}),
    ("what git sets beside it stays", {"properties": {"dns": {"label": "x", "ttl": 1}}}, {"properties": {"dns": {"label": "z", "ttl": 1}}}, changed("/properties/dns/label"), {"properties": {"dns": {"label": LATER, "ttl": 1}}}),
    ("an object that is new in Azure", {"properties": {"a": 1}}, {"properties": {"dns": {"label": "z"}}}, changed("/properties/dns/label"), {"properties": {"a": 1, "dns": LATER}}),
    ("an object that differs", {"properties": {"dns": {"label": "x"}}}, {"properties": {"dns": {}}}, changed("/properties/dns"), {"properties": {"dns": LATER}}),
    ("a value that git removed", {"properties": {"a": 1, "dns": {"label": "x", "fqdn": "x.y"}}}, {"properties": {"a": 1}}, changed("/properties/dns/label", REMOVED), {"properties": {"a": 1, "dns": {"label": LATER, "fqdn": LATER}}}),
    ("drift that a sync undoes", {"tags": {"a": 1}}, {"tags": {"a": 9}}, changed("/tags/a", MOVED), {"tags": {"a": LATER}}),
    ("an entry in another order", {"rules": RULES[::-1]}, {"rules": [{"name": "a", "port": 9}, {"name": "b", "port": 2}]}, changed("/rules/0/port"), {"rules": [RULES[1], {"name": "a", "port": LATER, "state": LATER}]}),
    ("an entry that is new", {"rules": RULES}, {"rules": [*RULES, {"name": "c"}]}, changed("/rules/2"), {"rules": LATER}),
    ("an entry that git removed", {"rules": RULES}, {"rules": RULES[:1]}, changed("/rules/1", REMOVED), {"rules": LATER}),
    ("a value that waits itself", {"tags": {"a": 1, "b": 2}}, {"tags": {"a": OTHER}}, None, {"tags": {"a": OTHER, "b": 2}}),
    ("one that Azure does not have yet", {"tags": {"b": 2}}, {"tags": {"a": OTHER}}, None, {"tags": {"a": OTHER, "b": 2}}),
]  # fmt: skip


@pytest.mark.parametrize(("why", "live", "desired", "change", "known"), ROWS, ids=[row[0] for row in ROWS])
def test_what_a_sync_would_change_is_known_after_it(why, live, desired, change, known):
    assert foresee_body(live, desired, [change] if change else [], [], LATER) == known, why


def test_what_a_write_changes_beside_git_is_known_after_it():
    live = {"properties": {"a": 1, "rules": RULES}}
    found = foresee_body(live, {"properties": {"a": 1}}, [], ["/properties/rules/1/port"], LATER)
    assert found["properties"]["rules"] == [RULES[0], {"name": "b", "port": LATER, "state": "Up"}]
