"""Laws of outside changes, over random bodies of ARM's types: what is reported, what is recorded, and what never is."""

import copy
import json
import random

from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.catalog.any_type import TypeAndVersion
from gitsync.desired.catalog.body_paths import find_facts
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.formats.json_pointer import parse_pointer
from gitsync.desired.formats.secret_names import is_secret_name
from gitsync.desired.request.secret_digest import Digests
from gitsync.model.arm_id import ArmId
from gitsync.model.secret import Secret
from gitsync.planning.outside.recorded_outside import OutsideView
from gitsync.planning.outside.resets import MOST, list_resets
from tests.support.random_bodies import make_random_body

SEEDS = st.integers(0, 2**32)
SECRET = "c0nfidential"


class Estate:
    """A random resource: what Azure shows, what git sets of it, and what Azure shows later."""

    def __init__(self, seed):
        self.rng, made = random.Random(seed), make_random_body(seed, often=0.6)
        kind = open_catalog().any_type(TypeAndVersion(made.arm_type, made.api_version))
        arm_id = ArmId(f"/subscriptions/s/resourceGroups/g/providers/{made.arm_type}/web")
        self.view = OutsideView(kind=kind, arm_id=arm_id, digests=Digests(key=Secret("key")))
        self.live = made.body
        self.body_type = self.view.body_type

    def thin(self, value, often=0.5):
        """A part of a body, as git may set it."""
        if isinstance(value, dict):
            return {key: self.thin(child) for key, child in value.items() if self.rng.random() < often}
        return [self.thin(entry, 0.8) for entry in value] if isinstance(value, list) else copy.deepcopy(value)

    def change(self, value):
        """A later state of a body: values that changed, came or went."""
        rng = self.rng
        if isinstance(value, dict):
            kept = {key: self.change(child) for key, child in value.items() if rng.random() < 0.9}
            return kept if rng.random() < 0.9 else {**kept, "tags": {"a": "b"}}
        if isinstance(value, list):
            kept = [self.change(entry) for entry in value if rng.random() < 0.9]
            return kept + kept[:1] if rng.random() < 0.1 else kept
        if rng.random() > 0.3:
            return value
        return not value if isinstance(value, bool) else value + 7 if isinstance(value, int | float) else "else"

    def shuffle(self, value):
        """The same state, in another order of members."""
        if isinstance(value, dict):
            keys = list(value)
            self.rng.shuffle(keys)
            return {key: self.shuffle(value[key]) for key in keys}
        return [self.shuffle(entry) for entry in value] if isinstance(value, list) else value

    def hide(self, value, path=()):
        """The same body, with a secret in each member that may hold one."""
        if isinstance(value, dict):
            return {key: self.hide(child, (*path, key)) for key, child in value.items()}
        if isinstance(value, list):
            return [self.hide(entry, (*path, index)) for index, entry in enumerate(value)]
        facts = find_facts(self.body_type, path)
        is_secret = (facts and facts.is_secret) or any(isinstance(step, str) and is_secret_name(step) for step in path)
        return f"{SECRET}{self.rng.random()}" if is_secret and isinstance(value, str) else value


def is_in(body, path):
    """Whether a body has a value at a path, or instead of something above it."""
    for step in path:
        if isinstance(body, list):
            return True  # entries are paired by their key
        if not isinstance(body, dict):
            return body is not None
        body = next((value for key, value in body.items() if str(key).casefold() == str(step).casefold()), None)
    return body not in (None, {})


def list_outside_lists(changes):
    """The paths in no list, since an entry that git no longer sets may be paired in another way; and not of a SKU, whose
    tier is reported once git gives up the name that it follows.
    """
    paths = (parse_pointer(change.path) for change in changes)
    return [path for path in paths if path[0] != "sku" and not any(isinstance(step, int) for step in path)]


@given(SEEDS)
def test_nothing_is_reported_of_a_resource_that_is_the_same(seed):
    estate = Estate(seed)
    cover = estate.thin(estate.live)
    recorded = estate.view.record(estate.live, cover)
    assert estate.view.is_plainly_unchanged(recorded, estate.shuffle(estate.live))
    assert estate.view.find_changes(recorded, estate.shuffle(estate.live), (cover, cover)) == ()


@given(SEEDS)
def test_a_change_is_reported_once_and_never_of_what_git_sets_or_sent(seed):
    estate = Estate(seed)
    cover = estate.thin(estate.live)
    recorded = estate.view.record(estate.live, cover)
    desired, later = estate.thin(estate.live), estate.change(estate.live)
    paths = [parse_pointer(change.path) for change in estate.view.find_changes(recorded, later, (desired, cover))]
    assert len(paths) == len(set(paths))
    assert [(one, other) for one in paths for other in paths if one != other and other[: len(one)] == one] == []
    for path in paths:
        in_lists = next((index for index, step in enumerate(path) if isinstance(step, int)), len(path))
        is_below = [is_in(side, path) for side in (cover, desired)] if in_lists == len(path) else [False]
        assert not any(is_below), path


@given(SEEDS)
def test_changes_are_found_again_until_they_are_recorded(seed):
    estate = Estate(seed)
    view, cover = estate.view, estate.thin(estate.live)
    desired, later = estate.thin(estate.live), estate.change(estate.live)
    changes = view.find_changes(view.record(estate.live, cover), later, (desired, cover))
    renewed = view.renew(view.record(estate.live, cover), later, cover, desired, changes)
    assert view.find_changes(renewed, later, (desired, cover)) == changes
    assert renewed.changed == tuple(sorted(change.path for change in changes))
    assert view.find_changes(view.record(later, desired), later, (desired,)) == ()


@given(SEEDS)
def test_what_git_gives_up_is_recorded_as_azure_shows_it(seed):
    estate = Estate(seed)
    view, cover = estate.view, estate.thin(estate.live)
    desired, later = estate.thin(cover), estate.change(estate.live)
    changes = view.find_changes(view.record(estate.live, cover), later, (desired, cover))
    renewed = view.renew(view.record(estate.live, cover), later, cover, desired, changes)
    again = view.find_changes(renewed, later, (desired,))
    assert changes or not again
    assert {*list_outside_lists(again)} <= {*list_outside_lists(changes)}


@given(SEEDS)
def test_no_secret_is_recorded_or_reported(seed):
    estate = Estate(seed)
    live, later = estate.hide(estate.live), estate.hide(estate.live)
    recorded = estate.view.record(live, {})
    assert SECRET not in json.dumps(dict(recorded.values))
    assert SECRET not in repr(estate.view.find_changes(recorded, later, ({},)))


@given(SEEDS)
def test_a_record_grows_by_no_more_than_the_resource(seed):
    estate = Estate(seed)
    values = estate.view.record(estate.live, estate.thin(estate.live)).values
    text = json.dumps(dict(values))
    assert len(text) <= len(json.dumps(estate.live)) + 110 * text.count('"$secret"')


@given(SEEDS)
def test_resets_are_what_the_body_lacks(seed):
    estate = Estate(seed)
    body, live = estate.thin(estate.live), estate.hide(estate.live)
    found = list_resets(estate.view, live, body, None)
    assert len(found) <= MOST
    assert SECRET not in repr(found)
    assert list_resets(estate.view, live, live, None) == ()
    for path in (parse_pointer(reset.path) for reset in found if reset.path):
        assert any(isinstance(step, int) for step in path) or not is_in(body, path)


@given(SEEDS)
def test_after_a_write_only_what_changed_is_reset(seed):
    estate = Estate(seed)
    cover, later = estate.thin(estate.live), estate.change(estate.live)
    changes = estate.view.find_changes(estate.view.record(estate.live, cover), later, (cover,))
    told = [parse_pointer(change.path) for change in changes if change.now is not None]
    for path in (parse_pointer(reset.path) for reset in list_resets(estate.view, later, cover, changes)):
        assert any(other[: len(path)] == path or path[: len(other)] == other for other in told)
    assert list_resets(estate.view, later, cover, ()) == ()
